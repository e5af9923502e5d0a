//! How strong each checkpoint of a run is, as JSON and as a picture.
//!
//! ```text
//! cargo run --release -p gipf-train --example strength_curve -- runs/quickstart-1 docs/results/quickstart.json docs/quickstart.svg
//! ```
//!
//! Each checkpoint still in the folder plays `--games` against greedy, the run's step 0 and its checkpoint half way. Minutes are
//! those between the files' times of writing, so they mean something only for a run that was not interrupted.

use anyhow::Context;
use clap::Parser;
use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_selfplay::{BuiltIn, Contestant, Limit, Match, MatchConfig, Method, RulesSampler};
use gipf_train::evaluators::network;
use gipf_train::run::RunView;
use plotters::prelude::*;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

#[derive(Parser)]
struct Args {
    /// Folder of a run
    run: PathBuf,
    /// JSON file to write
    json: PathBuf,
    /// SVG file to write
    svg: PathBuf,
    /// Games a checkpoint and opponent, an even number
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// Simulations a decision
    #[arg(long, default_value_t = 64)]
    nodes: u32,
}

/// The file that is written.
#[derive(Serialize)]
struct Curve {
    command: String,
    run: String,
    rules: String,
    games: u32,
    nodes: u32,
    points: Vec<Point>,
}

/// One checkpoint against one opponent.
#[derive(Serialize)]
struct Point {
    minutes: f64,
    step: u64,
    opponent: &'static str,
    score: f64,
    low: f64,
    high: f64,
}

const GREEDY: &str = "greedy";
const STEP_0: &str = "its step 0";
const HALF_WAY: &str = "its checkpoint half way";

const OPPONENTS: [(&str, RGBColor); 3] = [
    (STEP_0, RGBColor(0x2a, 0x9d, 0x8f)),
    (GREEDY, RGBColor(0xe7, 0x6f, 0x51)),
    (HALF_WAY, RGBColor(0x45, 0x7b, 0x9d)),
];

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let run = RunView::open(&args.run)?;
    let sampler = RulesSampler::mixed(&run.config.rules.rules)?;
    let rules: Rules = *sampler.rules().next().context("a run has rules")?;
    let files = run.checkpoints()?;
    let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified());
    let begun = written(&files.first().context("the run has no checkpoint")?.path)?;
    let mut points = Vec::new();
    for file in &files {
        let minutes = written(&file.path)?.duration_since(begun)?.as_secs_f64() / 60.0;
        let player = Checkpoint::load(&file.path)?;
        for (opponent, _) in OPPONENTS {
            let limit = Limit::nodes(args.nodes);
            let contestant = |checkpoint: &Checkpoint| -> anyhow::Result<Contestant> {
                let network = network("network", Method::Gumbel, checkpoint, Device::Cpu)?;
                Ok(Contestant::network(network, limit)?)
            };
            let other = match opponent {
                GREEDY => Contestant::built_in(BuiltIn::Greedy, limit),
                HALF_WAY => contestant(&Checkpoint::load(&files[files.len() / 2].path)?)?,
                _ => contestant(&Checkpoint::load(&files[0].path)?)?,
            };
            let config = MatchConfig { games: args.games, ..MatchConfig::new(rules, file.step) };
            let judge = network("judge", Method::Gumbel, &player, Device::Cpu)?;
            let contestants = vec![[contestant(&player)?, other]];
            let result = Match::new(config, contestants, Some(judge))?.run(
                &|| false,
                &mut |_| {},
                &mut |_| {},
            )?;
            let (low, high) = result.pairs.interval95();
            let score = result.score();
            println!("step {:>6}, {minutes:.1} min, {opponent}: {:.1}%", file.step, 100.0 * score);
            points.push(Point { minutes, step: file.step, opponent, score, low, high });
        }
    }
    let curve = Curve {
        command: format!(
            "cargo run --release -p gipf-train --example strength_curve -- RUN JSON SVG --games {} --nodes {}",
            args.games, args.nodes
        ),
        run: run.config.run.name.clone(),
        rules: rules.to_string(),
        games: args.games,
        nodes: args.nodes,
        points,
    };
    fs::write(&args.json, serde_json::to_string_pretty(&curve)? + "\n")?;
    draw(&curve, &args.svg)
}

fn draw(curve: &Curve, path: &PathBuf) -> anyhow::Result<()> {
    let root = SVGBackend::new(path, (720, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let end = curve.points.iter().map(|p| p.minutes).fold(1.0, f64::max);
    let caption = format!(
        "{} ({}): score over {} games, {} simulations a decision",
        curve.run, curve.rules, curve.games, curve.nodes
    );
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end * 1.02, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc("minutes of training, two cores")
        .y_desc("score")
        .y_label_formatter(&|y| format!("{:.0}%", 100.0 * y))
        .light_line_style(WHITE)
        .draw()?;
    for (opponent, color) in OPPONENTS {
        let points = || curve.points.iter().filter(|p| p.opponent == opponent);
        chart
            .draw_series(LineSeries::new(
                points().map(|p| (p.minutes, p.score)),
                color.stroke_width(2),
            ))?
            .label(format!("against {opponent}"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        chart.draw_series(points().map(|p| {
            ErrorBar::new_vertical(p.minutes, p.low, p.score, p.high, color.filled(), 6)
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE)
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}
