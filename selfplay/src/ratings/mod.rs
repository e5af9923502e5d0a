//! Ratings: how strong many players are, from pairs of games between some of them.
//!
//! The model is Bradley and Terry's (1952) with one advantage of White common to all: White's expected score is
//! `1 / (1 + exp(-(white - black + advantage)))`, an unfinished game is half a point for each side. [`Ratings::fit`]
//! says how it is fitted and where the intervals come from, [`Planner`] which players should meet next.

mod cluster;
mod fit;
mod plan;
#[cfg(test)]
mod tests;

pub use fit::{RatingError, Ratings};
pub use plan::{Pairing, Planner};

use serde::{Deserialize, Serialize};

use crate::elo::PairCounts;

/// Elo points of a natural logarithm of the odds: 400 / ln 10.
pub(crate) const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// A number in Elo points with its 95% interval; all of them finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The estimate.
    pub elo: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Estimate {
    /// Half the interval's width: it is symmetric about the estimate.
    pub fn margin(&self) -> f64 {
        0.5 * (self.high - self.low)
    }
}

/// Pairs of games of two players from one opening, colours swapped, by what the first of them got in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColorPairs {
    /// `counts[w][b]`: pairs in which the first player got `w` half points with White and `b` with Black (0 to 2).
    pub counts: [[u64; 3]; 3],
}

impl ColorPairs {
    /// Counts a pair by the first player's half points with White and with Black (0 to 2; larger counts as 2).
    pub fn add(&mut self, white: usize, black: usize) {
        self.counts[white.min(2)][black.min(2)] += 1;
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// The same without the colours.
    pub fn points(&self) -> PairCounts {
        let mut points = PairCounts::default();
        for (white, black, count) in self.cells() {
            points.counts[white + black] += count;
        }
        points
    }

    /// The first player's half points with White and with Black, and how many pairs had them.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.counts
            .iter()
            .enumerate()
            .flat_map(|(w, row)| row.iter().enumerate().map(move |(b, &count)| (w, b, count)))
    }
}

/// All pairs of games that two players have played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encounter {
    /// The first player's number.
    pub a: usize,
    /// The second player's number, another one.
    pub b: usize,
    /// Their pairs, seen from the first.
    pub pairs: ColorPairs,
}
