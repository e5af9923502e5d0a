//! The project's own kernels and libtorch choose the same plays: 60 positions, or as many as `GIPF_SOAK_PARITY` says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use gipf_core::{Play, Position, Rules, playout};
use gipf_model::{Evaluator, NativeEvaluator};
use gipf_model_torch::{Device, TorchEvaluator};
use gipf_player::shipped::Shipped;
use gipf_selfplay::{Budget, GameState, NetworkPlayer, Player, RandomKey, Score};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Rules of every variant and kind of potential.
const RULES: [&str; 10] = [
    "basic",
    "standard",
    "tournament",
    "ultimate",
    "standard+T6",
    "standard+T4Z4D4",
    "tournament+Z4Y4|D4P4",
    "standard+D6P6;punct=convert",
    "standard+T4Z4P4;challenge=rps",
    "basic+Y6P6;challenge=coin",
];
const NODES: u32 = 64;
/// Share of the positions where both must choose the same play, and how far apart their values may be elsewhere.
const SAME: f64 = 0.98;
const VALUE: f32 = 0.01;

/// Positions of random games in which somebody has a choice, by all rules in turn.
fn positions(count: usize) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let (mut found, mut actions) = (Vec::new(), Vec::<Play>::new());
    for (game, text) in RULES.iter().cycle().enumerate() {
        if found.len() == count {
            break;
        }
        let mut position = text.parse::<Rules>().unwrap().start();
        playout(&mut position, &mut rng, (game % 60) as u32, &mut actions);
        position.actions(&mut actions);
        if position.decider().is_some() && actions.len() > 1 {
            found.push(position);
        }
    }
    found
}

/// The play chosen and its value, a share of the points.
fn choice(player: &mut dyn Player, position: &Position) -> (Play, f32) {
    player.new_game();
    let key = RandomKey { seed: 7, game: 0 };
    let state = GameState { position, plays: &[], max_plays: 500, key };
    let choice = player.choose(&state, &Budget::nodes(NODES)).unwrap();
    let Some(Score::Outcomes([win, unfinished, _])) = choice.thought.unwrap().score else {
        panic!("a network weighs results")
    };
    (choice.play, win + unfinished / 2.0)
}

#[test]
fn native_and_torch_choose_the_same_plays() {
    let count = std::env::var("GIPF_SOAK_PARITY").map_or(60, |count| count.parse().unwrap());
    let checkpoint = Shipped::named("standard").unwrap().checkpoint().unwrap();
    let player = |evaluator: Box<dyn Evaluator>| {
        NetworkPlayer::with_default_search("it".to_owned(), evaluator, 0)
    };
    let mut native = player(Box::new(NativeEvaluator::new(&checkpoint)));
    let torch = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let mut torch = player(Box::new(torch));
    let positions = positions(count);
    let mut same = 0;
    for position in &positions {
        let (a, b) = (choice(&mut native, position), choice(&mut torch, position));
        if a.0 == b.0 {
            same += 1;
        } else {
            let text = format!("{} {position}: {} {}, {} {}", position.rules(), a.0, a.1, b.0, b.1);
            assert!((a.1 - b.1).abs() <= VALUE, "{text}");
            eprintln!("another play in {text}");
        }
    }
    let share = f64::from(same) / positions.len() as f64;
    eprintln!("the same play in {same} of {count} positions");
    assert!(share >= SAME, "{same} of {count} positions");
}
