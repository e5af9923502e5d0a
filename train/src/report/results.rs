//! What a run's folder tells beside its events and games: history, ratings, matches, gates. Read leniently: what a version
//! before or after this one wrote more or less than this one knows is passed over.

use std::fs;
use std::io;
use std::path::Path;

use gipf_selfplay::PairCounts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The formats of `ratings.json` and `matches.json`.
const FORMATS: [&str; 2] = ["gipf-ratings-1", "gipf-matches-1"];

/// One save point, a line of `history.jsonl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct SavePoint {
    /// Training step.
    pub(super) step: u64,
    /// Training time in seconds, all starts together.
    pub(super) seconds: f64,
    /// Games counted.
    pub(super) games: u64,
}

/// The save points of a run, ascending in steps.
#[derive(Debug, Default, PartialEq)]
pub(super) struct History(pub(super) Vec<SavePoint>);

/// `ratings.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ratings {
    /// The rules of the rated games.
    pub(super) rules: String,
    /// What each decision cost, as `{"nodes": 64}`.
    pub(super) limit: Value,
    /// The player whose Elo is 0.
    pub(super) anchor: String,
    /// White's lead in Elo.
    pub(super) white_advantage: Option<Estimate>,
    /// The players.
    pub(super) players: Vec<RatedPlayer>,
    /// Who met whom.
    pub(super) pairings: Vec<Pairing>,
    /// Games played.
    pub(super) games: u64,
}

/// A number of Elo points with its 95% interval.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Estimate {
    /// The estimate.
    pub(super) elo: Option<f64>,
    /// The interval's lower end; none: no bound.
    pub(super) low: Option<f64>,
    /// Its upper end; none: no bound.
    pub(super) high: Option<f64>,
}

/// A player of the list of ratings.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RatedPlayer {
    /// What it is called.
    pub(super) name: String,
    /// The training step of a checkpoint.
    pub(super) step: Option<u64>,
    /// Its training time in seconds.
    pub(super) seconds: Option<f64>,
    /// Self-play games made until then.
    pub(super) games_made: Option<u64>,
    /// Its rating.
    #[serde(flatten)]
    pub(super) rating: Estimate,
    /// Rated games.
    pub(super) games: u64,
    /// Its share of their points.
    pub(super) score: Option<f64>,
}

/// What two players came to.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tally {
    /// Games over.
    pub(super) games: u64,
    /// Won by the first, as White and as Black.
    pub(super) a_wins: [u64; 2],
    /// Won by the second, as White and as Black.
    pub(super) b_wins: [u64; 2],
    /// Stopped at the limit of plays.
    pub(super) unfinished: u64,
    /// Pairs of games by the first player's points.
    pub(super) pairs: PairCounts,
}

/// A pairing of the ratings.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pairing {
    /// The first player.
    pub(super) a: String,
    /// The second.
    pub(super) b: String,
    /// How it went.
    pub(super) result: Tally,
}

/// `matches.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Matches {
    /// The matches, in the order played.
    pub(super) matches: Vec<PlayedMatch>,
}

/// One match.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PlayedMatch {
    /// The first player.
    pub(super) a: String,
    /// The second.
    pub(super) b: String,
    /// The rules.
    pub(super) rules: String,
    /// Simulations a decision.
    pub(super) nodes: Option<u64>,
    /// How it went.
    pub(super) result: Tally,
}

impl Tally {
    /// Won by the first with either colour.
    pub(super) fn won(&self) -> u64 {
        self.a_wins.iter().fold(0, |sum, wins| sum.saturating_add(*wins))
    }

    /// Won by the second with either colour.
    pub(super) fn lost(&self) -> u64 {
        self.b_wins.iter().fold(0, |sum, wins| sum.saturating_add(*wins))
    }

    /// The first player's share of the points; `None` without a game.
    pub(super) fn score(&self) -> Option<f64> {
        let points = self.won() as f64 + 0.5 * self.unfinished as f64;
        (self.games > 0).then(|| points / self.games as f64)
    }
}

impl History {
    /// The step at a training time in minutes, between save points in proportion; `None` outside of them, and where time was
    /// not measured (deterministic runs).
    pub(super) fn step_at(&self, minutes: f64) -> Option<f64> {
        let seconds = 60.0 * minutes;
        if self.0.last()?.seconds <= 0.0 {
            return None;
        }
        let next = self.0.iter().position(|point| point.seconds >= seconds)?;
        let high = self.0[next];
        if high.seconds == seconds {
            return Some(high.step as f64);
        }
        let low = self.0[next.checked_sub(1)?];
        let share = (seconds - low.seconds) / (high.seconds - low.seconds);
        Some(low.step as f64 + share * (high.step - low.step) as f64)
    }
}

/// Reads `history.jsonl`; a run that has none, as of an earlier version, has no history.
pub(super) fn history(run: &Path, faults: &mut Vec<String>) -> History {
    let mut points: Vec<SavePoint> = Vec::new();
    for point in lines::<SavePoint>(&run.join("history.jsonl"), faults) {
        // After a crash a run does the steps behind its last save point again.
        points.retain(|before| before.step < point.step);
        points.push(point);
    }
    points.retain(|point| point.seconds.is_finite());
    History(points)
}

/// Reads `ratings.json`.
pub(super) fn ratings(run: &Path, faults: &mut Vec<String>) -> Option<Ratings> {
    whole(&run.join("ratings.json"), faults)
}

/// Reads `matches.json`.
pub(super) fn matches(run: &Path, faults: &mut Vec<String>) -> Option<Matches> {
    whole(&run.join("matches.json"), faults)
}

/// Reads `gates.jsonl`: one object a decision about a new checkpoint.
pub(super) fn gates(run: &Path, faults: &mut Vec<String>) -> Vec<serde_json::Map<String, Value>> {
    lines(&run.join("gates.jsonl"), faults)
}

/// A file that is one JSON value of a format known here; `None` where there is no such file.
fn whole<T: DeserializeOwned>(path: &Path, faults: &mut Vec<String>) -> Option<T> {
    let read = || -> Result<Option<T>, String> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| error.to_string())?,
        };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match value.get("format").and_then(Value::as_str) {
            Some(format) if FORMATS.contains(&format) => {}
            found => return Err(format!("format {:?} is unknown", found.unwrap_or(""))),
        }
        serde_json::from_value(value).map(Some).map_err(|error| error.to_string())
    };
    match read() {
        Ok(found) => found,
        Err(fault) => {
            faults.push(format!("{}: {fault}", path.display()));
            None
        }
    }
}

/// The lines of a file, one JSON value each. A last line without an end is being written; one fault stands for all lines
/// that cannot be read.
pub(super) fn lines<T: DeserializeOwned>(path: &Path, faults: &mut Vec<String>) -> Vec<T> {
    let text = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                faults.push(format!("{}: {error}", path.display()));
            }
            return Vec::new();
        }
    };
    let (mut found, mut fault) = (Vec::new(), None);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str(line) {
            Ok(value) => found.push(value),
            Err(error) if line.ends_with('\n') && !line.trim().is_empty() => {
                fault.get_or_insert(format!("line {}: {error}", index + 1));
            }
            Err(_) => {}
        }
    }
    faults.extend(fault.map(|fault| format!("{}, {fault}", path.display())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_read_around_damage_and_interpolated() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut faults = Vec::new();
        assert_eq!(history(folder.path(), &mut faults), History::default());
        let text = "{\"step\":0,\"seconds\":0}\n{\"step\":100,\"seconds\":60,\"new\":1}\nhello\n\
                    {\"step\":300,\"seconds\":90}\n{\"step\":200,\"seconds\":180}\n{\"step\":30";
        fs::write(folder.path().join("history.jsonl"), text).expect("writes");
        let history = history(folder.path(), &mut faults);
        assert_eq!(history.0.iter().map(|point| point.step).collect::<Vec<_>>(), [0, 100, 200]);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].contains("history.jsonl, line 3"), "{faults:?}");
        assert_eq!(history.step_at(1.0), Some(100.0));
        assert_eq!(history.step_at(3.1), None);
        assert_eq!(history.step_at(2.0), Some(150.0));
    }

    #[test]
    fn a_run_without_measured_time_has_no_minutes() {
        let history =
            History(vec![SavePoint::default(), SavePoint { step: 5, ..SavePoint::default() }]);
        assert_eq!(history.step_at(0.0), None);
        assert_eq!(History::default().step_at(1.0), None);
    }

    #[test]
    fn ratings_of_other_versions_are_read_and_damage_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ratings.json");
        let mut faults = Vec::new();
        assert!(ratings(folder.path(), &mut faults).is_none() && faults.is_empty());
        let text = r#"{"format":"gipf-ratings-1","rules":"standard","news":[],"players":
            [{"name":"step 10","step":10,"seconds":null,"elo":12.5,"low":null,"high":40}],
            "pairings":[{"a":"step 10","b":"greedy","result":{"games":4,"a_wins":[2,1],"b_wins":[0,0],"unfinished":1,"pairs":{"counts":[0,0,0,1,1]}}}]}"#;
        fs::write(&path, text).expect("writes");
        let found = ratings(folder.path(), &mut faults).expect("ratings");
        assert_eq!((found.players[0].rating.elo, found.players[0].rating.low), (Some(12.5), None));
        assert_eq!(found.pairings[0].result.score(), Some(0.875));
        assert!(faults.is_empty(), "{faults:?}");
        for bad in ["{", "[]", "{\"format\":\"gipf-ratings-9\"}"] {
            fs::write(&path, bad).expect("writes");
            assert!(ratings(folder.path(), &mut faults).is_none());
        }
        assert_eq!(faults.len(), 3);
        assert!(faults[2].contains("gipf-ratings-9"), "{faults:?}");
    }
}
