//! In which order the plays of a position are tried.

use gipf_core::{Color, Play, PlayKind, Position, SpotSet};

/// Slots that the history has for a colour's plays: entries by kind and way, extra moves by way, potentials' moves by
/// where from and where to.
const SLOTS: usize = ENTRIES + WAYS + SPOTS * SPOTS;
const ENTRIES: usize = 7 * WAYS;
const WAYS: usize = 42;
const SPOTS: usize = 37;

/// The history's values stay within this.
const MOST_HISTORY: i32 = 1 << 14;

/// Which plays have refuted positions in this decision.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// Two plays for each ply that last refuted a position there.
    killers: Vec<[Play; 2]>,
    /// By colour and slot: how often, and how deep below, the play refuted.
    values: Vec<[i32; SLOTS]>,
}

impl History {
    pub(super) fn new(plies: usize) -> History {
        History { killers: vec![[Play::PASS; 2]; plies], values: vec![[0; SLOTS]; 2] }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.killers.fill([Play::PASS; 2]);
        self.values.iter_mut().for_each(|values| values.fill(0));
    }

    /// How promising a play is that is neither the table's nor makes a row.
    #[inline]
    pub(super) fn score(&self, color: Color, ply: usize, play: Play) -> i32 {
        let killers = &self.killers[ply];
        if killers[0] == play {
            return 2 * MOST_HISTORY + 1;
        }
        if killers[1] == play {
            return 2 * MOST_HISTORY;
        }
        slot(play).map_or(0, |slot| self.values[color.index()][slot])
    }

    /// A play refuted its position; those tried before it did not.
    pub(super) fn refuted<'a>(
        &mut self,
        color: Color,
        ply: usize,
        depth: i32,
        play: Play,
        before: impl Iterator<Item = &'a Play>,
    ) {
        let killers = &mut self.killers[ply];
        if killers[0] != play {
            *killers = [play, killers[0]];
        }
        let values = &mut self.values[color.index()];
        let gain = (depth * depth).min(400);
        let mut change = |play, by: i32| {
            if let Some(slot) = slot(play) {
                let value = &mut values[slot];
                // Nearer to the limit it changes less, so it never passes it.
                *value += by - *value * by.abs() / MOST_HISTORY;
            }
        };
        change(play, gain);
        before.for_each(|&play| change(play, -gain));
    }
}

/// Removals and other forced plays have no history: they are told apart by what they take.
#[inline]
fn slot(play: Play) -> Option<usize> {
    match play.kind() {
        PlayKind::Enter { kind, entry } => Some(kind.index() * WAYS + entry.index()),
        PlayKind::Extra(entry) => Some(ENTRIES + entry.index()),
        PlayKind::Move { from, to, .. } => Some(ENTRIES + WAYS + from.index() * SPOTS + to.index()),
        _ => None,
    }
}

/// How much a removal promises, without making it: what it captures, then what of the remover's own it keeps; with an
/// empty hand what it brings back.
#[inline]
pub(super) fn removal_score(position: &Position, me: Color, play: Play) -> i32 {
    let PlayKind::Remove(taken) = play.kind() else { return 0 };
    let count = |set: SpotSet| set.len() as i32;
    let (mine, gipfs) = (taken & position.owned(me), taken & position.gipfs());
    let theirs = taken - mine;
    let back = if position.hand_basic(me) <= 2 { 1 } else { -1 };
    8 * count(theirs) + 16 * count(theirs & gipfs) + back * count(mine) - 4 * count(mine & gipfs)
}

/// Moves the most promising of the plays from `from` on to that place.
#[inline]
pub(super) fn pick(order: &mut [(i32, u16)], from: usize) -> usize {
    let mut best = from;
    for at in from + 1..order.len() {
        if order[at].0 > order[best].0 {
            best = at;
        }
    }
    order.swap(from, best);
    usize::from(order[from].1)
}
