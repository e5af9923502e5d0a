//! The simulator's speed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gipf_core::{Play, Position, Rules, perft, playout};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// Plays after which a random game stops.
const MAX_PLAYS: u32 = 500;
/// Games between two looks at the clock, and games whose parts are measured: their positions fit the second-level cache.
const GAMES_AT_ONCE: u64 = 100;

/// Uniform random games with the list of actions made at every play, then the two parts of a play each on its own over the same
/// games: listing the actions, and making the play (pushes, rows and whose turn it is). Last perft 5 of the start.
pub(super) fn simulator(rules: &Rules, time: Duration) -> Value {
    let mut rng = SmallRng::seed_from_u64(1);
    let (mut games, mut plays, mut actions) = (0, 0, Vec::new());
    let started = Instant::now();
    while started.elapsed() < time {
        for _ in 0..GAMES_AT_ONCE {
            let mut position = rules.start();
            plays += u64::from(playout(&mut position, &mut rng, MAX_PLAYS, &mut actions));
        }
        games += GAMES_AT_ONCE;
    }
    let seconds = started.elapsed().as_secs_f64();
    let recorded: Vec<(Vec<Position>, Vec<Play>)> =
        (0..GAMES_AT_ONCE).map(|_| recorded_game(rules, &mut rng, &mut actions)).collect();
    let part = time / 4;
    let listing = nanoseconds_a_play(part, &recorded, |positions, _| {
        for position in positions {
            position.actions(&mut actions);
            black_box(&actions);
        }
    });
    let playing = nanoseconds_a_play(part, &recorded, |_, plays| {
        let mut position = rules.start();
        plays.iter().for_each(|play| position.play(*play));
        black_box(position);
    });
    let counting = Instant::now();
    let nodes = perft(&rules.start(), 5);
    json!({
        "rules": rules.to_string(),
        "games_per_second": games as f64 / seconds,
        "plays_per_second": plays as f64 / seconds,
        "plays_a_game": plays as f64 / games as f64,
        "ns_a_play": seconds * 1e9 / plays as f64,
        "ns_listing_actions": listing,
        "ns_making_the_play": playing,
        "perft_5": nodes,
        "perft_5_seconds": counting.elapsed().as_secs_f64(),
    })
}

/// A random game: the position before each play, and the plays.
fn recorded_game(
    rules: &Rules,
    rng: &mut SmallRng,
    actions: &mut Vec<Play>,
) -> (Vec<Position>, Vec<Play>) {
    let (mut position, mut positions, mut plays) = (rules.start(), Vec::new(), Vec::new());
    while !position.is_over() && plays.len() < MAX_PLAYS as usize {
        position.actions(actions);
        let play = actions[rng.random_range(0..actions.len())];
        positions.push(position);
        plays.push(play);
        position.play(play);
    }
    (positions, plays)
}

/// Runs a part over recorded games until the time is up.
fn nanoseconds_a_play(
    time: Duration,
    games: &[(Vec<Position>, Vec<Play>)],
    mut part: impl FnMut(&[Position], &[Play]),
) -> f64 {
    let (mut plays, started) = (0, Instant::now());
    while started.elapsed() < time {
        for (positions, made) in games {
            part(positions, made);
            plays += made.len();
        }
    }
    started.elapsed().as_secs_f64() * 1e9 / plays.max(1) as f64
}
