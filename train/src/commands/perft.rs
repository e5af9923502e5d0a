//! `gipf perft`: the number of play sequences of a given length.

use std::process::ExitCode;

use serde_json::json;

use super::{Output, input};

/// Count the sequences of exactly DEPTH plays; prints the count alone
///
/// All 42 ways to enter are distinct; a sequence whose game ended earlier counts nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf perft standard 4\n         (3066768)")]
pub(super) struct Args {
    /// Rules string, such as standard, basic:18/15 or tournament+T4Z4D4
    rules: String,
    /// Number of plays
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    depth: u32,
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

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let rules = input::rules(&args.rules)?;
    let position = input::position(&rules, args.position.as_deref(), args.plays.as_deref())?;
    let nodes = gipf_core::perft(&position, args.depth);
    if args.json {
        let answer = json!({
            "rules": rules.to_string(), "position": position.to_string(), "depth": args.depth, "nodes": nodes,
        });
        writeln!(out, "{answer}")?;
    } else {
        writeln!(out, "{nodes}")?;
    }
    Ok(ExitCode::SUCCESS)
}
