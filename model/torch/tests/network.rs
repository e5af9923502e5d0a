//! The network in libtorch: learner, state, evaluator, on positions of random games.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "network/formulas.rs"]
mod formulas;

use std::sync::{Mutex, MutexGuard};

use gipf_core::{Play, Position, Rules};
use gipf_model::{Architecture, Checkpoint, Evaluation, Evaluator, Features, NativeEvaluator};
use gipf_model_torch::{
    AuxiliaryTargets, Device, Learner, LearnerConfig, LossWeights, Precision, TorchError,
    TorchEvaluator, TrainBatch, TrainSample, Trunk, WeightSet,
};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RULES: [&str; 4] = ["standard", "tournament", "ultimate", "standard+T4Z4Y4;challenge=rps"];

/// The number of threads belongs to the whole process: tests that depend on it take turns.
fn one_thread() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    gipf_model_torch::set_threads(1);
    turn
}

/// Features of positions of random games by `rules`.
fn positions(rules: &str, seed: u64, count: usize) -> Vec<Features> {
    let rules: Rules = rules.parse().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut position, mut plays, mut outcomes): (Position, Vec<Play>, Vec<_>) =
        (rules.start(), Vec::new(), Vec::new());
    let mut found = Vec::new();
    while found.len() < count {
        if position.is_over() {
            position = rules.start();
        } else if position.is_chance() {
            position.outcomes(&mut outcomes);
            position.play(outcomes[0].0);
        } else {
            position.actions(&mut plays);
            let mut features = Features::new();
            features.fill(&position, &plays);
            found.push(features);
            position.play(*plays.choose(&mut rng).unwrap());
        }
    }
    found
}

/// Made-up targets.
fn samples(rules: &str, seed: u64, count: usize) -> Vec<TrainSample> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sample = |features: Features| {
        let actions = features.policy.actions();
        let mut policy = vec![0.2 / actions as f32; actions];
        policy[rng.random_range(0..actions)] += 0.8;
        let win = f32::from(u8::from(rng.random_bool(0.5)));
        TrainSample {
            features,
            policy,
            policy_weight: if rng.random_bool(0.8) { 1.0 } else { 0.0 },
            value: [win, 1.0 - win, 0.0],
            value_weight: 1.0,
            plays_left: rng.random_range(0.0..100.0),
            plays_left_weight: 0.5,
            auxiliary: AuxiliaryTargets::default(),
        }
    };
    positions(rules, seed, count).into_iter().map(sample).collect()
}

fn batch(rules: &str, seed: u64, count: usize) -> TrainBatch {
    TrainBatch::pack(&samples(rules, seed, count)).unwrap()
}

fn learner(architecture: &str) -> Learner {
    let config = LearnerConfig { threads: 1, ..LearnerConfig::default() };
    Learner::new(architecture.parse().unwrap(), 3, config, Device::Cpu).unwrap()
}

/// A checkpoint whose running statistics and last layers are those of a network that has learned something.
fn trained(architecture: &str, rules: &[&str]) -> (Learner, Checkpoint) {
    let mut learner = learner(architecture);
    for step in 0..12 {
        learner.train_step(&batch(rules[step % rules.len()], step as u64, 32), 3e-3).unwrap();
    }
    let rules = rules.iter().map(|&rules| rules.to_owned()).collect();
    let checkpoint = learner.checkpoint(WeightSet::Averaged, rules, "test", None).unwrap();
    (learner, checkpoint)
}

fn evaluate(evaluator: &mut TorchEvaluator, batch: &[Features]) -> Vec<Evaluation> {
    let mut out = vec![Evaluation::default(); batch.len()];
    evaluator.evaluate(batch, &mut out).unwrap();
    out
}

#[track_caller]
fn assert_close(a: &Evaluation, b: &Evaluation, within: f32) {
    assert_eq!(a.logits.len(), b.logits.len());
    let pairs = a.logits.iter().zip(&b.logits).chain(a.value.iter().zip(&b.value));
    for (a, b) in pairs.chain([(&(a.plays_left / 32.0), &(b.plays_left / 32.0))]) {
        assert!((a - b).abs() <= within * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn learns_a_small_batch_by_heart() {
    let _turn = one_thread();
    let samples = samples("standard", 1, 32);
    let batch = TrainBatch::pack(&samples).unwrap();
    let mut learner = learner("2x16");
    let first = learner.train_step(&batch, 5e-3).unwrap();
    let mut last = first;
    for rate in [5e-3; 200].into_iter().chain([5e-4; 200]) {
        last = learner.train_step(&batch, rate).unwrap();
    }
    assert!(first.policy - first.policy_entropy > 0.8, "{first:?}");
    assert!(last.policy - last.policy_entropy < 0.15, "{last:?}");
    assert!(last.value < 0.05 && last.plays_left < 0.05, "{last:?}");
    // The averaged weights, with running statistics, know it too, and so does the evaluator made of them.
    let metrics = learner.evaluate(&batch, WeightSet::Averaged).unwrap();
    assert!(metrics.policy_accuracy > 0.9 && metrics.value_brier < 0.1, "{metrics:?}");
    assert!(metrics.calibration_error() < 0.2, "{metrics:?}");
    let checkpoint =
        learner.checkpoint(WeightSet::Averaged, vec!["standard".to_owned()], "test", None).unwrap();
    assert_eq!(checkpoint.header.step, 401);
    let mut evaluator = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let features: Vec<Features> = samples.iter().map(|sample| sample.features.clone()).collect();
    let (mut value_error, mut plays_error) = (0.0, 0.0);
    for (sample, evaluation) in samples.iter().zip(evaluate(&mut evaluator, &features)) {
        value_error += (evaluation.q() - (sample.value[0] - sample.value[1])).abs() / 32.0;
        plays_error += (evaluation.plays_left - sample.plays_left).abs() / 32.0;
    }
    assert!(value_error < 0.15 && plays_error < 10.0, "{value_error} {plays_error}");
}

/// The losses of the learner are those computed from an evaluator's results by hand: folded or not, the network is one, and so is
/// the softmax over index sets.
#[test]
fn folded_and_unfolded_networks_agree() {
    let _turn = one_thread();
    for architecture in ["2x16", "1x8-nopool"] {
        let (learner, checkpoint) = trained(architecture, &RULES);
        for rules in RULES {
            let samples = samples(rules, 77, 40);
            let metrics = learner
                .evaluate(&TrainBatch::pack(&samples).unwrap(), WeightSet::Averaged)
                .unwrap();
            let features: Vec<Features> =
                samples.iter().map(|sample| sample.features.clone()).collect();
            let mut evaluator =
                TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
            let (mut policy, mut value, mut plays_left, mut weight) = (0.0, 0.0, 0.0, 0.0);
            for (sample, evaluation) in samples.iter().zip(evaluate(&mut evaluator, &features)) {
                let mut probabilities = Vec::new();
                evaluation.policy(&mut probabilities);
                let cross = |targets: &[f32], found: &[f32]| -> f64 {
                    targets
                        .iter()
                        .zip(found)
                        .map(|(&t, &p)| -f64::from(t) * f64::from(p).ln())
                        .sum()
                };
                policy += f64::from(sample.policy_weight) * cross(&sample.policy, &probabilities);
                weight += f64::from(sample.policy_weight);
                value += cross(&sample.value, &evaluation.value);
                let off = f64::from((evaluation.plays_left - sample.plays_left) / 32.0).abs();
                plays_left += if off < 1.0 { off * off / 2.0 } else { off - 0.5 };
            }
            let n = samples.len() as f64;
            assert!(
                (metrics.losses.policy - policy / weight).abs() < 1e-4,
                "{rules} {metrics:?} {}",
                policy / weight
            );
            assert!(
                (metrics.losses.value - value / n).abs() < 1e-4,
                "{rules} {metrics:?} {}",
                value / n
            );
            assert!(
                (metrics.losses.plays_left - plays_left / n).abs() < 1e-4,
                "{rules} {metrics:?}"
            );
        }
    }
}

/// Against the formulas of `gipf_model::Architecture`, one number at a time.
#[test]
fn the_network_is_that_of_the_formulas() {
    let _turn = one_thread();
    let (_, checkpoint) = trained("2x4", &RULES);
    let batch = positions("ultimate", 8, 6);
    let mut evaluator = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    for (features, found) in batch.iter().zip(evaluate(&mut evaluator, &batch)) {
        assert_close(&formulas::evaluate(&checkpoint, features), &found, 1e-5);
    }
}

/// Against the engine that does without libtorch.
#[test]
fn the_native_evaluator_agrees() {
    let _turn = one_thread();
    for architecture in ["2x16", "1x24-nopool"] {
        let (_, checkpoint) = trained(architecture, &RULES);
        let batch: Vec<Features> = RULES.iter().flat_map(|rules| positions(rules, 9, 40)).collect();
        let mut evaluator = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
        let mut native = vec![Evaluation::default(); batch.len()];
        NativeEvaluator::new(&checkpoint).evaluate(&batch, &mut native).unwrap();
        let torch = evaluate(&mut evaluator, &batch);
        native.iter().zip(&torch).for_each(|(a, b)| assert_close(a, b, 1e-4));
    }
}

/// Sixteen bits: about two digits of 32-bit numbers, whatever the rules; and they are other numbers.
#[test]
fn sixteen_bits_are_near_thirty_two() {
    let _turn = one_thread();
    let (_, checkpoint) = trained("2x16", &RULES);
    let mut exact = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let mut rounded =
        TorchEvaluator::with_precision(&checkpoint, Device::Cpu, 1, Precision::Bf16).unwrap();
    assert_eq!(rounded.name(), exact.name() + " bf16");
    for rules in RULES {
        let batch = positions(rules, 9, 40);
        let (exact, rounded) = (evaluate(&mut exact, &batch), evaluate(&mut rounded, &batch));
        let scale = exact.iter().flat_map(|e| &e.logits).fold(0f32, |most, x| most.max(x.abs()));
        for (exact, rounded) in exact.iter().zip(&rounded) {
            for (a, b) in exact.logits.iter().zip(&rounded.logits) {
                assert!((a - b).abs() < 0.03 * scale.max(1.0), "{rules}: {a} and {b} of {scale}");
            }
            for (a, b) in exact.value.iter().zip(rounded.value) {
                assert!((a - b).abs() < 0.03, "{rules}: {exact:?} and {rounded:?}");
            }
            let (a, b) = (exact.plays_left, rounded.plays_left);
            assert!((a - b).abs() < 0.03 * (32.0 + a), "{rules}: {a} and {b} plays left");
        }
        assert_ne!(exact, rounded);
    }
}

#[test]
fn results_do_not_depend_on_the_batch() {
    let _turn = one_thread();
    let (_, checkpoint) = trained("2x16", &["standard"]);
    let mut evaluator = TorchEvaluator::from_checkpoint(&checkpoint, Device::Cpu, 1).unwrap();
    let mut batch = positions("standard", 5, 50);
    let together = evaluate(&mut evaluator, &batch);
    for (features, evaluation) in batch.iter().zip(&together) {
        let alone = &evaluate(&mut evaluator, std::slice::from_ref(features))[0];
        assert_close(alone, evaluation, 1e-5);
    }
    assert_eq!(evaluate(&mut evaluator, &batch), together, "the same batch, the same bits");
    // Positions by other rules than the checkpoint's need more planes, and change nothing for the rest.
    batch.extend(positions("ultimate", 6, 30));
    let mixed = evaluate(&mut evaluator, &batch);
    together.iter().zip(&mixed).for_each(|(a, b)| assert_close(a, b, 1e-5));
    assert!(evaluate(&mut evaluator, &[]).is_empty());
    assert!(
        mixed
            .iter()
            .all(|e| (e.value.iter().sum::<f32>() - 1.0).abs() < 1e-5 && e.plays_left >= 0.0)
    );
}

#[test]
fn two_equal_runs_are_bit_equal() {
    let _turn = one_thread();
    let run = || {
        let mut learner = learner("2x16");
        let losses: Vec<_> = (0..6)
            .map(|seed| learner.train_step(&batch("standard", seed, 48), 2e-3).unwrap())
            .collect();
        (losses, learner.state_bytes().unwrap())
    };
    assert_eq!(run(), run());
}

/// From a new network and from a trained one. The first step's gradient differs by rounding only; later ones start from weights
/// that Adam has moved by the sign of gradients near 0, where rounding decides: hence the wider bound on the losses.
#[test]
fn both_trunks_train_alike() {
    let _turn = one_thread();
    let (_, trained) = trained("4x32", &RULES);
    let new = learner("2x24").checkpoint(WeightSet::Trained, vec![], "", None).unwrap();
    for checkpoint in [new, trained] {
        let start = |trunk| {
            let config = LearnerConfig { threads: 1, trunk, ..LearnerConfig::default() };
            Learner::from_checkpoint(&checkpoint, config, Device::Cpu).unwrap()
        };
        let (mut native, mut torch) = (start(Trunk::Native), start(Trunk::Torch));
        let batch = batch("standard", 5, 40);
        for step in 0..8 {
            let (ours, theirs) = (
                native.train_step(&batch, 1e-3).unwrap().total,
                torch.train_step(&batch, 1e-3).unwrap().total,
            );
            let (a, b) = (native.gradient_norm(), torch.gradient_norm());
            let within = if step == 0 { 1e-4 } else { 2e-2 };
            assert!((ours / theirs - 1.0).abs() < within, "step {step}: loss {ours} {theirs}");
            if step == 0 {
                assert!((a / b - 1.0).abs() < 1e-3, "gradient {a} {b}");
            }
        }
    }
}

#[test]
fn a_saved_state_goes_on_bit_for_bit() {
    let _turn = one_thread();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("learner.safetensors");
    let config = LearnerConfig { threads: 1, ..LearnerConfig::default() };
    let mut learner = learner("2x16");
    for seed in 0..4 {
        learner.train_step(&batch("tournament", seed, 32), 2e-3).unwrap();
    }
    learner.save_state(&path).unwrap();
    let mut resumed = Learner::load_state(&path, config, Device::Cpu).unwrap();
    assert_eq!(resumed.step(), 4);
    for seed in 4..8 {
        let next = batch("tournament", seed, 32);
        assert_eq!(
            learner.train_step(&next, 2e-3).unwrap(),
            resumed.train_step(&next, 2e-3).unwrap()
        );
    }
    assert_eq!(learner.state_bytes().unwrap(), resumed.state_bytes().unwrap());
    for weights in [WeightSet::Trained, WeightSet::Averaged] {
        let of = |learner: &Learner| learner.checkpoint(weights, Vec::new(), "r", None).unwrap();
        assert_eq!(of(&learner), of(&resumed));
    }
    assert_ne!(
        learner.checkpoint(WeightSet::Trained, Vec::new(), "r", None).unwrap().tensors,
        learner.checkpoint(WeightSet::Averaged, Vec::new(), "r", None).unwrap().tensors
    );
}

#[test]
fn damaged_states_are_refused() {
    let _turn = one_thread();
    let config = LearnerConfig::default();
    let bytes = learner("1x2").state_bytes().unwrap();
    let load = |bytes: &[u8]| {
        Learner::from_state_bytes("state", bytes, config, Device::Cpu).map(|l| l.step())
    };
    assert_eq!(load(&bytes).unwrap(), 0);
    for len in (0..bytes.len()).step_by(997) {
        assert!(load(&bytes[..len]).unwrap_err().to_string().starts_with("state: "));
    }
    for at in (0..bytes.len()).step_by(101).chain(8..200) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(load(&damaged).unwrap_err().to_string().starts_with("state: "), "byte {at}");
    }
    let checkpoint = Checkpoint::initial(Architecture::new(1, 2), Vec::new(), "r", 1).unwrap();
    assert!(load(&checkpoint.to_bytes().unwrap()).is_err());
}

#[test]
fn a_checkpoint_round_trips_through_the_network() {
    let _turn = one_thread();
    let (_, checkpoint) = trained("1x8", &["basic"]);
    let config = LearnerConfig::default();
    let learner = Learner::from_checkpoint(&checkpoint, config, Device::Cpu).unwrap();
    assert_eq!(learner.step(), 12);
    for weights in [WeightSet::Trained, WeightSet::Averaged] {
        let rules = checkpoint.header.rules.clone();
        assert_eq!(learner.checkpoint(weights, rules, "test", None).unwrap(), checkpoint);
    }
}

#[test]
fn a_loss_that_is_not_finite_stops_the_training() {
    let _turn = one_thread();
    let mut learner = learner("1x4");
    let before = learner.checkpoint(WeightSet::Trained, Vec::new(), "r", None).unwrap();
    let mut bad = batch("standard", 1, 8);
    bad.globals[(0, 0)] = f32::INFINITY;
    let error = learner.train_step(&bad, 1e-3).unwrap_err();
    assert!(matches!(error, TorchError::NotFinite { step: 0, .. }), "{error}");
    let after = learner.checkpoint(WeightSet::Trained, Vec::new(), "r", None).unwrap();
    assert_eq!(after.tensors, before.tensors);
}

#[test]
fn samples_that_make_no_batch() {
    let good = samples("standard", 1, 2);
    let refused = |change: fn(&mut TrainSample)| {
        let mut samples = good.clone();
        change(&mut samples[1]);
        let error = TrainBatch::pack(&samples).unwrap_err().to_string();
        assert!(error.starts_with("sample 1: "), "{error}");
    };
    refused(|s| s.policy.truncate(1));
    refused(|s| s.policy[0] = f32::NAN);
    refused(|s| s.value[2] = -0.5);
    refused(|s| s.plays_left = f32::INFINITY);
    refused(|s| s.policy_weight = -1.0);
    refused(|s| (s.features, s.policy) = (Features::new(), Vec::new()));
    assert!(TrainBatch::pack(&[]).is_err());
}

/// A weight of 0 takes a sample out of a loss altogether; metrics of parts merge into those of the whole.
#[test]
fn weights_and_merging() {
    let _turn = one_thread();
    let (learner, _) = trained("1x8", &["standard"]);
    let all = samples("standard", 4, 24);
    let of = |samples: &[TrainSample]| {
        learner.evaluate(&TrainBatch::pack(samples).unwrap(), WeightSet::Trained).unwrap()
    };
    let mut muted = all.clone();
    for sample in &mut muted[8..] {
        (sample.policy_weight, sample.value_weight, sample.plays_left_weight) = (0.0, 0.0, 0.0);
    }
    let (muted, first) = (of(&muted).losses, of(&all[..8]).losses);
    assert!((muted.policy - first.policy).abs() < 1e-5 && (muted.value - first.value).abs() < 1e-5);
    assert!((muted.plays_left - first.plays_left).abs() < 1e-5);
    let by = LossWeights::default();
    let (whole, merged) = (of(&all), of(&all[..8]).merged(&of(&all[8..]), &by));
    assert!((whole.losses.total - merged.losses.total).abs() < 1e-5);
    assert!((whole.value_brier - merged.value_brier).abs() < 1e-6);
    assert!((whole.policy_accuracy - merged.policy_accuracy).abs() < 1e-6);
    assert_eq!(whole.positions, merged.positions);
}
