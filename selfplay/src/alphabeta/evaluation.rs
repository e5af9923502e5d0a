//! What a position is worth as it stands.

use gipf_core::{Color, Direction, Position, Spot, SpotSet, Stack, Variant};

use super::value::own;

/// Weights in hundredths of a basic piece.
pub(super) struct Weights {
    /// A basic piece, in the hand or on the board; half of a GIPF-piece.
    pub(super) basic: i32,
    /// What so many GIPF-pieces are worth beyond their two basic pieces each: without one a colour loses.
    pub(super) gipfs: [i32; 5],
    /// What a hand of so many basic pieces is worth beyond them: a hand that runs out loses.
    pub(super) hand: [i32; 7],
    /// For every further piece in the hand.
    pub(super) further: i32,
    /// A potential in the hand while it can be entered, by kind T Z D Y P.
    pub(super) in_hand: [i32; 5],
    /// A potential on an uncovered loaded piece, by kind.
    pub(super) loaded: [i32; 5],
    /// A used potential alone on its spot.
    pub(super) used: i32,
    /// The cover on top of a stack, for its owner.
    pub(super) cover: i32,
    /// A basic piece that is covered.
    pub(super) covered: i32,
    /// A spot owned, from the rim to e5: spots three, two, one and no steps from it.
    pub(super) rings: [i32; 4],
    /// The turn.
    pub(super) turn: i32,
}

pub(super) const WEIGHTS: Weights = Weights {
    basic: 100,
    gipfs: [0, 120, 180, 210, 210],
    hand: [0, 40, 60, 72, 80, 86, 90],
    further: 2,
    in_hand: [25; 5],
    loaded: [35; 5],
    used: 10,
    cover: 20,
    covered: 60,
    rings: [6, 8, 12, 14],
    turn: 10,
};

/// The spots at most one, and at most two, steps from e5.
const WITHIN: [SpotSet; 2] = {
    let mut within = [SpotSet::of(Spot::E5); 2];
    let mut steps = 0;
    while steps < 2 {
        let from = if steps == 0 { SpotSet::of(Spot::E5) } else { within[0] };
        let mut grown = from.0;
        let mut i = 0;
        while i < Direction::ALL.len() {
            grown |= from.shift(Direction::ALL[i]).0;
            i += 1;
        }
        within[steps] = SpotSet(grown);
        steps += 1;
    }
    within
};

/// White's worth less Black's. The same for all 12 views of a board; with the colours exchanged its sign changes.
#[inline]
pub(super) fn evaluation(position: &Position) -> i32 {
    let mut sum = worth(position, Color::White) - worth(position, Color::Black);
    sum += own(position.mover(), WEIGHTS.turn);
    for spot in position.complex() {
        if let Some(stack) = position.stack(spot) {
            sum += worth_of(&stack);
        }
    }
    sum
}

/// What a colour has, stacks with potentials left aside.
#[inline]
fn worth(position: &Position, color: Color) -> i32 {
    let w = &WEIGHTS;
    let owned = position.owned(color);
    let simple = owned - position.complex();
    let gipfs = simple & position.gipfs();
    let hand = usize::from(position.hand_basic(color));
    let basics = (simple.len() + gipfs.len()) as i32 + hand as i32;
    let mut sum = basics * w.basic;
    let last = w.hand.len() - 1;
    sum += w.hand[hand.min(last)] + hand.saturating_sub(last) as i32 * w.further;
    let rules = position.rules();
    if rules.variant() != Variant::Basic {
        let count = if rules.punct_convert() { position.gipf_count(color) } else { gipfs.len() };
        sum += w.gipfs[(count as usize).min(w.gipfs.len() - 1)];
    }
    // Each weight is counted by what it is more than the ring outside it.
    let spots = [SpotSet::ALL, WITHIN[1], WITHIN[0], SpotSet::of(Spot::E5)];
    let mut outer = 0;
    for (within, weight) in spots.into_iter().zip(w.rings) {
        sum += (owned & within).len() as i32 * (weight - outer);
        outer = weight;
    }
    let in_hand = position.hand_potentials(color);
    sum + in_hand
        .iter()
        .zip(w.in_hand)
        .map(|(&count, weight)| i32::from(count) * weight)
        .sum::<i32>()
}

/// White's worth less Black's of a stack with potentials, beyond the spot that it stands on.
fn worth_of(stack: &Stack) -> i32 {
    let w = &WEIGHTS;
    let Some(kind) = stack.potential else { return 0 };
    if stack.is_loaded() {
        return own(stack.first, w.basic + w.loaded[kind.index()]);
    }
    let top = if stack.base.is_some() || stack.count > 1 { w.cover } else { w.used };
    let covered = stack.base.map_or(0, |(color, _)| own(color, w.covered));
    own(stack.top(), top) + covered
}
