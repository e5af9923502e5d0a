//! One game of a match under way.

use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT};
use gipf_core::{Color, Play, Position};

use super::{MatchConfig, MatchGame, SideCost};
use crate::random::RandomKey;
use crate::record::Made;

/// Letters of a forfeit's reason that a record keeps.
const REASON: usize = 300;

/// A game.
pub(super) struct Game {
    pub(super) number: u64,
    pub(super) position: Position,
    pub(super) plays: Vec<Play>,
    made: Vec<Made>,
    /// The contestant whose search is running.
    pub(super) searching: Option<usize>,
    /// The contestant that cannot play on, and why.
    forfeit: Option<(usize, String)>,
    pub(super) costs: [SideCost; 2],
}

impl Game {
    /// A game after its opening.
    pub(super) fn new(config: &MatchConfig, number: u64, opening: &[Play]) -> Game {
        let mut game = Game {
            number,
            position: config.rules.start(),
            plays: Vec::new(),
            made: Vec::new(),
            searching: None,
            forfeit: None,
            costs: [SideCost::default(); 2],
        };
        opening.iter().for_each(|&play| game.push(Made::unsearched(play)));
        game
    }

    /// The key of its random streams.
    pub(super) fn key(&self, seed: u64) -> RandomKey {
        RandomKey { seed, game: self.number }
    }

    /// A is White in the first game of each pair.
    pub(super) fn contestant(&self, color: Color) -> usize {
        (color.index() + self.number as usize) % 2
    }

    pub(super) fn push(&mut self, made: Made) {
        self.position.play(made.play);
        self.plays.push(made.play);
        self.made.push(made);
    }

    /// A contestant loses the game, whatever the board says.
    pub(super) fn forfeit(&mut self, side: usize, name: &str, reason: &str) {
        let letters = |c: char| if c.is_control() { ' ' } else { c };
        let reason = format!("{name}: {reason}").chars().take(REASON).map(letters).collect();
        self.forfeit = Some((side, reason));
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self, max_plays: u32) -> bool {
        self.forfeit.is_some() || self.position.is_over() || self.plays.len() >= max_plays as usize
    }

    /// The game that has ended.
    pub(super) fn finish(self, config: &MatchConfig) -> MatchGame {
        let (result, forfeit) = match self.forfeit {
            None => (GameResult::of(&self.position), None),
            // The other side's colour: A's is White in even games.
            Some((side, reason)) if (side + self.number as usize).is_multiple_of(2) => {
                (GameResult::Black, Some(reason))
            }
            Some((_, reason)) => (GameResult::White, Some(reason)),
        };
        let record = GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId { run: config.run.clone(), worker: config.worker.clone(), seq: self.number },
            rules: config.rules.to_string(),
            start: None,
            max_plays: config.max_plays,
            seed: config.seed,
            result,
            forfeit,
            plays: self.made.iter().map(Made::recorded).collect(),
        };
        MatchGame { record, costs: self.costs }
    }
}
