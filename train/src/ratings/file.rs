//! `ratings.json`: the ratings of a run as they stand.

use std::fs;
use std::io;
use std::path::Path;

use gipf_selfplay::{ColorPairs, Estimate, PairCounts};
use serde::{Deserialize, Serialize};

use super::RatingsError;
use crate::run::atomic;
use crate::store::DiskWait;

/// Format of `ratings.json`.
pub const RATINGS_FORMAT: &str = "gipf-ratings-1";

/// Name of the file in a run's folder.
pub const RATINGS_FILE: &str = "ratings.json";

/// What each decision of a rated player may cost; players with a number in their name do not heed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum RatedLimit {
    /// New root visits of a search.
    Nodes(u32),
    /// Milliseconds.
    Milliseconds(u64),
}

impl std::fmt::Display for RatedLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RatedLimit::Nodes(nodes) => write!(f, "{nodes} nodes a decision"),
            RatedLimit::Milliseconds(time) => write!(f, "{time} ms a decision"),
        }
    }
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingsFile {
    /// [`RATINGS_FORMAT`].
    pub format: String,
    /// The rules of the games.
    pub rules: String,
    /// The limit of each decision.
    pub limit: RatedLimit,
    /// The seed of openings and players.
    pub seed: u64,
    /// The name of the player whose Elo is 0.
    pub anchor: String,
    /// White's advantage, common to all players.
    pub white_advantage: Estimate,
    /// The strongest first; those without a rating last.
    pub players: Vec<RatedPlayer>,
    /// Who met whom.
    pub pairings: Vec<RatedPairing>,
    /// Games of whole pairs, those that the ratings are made of.
    pub games: u64,
}

/// One player.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedPlayer {
    /// What it is called here: `step 1000` for a checkpoint of the run, else its name.
    pub name: String,
    /// What other commands call it, such as `run:DIR@1000`.
    pub player: String,
    /// A checkpoint's training step.
    pub step: Option<u64>,
    /// Training time at that step in seconds, where the run's history tells it.
    pub seconds: Option<f64>,
    /// Self-play games at that step, where the run's history tells it.
    pub games_made: Option<u64>,
    /// Elo above the anchor, 400 a factor of ten in the odds; none where no games connect the two.
    pub elo: Option<f64>,
    /// The 95% interval's lower end.
    pub low: Option<f64>,
    /// The 95% interval's upper end.
    pub high: Option<f64>,
    /// Games it has played.
    pub games: u64,
    /// Its share of the points in them, 0 to 1.
    pub score: f64,
}

/// Two players who met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedPairing {
    /// The first player's name.
    pub a: String,
    /// The second player's name.
    pub b: String,
    /// How it went.
    pub result: PairingResult,
}

/// The games of two players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairingResult {
    /// Games.
    pub games: u64,
    /// Won by the first as White, and as Black.
    pub a_wins: [u64; 2],
    /// Won by the second as White, and as Black.
    pub b_wins: [u64; 2],
    /// Without a winner.
    pub unfinished: u64,
    /// Pairs by the first player's points.
    pub pairs: PairCounts,
}

impl PairingResult {
    /// What these pairs come to.
    pub fn of(pairs: &ColorPairs) -> Self {
        let count = |wanted: &dyn Fn(usize, usize) -> u64| -> u64 {
            pairs.cells().map(|(white, black, count)| count * wanted(white, black)).sum()
        };
        let is = |found: usize, points: usize| u64::from(found == points);
        PairingResult {
            games: 2 * pairs.pairs(),
            a_wins: [count(&|white, _| is(white, 2)), count(&|_, black| is(black, 2))],
            b_wins: [count(&|_, black| is(black, 0)), count(&|white, _| is(white, 0))],
            unfinished: count(&|white, black| is(white, 1) + is(black, 1)),
            pairs: pairs.points(),
        }
    }

    /// The first player's points: a win 1, an unfinished game 1/2.
    pub fn points(&self) -> f64 {
        (self.a_wins[0] + self.a_wins[1]) as f64 + 0.5 * self.unfinished as f64
    }
}

impl RatingsFile {
    /// The ratings of a run's folder; `None` where nothing was rated.
    ///
    /// # Errors
    /// The file cannot be read, or is of another version.
    pub fn read(run: &Path) -> Result<Option<Self>, RatingsError> {
        let path = run.join(RATINGS_FILE);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| RatingsError::io(&path, error))?,
        };
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| RatingsError::Damaged {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        if file.format != RATINGS_FORMAT {
            let reason = format!("format {:?}, this program reads {RATINGS_FORMAT}", file.format);
            return Err(RatingsError::Damaged { path, reason });
        }
        Ok(Some(file))
    }

    /// Writes the file into a run's folder, whole or not at all.
    ///
    /// # Errors
    /// Any I/O error but a full disk, which is waited for.
    pub fn write(&self, run: &Path, wait: &DiskWait) -> Result<(), RatingsError> {
        let path = run.join(RATINGS_FILE);
        let failed = |error| RatingsError::io(&path, error);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        text.push('\n');
        atomic::write(&path, text.as_bytes(), wait, None).map_err(failed)
    }

    /// The step of the strongest checkpoint of the run itself for which `there` holds.
    pub fn best_step(&self, there: impl Fn(u64) -> bool) -> Option<u64> {
        let rated = self.players.iter().filter_map(|player| Some((player.step?, player.elo?)));
        let best = rated.filter(|(step, _)| there(*step)).max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(step, _)| step)
    }
}
