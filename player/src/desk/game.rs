//! A game as a question brings it along, and its positions.

use gipf_core::{DEFAULT_MAX_PLAYS, Play, Position, Rules};
use serde::{Deserialize, Serialize};

use super::Fault;
use crate::messages::echo;
use crate::refusal::refusal;

/// A game: rules, first position, plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Game {
    /// The rules string.
    pub rules: String,
    /// The first position's text, where it is not the start of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The plays' texts, 500 at most: then the game is unfinished.
    #[serde(default)]
    pub plays: Vec<String>,
}

/// A game whose plays have been made.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The rules.
    pub rules: Rules,
    /// Whether the first position is another one than the start of the rules.
    pub set_up: bool,
    /// The plays.
    pub plays: Vec<Play>,
    /// The positions: one before each play, and the last one.
    pub positions: Vec<Position>,
}

impl Game {
    /// Makes the game's plays.
    ///
    /// # Errors
    /// [`Fault`] that names the rules, the position or the first play that cannot be, from 1.
    pub fn replay(&self) -> Result<Replay, Fault> {
        let rules: Rules = self
            .rules
            .parse()
            .map_err(|error| Fault::new(format!("rules '{}': {error}", echo(&self.rules))))?;
        let mut replay = Replay::start(rules);
        if let Some(text) = &self.start {
            let position = Position::parse(&rules, text)
                .map_err(|error| Fault::new(format!("position '{}': {error}", echo(text))))?;
            replay.set_up = position != replay.positions[0];
            replay.positions[0] = position;
        }
        for play in &self.plays {
            replay.apply(play)?;
        }
        Ok(replay)
    }
}

impl Replay {
    /// A game by these rules before its first play.
    pub fn start(rules: Rules) -> Replay {
        Replay { rules, set_up: false, plays: Vec::new(), positions: vec![rules.start()] }
    }

    /// The position after the last play.
    pub fn last(&self) -> &Position {
        // There is always the first one.
        &self.positions[self.positions.len() - 1]
    }

    /// Whether the limit of plays has been reached without a winner.
    pub fn is_unfinished(&self) -> bool {
        !self.last().is_over() && self.plays.len() >= DEFAULT_MAX_PLAYS as usize
    }

    /// Makes one more play, given as text.
    ///
    /// # Errors
    /// [`Fault`] that numbers the play and says why it cannot be made.
    pub fn apply(&mut self, text: &str) -> Result<(), Fault> {
        let number = self.plays.len() + 1;
        let play: Play =
            text.parse().map_err(|error| Fault::new(format!("play {number}: {error}")))?;
        self.make(play)
    }

    /// Makes one more play.
    ///
    /// # Errors
    /// As [`Replay::apply`].
    pub fn make(&mut self, play: Play) -> Result<(), Fault> {
        let number = self.plays.len() + 1;
        if self.is_unfinished() {
            let fault =
                format!("play {number}: the game ended unfinished after play {}", number - 1);
            return Err(Fault::new(fault));
        }
        let mut position = *self.last();
        if let Some(why) = refusal(&position, play) {
            return Err(Fault::new(format!("play {number} ('{play}'): {why}")));
        }
        position.play(play);
        self.plays.push(play);
        self.positions.push(position);
        Ok(())
    }

    /// The game as a question brings it along, its texts in canonical form.
    pub fn to_game(&self) -> Game {
        Game {
            rules: self.rules.to_string(),
            start: self.set_up.then(|| self.positions[0].to_string()),
            plays: self.plays.iter().map(ToString::to_string).collect(),
        }
    }
}
