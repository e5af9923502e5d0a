//! `gipf bench`: how fast this machine does each part.

mod sim;
mod time;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gipf_core::{Play, Position, Rules, playout};
use gipf_model::{Architecture, Checkpoint, Evaluation, Evaluator, Features};
use gipf_model_torch::{Device, Learner, LearnerConfig, TrainBatch, TrainSample, device_name};
use gipf_player::messages::echo;
use gipf_selfplay::{GameCounter, RulesSampler, SelfPlayConfig, Worker, WorkerIdentity};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::players::PlayerSpec;
use super::{Output, Usage, input};
use crate::evaluators::evaluator;

/// Measure a part on one thread: the speed of simulator, evaluation, self-play or training, or how exactly time is kept
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf bench eval --architecture 6x64 --batch 128")]
pub(super) struct Args {
    /// sim (random games), eval (network evaluations), selfplay (searched plays), train (training samples) or time (a player
    /// against its copy at equal time: what both used, and how late they were)
    #[arg(value_enum)]
    part: Part,
    /// Rules string
    #[arg(long, default_value = "standard")]
    rules: String,
    /// Network size, blocks x channels
    #[arg(long, default_value = "4x32")]
    architecture: String,
    /// Positions in a batch (for selfplay: games at once)
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Seconds to measure, 0.1 to 600
    #[arg(long, default_value_t = 3.0, value_parser = seconds)]
    seconds: f64,
    /// For time: the player, as gipf match names it
    #[arg(long, default_value = "alphabeta")]
    player: String,
    /// For time: milliseconds a decision
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    movetime: u32,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Part {
    Sim,
    Eval,
    Selfplay,
    Train,
    Time,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let rules = input::rules(&args.rules)?;
    if matches!(args.part, Part::Selfplay | Part::Time) && !rules.is_searchable() {
        return Err(Usage::error(format!(
            "rules {rules}: searched games need the chances of side games"
        )));
    }
    let device = super::device(&args.device)?;
    let time = Duration::from_secs_f64(args.seconds);
    let figures = match args.part {
        Part::Sim => sim::simulator(&rules, time),
        Part::Eval => evaluation(args, &rules, device, time)?,
        Part::Selfplay => self_play(args, &rules, device, time)?,
        Part::Train => training(args, &rules, device, time)?,
        Part::Time => {
            let limit = Duration::from_millis(u64::from(args.movetime));
            time::fairness(&PlayerSpec::parse(&args.player)?, &rules, device, limit, time)?
        }
    };
    if args.json {
        writeln!(out, "{figures}")?;
    } else if let Value::Object(figures) = figures {
        for (name, value) in figures {
            match value.as_f64() {
                Some(number) if number < 10.0 => writeln!(out, "{name:<24} {number:.3}")?,
                Some(number) => writeln!(out, "{name:<24} {number:.1}")?,
                None => writeln!(out, "{name:<24} {}", value.as_str().unwrap_or_default())?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.1 to 600".to_owned()),
    }
}

fn checkpoint(args: &Args, rules: &Rules) -> anyhow::Result<Checkpoint> {
    let architecture: Architecture = args.architecture.parse().map_err(|error| {
        Usage::error(format!("--architecture {}: {error}", echo(&args.architecture)))
    })?;
    Ok(Checkpoint::initial(architecture, vec![rules.to_string()], "bench", 1)?)
}

/// Positions of random games.
fn positions(rules: &Rules, count: usize) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut actions = Vec::new();
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        let mut position = rules.start();
        playout(&mut position, &mut rng, (positions.len() % 40) as u32, &mut actions);
        if position.decider().is_some() {
            positions.push(position);
        }
    }
    positions
}

fn features(rules: &Rules, count: usize) -> Vec<(Features, usize)> {
    let mut actions: Vec<Play> = Vec::new();
    let fill = |position: Position| {
        position.actions(&mut actions);
        let mut features = Features::new();
        features.fill(&position, &actions);
        (features, actions.len())
    };
    positions(rules, count).into_iter().map(fill).collect()
}

fn evaluation(args: &Args, rules: &Rules, device: Device, time: Duration) -> anyhow::Result<Value> {
    let mut network = evaluator(&checkpoint(args, rules)?, device)?;
    let batch: Vec<Features> =
        features(rules, args.batch as usize).into_iter().map(|(features, _)| features).collect();
    let mut answers = vec![Evaluation::default(); batch.len()];
    network.evaluate(&batch, &mut answers)?;
    let (mut rounds, started) = (0_u64, Instant::now());
    while started.elapsed() < time {
        network.evaluate(&batch, &mut answers)?;
        rounds += 1;
    }
    let evaluated = rounds as f64 * batch.len() as f64;
    Ok(
        json!({ "evaluator": network.name(), "positions_per_second": evaluated / started.elapsed().as_secs_f64() }),
    )
}

fn self_play(args: &Args, rules: &Rules, device: Device, time: Duration) -> anyhow::Result<Value> {
    let network = evaluator(&checkpoint(args, rules)?, device)?;
    let config = SelfPlayConfig { lanes: args.batch, ..SelfPlayConfig::default() };
    let identity = WorkerIdentity { run: "bench".to_owned(), worker: "0".repeat(32), seed: 1 };
    let counter = GameCounter::unlimited(0);
    let mut worker =
        Worker::new(&config, RulesSampler::single(*rules)?, identity, counter, network, 0)?;
    let started = Instant::now();
    while started.elapsed() < time {
        worker.round(&mut |_| {})?;
    }
    let (stats, seconds) = (worker.stats(), started.elapsed().as_secs_f64());
    Ok(json!({
        "plays_per_second": stats.plays as f64 / seconds,
        "evaluations_per_second": stats.evaluations as f64 / seconds,
        "batch_fill_percent": 100.0 * stats.fill(),
    }))
}

fn training(args: &Args, rules: &Rules, device: Device, time: Duration) -> anyhow::Result<Value> {
    let config = LearnerConfig { threads: 1, ..LearnerConfig::default() };
    let mut learner = Learner::from_checkpoint(&checkpoint(args, rules)?, config, device)?;
    let sample = |(features, actions): (Features, usize)| TrainSample {
        features,
        policy: vec![1.0 / actions as f32; actions],
        policy_weight: 1.0,
        value: [1.0, 0.0, 0.0],
        value_weight: 1.0,
        plays_left: 30.0,
        plays_left_weight: 1.0,
    };
    let samples: Vec<TrainSample> =
        features(rules, args.batch as usize).into_iter().map(sample).collect();
    learner.train_step(&TrainBatch::pack(&samples)?, 1e-4)?;
    let (mut steps, started) = (0_u64, Instant::now());
    while started.elapsed() < time {
        learner.train_step(&TrainBatch::pack(&samples)?, 1e-4)?;
        steps += 1;
    }
    let trained = steps as f64 * samples.len() as f64;
    Ok(json!({
        "network": format!("{} on {}", args.architecture, device_name(device)),
        "samples_per_second": trained / started.elapsed().as_secs_f64(),
    }))
}
