//! The folder of a run: configuration, state, checkpoints, games, and a lock.
//!
//! ```text
//! RUN/config.toml                          the file the run was made from, byte for byte
//! RUN/settings.jsonl                       overrides in force, each with the step at which it came
//! RUN/state.json                           where the run stands; written last
//! RUN/checkpoints/step-00001234.safetensors
//! RUN/learner/step-00001234.safetensors    weights, averages and optimizer of the newest save point
//! RUN/games/000001.jsonl.zst               the games (crate::store)
//! RUN/events/                              TensorBoard
//! RUN/matches.json                         the table of matches that the run last ended with
//! RUN/history.jsonl                        time, games and positions at each save point
//! RUN/gates.jsonl                          each checkpoint's test against the best (crate::learner)
//! RUN/ratings.json, RUN/ratings.svg        Elo of checkpoints (crate::ratings)
//! RUN/ratings/                             the games behind them
//! RUN/lock                                 the process that works here
//! ```

pub mod atomic;
mod checkpoints;
mod error;
mod folder;
mod gates;
mod history;
pub mod journal;
mod lock;
mod place;
mod settings;
mod state;
mod view;

pub use checkpoints::{CheckpointFile, checkpoint_name, list_checkpoints};
pub use error::RunError;
pub use folder::RunFolder;
pub use gates::{GateDecision, GateOutcome};
pub use history::HistoryPoint;
pub use lock::RunLock;
pub use settings::LoggedSetting;
pub use state::{STATE_FORMAT, State, StreamState, worker_name};
pub use view::RunView;

#[cfg(test)]
mod tests;
