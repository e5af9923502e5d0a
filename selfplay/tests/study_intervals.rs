//! The time-uniform interval of a study against others that may be looked at after every game: how many games each takes to a
//! verdict in a table of 30 rules strings.
//!
//! `GIPF_SOAK_STUDY=1` runs more and nearer scores and prints the table of docs/METHODS.md (`--nocapture`).

use gipf_core::record::GameResult;
use gipf_selfplay::study::{Interval, TABLE_ERROR, Tally, Verdict};
use gipf_selfplay::{Purpose, RandomKey};
use rand::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

const ALPHA: f64 = TABLE_ERROR / 30.0;
/// Games between two looks at the intervals; those of looks with an error rate of their own come less often.
const STEP: u64 = 16;
/// Games that a verdict is given up after.
const MOST: u64 = 200_000;
const NAMES: [&str; 4] = ["own variance", "variance 1/4", "betting", "looks"];

fn around(middle: f64, margin: f64) -> Interval {
    Interval { low: (middle - margin).max(0.0), high: (middle + margin).min(1.0) }
}

/// Robbins' normal mixture with the variance 1/4 that bounds any score's, tightest at 2,000 games.
fn sub_gaussian(games: u64, mean: f64) -> Interval {
    let level = -2.0 * ALPHA.ln();
    let rho = 500.0 / (level + (1.0 + level).ln());
    let spread = games as f64 / 4.0;
    around(mean, ((spread + rho) * ((spread / rho).ln_1p() + level)).sqrt() / games as f64)
}

/// The hedged capital of Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting* (2024),
/// theorem 3, with their predictable bets, for the three boundaries of a verdict.
struct Betting {
    /// The sum of the scores and of their squared deviations, with the paper's half a game more.
    sum: f64,
    squares: f64,
    games: f64,
    /// For 48%, 50%, 52%: the logarithms of the capitals that bet on a score above and on one below.
    capital: [[f64; 2]; 3],
    /// Which have ever been large enough.
    rejected: [[bool; 2]; 3],
}

const BOUNDARIES: [f64; 3] = [0.48, 0.5, 0.52];

impl Betting {
    fn new() -> Betting {
        let (sum, squares) = (0.5, 0.25);
        Betting { sum, squares, games: 0.0, capital: [[0.0; 2]; 3], rejected: [[false; 2]; 3] }
    }

    fn add(&mut self, score: f64) {
        self.games += 1.0;
        let variance = self.squares / self.games;
        let bet = (2.0 * (2.0 / ALPHA).ln() / (variance * self.games * self.games.ln_1p())).sqrt();
        for (at, boundary) in BOUNDARIES.into_iter().enumerate() {
            let bets = [bet.min(0.5 / boundary), -bet.min(0.5 / (1.0 - boundary))];
            for (side, bet) in bets.into_iter().enumerate() {
                self.capital[at][side] += (bet * (score - boundary)).ln_1p();
                self.rejected[at][side] |= self.capital[at][side] > (2.0 / ALPHA).ln();
            }
        }
        self.sum += score;
        let mean = self.sum / (self.games + 1.0);
        self.squares += (score - mean).powi(2);
    }

    fn decided(&self) -> bool {
        let [low, middle, high] = self.rejected;
        middle[0] || middle[1] || (low[0] && high[1])
    }
}

/// The games that a fake player with this score takes to a verdict by each interval.
fn games_needed(seed: u64, score: f64, unfinished: f64) -> [u64; 4] {
    let mut rng = RandomKey { seed, game: 0 }.stream(0, Purpose::Player);
    let mut tally = Tally::default();
    let mut betting = Betting::new();
    let mut needed = [None; 4];
    // Looks 25% apart, the first after 50 games; the look k + 1 spends a part of the error in proportion to (k + 1)^-1.4,
    // whose sum is 3.1.
    let (mut next_look, mut looks) = (50.0, 0.0f64);
    let won = (score - 0.5 * unfinished) / (1.0 - unfinished);
    for games in 1..=MOST {
        let result = if rng.random_bool(unfinished) {
            GameResult::Unfinished
        } else if rng.random_bool(won) {
            GameResult::White
        } else {
            GameResult::Black
        };
        tally.add(games, result);
        betting.add(0.5 * (1.0 + f64::from(result.for_white())));
        let mut intervals = [Interval::ALL; 4];
        if games as f64 >= next_look {
            looks += 1.0;
            next_look *= 1.25;
            let spent = ALPHA * looks.powf(-1.4) / 3.1;
            let quantile = Normal::standard().inverse_cdf(1.0 - 0.5 * spent);
            intervals[3] = around(tally.mean(), quantile * tally.standard_error());
        }
        if games % STEP == 0 {
            intervals[0] = tally.anytime_interval(ALPHA);
            intervals[1] = sub_gaussian(games, tally.mean());
            if betting.decided() {
                needed[2].get_or_insert(games);
            }
        }
        for (needed, interval) in needed.iter_mut().zip(intervals) {
            if Verdict::of(interval) != Verdict::Undecided {
                needed.get_or_insert(games);
            }
        }
        if needed.iter().all(Option::is_some) {
            break;
        }
    }
    needed.map(|needed| needed.unwrap_or(MOST))
}

#[test]
fn the_interval_takes_the_fewest_games() {
    let soak = std::env::var_os("GIPF_SOAK_STUDY").is_some();
    let (scores, tries) =
        if soak { ([0.5, 0.51, 0.53, 0.58].as_slice(), 60) } else { ([0.53, 0.58].as_slice(), 12) };
    for unfinished in [0.05, 0.3] {
        let mut total = [0; 4];
        for &score in scores {
            let mut sum = [0; 4];
            for seed in 0..tries {
                let needed = games_needed(seed, score, unfinished);
                sum.iter_mut().zip(needed).for_each(|(sum, needed)| *sum += needed);
            }
            if soak {
                let means =
                    NAMES.iter().zip(sum).map(|(name, sum)| format!("{name} {}", sum / tries));
                let means = means.collect::<Vec<_>>().join(", ");
                println!("{:.0}% unfinished, score {score}: {means}", 100.0 * unfinished);
            }
            total.iter_mut().zip(sum).for_each(|(total, sum)| *total += sum);
        }
        let [own, others @ ..] = total;
        assert!(others.iter().all(|&other| own < other), "{unfinished} unfinished: {total:?}");
    }
}
