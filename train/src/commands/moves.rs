//! `gipf moves`: a position and its legal plays.

use std::process::ExitCode;

use serde::Serialize;

use super::{Output, input};

/// Print a position's text, then its legal plays, sorted, one a line
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf moves standard --plays 'e1-e2;i4-h5'")]
pub(super) struct Args {
    /// Rules string, such as standard, basic:18/15 or tournament+T4Z4D4
    rules: String,
    /// Position text to start from, in place of the start of the game
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Plays to make first, joined by ';'
    #[arg(long, value_name = "P;P…", allow_hyphen_values = true)]
    plays: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    rules: String,
    position: String,
    plays: Vec<String>,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let rules = input::rules(&args.rules)?;
    let position = input::position(&rules, args.position.as_deref(), args.plays.as_deref())?;
    let answer = Answer {
        rules: rules.to_string(),
        position: position.to_string(),
        plays: input::sorted_plays(&position),
    };
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
    } else {
        writeln!(out, "{}", answer.position)?;
        for play in &answer.plays {
            writeln!(out, "{play}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
