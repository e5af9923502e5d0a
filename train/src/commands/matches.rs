//! `gipf match`: two players against each other.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use gipf_core::DEFAULT_MAX_PLAYS;
use gipf_selfplay::{Limit, Match, MatchConfig, MatchError, MatchGame, MatchResult};
use serde_json::json;

use super::fault::check_new_file;
use super::players::PlayerSpec;
use super::{Output, Usage, input};
use crate::learner::{StopFlag, elo_text};
use crate::progress::{Progress, human_time};

/// Let two players play a match: every opening twice, with colours swapped
///
/// A player is random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], a checkpoint file, puct:CHECKPOINT (PUCT in place
/// of Gumbel search), or run:DIR@latest, run:DIR@best, run:DIR@STEP for a checkpoint of a run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf match run:runs/quickstart-1@latest greedy --games 100 --nodes 64"
)]
pub(super) struct Args {
    /// The first player
    a: String,
    /// The second player
    b: String,
    /// Rules string; the network's own where it is absent, standard where there is no network
    #[arg(long)]
    rules: Option<String>,
    /// Number of games, even
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    games: u32,
    /// Simulations a decision for players with a network
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    nodes: u32,
    /// Plays after which a game stops unfinished
    #[arg(long, default_value_t = DEFAULT_MAX_PLAYS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_plays: u32,
    /// Seed of openings and players
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games played at once; their positions make one batch
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrent: u32,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "auto")]
    device: String,
    /// Write the games to this new file, one JSON record a line
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    if args.games % 2 == 1 {
        return Err(Usage::error(format!(
            "--games {}: every opening is played twice, so the number is even",
            args.games
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
    if let Some(path) = &args.records {
        check_new_file(path, None)?;
    }
    let judge = match a.judge(device)? {
        Some(judge) => Some(judge),
        None => b.judge(device)?,
    };
    let config = MatchConfig {
        games: args.games,
        max_plays: args.max_plays,
        concurrent: args.concurrent,
        ..MatchConfig::new(rules, args.seed)
    };
    let stop = StopFlag::on_signals()?;
    let mut failed: Option<std::io::Error> = None;
    let limit = Limit::nodes(args.nodes);
    let contestants = vec![[a.contestant(limit, device)?, b.contestant(limit, device)?]];
    let mut game = Match::new(config, contestants, judge).map_err(|error| match error {
        MatchError::Config(text) => Usage::error(text),
        other => other.into(),
    })?;
    // Only now is everything known to be right.
    let mut records = match &args.records {
        Some(path) => Some(BufWriter::new(
            File::create_new(path).with_context(|| format!("cannot write {}", path.display()))?,
        )),
        None => None,
    };
    let mut progress = Progress::new();
    progress.stage(&format!("{} against {}", args.a, args.b));
    let started = std::time::Instant::now();
    let games = args.games;
    let result = game.run(
        &|| stop.is_set(),
        &mut |so_far: &MatchResult| {
            let done = so_far.games as f64 / f64::from(games);
            progress.update(Some(done), || {
                let left = if done > 0.0 {
                    started.elapsed().as_secs_f64() * (1.0 / done - 1.0)
                } else {
                    0.0
                };
                format!(
                    "{} of {games} games, {}, {} left",
                    so_far.games,
                    score_text(so_far),
                    human_time(left)
                )
            });
        },
        &mut |game: MatchGame| {
            if let (Some(file), None) = (records.as_mut(), failed.as_ref()) {
                failed = writeln!(file, "{}", game.record.to_json()).err();
            }
        },
    )?;
    progress.finish();
    if failed.is_none() {
        failed = records.as_mut().and_then(|file| file.flush().err());
    }
    if let (Some(error), Some(path)) = (failed, &args.records) {
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    if args.json {
        let elo = result.elo();
        let answer = json!({
            "a": args.a, "b": args.b, "rules": rules.to_string(), "nodes": args.nodes, "seed": args.seed,
            "games": result.games, "a_wins": result.a_total(), "b_wins": result.b_total(), "unfinished": result.unfinished,
            "a_wins_by_color": result.a_wins, "b_wins_by_color": result.b_wins, "pairs": result.pairs.counts,
            "score": result.score(), "elo": elo.difference, "elo_low": elo.low, "elo_high": elo.high,
            "mean_length": result.mean_length(), "stopped": result.stopped,
        });
        writeln!(out, "{answer}")?;
    } else {
        writeln!(
            out,
            "{} against {}, {} of {games} games, rules {rules}",
            args.a, args.b, result.games
        )?;
        writeln!(out, "score    {}", score_text(&result))?;
        writeln!(out, "Elo      {}", elo_text(&result))?;
        writeln!(out, "White    {:.1}% of the points", 100.0 * result.white_share())?;
        writeln!(out, "length   {:.1} plays a game", result.mean_length())?;
        if result.stopped {
            writeln!(out, "stopped before the end")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Wins, losses, unfinished games and the score of the first player.
pub(super) fn score_text(result: &MatchResult) -> String {
    if result.games == 0 {
        return "no game finished".to_owned();
    }
    format!(
        "{} won, {} lost, {} unfinished ({:.1}%)",
        result.a_total(),
        result.b_total(),
        result.unfinished,
        100.0 * result.score()
    )
}
