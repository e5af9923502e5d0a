//! The replay window: the newest samples of a run, in memory, bounded.

mod chunks;
mod error;
mod game;
mod growth;
mod label;
mod replay;
mod sample;
mod single;

pub use error::WindowError;
pub use game::labelled_game;
pub use growth::Growth;
pub use label::{Labelled, ValueMix};
pub use replay::{Added, Drawing, Replay, ReplayState};
pub use sample::Sample;
pub use single::{Window, WindowState};

#[cfg(test)]
mod auxiliary_tests;
#[cfg(test)]
mod tests;
