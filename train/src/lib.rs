//! The harness around the game: runs, records, replay window, learner and the command line of the program `gipf`.
//!
//! Records of games are the truth and tensors are derived from them; a run is a folder that can be killed at any moment
//! and gone on with.
#![forbid(unsafe_code)]

pub mod cluster;
pub mod commands;
pub mod arrays;
pub mod config;
pub mod cpu;
pub mod evaluators;
pub mod faults;
pub mod identity;
pub mod learner;
pub mod mixes;
pub mod onnx;
pub mod progress;
pub mod ratings;
pub mod report;
pub mod run;
pub mod store;
pub mod transport;
pub mod window;

#[cfg(test)]
mod test_games;
