//! What paired games say about two players: score, Elo difference, 95% interval.

use serde::{Deserialize, Serialize};

/// The 97.5% point of the normal distribution.
pub(crate) const Z95: f64 = 1.959_963_984_540_054;

/// Pairs of games by the points of the first player in both: 0, 1/2, 1, 3/2, 2. An unfinished game is half a point.
///
/// Both games of a pair start from one opening with the colours swapped, so that what the opening favours cancels; the
/// pair, not the game, is the independent sample (the "pentanomial" of engine testing).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCounts {
    /// How many pairs ended with 0, 1/2, 1, 3/2 and 2 points.
    pub counts: [u64; 5],
}

/// A difference in Elo points with its 95% interval. `None` is "without bound": a score of 0 or 1 has no finite Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elo {
    /// The estimate; positive when the first player is the stronger.
    pub difference: Option<f64>,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

impl PairCounts {
    /// Counts a pair; `half_points` is the first player's points in both games, doubled (0 to 4, larger counts as 4).
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points.min(4)] += 1;
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first player's share of the points, 0 to 1; 1/2 without a pair.
    pub fn score(&self) -> f64 {
        let pairs = self.pairs();
        if pairs == 0 {
            return 0.5;
        }
        self.outcomes().map(|(score, count)| score * count).sum::<f64>() / pairs as f64
    }

    /// The standard error of the score, from the sample variance over pairs (divisor n - 1); 0 below two pairs.
    pub fn standard_error(&self) -> f64 {
        let pairs = self.pairs() as f64;
        if pairs < 2.0 {
            return 0.0;
        }
        let mean = self.score();
        let squares: f64 =
            self.outcomes().map(|(score, count)| count * (score - mean).powi(2)).sum();
        (squares / (pairs - 1.0) / pairs).sqrt()
    }

    /// The score's 95% interval within [0, 1]: score ± 1.96 standard errors. When every pair ended alike, the variance says
    /// nothing; then it reaches as far as the pairs that might have been seen only by chance would move the score, by the
    /// exact binomial bound `0.025^(1/pairs)` on the share of such pairs. Without a pair it is everything.
    pub fn interval95(&self) -> (f64, f64) {
        let (pairs, score) = (self.pairs(), self.score());
        if pairs == 0 {
            return (0.0, 1.0);
        }
        if self.counts.contains(&pairs) {
            let alike = 0.025f64.powf(1.0 / pairs as f64);
            return (score * alike, 1.0 - (1.0 - score) * alike);
        }
        let width = Z95 * self.standard_error();
        ((score - width).max(0.0), (score + width).min(1.0))
    }

    /// The Elo difference that the score means, with its 95% interval.
    pub fn elo(&self) -> Elo {
        let (low, high) = self.interval95();
        Elo { difference: elo_of(self.score()), low: elo_of(low), high: elo_of(high) }
    }

    /// Scores 0, 1/4, 1/2, 3/4, 1 with their counts.
    fn outcomes(&self) -> impl Iterator<Item = (f64, f64)> {
        self.counts.iter().enumerate().map(|(points, &count)| (points as f64 / 4.0, count as f64))
    }
}

/// The Elo difference at which the stronger side scores `score`: `-400 log10(1/score - 1)`; `None` at 0 and 1.
pub fn elo_of(score: f64) -> Option<f64> {
    // The sum turns -0 into 0.
    (score > 0.0 && score < 1.0).then(|| -400.0 * (1.0 / score - 1.0).log10() + 0.0)
}

/// The score, above 0 and below 1, that a lead in Elo points means: `1 / (1 + 10^(-elo / 400))`.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

impl std::fmt::Display for Elo {
    /// `+35 (+10 to +61)`; an end without bound is `+inf` or `-inf`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let write = |value: Option<f64>, without: &str| {
            value.map_or_else(|| without.to_owned(), |elo| format!("{elo:+.0}"))
        };
        let middle = match (self.difference, self.low) {
            (Some(elo), _) => format!("{elo:+.0}"),
            (None, None) => "-inf".to_owned(),
            (None, Some(_)) => "+inf".to_owned(),
        };
        write!(f, "{middle} ({} to {})", write(self.low, "-inf"), write(self.high, "+inf"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten pairs: 1, 1, 3, 2, 3. Mean (0 + 0.25 + 1.5 + 1.5 + 3) / 10 = 0.625. Squared deviations 0.390625 + 0.140625
    /// + 3·0.015625 + 2·0.015625 + 3·0.140625 = 1.03125; over 9 and over 10: 0.01145833; root 0.10704360.
    #[test]
    fn equals_the_hand_computation() {
        let pairs = PairCounts { counts: [1, 1, 3, 2, 3] };
        assert_eq!(pairs.pairs(), 10);
        assert!((pairs.score() - 0.625).abs() < 1e-12);
        assert!((pairs.standard_error() - 0.107_043_6).abs() < 1e-7);
        let (low, high) = pairs.interval95();
        assert!(
            (low - 0.415_198_4).abs() < 1e-6 && (high - 0.834_801_6).abs() < 1e-6,
            "{low} {high}"
        );
        let elo = pairs.elo();
        // 400 log10(0.625 / 0.375) = 400 · 0.2218487.
        assert!((elo.difference.unwrap() - 88.739_5).abs() < 1e-3);
        assert!((elo.low.unwrap() - 400.0 * (low / (1.0 - low)).log10()).abs() < 1e-9);
    }

    #[test]
    fn a_clean_sweep_has_a_finite_lower_bound_only() {
        let sweep = PairCounts { counts: [0, 0, 0, 0, 100] };
        let elo = sweep.elo();
        assert_eq!((elo.difference, elo.high), (None, None));
        // 0.025^(1/100) = 0.963783: 570 Elo.
        assert!((elo.low.unwrap() - 570.0).abs() < 1.0, "{elo:?}");
        assert_eq!(sweep.elo().to_string(), "+inf (+570 to +inf)");
        assert_eq!(
            PairCounts { counts: [100, 0, 0, 0, 0] }.elo().to_string(),
            "-inf (-inf to -570)"
        );
        assert_eq!(PairCounts::default().elo().to_string(), "+0 (-inf to +inf)");
    }

    /// Where the opening decides both games every pair ends 1-1: that is less doubt than from as many games on their own,
    /// but a few such pairs do not make a certainty.
    #[test]
    fn pairs_that_all_end_alike_leave_some_doubt() {
        let pairs = PairCounts { counts: [0, 0, 50, 0, 0] };
        let (low, high) = pairs.interval95();
        // 0.025^(1/50) = 0.928880.
        assert!((low - 0.464_440).abs() < 1e-6 && (high - 0.535_560).abs() < 1e-6, "{low} {high}");
        let (low, high) = PairCounts { counts: [0, 0, 2, 0, 0] }.interval95();
        assert!(low < 0.1 && high > 0.9, "{low} {high}");
    }
}
