//! Games for tests: random plays by the rules, with searches that never were.

use gipf_core::record::{
    GameId, GameRecord, GameResult, POLICY_UNIT, RECORD_FORMAT, RecordedPlay, SearchRecord,
};
use gipf_core::{Play, Rules};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random game of `rules`, a function of its number; at most `max_plays` plays. A quarter of the decisions is fully searched.
pub(crate) fn game(rules: &str, seq: u64, max_plays: u32) -> GameRecord {
    let mut rng = ChaCha8Rng::seed_from_u64(seq);
    let parsed: Rules = rules.parse().expect("good rules");
    let mut position = parsed.start();
    let mut plays = Vec::new();
    let mut actions = Vec::new();
    while !position.is_over() && plays.len() < max_plays as usize {
        position.actions(&mut actions);
        let play = actions[rng.random_range(0..actions.len())];
        let search = (actions.len() > 1).then(|| search(&actions, &mut rng));
        plays.push(RecordedPlay { p: play.to_string(), s: search });
        position.play(play);
    }
    GameRecord {
        format: RECORD_FORMAT.to_owned(),
        id: GameId { run: "test".to_owned(), worker: "ab".repeat(16), seq },
        rules: rules.to_owned(),
        start: None,
        max_plays,
        seed: 1,
        result: GameResult::of(&position),
        forfeit: None,
        plays,
    }
}

fn search(actions: &[Play], rng: &mut ChaCha8Rng) -> SearchRecord {
    let raw: Vec<f64> = actions.iter().map(|_| rng.random_range(0.0f64..1.0).powi(4)).collect();
    let total: f64 = raw.iter().sum();
    let share = |weight: &f64| (weight / total * f64::from(POLICY_UNIT)).round() as u16;
    SearchRecord {
        n: 64,
        pi: actions
            .iter()
            .zip(raw.iter().map(share))
            .filter(|(_, weight)| *weight > 0)
            .map(|(play, weight)| (play.to_string(), weight))
            .collect(),
        q: rng.random_range(-1.0..1.0),
        v: rng.random_range(-1.0..1.0),
        full: rng.random_bool(0.25),
        ckpt: 0,
        kl: None,
    }
}
