//! How many positions of a suite a player solves.

use gipf_core::DEFAULT_MAX_PLAYS;
use serde::Serialize;

use super::Puzzle;
use crate::budget::Budget;
use crate::player::{GameState, Player, PlayerError};
use crate::random::RandomKey;

/// Positions solved and tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Solved {
    /// Positions in which the player's play keeps the forced win.
    pub solved: u32,
    /// All positions.
    pub positions: u32,
}

impl Solved {
    /// Counts one more position.
    pub fn count(&mut self, solved: bool) {
        self.positions += 1;
        self.solved += u32::from(solved);
    }

    /// The share solved, 0 to 1; 0 without a position.
    pub fn share(self) -> f64 {
        f64::from(self.solved) / f64::from(self.positions.max(1))
    }
}

/// Whether a player finds a play that keeps the forced win. It is told of a new game, the first of its plays being this
/// one, whose random streams have the key `(seed, number)`.
///
/// # Errors
/// The player has no play.
pub fn solves(
    player: &mut dyn Player,
    puzzle: &Puzzle,
    key: RandomKey,
    budget: &Budget<'_>,
) -> Result<bool, PlayerError> {
    player.new_game();
    let state =
        GameState { position: &puzzle.position, plays: &[], max_plays: DEFAULT_MAX_PLAYS, key };
    let play = player.choose(&state, budget)?.play;
    Ok(puzzle.winning.contains(&puzzle.position.action_for(play)))
}
