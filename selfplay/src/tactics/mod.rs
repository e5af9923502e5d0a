//! Tactical suites: positions with a forced win, proven by exhaustive search, and how many of them a player solves.

mod maker;
mod score;
mod solver;
mod suite;

pub use maker::SuiteMaker;
pub use score::{Solved, solves};
pub use solver::{Exhausted, Solver};
pub use suite::{Puzzle, SUITE_FORMAT, Suite, SuiteError, Tactic};
