//! Ratings against hand computation and known truth.

use rand_chacha::ChaCha8Rng;

use super::*;
use crate::random::{Purpose, RandomKey, below, normal, open_unit};

fn pairs(cells: &[(usize, usize, u64)]) -> ColorPairs {
    let mut pairs = ColorPairs::default();
    for &(white, black, count) in cells {
        pairs.counts[white][black] += count;
    }
    pairs
}

/// Two players: the advantage and the difference separate, each the logarithm of the odds of a share of the points.
#[test]
fn two_players_equal_the_hand_computation() {
    // A: 60 of 80 points as White, 40 of 80 as Black; so White gets 100 of 160.
    let e =
        Encounter { a: 0, b: 1, pairs: pairs(&[(2, 2, 30), (2, 0, 30), (0, 2, 10), (0, 0, 10)]) };
    let ratings = Ratings::fit(2, 1, &[e]).unwrap();
    // One virtual drawn game, half of it with either colouring: 60.25 of 80.5 and 40.25 of 80.5.
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let (white, black) = (logit(60.25 / 80.5), logit(40.25 / 80.5));
    let a = ratings.player(0).unwrap();
    assert!((a.elo - ELO * 0.5 * (white + black)).abs() < 1e-6, "{a:?}");
    let advantage = ratings.white_advantage();
    assert!((advantage.elo - ELO * 0.5 * (white - black)).abs() < 1e-6, "{advantage:?}");
    // By the delta method: the difference is half the sum of two logits, each with variance 1 / (80 p (1 - p)); with this
    // table the two games of a pair are uncorrelated (30·10 = 30·10).
    let variance: f64 = 0.25 / 80.0 * (1.0 / (0.75 * 0.25) + 1.0 / 0.25);
    let margin = 1.99 * ELO * variance.sqrt();
    assert!((a.margin() / margin - 1.0).abs() < 0.03, "{} against {margin}", a.margin());
    assert_eq!(ratings.player(1).unwrap(), Estimate::default());
    let back = ratings.difference(1, 0).unwrap();
    assert!((back.elo + a.elo).abs() < 1e-9 && (back.high + a.low).abs() < 1e-9);
}

/// Where each pair is split the openings decide and the players are equal beyond doubt; where each pair is swept, a pair
/// says no more than one game.
#[test]
fn the_correlation_within_pairs_counts() {
    let margin = |cells: &[(usize, usize, u64)]| {
        let e = Encounter { a: 0, b: 1, pairs: pairs(cells) };
        Ratings::fit(2, 1, &[e]).unwrap().player(0).unwrap().margin()
    };
    let split = margin(&[(2, 0, 50), (0, 2, 50)]);
    let single = margin(&[(2, 0, 25), (0, 2, 25), (2, 2, 25), (0, 0, 25)]);
    let swept = margin(&[(2, 2, 50), (0, 0, 50)]);
    assert!(split < 0.25 * single, "{split} {single}");
    assert!((swept / single / 2f64.sqrt() - 1.0).abs() < 0.02, "{swept} {single}");
}

/// A player that won everything has the exact binomial bound as its lower end: 570 Elo for 100 pairs.
#[test]
fn a_clean_sweep_stays_finite() {
    let e = Encounter { a: 0, b: 1, pairs: pairs(&[(2, 2, 100)]) };
    let a = Ratings::fit(2, 1, &[e]).unwrap().player(0).unwrap();
    assert!((a.low - 570.0).abs() < 30.0, "{a:?}");
    assert!(a.elo > 800.0 && a.high < 2000.0, "{a:?}");
}

#[test]
fn players_without_a_connection_have_no_rating() {
    let e = |a, b, count| Encounter { a, b, pairs: pairs(&[(2, 0, count), (2, 2, count)]) };
    let ratings = Ratings::fit(5, 1, &[e(0, 1, 4), e(2, 3, 4), e(4, 1, 0)]).unwrap();
    let rated: Vec<bool> = (0..5).map(|player| ratings.is_rated(player)).collect();
    assert_eq!(rated, [true, true, false, false, false]);
    assert_eq!(ratings.player(2), None);
    assert_eq!(ratings.difference(2, 3), None);
    let none = Ratings::fit(3, 0, &[]).unwrap();
    assert_eq!((none.player(0), none.player(1)), (Some(Estimate::default()), None));
    assert_eq!(Ratings::fit(2, 0, &[e(0, 2, 1)]).unwrap_err(), RatingError::Players(0, 2, 2));
    assert_eq!(Ratings::fit(2, 0, &[e(1, 1, 1)]).unwrap_err(), RatingError::Players(1, 1, 2));
}

/// How a simulated tournament is played.
struct World {
    /// True strengths in Elo, the first is the anchor's.
    strengths: Vec<f64>,
    white: f64,
    /// Correlation of White's scores in the two games of a pair: what the opening favours makes it positive.
    correlation: f64,
    /// Share of the unfinished games between equals.
    unfinished: f64,
    /// Who meets whom, in how many pairs.
    schedule: Vec<(usize, usize, u64)>,
}

impl World {
    /// White's half points in both games of a pair: each game alone has exactly the model's expectation, together they have
    /// the correlation of a normal copula.
    fn pair(&self, a: usize, b: usize, rng: &mut ChaCha8Rng) -> (usize, usize) {
        let lead = self.strengths[a] - self.strengths[b];
        let common = normal(rng);
        let mut game = |lead: f64, sign: f64| {
            let own = normal(rng);
            let strength = self.correlation.abs();
            let z = sign * strength.sqrt() * common + (1.0 - strength).sqrt() * own;
            let (u, p) = (normal_share(z), 1.0 / (1.0 + (-(lead + self.white) / ELO).exp()));
            let drawn = 2.0 * self.unfinished * p.min(1.0 - p);
            // The larger z, the better for White.
            if 1.0 - u < p - 0.5 * drawn {
                2
            } else if 1.0 - u < p + 0.5 * drawn {
                1
            } else {
                0
            }
        };
        let first = game(lead, 1.0);
        let second = game(-lead, self.correlation.signum());
        (first, 2 - second)
    }

    fn play(&self, rng: &mut ChaCha8Rng) -> Vec<Encounter> {
        self.schedule
            .iter()
            .map(|&(a, b, count)| {
                let mut pairs = ColorPairs::default();
                for _ in 0..count {
                    let (white, black) = self.pair(a, b, rng);
                    pairs.add(white, black);
                }
                Encounter { a, b, pairs }
            })
            .collect()
    }

    /// Plays so many data sets; how often the intervals of the strengths over the anchor, of the neighbours' differences
    /// and of White's advantage cover the truth, in percent.
    fn coverage(&self, sets: u64, seed: u64) -> [f64; 3] {
        let players = self.strengths.len();
        let mut hits = [0u64; 3];
        for game in 0..sets {
            let mut rng = RandomKey { seed, game }.stream(0, Purpose::Sample);
            let ratings = Ratings::fit(players, 0, &self.play(&mut rng)).unwrap();
            let covers = |e: Estimate, truth: f64| u64::from(e.low <= truth && truth <= e.high);
            for player in 1..players {
                let truth = &self.strengths;
                hits[0] += covers(ratings.player(player).unwrap(), truth[player] - truth[0]);
                let step = ratings.difference(player, player - 1).unwrap();
                hits[1] += covers(step, truth[player] - truth[player - 1]);
            }
            hits[2] += covers(ratings.white_advantage(), self.white);
        }
        let each = (players as u64 - 1) * sets;
        [0, 1, 2].map(|kind| 100.0 * hits[kind] as f64 / [each, each, sets][kind] as f64)
    }
}

/// The share of the standard normal distribution below `z`, to 1e-7 (Abramowitz and Stegun 26.2.17).
fn normal_share(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * series;
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// A run's ladder: checkpoints that meet their neighbours, the anchor and each other, unevenly often.
fn ladder(correlation: f64, unfinished: f64) -> World {
    World {
        strengths: vec![0.0, 120.0, 260.0, 330.0, 420.0, 450.0, 610.0],
        white: 35.0,
        correlation,
        unfinished,
        schedule: vec![
            (0, 1, 40),
            (1, 2, 32),
            (2, 3, 24),
            (3, 4, 48),
            (4, 5, 24),
            (5, 6, 16),
            (0, 2, 24),
            (1, 3, 16),
            (2, 4, 16),
            (6, 4, 40),
            (5, 3, 8),
        ],
    }
}

/// 400 data sets for each kind of correlation.
#[test]
fn intervals_cover_the_truth_in_simulation() {
    for (seed, correlation, unfinished) in
        [(1, 0.0, 0.0), (2, 0.6, 0.1), (3, -0.6, 0.1), (4, 0.9, 0.0), (5, -0.3, 0.4)]
    {
        let coverage = ladder(correlation, unfinished).coverage(400, seed);
        println!("correlation {correlation:+}, unfinished {unfinished}: {coverage:.1?}");
        for share in coverage {
            assert!((93.0..=97.0).contains(&share), "correlation {correlation}: {coverage:.1?}");
        }
    }
}

/// Few pairs and wide gaps, where many encounters are swept: the intervals are wider than they need be, not narrower.
#[test]
fn intervals_of_few_one_sided_games_are_not_too_narrow() {
    let world = |correlation| World {
        strengths: vec![0.0, 350.0, 600.0, 1100.0],
        white: 35.0,
        correlation,
        unfinished: 0.1,
        schedule: vec![(0, 1, 8), (1, 2, 6), (2, 3, 12), (1, 3, 8), (0, 2, 8)],
    };
    for (seed, correlation) in [(6, 0.5), (7, -0.5)] {
        let coverage = world(correlation).coverage(400, seed);
        println!("few games, correlation {correlation:+}: {coverage:.1?}");
        assert!(coverage.iter().all(|share| *share >= 93.0), "{coverage:.1?}");
    }
}

/// The planner's games lower the variance faster than games dealt out evenly, and no player stays without a connection.
#[test]
fn the_planner_learns_more_than_an_even_schedule() {
    let strengths: Vec<f64> = (0..9).map(|player| 170.0 * f64::from(player)).collect();
    let players = strengths.len();
    let world =
        World { strengths, white: 20.0, correlation: 0.3, unfinished: 0.05, schedule: vec![] };
    let all: Vec<Pairing> = (0..players)
        .flat_map(|a| (a + 1..players).map(move |b| Pairing { a, b, cost: 1.0 }))
        .collect();
    let spread = |planned: bool| {
        let mut rng = RandomKey { seed: 9, game: 0 }.stream(0, Purpose::Sample);
        let mut met = vec![ColorPairs::default(); all.len()];
        let encounters = |met: &[ColorPairs]| -> Vec<Encounter> {
            all.iter().zip(met).map(|(p, &pairs)| Encounter { a: p.a, b: p.b, pairs }).collect()
        };
        for round in 0..90 {
            let ratings = Ratings::fit(players, 0, &encounters(&met)).unwrap();
            let mut planner =
                Planner::new(&ratings, 0, &encounters(&met), &vec![0.0; players], &[]).unwrap();
            let next = if planned { planner.choose(&all, 4).unwrap() } else { round % all.len() };
            for _ in 0..4 {
                let (white, black) = world.pair(all[next].a, all[next].b, &mut rng);
                met[next].add(white, black);
            }
        }
        let ratings = Ratings::fit(players, 0, &encounters(&met)).unwrap();
        let gap = |player| ratings.difference(player, player - 1).unwrap().margin();
        (1..players).map(|player| gap(player).powi(2)).sum::<f64>()
    };
    let (planned, even) = (spread(true), spread(false));
    assert!(planned < 0.7 * even, "{planned} against {even}");
}

/// Players far below the others whose games cost next to nothing take little of the time: how far is of no interest.
#[test]
fn the_planner_leaves_wide_gaps_wide() {
    let strengths = vec![0.0, 100.0, 200.0, 300.0, -1600.0, -1700.0];
    let thinks = [1.0, 1.0, 1.0, 1.0, 0.01, 0.01];
    let players = strengths.len();
    let world =
        World { strengths, white: 20.0, correlation: 0.0, unfinished: 0.0, schedule: vec![] };
    let all: Vec<Pairing> = (0..players)
        .flat_map(|a| (a + 1..players).map(move |b| (a, b)))
        .map(|(a, b)| Pairing { a, b, cost: thinks[a] + thinks[b] })
        .collect();
    let mut rng = RandomKey { seed: 11, game: 0 }.stream(0, Purpose::Sample);
    let mut met = vec![ColorPairs::default(); all.len()];
    let mut spent = [0.0; 2];
    while spent[0] + spent[1] < 400.0 {
        let encounters: Vec<Encounter> =
            all.iter().zip(&met).map(|(p, &pairs)| Encounter { a: p.a, b: p.b, pairs }).collect();
        let ratings = Ratings::fit(players, 0, &encounters).unwrap();
        let guesses = vec![0.0; players];
        let mut planner = Planner::new(&ratings, 0, &encounters, &guesses, &[]).unwrap();
        let next = planner.choose(&all, 4).unwrap();
        for _ in 0..4 {
            let (white, black) = world.pair(all[next].a, all[next].b, &mut rng);
            met[next].add(white, black);
        }
        spent[usize::from(all[next].b >= 4)] += 4.0 * all[next].cost;
    }
    assert!(spent[1] < 0.2 * spent[0], "{spent:?}");
}

/// Of two pairings that say the same the cheaper is chosen, and a choice makes the same one less worth.
#[test]
fn the_planner_minds_the_cost() {
    let ratings = Ratings::fit(3, 0, &[]).unwrap();
    let mut planner = Planner::new(&ratings, 0, &[], &[0.0; 3], &[]).unwrap();
    let pairing = |a, b, cost| Pairing { a, b, cost };
    let pairings = [pairing(0, 1, 2.0), pairing(0, 2, 1.0)];
    assert_eq!(planner.choose(&pairings, 8), Some(1));
    assert_eq!(planner.choose(&pairings, 8), Some(0));
    assert_eq!(planner.choose(&[], 8), None);
}

/// A player that is expected to be like one well above the anchor meets that one rather than the anchor, who would lose.
#[test]
fn the_planner_lets_those_meet_who_are_alike() {
    let e = Encounter { a: 0, b: 1, pairs: pairs(&[(0, 0, 170), (0, 2, 10), (2, 0, 10)]) };
    let ratings = Ratings::fit(3, 0, &[e]).unwrap();
    let strong = ratings.player(1).unwrap().elo;
    let pairings = [(0, 2), (1, 2)].map(|(a, b)| Pairing { a, b, cost: 1.0 });
    let guesses = [0.0, strong, strong];
    let mut planner = Planner::new(&ratings, 0, &[e], &guesses, &[(1, 2)]).unwrap();
    assert_eq!(planner.choose(&pairings, 8), Some(1));
    let error = Planner::new(&ratings, 0, &[e], &guesses, &[(1, 3)]).unwrap_err();
    assert_eq!(error, RatingError::Players(1, 3, 3));
}

/// Random tables of games never break the fit: everything is finite and every interval holds its estimate.
#[test]
fn any_games_have_finite_ratings() {
    let mut rng = RandomKey { seed: 3, game: 1 }.stream(0, Purpose::Sample);
    for _ in 0..300 {
        let players = 2 + below(&mut rng, 6);
        let encounters: Vec<Encounter> = (0..1 + below(&mut rng, 12))
            .map(|_| {
                let a = below(&mut rng, players);
                let b = (a + 1 + below(&mut rng, players - 1)) % players;
                let mut pairs = ColorPairs::default();
                for _ in 0..below(&mut rng, 5) {
                    let favoured = open_unit(&mut rng) < 0.7;
                    let (white, black) =
                        if favoured { (2, 2) } else { (below(&mut rng, 3), below(&mut rng, 3)) };
                    pairs.counts[white][black] += 1 + below(&mut rng, 1000) as u64;
                }
                Encounter { a, b, pairs }
            })
            .collect();
        let ratings = Ratings::fit(players, 0, &encounters).unwrap();
        let all = (0..players).filter_map(|player| ratings.player(player));
        for e in all.chain([ratings.white_advantage()]) {
            assert!(e.low <= e.elo && e.elo <= e.high && e.high - e.low < 1e6, "{e:?}");
        }
    }
}
