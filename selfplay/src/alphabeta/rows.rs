//! Which plays may make a row, told from the owned spots without making the play.

use gipf_core::{Color, Entry, EntryKind, Phase, Play, PlayKind, Position, Potential, SpotSet};

/// Tells of the plays of one position which may make a row for whoever decides there.
pub(super) struct RowFinder<'a> {
    position: &'a Position,
    me: Color,
    owned: SpotSet,
    occupied: SpotSet,
    /// Ways to enter asked about before, and those of them that may make a row: whatever enters, the same spots move.
    asked: u64,
    rows: u64,
    /// The opponent may have no play left after any play.
    starving: bool,
}

impl<'a> RowFinder<'a> {
    #[inline]
    pub(super) fn new(position: &'a Position, me: Color) -> RowFinder<'a> {
        RowFinder {
            position,
            me,
            owned: position.owned(me),
            occupied: position.occupied(),
            asked: 0,
            rows: 0,
            starving: position.hand_basic(me.other()) <= 1,
        }
    }

    /// Whether four spots in a line are the colour's after a play, or the play takes a GIPF-piece.
    #[inline]
    pub(super) fn may_make_row(&mut self, play: Play) -> bool {
        match play.kind() {
            PlayKind::Enter { entry, .. } | PlayKind::Extra(entry) => self.by_entering(entry),
            PlayKind::Move { kind, to, .. } => {
                // The basic piece of the loaded piece stays and keeps its spot.
                has_four(self.owned | SpotSet::of(to))
                    || kind == Potential::Punct && self.position.gipfs().contains(to)
            }
            _ => false,
        }
    }

    #[inline]
    fn by_entering(&mut self, entry: Entry) -> bool {
        let way = 1 << entry.index();
        if self.asked & way == 0 {
            self.asked |= way;
            let path = entry.path(self.occupied).unwrap_or_default();
            let after = entry.pushed(self.owned, path) | SpotSet::of(entry.first_spot());
            if has_four(after) {
                self.rows |= way;
            }
        }
        self.rows & way != 0
    }

    /// Whether a play leads to a removal by its maker, or wins; an announced move is taken as made.
    #[inline]
    pub(super) fn makes_row(&mut self, play: Play) -> bool {
        if !self.starving && !self.may_make_row(play) {
            return false;
        }
        let mut after = *self.position;
        after.play(play);
        if after.phase() == Phase::Challenge {
            after.play(Play::PASS);
        }
        matches!(after.phase(), Phase::Removal(color) | Phase::Won(color) if color == self.me)
    }
}

/// Drops the entries of loaded pieces of all kinds but the first: they make the same rows.
pub(super) fn keep_one_load(plays: &mut Vec<Play>) {
    let mut first = None;
    plays.retain(|play| match play.kind() {
        PlayKind::Enter { kind: kind @ EntryKind::Loaded(_), .. } => {
            *first.get_or_insert(kind) == kind
        }
        _ => true,
    });
}

#[inline]
fn has_four(set: SpotSet) -> bool {
    (0..3).any(|orientation| !set.rows(orientation).is_empty())
}
