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
//! RUN/lock                                 the process that works here
//! ```

pub mod atomic;
mod checkpoints;
mod error;
mod folder;
mod lock;
mod settings;
mod state;

pub use checkpoints::{CheckpointFile, checkpoint_name, list_checkpoints};
pub use error::RunError;
pub use folder::{RunFolder, RunView};
pub use lock::RunLock;
pub use settings::LoggedSetting;
pub use state::{STATE_FORMAT, State, StreamState, worker_name};

#[cfg(test)]
mod tests;
