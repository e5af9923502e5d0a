//! How strong a player is at equal time: matches against the baselines, as JSON.
//!
//! ```text
//! cargo run --release -p gipf-train --example exam -- run:runs/standard-1@latest standard docs/results/standard-exam.json --minutes 25
//! ```
//!
//! Every decision of both sides has `--movetime` on one core; `alphabeta:4` always looks four plays ahead. The matches are played by
//! the program `gipf` (`cargo build --release -p gipf-train`), whose records lie in `--games-in`: the same command goes on where it was
//! stopped, also by `--minutes` or a kill.

#[path = "../shared/gipf.rs"]
mod gipf;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, bail};
use clap::Parser;
use serde_json::{Value, json};

use gipf::Gipf;

/// Let a player meet the baselines
#[derive(Parser)]
struct Args {
    /// The player, as `gipf match` names it
    player: String,
    /// Rules string
    rules: String,
    /// Where the results go
    json: PathBuf,
    /// Minutes after which the program stops, to be started again
    #[arg(long, default_value_t = 25.0)]
    minutes: f64,
    /// Milliseconds a decision
    #[arg(long, default_value_t = 50)]
    movetime: u32,
    /// Opponents with the number of games, an even one
    #[arg(
        long,
        value_name = "PLAYER=GAMES",
        value_delimiter = ',',
        default_value = "alphabeta:4=400,mcts=400,greedy=100,alphabeta=400"
    )]
    against: Vec<String>,
    /// Games at a time, each on a core of its own
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// Seed of openings and players
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder of the matches' games
    #[arg(long, default_value = "runs/exams")]
    games_in: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let gipf = Gipf::for_minutes(args.minutes)?;
    let name = args.json.file_stem().context("the results go to a file")?;
    let folder = args.games_in.join(name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut matches = Vec::new();
    for entry in &args.against {
        let Some((opponent, games)) = entry.rsplit_once('=') else {
            bail!("--against {entry}: not PLAYER=GAMES");
        };
        let place = folder.join(opponent.replace(':', "-"));
        let output = place.with_extension("json");
        let child = gipf
            .command()
            .args(["match", &args.player, opponent, "--rules", &args.rules, "--games", games])
            .args(["--movetime", &args.movetime.to_string()])
            .args(["--seed", &args.seed.to_string(), "--threads", &args.threads.to_string()])
            .args(["--json", "--records"])
            .arg(place.with_extension("jsonl"))
            .stdout(File::create(&output)?)
            .stderr(Stdio::null())
            .spawn()?;
        let ended = gipf.wait(child)?;
        let result: Value = serde_json::from_str(&fs::read_to_string(&output)?)
            .with_context(|| format!("the match against {opponent} failed"))?;
        println!(
            "{opponent}: {} of {games} games, {:.1}%, Elo {}",
            result["games"],
            100.0 * result["score"].as_f64().unwrap_or_default(),
            result["elo"]
        );
        matches.push(result);
        write(&args, &matches)?;
        if !ended {
            println!("stopped after {} minutes: the same command goes on", args.minutes);
            return Ok(());
        }
    }
    Ok(())
}

fn write(args: &Args, matches: &[Value]) -> anyhow::Result<()> {
    let file = json!({
        "command": format!(
            "cargo run --release -p gipf-train --example exam -- PLAYER {} {} --movetime {} --threads {} --seed {}",
            args.rules,
            args.json.display(),
            args.movetime,
            args.threads,
            args.seed
        ),
        "player": args.player,
        "rules": args.rules,
        "matches": matches,
    });
    fs::write(&args.json, serde_json::to_string_pretty(&file)? + "\n")
        .with_context(|| args.json.display().to_string())
}
