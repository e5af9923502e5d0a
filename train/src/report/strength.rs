//! How strong the run's players are: ratings, matches, gates.

use std::collections::BTreeSet;

use gipf_selfplay::Elo;
use serde_json::Value;

use super::charts::{Axis, Chart, Line, Point, Unit};
use super::curves::draw;
use super::html::{details, escape, grouped, missing, table};
use super::results::{Estimate, Matches, RatedPlayer, Ratings, Tally};

/// What is known of the players' strength.
#[derive(Debug, Default)]
pub(super) struct Strength {
    /// `ratings.json`.
    pub(super) ratings: Option<Ratings>,
    /// `matches.json`.
    pub(super) matches: Option<Matches>,
    /// `gates.jsonl`.
    pub(super) gates: Vec<serde_json::Map<String, Value>>,
}

impl Strength {
    /// One sentence on the newest player; the sentence that says how to get one where nothing was played.
    pub(super) fn headline(&self, program: &str, run: &str) -> String {
        if let Some(text) = self.ratings.as_ref().and_then(rated_headline) {
            return format!("<p class=\"strong\">{}</p>\n", escape(&text));
        }
        let lines: Vec<String> = self
            .matches
            .iter()
            .flat_map(|matches| &matches.matches)
            .filter_map(match_line)
            .collect();
        if !lines.is_empty() {
            let items: String =
                lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
            return format!("<ul class=\"strong\">{items}</ul>\n");
        }
        let what =
            "How strong it is has not been measured. This does, while it is trained or after:";
        missing(what, &format!("{program} rate {run}"))
    }

    /// The section on strength.
    pub(super) fn section(&self, program: &str, run: &str, faults: &mut Vec<String>) -> String {
        let mut out = String::new();
        match &self.ratings {
            Some(ratings) if !ratings.players.is_empty() => out += &rated(ratings, faults),
            _ => {
                out += &missing("No ratings yet. Make them with", &format!("{program} rate {run}"))
            }
        }
        out += "<h3>Matches</h3>\n";
        let rows: Vec<_> = self.matches.iter().flat_map(|it| &it.matches).map(match_row).collect();
        out += &if rows.is_empty() {
            missing(
                "No matches yet: a run ends with some, and this plays one:",
                &format!("{program} match run:{run}@latest greedy"),
            )
        } else {
            let head = [
                "player",
                "against",
                "rules",
                "nodes",
                "games",
                "won",
                "lost",
                "unfinished",
                "points",
                "Elo (95%)",
            ];
            table("Matches at the end of training", &head, &rows)
        };
        if !self.gates.is_empty() {
            out += "<h3>Gates</h3>\n<p>Which new checkpoints were let into self-play.</p>\n";
            out += &gates(&self.gates);
        }
        out
    }
}

fn rated_headline(ratings: &Ratings) -> Option<String> {
    let rated = ratings.players.iter().filter(|player| player.rating.elo.is_some());
    let newest = rated.filter(|player| player.step.is_some()).max_by_key(|player| player.step)?;
    let anchor = if ratings.anchor.is_empty() { "the weakest" } else { &ratings.anchor };
    Some(format!("{} is rated {} Elo; {anchor} is 0.", newest.name, estimate_text(&newest.rating)))
}

fn match_line(played: &super::results::PlayedMatch) -> Option<String> {
    let score = played.result.score()?;
    Some(format!(
        "{:.1}% of the points against {} over {} games: {} Elo",
        100.0 * score,
        played.b,
        grouped(played.result.games),
        elo_text(&played.result.pairs.elo())
    ))
}

fn match_row(played: &super::results::PlayedMatch) -> Vec<String> {
    let mut row = vec![
        played.a.clone(),
        played.b.clone(),
        played.rules.clone(),
        played.nodes.map_or_else(String::new, grouped),
    ];
    row.extend(tally_cells(&played.result));
    row
}

/// Games, won, lost, unfinished, points, Elo.
fn tally_cells(result: &Tally) -> [String; 6] {
    [
        grouped(result.games),
        grouped(result.won()),
        grouped(result.lost()),
        grouped(result.unfinished),
        result.score().map_or_else(|| "not played".to_owned(), |it| format!("{:.1}%", 100.0 * it)),
        if result.games == 0 { String::new() } else { elo_text(&result.pairs.elo()) },
    ]
}

fn elo_text(elo: &Elo) -> String {
    estimate_text(&Estimate { elo: elo.difference, low: elo.low, high: elo.high })
}

/// `+35 (+10 to +61)`; with one end only, what is known.
fn estimate_text(estimate: &Estimate) -> String {
    let signed = |elo: f64| format!("{elo:+.0}");
    let end = |end: Option<f64>| end.map_or_else(|| "no bound".to_owned(), signed);
    match (estimate.elo, estimate.low, estimate.high) {
        (Some(elo), None, None) => signed(elo),
        (Some(elo), low, high) => format!("{} ({} to {})", signed(elo), end(low), end(high)),
        (None, Some(low), _) => format!("above {low:+.0}"),
        (None, None, Some(high)) => format!("below {high:+.0}"),
        (None, None, None) => "unknown".to_owned(),
    }
}

// Ratings

fn rated(ratings: &Ratings, faults: &mut Vec<String>) -> String {
    let mut out = format!(
        "<p>Elo by maximum likelihood over {} games of {}, {}; {} is 0. White's lead: {} Elo.</p>\n",
        grouped(ratings.games),
        escape(&ratings.rules),
        escape(&limit_text(&ratings.limit)),
        escape(if ratings.anchor.is_empty() { "the weakest" } else { &ratings.anchor }),
        escape(&estimate_text(&ratings.white_advantage.unwrap_or_default())),
    );
    let minutes = Axis { name: "minutes of training", unit: Unit::Number };
    let games = Axis { name: "games of self-play", unit: Unit::Count };
    let curves = [
        curve(ratings, "elo-minutes", "Elo over training time", minutes, |player| {
            player.seconds.map(|seconds| seconds / 60.0)
        }),
        curve(ratings, "elo-games", "Elo over self-play games", games, |player| {
            player.games_made.map(|games| games as f64)
        }),
    ];
    let mut charts = String::new();
    curves.into_iter().for_each(|curve| draw(curve, &mut charts, faults));
    if charts.is_empty() {
        let steps = Axis { name: "training steps", unit: Unit::Count };
        let by_steps = curve(ratings, "elo-steps", "Elo over training steps", steps, |player| {
            player.step.map(|step| step as f64)
        });
        draw(by_steps, &mut charts, faults);
    }
    out += &format!("<div class=\"charts\">\n{charts}</div>\n");
    let mut players: Vec<&RatedPlayer> = ratings.players.iter().collect();
    players.sort_by(|a, b| {
        b.rating.elo.unwrap_or(f64::MIN).total_cmp(&a.rating.elo.unwrap_or(f64::MIN))
    });
    let row = |player: &&RatedPlayer| {
        vec![
            player.name.clone(),
            estimate_text(&player.rating),
            grouped(player.games),
            player.score.map_or_else(String::new, |score| format!("{:.1}%", 100.0 * score)),
            player.seconds.map_or_else(String::new, |it| format!("{:.1}", it / 60.0)),
            player.games_made.map_or_else(String::new, grouped),
        ]
    };
    let rows: Vec<_> = players.iter().map(row).collect();
    let head =
        ["player", "Elo (95%)", "rated games", "points", "minutes of training", "self-play games"];
    out += &table("Ratings", &head, &rows);
    let pair = |it: &super::results::Pairing| {
        [it.a.clone(), it.b.clone()].into_iter().chain(tally_cells(&it.result)).collect()
    };
    let rows: Vec<Vec<String>> = ratings.pairings.iter().map(pair).collect();
    if !rows.is_empty() {
        let head =
            ["player", "against", "games", "won", "lost", "unfinished", "points", "Elo (95%)"];
        out += &details("Who met whom", &table("Pairings of the ratings", &head, &rows));
    }
    out
}

/// The run's checkpoints over what `x_of` counts, the players that do not learn as levels.
fn curve(
    ratings: &Ratings,
    id: &str,
    title: &str,
    x: Axis,
    x_of: fn(&RatedPlayer) -> Option<f64>,
) -> Chart {
    let point = |player: &RatedPlayer| {
        player.step?;
        let (x, y) = (x_of(player)?, player.rating.elo?);
        let interval = Some((player.rating.low, player.rating.high));
        Some(Point { x, y, interval })
    };
    let mut points: Vec<Point> = ratings.players.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let others = ratings.players.iter().filter(|player| player.step.is_none());
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        x,
        y: Axis { name: "Elo", unit: Unit::Elo },
        lines: vec![Line { name: "checkpoints of the run, 95% intervals".to_owned(), points }],
        marks: Vec::new(),
        levels: others.filter_map(|it| Some((it.name.clone(), it.rating.elo?))).collect(),
    }
}

/// `64 nodes a decision` of `{"nodes": 64}`.
fn limit_text(limit: &Value) -> String {
    let parts = limit.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let parts: Vec<String> = parts.map(|(key, value)| format!("{value} {key}")).collect();
    if parts.is_empty() { "no limit told".to_owned() } else { parts.join(", ") + " a decision" }
}

// Gates

/// The decisions as a table of whatever they tell: one column a key that has a plain value.
fn gates(gates: &[serde_json::Map<String, Value>]) -> String {
    let plain = |value: &Value| !value.is_object() && !value.is_array();
    let all = gates.iter().flatten().filter(|(_, value)| plain(value)).map(|(key, _)| key.as_str());
    let mut head: Vec<&str> = all.collect::<BTreeSet<_>>().into_iter().collect();
    // The step heads its row.
    head.sort_by_key(|key| *key != "step");
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or_default())
        }
        Some(value) if plain(value) => value.to_string(),
        Some(_) => String::new(),
    };
    let row = |gate: &serde_json::Map<String, Value>| -> Vec<String> {
        head.iter().map(|key| cell(gate.get(*key))).collect()
    };
    let rows: Vec<_> = gates.iter().map(row).collect();
    let names: Vec<String> = head.iter().map(|key| key.replace('_', " ")).collect();
    table("Gates", &names.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn strength() -> Strength {
        let ratings = json!({
            "format": "gipf-ratings-1", "rules": "standard", "limit": {"nodes": 64, "time": null}, "anchor": "random", "games": 1200,
            "white_advantage": {"elo": 12.0, "low": -3.0, "high": 27.0},
            "players": [
                {"name": "step 0", "step": 0, "seconds": 0.0, "games_made": 0, "elo": 40.0, "low": 10.0, "high": 70.0, "games": 400, "score": 0.2},
                {"name": "step 1000", "step": 1000, "seconds": 300.0, "games_made": 1500, "elo": 900.0, "low": 850.0, "high": null, "games": 400},
                {"name": "<script>greedy", "elo": 300.0, "low": 280.0, "high": 320.0, "games": 400},
            ],
            "pairings": [{"a": "step 1000", "b": "<script>greedy", "result": {"games": 2, "a_wins": [1, 1], "b_wins": [0, 0], "unfinished": 0, "pairs": {"counts": [0, 0, 0, 0, 1]}}}],
        });
        let matches = json!({"matches": [
            {"a": "step 1000", "b": "greedy", "rules": "standard", "nodes": 64, "result": {"games": 4, "a_wins": [2, 1], "b_wins": [1, 0], "unfinished": 0, "pairs": {"counts": [0, 0, 1, 0, 1]}}},
            {"a": "step 1000", "b": "random"},
        ]});
        Strength {
            ratings: serde_json::from_value(ratings).expect("ratings"),
            matches: serde_json::from_value(matches).expect("matches"),
            gates: serde_json::from_value(
                json!([{"step": 500, "accepted": true, "llr": 2.9512, "result": {}}]),
            )
            .expect("gates"),
        }
    }

    #[test]
    fn ratings_come_before_matches_and_both_before_advice() {
        let mut strength = strength();
        let text = strength.headline("gipf", "runs/a");
        assert!(
            text.contains("step 1000 is rated +900 (+850 to no bound) Elo; random is 0."),
            "{text}"
        );
        strength.ratings = None;
        let text = strength.headline("gipf", "runs/a");
        assert!(text.contains("75.0% of the points against greedy over 4 games"), "{text}");
        assert!(!text.contains("random"), "a match that was not played says nothing: {text}");
        strength.matches = None;
        assert!(
            strength.headline("gipf", "runs/<a>").contains("<code>gipf rate runs/&lt;a&gt;</code>")
        );
    }

    #[test]
    fn the_section_holds_curve_tables_and_gates() {
        let (strength, mut faults) = (strength(), Vec::new());
        let section = strength.section("gipf", "runs/a", &mut faults);
        for part in [
            "id=\"elo-minutes\"",
            "id=\"elo-games\"",
            "1,200 games of standard, 64 nodes a decision; random is 0. White's lead: +12 (-3 to +27)",
            "&lt;script&gt;greedy",
            "<td>not played</td>",
            "<td>2.951</td>",
            "<th scope=\"row\">500</th>",
        ] {
            assert!(section.contains(part), "{part} in {section}");
        }
        assert!(!section.contains("<script>") && faults.is_empty(), "{faults:?}");
        let empty = Strength::default().section("gipf", "runs/a", &mut faults);
        assert!(
            empty.contains("gipf rate runs/a") && empty.contains("gipf match run:runs/a@latest")
        );
    }
}
