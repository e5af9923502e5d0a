//! The auxiliary heads: what they are told, that they learn it and teach the trunk, and that nothing else knows of them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gipf_core::{Play, Position, Rules, Symmetry};
use gipf_model::{
    Architecture, AuxiliaryHeads, Checkpoint, Evaluation, Evaluator, Features, NativeEvaluator,
    PolicyIndex,
};
use gipf_model_torch::{
    AuxiliaryTargets, Device, Learner, LearnerConfig, LossWeights, Reply, TorchEvaluator,
    TrainBatch, TrainSample, WeightSet,
};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BOTH: AuxiliaryHeads = AuxiliaryHeads { reply: true, swing: true };

/// Decisions of a random game by `rules` with made-up targets; the reply of each is the next decision, whoever makes it. Every
/// fourth one has no auxiliary target.
fn samples(rules: &str, seed: u64, count: usize) -> Vec<TrainSample> {
    let rules: Rules = rules.parse().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut plays: Vec<Play> = Vec::new();
    let mut found: Vec<(Position, Vec<Play>)> = Vec::new();
    let mut position = rules.start();
    while found.len() <= count {
        if position.is_over() {
            position = rules.start();
        }
        position.actions(&mut plays);
        found.push((position, plays.clone()));
        position.play(*plays.choose(&mut rng).unwrap());
    }
    let one = |actions: usize, rng: &mut ChaCha8Rng| {
        let mut policy = vec![0.2 / actions as f32; actions];
        policy[rng.random_range(0..actions)] += 0.8;
        policy
    };
    let sample = |(number, pair): (usize, &[(Position, Vec<Play>)])| {
        let [(position, actions), (later, replies)] = pair else { unreachable!("two") };
        let symmetry = *Symmetry::ALL.choose(&mut rng).unwrap();
        let mut features = Features::new();
        features.fill(position, actions);
        let mut index = PolicyIndex::new();
        index.fill(later, replies);
        let auxiliary = AuxiliaryTargets {
            reply: Some(Reply {
                index: index.transformed(symmetry),
                policy: one(replies.len(), &mut rng),
            }),
            swing: Some(f32::from(rng.random_range(-4_i8..=4))),
        };
        TrainSample {
            features: features.transformed(symmetry),
            policy: one(actions.len(), &mut rng),
            policy_weight: 1.0,
            value: [1.0, 0.0, 0.0],
            value_weight: 1.0,
            plays_left: 20.0,
            plays_left_weight: 1.0,
            auxiliary: if number % 4 == 3 { AuxiliaryTargets::default() } else { auxiliary },
        }
    };
    found.windows(2).enumerate().map(sample).collect()
}

fn batch(seed: u64, count: usize) -> TrainBatch {
    TrainBatch::pack(&samples("standard", seed, count)).unwrap()
}

fn learner(size: &str, heads: AuxiliaryHeads, losses: LossWeights) -> Learner {
    gipf_model_torch::set_threads(1);
    let architecture: Architecture = size.parse().unwrap();
    let config = LearnerConfig { losses, threads: 1, ..LearnerConfig::default() };
    Learner::new(architecture.with_auxiliary(heads), 3, config, Device::Cpu).unwrap()
}

fn weights(reply: f64, swing: f64) -> LossWeights {
    LossWeights { reply, swing, ..LossWeights::default() }
}

fn checkpoint(learner: &Learner) -> Checkpoint {
    learner.checkpoint(WeightSet::Trained, Vec::new(), "test", None).unwrap()
}

#[test]
fn the_losses_of_a_batch_are_those_of_the_formulas() {
    let learner = learner("1x8", BOTH, weights(0.5, 0.25));
    let samples = samples("standard", 2, 24);
    let losses =
        learner.evaluate(&TrainBatch::pack(&samples).unwrap(), WeightSet::Trained).unwrap();
    let losses = losses.losses;
    assert_eq!(losses.weights[3..], [18.0, 18.0]);
    // The heads as plain evaluators know them: the reply's stands in for the policy, the swing's for the plays left.
    let mut other = checkpoint(&learner).without_auxiliary().unwrap();
    let own = checkpoint(&learner).tensors;
    for (name, of) in [("policy.planes", "reply_planes"), ("policy.globals", "reply_globals")] {
        for part in ["weight", "bias"] {
            other
                .tensors
                .insert(format!("{name}.{part}"), own[&format!("auxiliary.{of}.{part}")].clone());
        }
    }
    let mut evaluator = NativeEvaluator::new(&other);
    let (mut reply, mut said) = (0.0, vec![Evaluation::default()]);
    for TrainSample { features, auxiliary, .. } in &samples {
        let Some(target) = &auxiliary.reply else { continue };
        let seen = Features { policy: target.index.clone(), ..features.clone() };
        evaluator.evaluate(&[seen], &mut said).unwrap();
        let logits = &said[0].logits;
        let total: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        for (&p, &logit) in target.policy.iter().zip(logits) {
            reply -= f64::from(p) * (f64::from(logit) - total.ln());
        }
    }
    assert!((losses.reply - reply / 18.0).abs() < 1e-4, "{} {}", losses.reply, reply / 18.0);
    // A new network's swing is close to 0, so the loss is that of the targets alone within the size of its last layer.
    let huber = |swing: f64| {
        let units = (swing / 2.0).abs();
        if units < 1.0 { units * units / 2.0 } else { units - 0.5 }
    };
    let swings = samples.iter().filter_map(|s| s.auxiliary.swing);
    let swing = swings.map(|swing| huber(f64::from(swing))).sum::<f64>() / 18.0;
    assert!((losses.swing - swing).abs() < 0.2, "{} {swing}", losses.swing);
    let parts = losses.policy + losses.value + 0.1 * losses.plays_left;
    let total = parts + 0.5 * losses.reply + 0.25 * losses.swing;
    assert!((losses.total - total).abs() < 1e-9);
}

#[test]
fn the_heads_learn_a_batch_by_heart() {
    let mut learner = learner("2x16", BOTH, weights(1.0, 1.0));
    let batch = batch(1, 32);
    let first = learner.train_step(&batch, 5e-3).unwrap();
    let mut last = first;
    for _ in 0..250 {
        last = learner.train_step(&batch, 5e-3).unwrap();
    }
    // The entropy of the made-up replies is about 1.
    assert!(first.reply > 2.0 && last.reply < 0.6 * first.reply, "{first:?} {last:?}");
    assert!(first.swing > 0.3 && last.swing < 0.1, "{first:?} {last:?}");
}

/// With all other losses switched off, each head alone moves the trunk's weights.
#[test]
fn each_head_teaches_the_trunk() {
    for (reply, swing) in [(1.0, 0.0), (0.0, 1.0)] {
        let only = LossWeights { policy: 0.0, value: 0.0, plays_left: 0.0, reply, swing };
        let mut learner = learner("2x8", BOTH, only);
        let batch = batch(4, 16);
        let before = checkpoint(&learner);
        // Two steps: the branches' last factors start at 0, and with them the gradient of what is before.
        for _ in 0..2 {
            learner.train_step(&batch, 1e-2).unwrap();
        }
        let after = checkpoint(&learner);
        for name in ["stem.conv.weight", "blocks.0.conv1.weight", "blocks.1.conv2.weight"] {
            assert_ne!(before.tensors[name], after.tensors[name], "{name} by {reply} {swing}");
        }
    }
}

#[test]
fn a_network_without_heads_does_not_know_of_the_targets() {
    let run = |auxiliary: bool, losses: LossWeights| {
        let mut learner = learner("2x8", AuxiliaryHeads::NONE, losses);
        let mut samples = samples("standard", 5, 16);
        if !auxiliary {
            samples.iter_mut().for_each(|sample| sample.auxiliary = AuxiliaryTargets::default());
        }
        let mut batch = TrainBatch::pack(&samples).unwrap();
        assert_eq!(batch.reply.is_some(), auxiliary);
        batch.mask = gipf_model::PlaneMask::ALL;
        let losses = learner.train_step(&batch, 1e-3).unwrap();
        assert_eq!((losses.reply, losses.swing), (0.0, 0.0));
        checkpoint(&learner)
    };
    assert_eq!(run(false, LossWeights::default()), run(true, weights(1.0, 1.0)));
}

#[test]
fn a_state_with_heads_goes_on_bit_for_bit() {
    let losses = weights(0.3, 0.3);
    let mut learner = learner("2x8", BOTH, losses);
    for seed in 0..3 {
        learner.train_step(&batch(seed, 16), 2e-3).unwrap();
    }
    let config = LearnerConfig { losses, threads: 1, ..LearnerConfig::default() };
    let bytes = learner.state_bytes().unwrap();
    let mut again = Learner::from_state_bytes("state", &bytes, config, Device::Cpu).unwrap();
    assert_eq!(again.architecture().auxiliary, BOTH);
    for seed in 3..6 {
        let batch = batch(seed, 16);
        assert_eq!(
            learner.train_step(&batch, 2e-3).unwrap(),
            again.train_step(&batch, 2e-3).unwrap()
        );
    }
    assert_eq!(learner.state_bytes().unwrap(), again.state_bytes().unwrap());
}

/// In a batch with replies, in which planes of theirs are computed too, the evaluators say what they say without heads.
#[test]
fn no_evaluator_knows_of_the_heads() {
    let mut learner = learner("2x8", BOTH, weights(0.3, 0.3));
    for seed in 0..3 {
        learner.train_step(&batch(seed, 16), 2e-3).unwrap();
    }
    let with = checkpoint(&learner);
    let without = with.clone().without_auxiliary().unwrap();
    let positions: Vec<Features> =
        samples("standard", 9, 8).into_iter().map(|sample| sample.features).collect();
    let said = |evaluator: &mut dyn Evaluator| {
        let mut out = vec![Evaluation::default(); positions.len()];
        evaluator.evaluate(&positions, &mut out).unwrap();
        out
    };
    let native = |c: &Checkpoint| said(&mut NativeEvaluator::new(c));
    assert_eq!(native(&with), native(&without));
    let torch =
        |c: &Checkpoint| said(&mut TorchEvaluator::from_checkpoint(c, Device::Cpu, 1).unwrap());
    assert_eq!(torch(&with), torch(&without));
}

#[test]
fn impossible_targets_are_refused() {
    let refused = |change: fn(&mut AuxiliaryTargets)| {
        let mut samples = samples("standard", 7, 2);
        change(&mut samples[1].auxiliary);
        TrainBatch::pack(&samples).unwrap_err().to_string()
    };
    let reply = |change: fn(&mut Reply)| {
        let mut samples = samples("standard", 7, 2);
        samples[1].auxiliary.reply.iter_mut().for_each(change);
        TrainBatch::pack(&samples).unwrap_err().to_string()
    };
    assert!(refused(|a| a.swing = Some(f32::NAN)).contains("NaN"));
    assert!(refused(|a| a.reply = Some(Reply::default())).contains("a reply of 0 actions"));
    assert!(reply(|r| r.policy.truncate(1)).contains("a policy of 1"));
    assert!(reply(|r| r.policy[0] = -0.5).contains("-0.5"));
}
