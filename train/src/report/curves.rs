//! Which curves a run has, and the sections of the page that show them.

use super::charts::{Axis, Chart, Line, Unit};
use super::events::Curves;
use super::html::{details, missing};
use super::results::History;

/// A chart of curves over training steps: title, what the vertical axis counts, and its lines by tag and name.
struct Plan {
    title: &'static str,
    y: Axis,
    lines: &'static [(&'static str, &'static str)],
}

const fn plan(
    title: &'static str,
    name: &'static str,
    unit: Unit,
    lines: &'static [(&'static str, &'static str)],
) -> Plan {
    Plan { title, y: Axis { name, unit }, lines }
}

/// How the network learns.
const TRAINING: &[Plan] = &[
    plan(
        "Policy loss (cross-entropy, nats)",
        "nats",
        Unit::Number,
        &[("loss/policy", "training"), ("held_out/policy", "games never trained on")],
    ),
    plan(
        "Value loss (cross-entropy, nats)",
        "nats",
        Unit::Number,
        &[("loss/value", "training"), ("held_out/value", "games never trained on")],
    ),
    plan(
        "Policy loss above its target's entropy (nats)",
        "nats",
        Unit::Number,
        &[("loss/policy_over_target", "training")],
    ),
    plan(
        "All losses",
        "loss",
        Unit::Number,
        &[("loss/total", "weighted sum"), ("loss/plays_left", "plays left")],
    ),
    plan(
        "The opponent's reply (auxiliary, cross-entropy, nats)",
        "nats",
        Unit::Number,
        &[("loss/reply", "training"), ("held_out/reply", "games never trained on")],
    ),
    plan(
        "Swing of the material (auxiliary, Huber loss)",
        "loss",
        Unit::Number,
        &[("loss/swing", "training"), ("held_out/swing", "games never trained on")],
    ),
    plan(
        "Policy accuracy: the search's first choice is the network's",
        "share",
        Unit::Share,
        &[("held_out/policy_accuracy", "games never trained on")],
    ),
    plan(
        "Calibration error of the value (0 is best)",
        "error",
        Unit::Number,
        &[("held_out/calibration", "games never trained on")],
    ),
    plan("Learning rate", "rate", Unit::Number, &[("train/learning_rate", "AdamW")]),
];

/// How fast the machine works.
const SPEED: &[Plan] = &[
    plan(
        "Self-play: positions a second",
        "positions/s",
        Unit::Count,
        &[("self_play/positions_per_second", "positions")],
    ),
    plan(
        "Network evaluations a second",
        "evaluations/s",
        Unit::Count,
        &[("self_play/evaluations_per_second", "evaluations")],
    ),
    plan(
        "Batch fill: rows that held a position",
        "share",
        Unit::Share,
        &[("self_play/batch_fill", "rows")],
    ),
    plan(
        "Training steps a second",
        "steps/s",
        Unit::Number,
        &[("train/steps_per_second", "steps")],
    ),
];

/// What the games are like.
const GAMES: &[Plan] = &[
    plan("Length of a game", "plays", Unit::Count, &[("game/length", "plays")]),
    plan(
        "White's share of the points, and unfinished games",
        "share",
        Unit::Share,
        &[("game/white_score", "White's points"), ("game/unfinished", "unfinished games")],
    ),
    plan("Games played", "games", Unit::Count, &[("self_play/games", "games")]),
    plan("Samples in the replay window", "samples", Unit::Count, &[("window/samples", "samples")]),
];

/// The sections of curves as HTML.
#[derive(Debug, Default)]
pub(super) struct CurveSections {
    /// How the network learns.
    pub(super) training: String,
    /// How fast the machine works.
    pub(super) speed: String,
    /// What the games are like.
    pub(super) games: String,
}

/// Draws all curves; `go_on` is the command that trains the run on.
pub(super) fn sections(
    curves: &Curves,
    history: &History,
    go_on: &str,
    faults: &mut Vec<String>,
) -> CurveSections {
    let mut section = |name: &str, plans: &[Plan]| {
        let mut out = String::new();
        for (index, plan) in plans.iter().enumerate() {
            let line = |(tag, name): &(&str, &str)| Line::through(name, &curves.get(tag));
            let chart = Chart {
                id: format!("{name}-{index}"),
                title: plan.title.to_owned(),
                x: Axis { name: "training steps", unit: Unit::Count },
                y: plan.y.clone(),
                lines: plan.lines.iter().map(line).collect(),
                marks: Vec::new(),
                levels: Vec::new(),
            };
            draw(with_minutes(chart, history), &mut out, faults);
        }
        if out.is_empty() {
            let what = "No curves yet: the first points come after 50 steps, or at a save point.";
            return missing(what, go_on);
        }
        format!("<div class=\"charts\">\n{out}</div>\n")
    };
    let training = section("training", TRAINING);
    let speed = section("speed", SPEED);
    let games = section("games", GAMES);
    let training = training + &others(curves, history, faults);
    CurveSections { training, speed, games }
}

/// Curves that no plan knows, as of a later version.
fn others(curves: &Curves, history: &History, faults: &mut Vec<String>) -> String {
    let planned = || [TRAINING, SPEED, GAMES].into_iter().flatten().flat_map(|plan| plan.lines);
    let mut out = String::new();
    let unknown = curves.tags().filter(|tag| planned().all(|(known, _)| known != tag));
    for (index, tag) in unknown.enumerate() {
        let chart = Chart {
            id: format!("other-{index}"),
            title: tag.to_owned(),
            x: Axis { name: "training steps", unit: Unit::Count },
            y: Axis { name: "", unit: Unit::Number },
            lines: vec![Line::through(tag, &curves.get(tag))],
            marks: Vec::new(),
            levels: Vec::new(),
        };
        draw(with_minutes(chart, history), &mut out, faults);
    }
    if out.is_empty() {
        return out;
    }
    details("More curves", &format!("<div class=\"charts\">\n{out}</div>\n"))
}

/// Adds a chart's figure to a section; a chart that cannot be drawn is a fault.
pub(super) fn draw(chart: Chart, out: &mut String, faults: &mut Vec<String>) {
    match chart.figure() {
        Ok(figure) => out.push_str(&figure.unwrap_or_default()),
        Err(error) => faults.push(error.to_string()),
    }
}

/// The chart with minutes of training marked along its top.
fn with_minutes(mut chart: Chart, history: &History) -> Chart {
    let points = || chart.lines.iter().flat_map(|line| &line.points).map(|point| point.x);
    let (first, last) = (points().fold(f64::INFINITY, f64::min), points().fold(0.0, f64::max));
    let Some(end) = history.0.last().map(|point| point.seconds / 60.0) else { return chart };
    let every = round_step(end / 4.0);
    let minutes = (1..=8).map(|index| every * f64::from(index)).take_while(|at| *at <= end);
    chart.marks = minutes
        .filter_map(|at| Some((history.step_at(at)?, minute_text(at))))
        .filter(|(step, _)| (first..=last).contains(step))
        .collect();
    chart
}

/// The least of 1, 2 and 5 times a power of ten that is not less; 1 for what is no distance.
fn round_step(distance: f64) -> f64 {
    if !distance.is_finite() || distance <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(distance.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= distance * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn minute_text(minutes: f64) -> String {
    if minutes >= 120.0 {
        format!("{} h", (minutes / 6.0).round() / 10.0)
    } else {
        format!("{} min", (minutes * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::SavePoint;

    #[test]
    fn minutes_stand_where_their_steps_are() {
        let point = |step, seconds| SavePoint { step, seconds, games: 0 };
        let history = History(vec![point(0, 0.0), point(100, 300.0), point(500, 600.0)]);
        let chart = Chart {
            id: "a".to_owned(),
            title: String::new(),
            x: Axis { name: "training steps", unit: Unit::Count },
            y: Axis { name: "loss", unit: Unit::Number },
            lines: vec![Line::through("a", &[(50.0, 1.0), (500.0, 1.0)])],
            marks: Vec::new(),
            levels: Vec::new(),
        };
        let marks = with_minutes(chart.clone(), &history).marks;
        assert_eq!(marks, [(100.0, "5 min".to_owned()), (500.0, "10 min".to_owned())]);
        assert!(with_minutes(chart, &History::default()).marks.is_empty());
        assert_eq!([0.3, 2.5, 5.0, 51.0, 0.0].map(round_step), [0.5, 5.0, 5.0, 100.0, 1.0]);
        assert_eq!([1.0, 0.5, 150.0].map(minute_text), ["1 min", "0.5 min", "2.5 h"]);
    }

    #[test]
    fn a_run_without_curves_says_how_to_get_them() {
        let mut faults = Vec::new();
        let sections =
            sections(&Curves::default(), &History::default(), "gipf train <a>", &mut faults);
        for section in [&sections.training, &sections.speed, &sections.games] {
            assert!(section.contains("<code>gipf train &lt;a&gt;</code>"), "{section}");
        }
        assert!(faults.is_empty());
    }
}
