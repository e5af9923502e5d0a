//! The program `gipf-player`: see `gipf-player --help`.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Parser, Subcommand};
use gipf_core::{Play, Position, Rules};
use gipf_player::desk::text;
use gipf_player::messages::{
    StandardOutput, Usage, arguments, count_of, echo, is_broken_pipe, one_line, split_plays,
};
use gipf_player::named::Named;
#[cfg(feature = "serve")]
use gipf_player::page::Page;
#[cfg(feature = "serve")]
use gipf_player::serve::{Limits, Service};
use gipf_player::{drawing, ugi};

/// Plays GIPF as an engine or a service, and draws positions and games.
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
        /// File of game lines or records (one JSON object a line, not packed), in place of --rules, --position, --plays
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
        /// Who plays: shipped:NAME (a trained player that comes with this program) or a player's file
        player: String,
        /// Address to listen at: this machine alone, unless told otherwise (0.0.0.0: every address of this machine)
        #[arg(long, default_value = "127.0.0.1")]
        listen: std::net::IpAddr,
        /// Port; 0: any that is free
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// Searches at a time; as many as the machine has cores where it is absent
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
        searches: Option<u16>,
        /// The page, as `make web` builds it; the one beside this program where it is absent
        #[arg(long, value_name = "FILE")]
        page: Option<PathBuf>,
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
            eprintln!("error: {}", one_line(&format!("{error:#}")));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn run(cli: Cli, out: &mut impl Write) -> anyhow::Result<()> {
    match cli.command {
        Command::Show { file, game, at, rules, position, plays } => {
            let game = match file {
                Some(file) => from_file(&file, game as usize)?,
                None => Game {
                    rules,
                    start: position,
                    plays: split_plays(&plays.unwrap_or_default())?
                        .into_iter()
                        .map(str::to_owned)
                        .collect(),
                    place: None,
                },
            };
            show(&game, at, out)
        }
        #[cfg(feature = "serve")]
        Command::Serve { player, listen, port, searches, page } => {
            serve(&player, (listen, port).into(), searches, page.as_deref(), out)
        }
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

/// Serves until it is stopped; standard output says where.
#[cfg(feature = "serve")]
fn serve(
    player: &str,
    address: std::net::SocketAddr,
    searches: Option<u16>,
    page: Option<&Path>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let Named::Trained(file) = Named::parse(player)? else {
        return Err(Usage::error(format!("{}: only trained players are served", echo(player))));
    };
    // The service is of use without its page, but not without one that was named.
    let found = match page {
        Some(_) => Ok(Page::find(page)?),
        None => Page::find(None),
    };
    let usual = Limits::default();
    let limits = Limits { searches: searches.map_or(usual.searches, usize::from), ..usual };
    let service = Service::new(&file, found.as_ref().ok(), limits)?;
    let mut told = Ok(());
    service
        .run(address, |here| {
            let what = match &found {
                Ok(_) => "the page at /".to_owned(),
                Err(missing) => format!("no page ({missing})"),
            };
            told = writeln!(out, "{} at http://{here}/: {what}, /openapi.json", file.name())
                .and_then(|()| out.flush());
        })
        .with_context(|| format!("cannot listen at {address}"))?;
    Ok(told?)
}

struct Game {
    rules: String,
    start: Option<String>,
    plays: Vec<String>,
    /// The file and game it comes from; `None` for one from the arguments.
    place: Option<String>,
}

impl Game {
    /// What is wrong with it: a failure where it is a file's, wrong use where it is the arguments'.
    fn fault(&self, text: String) -> anyhow::Error {
        match &self.place {
            Some(place) => anyhow!("{place}: {text}"),
            None => Usage::error(text),
        }
    }
}

fn show(game: &Game, at: Option<usize>, out: &mut impl Write) -> anyhow::Result<()> {
    let rules: Rules = game
        .rules
        .parse()
        .map_err(|error| game.fault(format!("rules '{}': {error}", echo(&game.rules))))?;
    let mut position = match &game.start {
        Some(text) => Position::parse(&rules, text)
            .map_err(|error| game.fault(format!("position '{}': {error}", echo(text))))?,
        None => rules.start(),
    };
    let at = at.unwrap_or(game.plays.len());
    if at > game.plays.len() {
        let length = count_of(game.plays.len(), "play");
        return Err(Usage::error(format!("--at {at}: the game has {length}")));
    }
    for (index, text) in game.plays[..at].iter().enumerate() {
        let fault = |error: &dyn std::fmt::Display| {
            game.fault(format!("play {} ('{}'): {error}", index + 1, echo(text)))
        };
        let play: Play = text.parse().map_err(|error| fault(&error))?;
        position.try_play(play).map_err(|error| fault(&error))?;
    }
    write!(out, "{}", drawing::board(&position))?;
    if at > 0 {
        writeln!(
            out,
            "after {at} of {}, the last one {}",
            count_of(game.plays.len(), "play"),
            game.plays[at - 1]
        )?;
    }
    Ok(())
}

/// The game on one line of a file: a game line has its plays as texts, a record as objects with the text in `p`.
fn from_file(path: &Path, number: usize) -> anyhow::Result<Game> {
    let shown = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    if [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]].iter().any(|head| bytes.starts_with(head)) {
        bail!("{shown} is packed (gzip or zstd): unpack it first");
    }
    let text =
        String::from_utf8(bytes).ok().with_context(|| format!("{shown} is no text (UTF-8)"))?;
    let line = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .nth(number - 1)
        .ok_or_else(|| Usage::error(format!("{shown} has no game {number}")))?;
    let told = text::from_json(line).map_err(|fault| anyhow!("{shown}, game {number}: {fault}"))?;
    Ok(Game {
        rules: told.rules,
        start: told.start,
        plays: told.plays,
        place: Some(format!("{shown}, game {number}")),
    })
}
