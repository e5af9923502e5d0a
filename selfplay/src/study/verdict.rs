//! What a study's games say about each rules string, with one error rate for the whole table.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::estimate::Interval;
use super::plan::Progress;

/// The chance that a table has a wrong verdict, whichever its true scores and whenever it is looked at.
pub const TABLE_ERROR: f64 = 0.05;
/// A score this far from 1/2 or nearer counts as even.
pub const WITHIN: f64 = 0.02;
/// The error rate of the interval shown for a single rules string.
const SINGLE_ERROR: f64 = 0.05;

/// What is known of White's score by a rules string, read off an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within [`WITHIN`] of 1/2. It may be known too which side of it: the interval tells.
    Within,
    /// White has the advantage: above 1/2, and not known to be within.
    Above,
    /// Black has it: below 1/2, and not known to be within.
    Below,
    /// None of these yet.
    Undecided,
}

impl Verdict {
    /// What an interval for the score says.
    ///
    /// With intervals that cover every score of a table at once and at every round with probability 1 - [`TABLE_ERROR`], a
    /// verdict is wrong, ever and anywhere in the table, with probability [`TABLE_ERROR`] at most: a wrong one needs an
    /// interval that misses its score.
    pub fn of(bounds: Interval) -> Verdict {
        if bounds.low >= 0.5 - WITHIN && bounds.high <= 0.5 + WITHIN {
            Verdict::Within
        } else if bounds.low > 0.5 {
            Verdict::Above
        } else if bounds.high < 0.5 {
            Verdict::Below
        } else {
            Verdict::Undecided
        }
    }

    /// Whether it is true of this score.
    pub fn holds(self, score: f64) -> bool {
        match self {
            Verdict::Within => (0.5 - WITHIN..=0.5 + WITHIN).contains(&score),
            Verdict::Above => score > 0.5,
            Verdict::Below => score < 0.5,
            Verdict::Undecided => true,
        }
    }
}

impl fmt::Display for Verdict {
    /// In words, of White's score.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Within => "within 2%",
            Verdict::Above => "above 50%",
            Verdict::Below => "below 50%",
            Verdict::Undecided => "undecided",
        })
    }
}

/// One line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The rules string's number in the study.
    pub rules: usize,
    /// Games that count.
    pub games: u64,
    /// Games beside them that were the same as another one, play for play.
    pub repeated: u64,
    /// Different openings among them, the independent samples.
    pub units: u64,
    /// White's score, 0 to 1.
    pub mean: f64,
    /// Its 95% interval on its own, as if the number of games had been fixed: [`Tally::fixed_interval`](super::Tally::fixed_interval).
    pub interval: Interval,
    /// Its interval among all of the table: those of all rules strings cover their scores at once, at every round, with
    /// probability 95%. It is what [`Tally::anytime_interval`](super::Tally::anytime_interval) at error rate [`TABLE_ERROR`] / (number of rules strings) has
    /// left at every round so far.
    pub bounds: Interval,
    /// What `bounds` says.
    pub verdict: Verdict,
}

impl Standing {
    pub(super) fn new(rules: usize, line: &Progress) -> Standing {
        let Progress { tally, repeated, bounds } = line;
        let bounds = *bounds;
        Standing {
            rules,
            games: tally.games(),
            repeated: *repeated,
            units: tally.units(),
            mean: tally.mean(),
            interval: tally.fixed_interval(SINGLE_ERROR),
            bounds,
            verdict: Verdict::of(bounds),
        }
    }

    /// The farthest from 1/2 that `bounds` leaves possible, 0 to 1/2.
    pub fn farthest(&self) -> f64 {
        (self.bounds.high - 0.5).max(0.5 - self.bounds.low)
    }
}

/// A study's results after a whole round, in the order of its rules strings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// A line for each rules string.
    pub standings: Vec<Standing>,
}

impl Table {
    /// The lines by White's score, the highest first; those with the same score in the order of the study.
    pub fn ranking(&self) -> Vec<&Standing> {
        let mut lines: Vec<&Standing> = self.standings.iter().collect();
        lines.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        lines
    }

    /// The fairest: of those that are not known to favour a side the one that is surest to be near 1/2, by [`Standing::farthest`];
    /// of all where each is known to. A few even games do not make a rules string fair. With equals, the score that is nearer to
    /// 1/2, then the order of the study; `None` before any interval says anything.
    pub fn fairest(&self) -> Option<&Standing> {
        let distance = |line: &Standing| (line.mean - 0.5).abs();
        let favours = |line: &Standing| matches!(line.verdict, Verdict::Above | Verdict::Below);
        self.standings.iter().filter(|line| line.bounds != Interval::ALL).min_by(|a, b| {
            favours(a)
                .cmp(&favours(b))
                .then_with(|| a.farthest().total_cmp(&b.farthest()))
                .then_with(|| distance(a).total_cmp(&distance(b)))
        })
    }

    /// How many rules strings have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.standings.iter().filter(|line| line.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(rules: usize, low: f64, high: f64) -> Standing {
        let bounds = Interval { low, high };
        let mean = f64::midpoint(low, high);
        Standing {
            rules,
            games: 100,
            repeated: 0,
            units: 100,
            mean,
            interval: bounds,
            bounds,
            verdict: Verdict::of(bounds),
        }
    }

    #[test]
    fn verdicts_are_read_off_the_interval() {
        for (low, high, verdict) in [
            (0.48, 0.52, Verdict::Within),
            (0.501, 0.519, Verdict::Within),
            (0.501, 0.521, Verdict::Above),
            (0.5, 0.6, Verdict::Undecided),
            (0.479, 0.519, Verdict::Undecided),
            (0.3, 0.499, Verdict::Below),
            (0.0, 1.0, Verdict::Undecided),
        ] {
            assert_eq!(Verdict::of(Interval { low, high }), verdict, "{low} to {high}");
        }
        for (verdict, score, holds) in [
            (Verdict::Within, 0.52, true),
            (Verdict::Within, 0.5201, false),
            (Verdict::Above, 0.5, false),
            (Verdict::Below, 0.5, false),
            (Verdict::Undecided, 0.9, true),
        ] {
            assert_eq!(verdict.holds(score), holds, "{verdict:?} {score}");
        }
    }

    #[test]
    fn ranking_and_fairest() {
        let unknown = standing(3, 0.0, 1.0);
        let lines = vec![
            standing(0, 0.44, 0.48),
            standing(1, 0.52, 0.60),
            standing(2, 0.44, 0.54),
            unknown,
            standing(4, 0.46, 0.54),
            // Nearer to 1/2 than the others, and known to favour White.
            standing(5, 0.501, 0.53),
        ];
        let table = Table { standings: lines };
        let order: Vec<usize> = table.ranking().iter().map(|line| line.rules).collect();
        assert_eq!(order, [1, 5, 3, 4, 2, 0]);
        assert_eq!(table.fairest().map(|line| line.rules), Some(4));
        assert_eq!(table.count(Verdict::Undecided), 3);
        let known = Table { standings: vec![standing(0, 0.44, 0.48), standing(1, 0.52, 0.6)] };
        assert_eq!(known.fairest().map(|line| line.rules), Some(0));
        assert_eq!(Table { standings: vec![unknown] }.fairest(), None);
    }
}
