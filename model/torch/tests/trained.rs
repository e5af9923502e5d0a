//! A trained network in libtorch and on this project's own kernels: the same numbers over every position of the test vectors.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use gipf_core::{Position, Rules};
use gipf_model::{
    Checkpoint, Evaluation, Evaluator, Features, Int8Evaluator, Kernel, NativeEvaluator, calibrate,
};
use gipf_model_torch::{Device, GridEvaluator, GridForm, TorchEvaluator};
use serde::Deserialize;

fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

/// A player of `standard` after 3,387 steps.
fn trained() -> Checkpoint {
    Checkpoint::load(&data("checkpoints/standard-4x32.safetensors")).unwrap()
}

#[derive(Deserialize)]
struct Game {
    rules: String,
    plays: Vec<String>,
}

#[derive(Deserialize)]
struct Directed {
    rules: String,
    position: String,
    #[serde(default)]
    plays: Vec<String>,
}

/// Features of the position if somebody decides in it.
fn add(position: &Position, all: &mut Vec<Features>) {
    if position.decider().is_some() && !position.is_over() {
        let (mut features, mut actions) = (Features::new(), Vec::new());
        position.actions(&mut actions);
        features.fill(position, &actions);
        all.push(features);
    }
}

/// Every position of the vector games, and every directed position.
fn vectors() -> Vec<Features> {
    let mut all = Vec::new();
    for file in fs::read_dir(data("vectors/games")).unwrap() {
        let file = File::open(file.unwrap().path()).unwrap();
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let game: Game = serde_json::from_str(&line.unwrap()).unwrap();
            let mut position = game.rules.parse::<Rules>().unwrap().start();
            for play in &game.plays {
                add(&position, &mut all);
                position.try_play(play.parse().unwrap()).unwrap();
            }
        }
    }
    assert!(all.len() > 20_000);
    let directed = fs::read_to_string(data("vectors/positions.json")).unwrap();
    let directed: Vec<Directed> = serde_json::from_str(&directed).unwrap();
    assert!(directed.len() >= 70);
    for Directed { rules, position, plays } in directed {
        let mut position = Position::parse(&rules.parse().unwrap(), &position).unwrap();
        for play in plays {
            position.try_play(play.parse().unwrap()).unwrap();
        }
        add(&position, &mut all);
    }
    all
}

fn evaluate(evaluator: &mut dyn Evaluator, batch: &[Features]) -> Vec<Evaluation> {
    let mut out = vec![Evaluation::default(); batch.len()];
    evaluator.evaluate(batch, &mut out).unwrap();
    out
}

/// The largest difference of any logit, outcome or number of plays left (in the head's unit of 32), absolute, and of numbers
/// beyond 1 relative.
fn distance(a: &[Evaluation], b: &[Evaluation]) -> f32 {
    assert_eq!(a.len(), b.len());
    let of = |(a, b): (&Evaluation, &Evaluation)| {
        assert_eq!(a.logits.len(), b.logits.len());
        let left = [(a.plays_left / 32.0, b.plays_left / 32.0)];
        let numbers = a.logits.iter().zip(&b.logits).chain(a.value.iter().zip(&b.value));
        let numbers = numbers.map(|(a, b)| (*a, *b)).chain(left);
        numbers.map(|(a, b)| (a - b).abs() / a.abs().max(1.0)).fold(0.0, f32::max)
    };
    a.iter().zip(b).map(of).fold(0.0, f32::max)
}

const WITHIN: f32 = 1e-4;

#[test]
fn native_and_libtorch_agree_on_every_vector_and_one_changed_weight_is_seen() {
    gipf_model_torch::set_threads(1);
    let (checkpoint, batch) = (trained(), vectors());
    let mut torch = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let expected = evaluate(&mut torch, &batch);
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        // The portable kernel is slow in a build for tests, so it has every eighth position.
        let every = if kernel == Kernel::Portable { 8 } else { 1 };
        let some = |all: &[Evaluation]| all.iter().step_by(every).cloned().collect::<Vec<_>>();
        let batch: Vec<Features> = batch.iter().step_by(every).cloned().collect();
        let native = evaluate(&mut NativeEvaluator::with_kernel(&checkpoint, kernel), &batch);
        let distance = distance(&native, &some(&expected));
        assert!(distance <= WITHIN, "{kernel}: {distance}");
    }
    // The same comparison fails when one weight is another, in whatever part of the network: the largest of a tensor, doubled.
    // (Others may belong to channels that training has silenced.)
    let batch: Vec<Features> = batch.into_iter().step_by(16).collect();
    let expected: Vec<Evaluation> = expected.into_iter().step_by(16).collect();
    for name in [
        "stem.conv.weight",
        "blocks.2.conv1.weight",
        "blocks.3.conv2.weight",
        "value.hidden.weight",
    ] {
        let mut changed = checkpoint.clone();
        let weights = &mut changed.tensors.get_mut(name).unwrap().data;
        let largest = weights.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        *largest *= 2.0;
        let native = evaluate(&mut NativeEvaluator::new(&changed), &batch);
        assert!(distance(&native, &expected) > WITHIN, "{name}");
    }
}

/// The forms that the benchmark compares with are the same network too.
#[test]
fn every_form_in_libtorch_agrees() {
    gipf_model_torch::set_threads(1);
    let (checkpoint, batch) = (trained(), standard());
    let batch = &batch[..100];
    let mut torch = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let expected = evaluate(&mut torch, batch);
    for form in GridForm::ALL {
        let mut grid = GridEvaluator::new(&checkpoint, form).unwrap();
        for part in [60, 40] {
            for (batch, expected) in batch.chunks(part).zip(expected.chunks(part)) {
                let distance = distance(&evaluate(&mut grid, batch), expected);
                assert!(distance <= WITHIN, "{form:?}: {distance}");
            }
        }
    }
}

/// Positions of games by the rules that the network has learned.
fn standard() -> Vec<Features> {
    let mut positions = Vec::new();
    let file = File::open(data("vectors/games/games-standard.jsonl.gz")).unwrap();
    for line in BufReader::new(GzDecoder::new(file)).lines() {
        let game: Game = serde_json::from_str(&line.unwrap()).unwrap();
        let mut position = game.rules.parse::<Rules>().unwrap().start();
        for play in &game.plays {
            add(&position, &mut positions);
            position.try_play(play.parse().unwrap()).unwrap();
        }
    }
    positions
}

/// What int8 costs on positions by the rules that the network has learned, calibrated on others of them.
#[test]
fn int8_is_close_on_what_the_network_has_learned() {
    let checkpoint = trained();
    let positions = standard();
    let (calibrating, tried) = positions.split_at(positions.len() / 2);
    assert!(calibrating.len() > 400);
    let float = evaluate(&mut NativeEvaluator::new(&checkpoint), tried);
    let calibration = calibrate(&checkpoint, calibrating);
    let int8 = evaluate(&mut Int8Evaluator::new(&checkpoint, &calibration), tried);
    let (mut divergence, mut value, mut same) = (0.0, 0.0, 0);
    let (mut p, mut q) = (Vec::new(), Vec::new());
    for (a, b) in float.iter().zip(&int8) {
        a.policy(&mut p);
        b.policy(&mut q);
        divergence += p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum::<f32>();
        value += (a.q() - b.q()).abs();
        let best = |policy: &[f32]| {
            policy.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at)
        };
        same += usize::from(best(&p) == best(&q));
    }
    let n = tried.len() as f32;
    let (divergence, value, same) = (divergence / n, value / n, same as f32 / n);
    assert!(divergence < 0.002, "mean divergence of the policy {divergence}");
    assert!(value < 0.02, "mean difference of the value {value}");
    assert!(same > 0.95, "share of positions with the same best play {same}");
}
