//! Self-play's speed, beside that of the evaluator that bounds it.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use gipf_core::Rules;
use gipf_model::{EvalError, Evaluation, Evaluator, Features};
use gipf_model_torch::Device;
use gipf_selfplay::{
    GameCounter, RulesSampler, SearchConfig, SelfPlayConfig, Worker, WorkerIdentity, WorkerStats,
};
use serde_json::{Value, json};

use super::{Args, checkpoint, features};
use crate::cpu;
use crate::evaluators::{BoxedEvaluator, evaluator_with};

/// One turn of each of those that are compared.
const SLICE: Duration = Duration::from_millis(250);
/// Batches of self-play that the bare evaluator gets in a turn.
const RECORDED: usize = 4;

/// Games on one thread with every search of the same size: as they are, with a cache, and on symmetric boards; and in turns with them,
/// so that whatever else the machine does hits all alike, the bare evaluator, on batches that the games as they are have just
/// asked for and on the batch of `bench eval`. On the CPU rates are those of processor time.
pub(super) fn self_play(
    args: &Args,
    rules: &Rules,
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let checkpoint = checkpoint(args, rules)?;
    let precision = args.precision.unwrap_or_default();
    let network = || evaluator_with(&checkpoint, device, precision);
    let (mut plain, mut cached, mut turned) = (
        Player::new(args, rules, (0, false), network()?)?,
        Player::new(args, rules, (args.cache_megabytes, false), network()?)?,
        Player::new(args, rules, (0, true), network()?)?,
    );
    let random: Vec<Features> =
        features(rules, args.batch as usize).into_iter().map(|(features, _)| features).collect();
    let random = [random];
    let (mut on_games, mut on_random) = (Bare::new(network()?), Bare::new(network()?));
    // All games begin at once: a slice each lets them spread, fills the cache and warms up the evaluators.
    plain.measure(device)?;
    cached.measure(device)?;
    turned.measure(device)?;
    on_games.measure(device, &plain.recorded()?)?;
    on_random.measure(device, &random)?;
    [&mut plain, &mut cached, &mut turned].into_iter().for_each(Player::begin);
    [&mut on_games, &mut on_random].into_iter().for_each(Bare::begin);
    let (mut actions, mut positions, started) = (0, 0, Instant::now());
    while positions == 0 || started.elapsed() < time {
        plain.measure(device)?;
        let batches = plain.recorded()?;
        on_games.measure(device, &batches)?;
        on_random.measure(device, &random)?;
        cached.measure(device)?;
        turned.measure(device)?;
        let asked = batches.iter().flatten();
        actions += asked.clone().map(|features| features.policy.actions()).sum::<usize>();
        positions += asked.count();
    }
    let (without, with) = (&plain.done, &cached.done);
    let rate = |count: u64, player: &Player| count as f64 / player.seconds;
    let speed = rate(without.evaluations, &plain);
    Ok(json!({
        "evaluator": on_games.evaluator.name(),
        "rules": rules.to_string(),
        "batch": args.batch,
        "simulations": args.simulations,
        "games_per_second": rate(without.games, &plain),
        "plays_per_second": rate(without.plays, &plain),
        "simulations_per_second": rate(without.simulations, &plain),
        "evaluations_per_second": speed,
        "batch_fill_percent": 100.0 * without.fill(),
        "actions_a_position": actions as f64 / positions as f64,
        "bare_on_games_per_second": on_games.speed(),
        "ratio_to_bare_on_games": speed / on_games.speed(),
        "bench_eval_per_second": on_random.speed(),
        "ratio_to_bench_eval": speed / on_random.speed(),
        "cached_games_per_second": rate(with.games, &cached),
        "cached_plays_per_second": rate(with.plays, &cached),
        "cache_hits_percent": 100.0 * with.hit_rate(),
        "cache_gain": rate(with.plays, &cached) / rate(without.plays, &plain),
        "symmetry_ratio": rate(turned.done.evaluations, &turned) / speed,
    }))
}

/// The evaluator alone.
struct Bare {
    evaluator: BoxedEvaluator,
    answers: Vec<Evaluation>,
    positions: f64,
    seconds: f64,
}

impl Bare {
    fn new(evaluator: BoxedEvaluator) -> Bare {
        Bare { evaluator, answers: Vec::new(), positions: 0.0, seconds: 0.0 }
    }

    /// What was measured so far was warming up.
    fn begin(&mut self) {
        (self.positions, self.seconds) = (0.0, 0.0);
    }

    fn measure(&mut self, device: Device, batches: &[Vec<Features>]) -> anyhow::Result<()> {
        let mut batches = batches.iter().cycle();
        self.seconds += slice(device, || {
            let Some(batch) = batches.next() else { return Ok(()) };
            if self.answers.len() < batch.len() {
                self.answers.resize(batch.len(), Evaluation::default());
            }
            self.evaluator.evaluate(batch, &mut self.answers[..batch.len()])?;
            self.positions += batch.len() as f64;
            Ok(())
        })?;
        Ok(())
    }

    fn speed(&self) -> f64 {
        self.positions / self.seconds
    }
}

/// An evaluator that can keep what it is asked.
struct Recorder {
    evaluator: BoxedEvaluator,
    is_recording: Cell<bool>,
    batches: RefCell<Vec<Vec<Features>>>,
}

impl Evaluator for Recorder {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        if self.is_recording.get() {
            self.batches.get_mut().push(batch.to_vec());
        }
        self.evaluator.evaluate(batch, out)
    }

    fn name(&self) -> String {
        self.evaluator.name()
    }
}

/// A worker, and what it did in its measured slices.
struct Player {
    worker: Worker<Recorder>,
    seconds: f64,
    done: WorkerStats,
}

impl Player {
    fn new(
        args: &Args,
        rules: &Rules,
        (cache_megabytes, symmetry): (u32, bool),
        evaluator: BoxedEvaluator,
    ) -> anyhow::Result<Player> {
        let config = SelfPlayConfig {
            search: SearchConfig { symmetry, ..SearchConfig::default() },
            lanes: args.batch,
            simulations: args.simulations,
            full_probability: 1.0,
            cache_megabytes,
            ..SelfPlayConfig::default()
        };
        let identity = WorkerIdentity { run: "bench".to_owned(), worker: "0".repeat(32), seed: 1 };
        let counter = GameCounter::unlimited(0);
        let network =
            Recorder { evaluator, is_recording: Cell::new(false), batches: RefCell::default() };
        let sampler = RulesSampler::single(*rules)?;
        let worker = Worker::new(&config, sampler, identity, counter, network, 0)?;
        Ok(Player { worker, seconds: 0.0, done: WorkerStats::default() })
    }

    /// What was measured so far was warming up.
    fn begin(&mut self) {
        (self.seconds, self.done) = (0.0, WorkerStats::default());
    }

    fn measure(&mut self, device: Device) -> anyhow::Result<()> {
        let before = self.worker.stats();
        self.seconds += slice(device, || {
            self.worker.round(&mut |_| {})?;
            Ok(())
        })?;
        self.done = self.done + (self.worker.stats() - before);
        Ok(())
    }

    /// Plays on for a few rounds that are not measured; the batches that they asked for.
    fn recorded(&mut self) -> anyhow::Result<Vec<Vec<Features>>> {
        self.worker.evaluator().is_recording.set(true);
        for _ in 0..RECORDED {
            self.worker.round(&mut |_| {})?;
        }
        let recorder = self.worker.evaluator();
        recorder.is_recording.set(false);
        Ok(recorder.batches.take())
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
