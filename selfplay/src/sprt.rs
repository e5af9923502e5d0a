//! The sequential test of a match: is A better by `elo1` rather than by `elo0`?
//!
//! Wald's sequential probability ratio test (1945) in its generalized form over pairs of games: the log-likelihood ratio is
//! that of the two maximum-likelihood distributions over a pair's five results whose means are the scores that `elo0` and
//! `elo1` predict (Michel Van den Bergh, *A practical introduction to the GSPRT*, 2018; the "pentanomial" test of Fishtest).
//! It asks nothing of how a pair's two games depend on each other or on the opening.

use serde::{Deserialize, Serialize};

use crate::elo::{PairCounts, score_of};

/// Pairs that a result without one counts as, so that no logarithm of 0 is taken.
const EMPTY: f64 = 1e-3;
/// Halvings of the interval that the multiplier is looked for in.
const HALVINGS: u32 = 60;
/// Pairs that the search for the shortest test ends at.
const MOST_PAIRS: u64 = 100_000;
/// The largest Elo difference, either way, that a hypothesis may name.
const MOST_ELO: f64 = 1000.0;

/// Two hypotheses about A's lead over B in Elo points (logistic: a lead of 400 scores 10 to 1), and how often each may be
/// accepted wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// The lead under H0; from -1000 to below `elo1`.
    pub elo0: f64,
    /// The lead under H1; above `elo0`, to 1000.
    pub elo1: f64,
    /// The share of matches that accept H1 though H0 holds; above 0, below 1/2.
    pub alpha: f64,
    /// The share of matches that accept H0 though H1 holds; above 0, below 1/2.
    pub beta: f64,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// H0: the lead is `elo0` rather than `elo1`.
    Accept0,
    /// H1: the lead is `elo1` rather than `elo0`.
    Accept1,
}

/// Where a test stands. It looks at whole pairs in the order of their numbers only, and at none after its decision: so
/// neither the order in which games end nor the number of threads has a part in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtState {
    /// The test.
    pub test: Sprt,
    /// The pairs that it has looked at.
    pub pairs: PairCounts,
    /// Their log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// H0 is accepted at this ratio or below.
    pub lower: f64,
    /// H1 is accepted at this ratio or above.
    pub upper: f64,
    /// How it ended; `None` while it goes on.
    pub decision: Option<Decision>,
}

/// Hypotheses or error rates that no test can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// The two leads.
    #[error("elo0 {0} and elo1 {1}: elo0 must be below elo1, both within -1000 to 1000")]
    Leads(f64, f64),
    /// An error rate.
    #[error("{0} {1}: it must be above 0 and below 0.5")]
    Rate(&'static str, f64),
}

impl Sprt {
    /// Checks every value's range.
    ///
    /// # Errors
    /// The first value that is out of range, or is no number.
    pub fn validate(&self) -> Result<(), SprtError> {
        let leads = -MOST_ELO..=MOST_ELO;
        if !(leads.contains(&self.elo0) && leads.contains(&self.elo1) && self.elo0 < self.elo1) {
            return Err(SprtError::Leads(self.elo0, self.elo1));
        }
        for (name, rate) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(rate > 0.0 && rate < 0.5) {
                return Err(SprtError::Rate(name, rate));
            }
        }
        Ok(())
    }

    /// The ratios at which H0 and H1 are accepted: `ln(beta / (1 - alpha))` and `ln((1 - beta) / alpha)`.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0; 0 without a pair.
    pub fn llr(&self, pairs: &PairCounts) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let counts = pairs.counts.map(|count| if count == 0 { EMPTY } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let shares = counts.map(|count| count / total);
        let [under0, under1] =
            [self.elo0, self.elo1].map(|elo| most_likely(&shares, score_of(elo)));
        let ratio = |(under0, under1): (f64, f64)| (under1 / under0).ln();
        let ratios = under0.into_iter().zip(under1).map(ratio);
        counts.iter().zip(ratios).map(|(count, ratio)| count * ratio).sum()
    }

    /// The fewest games after which H1 can be accepted: all of them won.
    pub fn fewest_games(&self) -> u64 {
        let won = |pairs: u64| PairCounts { counts: [0, 0, 0, 0, pairs] };
        let accepts = |pairs: &u64| self.decide(&won(*pairs)) == Some(Decision::Accept1);
        2 * (1..MOST_PAIRS).find(accepts).unwrap_or(MOST_PAIRS)
    }

    /// What these pairs decide, if they decide.
    pub fn decide(&self, pairs: &PairCounts) -> Option<Decision> {
        let (lower, upper) = self.bounds();
        match self.llr(pairs) {
            llr if llr >= upper => Some(Decision::Accept1),
            llr if llr <= lower => Some(Decision::Accept0),
            _ => None,
        }
    }
}

impl SprtState {
    /// A test before its first pair.
    pub fn new(test: Sprt) -> SprtState {
        let (lower, upper) = test.bounds();
        SprtState { test, pairs: PairCounts::default(), llr: 0.0, lower, upper, decision: None }
    }

    /// Looks at the next pair (A's points in it, doubled: 0 to 4), unless the test has ended.
    pub fn add(&mut self, half_points: usize) {
        if self.decision.is_none() {
            self.pairs.add(half_points);
            self.llr = self.test.llr(&self.pairs);
            self.decision = self.test.decide(&self.pairs);
        }
    }
}

/// Of the distributions over the scores 0, 1/4, 1/2, 3/4, 1 with this mean (above 0, below 1), the one under which the
/// observed shares (all above 0) are most likely: `p / (1 + x (score - mean))` with the one `x` for which it has the mean.
fn most_likely(shares: &[f64; 5], mean: f64) -> [f64; 5] {
    let offsets: [f64; 5] = std::array::from_fn(|points| points as f64 / 4.0 - mean);
    // Every denominator is positive between these; the sum below falls from +inf to -inf.
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..HALVINGS {
        let x = f64::midpoint(low, high);
        let excess: f64 = shares
            .iter()
            .zip(offsets)
            .map(|(share, offset)| share * offset / (1.0 + x * offset))
            .sum();
        if excess > 0.0 {
            low = x;
        } else {
            high = x;
        }
    }
    let x = f64::midpoint(low, high);
    std::array::from_fn(|points| shares[points] / (1.0 + x * offsets[points]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RandomKey, open_unit, weighted};

    const TEST: Sprt = Sprt { elo0: 0.0, elo1: 30.0, alpha: 0.05, beta: 0.05 };
    /// The standard deviation of an opening's effect, and White's advantage, in Elo points.
    const OPENINGS: f64 = 150.0;
    const WHITE: f64 = 40.0;
    /// The share of games between equals that end unfinished.
    const UNFINISHED: f64 = 0.04;

    #[test]
    fn the_most_likely_distribution_has_the_mean_and_sums_to_one() {
        for (shares, mean) in [
            ([0.1, 0.2, 0.4, 0.2, 0.1], 0.55),
            ([1e-4, 1e-4, 0.9996, 1e-4, 1e-4], 0.543),
            ([0.02, 0.02, 0.02, 0.04, 0.9], 0.3),
        ] {
            let found = most_likely(&shares, mean);
            let sum: f64 = found.iter().sum();
            let at: f64 = found.iter().enumerate().map(|(i, p)| p * i as f64 / 4.0).sum();
            assert!((sum - 1.0).abs() < 1e-9 && (at - mean).abs() < 1e-9, "{sum} {at} {mean}");
            // Any step that keeps sum and mean makes the observed shares less likely.
            let likelihood = |p: &[f64; 5]| -> f64 {
                shares.iter().zip(p).map(|(share, p)| share * p.ln()).sum()
            };
            for step in [[1.0, -2.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, -1.0, 1.0]] {
                for by in [-1e-5, 1e-5] {
                    let moved: [f64; 5] = std::array::from_fn(|i| found[i] + by * step[i]);
                    assert!(likelihood(&moved) < likelihood(&found));
                }
            }
        }
    }

    /// Two results only, so that the distribution of a mean is the one there is: the ratio is the binomial one,
    /// 60 ln(s1 / s0) + 40 ln((1 - s1) / (1 - s0)) but for the empty classes.
    #[test]
    fn the_ratio_is_the_binomial_one_where_pairs_are_won_or_lost() {
        let pairs = PairCounts { counts: [40, 0, 0, 0, 60] };
        let score = score_of(30.0);
        let binomial = 60.0 * (score / 0.5).ln() + 40.0 * ((1.0 - score) / 0.5).ln();
        assert!((TEST.llr(&pairs) - binomial).abs() < 1e-3, "{} {binomial}", TEST.llr(&pairs));
        let mirrored = Sprt { elo0: -30.0, elo1: 0.0, ..TEST };
        let other = PairCounts { counts: [60, 0, 0, 0, 40] };
        assert!((mirrored.llr(&other) + TEST.llr(&pairs)).abs() < 1e-9, "A and B exchanged");
    }

    #[test]
    fn fewer_games_than_the_fewest_accept_nothing() {
        let pairs = TEST.fewest_games() / 2;
        let won = |pairs| PairCounts { counts: [0, 0, 0, 0, pairs] };
        assert_eq!(TEST.decide(&won(pairs)), Some(Decision::Accept1));
        assert_eq!(TEST.decide(&won(pairs - 1)), None);
    }

    #[test]
    fn bounds_and_decisions() {
        let (lower, upper) = TEST.bounds();
        assert!((upper - 19f64.ln()).abs() < 1e-12 && (lower + 19f64.ln()).abs() < 1e-12);
        assert_eq!(TEST.llr(&PairCounts::default()), 0.0);
        assert_eq!(TEST.decide(&PairCounts { counts: [1, 1, 3, 1, 1] }), None);
        assert_eq!(
            TEST.decide(&PairCounts { counts: [5, 10, 40, 40, 30] }),
            Some(Decision::Accept1)
        );
        assert_eq!(
            TEST.decide(&PairCounts { counts: [30, 40, 40, 10, 5] }),
            Some(Decision::Accept0)
        );
        let mut state = SprtState::new(TEST);
        (0..200).for_each(|_| state.add(4));
        assert_eq!(state.decision, Some(Decision::Accept1));
        assert!(state.pairs.pairs() < 60, "nothing is looked at after the decision");
        for wrong in [
            Sprt { elo0: 30.0, elo1: 0.0, ..TEST },
            Sprt { elo0: 0.0, ..TEST }.with_elo1(0.0),
            Sprt { elo1: f64::NAN, ..TEST },
            Sprt { elo1: 1e9, ..TEST },
            Sprt { alpha: 0.0, ..TEST },
            Sprt { beta: 0.5, ..TEST },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
        assert_eq!(TEST.validate(), Ok(()));
    }

    impl Sprt {
        fn with_elo1(self, elo1: f64) -> Sprt {
            Sprt { elo1, ..self }
        }
    }

    /// The chances of A's half points in one game, from its advantage in Elo points.
    fn game(advantage: f64) -> [f64; 3] {
        let win = score_of(advantage) * (1.0 - UNFINISHED);
        [1.0 - win - UNFINISHED, UNFINISHED, win]
    }

    /// The opening's effect at 101 equally likely points of its normal distribution.
    fn openings() -> Vec<f64> {
        let mut rng = RandomKey { seed: 77, game: 0 }.stream(0, Purpose::Player);
        let normal = |_| (0..12).map(|_| open_unit(&mut rng)).sum::<f64>() - 6.0;
        let half: Vec<f64> = (0..50).map(normal).map(|draw: f64| OPENINGS * draw).collect();
        // Symmetric, so that an opening favours nobody on the average.
        half.iter().copied().chain(half.iter().map(|effect| -effect)).chain([0.0]).collect()
    }

    /// A's mean score over all openings when it leads by so many Elo points.
    fn mean_score(lead: f64) -> f64 {
        let openings = openings();
        let of = |effect: &f64| {
            let white = WHITE + effect;
            [lead + white, lead - white]
                .map(|at| game(at)[2] + 0.5 * game(at)[1])
                .iter()
                .sum::<f64>()
        };
        openings.iter().map(of).sum::<f64>() / (2 * openings.len()) as f64
    }

    /// Shares of 1,000 matches that accept H1, and their mean number of pairs, when A's mean score is that of `elo`.
    fn accepted1(elo: f64, seed: u64) -> (f64, f64) {
        let (mut low, mut high) = (-200.0, 200.0);
        for _ in 0..60 {
            let lead = f64::midpoint(low, high);
            if mean_score(lead) < score_of(elo) { low = lead } else { high = lead }
        }
        let openings = openings();
        let games: Vec<[[f64; 3]; 2]> = openings
            .iter()
            .map(|effect| [low + WHITE + effect, low - WHITE - effect].map(game))
            .collect();
        let (mut accepted, mut pairs) = (0, 0);
        for run in 0..1000 {
            let mut rng = RandomKey { seed, game: run }.stream(0, Purpose::Player);
            let mut state = SprtState::new(TEST);
            while state.decision.is_none() {
                let opening = (open_unit(&mut rng) * games.len() as f64) as usize;
                let points: usize = games[opening]
                    .iter()
                    .map(|game| weighted(&mut rng, game.iter().copied()))
                    .sum();
                state.add(points);
            }
            accepted += u32::from(state.decision == Some(Decision::Accept1));
            pairs += state.pairs.pairs();
        }
        (f64::from(accepted) / 1000.0, pairs as f64 / 1000.0)
    }

    /// 1,000 matches a side, the games of a pair correlated by opening and colour: at most 6.5% are decided wrongly at
    /// alpha = beta = 0.05 (the exact binomial 97.5% bound for a rate of 5%).
    #[test]
    fn error_rates_hold() {
        let (wrong1, length0) = accepted1(TEST.elo0, 1);
        let (right1, length1) = accepted1(TEST.elo1, 2);
        println!(
            "H0: {wrong1} wrong, {length0} pairs; H1: {} wrong, {length1} pairs",
            1.0 - right1
        );
        assert!(wrong1 <= 0.065, "H1 accepted in {wrong1} of the matches between equals");
        assert!(1.0 - right1 <= 0.065, "H0 accepted in {} of the matches", 1.0 - right1);
        // Nor is the test needlessly careful: a fixed match with these rates takes about 800 pairs here.
        assert!(length0 < 700.0 && length1 < 700.0, "{length0} and {length1} pairs");
        assert!(wrong1 > 0.02 && right1 < 0.98, "{wrong1} {right1}");
    }
}
