//! What a setting of the search is worth: matches of one network against itself, searching differently.
//!
//! ```text
//! cargo run --release -p gipf-train --example searches -- docs/results/searches.toml docs/results/searches.json --minutes 25
//! ```
//!
//! The plan says who meets whom (see [`Plan`]); what the JSON has already, with the same settings, is not played again, so the same
//! command goes on where `--minutes` stopped it. A comparison is played whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use gipf_player::PlayerFile;
use gipf_player::named::Named;
use gipf_selfplay::{Contestant, Limit, Match, MatchConfig, Network, NetworkPlayer, SearchConfig};
use gipf_train::config::{Config, apply, parse_settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Let one network meet itself with different searches
#[derive(Parser)]
struct Args {
    /// The plan
    plan: PathBuf,
    /// Where the results go
    json: PathBuf,
    /// Minutes after which no further comparison begins
    #[arg(long, default_value_t = 25.0)]
    minutes: f64,
    /// Cores to use, whole ones by time: so many games are played at once, or fewer where a side has several threads
    #[arg(long, default_value_t = 2)]
    cores: usize,
}

/// Who meets whom.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    comparisons: Vec<Comparison>,
}

/// One network with two searches.
#[derive(Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Comparison {
    /// What is compared.
    name: String,
    /// The player on both sides, as `gipf-player` names it.
    player: String,
    /// Rules string; left out: the player's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
    /// The side whose score is told.
    #[serde(default)]
    a: Side,
    /// The other side.
    #[serde(default)]
    b: Side,
    /// Games, an even number.
    games: u32,
    /// Milliseconds a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    movetime: Option<u64>,
    /// Or simulations a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<u32>,
}

/// How a side searches.
#[derive(Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct Side {
    /// Overrides of a configuration's `[self_play]`.
    set: Vec<String>,
    /// What of [`SearchConfig`] no configuration sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    virtual_loss: Option<f32>,
    /// Threads of its search: by time alone, and no more than there are whole cores for all games at once.
    threads: usize,
}

impl Default for Side {
    fn default() -> Side {
        Side { set: Vec::new(), overlap: None, virtual_loss: None, threads: 1 }
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let named = args.plan.display().to_string();
    let text = fs::read_to_string(&args.plan).with_context(|| named.clone())?;
    let plan: Plan = toml::from_str(&text).with_context(|| named.clone())?;
    let mut findings = known(&args.json)?;
    let place = |found: &Value| {
        let here = |comparison: &Comparison| found["comparison"] == json!(comparison);
        plan.comparisons.iter().position(here).unwrap_or(usize::MAX)
    };
    let until = Instant::now() + Duration::from_secs_f64(60.0 * args.minutes);
    for comparison in &plan.comparisons {
        let wanted = json!(comparison);
        if findings.iter().any(|found| found["comparison"] == wanted) {
            continue;
        }
        if Instant::now() >= until {
            println!("{}: not yet, the same command goes on", comparison.name);
            continue;
        }
        findings.push(meet(comparison, args.cores).with_context(|| comparison.name.clone())?);
        findings.sort_by_key(place);
        write(&args, &findings)?;
    }
    Ok(())
}

/// The findings of an earlier call.
fn known(path: &Path) -> anyhow::Result<Vec<Value>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file: Value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(file["comparisons"].as_array().cloned().unwrap_or_default())
}

fn write(args: &Args, findings: &[Value]) -> anyhow::Result<()> {
    let (plan, json) = (args.plan.display(), args.json.display());
    let file = json!({
        "command": format!("cargo run --release -p gipf-train --example searches -- {plan} {json}"),
        "comparisons": findings,
    });
    fs::write(&args.json, format!("{file:#}\n")).with_context(|| json.to_string())
}

/// Plays a comparison.
fn meet(comparison: &Comparison, cores: usize) -> anyhow::Result<Value> {
    let Named::Trained(file) = Named::parse(&comparison.player)? else {
        anyhow::bail!("{} is not trained", comparison.player);
    };
    let rules = match &comparison.rules {
        Some(rules) => rules.parse()?,
        None => file.rules()?,
    };
    let limit = match (comparison.movetime, comparison.nodes) {
        (Some(milliseconds), None) => Limit::time(Duration::from_millis(milliseconds)),
        (None, Some(nodes)) => Limit::nodes(nodes),
        _ => anyhow::bail!("either movetime or nodes"),
    };
    let at_once = cores / comparison.a.threads.max(comparison.b.threads).max(1);
    ensure!(at_once > 0, "--cores {cores}: a side has more threads");
    let side = |name: &str, side: &Side| contestant(&file, name, side, limit);
    let sides: anyhow::Result<Vec<_>> =
        (0..at_once).map(|_| Ok([side("a", &comparison.a)?, side("b", &comparison.b)?])).collect();
    let config = MatchConfig { games: comparison.games, ..MatchConfig::new(rules, 5) };
    // Openings that are not lost already, as in `gipf match`: else pairs of alike players tell little.
    let judge = Network {
        name: "judge".to_owned(),
        evaluator: file.evaluator(),
        search: SearchConfig::default(),
        checkpoint: file.header().step,
    };
    let result =
        Match::new(config, sides?, Some(judge))?.run(&|| false, &mut |_| (), &mut |_| ())?;
    let elo = result.elo();
    println!(
        "{}: {:.1}% of {} games, Elo {elo}",
        comparison.name,
        100.0 * result.score(),
        result.games
    );
    Ok(json!({
        "comparison": comparison,
        "sha256": file.header().sha256,
        "evaluator": file.evaluator().name(),
        "openings": "judged",
        "score": result.score(),
        "elo": elo,
        "result": result,
    }))
}

/// The search of a side.
fn search(side: &Side) -> anyhow::Result<SearchConfig> {
    let config = apply(&Config::default(), &parse_settings(&side.set)?)?;
    let mut search = config.self_play.search_config();
    search.overlap = side.overlap.unwrap_or(search.overlap);
    search.puct.virtual_loss = side.virtual_loss.unwrap_or(search.puct.virtual_loss);
    Ok(search)
}

fn contestant(
    file: &PlayerFile,
    name: &str,
    side: &Side,
    limit: Limit,
) -> anyhow::Result<Contestant> {
    let network = Network {
        name: name.to_owned(),
        evaluator: file.evaluator(),
        search: search(side)?,
        checkpoint: file.header().step,
    };
    if side.threads == 1 {
        return Ok(Contestant::network(network, limit)?);
    }
    ensure!(side.threads > 0 && limit.time.is_some(), "threads: 1 or more, by time");
    let helpers = (1..side.threads).map(|_| file.evaluator()).collect();
    let player = NetworkPlayer::new(network)?.with_helpers(helpers)?;
    Ok(Contestant::player(Box::new(player), limit))
}
