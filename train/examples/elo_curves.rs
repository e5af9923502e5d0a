//! Elo against processor time of one or more runs, as JSON and as a picture.
//!
//! ```text
//! cargo run --release -p gipf-train --example elo_curves -- docs/results/standard-curves.json docs/standard-curves.svg \
//!     --title "standard" before=runs/old-1 after=runs/standard-1
//! ```
//!
//! Every run must have been rated before with `gipf rate`, all of them beside the player `--anchor` at one limit: its Elo is 0 here, which
//! puts all curves on one scale. The intervals are those of each run's ratings, against that run's own anchor.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;
use gipf_train::ratings::RatingsFile;
use gipf_train::run::RunView;
use plotters::prelude::*;
use serde::Serialize;

/// Draw how strong runs became with time
#[derive(Parser)]
struct Args {
    /// JSON file to write
    json: PathBuf,
    /// SVG file to write
    svg: PathBuf,
    /// What is drawn: a name for the legend and a run's folder
    #[arg(value_name = "NAME=RUN", required = true)]
    runs: Vec<String>,
    /// What stands above the picture
    #[arg(long, default_value = "")]
    title: String,
    /// The player whose Elo is 0
    #[arg(long, default_value = "alphabeta:3")]
    anchor: String,
}

/// The file that is written.
#[derive(Serialize)]
struct Curves {
    command: &'static str,
    anchor: String,
    rules: String,
    limit: String,
    curves: Vec<Curve>,
    /// The other players that were rated, as each run's ratings have them.
    others: Vec<Other>,
}

/// One run.
#[derive(Serialize)]
struct Curve {
    name: String,
    games: u64,
    points: Vec<Point>,
}

/// One checkpoint.
#[derive(Serialize)]
struct Point {
    step: u64,
    /// Processor time that the run had used, learner and self-play together.
    cpu_minutes: f64,
    games_made: u64,
    elo: f64,
    low: f64,
    high: f64,
}

/// A player without a network.
#[derive(Serialize)]
struct Other {
    curve: String,
    name: String,
    elo: f64,
}

const COLORS: [RGBColor; 4] = [
    RGBColor(0x2a, 0x9d, 0x8f),
    RGBColor(0xe7, 0x6f, 0x51),
    RGBColor(0x45, 0x7b, 0x9d),
    RGBColor(0xb5, 0x83, 0x1d),
];
const OTHERS: RGBColor = RGBColor(0x8a, 0x8f, 0x98);

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut all: Option<Curves> = None;
    for text in &args.runs {
        let (name, run) = text.split_once('=').with_context(|| format!("{text}: not NAME=RUN"))?;
        let view = RunView::open(run.as_ref())?;
        let ratings =
            RatingsFile::read(run.as_ref())?.with_context(|| format!("{run} is not rated"))?;
        let (rules, limit) = (ratings.rules.clone(), ratings.limit.to_string());
        let curves = all.get_or_insert_with(|| Curves {
            command: "cargo run --release -p gipf-train --example elo_curves -- JSON SVG NAME=RUN…",
            anchor: args.anchor.clone(),
            rules: rules.clone(),
            limit: limit.clone(),
            curves: Vec::new(),
            others: Vec::new(),
        });
        if (&rules, &limit) != (&curves.rules, &curves.limit) {
            bail!("{run} is rated by {rules} at {limit}, not {} at {}", curves.rules, curves.limit);
        }
        let anchor = ratings.players.iter().find(|player| player.name == args.anchor);
        let zero = anchor.and_then(|player| player.elo);
        let zero = zero.with_context(|| format!("{run}: {} has no rating", args.anchor))?;
        let history = view.history()?;
        let mut points = Vec::new();
        for player in &ratings.players {
            let Some(elo) = player.elo else { continue };
            let Some(step) = player.step else {
                let (curve, name) = (name.to_owned(), player.name.clone());
                curves.others.push(Other { curve, name, elo: elo - zero });
                continue;
            };
            let then = history.iter().rfind(|point| point.step == step);
            // Nothing is used before the first step, and no line is written for it.
            let (cpu_seconds, games_made) = match then {
                Some(point) => (point.cpu_seconds, point.games),
                None if step == 0 => (0.0, 0),
                None => continue,
            };
            points.push(Point {
                step,
                cpu_minutes: cpu_seconds / 60.0,
                games_made,
                elo: elo - zero,
                low: player.low.unwrap_or(elo) - zero,
                high: player.high.unwrap_or(elo) - zero,
            });
        }
        points.sort_by_key(|point| point.step);
        curves.curves.push(Curve { name: name.to_owned(), games: ratings.games, points });
    }
    let curves = all.context("no run is named")?;
    fs::write(&args.json, serde_json::to_string_pretty(&curves)? + "\n")
        .with_context(|| args.json.display().to_string())?;
    draw(&curves, &args).with_context(|| args.svg.display().to_string())
}

fn draw(curves: &Curves, args: &Args) -> anyhow::Result<()> {
    let points = || curves.curves.iter().flat_map(|curve| &curve.points);
    let end = points().map(|point| point.cpu_minutes).fold(1.0, f64::max);
    let heights = || points().map(|p| p.elo).chain(curves.others.iter().map(|other| other.elo));
    let (least, most) = (heights().fold(0.0, f64::min), heights().fold(0.0, f64::max));
    let room = 0.08 * (most - least);
    let (bottom, top) = (least - room, most + room);
    let root = SVGBackend::new(&args.svg, (760, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!("{}: Elo above {}, {}", args.title, curves.anchor, curves.limit),
            ("sans-serif", 16),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end * 1.02, bottom..top)?;
    chart
        .configure_mesh()
        .x_desc("minutes of processor time")
        .y_desc("Elo")
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(WHITE)
        .draw()?;
    // The last run's ratings have the baselines where they end up.
    let last = curves.curves.last().map(|curve| &curve.name);
    for other in curves.others.iter().filter(|other| Some(&other.curve) == last) {
        let line = [(0.0, other.elo), (end, other.elo)];
        chart.draw_series(DashedLineSeries::new(line, 4, 4, OTHERS.stroke_width(1)))?;
        let font = ("sans-serif", 11).into_font().color(&OTHERS);
        chart.draw_series([Text::new(other.name.clone(), (0.9 * end, other.elo), font)])?;
    }
    for (curve, color) in curves.curves.iter().zip(COLORS.into_iter().cycle()) {
        let line = curve.points.iter().map(|point| (point.cpu_minutes, point.elo));
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)))?
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        chart.draw_series(curve.points.iter().map(|point| {
            let (low, high) = (point.low.max(bottom), point.high.min(top));
            ErrorBar::new_vertical(point.cpu_minutes, low, point.elo, high, color.filled(), 6)
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
