//! The game of GIPF, in every variant: board, rules, position, plays, text forms, records and perft.
//!
//! The rules this crate implements are written down in `docs/RULES.md`; comments cite them as
//! "rules, section N". A [`Rules`] value is parsed once from a rules string, [`Rules::start`] gives
//! the first [`Position`], and [`Position::play`] is the only way from one position to the next.
//!
//! ```
//! use gipf_core::{Play, Rules};
//!
//! let rules: Rules = "standard".parse()?;
//! let mut position = rules.start();
//! position.try_play("e1-e2".parse::<Play>()?)?;
//! assert_eq!(position.to_string(), "g2G/5/6/SG4g/6/5/g2G 11,12 BB b m");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod board;
mod color;
pub mod notation;
mod perft;
mod play;
mod playout;
pub mod position;
pub mod record;
pub mod rules;

pub use board::{Direction, Entry, Line, Spot, SpotSet, Symmetry};
pub use color::Color;
pub use perft::perft;
pub use play::{EntryKind, ParsePlayError, Play, PlayKind, SideGameOutcome};
pub use playout::playout;
pub use position::{IllegalPlay, Phase, Position, Stack, Stage, TextError};
pub use rules::{Challenge, Potential, Rules, RulesError, SideGame, Variant};

/// Plays after which a game that has no winner is stopped and called unfinished, unless a caller
/// says otherwise (rules, section 8).
pub const DEFAULT_MAX_PLAYS: u32 = 500;
