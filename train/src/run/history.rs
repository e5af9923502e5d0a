//! `history.jsonl`: what the run had used at each of its save points.

use serde::{Deserialize, Serialize};

use super::state::State;

/// A save point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryPoint {
    /// Training steps done.
    pub step: u64,
    /// Training time in seconds, all starts together; 0 in a deterministic run, which has no clock.
    pub seconds: f64,
    /// Games counted.
    pub games: u64,
    /// Positions decided in self-play.
    pub positions: u64,
    /// Training samples made.
    pub samples_made: u64,
    /// Processor time of all the program's threads in seconds, all starts together; what a killed start used after its
    /// last save point is not known.
    pub cpu_seconds: f64,
}

impl HistoryPoint {
    /// The point of a state.
    pub fn of(state: &State, cpu_seconds: f64) -> Self {
        HistoryPoint {
            step: state.step,
            seconds: state.seconds,
            games: state.games,
            positions: state.positions,
            samples_made: state.samples_made,
            cpu_seconds,
        }
    }
}
