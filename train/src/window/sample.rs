//! One decision of a game, as the window holds it.

use gipf_core::record::{GameRecord, GameResult, RecordError};
use gipf_core::{Color, Play, Position};

/// After how many plays the swing of the balance is measured. A row is built, dealt with and answered within two turns of each side,
/// of one or two plays each: fewer would see half an exchange, many more what nobody can foresee from here. (Self-play's trees are
/// two to five plays deep along their best line.)
const SWING_PLAYS: usize = 8;

/// A searched decision. The policy lies beside it, one u16 for each action in the order of [`Position::actions`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The position decided.
    pub position: Position,
    /// Value after the search, from White's side, -1 to 1.
    pub search_value: f32,
    /// Plays from here to the game's end, this one included.
    pub plays_left: u16,
    /// Where the other side's reply lies: so many samples later in the same game; 0: it has none with a policy. See
    /// [`GameSamples::link_replies`].
    pub(super) reply: u16,
    /// By how much White's lead in basic pieces ([`Position::basic_pieces`]) is larger 8 plays later, or at the game's end if that is
    /// sooner; none where the game was stopped before.
    pub swing: Option<i16>,
    /// How much the search surprised the network, in nats; none after a fast search and in records of older versions.
    pub surprise: Option<f32>,
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
    /// The turn of each sample, counted from the game's start.
    turns: Vec<u32>,
}

impl GameSamples {
    /// Replays a game; its searched decisions become samples.
    pub(super) fn fill(&mut self, record: &GameRecord) -> Result<(), RecordError> {
        self.samples.clear();
        self.policies.clear();
        self.turns.clear();
        let game = record.replay()?;
        let count = record.plays.len();
        let result = if record.forfeit.is_some() { GameResult::Unfinished } else { record.result };
        let (mut turn, mut mover) = (0, None);
        for (index, (position, recorded)) in game.positions.iter().zip(&record.plays).enumerate() {
            turn += u32::from(mover.replace(position.mover()) != Some(position.mover()));
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
            let end = game.positions.last().filter(|end| end.is_over());
            let later = game.positions.get(index + SWING_PLAYS).or(end);
            self.turns.push(turn);
            self.samples.push(Sample {
                position: *position,
                search_value: search.q,
                plays_left: u16::try_from(count - index).unwrap_or(u16::MAX),
                reply: 0,
                swing: later.map(|later| lead(later) - lead(position)),
                surprise: search.kl.filter(|_| search.full),
                policy_length: (self.policies.len() - start) as u16,
                policy_start: start as u32,
                result,
            });
        }
        self.link_replies();
        Ok(())
    }

    /// Finds each sample's reply: the first later decision of the other side that was searched fully, in the same turn (a removal of
    /// its rows, a challenge) or in the next one.
    fn link_replies(&mut self) {
        for at in 0..self.samples.len() {
            let decider = self.samples[at].position.decider();
            let near = self.turns[at..].iter().take_while(|turn| **turn <= self.turns[at] + 1);
            let reply = self.samples[at..at + near.count()]
                .iter()
                .position(|later| later.policy_length > 0 && later.position.decider() != decider);
            self.samples[at].reply = reply.and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
        }
    }
}

/// White's lead in basic pieces. Potentials do not count: they leave the game by their owner's choice too, and do not come back
/// whoever removes them.
fn lead(position: &Position) -> i16 {
    let [white, black] = Color::ALL.map(|color| i16::from(position.basic_pieces(color)));
    white - black
}
