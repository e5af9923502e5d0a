//! What a network sees of a position: binary planes over the 37 spots and a vector of globals, seen by the side that decides.
//!
//! Together they are the whole state (rules, section 10): positions that differ in what may be played, or in what a play leads
//! to, differ here. The board has no up: of the 12 symmetries each moves the spots of a plane, and some planes among each other
//! ([`plane_permutation`]); the globals stay.

mod layout;

use std::sync::LazyLock;

use gipf_core::{
    Challenge, Color, Line, Phase, Play, PlayKind, Position, Potential, SideGame, Spot, SpotSet,
    Stage, Symmetry, Variant,
};

pub(crate) use layout::BOARD;
use layout::{
    ANNOUNCED_FROM, ANNOUNCED_LINE, ANNOUNCED_TO, BASE, CENTRE, CHANGED, CLOSED, COMPLETING,
    CONVERTED, GIPF, KIND, LOADED, MAKES_ROW, OWNED, PILE, PILE_BITS, ROWS, TAKEN, TAKES,
    TAKES_GIPF, TAKES_MORE,
};
pub use layout::{GLOBALS, PLANES, global_names, plane_names, plane_permutation};

use crate::policy::PolicyIndex;
use crate::threats::Threats;

/// The version of these features, raised with every change of a plane's or a global's meaning.
pub const FEATURES_VERSION: u32 = 2;

/// What a network sees of a position, and the policy index of the actions it is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// Binary planes; see [`plane_names`].
    pub planes: [SpotSet; PLANES],
    /// Globals; see [`global_names`].
    pub globals: [f32; GLOBALS],
    /// The actions' logits.
    pub policy: PolicyIndex,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            planes: [SpotSet::EMPTY; PLANES],
            globals: [0.0; GLOBALS],
            policy: PolicyIndex::new(),
        }
    }
}

impl Features {
    /// The features of nothing: empty planes, zero globals, no action.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes them the features of `position`, whose actions are `actions`. Seen by the decider, or by the mover where nobody
    /// decides. Allocates nothing once its vectors have grown to the size of what it is filled with.
    pub fn fill(&mut self, position: &Position, actions: &[Play]) {
        let view = position.decider().unwrap_or(position.mover());
        self.planes = [SpotSet::EMPTY; PLANES];
        self.fill_stacks(position, view);
        self.fill_turn(position, view);
        self.fill_threats(position, view);
        self.fill_globals(position, view);
        self.policy.fill(position, actions);
    }

    /// The features of the transformed position with the same actions, transformed, in the same order.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Features {
        let mut image = self.clone();
        image.transform(symmetry);
        image
    }

    /// Makes them those of the transformed position with the same actions, transformed, in the same order. Allocates nothing.
    pub fn transform(&mut self, symmetry: Symmetry) {
        static PERMUTATIONS: LazyLock<[[u8; PLANES]; Symmetry::COUNT]> =
            LazyLock::new(|| Symmetry::ALL.map(plane_permutation));
        if symmetry == Symmetry::IDENTITY {
            return;
        }
        let planes = std::mem::replace(&mut self.planes, [SpotSet::EMPTY; PLANES]);
        for (plane, &image) in planes.into_iter().zip(&PERMUTATIONS[symmetry.index()]) {
            // Of most planes nothing or, of the board's, everything is there: no spot to look up.
            let moved = if plane == SpotSet::ALL { plane } else { symmetry.set(plane) };
            self.planes[usize::from(image)] = moved;
        }
        self.policy.transform(symmetry);
    }

    fn fill_stacks(&mut self, position: &Position, view: Color) {
        let sides = [view, view.other()];
        let (gipfs, complex) = (position.gipfs(), position.complex());
        for (side, color) in sides.into_iter().enumerate() {
            let owned = position.owned(color);
            self.planes[OWNED + side] = owned;
            self.planes[GIPF + side] = owned & gipfs;
            self.planes[BASE + side] = owned & !gipfs & !complex;
        }
        for spot in complex.iter() {
            self.fill_potentials(position, view, spot);
        }
        self.planes[BOARD] = SpotSet::ALL;
        self.planes[CENTRE] = SpotSet::of(Spot::E5);
    }

    /// A stack with potentials: they are of one kind and alternate in colour, so base, kind, owner and count say everything.
    fn fill_potentials(&mut self, position: &Position, view: Color, spot: Spot) {
        let side = |color: Color| usize::from(color != view);
        let Some(stack) = position.stack(spot) else {
            return;
        };
        let Some(kind) = stack.potential else {
            return;
        };
        self.planes[KIND + kind.index()].insert(spot);
        if let Some((base, _)) = stack.base {
            self.planes[BASE + side(base)].insert(spot);
            if stack.is_loaded() {
                self.planes[LOADED + side(base)].insert(spot);
            } else if stack.count == 1
                && kind == Potential::Punct
                && position.rules().punct_convert()
            {
                self.planes[CONVERTED + side(stack.first)].insert(spot);
            }
        }
        if let Some(more) = stack.count.checked_sub(2) {
            self.planes[PILE].insert(spot);
            for bit in (0..4).filter(|bit| more >> bit & 1 != 0) {
                self.planes[PILE_BITS + bit].insert(spot);
            }
        }
    }

    fn fill_turn(&mut self, position: &Position, view: Color) {
        for (side, color) in [view, view.other()].into_iter().enumerate() {
            for orientation in 0..3 {
                self.planes[ROWS[side] + orientation] = position.owned(color).rows(orientation);
            }
        }
        self.planes[CHANGED] = position.changed();
        let closed = position.closed_lines();
        for line in Line::ALL.into_iter().filter(|line| closed >> line.index() & 1 != 0) {
            let plane = &mut self.planes[CLOSED + line.orientation()];
            *plane |= line.spots();
        }
        match position.announced().map(Play::kind) {
            Some(PlayKind::Move { from, to, .. }) => {
                self.planes[ANNOUNCED_FROM].insert(from);
                self.planes[ANNOUNCED_TO].insert(to);
            }
            Some(PlayKind::Extra(entry)) => {
                self.planes[ANNOUNCED_TO].insert(entry.first_spot());
                // Onto an empty spot it has the same result from each of its dots, so the line says nothing.
                if position.occupied().contains(entry.first_spot()) {
                    self.planes[ANNOUNCED_LINE] = entry.line().spots();
                }
            }
            _ => {}
        }
    }

    fn fill_threats(&mut self, position: &Position, view: Color) {
        for (side, color) in [view, view.other()].into_iter().enumerate() {
            let threats = Threats::of(position, color);
            for (first, sets) in [
                (MAKES_ROW[side], threats.rows),
                (TAKES[side], threats.takes),
                (TAKES_MORE[side], threats.takes_more),
                (TAKES_GIPF[side], threats.takes_gipf),
            ] {
                self.planes[first..first + 3].copy_from_slice(&sets);
            }
            self.planes[TAKEN + side] = threats.taken;
            self.planes[COMPLETING + side] = threats.completing;
        }
    }

    fn fill_globals(&mut self, position: &Position, view: Color) {
        let mut next = Globals { values: &mut self.globals, at: 0 };
        let rules = position.rules();
        for (side, color) in [view, view.other()].into_iter().enumerate() {
            let hand = position.hand_basic(color);
            next.put(f32::from(hand) / 18.0);
            [0, 1, 2, 4].into_iter().for_each(|most| next.flag(hand <= most));
            next.sixths(position.hand_potentials(color));
            let stage = position.stage(color);
            next.flag(stage == Stage::G);
            next.flag(stage == Stage::L);
            let gipfs = self.planes[GIPF + side].len() + self.planes[CONVERTED + side].len();
            next.put(gipfs as f32 / 3.0);
            next.flag(gipfs == 0);
            next.flag(gipfs == 1);
            next.put((f32::from(rules.basic(color)) - 15.0) / 6.0);
            next.sixths(rules.mix(color));
            next.flag(position.e5_chance() == Some(color));
            let left = rules.challenge().map(|_| position.challenges_left(color));
            next.flag(left.is_some_and(|left| left != Some(0)));
            next.put(left.flatten().map_or(0.0, |left| 1.0 / (1.0 + left as f32)));
        }
        let phase = position.phase();
        next.flag(phase == Phase::ExtraOwed);
        next.flag(phase == Phase::Regular);
        next.flag(phase == Phase::ExtraEarned);
        next.flag(matches!(phase, Phase::Removal(_)));
        next.flag(phase == Phase::Challenge);
        next.flag(phase == Phase::SideGame);
        next.flag(view == position.mover());
        let announced = position.announced();
        let kind = announced.and_then(announced_kind);
        let extra = kind == Some(Potential::Tamsk);
        let earned = extra && position.announced_at() == Some(Phase::ExtraEarned);
        next.flag(kind.is_some() && !extra);
        next.flag(extra && !earned);
        next.flag(earned);
        Potential::ALL.into_iter().for_each(|potential| next.flag(kind == Some(potential)));
        Variant::ALL.into_iter().for_each(|variant| next.flag(rules.variant() == variant));
        next.flag(rules.punct_convert());
        let challenge = rules.challenge();
        next.flag(challenge.is_some());
        Potential::ALL
            .into_iter()
            .for_each(|kind| next.flag(challenge.is_some_and(|c| c.covers(kind))));
        next.flag(challenge.is_some_and(|c| c.side_game == SideGame::Recorded));
        let odds = challenge.and_then(Challenge::probabilities).unwrap_or_default();
        odds.into_iter().for_each(|p| next.put(p as f32));
        debug_assert_eq!(next.at, GLOBALS, "every global has its value");
    }
}

/// Writes the globals one after the other.
struct Globals<'a> {
    values: &'a mut [f32; GLOBALS],
    at: usize,
}

impl Globals<'_> {
    fn put(&mut self, value: f32) {
        self.values[self.at] = value;
        self.at += 1;
    }

    fn flag(&mut self, value: bool) {
        self.put(if value { 1.0 } else { 0.0 });
    }

    fn sixths(&mut self, counts: [u8; 5]) {
        counts.into_iter().for_each(|count| self.put(f32::from(count) / 6.0));
    }
}

fn announced_kind(play: Play) -> Option<Potential> {
    match play.kind() {
        PlayKind::Move { kind, .. } => Some(kind),
        PlayKind::Extra(_) => Some(Potential::Tamsk),
        _ => None,
    }
}
