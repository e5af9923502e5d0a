//! `gipf bench`: how fast this machine does each part.

mod eval;
mod intake;
mod search;
mod selfplay;
mod sim;
mod time;
mod train;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use gipf_core::{Play, Position, Rules, playout};
use gipf_model::{Architecture, Checkpoint, Features};
use gipf_player::messages::echo;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::players::PlayerSpec;
use super::{Output, Usage, input};
use crate::config::CpuPrecision;

/// Measure a part on one thread: the speed of simulator, evaluation, search, self-play or training, or how exactly time is
/// kept
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf bench eval --architecture 6x64 --batch 128")]
pub(super) struct Args {
    /// sim (random games), eval (network evaluations), search (one game's search), selfplay (searched plays of many games),
    /// train (training samples), time (a player against its copy at equal time: what both used, and how late they were) or intake
    /// (games that a learner takes in from a NATS server)
    #[arg(value_enum)]
    part: Part,
    /// Rules string
    #[arg(long, default_value = "standard")]
    rules: String,
    /// Network size, blocks x channels
    #[arg(long, default_value = "4x32")]
    architecture: String,
    /// The network of this checkpoint instead of a new one
    #[arg(long, value_name = "FILE", conflicts_with = "architecture")]
    checkpoint: Option<PathBuf>,
    /// Simulations a decision (search, selfplay)
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    simulations: u32,
    /// Megabytes of the cache that selfplay is measured with, beside without
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    cache_megabytes: u32,
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
    /// Numbers of the CPU's network that eval or selfplay measures [default: both, and f32 for selfplay]
    #[arg(long, value_enum)]
    precision: Option<CpuPrecision>,
    /// Kernel that eval measures: avx512, avx2, portable, avx512-vnni or avx-vnni [default: the fastest]
    #[arg(long)]
    kernel: Option<String>,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "cpu")]
    device: String,
    /// For intake: the NATS server, which the measurement may fill with 2 GB
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    /// For intake: real games, as a run has them in its folder games
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Part {
    Sim,
    Eval,
    Search,
    Selfplay,
    Train,
    Time,
    Intake,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let rules = input::rules(&args.rules)?;
    if matches!(args.part, Part::Search | Part::Selfplay | Part::Time) && !rules.is_searchable() {
        return Err(Usage::error(format!(
            "rules {rules}: a search needs the chances of side games"
        )));
    }
    let device = super::device(&args.device)?;
    let time = Duration::from_secs_f64(args.seconds);
    let figures = match args.part {
        Part::Sim => sim::simulator(&rules, time),
        Part::Eval => eval::evaluation(args, &rules, device, time)?,
        Part::Search => search::one_game(args, &rules, device, time)?,
        Part::Selfplay => selfplay::self_play(args, &rules, device, time)?,
        Part::Intake => intake::intake(args, time)?,
        Part::Train => train::training(args, &rules, device, time)?,
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
    if let Some(path) = &args.checkpoint {
        return Ok(Checkpoint::load(path)?);
    }
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
