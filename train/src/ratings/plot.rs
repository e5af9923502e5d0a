//! The picture of a run's ratings: Elo against minutes and against games, with intervals.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::error::RatingsError;
use super::file::{RatedPlayer, RatingsFile};
use crate::run::atomic;
use crate::store::DiskWait;

/// Width and height of the picture in pixels.
const SIZE: (u32, u32) = (960, 420);

/// Colours of the checkpoints and of the other players' lines.
const CHECKPOINTS: RGBColor = RGBColor(0x2a, 0x9d, 0x8f);
const OTHERS: RGBColor = RGBColor(0x8a, 0x8f, 0x98);

/// A rating to be drawn: where on the axis, the Elo and its interval.
struct Point {
    x: f64,
    elo: f64,
    low: f64,
    high: f64,
}

/// Writes the picture, whole or not at all; nothing where no checkpoint has a rating.
///
/// # Errors
/// It cannot be drawn or written.
pub fn draw(ratings: &RatingsFile, path: &Path, wait: &DiskWait) -> Result<(), RatingsError> {
    if !ratings.players.iter().any(|player| player.step.is_some() && player.elo.is_some()) {
        return Ok(());
    }
    let mut text = String::new();
    picture(ratings, &mut text)
        .map_err(|reason| RatingsError::Drawing { path: path.to_owned(), reason })?;
    atomic::write(path, text.as_bytes(), wait, None).map_err(|error| RatingsError::io(path, error))
}

fn picture(ratings: &RatingsFile, text: &mut String) -> Result<(), String> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE).map_err(words)?;
    let title = format!("Elo above {} ({}, {})", ratings.anchor, ratings.rules, ratings.limit);
    let root = root.titled(&title, ("sans-serif", 17)).map_err(words)?;
    let halves = root.split_evenly((1, 2));
    let minutes = |player: &RatedPlayer| player.seconds.map(|seconds| seconds / 60.0);
    // A deterministic run has no clock: its steps stand in for the minutes.
    let timed = ratings.players.iter().any(|player| minutes(player).is_some_and(|x| x > 0.0));
    if timed {
        chart(&halves[0], ratings, "minutes of training", &minutes)?;
    } else {
        chart(&halves[0], ratings, "training steps", &|player| {
            player.step.map(|step| step as f64)
        })?;
    }
    let games = |player: &RatedPlayer| player.games_made.map(|games| games as f64);
    chart(&halves[1], ratings, "games of self-play", &games)?;
    root.present().map_err(words)
}

/// One of the two charts; `x` says where on the axis a checkpoint stands, if that is known.
fn chart(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    ratings: &RatingsFile,
    axis: &str,
    x: &dyn Fn(&RatedPlayer) -> Option<f64>,
) -> Result<(), String> {
    let rated: Vec<&RatedPlayer> =
        ratings.players.iter().filter(|player| player.elo.is_some()).collect();
    let mut points: Vec<Point> = rated
        .iter()
        .filter(|player| player.step.is_some())
        .filter_map(|player| {
            let (elo, low, high) = (player.elo?, player.low?, player.high?);
            Some(Point { x: x(player)?, elo, low, high })
        })
        .collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    let others: Vec<(&str, f64)> = rated
        .iter()
        .filter(|player| player.step.is_none())
        .filter_map(|player| Some((player.name.as_str(), player.elo?)))
        .collect();
    let end = points.last().map_or(1.0, |point| point.x).max(1e-3);
    let heights = || {
        let ends = points.iter().flat_map(|point| [point.elo, point.low, point.high]);
        ends.chain(others.iter().map(|&(_, elo)| elo))
    };
    let (bottom, top) = (heights().fold(0.0, f64::min), heights().fold(1.0, f64::max));
    // Intervals without much behind them must not flatten the curve.
    let (least, most) = points
        .iter()
        .map(|point| point.elo)
        .chain(others.iter().map(|o| o.1))
        .fold((0.0f64, 1.0f64), |(least, most), elo| (least.min(elo), most.max(elo)));
    let room = 0.15 * (most - least);
    let (bottom, top) = (bottom.max(least - 2.0 * room) - room, top.min(most + 2.0 * room) + room);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(38)
        .y_label_area_size(52)
        .build_cartesian_2d(-0.01 * end..end * 1.03, bottom..top)
        .map_err(words)?;
    chart
        .configure_mesh()
        .x_desc(axis)
        .y_desc("Elo")
        .x_labels(7)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.1))
        .draw()
        .map_err(words)?;
    for (name, elo) in others {
        let line = DashedLineSeries::new([(0.0, elo), (end, elo)], 4, 4, OTHERS.stroke_width(1));
        chart.draw_series(line).map_err(words)?;
        let label = Text::new(
            name.to_owned(),
            (0.01 * end, elo),
            ("sans-serif", 11).into_font().color(&OTHERS),
        );
        chart.draw_series([label]).map_err(words)?;
    }
    let line = LineSeries::new(
        points.iter().map(|point| (point.x, point.elo)),
        CHECKPOINTS.stroke_width(2),
    );
    chart.draw_series(line).map_err(words)?;
    let bars = points.iter().map(|point| {
        let (low, high) = (point.low.max(bottom), point.high.min(top));
        ErrorBar::new_vertical(point.x, low, point.elo, high, CHECKPOINTS.filled(), 6)
    });
    chart.draw_series(bars).map_err(words)?;
    Ok(())
}

/// A number on an axis: 950, 12k, 1.5M.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{:.1}M", value / 1e6),
        size if size >= 1e4 => format!("{:.0}k", value / 1e3),
        size if size >= 10.0 || size == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
