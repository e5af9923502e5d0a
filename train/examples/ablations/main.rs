//! What a method of training is worth: runs with and without it, of equal processor time and several seeds, against each other.
//!
//! ```text
//! cargo run --release -p gipf-train --example ablations -- docs/results/ablations.toml docs/results/ablations.json --minutes 25
//! ```
//!
//! The plan (see [`plan::Plan`]) names the arms and who meets whom. Each arm is trained once per seed by the program `gipf`, which
//! must lie beside this one's folder (`cargo build --release -p gipf-train`), into `runs/ablations/`; each comparison is a match per
//! seed between the two arms' newest checkpoints. What is there already is not done again, so the same command goes on where it was
//! stopped, also by `--minutes` or a kill. The results are written anew after every match.

#[path = "../shared/gipf.rs"]
mod gipf;
mod plan;
mod work;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use gipf_selfplay::{ComputeFactor, PairCounts, compute_factor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use gipf::Gipf;
use plan::{Comparison, Factor, Plan};
use work::{Outcome, Workshop};

/// Train the arms of a plan and let them meet
#[derive(Parser)]
struct Args {
    /// The plan
    plan: PathBuf,
    /// Where the results go
    json: PathBuf,
    /// Minutes after which the program stops, to be started again
    #[arg(long, default_value_t = 25.0)]
    minutes: f64,
    /// Folder of the runs and the matches' games
    #[arg(long, default_value = "runs/ablations")]
    runs: PathBuf,
    /// Only the comparisons of these names; of the others what the results have stays
    #[arg(long)]
    only: Vec<String>,
}

/// One comparison's results.
#[derive(Serialize, Deserialize)]
struct Finding {
    name: String,
    a: String,
    b: String,
    /// Overrides of A and of B, those of all arms not repeated.
    a_set: Vec<String>,
    b_set: Vec<String>,
    games: u64,
    /// A's share of the points over all seeds, with its 95% interval from the pairs.
    score: f64,
    score_low: f64,
    score_high: f64,
    elo: Option<f64>,
    elo_low: Option<f64>,
    elo_high: Option<f64>,
    /// Pairs of games by A's points.
    pairs: PairCounts,
    seeds: Vec<OfSeed>,
}

/// How much compute one way of training saves, over all seeds.
#[derive(Serialize)]
struct Saving {
    name: String,
    a: Vec<String>,
    b: String,
    /// None where the comparisons are not played yet or do not tell.
    saved: Option<ComputeFactor>,
}

/// A comparison for one seed: what each arm's run had used, and their match.
#[derive(Serialize, Deserialize)]
struct OfSeed {
    seed: u64,
    a_run: Value,
    b_run: Value,
    #[serde(rename = "match")]
    result: Value,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let text = fs::read_to_string(&args.plan).with_context(|| args.plan.display().to_string())?;
    let plan: Plan = toml::from_str(&text).with_context(|| args.plan.display().to_string())?;
    plan.check().with_context(|| args.plan.display().to_string())?;
    let shop = Workshop::new(&plan, args.runs.clone(), Gipf::for_minutes(args.minutes)?)?;
    let wanted =
        |comparison: &Comparison| args.only.is_empty() || args.only.contains(&comparison.name);
    let mut findings = known(&args.json)?;
    findings.retain(|finding| plan.comparisons.iter().any(|one| one.name == finding.name));
    for comparison in plan.comparisons.iter().filter(|comparison| wanted(comparison)) {
        let (finding, complete) = compare(&plan, &shop, comparison)?;
        if !finding.seeds.is_empty() {
            println!(
                "{}: {} scores {:.1}% ({:.1} to {:.1}) against {} in {} games",
                finding.name,
                finding.a,
                100.0 * finding.score,
                100.0 * finding.score_low,
                100.0 * finding.score_high,
                finding.b,
                finding.games
            );
            findings.retain(|before| before.name != finding.name);
            findings.push(finding);
        }
        // In the plan's order, whatever was made first.
        findings.sort_by_key(|finding| {
            plan.comparisons.iter().position(|comparison| comparison.name == finding.name)
        });
        write(&args, &plan, &findings)?;
        if !complete {
            println!("stopped after {} minutes: the same command goes on", args.minutes);
            return Ok(());
        }
    }
    println!("all is done");
    Ok(())
}

/// The findings of an earlier call.
fn known(path: &Path) -> anyhow::Result<Vec<Finding>> {
    /// What is read of the results.
    #[derive(Deserialize)]
    struct Results {
        comparisons: Vec<Finding>,
    }
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let results: Results =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(results.comparisons)
}

/// A comparison as far as the time allows, and whether all of it is done.
fn compare(
    plan: &Plan,
    shop: &Workshop<'_>,
    comparison: &Comparison,
) -> anyhow::Result<(Finding, bool)> {
    let mut pairs = PairCounts::default();
    let (mut seeds, mut complete) = (Vec::new(), true);
    for &seed in &plan.seeds {
        let mut runs = Vec::new();
        for arm in [&comparison.a, &comparison.b] {
            if let Outcome::Done(run) = shop.train(arm, seed)? {
                runs.push(run);
            }
        }
        let Ok([a_run, b_run]) = <[Value; 2]>::try_from(runs) else {
            complete = false;
            break;
        };
        let Outcome::Done(result) = shop.play(comparison, seed)? else {
            complete = false;
            break;
        };
        let counts: [u64; 5] =
            serde_json::from_value(result["pairs"].clone()).context("the match's pairs")?;
        for (sum, count) in pairs.counts.iter_mut().zip(counts) {
            *sum += count;
        }
        seeds.push(OfSeed { seed, a_run, b_run, result });
    }
    let (elo, (score_low, score_high)) = (pairs.elo(), pairs.interval95());
    let finding = Finding {
        name: comparison.name.clone(),
        a: comparison.a.clone(),
        b: comparison.b.clone(),
        a_set: plan.arms[&comparison.a].set.clone(),
        b_set: plan.arms[&comparison.b].set.clone(),
        games: 2 * pairs.pairs(),
        score: pairs.score(),
        score_low,
        score_high,
        elo: elo.difference,
        elo_low: elo.low,
        elo_high: elo.high,
        pairs,
        seeds,
    };
    Ok((finding, complete))
}

/// What the comparisons made so far say of each factor.
fn savings(plan: &Plan, findings: &[Finding]) -> Vec<Saving> {
    let saving = |factor: &Factor| {
        let played = |arm: &String| {
            let met = |finding: &&Finding| (&finding.a, &finding.b) == (arm, &factor.b);
            let finding = findings.iter().find(met)?;
            Some((plan.cpu_minutes_of(&plan.arms[arm]), finding.pairs))
        };
        let points: Option<Vec<_>> = factor.a.iter().map(played).collect();
        let compute = plan.cpu_minutes_of(&plan.arms[&factor.b]);
        let saved = points.and_then(|points| compute_factor(&points, compute));
        Saving { name: factor.name.clone(), a: factor.a.clone(), b: factor.b.clone(), saved }
    };
    plan.factors.iter().map(saving).collect()
}

fn write(args: &Args, plan: &Plan, findings: &[Finding]) -> anyhow::Result<()> {
    let file = serde_json::json!({
        "command": format!(
            "cargo run --release -p gipf-train --example ablations -- {} {}",
            args.plan.display(),
            args.json.display()
        ),
        "plan": plan,
        "comparisons": findings,
        "factors": savings(plan, findings),
    });
    fs::write(&args.json, serde_json::to_string_pretty(&file)? + "\n")
        .with_context(|| args.json.display().to_string())
}
