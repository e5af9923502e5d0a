//! What a match came to.

use std::ops::AddAssign;

use gipf_core::record::GameRecord;
use serde::{Deserialize, Serialize};

use crate::elo::{Elo, PairCounts};
use crate::sprt::SprtState;

/// What the decisions of one side cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SideCost {
    /// Decisions; a single play is none.
    pub decisions: u64,
    /// What they searched: new root visits, playouts or positions. Outside programs count as they like.
    pub nodes: u64,
    /// Seconds thought; of batches that several games share, each has its rows' share. 0 in a build without a clock.
    pub seconds: f64,
    /// The most that a decision went beyond its limit of time, in seconds; 0 without a limit.
    pub worst_overshoot: f64,
}

impl AddAssign for SideCost {
    fn add_assign(&mut self, other: SideCost) {
        self.decisions += other.decisions;
        self.nodes += other.nodes;
        self.seconds += other.seconds;
        self.worst_overshoot = self.worst_overshoot.max(other.worst_overshoot);
    }
}

/// One side of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SideResult {
    /// Games lost because it broke down or broke the rules.
    pub forfeits: u64,
    /// Why, the last time.
    pub last_forfeit: Option<String>,
    /// What all of its decisions cost.
    pub cost: SideCost,
}

/// A game of a match that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchGame {
    /// The game; its sequence number is its number in the match, the first being 0. A is White in even ones.
    pub record: GameRecord,
    /// What it cost A and B.
    pub costs: [SideCost; 2],
}

/// What came of a match, or of its games so far. A and B are the contestants in the order given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchResult {
    /// A's name.
    pub a: String,
    /// B's name.
    pub b: String,
    /// Games played to their ends, forfeited ones included.
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
    /// A and B.
    pub sides: [SideResult; 2],
    /// The test that the match is to end by, and where it stands.
    pub sprt: Option<SprtState>,
    /// Positions that networks evaluated in batches, games taken up not included.
    pub evaluations: u64,
    /// The batches.
    pub batches: u64,
    /// The match was stopped before its end.
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
