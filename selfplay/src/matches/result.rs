//! What a match came to.

use serde::Serialize;

use crate::elo::{Elo, PairCounts};

/// What came of a match, or of its games so far. A and B are the contestants in the order given.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// A's name.
    pub a: String,
    /// B's name.
    pub b: String,
    /// Games played to their ends.
    pub games: u64,
    /// Won by A as White, and as Black.
    pub a_wins: [u64; 2],
    /// Won by B as White, and as Black.
    pub b_wins: [u64; 2],
    /// Stopped at the limit of plays.
    pub unfinished: u64,
    /// Pairs of which both games are over, by A's points.
    pub pairs: PairCounts,
    /// Plays of all games, openings included.
    pub plays: u64,
    /// Positions evaluated by networks.
    pub evaluations: u64,
    /// Batches they came in.
    pub batches: u64,
    /// The match was stopped before its last game.
    pub stopped: bool,
}

impl MatchResult {
    /// A's wins with either colour.
    pub fn a_total(&self) -> u64 {
        self.a_wins.iter().sum()
    }

    /// B's wins with either colour.
    pub fn b_total(&self) -> u64 {
        self.b_wins.iter().sum()
    }

    /// A's share of the points, 0 to 1, over all games that are over; 1/2 without a game.
    pub fn score(&self) -> f64 {
        share(self.a_total(), self.unfinished, self.games)
    }

    /// White's share of the points, 0 to 1; 1/2 without a game.
    pub fn white_share(&self) -> f64 {
        share(self.a_wins[0] + self.b_wins[0], self.unfinished, self.games)
    }

    /// A's lead over B in Elo with its 95% interval, from the finished pairs.
    pub fn elo(&self) -> Elo {
        self.pairs.elo()
    }

    /// Plays per game; 0 without a game.
    pub fn mean_length(&self) -> f64 {
        self.plays as f64 / self.games.max(1) as f64
    }
}

fn share(wins: u64, unfinished: u64, games: u64) -> f64 {
    if games == 0 { 0.5 } else { (wins as f64 + 0.5 * unfinished as f64) / games as f64 }
}
