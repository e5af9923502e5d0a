//! Which plays the rules allow (rules, sections 4 to 9).

use super::rays::{nearest, ray, step};
use super::{Phase, Position, Stage, enterable};
use crate::Color;
use crate::board::{Direction, Entry, EntrySet, Line, Spot, SpotSet};
use crate::play::{EntryKind, Play, PlayKind, SideGameOutcome};
use crate::rules::{Potential, SideGame};

impl Position {
    /// Every legal play, all 42 ways to enter apart, in no promised order; none when the game is
    /// over. Clears `out` first. In phase `=` these are the outcomes of the side game.
    pub fn legal_plays(&self, out: &mut Vec<Play>) {
        self.generate(out, false);
    }

    /// The plays a search should try: as [`Position::legal_plays`], but an entry onto an empty
    /// spot stands once, as its first way in ASCII order, since all its ways have the same result
    /// (rules, section 10). Clears `out` first; the order is always the same for equal positions.
    pub fn actions(&self, out: &mut Vec<Play>) {
        self.generate(out, true);
    }

    fn generate(&self, out: &mut Vec<Play>, merged: bool) {
        out.clear();
        match self.phase {
            Phase::Regular => {
                self.enter_all(merged, out);
                self.potential_moves(self.mover, |play| {
                    out.push(play);
                    false
                });
            }
            Phase::ExtraOwed | Phase::ExtraEarned => {
                extend(out, self.entries(merged), Play::extra(Entry::ALL[0]));
                out.push(Play::SKIP_EXTRA);
            }
            Phase::Removal(color) => self.removals(color, out),
            Phase::Challenge => out.extend([Play::CHALLENGE, Play::PASS]),
            Phase::SideGame => {
                let plays = [Play::WIN, Play::TIE, Play::LOSS];
                out.extend(plays.into_iter().filter(|play| self.is_outcome(*play)));
            }
            Phase::Won(_) => {}
        }
    }

    /// The outcomes of the side game with their probabilities, all above 0. Clears `out` first;
    /// leaves it empty in other phases and where the side game is recorded.
    pub fn outcomes(&self, out: &mut Vec<(Play, f64)>) {
        out.clear();
        if !self.is_chance() {
            return;
        }
        if let Some(probabilities) = self.rules.side_game_probabilities() {
            let plays = [Play::WIN, Play::TIE, Play::LOSS];
            out.extend(plays.into_iter().zip(probabilities).filter(|(_, p)| *p > 0.0));
        }
    }

    /// Number of legal plays, without listing entries one by one.
    pub(crate) fn count_legal(&self, scratch: &mut Vec<Play>) -> u64 {
        match self.phase {
            Phase::Regular => {
                let kinds = enterable(self, self.mover).count() as u64;
                let mut moves = 0;
                self.potential_moves(self.mover, |_| {
                    moves += 1;
                    false
                });
                kinds * self.entries(false).len() as u64 + moves
            }
            _ => {
                self.legal_plays(scratch);
                scratch.len() as u64
            }
        }
    }

    #[inline]
    fn is_full(&self, line: Line) -> bool {
        line.spots().is_subset(self.occupied())
    }

    /// Appends every entry of every kind the mover may enter.
    #[inline]
    fn enter_all(&self, merged: bool, out: &mut Vec<Play>) {
        let entries = self.entries(merged);
        for kind in enterable(self, self.mover) {
            extend(out, entries, Play::enter(kind, Entry::ALL[0]));
        }
    }

    /// The ways to enter that are not blocked; `merged`: one onto each empty spot.
    #[inline]
    fn entries(&self, merged: bool) -> EntrySet {
        let open = EntrySet::open(self.occupied());
        if merged { open.merged(self.occupied()) } else { open }
    }

    /// Calls `visit` with every move of a colour's potentials (rules, section 6); stops when it
    /// returns true and says whether it did.
    #[inline]
    fn potential_moves(&self, color: Color, mut visit: impl FnMut(Play) -> bool) -> bool {
        for from in self.complex & self.owned(color) {
            let code = self.code(from);
            if code.is_loaded() && self.moves_from(from, code.kind(), &mut visit) {
                return true;
            }
        }
        false
    }

    fn moves_from(
        &self,
        from: Spot,
        kind: Potential,
        visit: &mut impl FnMut(Play) -> bool,
    ) -> bool {
        let occupied = self.occupied();
        // What must be next to it for a move to begin that way.
        let near = match kind {
            Potential::Tamsk => return false,
            Potential::Zertz => occupied,
            Potential::Yinsh => !occupied,
            Potential::Dvonn | Potential::Punct => self.owned(self.mover.other()),
        };
        for direction in Direction::ALL {
            let next = step(from, direction);
            if !near.intersects(next) {
                continue;
            }
            let ray = ray(from, direction);
            let stop = match kind {
                Potential::Yinsh => {
                    let end = nearest(ray & occupied, direction);
                    let run =
                        end.map_or(ray, |end| ray - self::ray(end, direction) - SpotSet::of(end));
                    run.iter().any(|to| visit(Play::move_potential(kind, from, to)))
                }
                Potential::Dvonn | Potential::Punct => next.first().is_some_and(|to| {
                    self.may_cover(kind, to) && visit(Play::move_potential(kind, from, to))
                }),
                _ => nearest(ray - occupied, direction)
                    .is_some_and(|to| visit(Play::move_potential(kind, from, to))),
            };
            if stop {
                return true;
            }
        }
        false
    }

    /// Whether the mover's DVONN- or PÜNCT-potential may cover this spot (rules, section 6).
    fn may_cover(&self, kind: Potential, to: Spot) -> bool {
        if !self.owned(self.mover.other()).contains(to) {
            false
        } else if self.complex.contains(to) {
            self.code(to).kind() == kind
        } else {
            self.gipf.contains(to) == (kind == Potential::Punct)
        }
    }

    /// Whether the mover has a regular play.
    #[inline]
    pub(super) fn has_regular_play(&self) -> bool {
        // A board with an empty spot has a line that is not full, and so a way in.
        let room = self.occupied() != SpotSet::ALL;
        let may_enter = match self.hand_basic(self.mover) {
            0 => false,
            // One piece in hand is no GIPF-piece, which the very first entry must be.
            1 => self.stage(self.mover) != Stage::G || self.gipf.intersects(self.owned(self.mover)),
            _ => true,
        };
        room && may_enter || self.potential_moves(self.mover, |_| true)
    }

    /// The action that has the result of a legal play: the play itself, or the first way onto the
    /// empty spot that it enters.
    pub fn action_for(&self, play: Play) -> Play {
        let merged = |entry: Entry| {
            let spot = entry.first_spot();
            Entry::first_onto(spot).filter(|_| !self.occupied().contains(spot)).unwrap_or(entry)
        };
        match play.kind() {
            PlayKind::Enter { kind, entry } => Play::enter(kind, merged(entry)),
            PlayKind::Extra(entry) => Play::extra(merged(entry)),
            _ => play,
        }
    }

    /// Whether a play is legal here.
    pub fn is_legal(&self, play: Play) -> bool {
        match (self.phase, play.kind()) {
            (Phase::Regular, PlayKind::Enter { kind, entry }) => {
                !self.is_full(entry.line()) && self.may_enter(kind)
            }
            (Phase::Regular, PlayKind::Move { kind, from, .. }) => {
                let code = self.code(from);
                self.owned(self.mover).contains(from)
                    && self.complex.contains(from)
                    && code.is_loaded()
                    && code.kind() == kind
                    && self.moves_from(from, kind, &mut |legal| legal == play)
            }
            (Phase::ExtraOwed | Phase::ExtraEarned, PlayKind::Extra(entry)) => {
                !self.is_full(entry.line())
            }
            (Phase::ExtraOwed | Phase::ExtraEarned, PlayKind::SkipExtra) => true,
            (Phase::Removal(color), PlayKind::Remove(taken)) => self.is_removal(color, taken),
            (Phase::Removal(color), PlayKind::Decline) => self.may_decline(color),
            (Phase::Challenge, PlayKind::Challenge | PlayKind::Pass) => true,
            (Phase::SideGame, PlayKind::Outcome(_)) => self.is_outcome(play),
            _ => false,
        }
    }

    fn may_enter(&self, kind: EntryKind) -> bool {
        enterable(self, self.mover).any(|k| k == kind)
    }

    /// Whether the side game can end so: a recorded one in any way, another as its probabilities
    /// allow.
    fn is_outcome(&self, play: Play) -> bool {
        let Some(challenge) = self.rules.challenge() else { return false };
        let PlayKind::Outcome(outcome) = play.kind() else { return false };
        let at = match outcome {
            SideGameOutcome::Win => 0,
            SideGameOutcome::Tie => 1,
            SideGameOutcome::Loss => 2,
        };
        challenge.side_game == SideGame::Recorded
            || challenge.probabilities().is_some_and(|p| p[at] > 0.0)
    }
}

/// Per six ways to enter and set of them: their plays as entries of basic pieces, packed to the front.
static CHUNKS: [[[Play; 6]; 64]; 7] = {
    let mut chunks = [[[Play::PASS; 6]; 64]; 7];
    let mut group = 0;
    while group < 7 {
        let mut bits = 0;
        while bits < 64 {
            let (mut way, mut at) = (0, 0);
            while way < 6 {
                if bits >> way & 1 != 0 {
                    let entry = Entry::ALL[6 * group + way];
                    chunks[group][bits][at] = Play::enter(EntryKind::Basic, entry);
                    at += 1;
                }
                way += 1;
            }
            bits += 1;
        }
        group += 1;
    }
    chunks
};

/// Appends a play for each way to enter: `play`, whose own is [`Entry::ALL`]`[0]`, with that way.
#[inline]
fn extend(out: &mut Vec<Play>, entries: EntrySet, play: Play) {
    let from = out.len();
    entries.extend(out, &CHUNKS, Play::PASS);
    if play != Play::enter(EntryKind::Basic, Entry::ALL[0]) {
        out[from..].iter_mut().for_each(|basic| *basic = play.with_entry_of(*basic));
    }
}
