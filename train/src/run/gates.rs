//! `gates.jsonl`: how each checkpoint's test against the best one ended.

use serde::{Deserialize, Serialize};

/// What a test says about a new checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateDecision {
    /// It is better: self-play uses it from now on.
    Accepted,
    /// It is not.
    Rejected,
    /// The games were used up before a decision: the best stays.
    Undecided,
}

/// How one test ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateOutcome {
    /// The new checkpoint's step.
    pub step: u64,
    /// The step of the best one it met.
    pub best: u64,
    /// What came of it.
    pub decision: GateDecision,
    /// Games played.
    pub games: u64,
    /// The new checkpoint's share of the points, 0 to 1.
    pub score: f64,
    /// Its lead in Elo points, with the ends of the 95% interval; none is without bound.
    pub elo: Option<f64>,
    /// The interval's lower end.
    pub elo_low: Option<f64>,
    /// The interval's upper end.
    pub elo_high: Option<f64>,
    /// The test's log-likelihood ratio at its end.
    pub llr: f64,
    /// The leads of all accepted checkpoints so far, summed: how far the best is above the first one. A lead without
    /// bound counts with its interval's lower end.
    pub best_elo: f64,
    /// How long it took; 0 in a deterministic run, which has no clock.
    pub seconds: f64,
}
