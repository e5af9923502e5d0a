//! White's score by one rules string: the estimate and its intervals.
//!
//! Games that share an opening are alike, so the opening is the independent sample: a *unit* is the mean score of the games
//! of one opening, and all units weigh the same.

use std::collections::BTreeMap;

use gipf_core::record::GameResult;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Units that a time-uniform interval needs; with fewer it is everything.
pub const FIRST_UNITS: u64 = 16;
/// The most games of an opening that can be stored.
const MOST_OF_OPENING: u32 = 1_000_000_000;
/// The number of units of variance 1/4 at which the time-uniform interval is tightest for its level.
const TUNED_UNITS: f64 = 2000.0;

/// A stretch of scores, its ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The lower end, 0 to 1.
    pub low: f64,
    /// The upper end, 0 to 1, not below `low`.
    pub high: f64,
}

impl Interval {
    /// Every score.
    pub const ALL: Interval = Interval { low: 0.0, high: 1.0 };

    fn around(middle: f64, margin: f64) -> Interval {
        Interval { low: (middle - margin).max(0.0), high: (middle + margin).min(1.0) }
    }

    /// `high - low`, 0 to 1.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether the score lies in it.
    pub fn contains(&self, score: f64) -> bool {
        (self.low..=self.high).contains(&score)
    }

    /// The same, its ends rounded outward to billionths: a number of so few digits is the same after it was written and read.
    pub(super) fn rounded(&self) -> Interval {
        const DIGITS: f64 = 1e9;
        Interval {
            low: (self.low * DIGITS).floor() / DIGITS,
            high: ((self.high * DIGITS).ceil() / DIGITS).min(1.0),
        }
    }

    /// What both have in common; `None` where that is nothing.
    pub fn common(&self, other: &Interval) -> Option<Interval> {
        let common = Interval { low: self.low.max(other.low), high: self.high.min(other.high) };
        (common.low <= common.high).then_some(common)
    }
}

/// The games of one opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    /// White's points, doubled.
    half_points: u32,
    games: u32,
}

impl Unit {
    fn mean(self) -> f64 {
        f64::from(self.half_points) / (2.0 * f64::from(self.games))
    }
}

/// The games by one rules string, by opening. It counts whole numbers only, so that the order of the games has no part in
/// anything computed from it.
///
/// Stored as `{opening: [half points, games]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<u64, [u32; 2]>", try_from = "BTreeMap<u64, [u32; 2]>")]
pub struct Tally {
    openings: BTreeMap<u64, Unit>,
    /// How many openings have the same games and points: what the sums run over.
    alike: BTreeMap<Unit, u64>,
    games: u64,
}

/// An opening that was stored with numbers that no games have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "opening {opening}: {half_points} half points in {games} games: there must be 1 to {MOST_OF_OPENING} games and at most two half points a game"
)]
pub struct TallyError {
    /// The opening's key.
    pub opening: u64,
    /// White's points, doubled.
    pub half_points: u32,
    /// The number of games.
    pub games: u32,
}

impl From<Tally> for BTreeMap<u64, [u32; 2]> {
    fn from(tally: Tally) -> Self {
        let stored = |(opening, unit): (u64, Unit)| (opening, [unit.half_points, unit.games]);
        tally.openings.into_iter().map(stored).collect()
    }
}

impl TryFrom<BTreeMap<u64, [u32; 2]>> for Tally {
    type Error = TallyError;

    fn try_from(stored: BTreeMap<u64, [u32; 2]>) -> Result<Tally, TallyError> {
        let mut tally = Tally::default();
        for (opening, [half_points, games]) in stored {
            if !(1..=MOST_OF_OPENING).contains(&games) || half_points > 2 * games {
                return Err(TallyError { opening, half_points, games });
            }
            let unit = Unit { half_points, games };
            tally.openings.insert(opening, unit);
            *tally.alike.entry(unit).or_default() += 1;
            tally.games += u64::from(games);
        }
        Ok(tally)
    }
}

impl Tally {
    /// Counts a game. `opening` is a key of its first plays: games with one key are one unit.
    pub fn add(&mut self, opening: u64, result: GameResult) {
        let unit = self.openings.entry(opening).or_default();
        if unit.games > 0
            && let Some(count) = self.alike.get_mut(unit)
        {
            *count -= 1;
            if *count == 0 {
                self.alike.remove(unit);
            }
        }
        unit.games += 1;
        unit.half_points += match result {
            GameResult::White => 2,
            GameResult::Unfinished => 1,
            GameResult::Black => 0,
        };
        *self.alike.entry(*unit).or_default() += 1;
        self.games += 1;
    }

    /// The number of games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// The number of different openings.
    pub fn units(&self) -> u64 {
        self.openings.len() as u64
    }

    /// White's score, 0 to 1: the mean over the openings; 1/2 without a game.
    pub fn mean(&self) -> f64 {
        let units = self.units();
        if units == 0 { 0.5 } else { self.sum(Unit::mean) / units as f64 }
    }

    /// The variance of a unit about the mean, above 0 and at most 1/4 but for rounding and few units: the sample variance with
    /// one unit lost and one won added to those there are. Where every unit is a single finished game it is that of a
    /// coin; unfinished games and shared openings make it smaller. The two keep a few units that happen to be alike from
    /// passing for certainty.
    pub fn variance(&self) -> f64 {
        let (_, squares) = self.with_two_more();
        squares / (self.units() as f64 + 1.0)
    }

    /// The mean and the sum of squared deviations of the units and two more, one lost and one won.
    fn with_two_more(&self) -> (f64, f64) {
        let mean = (self.sum(Unit::mean) + 1.0) / (self.units() as f64 + 2.0);
        let squares = self.sum(|unit| (unit.mean() - mean).powi(2));
        (mean, squares + mean.powi(2) + (1.0 - mean).powi(2))
    }

    /// The standard error of the mean; 1/2 without a game.
    pub fn standard_error(&self) -> f64 {
        (self.variance() / self.units().max(1) as f64).sqrt()
    }

    /// The interval of level `1 - alpha` (`alpha` above 0, below 1) for a number of games that was fixed before the first one.
    ///
    /// It is Wilson's score interval (1927), which solves `|mean - μ| ≤ t · sqrt(D μ (1 - μ) / units)` for μ, for an effective
    /// number of games `units / D` as in surveys by clusters (Franco, Little, Louis, Slud, *Comparative study of confidence
    /// intervals for proportions in complex sample surveys*, 2019): `D` is the units' variance over that of a coin
    /// with the same mean, both from [`Tally::variance`]'s two units more, and `t` the quantile of Student's
    /// distribution with `units - 1` degrees of freedom, since `D` is estimated. It is everything below two units.
    pub fn fixed_interval(&self, alpha: f64) -> Interval {
        let units = self.units() as f64;
        if units < 2.0 {
            return Interval::ALL;
        }
        // Above a thousand degrees the third digit does not change.
        let student = StudentsT::new(0.0, 1.0, (units - 1.0).min(1e3));
        let Ok(student) = student else { return Interval::ALL };
        let (rough, squares) = self.with_two_more();
        let design = squares / (units + 2.0) / (rough * (1.0 - rough));
        let spread = student.inverse_cdf(1.0 - 0.5 * alpha).powi(2) * design / units;
        let mean = self.mean();
        let middle = (mean + 0.5 * spread) / (1.0 + spread);
        let margin = (spread * mean * (1.0 - mean) + 0.25 * spread * spread).sqrt();
        let Interval { low, high } = Interval::around(middle, margin / (1.0 + spread));
        // At a mean of 0 or 1 rounding may cut it off.
        Interval { low: low.min(mean), high: high.max(mean) }
    }

    /// The interval of level `1 - alpha` (`alpha` above 0, below 1) that may be looked at after every game: it covers the
    /// true score at all numbers of units from [`FIRST_UNITS`] on at once, whenever the games are stopped. Before, it is
    /// everything.
    ///
    /// It is Robbins' normal mixture (*Statistical methods related to the law of the iterated logarithm*, 1970) with the
    /// units' own variance, an asymptotic confidence sequence in the sense of Waudby-Smith, Arbour, Sinha, Kennedy,
    /// Ramdas, *Time-uniform central limit theory and asymptotic confidence sequences* (2024), theorem 2.2: with
    /// `V = units · variance`,
    ///
    /// ```text
    /// |mean - μ| ≤ sqrt((V + ρ) (ln(1 + V / ρ) - 2 ln alpha)) / units
    /// ```
    ///
    /// `ρ` makes it tightest near 2,000 units of variance 1/4 (Howard, Ramdas, McAuliffe, Sekhon, *Time-uniform, nonparametric,
    /// nonasymptotic confidence sequences*, 2021, section 3.5). docs/METHODS.md compares it with the sub-Gaussian bound, with
    /// betting and with looks that spend `alpha`.
    pub fn anytime_interval(&self, alpha: f64) -> Interval {
        if self.units() < FIRST_UNITS {
            return Interval::ALL;
        }
        Interval::around(self.mean(), anytime_margin(self.units(), self.variance(), alpha))
    }

    fn sum(&self, of: impl Fn(Unit) -> f64) -> f64 {
        self.alike.iter().map(|(&unit, &count)| count as f64 * of(unit)).sum()
    }
}

/// Half the width of the time-uniform interval of so many units (1 or more) of this variance.
pub(super) fn anytime_margin(units: u64, variance: f64, alpha: f64) -> f64 {
    let level = -2.0 * alpha.ln();
    let rho = 0.25 * TUNED_UNITS / (level + (1.0 + level).ln());
    let spread = units as f64 * variance;
    ((spread + rho) * ((spread / rho).ln_1p() + level)).sqrt() / units as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(games: &[(u64, GameResult)]) -> Tally {
        let mut tally = Tally::default();
        games.iter().for_each(|&(opening, result)| tally.add(opening, result));
        tally
    }

    #[test]
    fn openings_weigh_the_same() {
        use GameResult::{Black, Unfinished, White};
        let games = [(7, White), (7, Black), (7, Black), (9, Unfinished), (3, White)];
        let forth = tally(&games);
        let mut back = games;
        back.reverse();
        assert_eq!(forth, tally(&back));
        assert_eq!((forth.games(), forth.units()), (5, 3));
        assert!((forth.mean() - (1.0 / 3.0 + 0.5 + 1.0) / 3.0).abs() < 1e-12);
        // With a 0 and a 1 more: mean 17/30; squares (7/30)² + (2/30)² + (13/30)² + (17/30)² + (13/30)², over 4.
        let squares = (49.0 + 4.0 + 169.0 + 289.0 + 169.0) / 900.0;
        assert!((forth.variance() - squares / 4.0).abs() < 1e-12, "{}", forth.variance());
        assert_eq!(Tally::default().mean(), 0.5);
        assert_eq!(tally(&games[..3]).fixed_interval(0.05), Interval::ALL);
    }

    #[test]
    fn without_ties_the_fixed_interval_is_wilsons() {
        let games: Vec<_> = (0..100)
            .map(|game| (game, if game < 62 { GameResult::White } else { GameResult::Black }))
            .collect();
        let interval = tally(&games).fixed_interval(0.05);
        // t = 1.984217 with 99 degrees of freedom: (0.62 + t²/200 ± t sqrt(0.2356/100 + t²/40000)) / (1 + t²/100).
        assert!((interval.low - 0.520_876).abs() < 1e-6, "{interval:?}");
        assert!((interval.high - 0.710_033).abs() < 1e-6, "{interval:?}");
    }

    #[test]
    fn units_that_are_all_alike_leave_some_doubt() {
        for result in [GameResult::White, GameResult::Unfinished, GameResult::Black] {
            let games: Vec<_> = (0..50).map(|game| (game, result)).collect();
            let tally = tally(&games);
            let fixed = tally.fixed_interval(0.05);
            assert!(fixed.width() > 0.04 && fixed.contains(tally.mean()), "{fixed:?}");
            assert!(tally.anytime_interval(0.05).width() > fixed.width());
        }
    }

    #[test]
    fn the_time_uniform_interval_is_tightest_where_it_says() {
        // Against the interval of a fixed number it loses least near 2,000 units of variance 1/4; ρ is an approximation.
        let loss = |units: u64| anytime_margin(units, 0.25, 0.05) * (units as f64).sqrt();
        assert!(loss(2000) < loss(1800) && loss(2000) < loss(2400));
        // ρ = 500 / (5.9915 + ln 6.9915) = 63.002; sqrt(563.002 (ln 8.9363 + 5.9915)) / 2000 = 0.033937.
        assert!((anytime_margin(2000, 0.25, 0.05) - 0.033_937).abs() < 1e-5);
    }

    #[test]
    fn a_stored_tally_is_the_same_and_checked() {
        let tally = tally(&[(u64::MAX, GameResult::White), (1, GameResult::Unfinished)]);
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(text, r#"{"1":[1,1],"18446744073709551615":[2,1]}"#);
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
        for wrong in [r#"{"1":[3,1]}"#, r#"{"1":[0,0]}"#] {
            let error = serde_json::from_str::<Tally>(wrong).unwrap_err().to_string();
            assert!(error.contains("opening 1:"), "{error}");
        }
    }
}
