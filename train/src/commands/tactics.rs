//! `gipf tactics`: how many positions with a forced win a player solves, and suites of such positions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use gipf_core::Rules;
use gipf_player::messages::echo;
use gipf_selfplay::tactics::{Puzzle, Solved, Suite, SuiteMaker, solves};
use gipf_selfplay::{
    Budget, BuiltIn, Contestant, Limit, NetworkPlayer, Player, PlayerError, PlayerNameError,
    RandomKey, Timer,
};
use serde_json::{Value, json};

use super::fault::{check_new_file, write_whole};
use super::players::{Patience, PlayerSpec, Terms};
use super::{Output, Usage, input};
use crate::learner::StopFlag;
use crate::progress::Progress;

/// The suites that come with the program, by their rules strings.
const SUITES: [(&str, &str); 6] = [
    ("basic", include_str!("../../../tests/data/tactics/basic.json")),
    ("standard", include_str!("../../../tests/data/tactics/standard.json")),
    ("tournament", include_str!("../../../tests/data/tactics/tournament.json")),
    ("standard+T4Z4D4", include_str!("../../../tests/data/tactics/standard-t4z4d4.json")),
    ("tournament+Z6|D6", include_str!("../../../tests/data/tactics/tournament-z6-d6.json")),
    ("ultimate", include_str!("../../../tests/data/tactics/ultimate.json")),
];

/// Count the positions with a forced win that a player solves, or make a suite of such positions
///
/// A position is solved by a play after which the win is still forced within the plays that the suite names. PLAYER is as
/// for `gipf match`. Without --rules and --suite a network meets the suite of the rules it was trained on first, any other
/// player all suites.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf tactics alphabeta:4\nExample: gipf tactics --make basic --count 20 --seed 7 --out basic.json"
)]
pub(super) struct Args {
    /// Who is to solve them; with --make, the built-in player whose games are searched, alphabeta:2 where it is absent
    #[arg(required_unless_present = "make")]
    player: Option<String>,
    /// Only the suite of these rules
    #[arg(long, conflicts_with_all = ["suite", "make"])]
    rules: Option<String>,
    /// A suite's file in place of those that come with the program
    #[arg(long, value_name = "FILE", conflicts_with = "make")]
    suite: Option<PathBuf>,
    /// Simulations, playouts or positions a decision; 64 where neither depth nor time is given
    #[arg(long, conflicts_with = "make", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Plays that alphabeta looks ahead
    #[arg(long, conflicts_with = "make", value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: Option<u32>,
    /// Milliseconds a decision
    #[arg(long, value_name = "MS", conflicts_with = "make", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    movetime: Option<u64>,
    /// Seed of the player, or of the games that a suite is made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "auto")]
    device: String,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
    /// Make a suite by these rules, from games of a quick player against itself
    #[arg(long, value_name = "RULES", requires = "out")]
    make: Option<String>,
    /// Positions to make
    #[arg(long, default_value_t = 60, requires = "make", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// The new file of the suite to make
    #[arg(long, value_name = "FILE", requires = "make")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    match (&args.player, &args.make, &args.out) {
        (player, Some(rules), Some(file)) => make(args, player.as_deref(), rules, file, out),
        (Some(player), _, _) => score(args, player, out),
        _ => Err(Usage::error("who is to solve the positions? (gipf tactics PLAYER)")),
    }
}

/// A suite ready to be played.
struct Ready {
    rules: Rules,
    puzzles: Vec<Puzzle>,
}

fn ready(text: &str, name: &str) -> anyhow::Result<Ready> {
    let suite: Suite =
        serde_json::from_str(text).with_context(|| format!("{name} is no tactical suite"))?;
    let puzzles = suite.puzzles().with_context(|| name.to_owned())?;
    let rules = suite.rules.parse().with_context(|| name.to_owned())?;
    Ok(Ready { rules, puzzles })
}

/// The suites that the arguments name.
fn suites(args: &Args, spec: &PlayerSpec) -> anyhow::Result<Vec<Ready>> {
    if let Some(path) = &args.suite {
        return Ok(vec![ready(&input::read(path)?, &path.display().to_string())?]);
    }
    let wanted = match args.rules.as_deref().or(spec.rules()) {
        Some(rules) => Some(input::rules(rules)?.to_string()),
        None => None,
    };
    let chosen: Vec<_> = SUITES
        .iter()
        .filter(|(rules, _)| wanted.as_deref().is_none_or(|wanted| wanted == *rules))
        .map(|(rules, text)| ready(text, &format!("the suite of {rules}")))
        .collect::<anyhow::Result<_>>()?;
    if chosen.is_empty() {
        let known: Vec<&str> = SUITES.iter().map(|(rules, _)| *rules).collect();
        return Err(Usage::error(format!(
            "no suite by the rules {} (there are {}; others by --make and --suite)",
            wanted.unwrap_or_default(),
            known.join(", ")
        )));
    }
    Ok(chosen)
}

fn score(args: &Args, name: &str, out: Output) -> anyhow::Result<ExitCode> {
    let spec = PlayerSpec::parse(name)?;
    let suites = suites(args, &spec)?;
    let unbounded = args.depth.is_none() && args.movetime.is_none();
    let limit = Limit {
        nodes: args.nodes.or(unbounded.then_some(64)),
        depth: args.depth,
        time: args.movetime.map(Duration::from_millis),
    };
    let device = super::device(&args.device)?;
    // All of them first: a program that does not know a suite's rules says so before any work is done.
    let mut players = Vec::with_capacity(suites.len());
    for suite in &suites {
        let (precision, patience) = (None, Patience::default());
        let terms = Terms { rules: &suite.rules, limit, device, precision, patience };
        players.push(match spec.contestant(terms)? {
            Contestant::Player { player, .. } => player,
            Contestant::Network { network, .. } => Box::new(NetworkPlayer::new(network)?),
        });
    }
    let stop = StopFlag::on_signals()?;
    let mut progress = Progress::new();
    let mut all = Solved::default();
    let mut lines = Vec::new();
    for (suite, player) in suites.iter().zip(&mut players) {
        progress.stage(&format!("{} on {}", echo(name), suite.rules));
        let mut solved = Solved::default();
        // Solved and tried by the plays to the win.
        let mut by_plays: Vec<Solved> = Vec::new();
        for (number, puzzle) in suite.puzzles.iter().enumerate() {
            if stop.is_set() {
                bail!("stopped");
            }
            progress.update(Some(number as f64 / suite.puzzles.len() as f64), || {
                format!("{} of {} solved", solved.solved, solved.positions)
            });
            let key = RandomKey { seed: args.seed, game: number as u64 };
            let right = attempt(&mut **player, puzzle, key, limit)
                .with_context(|| format!("{}, position {}", suite.rules, number + 1))?;
            let plays = puzzle.plays as usize;
            by_plays.resize(by_plays.len().max(plays + 1), Solved::default());
            by_plays[plays].count(right);
            solved.count(right);
            all.count(right);
        }
        lines.push((suite.rules.to_string(), solved, by_plays));
    }
    progress.finish();
    if args.json {
        let suites: Vec<Value> = lines
            .iter()
            .map(|(rules, solved, by_plays)| {
                let tried = by_plays.iter().enumerate().filter(|(_, solved)| solved.positions > 0);
                let by_plays: serde_json::Map<String, Value> =
                    tried.map(|(plays, solved)| (plays.to_string(), json!(solved))).collect();
                json!({
                    "rules": rules, "solved": solved.solved, "positions": solved.positions,
                    "share": solved.share(), "by_plays": by_plays,
                })
            })
            .collect();
        let answer = json!({
            "player": name, "nodes": limit.nodes, "depth": limit.depth, "movetime": args.movetime, "seed": args.seed,
            "suites": suites, "solved": all.solved, "positions": all.positions, "share": all.share(),
        });
        writeln!(out, "{answer}")?;
    } else {
        for (rules, solved, _) in &lines {
            line(out, rules, *solved)?;
        }
        if lines.len() > 1 {
            line(out, "all", all)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(out: Output, what: &str, solved: Solved) -> std::io::Result<()> {
    let Solved { solved: right, positions } = solved;
    writeln!(
        out,
        "{what:<20} {right:>4} of {positions:>4} solved  {:>5.1}%",
        100.0 * solved.share()
    )
}

/// One position; a player that breaks down over it has not solved it.
fn attempt(
    player: &mut dyn Player,
    puzzle: &Puzzle,
    key: RandomKey,
    limit: Limit,
) -> anyhow::Result<bool> {
    let timer = Timer::new(limit.time);
    let budget = Budget {
        nodes: limit.nodes,
        depth: limit.depth,
        clock: limit.time.is_some().then_some(&timer as _),
        ..Budget::default()
    };
    match solves(player, puzzle, key, &budget) {
        Err(PlayerError::Forfeit(_)) => Ok(false),
        result => Ok(result?),
    }
}

fn make(
    args: &Args,
    player: Option<&str>,
    rules: &str,
    file: &Path,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let rules = input::rules(rules)?;
    let player: BuiltIn =
        player.unwrap_or("alphabeta:2").parse().map_err(|error: PlayerNameError| {
            Usage::error(format!("{error} (--make searches {})", BuiltIn::FORMS))
        })?;
    check_new_file(file, None)?;
    let mut maker = SuiteMaker::new(rules, player, args.seed, args.count as usize)
        .map_err(|error| Usage::error(error.to_string()))?;
    let stop = StopFlag::on_signals()?;
    let mut progress = Progress::new();
    progress.stage(&format!("positions of {rules}"));
    while !maker.is_complete() {
        if stop.is_set() {
            bail!("stopped, and {} is not written", file.display());
        }
        maker.next_game()?;
        let found = maker.suite().positions.len();
        progress.update(Some(found as f64 / f64::from(args.count)), || {
            format!("{found} of {} positions, {} games", args.count, maker.games())
        });
    }
    progress.finish();
    let suite = maker.suite();
    write_whole(file, false, |aside| Ok(fs::write(aside, text(suite)?)?))?;
    writeln!(out, "{} positions of {} games", suite.positions.len(), maker.games())?;
    Ok(ExitCode::SUCCESS)
}

/// The suite as JSON with a position on each line.
fn text(suite: &Suite) -> serde_json::Result<String> {
    let head = Suite { positions: Vec::new(), ..suite.clone() };
    let head = serde_json::to_string(&head)?;
    let positions: Vec<String> =
        suite.positions.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    // The empty list of positions ends the head.
    let head = head.strip_suffix("]}").unwrap_or(&head);
    Ok(format!("{head}\n{}\n]}}\n", positions.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_are_what_they_are_called_and_read_back() {
        for (rules, text) in SUITES {
            let suite: Suite = serde_json::from_str(text).unwrap();
            assert_eq!(suite.rules, rules);
            assert!(suite.positions.len() >= 50, "{rules}: {} positions", suite.positions.len());
            assert_eq!(super::text(&suite).unwrap(), text, "{rules} is written as it stands");
            ready(text, rules).unwrap();
        }
    }
}
