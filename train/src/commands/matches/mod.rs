//! `gipf match`: two players against each other.

mod records;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use gipf_core::{DEFAULT_MAX_PLAYS, Rules};
use gipf_model_torch::Device;
use gipf_selfplay::{
    Contestant, Limit, Match, MatchConfig, MatchError, MatchGame, MatchResult, Sprt,
};

use super::players::{Patience, PlayerSpec, Terms, threads};
use super::{Output, Usage, input};
use crate::config::CpuPrecision;
use crate::learner::StopFlag;
use crate::progress::Progress;
use records::{MatchIdentity, RecordsFile};

/// Games of a match without a number of them, and the most of one that ends by a test.
const GAMES: u32 = 200;
const TESTED_GAMES: u32 = 20_000;

/// Let two players play a match: every opening twice, with colours swapped
///
/// A player is random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], ugi:COMMAND (a program that speaks UGI) or a network:
/// shipped:NAME (a trained player that comes with this program), a checkpoint file, or run:DIR@latest, run:DIR@best,
/// run:DIR@STEP for a checkpoint of a run; puct: before a network makes it search by PUCT. A number in a player's name fixes what its decisions cost, whatever the match's. A player that fails, hangs
/// or makes an illegal play loses that game, and the match goes on.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf match run:runs/quickstart-1@latest shipped:standard --games 100 --nodes 64\n\
                        Example: gipf match run:runs/a@latest run:runs/a@best --movetime 50 --sprt 0,30 --records games.jsonl"
)]
pub(super) struct Args {
    /// The first player
    a: String,
    /// The second player
    b: String,
    /// Rules string; the network's own where it is absent, standard where there is no network
    #[arg(long)]
    rules: Option<String>,
    /// Number of games, even; with --sprt the most that are played [default: 200; with --sprt 20000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: Option<u32>,
    /// Equal work: simulations or playouts a decision; alphabeta looks 4 plays ahead [default: 64]
    #[arg(long, conflicts_with = "movetime", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    nodes: Option<u32>,
    /// Equal time: milliseconds a decision
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=3_600_000))]
    movetime: Option<u32>,
    /// End as soon as a test decides whether A's lead in Elo points is E0 or E1 (pentanomial, on whole pairs)
    #[arg(long, value_name = "E0,E1", value_parser = leads, allow_hyphen_values = true)]
    sprt: Option<Leads>,
    /// How often the test may decide for E1 though E0 holds
    #[arg(long, requires = "sprt", default_value_t = 0.05, value_parser = rate)]
    alpha: f64,
    /// How often the test may decide for E0 though E1 holds
    #[arg(long, requires = "sprt", default_value_t = 0.05, value_parser = rate)]
    beta: f64,
    /// Plays after which a game stops unfinished
    #[arg(long, default_value_t = DEFAULT_MAX_PLAYS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_plays: u32,
    /// Seed of openings and players
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads, each with players of its own [default: the cores, or 1 with a network on a GPU; with --movetime half of the
    /// physical cores, and never more than them: a game that waits for a core would lose time]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Games of networks that go on at once with --nodes, over all threads; their positions make one batch a thread
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrent: u32,
    /// Milliseconds that a UGI program may take beyond --movetime before it is stopped and loses
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=3_600_000))]
    grace: u32,
    /// Seconds that a UGI program may take for a decision with --nodes
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    hang: u32,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "auto")]
    device: String,
    /// Numbers that networks compute with on the CPU [default: int8 where the checkpoint is calibrated for it, else f32]
    #[arg(long, value_enum)]
    precision: Option<CpuPrecision>,
    /// The same for the second player, where it is to be another
    #[arg(long, value_enum, value_name = "PRECISION")]
    precision_b: Option<CpuPrecision>,
    /// Write the games to this file, one JSON record a line. A match that was stopped, even killed, goes on where it was when
    /// it is started with its file again: the games in it count, the missing ones are played
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// The two leads of `--sprt`.
#[derive(Debug, Clone, Copy)]
struct Leads(f64, f64);

fn leads(text: &str) -> Result<Leads, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.is_finite());
    text.split_once(',')
        .and_then(|(low, high)| Some(Leads(number(low)?, number(high)?)))
        .filter(|Leads(low, high)| low < high)
        .ok_or_else(|| "not two Elo differences E0,E1 with E0 below E1".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate < 0.5 => Ok(rate),
        _ => Err("not a rate above 0 and below 0.5".to_owned()),
    }
}

impl Args {
    /// What each decision may cost.
    fn limit(&self) -> Limit {
        match self.movetime {
            Some(time) => Limit::time(Duration::from_millis(u64::from(time))),
            None => Limit::nodes(self.nodes.unwrap_or(64)),
        }
    }

    fn precision_b(&self) -> Option<CpuPrecision> {
        self.precision_b.or(self.precision)
    }

    fn games(&self) -> u32 {
        self.games.unwrap_or(if self.sprt.is_some() { TESTED_GAMES } else { GAMES })
    }

    /// How many games go on at once, each on a thread, or with a share of the batches' games.
    fn threads(&self, players: [&PlayerSpec; 2], device: Device) -> anyhow::Result<u32> {
        let on_gpu =
            device != Device::Cpu && players.iter().any(|player| player.checkpoint().is_some());
        let threads = threads(self.threads, self.movetime.is_some(), on_gpu)?;
        Ok(threads.min(self.games()))
    }
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    if args.games() % 2 == 1 {
        return Err(Usage::error(format!(
            "--games {}: every opening is played twice, so the number is even",
            args.games()
        )));
    }
    let a = PlayerSpec::parse(&args.a)?;
    let b = PlayerSpec::parse(&args.b)?;
    let rules = args.rules.as_deref().or(a.rules()).or(b.rules()).unwrap_or("standard");
    let rules = input::rules(rules)?;
    if !rules.is_searchable() {
        return Err(Usage::error(format!(
            "rules {rules}: a match needs the chances of side games"
        )));
    }
    let device = super::device(&args.device)?;
    let threads = args.threads([&a, &b], device)?;
    let players = [(&a, args.precision), (&b, args.precision_b())];
    let identity = MatchIdentity::new(players, &rules, args.limit(), args.seed, args.max_plays);
    if let Some(path) = &args.records {
        records::check(path, &identity)?;
    }
    let test =
        args.sprt.map(|Leads(elo0, elo1)| Sprt { elo0, elo1, alpha: args.alpha, beta: args.beta });
    let config = MatchConfig {
        games: args.games(),
        max_plays: args.max_plays,
        concurrent: args.concurrent,
        sprt: test,
        worker: identity.nonce(),
        ..MatchConfig::new(rules, args.seed)
    };
    let judge = match a.judge(device)? {
        Some(judge) => Some(judge),
        None => b.judge(device)?,
    };
    let contestants = contestants(args, [&a, &b], threads, &rules, device)?;
    let mut game = Match::new(config, contestants, judge).map_err(|error| match error {
        MatchError::Config(_) | MatchError::Sprt(_) => Usage::error(error.to_string()),
        other => other.into(),
    })?;
    if let Some(fewest) =
        test.map(|test| test.fewest_games()).filter(|&least| least > u64::from(args.games()))
    {
        tracing::warn!(
            "--games {}: the test cannot show the lead of --sprt before {fewest} games",
            args.games()
        );
    }
    let stop = StopFlag::on_signals()?;
    for player in [&a, &b] {
        player.warn_of_unknown([&rules]);
    }
    // Only now is everything known to be right.
    let mut records = None;
    if let Some(path) = &args.records {
        let (file, games) = RecordsFile::open(path, &identity)?;
        for played in &games {
            game.take_up(played).with_context(|| path.display().to_string())?;
        }
        records = Some(file);
    }
    let result = play(args, &mut game, &stop, records)?;
    report::write(args, &identity, threads, &result, out)?;
    Ok(ExitCode::SUCCESS)
}

/// A pair of contestants for each thread.
fn contestants(
    args: &Args,
    players: [&PlayerSpec; 2],
    threads: u32,
    rules: &Rules,
    device: Device,
) -> anyhow::Result<Vec<[Contestant; 2]>> {
    let patience = Patience {
        grace: Duration::from_millis(u64::from(args.grace)),
        hang: Duration::from_secs(u64::from(args.hang)),
    };
    let terms = Terms { rules, limit: args.limit(), device, precision: args.precision, patience };
    let terms_b = Terms { precision: args.precision_b(), ..terms };
    let [a, b] = players;
    (0..threads).map(|_| Ok([a.contestant(terms)?, b.contestant(terms_b)?])).collect()
}

/// Plays what is left of the match, shows how it goes and writes the games.
fn play(
    args: &Args,
    game: &mut Match,
    stop: &StopFlag,
    records: Option<RecordsFile>,
) -> anyhow::Result<MatchResult> {
    let mut progress = Progress::new();
    progress.stage(&format!("{} against {}", args.a, args.b));
    let (started, games, before) = (Instant::now(), args.games(), game.result().games);
    if before > 0 {
        progress.note(&format!("{before} games are there already"));
    }
    let records = Mutex::new(records);
    let failed = AtomicBool::new(false);
    let mut failure = None;
    let result = game.run(
        &|| stop.is_set() || failed.load(Ordering::Relaxed),
        &mut |so_far: &MatchResult| {
            let done = so_far.games as f64 / f64::from(games);
            progress.update(Some(done), || {
                let seconds = started.elapsed().as_secs_f64();
                let pace = seconds / (so_far.games - before).max(1) as f64;
                let left = pace * (u64::from(games).saturating_sub(so_far.games)) as f64;
                report::progress_text(so_far, games, left)
            });
        },
        &mut |game: MatchGame| {
            let mut records = records.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // What failed may have torn its last line: nothing may stand behind that.
            if failed.load(Ordering::Relaxed) {
                return;
            }
            if let Some(Err(error)) = records.as_mut().map(|file| file.write(&game)) {
                failure.get_or_insert(error);
                failed.store(true, Ordering::Relaxed);
            }
        },
    )?;
    progress.finish();
    let records = records.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let (None, Some(mut file)) = (&failure, records) {
        failure = file.sync().err();
    }
    if let (Some(error), Some(path)) = (failure, &args.records) {
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    Ok(result)
}
