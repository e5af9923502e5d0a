//! The program `gipf-player`: see `gipf-player --help`.
#![forbid(unsafe_code)]

use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gipf_core::{Play, Position, Rules, RulesError};
use gipf_player::games::PlayedGame;
use gipf_player::games::files::nth_game;
use gipf_player::messages::{
    StandardOutput, Usage, arguments, count_of, echo, is_broken_pipe, split_plays, tell_error,
};
use gipf_player::named::Named;
#[cfg(feature = "serve")]
use gipf_player::serve;
use gipf_player::{analyse, drawing, ugi};

/// Plays GIPF as an engine or a service, judges games, and draws positions.
#[derive(Debug, Parser)]
#[command(name = "gipf-player", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Draw a position, or a game's position after its last play or after --at
    #[command(after_help = "Example: gipf-player show --rules standard --plays 'e1-e2;i4-h5'")]
    Show {
        /// File of game lines or records (one JSON object a line, packed by gzip or zstd or not), in place of --rules, --position, --plays
        #[arg(conflicts_with_all = ["rules", "position", "plays"])]
        file: Option<PathBuf>,
        /// Which game of the file, from 1
        #[arg(long, default_value_t = 1, requires = "file", value_parser = clap::value_parser!(u32).range(1..))]
        game: u32,
        /// Number of plays after which to draw; the last one where it is absent
        #[arg(long, value_name = "PLAYS")]
        at: Option<usize>,
        /// Rules string
        #[arg(long, default_value = "standard")]
        rules: String,
        /// Position text to start from
        #[arg(long, value_name = "TEXT")]
        position: Option<String>,
        /// Plays to make, joined by ';'
        #[arg(long, value_name = "P;P…", allow_hyphen_values = true)]
        plays: Option<String>,
    },
    /// Serve a trained player over HTTP: a page for the browser, and a JSON interface described at /openapi.json
    #[cfg(feature = "serve")]
    #[command(after_help = "Example: gipf-player serve shipped:standard --port 8080")]
    Serve {
        #[command(flatten)]
        args: serve::Args,
        /// Who plays: shipped:NAME (a trained player that comes with this program) or a player's file
        player: String,
    },
    /// Speak the engine protocol UGI on standard input and output
    #[command(
        after_help = "Example: printf 'ugi\\nposition startpos\\ngo nodes 100\\nquit\\n' | gipf-player ugi --player greedy"
    )]
    Ugi {
        /// Who plays: shipped:NAME (a trained player that comes with this program), a player's file, random, greedy,
        /// alphabeta[:DEPTH] or mcts[:PLAYOUTS]
        #[arg(long, default_value = "greedy")]
        player: String,
    },
    /// Judge each play of games: its value, the best play, and what was lost
    #[command(
        after_help = "Example: gipf-player analyse game.jsonl --player shipped:standard --nodes 1000"
    )]
    Analyse {
        #[command(flatten)]
        args: analyse::AnalyseArgs,
        /// Who judges: shipped:NAME, a player's file, or mcts[:PLAYOUTS]
        #[arg(long, default_value = "shipped:standard")]
        player: String,
    },
}

fn main() -> ExitCode {
    let cli: Cli = match arguments() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let mut out = StandardOutput(io::stdout().lock());
    let result = run(cli, &mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell_error(&format!("{error:#}"));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn run(cli: Cli, out: &mut impl Write) -> anyhow::Result<()> {
    match cli.command {
        Command::Show { file, game, at, rules, position, plays } => {
            let game = match file {
                Some(file) => nth_game(&file, game as usize)?,
                None => from_arguments(&rules, position.as_deref(), &plays.unwrap_or_default())?,
            };
            show(&game, at, out)
        }
        #[cfg(feature = "serve")]
        Command::Serve { args, player } => serve::run(&args, &Named::parse(&player)?, out),
        Command::Analyse { args, player } => analyse::run(&args, &Named::parse(&player)?, out),
        Command::Ugi { player } => {
            let named = Named::parse(&player)?;
            let rules = named.rules()?;
            let mut engine = match named {
                Named::BuiltIn(built_in) => ugi::Engine::new(built_in.player(), rules, out)?,
                Named::Trained(file) => ugi::Engine::trained(file, rules, out)?,
            };
            // A lock of standard input cannot go to another thread.
            Ok(engine.run(BufReader::new(io::stdin()))?)
        }
    }
}

/// Draws the position after so many plays of a game, after the last one where no number is given.
fn show(game: &PlayedGame, at: Option<usize>, out: &mut impl Write) -> anyhow::Result<()> {
    let at = at.unwrap_or(game.plays.len());
    let length = count_of(game.plays.len(), "play");
    let Some(position) = game.positions.get(at) else {
        return Err(Usage::error(format!("--at {at}: the game has {length}")));
    };
    write!(out, "{}", drawing::board(position))?;
    if at > 0 {
        writeln!(out, "after {at} of {length}, the last one {}", game.plays[at - 1])?;
    }
    Ok(())
}

/// The game that the arguments spell out.
fn from_arguments(rules: &str, start: Option<&str>, plays: &str) -> anyhow::Result<PlayedGame> {
    let rules: Rules =
        rules.parse().map_err(|error: RulesError| Usage::error(error.to_string()))?;
    let start = match start {
        Some(text) => Position::parse(&rules, text)
            .map_err(|error| Usage::error(format!("position '{}': {error}", echo(text))))?,
        None => rules.start(),
    };
    let mut game = PlayedGame::new(start);
    for (text, number) in split_plays(plays)?.into_iter().zip(1..) {
        let fault = |error: &dyn std::fmt::Display| {
            Usage::error(format!("play {number} ('{}'): {error}", echo(text)))
        };
        let play: Play = text.parse().map_err(|error| fault(&error))?;
        game.play(play).map_err(|error| fault(&error))?;
    }
    Ok(game)
}
