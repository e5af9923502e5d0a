//! The command `analyse` of both programs: games judged play by play.

mod report;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use gipf_core::Rules;
use gipf_selfplay::{Budget, BuiltIn, Clock, GameState, Player, Timer};

use crate::analysis::{AnalysisError, judge};
use crate::games::PlayedGame;
use crate::games::files::{Notation, Place, each_game, listed};
use crate::messages::Usage;
use crate::named::Named;
use report::Side;

/// Simulations of a decision unless something else is asked for.
const NODES: u32 = 400;

/// What to judge, and how.
#[derive(Debug, clap::Args)]
pub struct AnalyseArgs {
    /// Files of game lines or records, packed by gzip or zstd or not, and folders of such files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How the games are written: lines (of JSON), or official, one game a file
    #[arg(long, value_enum, default_value_t)]
    notation: Notation,
    /// Rules of games in official notation; guessed from the game where it is absent
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// Judge this game of each file alone, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    game: Option<u32>,
    /// Simulations of each decision; 400 unless --movetime is given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    nodes: Option<u32>,
    /// Milliseconds of each decision
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    movetime: Option<u64>,
    /// Print a JSON object for each game instead, one a line
    #[arg(long)]
    json: bool,
}

/// Judges the games and prints what came of it, game by game.
///
/// # Errors
/// [`Usage`] for rules that are none, or that the player does not know, or a player that says nothing of results; a failure where a file
/// cannot be read, or holds what is no game.
pub fn run(args: &AnalyseArgs, by: &Named, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.rules.is_some() && args.notation == Notation::Lines {
        return Err(Usage::error(
            "--rules goes with --notation official: a game line names its own",
        ));
    }
    let rules: Option<Rules> = match &args.rules {
        Some(text) => Some(text.parse().map_err(|error| Usage::error(format!("{error}")))?),
        None => None,
    };
    if let Named::BuiltIn(kind) = by
        && !matches!(kind, BuiltIn::Mcts { .. })
    {
        return Err(Usage::error(AnalysisError::NoOutcomes(kind.to_string()).to_string()));
    }
    let mut player = by.player();
    let mut total = [Side::default(); 2];
    let mut games = 0;
    for path in listed(&args.files)? {
        let mut found = args.game.is_none();
        each_game(&path, args.notation, rules.as_ref(), |place, game| {
            if args.game.is_some_and(|number| number as usize != place.number) {
                return Ok(true);
            }
            found = true;
            if let Named::Trained(file) = by {
                file.check_rules(game.rules())
                    .map_err(|error| Usage::error(format!("{place}: {error}")))?;
            }
            let sides = of_game(args, &mut *player, place, &game, out)?;
            total.iter_mut().zip(&sides).for_each(|(total, side)| total.add(side));
            games += 1;
            Ok(args.game.is_none())
        })?;
        if !found {
            let number = args.game.unwrap_or_default();
            return Err(Usage::error(format!("{} has no game {number}", path.display())));
        }
    }
    if games > 1 && !args.json {
        writeln!(out, "{games} games")?;
        report::write_sides(&total, out)?;
    }
    Ok(())
}

/// Judges one game and prints it; how both sides did.
fn of_game(
    args: &AnalyseArgs,
    player: &mut dyn Player,
    place: Place<'_>,
    game: &PlayedGame,
    out: &mut dyn Write,
) -> anyhow::Result<[Side; 2]> {
    let limit = args.movetime.map(Duration::from_millis);
    let nodes = args.nodes.or(if limit.is_none() { Some(NODES) } else { None });
    let choose = |player: &mut dyn Player, state: &GameState<'_>| {
        let timer = Timer::new(limit);
        let clock = limit.map(|_| &timer as &dyn Clock);
        player.choose(state, &Budget { nodes, clock, ..Budget::default() })
    };
    let mut sides = [Side::default(); 2];
    let mut judged = Vec::new();
    // The first error of writing ends the output, not the search under way.
    let mut written = if args.json { Ok(()) } else { report::write_head(place, game, out) };
    judge(player, game, &choose, |play| {
        sides[play.color.index()].count(&play);
        if args.json {
            judged.push(play);
        } else if written.is_ok() {
            written = report::write_play(&play, out).and_then(|()| out.flush());
        }
    })
    .map_err(|error| fault(place, error))?;
    written?;
    if args.json {
        writeln!(out, "{}", report::json(place, game, &judged, &sides))?;
    } else {
        report::write_sides(&sides, out)?;
    }
    Ok(sides)
}

/// A player that cannot judge is wrong use, whatever else a failure.
fn fault(place: Place<'_>, error: AnalysisError) -> anyhow::Error {
    let text = format!("{place}: {error}");
    match error {
        AnalysisError::Player(_) => anyhow::anyhow!(text),
        AnalysisError::NoOutcomes(_) | AnalysisError::RecordedSideGames(_) => Usage::error(text),
    }
}
