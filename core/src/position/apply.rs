//! Making a play, and what follows from it (rules, sections 4 to 9).

use super::{AnnouncedAt, Code, IllegalPlay, Phase, Position, Stage};
use crate::Color;
use crate::board::{Entry, Spot, SpotSet};
use crate::play::{EntryKind, Play, PlayKind, SideGameOutcome};
use crate::rules::{Potential, Variant};

impl Position {
    /// Makes a play after checking that it is legal.
    ///
    /// ```
    /// # let rules: gipf_core::Rules = "basic".parse()?;
    /// let mut position = rules.start();
    /// assert!(position.try_play("xe2".parse()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An illegal play is returned with the position, which is unchanged.
    pub fn try_play(&mut self, play: Play) -> Result<(), IllegalPlay> {
        if !self.is_legal(play) {
            return Err(IllegalPlay { play, position: self.to_string() });
        }
        self.play(play);
        Ok(())
    }

    /// Makes a play that is known to be legal, as one from [`Position::legal_plays`] is. An illegal
    /// one leaves a position without meaning; use [`Position::try_play`] for plays from outside.
    #[inline]
    pub fn play(&mut self, play: Play) {
        debug_assert!(self.is_legal(play), "{play} in {self}");
        match play.kind() {
            PlayKind::Enter { kind, entry } => {
                self.enter(kind, entry);
                self.after_regular();
            }
            PlayKind::Move { kind, .. } => self.announce_or_make(play, kind, AnnouncedAt::Regular),
            PlayKind::Extra(_) => {
                let at = match self.phase {
                    Phase::ExtraOwed => AnnouncedAt::ExtraOwed,
                    _ => AnnouncedAt::ExtraEarned,
                };
                self.announce_or_make(play, Potential::Tamsk, at);
            }
            PlayKind::SkipExtra => match self.phase {
                Phase::ExtraOwed => self.regular_due(),
                _ => self.removal_due(),
            },
            PlayKind::Remove(taken) => self.remove(taken),
            PlayKind::Decline => self.decline(),
            PlayKind::Challenge => {
                let challenger = self.mover.other().index();
                if self.rules.challenge.is_some_and(|c| c.limit > 0) {
                    self.used[challenger] = self.used[challenger].saturating_add(1);
                }
                self.phase = Phase::SideGame;
            }
            PlayKind::Pass | PlayKind::Outcome(SideGameOutcome::Win | SideGameOutcome::Tie) => {
                let announced = self.take_announced();
                self.make_announced(announced, self.announced_at);
            }
            PlayKind::Outcome(SideGameOutcome::Loss) => self.lose_announced(),
        }
        self.announced_at = match self.phase {
            Phase::Challenge | Phase::SideGame => self.announced_at,
            _ => AnnouncedAt::Regular,
        };
        if let Phase::Won(_) = self.phase {
            self.changed = SpotSet::EMPTY;
            self.closed = [0; 2];
            self.used = [0; 2];
            self.e5 = None;
        }
        self.trim_turn_memory();
    }

    // Entries and pushes

    #[inline]
    fn enter(&mut self, kind: EntryKind, entry: Entry) {
        let color = self.mover;
        let me = color.index();
        let (stage, pieces) = match kind {
            EntryKind::Basic => (Stage::B, 1),
            EntryKind::Loaded(_) => (Stage::L, 1),
            EntryKind::Gipf => (Stage::G, 2),
        };
        self.basics[me] -= pieces;
        if stage > self.stages[me] {
            self.stages[me] = stage;
        }
        self.push(entry);
        let first = entry.first_spot();
        self.owned[me].insert(first);
        match kind {
            EntryKind::Basic => self.potentials[me] = [0; 5],
            EntryKind::Gipf => self.gipf.insert(first),
            EntryKind::Loaded(potential) => {
                self.potentials[me][potential.index()] -= 1;
                self.put(first, Code::new(Some(color), potential, color, 1));
            }
        }
    }

    /// Moves the stacks along an entry's path one spot on; its first spot is left without any.
    #[inline]
    fn push(&mut self, entry: Entry) {
        let Some(path) = entry.path(self.occupied()) else { return };
        let pushed = path & self.occupied();
        self.changed |= path;
        if pushed.is_empty() {
            return;
        }
        let (stride, forward) = (entry.line().stride(), entry.direction().is_forward());
        let moved = |set: SpotSet| {
            let on_path = (set & pushed).0;
            let on_path = if forward { on_path << stride } else { on_path >> stride };
            (set - pushed) | SpotSet(on_path)
        };
        self.owned = self.owned.map(moved);
        self.gipf = moved(self.gipf);
        if self.complex.intersects(pushed) {
            self.complex = moved(self.complex);
            let codes = |at: u32| Spot::of_bit(at).index();
            let mut move_code = |from: Spot| {
                let to = if forward { from.bit() + stride } else { from.bit() - stride };
                self.stacks[codes(to)] = std::mem::take(&mut self.stacks[from.index()]);
            };
            // The far end first, so that no code is written over before it has moved.
            let mut left = pushed;
            while let Some(from) = if forward { left.last() } else { left.first() } {
                move_code(from);
                left.remove(from);
            }
        }
        // The first spot of a path is on the rim, so a changed e5 was pushed onto.
        if path.contains(Spot::E5) {
            self.e5 = self.tamsk_on_e5();
        }
    }

    /// The owner of the TAMSK-stack on `e5`, if one stands there.
    pub(super) fn tamsk_on_e5(&self) -> Option<Color> {
        let code = self.code(Spot::E5);
        let is_tamsk =
            self.complex.contains(Spot::E5) && code.is_loaded() && code.kind() == Potential::Tamsk;
        is_tamsk.then(|| code.first())
    }

    // Stacks

    pub(super) fn put(&mut self, spot: Spot, code: Code) {
        self.complex.insert(spot);
        self.stacks[spot.index()] = code;
        let top = code.top();
        self.owned[top.index()].insert(spot);
        self.owned[top.other().index()].remove(spot);
    }

    /// Leaves a basic piece on a spot, or nothing.
    fn put_basic(&mut self, spot: Spot, basic: Option<Color>) {
        self.clear(spot);
        if let Some(color) = basic {
            self.owned[color.index()].insert(spot);
        }
    }

    fn clear(&mut self, spot: Spot) {
        self.stacks[spot.index()] = Code::NONE;
        self.complex.remove(spot);
        self.gipf.remove(spot);
        self.owned[0].remove(spot);
        self.owned[1].remove(spot);
    }

    // Potentials

    /// Announces a potential's move if it can be challenged, else makes it (rules, section 9).
    fn announce_or_make(&mut self, play: Play, kind: Potential, at: AnnouncedAt) {
        if at != AnnouncedAt::Regular {
            // The chance on e5 is being used.
            self.e5 = None;
        }
        let challengeable = self.rules.challenge.is_some_and(|challenge| {
            challenge.covers(kind) && self.challenges_left(self.mover.other()) != Some(0)
        });
        if challengeable {
            self.announced = play;
            self.announced_at = at;
            self.phase = Phase::Challenge;
        } else {
            self.make_announced(play, at);
        }
    }

    fn take_announced(&mut self) -> Play {
        std::mem::replace(&mut self.announced, Play::PASS)
    }

    fn make_announced(&mut self, play: Play, at: AnnouncedAt) {
        match play.kind() {
            PlayKind::Move { kind, from, to } => {
                let before = self.gipf_counts();
                self.move_potential(kind, from, to);
                if !self.ended_by_gipfs(self.mover, before) {
                    self.after_regular();
                }
            }
            PlayKind::Extra(entry) => {
                let color = self.mover;
                self.put_basic(Spot::E5, Some(color));
                self.changed.insert(Spot::E5);
                self.push(entry);
                self.put(entry.first_spot(), Code::new(None, Potential::Tamsk, color, 1));
                self.after_extra(at);
            }
            _ => {}
        }
    }

    /// A Z, D, Y or P leaves its basic piece and lands on an empty spot or on what it covers.
    fn move_potential(&mut self, kind: Potential, from: Spot, to: Spot) {
        let color = self.mover;
        self.put_basic(from, Some(color));
        let code = if self.complex.contains(to) {
            self.code(to).covered()
        } else {
            // On a GIPF-piece it takes the place of the upper basic piece, which is captured.
            self.gipf.remove(to);
            Code::new(self.owner(to), kind, color, 1)
        };
        self.put(to, code);
        self.changed.insert(from);
        self.changed.insert(to);
    }

    /// The challenge is lost: the potential is out of the game, its basic piece stays.
    fn lose_announced(&mut self) {
        let announced = self.take_announced();
        let spot = match announced.kind() {
            PlayKind::Move { from, .. } => from,
            _ => Spot::E5,
        };
        self.put_basic(spot, Some(self.mover));
        self.changed.insert(spot);
        match self.announced_at {
            AnnouncedAt::ExtraEarned => self.removal_due(),
            AnnouncedAt::Regular | AnnouncedAt::ExtraOwed => self.regular_due(),
        }
    }

    // The course of a turn (rules, section 4)

    fn after_extra(&mut self, at: AnnouncedAt) {
        if at == AnnouncedAt::ExtraOwed {
            self.regular_due();
        } else {
            self.after_regular();
        }
    }

    /// The regular play is due: who cannot make one loses (rules, section 8).
    #[inline]
    fn regular_due(&mut self) {
        self.phase =
            if self.has_regular_play() { Phase::Regular } else { Phase::Won(self.mover.other()) };
    }

    /// After the regular play or an earned extra move: an extra move earned, or removal.
    #[inline]
    fn after_regular(&mut self) {
        if self.e5 == Some(self.mover) {
            self.e5 = None;
            self.phase = Phase::ExtraEarned;
        } else {
            self.removal_due();
        }
    }

    /// The next removal, asked anew each time: the mover's first. The turn ends without one.
    #[inline]
    fn removal_due(&mut self) {
        if self.e5.is_some() && self.e5 != self.tamsk_on_e5() {
            self.e5 = None;
        }
        for color in [self.mover, self.mover.other()] {
            if self.has_due_row(color) {
                self.phase = Phase::Removal(color);
                return;
            }
        }
        self.end_turn();
    }

    #[inline]
    fn end_turn(&mut self) {
        self.mover = self.mover.other();
        self.changed = SpotSet::EMPTY;
        self.closed = [0; 2];
        let owed = self.e5 == Some(self.mover);
        self.e5 = None;
        if owed {
            self.phase = Phase::ExtraOwed;
        } else {
            self.regular_due();
        }
    }

    // Removal (rules, section 7)

    fn remove(&mut self, taken: SpotSet) {
        let Phase::Removal(remover) = self.phase else { return };
        // Only lines with four GIPF-pieces are remembered as closed.
        if self.gipf.len() >= 4 || self.rules.punct_convert {
            self.closed[remover.index()] |= self.dealt_lines(remover, taken);
        }
        let before = self.gipf_counts();
        for spot in taken {
            self.take_top(spot, remover);
        }
        self.changed |= taken;
        if !self.ended_by_gipfs(remover, before) {
            self.removal_due();
        }
    }

    fn take_top(&mut self, spot: Spot, remover: Color) {
        let code = self.code(spot);
        if self.complex.contains(spot) && !code.is_loaded() {
            match code.uncovered() {
                Some(below) => self.put(spot, below),
                None => self.put_basic(spot, code.base()),
            }
            return;
        }
        if self.owned(remover).contains(spot) {
            self.basics[remover.index()] += if self.gipf.contains(spot) { 2 } else { 1 };
        }
        self.clear(spot);
    }

    fn decline(&mut self) {
        let Phase::Removal(color) = self.phase else { return };
        self.closed[color.index()] |= self.gipf_only_lines(color);
        self.removal_due();
    }

    fn gipf_counts(&self) -> [u32; 2] {
        match self.rules.variant {
            Variant::Basic => [0; 2],
            _ => Color::ALL.map(|color| self.gipf_count(color)),
        }
    }

    /// Ends the game if a colour has lost its last GIPF-piece by a whole play of `actor`, who wins
    /// if neither has any left (rules, section 8). Only a removal or a cover can do that.
    fn ended_by_gipfs(&mut self, actor: Color, before: [u32; 2]) -> bool {
        let lost = |color: Color| before[color.index()] > 0 && self.gipf_count(color) == 0;
        let winner = match (lost(actor), lost(actor.other())) {
            (false, false) => return false,
            (_, true) => actor,
            (true, false) => actor.other(),
        };
        self.phase = Phase::Won(winner);
        true
    }
}
