//! `gipf check`: replays recorded games.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use gipf_core::record::{GameRecord, RECORD_FORMAT};
use gipf_core::{Color, Position, Rules, notation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Output, Usage, input};

/// Replay game lines and this project's own records; `ok N games`, or the first difference
///
/// A game line is a JSON object with rules, plays, counts, hash, final and result; a record is a line of a run's
/// games/*.jsonl.zst. Files packed by gzip or zstd are unpacked. With --notation official each file is one game as the
/// designer's site and the game archive print it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf check tests/data/vectors/games/games-standard.jsonl.gz")]
pub(super) struct Args {
    /// Files of game lines or records
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How the games are written: lines (of JSON) or official
    #[arg(long, value_enum, default_value_t = Notation::Lines)]
    notation: Notation,
    /// Rules of games in official notation; guessed from the game where it is absent
    #[arg(long, value_name = "RULES")]
    rules: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// How a file's games are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Notation {
    /// JSON, one object a line.
    Lines,
    /// The official notation, one game a file.
    Official,
}

/// A game line of the test vectors; what a line leaves out is not checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GameLine {
    rules: String,
    #[serde(default)]
    #[allow(dead_code, reason = "belongs to the form, says nothing about the game")]
    seed: Option<u64>,
    plays: Vec<String>,
    counts: Option<Vec<usize>>,
    hash: Option<String>,
    #[serde(rename = "final")]
    end: Option<String>,
    result: Option<String>,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let mut games = 0_u64;
    let mut plays = 0_u64;
    if args.rules.is_some() && args.notation == Notation::Lines {
        return Err(Usage::error(
            "--rules goes with --notation official: a game line names its own",
        ));
    }
    for path in &args.files {
        match args.notation {
            Notation::Lines => check_lines(path, input::open(path)?, &mut games, &mut plays)?,
            Notation::Official => {
                plays += check_official(path, args.rules.as_deref())?;
                games += 1;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", json!({ "games": games, "plays": plays }))?;
    } else {
        writeln!(out, "ok {games} games")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_lines(
    path: &Path,
    reader: Box<dyn BufRead>,
    games: &mut u64,
    plays: &mut u64,
) -> anyhow::Result<()> {
    for (index, line) in reader.lines().enumerate() {
        let place = || format!("{}, line {}", path.display(), index + 1);
        let line = line.with_context(place)?;
        if line.trim().is_empty() {
            continue;
        }
        *plays += check_line(&line).with_context(place)? as u64;
        *games += 1;
    }
    Ok(())
}

/// Checks a game in official notation; the number of its plays.
fn check_official(path: &Path, rules: Option<&str>) -> anyhow::Result<u64> {
    let text = input::read(path)?;
    let rules = input::rules(rules.unwrap_or_else(|| notation::guess_rules(&text)))?;
    let game =
        notation::read_official(&rules, &text).with_context(|| path.display().to_string())?;
    if game.plays.is_empty() {
        bail!("{}: no moves", path.display());
    }
    Ok(game.plays.len() as u64)
}

/// Checks one game; the number of its plays.
fn check_line(line: &str) -> anyhow::Result<usize> {
    let value: Value = serde_json::from_str(line).context("no JSON object")?;
    match value.get("format").and_then(Value::as_str) {
        Some(RECORD_FORMAT) => {
            let record = GameRecord::from_json(line)?;
            record.replay()?;
            Ok(record.plays.len())
        }
        Some(format) => bail!("unknown format '{format}' (this build reads {RECORD_FORMAT})"),
        None => check_game_line(&serde_json::from_value(value).context("no game line")?),
    }
}

fn check_game_line(game: &GameLine) -> anyhow::Result<usize> {
    let rules: Rules = game.rules.parse().with_context(|| format!("rules '{}'", game.rules))?;
    let mut position = rules.start();
    let mut hash = PlayListHash::new();
    for (index, text) in game.plays.iter().enumerate() {
        let number = index + 1;
        let legal = input::sorted_plays(&position);
        if let Some(&count) = game.counts.as_ref().and_then(|counts| counts.get(index))
            && count != legal.len()
        {
            bail!("play {number} ('{text}'): {} legal plays, the line says {count}", legal.len());
        }
        hash.add(&legal);
        input::apply(&mut position, text)
            .map_err(|error| anyhow::anyhow!("play {number} ('{text}'): {error}"))?;
    }
    if let Some(counts) = game.counts.as_ref().filter(|counts| counts.len() != game.plays.len()) {
        bail!("{} plays, but {} counts", game.plays.len(), counts.len());
    }
    if let Some(expected) = &game.hash {
        let found = hash.hex();
        if !expected.eq_ignore_ascii_case(&found) {
            bail!(
                "after play {}: hash of the legal plays {found}, the line says {expected}",
                game.plays.len()
            );
        }
    }
    if let Some(expected) = &game.end {
        let found = position.to_string();
        if *expected != found {
            bail!(
                "after play {}: position '{found}', the line says '{expected}'",
                game.plays.len()
            );
        }
    }
    if let Some(expected) = &game.result {
        let found = result_letter(&position);
        if expected != found {
            bail!("after play {}: result {found}, the line says {expected}", game.plays.len());
        }
    }
    Ok(game.plays.len())
}

fn result_letter(position: &Position) -> &'static str {
    match position.winner() {
        Some(Color::White) => "W",
        Some(Color::Black) => "B",
        None => "U",
    }
}

/// FNV-1a, 64 bits, over lists of plays: each play and a line feed, and one more line feed between two lists.
struct PlayListHash {
    state: u64,
    lists: usize,
}

impl PlayListHash {
    fn new() -> Self {
        PlayListHash { state: 0xcbf2_9ce4_8422_2325, lists: 0 }
    }

    fn add(&mut self, sorted: &[String]) {
        if self.lists > 0 {
            self.bytes(b"\n");
        }
        self.lists += 1;
        for play in sorted {
            self.bytes(play.as_bytes());
            self.bytes(b"\n");
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn hex(&self) -> String {
        format!("{:016x}", self.state)
    }
}
