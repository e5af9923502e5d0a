//! Tactical suites as data.

use gipf_core::{Play, Position, Rules};
use serde::{Deserialize, Serialize};

/// The value of [`Suite::format`].
pub const SUITE_FORMAT: &str = "gipf-tactics-1";

/// Positions with forced wins by one rules string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// [`SUITE_FORMAT`]
    pub format: String,
    /// The rules string.
    pub rules: String,
    /// The player whose games they come from, as its name, and how often in a hundred plays a random one stands for its own.
    pub player: String,
    /// The seed of those games.
    pub seed: u64,
    /// The positions.
    pub positions: Vec<Tactic>,
}

/// A position in which the side to decide has a forced win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tactic {
    /// The position text.
    pub position: String,
    /// The fewest plays, of both sides, within which the win is forced.
    pub plays: u32,
    /// The plays within which `winning` was searched for.
    pub within: u32,
    /// Every action after which the win is still forced within `within` plays from here.
    pub winning: Vec<String>,
    /// The number of the game it comes from.
    pub game: u64,
    /// The plays made before it in that game.
    pub ply: u32,
}

/// A [`Tactic`] ready to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// The position; somebody decides there.
    pub position: Position,
    /// As [`Tactic::plays`].
    pub plays: u32,
    /// As [`Tactic::within`].
    pub within: u32,
    /// As [`Tactic::winning`].
    pub winning: Vec<Play>,
}

/// What is wrong with a suite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// A suite of another version.
    #[error("suite format \"{0}\", this program reads {SUITE_FORMAT}")]
    Format(String),
    /// Its rules string.
    #[error("rules '{0}': {1}")]
    Rules(String, String),
    /// A position; the first is number 1.
    #[error("position {number}: {fault}")]
    Position {
        /// Its number.
        number: usize,
        /// What is wrong with it.
        fault: String,
    },
}

impl Suite {
    /// The suite's positions by the rules.
    ///
    /// # Errors
    /// Another format, rules, positions or plays that are none; whether the wins are forced is not looked at.
    pub fn puzzles(&self) -> Result<Vec<Puzzle>, SuiteError> {
        if self.format != SUITE_FORMAT {
            return Err(SuiteError::Format(self.format.chars().take(40).collect()));
        }
        let rules: Rules = self
            .rules
            .parse()
            .map_err(|error| SuiteError::Rules(self.rules.clone(), format!("{error}")))?;
        let puzzle = |(index, tactic): (usize, &Tactic)| {
            tactic.puzzle(&rules).map_err(|fault| SuiteError::Position { number: index + 1, fault })
        };
        self.positions.iter().enumerate().map(puzzle).collect()
    }
}

impl Tactic {
    fn puzzle(&self, rules: &Rules) -> Result<Puzzle, String> {
        let position = Position::parse(rules, &self.position).map_err(|error| error.to_string())?;
        if position.decider().is_none() {
            return Err("nobody decides in it".to_owned());
        }
        let mut winning = Vec::with_capacity(self.winning.len());
        for text in &self.winning {
            let play: Play = text.parse().map_err(|error| format!("play '{text}': {error}"))?;
            if !position.is_legal(play) || position.action_for(play) != play {
                return Err(format!("'{text}' is no action there"));
            }
            winning.push(play);
        }
        if winning.is_empty() || self.plays == 0 || self.plays > self.within {
            return Err("it has no forced win".to_owned());
        }
        Ok(Puzzle { position, plays: self.plays, within: self.within, winning })
    }
}
