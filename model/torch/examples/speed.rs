//! How fast an evaluator and a learner are here: `cargo run --release -p gipf-model-torch --example speed -- 4x32 128 256`
//! (network size, positions a batch for the evaluator, samples a batch for the learner, threads, device).

use std::time::Instant;

use gipf_core::{Play, Position, Rules};
use gipf_model::{Architecture, Checkpoint, Evaluation, Evaluator, Features};
use gipf_model_torch::{
    AuxiliaryTargets, Learner, LearnerConfig, TorchEvaluator, TrainBatch, TrainSample,
    device_from_name,
};
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |at: usize, default: &str| arguments.get(at).cloned().unwrap_or_else(|| default.to_owned());
    let architecture: Architecture = argument(0, "4x32").parse()?;
    let (evaluated, learned): (usize, usize) =
        (argument(1, "128").parse()?, argument(2, "256").parse()?);
    let (threads, device) = (argument(3, "1").parse()?, device_from_name(&argument(4, "cpu"))?);
    let rules = argument(5, "standard");

    let positions = positions(&rules.parse()?, evaluated.max(learned));
    let checkpoint = Checkpoint::initial(architecture, vec![rules], "speed", 1)?;
    let mut evaluator = TorchEvaluator::from_checkpoint(&checkpoint, device, threads)?;
    let mut out = vec![Evaluation::default(); evaluated];
    let batch = &positions[..evaluated];
    let seconds = best_of(5, 20, || evaluator.evaluate(batch, &mut out).map_err(Into::into))?;
    println!(
        "{}: {:.0} positions/s in batches of {evaluated}",
        evaluator.name(),
        evaluated as f64 / seconds
    );

    let config = LearnerConfig { threads, ..LearnerConfig::default() };
    let mut learner = Learner::new(architecture, 1, config, device)?;
    let samples: Vec<TrainSample> = positions[..learned].iter().map(sample).collect();
    let seconds = best_of(3, 5, || {
        let batch = TrainBatch::pack(&samples)?;
        learner.train_step(&batch, 1e-3)?;
        Ok(())
    })?;
    println!(
        "learner {architecture}: {:.0} samples/s in batches of {learned}",
        learned as f64 / seconds
    );
    Ok(())
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The best mean time of a call, in seconds, over `rounds` of `calls`.
fn best_of(
    rounds: usize,
    calls: usize,
    mut call: impl FnMut() -> Outcome,
) -> Result<f64, Box<dyn std::error::Error>> {
    call()?;
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        (0..calls).try_for_each(|_| call())?;
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    Ok(best)
}

fn sample(features: &Features) -> TrainSample {
    let actions = features.policy.actions();
    TrainSample {
        features: features.clone(),
        policy: vec![1.0 / actions as f32; actions],
        policy_weight: 1.0,
        value: [1.0, 0.0, 0.0],
        value_weight: 1.0,
        plays_left: 30.0,
        plays_left_weight: 1.0,
        auxiliary: AuxiliaryTargets::default(),
    }
}

/// Positions of random games.
fn positions(rules: &Rules, count: usize) -> Vec<Features> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut position, mut plays): (Position, Vec<Play>) = (rules.start(), Vec::new());
    let mut found = Vec::new();
    while found.len() < count {
        position.actions(&mut plays);
        let Some(&play) = plays.choose(&mut rng) else {
            position = rules.start();
            continue;
        };
        let mut features = Features::new();
        features.fill(&position, &plays);
        found.push(features);
        position.play(play);
    }
    found
}
