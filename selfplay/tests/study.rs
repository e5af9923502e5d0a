//! Studies of rules strings whose scores are known, since a fake player "plays" their games.
//!
//! `GIPF_SOAK_STUDY=1` runs the full number of tables and prints what it measured (`--nocapture`).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use gipf_core::record::GameResult;
use gipf_selfplay::study::{Budget, Design, End, Study, StudyGame, TABLE_ERROR, Tally, Verdict};
use gipf_selfplay::{Purpose, RandomKey};
use rand::Rng;

/// Games of each rules string in the smallest round.
const ROUND: u32 = 32;
/// Rules strings of a table.
const RULES: usize = 24;

/// Which openings a fake player's games have.
#[derive(Clone, Copy, Debug)]
enum Openings {
    /// Every game its own.
    Different,
    /// Two games in turn the same one, a good one for White or a bad one.
    Pairs,
    /// Any of so many, good and bad ones alike in number: more and more games share one.
    Pool(u64),
}

/// By how much a good opening raises White's score and a bad one lowers it.
const EFFECT: f64 = 0.15;

/// Plays games with a known score for White.
#[derive(Clone, Debug)]
struct FakePlayer {
    seed: u64,
    /// White's true score by each rules string.
    scores: Vec<f64>,
    /// The share of unfinished games.
    unfinished: f64,
    openings: Openings,
}

impl FakePlayer {
    /// The opening's key and the result.
    fn play(&self, StudyGame { rules, game }: StudyGame) -> (u64, GameResult) {
        let key = RandomKey { seed: self.seed, game };
        let mut rng = key.stream(rules as u32, Purpose::Player);
        let opening = match self.openings {
            Openings::Different => game,
            // As random as the pair's stream, the same for both games.
            Openings::Pairs => {
                let pair = RandomKey { seed: !self.seed, game: game / 2 };
                let good: bool = pair.stream(rules as u32, Purpose::Player).random();
                game / 2 * 2 + u64::from(good)
            }
            Openings::Pool(size) => rng.random_range(0..size),
        };
        let effect = match self.openings {
            Openings::Different => 0.0,
            Openings::Pairs | Openings::Pool(_) if opening % 2 == 0 => -EFFECT,
            Openings::Pairs | Openings::Pool(_) => EFFECT,
        };
        let score = self.scores[rules] + effect;
        let won = (score - 0.5 * self.unfinished) / (1.0 - self.unfinished);
        let result = if rng.random_bool(self.unfinished) {
            GameResult::Unfinished
        } else if rng.random_bool(won) {
            GameResult::White
        } else {
            GameResult::Black
        };
        (opening, result)
    }

    /// Plays the games of a round.
    fn play_round(&self, study: &mut Study) {
        for game in study.pending().collect::<Vec<_>>() {
            let (opening, result) = self.play(game);
            study.report(game, opening, result).unwrap();
        }
    }
}

fn soak() -> bool {
    std::env::var_os("GIPF_SOAK_STUDY").is_some()
}

fn tables(short: u64, full: u64) -> u64 {
    if soak() { full } else { short }
}

/// The fake player of a table: a quarter of its scores are 1/2, a quarter just not within 2% of it, the others anywhere from 42%
/// to 58%. Unfinished games and openings change from table to table.
fn fake(table: u64) -> FakePlayer {
    let mut rng = RandomKey { seed: table, game: 0 }.stream(0, Purpose::Rules);
    let scores = (0..RULES).map(|rules| match rules % 4 {
        0 => 0.5,
        1 => [0.479, 0.521][rules / 4 % 2],
        _ => rng.random_range(0.42..0.58),
    });
    FakePlayer {
        seed: 1000 + table,
        scores: scores.collect(),
        unfinished: [0.03, 0.1, 0.3][(table % 3) as usize],
        openings: [Openings::Different, Openings::Pairs, Openings::Pool(1500)]
            [(table / 3 % 3) as usize],
    }
}

/// In how many tables of how many.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    hits: u64,
    of: u64,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.of += 1;
    }

    fn share(self) -> f64 {
        self.hits as f64 / self.of as f64
    }
}

/// The interval of a fixed number of games, for true scores from 40% to 60%, from 50 units on.
#[test]
fn the_even_designs_intervals_cover_at_their_level() {
    for units in [50, 100, 400] {
        for openings in [Openings::Different, Openings::Pairs, Openings::Pool(20_000)] {
            let mut covered = Share::default();
            for table in 0..tables(60, 500) {
                let span = (0..RULES).map(|rules| 0.4 + 0.2 * rules as f64 / (RULES - 1) as f64);
                let unfinished = if table % 2 == 0 { 0.02 } else { 0.15 };
                let scores = span.collect();
                let fake = FakePlayer { seed: 7 * table + units, scores, unfinished, openings };
                let games = if matches!(openings, Openings::Pairs) { 2 * units } else { units };
                let budget = Budget::Games(games * RULES as u64);
                let mut study = Study::new(RULES, Design::Even, budget, ROUND).unwrap();
                while study.end().is_none() {
                    fake.play_round(&mut study);
                }
                assert_eq!(study.games(), games * RULES as u64);
                for (standing, &score) in study.table().standings.iter().zip(&fake.scores) {
                    covered.add(standing.interval.contains(score));
                }
            }
            if soak() {
                println!("even, {units} units, {openings:?}: {:.4} covered", covered.share());
            }
            let share = covered.share();
            assert!((0.93..=0.97).contains(&share), "{units} units, {openings:?}: {share}");
        }
    }
}

/// What went wrong in a table, at any of its rounds.
struct Course {
    /// Rules strings whose own 95% interval missed the score at some round.
    missed_alone: Vec<bool>,
    /// Whether any interval of the table missed at some round.
    missed_in_table: bool,
    /// Whether any verdict was wrong at some round.
    wrong_verdict: bool,
    study: Study,
}

fn course(fake: &FakePlayer, design: Design, budget: Budget) -> Course {
    let mut study = Study::new(RULES, design, budget, ROUND).unwrap();
    let mut missed_alone = vec![false; RULES];
    let (mut missed_in_table, mut wrong_verdict) = (false, false);
    while study.end().is_none() {
        fake.play_round(&mut study);
        for (rules, &score) in fake.scores.iter().enumerate() {
            let alone = study.tally(rules).unwrap().anytime_interval(0.05);
            missed_alone[rules] |= !alone.contains(score);
            let among_all =
                study.tally(rules).unwrap().anytime_interval(TABLE_ERROR / RULES as f64);
            missed_in_table |= !among_all.contains(score);
        }
        for (standing, &score) in study.table().standings.iter().zip(&fake.scores) {
            wrong_verdict |= !standing.verdict.holds(score);
        }
    }
    Course { missed_alone, missed_in_table, wrong_verdict, study }
}

#[test]
fn time_uniform_intervals_cover_at_every_round_and_tables_are_right() {
    for design in [Design::Even, Design::Adaptive] {
        let (mut alone, mut ends, mut in_table, mut right) =
            (Share::default(), Share::default(), Share::default(), Share::default());
        let (mut decided, mut games) = (0, 0);
        for table in 0..tables(45, 500) {
            let fake = fake(table);
            let course = course(&fake, design, Budget::Games(60_000));
            course.missed_alone.iter().for_each(|&missed| alone.add(!missed));
            for (rules, &score) in fake.scores.iter().enumerate() {
                let interval = course.study.tally(rules).unwrap().anytime_interval(0.05);
                ends.add(interval.contains(score));
            }
            in_table.add(!course.missed_in_table);
            right.add(!course.wrong_verdict);
            decided += RULES - course.study.table().count(Verdict::Undecided);
            games += course.study.games();
        }
        if soak() {
            println!(
                "{design:?}: alone at every round {:.4}, at the end {:.4}; tables covered {} and right {} of {}; \
                 {:.1} of {RULES} decided with {:.0} games",
                alone.share(),
                ends.share(),
                in_table.hits,
                right.hits,
                right.of,
                decided as f64 / right.of as f64,
                games as f64 / right.of as f64,
            );
        }
        assert!(alone.share() >= 0.95 && ends.share() >= 0.95, "{design:?}: {alone:?} {ends:?}");
        assert!(in_table.share() >= 0.95, "{design:?}: {in_table:?}");
        // 35 of 500.
        assert!((right.of - right.hits) * 500 <= 35 * right.of, "{design:?}: {right:?}");
    }
}

/// Both designs run until every rules string has its verdict, with the same intervals, the same rounds and the same games:
/// the even one needs as many of each as the rules string that takes most.
#[test]
fn the_adaptive_design_needs_at_most_half_the_games_of_the_even_one() {
    let mut ratios = Vec::new();
    for table in 0..tables(2, 50) {
        let scores: Vec<f64> = (0..30).map(|rules| 0.42 + 0.16 * f64::from(rules) / 29.0).collect();
        let (unfinished, openings) = (0.05, Openings::Different);
        let fake = FakePlayer { seed: 77 + table, scores, unfinished, openings };
        let decided = |design| {
            let mut study = Study::new(30, design, Budget::Open, ROUND).unwrap();
            while study.table().count(Verdict::Undecided) > 0 {
                fake.play_round(&mut study);
            }
            study
        };
        let (adaptive, even) = (decided(Design::Adaptive), decided(Design::Even));
        assert_eq!((adaptive.end(), even.end()), (Some(End::Decided), None));
        // 1.4% from 1/2 one may have found that it is above, the other that it is within 2%: both are true.
        let mut both_within = 0;
        let lines = adaptive.table().standings.into_iter().zip(even.table().standings);
        for ((adaptive, even), &score) in lines.zip(&fake.scores) {
            assert!(adaptive.verdict.holds(score) && even.verdict.holds(score), "{score}");
            both_within +=
                u32::from([adaptive, even].map(|line| line.verdict) == [Verdict::Within; 2]);
        }
        assert!(both_within >= 2, "{both_within}");
        let ratio = adaptive.games() as f64 / even.games() as f64;
        if soak() {
            println!("adaptive {}, even {}: {ratio:.3}", adaptive.games(), even.games());
        }
        assert!(ratio <= 0.5, "adaptive {}, even {}", adaptive.games(), even.games());
        ratios.push(ratio);
    }
    if soak() {
        ratios.sort_by(f64::total_cmp);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!("ratio {mean:.3}, from {:.3} to {:.3}", ratios[0], ratios[ratios.len() - 1]);
    }
}

/// 51% is as far from every boundary as the nearest, so its verdict takes the most games there are.
#[test]
fn a_score_near_its_boundaries_does_not_eat_the_budget() {
    let mut scores = vec![0.51; 3];
    scores.extend([0.4, 0.42, 0.44, 0.47, 0.53, 0.56, 0.58, 0.6]);
    let (unfinished, openings) = (0.05, Openings::Different);
    let fake = FakePlayer { seed: 5, scores, unfinished, openings };
    let played = |design| {
        let mut study = Study::new(11, design, Budget::Games(20_000), ROUND).unwrap();
        while study.end().is_none() {
            fake.play_round(&mut study);
        }
        study
    };
    let mut study = played(Design::Adaptive);
    let undecided = |study: &Study| -> Vec<usize> {
        let lines = study.table().standings.into_iter();
        let undecided = lines.filter(|line| line.verdict == Verdict::Undecided);
        undecided.map(|line| line.rules).collect()
    };
    assert_eq!(undecided(&study), [0, 1, 2], "all that can be decided is");
    assert!(matches!(study.end(), Some(End::Spent | End::TooClose)));
    assert!(undecided(&played(Design::Even)).len() > 3, "evenly shared games decide less");
    // With more games it goes on from there.
    let before = study.games();
    study.set_budget(Budget::Open).unwrap();
    assert_eq!(study.end(), None);
    while study.end().is_none() {
        fake.play_round(&mut study);
    }
    assert_eq!((study.end(), study.games() > before), (Some(End::Decided), true));
    assert!(
        study.table().standings.iter().zip(&fake.scores).all(|(line, &p)| line.verdict.holds(p))
    );
}

#[test]
fn a_width_is_reached_by_all_and_not_far_passed() {
    for design in [Design::Even, Design::Adaptive] {
        let mut study = Study::new(RULES, design, Budget::Width(0.2), ROUND).unwrap();
        let fake = fake(4);
        while study.end().is_none() {
            fake.play_round(&mut study);
        }
        let widths: Vec<f64> =
            study.table().standings.iter().map(|line| line.bounds.width()).collect();
        assert_eq!(study.end(), Some(End::Narrow));
        assert!(widths.iter().all(|width| (0.15..0.2).contains(width)), "{widths:?}");
    }
}

/// The same games in another order, stored and read again on the way, give the same study.
#[test]
fn a_study_depends_on_its_games_alone() {
    for design in [Design::Even, Design::Adaptive] {
        let fake = fake(5);
        let budget = Budget::Games(20_000);
        let mut straight = Study::new(RULES, design, budget, ROUND).unwrap();
        let mut other = straight.clone();
        let mut rng = RandomKey { seed: 1, game: 1 }.stream(0, Purpose::Sample);
        while straight.end().is_none() {
            fake.play_round(&mut straight);
            let mut games: Vec<StudyGame> = other.pending().collect();
            for at in (1..games.len()).rev() {
                games.swap(at, rng.random_range(0..=at));
            }
            let stop = rng.random_range(0..games.len());
            for (at, &game) in games.iter().enumerate() {
                if at == stop {
                    let stored = serde_json::to_string(&other).unwrap();
                    other = serde_json::from_str(&stored).unwrap();
                    assert_eq!(other.pending().count(), games.len() - stop);
                }
                let (opening, result) = fake.play(game);
                assert_eq!(other.report(game, opening, result), Ok(at + 1 == games.len()));
            }
            assert!(straight == other, "after {} rounds", straight.rounds());
        }
        assert!(straight.games() <= 20_000 && straight.rounds() > 3);
        // What a tally says follows from the games in any order.
        let mut again = Tally::default();
        let games = straight.tally(2).unwrap().games();
        for game in (0..games).rev() {
            let (opening, result) = fake.play(StudyGame { rules: 2, game });
            again.add(opening, result);
        }
        assert_eq!(Some(&again), straight.tally(2));
    }
}
