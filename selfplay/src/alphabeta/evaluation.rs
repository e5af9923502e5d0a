//! What a position is worth as it stands.

use gipf_core::{Color, Direction, Position, Spot, SpotSet, Variant};

/// Weights in hundredths of a basic piece.
pub(super) struct Weights {
    /// A basic piece, in the hand or on the board; half of a GIPF-piece.
    pub(super) basic: i32,
    /// What the first, second, third … GIPF-piece is worth beyond its two basic pieces.
    pub(super) gipfs: [i32; 4],
    /// What a hand of so many basic pieces is worth beyond them: a hand that runs out loses.
    pub(super) hand: [i32; 12],
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
    /// A spot owned on the two rings around e5 and on e5 itself.
    pub(super) rings: [i32; 3],
    /// Two, and three, neighbours of one colour on a line.
    pub(super) two: i32,
    pub(super) three: i32,
    /// The turn.
    pub(super) turn: i32,
}

pub(super) const WEIGHTS: Weights = Weights {
    basic: 100,
    gipfs: [120, 60, 30, 0],
    hand: [0, 40, 70, 95, 115, 130, 145, 160, 172, 184, 196, 208],
    further: 10,
    in_hand: [25; 5],
    loaded: [35; 5],
    used: 10,
    cover: 20,
    covered: 60,
    rings: [4, 8, 10],
    two: 0,
    three: 0,
    turn: 10,
};

/// The spots one and two steps from e5.
const RINGS: [SpotSet; 2] = {
    let mut rings = [SpotSet::EMPTY; 2];
    let mut i = 0;
    while i < Spot::ALL.len() {
        let spot = Spot::ALL[i];
        let (dx, dy) = (spot.x() - Spot::E5.x(), spot.y() - Spot::E5.y());
        let across = (dx - dy).abs();
        let (dx, dy) = (dx.abs(), dy.abs());
        let away = if dx > dy { dx } else { dy };
        let away = if away > across { away } else { across };
        if away == 1 || away == 2 {
            rings[away as usize - 1].insert(spot);
        }
        i += 1;
    }
    rings
};

/// White's worth less Black's. The same for all 12 views of a board; with the colours exchanged its sign changes.
#[inline]
pub(super) fn evaluation(position: &Position) -> i32 {
    let turn = match position.mover() {
        Color::White => WEIGHTS.turn,
        Color::Black => -WEIGHTS.turn,
    };
    worth(position, Color::White) - worth(position, Color::Black) + turn
}

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
    if position.rules().variant() != Variant::Basic {
        let gipf_count =
            if position.rules().punct_convert() { position.gipf_count(color) } else { gipfs.len() };
        sum += w.gipfs.iter().take(gipf_count as usize).sum::<i32>();
    }
    sum += (owned & RINGS[1]).len() as i32 * w.rings[0]
        + (owned & RINGS[0]).len() as i32 * w.rings[1]
        + i32::from(owned.contains(Spot::E5)) * w.rings[2];
    if w.two != 0 || w.three != 0 {
        for direction in [Direction::N, Direction::NE, Direction::SE] {
            let two = owned & owned.shift(direction);
            let three = two & owned.shift(direction).shift(direction);
            sum += two.len() as i32 * w.two + three.len() as i32 * w.three;
        }
    }
    if position.rules().has_potentials(Color::White)
        || position.rules().has_potentials(Color::Black)
    {
        sum += with_potentials(position, color);
    }
    sum
}

/// The part of stacks with potentials, and of those in the hand.
fn with_potentials(position: &Position, color: Color) -> i32 {
    let w = &WEIGHTS;
    let in_hand = position.hand_potentials(color);
    let mut sum: i32 =
        in_hand.iter().zip(&w.in_hand).map(|(&count, weight)| i32::from(count) * weight).sum();
    for spot in position.complex() {
        let Some(stack) = position.stack(spot) else { continue };
        let Some(kind) = stack.potential else { continue };
        if stack.is_loaded() {
            if stack.first == color {
                sum += w.basic + w.loaded[kind.index()];
            }
            continue;
        }
        let tops = if stack.top() == color {
            if stack.base.is_some() || stack.count > 1 { w.cover } else { w.used }
        } else {
            0
        };
        sum += tops;
        if stack.base.is_some_and(|(base, _)| base == color) {
            sum += w.covered;
        }
    }
    sum
}
