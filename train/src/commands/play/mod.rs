//! `gipf play`: a game in the terminal.

mod choices;
mod game;
mod input;
mod lines;
mod seat;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use gipf_core::{Color, DEFAULT_MAX_PLAYS, Rules};
use gipf_model_torch::Device;
use gipf_selfplay::{BuiltIn, Limit, Player, nearest_name};

use super::fault::check_new_file;
use super::players::{Patience, PlayerSpec, Terms};
use super::{Output, Usage, input as given};
use game::Game;
use gipf_player::messages::{count_of, echo};
use input::StoppableInput;
use seat::Seat;
use table::Table;

/// Play a game in the terminal: people, built-in players and networks in any pairing
///
/// A player is human, random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS] or a network: shipped:NAME (a trained player that
/// comes with this program), a checkpoint file, or run:DIR@latest, run:DIR@best, run:DIR@STEP for a checkpoint of a run;
/// puct: before a network makes it search by PUCT. At the prompt a play is typed as its text or chosen by its number;
/// `help` lists the other words.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf play human shipped:standard\n\
                        Example: gipf play human run:runs/quickstart-1@latest --nodes 400 --save game.jsonl")]
pub(super) struct Args {
    /// Who plays White
    #[arg(value_name = "A", default_value = "human")]
    white: String,
    /// Who plays Black
    #[arg(value_name = "B", default_value = "greedy")]
    black: String,
    /// Rules string; the network's own where it is absent, standard where there is no network
    #[arg(long, conflicts_with = "load")]
    rules: Option<String>,
    /// Position text to start from
    #[arg(long, value_name = "TEXT", conflicts_with = "load")]
    position: Option<String>,
    /// Simulations a decision for players with a network
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    nodes: u32,
    /// Seed of the players and of side games; drawn from the clock where it is absent
    #[arg(long)]
    seed: Option<u64>,
    /// Plays after which the game stops unfinished [default: 500, or that of the loaded record]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_plays: Option<u32>,
    /// Go on with the game of this file: a game line or a record, the first where there are several
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,
    /// Write the game to this new file when it ends or stops, as a record; Ctrl-C stops it too
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Let --save replace a file that exists
    #[arg(long, requires = "save")]
    overwrite: bool,
    /// No colours, even in a terminal
    #[arg(long)]
    plain: bool,
    /// cpu, cuda, cuda:N or auto
    #[arg(long, default_value = "auto")]
    device: String,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.save {
        check_new_file(path, Some(args.overwrite))?;
    }
    let device = super::device(&args.device)?;
    let specs = [spec(&args.white)?, spec(&args.black)?];
    let mut game = match &args.load {
        Some(path) => Game::load(path)?,
        None => {
            let own = specs.iter().flatten().find_map(PlayerSpec::rules);
            let rules = given::rules(args.rules.as_deref().or(own).unwrap_or("standard"))?;
            let start = given::position(&rules, args.position.as_deref(), None)?;
            Game::new(start, DEFAULT_MAX_PLAYS, 0)
        }
    };
    game.seed = args.seed.unwrap_or_else(clock_seed);
    let loaded = game.plays().len();
    if let Some(limit) = args.max_plays.filter(|&limit| (limit as usize) < loaded) {
        return Err(Usage::error(format!(
            "--max-plays {limit}: the loaded game has {} already",
            count_of(loaded, "play")
        )));
    }
    game.max_plays = args.max_plays.unwrap_or(game.max_plays).max(loaded as u32);
    let rules = *game.position().rules();
    let hints = match specs.iter().flatten().find(|spec| is_network(spec)) {
        Some(network) => player(network, &rules, args.nodes, device)?,
        None => BuiltIn::Greedy.player(),
    };
    let mut seats = [Seat::Human, Seat::Human];
    for (seat, spec) in seats.iter_mut().zip(&specs) {
        if let Some(spec) = spec {
            *seat = Seat::Computer {
                player: player(spec, &rules, args.nodes, device)?,
                searches: is_network(spec),
            };
        }
    }
    // Where side games are recorded the table refuses networks.
    if rules.is_searchable() {
        specs.iter().flatten().for_each(|player| player.warn_of_unknown([&rules]));
    }
    // A game that is not to be saved ends as any program does on a signal.
    let (mut plain, mut stoppable);
    let mut stop = None;
    let input: &mut dyn BufRead = if args.save.is_some() {
        stoppable = StoppableInput::start().context("cannot read the input")?;
        stop = Some(stoppable.stop());
        &mut stoppable
    } else {
        plain = io::stdin().lock();
        &mut plain
    };
    let mut table = Table::new(game, seats, hints, input, out);
    table.stop = stop;
    table.nodes = args.nodes;
    table.color = !args.plain && io::stdout().is_terminal() && !no_color();
    let played = table.run();
    // What was played is saved even where a player failed, or the terminal is gone.
    if let Some(path) = args.save.as_ref().filter(|_| played.is_ok() || table.plays() > loaded) {
        table.save(path, args.overwrite)?;
    }
    played?;
    Ok(ExitCode::SUCCESS)
}

/// The computer player of this name; `None` for a person.
fn spec(text: &str) -> anyhow::Result<Option<PlayerSpec>> {
    if text == "human" {
        return Ok(None);
    }
    let other = text.parse::<BuiltIn>().is_err() && !Path::new(text).exists();
    let names = [&["human"][..], &BuiltIn::NAMES].concat();
    if other && nearest_name(text, &names).as_deref() == Some("human") {
        return Err(Usage::error(format!("no player '{}'; did you mean human?", echo(text))));
    }
    PlayerSpec::parse(text).map(Some)
}

fn player(
    spec: &PlayerSpec,
    rules: &Rules,
    nodes: u32,
    device: Device,
) -> anyhow::Result<Box<dyn Player>> {
    let (limit, precision) = (Limit::nodes(nodes), None);
    let terms = Terms { rules, limit, device, precision, patience: Patience::default() };
    Ok(spec.contestant(terms)?.into_player()?)
}

fn is_network(spec: &PlayerSpec) -> bool {
    spec.checkpoint().is_some()
}

fn clock_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 >> 8
}

/// Whether the user wants no colours (no-color.org).
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Whose seat it is, for the greeting.
fn seat_name(color: Color, seat: &Seat) -> String {
    match seat {
        Seat::Human => format!("{color}: human"),
        Seat::Computer { player, .. } => format!("{color}: {}", player.name()),
    }
}
