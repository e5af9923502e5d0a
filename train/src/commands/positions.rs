//! `gipf positions`: checks a file of directed positions.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use gipf_core::{Position, Rules};
use serde::Deserialize;
use serde_json::json;

use super::{Output, input};

/// Check a file of directed positions; `ok N positions`, or the first difference
///
/// The file is a JSON list of objects with name, rules, position, legal (its sorted legal plays, after plays where
/// they are given) and then (a list of play and resulting position).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf positions tests/data/vectors/positions.json")]
pub(super) struct Args {
    /// File of directed positions
    file: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Directed {
    name: String,
    #[serde(default)]
    #[allow(dead_code, reason = "for readers of the file")]
    section: Option<String>,
    rules: String,
    position: String,
    #[serde(default)]
    plays: Vec<String>,
    legal: Vec<String>,
    #[serde(default)]
    then: Vec<Then>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Then {
    /// One play or several joined by `;`, from the position itself.
    play: String,
    position: String,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let shown = args.file.display();
    let text = input::read(&args.file)?;
    let directed: Vec<Directed> = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is no list of directed positions"))?;
    for (index, one) in directed.iter().enumerate() {
        check(one).with_context(|| format!("{shown}, position {} ('{}')", index + 1, one.name))?;
    }
    if args.json {
        writeln!(out, "{}", json!({ "positions": directed.len() }))?;
    } else {
        writeln!(out, "ok {} positions", directed.len())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(directed: &Directed) -> anyhow::Result<()> {
    let rules: Rules =
        directed.rules.parse().with_context(|| format!("rules '{}'", directed.rules))?;
    let start = Position::parse(&rules, &directed.position)
        .with_context(|| format!("position '{}'", directed.position))?;
    if start.to_string() != directed.position {
        bail!("position '{}' is written back as '{start}'", directed.position);
    }
    let mut position = start;
    for text in &directed.plays {
        play_all(&mut position, text)?;
    }
    let legal = input::sorted_plays(&position);
    if let Some(play) = legal.iter().find(|play| !directed.legal.contains(play)) {
        bail!("'{play}' is legal here, the file does not have it");
    }
    if let Some(play) = directed.legal.iter().find(|play| !legal.contains(play)) {
        bail!("'{play}' is not legal here, the file has it");
    }
    if legal != directed.legal {
        bail!("the file's legal plays are not sorted, or some stand there twice");
    }
    for then in &directed.then {
        let mut position = start;
        play_all(&mut position, &then.play)?;
        if position.to_string() != then.position {
            bail!("after '{}': '{position}', the file says '{}'", then.play, then.position);
        }
    }
    Ok(())
}

fn play_all(position: &mut Position, texts: &str) -> anyhow::Result<()> {
    for text in texts.split(';') {
        input::apply(position, text).map_err(|error| anyhow::anyhow!("play '{text}': {error}"))?;
    }
    Ok(())
}
