//! Positions for tests: those of random games by many rules.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::collections::BTreeMap;

use gipf_core::{Play, Position, Rules, Symmetry};
use gipf_model::{Architecture, Checkpoint, CheckpointHeader, Features, TensorKind};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Rules strings that between them have every kind of play.
pub(crate) const RULES: [&str; 12] = [
    "basic",
    "basic:18/15",
    "standard",
    "tournament",
    "ultimate",
    "standard+T6",
    "standard+T4Z4D4;challenge=rps",
    "tournament+Z4Y4|D4P4",
    "standard+D6P6;punct=convert",
    "standard+T4Z4P4;challenge=chance:0.5/0.25/0.25;limit=3;kinds=TZ",
    "basic+Y6P6;challenge=coin",
    "tournament:21+T3Z3D3Y3P3;punct=convert",
];

pub(crate) fn rules(text: &str) -> Rules {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

pub(crate) fn position(rules_text: &str, text: &str) -> Position {
    Position::parse(&rules(rules_text), text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

pub(crate) fn actions(position: &Position) -> Vec<Play> {
    let mut actions = Vec::new();
    position.actions(&mut actions);
    actions
}

pub(crate) fn features(position: &Position) -> Features {
    let mut features = Features::new();
    features.fill(position, &actions(position));
    features
}

/// Where some games by rules of this variant start: two rows of GIPF-pieces that cross on e5, just made.
pub(crate) const CROSSING: &str = "g3/5/6/2GGGGG/3G2/3G1/3G 2,16 BB w rw ch=e4e5e6e7e8f5g5h5";

/// Where a game starts: every other one by the plain standard rules with the crossing rows.
fn start(rules_text: &str, game: usize) -> Position {
    if rules_text == "standard" && game % 2 == 1 {
        let symmetry = Symmetry::ALL[game / 2 % Symmetry::ALL.len()];
        return position(rules_text, CROSSING).transform(symmetry);
    }
    rules(rules_text).start()
}

/// Calls `visit` with every position of random games in which somebody decides, until it has had `count` of them. Half the
/// choices are among the rarer plays, if there are any, so that potentials move and rows are removed in many ways.
pub(crate) fn walk(
    rules_text: &str,
    seed: u64,
    count: usize,
    mut visit: impl FnMut(&Position, &[Play]),
) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = 0;
    let mut position = start(rules_text, game);
    let (mut visited, mut plays, mut outcomes) = (0, Vec::new(), Vec::new());
    while visited < count {
        if position.is_over() {
            game += 1;
            position = start(rules_text, game);
        } else if position.is_chance() {
            position.outcomes(&mut outcomes);
            let (play, _) = *outcomes.choose(&mut rng).expect("a side game has an outcome");
            position.play(play);
        } else {
            position.actions(&mut plays);
            visit(&position, &plays);
            visited += 1;
            let rare: Vec<Play> =
                plays.iter().copied().filter(|play| !play.to_string().contains('-')).collect();
            let rare = if rare.is_empty() || rng.random_bool(0.5) { &plays } else { &rare };
            position.play(*rare.choose(&mut rng).expect("a decision has an action"));
        }
    }
}

/// A network whose every tensor is random, batch norm statistics and zero-started factors too.
pub(crate) fn random_checkpoint(architecture: Architecture, seed: u64) -> Checkpoint {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform =
        |low: f32, high: f32| low + (high - low) * (rng.next_u32() >> 8) as f32 / (1 << 24) as f32;
    let specs = architecture.tensors();
    let mut tensors: BTreeMap<_, _> = architecture.initial_tensors(seed).into_iter().collect();
    for spec in specs {
        for value in &mut tensors.get_mut(&spec.name).expect("a tensor").data {
            match spec.kind {
                TensorKind::Weight => {}
                TensorKind::SmallWeight => *value *= 10.0,
                TensorKind::Bias | TensorKind::RunningMean => *value = uniform(-0.3, 0.3),
                _ => *value = uniform(0.5, 1.5),
            }
        }
    }
    let header = CheckpointHeader::new(architecture, vec!["standard".to_owned()], 1, "test");
    Checkpoint::new(header, tensors).expect("a checkpoint")
}

/// Features of positions of random games of many kinds.
pub(crate) fn random_positions(count: usize) -> Vec<Features> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut all = Vec::new();
    let mut actions: Vec<Play> = Vec::new();
    while all.len() < count {
        for rules in ["basic", "standard", "tournament", "ultimate;challenge=rps", "standard+D6P6"]
        {
            let mut position: Position = rules.parse::<Rules>().expect(rules).start();
            while !position.is_over() {
                position.actions(&mut actions);
                if position.decider().is_some() && rng.next_u32() % 8 == 0 {
                    let mut features = Features::new();
                    features.fill(&position, &actions);
                    all.push(features);
                }
                position.play(actions[rng.next_u32() as usize % actions.len()]);
            }
        }
    }
    all.truncate(count);
    all
}
