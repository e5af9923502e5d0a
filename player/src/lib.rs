//! A player of GIPF as a program of its own, and as a library: trained players from their files, the engine protocol UGI, a page for
//! the browser and a service behind it, boards drawn as text, and the rules of a position in words.
//!
//! - [`PlayerFile`]: a trained player's file, read and checked.
//! - [`Session`]: such a player at a game. [`Budget`] says how much it may think, [`Choice`] what came of it.
//! - [`Strength`]: how well it plays, from 1 to 10.
//! - [`desk`]: what a page in the browser asks, as JSON.
//! - [`analysis`]: what it thinks of each play of a game that was played.
//!
//! Nothing here links libtorch. Without the feature `program`, which is on unless it is turned off, there is no engine, and the
//! library starts no thread, reads no clock and builds for wasm32.
#![forbid(unsafe_code)]

#[cfg(feature = "program")]
pub mod analyse;
pub mod analysis;
pub mod desk;
pub mod drawing;
mod file;
pub mod games;
pub mod messages;
#[cfg(feature = "program")]
pub mod named;
#[cfg(feature = "program")]
pub mod page;
pub mod refusal;
#[cfg(feature = "serve")]
pub mod serve;
mod session;
pub mod shipped;
pub mod situation;
mod strength;
#[cfg(feature = "program")]
pub mod ugi;
mod words;

pub use file::{PlayerFile, UnknownRules};
pub use gipf_selfplay::{Budget, Candidate, Choice, Clock, PlayerError, Score, Thought};
pub use session::{Session, SessionError};
pub use strength::{Handicap, Strength, StrengthError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
