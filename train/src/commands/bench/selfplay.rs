//! Self-play's speed, beside that of the evaluator that bounds it.

use std::time::{Duration, Instant};

use gipf_core::Rules;
use gipf_model::{Evaluation, Evaluator, Features};
use gipf_model_torch::Device;
use gipf_selfplay::{
    GameCounter, RulesSampler, SearchConfig, SelfPlayConfig, Worker, WorkerIdentity, WorkerStats,
};
use serde_json::{Value, json};

use super::{Args, checkpoint, features};
use crate::cpu;
use crate::evaluators::{BoxedEvaluator, evaluator_with};

/// One turn of each of the three that are compared.
const SLICE: Duration = Duration::from_millis(250);

/// Games on one thread with every search of the same size, once without a cache and once with one; and in turns with them,
/// so that whatever else the machine does hits all alike, the bare evaluator on the batch of `bench eval`. On the CPU rates
/// are those of processor time.
pub(super) fn self_play(
    args: &Args,
    rules: &Rules,
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let checkpoint = checkpoint(args, rules)?;
    let precision = args.precision.unwrap_or_default();
    let network = || evaluator_with(&checkpoint, device, precision);
    let (mut plain, mut cached) = (
        player(args, rules, 0, network()?)?,
        player(args, rules, args.cache_megabytes, network()?)?,
    );
    let mut bare = network()?;
    let batch: Vec<Features> =
        features(rules, args.batch as usize).into_iter().map(|(features, _)| features).collect();
    let mut answers = vec![Evaluation::default(); batch.len()];
    // All games begin at once: a slice each lets them spread, fills the cache and warms up the evaluators.
    plain.measure(device)?;
    cached.measure(device)?;
    bare.evaluate(&batch, &mut answers)?;
    (plain.begin(), cached.begin());
    let (mut evaluated, mut seconds, started) = (0.0, 0.0, Instant::now());
    while seconds == 0.0 || started.elapsed() < time {
        plain.measure(device)?;
        seconds += slice(device, || {
            evaluated += batch.len() as f64;
            Ok(bare.evaluate(&batch, &mut answers)?)
        })?;
        cached.measure(device)?;
    }
    let alone = evaluated / seconds;
    let (without, with) = (plain.done(), cached.done());
    let rate = |count: u64, player: &Player| count as f64 / player.seconds;
    Ok(json!({
        "evaluator": bare.name(),
        "rules": rules.to_string(),
        "batch": args.batch,
        "simulations": args.simulations,
        "games_per_second": rate(without.games, &plain),
        "plays_per_second": rate(without.plays, &plain),
        "simulations_per_second": rate(without.simulations, &plain),
        "evaluations_per_second": rate(without.evaluations, &plain),
        "batch_fill_percent": 100.0 * without.fill(),
        "bench_eval_per_second": alone,
        "ratio_to_bench_eval": rate(without.evaluations, &plain) / alone,
        "cached_games_per_second": rate(with.games, &cached),
        "cached_plays_per_second": rate(with.plays, &cached),
        "cache_hits_percent": 100.0 * with.hit_rate(),
        "cache_gain": rate(with.plays, &cached) / rate(without.plays, &plain),
    }))
}

/// A worker, and what it did in its measured slices.
struct Player {
    worker: Worker<BoxedEvaluator>,
    seconds: f64,
    before: WorkerStats,
}

fn player(
    args: &Args,
    rules: &Rules,
    cache_megabytes: u32,
    network: BoxedEvaluator,
) -> anyhow::Result<Player> {
    let config = SelfPlayConfig {
        search: SearchConfig::default(),
        lanes: args.batch,
        simulations: args.simulations,
        full_probability: 1.0,
        cache_megabytes,
        ..SelfPlayConfig::default()
    };
    let identity = WorkerIdentity { run: "bench".to_owned(), worker: "0".repeat(32), seed: 1 };
    let counter = GameCounter::unlimited(0);
    let worker =
        Worker::new(&config, RulesSampler::single(*rules)?, identity, counter, network, 0)?;
    Ok(Player { worker, seconds: 0.0, before: WorkerStats::default() })
}

impl Player {
    /// What was measured so far was warming up.
    fn begin(&mut self) {
        (self.seconds, self.before) = (0.0, self.worker.stats());
    }

    fn measure(&mut self, device: Device) -> anyhow::Result<()> {
        self.seconds += slice(device, || {
            self.worker.round(&mut |_| {})?;
            Ok(())
        })?;
        Ok(())
    }

    fn done(&self) -> WorkerStats {
        self.worker.stats() - self.before
    }
}

/// Repeats `work` for a slice; the seconds that it took: of the processor on the CPU, of the clock on other devices.
fn slice(device: Device, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let (started, processor) = (Instant::now(), cpu::thread_seconds());
    while started.elapsed() < SLICE {
        work()?;
    }
    Ok(match device {
        Device::Cpu => cpu::thread_seconds() - processor,
        _ => started.elapsed().as_secs_f64(),
    })
}
