//! The game at the table: its plays with every position, read from and written to files.

use std::path::Path;

use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Color, Play, Position, Spot, SpotSet};
use gipf_player::games::PlayedGame;
use gipf_player::games::files::nth_game;
use gipf_player::situation;
use sha2::{Digest, Sha256};

use super::super::fault::write_whole;

/// A game under way.
#[derive(Debug, Clone)]
pub(super) struct Game {
    /// One position before each play, and the last one.
    positions: Vec<Position>,
    plays: Vec<Play>,
    /// Plays after which it is unfinished.
    pub(super) max_plays: u32,
    /// Seed of the players and of side games.
    pub(super) seed: u64,
}

impl Game {
    pub(super) fn new(start: Position, max_plays: u32, seed: u64) -> Self {
        Game { positions: vec![start], plays: Vec::new(), max_plays, seed }
    }

    /// The first game of a file of game lines or records, at its end.
    ///
    /// # Errors
    /// The file cannot be read, or its first line is no game that the rules allow.
    pub(super) fn load(path: &Path) -> anyhow::Result<Self> {
        let PlayedGame { positions, plays, max_plays, seed } = nth_game(path, 1)?;
        Ok(Game { positions, plays, max_plays, seed })
    }

    /// The game as a record.
    pub(super) fn record(&self) -> GameRecord {
        let start = self.positions[0];
        let rules = *start.rules();
        let plays: Vec<RecordedPlay> =
            self.plays.iter().map(|play| RecordedPlay { p: play.to_string(), s: None }).collect();
        GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId { run: "play".to_owned(), worker: self.nonce(), seq: 0 },
            rules: rules.to_string(),
            start: (start != rules.start()).then(|| start.to_string()),
            max_plays: self.max_plays,
            seed: self.seed,
            result: GameResult::of(self.position()),
            forfeit: None,
            plays,
        }
    }

    /// A name that only this game has: it follows from what was played, so that a game saved twice is one game.
    fn nonce(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(self.positions[0].rules().to_string());
        hash.update(self.positions[0].to_string());
        for play in &self.plays {
            hash.update(play.to_string());
            hash.update(";");
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Writes the game as a record, which appears whole or not at all, and in place of a file only where it may `replace` one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn save(&self, path: &Path, replace: bool) -> anyhow::Result<()> {
        let text = self.record().to_json() + "\n";
        write_whole(path, replace, |aside| Ok(std::fs::write(aside, text)?))
    }

    pub(super) fn position(&self) -> &Position {
        &self.positions[self.plays.len()]
    }

    pub(super) fn plays(&self) -> &[Play] {
        &self.plays
    }

    /// Makes a play, which must be legal.
    pub(super) fn play(&mut self, play: Play) {
        let mut position = *self.position();
        position.play(play);
        self.plays.push(play);
        self.positions.push(position);
    }

    /// Takes back plays until a decision of one of these colours is due again; false, and nothing done, if there was none.
    pub(super) fn undo(&mut self, colors: &[Color]) -> bool {
        let back = self.positions[..self.plays.len()]
            .iter()
            .rposition(|position| position.decider().is_some_and(|color| colors.contains(&color)));
        let Some(back) = back else { return false };
        self.plays.truncate(back);
        self.positions.truncate(back + 1);
        true
    }

    /// Why the game has ended; `None` while it goes on.
    pub(super) fn end(&self) -> Option<String> {
        if self.position().is_over() {
            return Some(situation::situation(self.position()));
        }
        let limit = self.plays.len() >= self.max_plays as usize;
        limit.then(|| format!("unfinished: the limit of {} plays is reached", self.max_plays))
    }

    /// Spots that look otherwise than after the first `seen` plays.
    pub(super) fn changed_since(&self, seen: usize) -> SpotSet {
        let (before, now) = (&self.positions[seen.min(self.plays.len())], self.position());
        Spot::ALL
            .into_iter()
            .filter(|&spot| before.stack(spot) != now.stack(spot))
            .fold(SpotSet::EMPTY, |set, spot| set | SpotSet::of(spot))
    }

    /// The game turn by turn: `3 White e1-e2;xb2,c3,d4,e5`.
    pub(super) fn turns(&self) -> Vec<String> {
        let mut turns: Vec<(Color, String)> = Vec::new();
        for (position, play) in self.positions.iter().zip(&self.plays) {
            match turns.last_mut() {
                Some((mover, text)) if *mover == position.mover() => *text += &format!(";{play}"),
                _ => turns.push((position.mover(), play.to_string())),
            }
        }
        let numbered = turns.iter().enumerate();
        numbered.map(|(index, (mover, text))| format!("{:>3} {mover} {text}", index + 1)).collect()
    }
}
