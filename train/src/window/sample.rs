//! One decision of a game, as the window holds it.

use gipf_core::record::{GameRecord, GameResult, RecordError};
use gipf_core::{Play, Position};

/// A searched decision. The policy lies beside it, one u16 for each action in the order of [`Position::actions`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The position decided.
    pub position: Position,
    /// Value after the search, from White's side, -1 to 1.
    pub search_value: f32,
    /// Plays from here to the game's end, this one included.
    pub plays_left: u16,
    /// Length of the policy; 0 after a fast search, whose policy is no target.
    pub policy_length: u16,
    /// Where the policy begins in its chunk.
    pub(super) policy_start: u32,
    /// How the game ended; a forfeited game counts as unfinished, because the board had not decided it.
    pub result: GameResult,
}

/// The samples of a game with their policies one after the other.
#[derive(Debug, Default)]
pub(super) struct GameSamples {
    pub(super) samples: Vec<Sample>,
    pub(super) policies: Vec<u16>,
    actions: Vec<Play>,
}

impl GameSamples {
    /// Replays a game; its searched decisions become samples.
    pub(super) fn fill(&mut self, record: &GameRecord) -> Result<(), RecordError> {
        self.samples.clear();
        self.policies.clear();
        let game = record.replay()?;
        let count = record.plays.len();
        let result = if record.forfeit.is_some() { GameResult::Unfinished } else { record.result };
        for (index, (position, recorded)) in game.positions.iter().zip(&record.plays).enumerate() {
            let Some(search) = &recorded.s else { continue };
            let start = self.policies.len();
            if search.full {
                position.actions(&mut self.actions);
                self.policies.resize(start + self.actions.len(), 0);
                let policy = &mut self.policies[start..];
                for (text, weight) in &search.pi {
                    // Replaying has checked the text; an action that is not there would be a bug of ours, and has no weight.
                    let action = text.parse::<Play>().ok().map(|play| position.action_for(play));
                    if let Some(place) =
                        action.and_then(|action| self.actions.iter().position(|a| *a == action))
                    {
                        policy[place] = *weight;
                    }
                }
            }
            self.samples.push(Sample {
                position: *position,
                search_value: search.q,
                plays_left: u16::try_from(count - index).unwrap_or(u16::MAX),
                policy_length: (self.policies.len() - start) as u16,
                policy_start: start as u32,
                result,
            });
        }
        Ok(())
    }
}
