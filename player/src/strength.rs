//! How strong a trained player plays, from 1 to 10.

use gipf_core::Play;
use gipf_selfplay::{Budget, Candidate, Choice, GameState, Player, PlayerError, Purpose, Thought};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;

/// How strong a trained player plays: 1, for beginners, to 10, as well as it can.
///
/// Each step scores 69 to 90% against the one below (docs/results/strengths.json). Below 10
/// a decision has a number of simulations that is the same whatever the time, and at the two lowest steps the play is drawn from the
/// policy instead of being the search's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strength(u8);

/// A number that is no strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a strength is a number from 1 to 10")]
pub struct StrengthError;

/// What holds a player back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handicap {
    /// The most new visits of the root, 1 or more.
    pub nodes: u32,
    /// A play's chance is its share of the search's policy to the power of one over this; 0: the search's choice is played.
    pub temperature: f64,
}

/// The handicaps of the strengths 1 to 9.
const HANDICAPS: [Handicap; 9] = [
    Handicap { nodes: 1, temperature: 1.2 },
    Handicap { nodes: 1, temperature: 0.7 },
    Handicap { nodes: 3, temperature: 0.0 },
    Handicap { nodes: 18, temperature: 0.0 },
    Handicap { nodes: 26, temperature: 0.0 },
    Handicap { nodes: 34, temperature: 0.0 },
    Handicap { nodes: 46, temperature: 0.0 },
    Handicap { nodes: 80, temperature: 0.0 },
    Handicap { nodes: 180, temperature: 0.0 },
];

impl Strength {
    /// The weakest.
    pub const LEAST: Strength = Strength(1);
    /// As well as the player can.
    pub const FULL: Strength = Strength(10);
    /// All of them, the weakest first.
    pub const ALL: [Strength; 10] = {
        let mut all = [Strength::LEAST; 10];
        let mut at = 0;
        while at < 10 {
            all[at] = Strength(at as u8 + 1);
            at += 1;
        }
        all
    };

    /// The strength of this number.
    ///
    /// # Errors
    /// It is not from 1 to 10.
    pub fn new(number: u32) -> Result<Strength, StrengthError> {
        let index = number.checked_sub(1).ok_or(StrengthError)?;
        Strength::ALL.get(index as usize).copied().ok_or(StrengthError)
    }

    /// 1 to 10.
    pub fn number(self) -> u32 {
        u32::from(self.0)
    }

    /// What holds the player back; `None` at full strength.
    pub fn handicap(self) -> Option<Handicap> {
        HANDICAPS.get(usize::from(self.0) - 1).copied()
    }

    /// Lets a player choose with this strength. The same game state, budget and history give the same choice.
    ///
    /// # Errors
    /// Those of the player.
    pub fn choose(
        self,
        player: &mut dyn Player,
        game: &GameState<'_>,
        budget: &Budget<'_>,
    ) -> Result<Choice, PlayerError> {
        let Some(handicap) = self.handicap() else { return player.choose(game, budget) };
        handicap.choose(player, game, budget)
    }
}

impl Default for Strength {
    fn default() -> Strength {
        Strength::FULL
    }
}

impl Handicap {
    /// Lets a player choose under this handicap.
    ///
    /// # Errors
    /// Those of the player.
    pub fn choose(
        &self,
        player: &mut dyn Player,
        game: &GameState<'_>,
        budget: &Budget<'_>,
    ) -> Result<Choice, PlayerError> {
        let nodes = Some(budget.nodes.map_or(self.nodes, |nodes| nodes.min(self.nodes)));
        let mut choice = player.choose(game, &Budget { nodes, ..*budget })?;
        let Some(search) = choice.search.as_ref().filter(|_| self.temperature > 0.0) else {
            return Ok(choice);
        };
        if let Some(play) = self.draw(&search.policy, game)
            && play != choice.play
        {
            choice.play = play;
            if let Some(thought) = &mut choice.thought {
                put_first(thought, play);
            }
        }
        Ok(choice)
    }

    /// A play drawn from a policy; `None` where no play has a share.
    fn draw(&self, policy: &[(Play, f32)], game: &GameState<'_>) -> Option<Play> {
        // Of shares relative to the largest: no power of a small one is 0 for all.
        let most = policy.iter().map(|&(_, share)| share).fold(0.0, f32::max);
        let weight =
            |&(_, share): &(Play, f32)| f64::from(share / most).powf(1.0 / self.temperature);
        let chances = WeightedIndex::new(policy.iter().map(weight)).ok()?;
        let mut rng = game.key.stream(game.ply(), Purpose::Sample);
        Some(policy[chances.sample(&mut rng)].0)
    }
}

/// What a thought becomes when this is the play that is made.
fn put_first(thought: &mut Thought, play: Play) {
    let of_play = |candidate: &Candidate| candidate.line.first() == Some(&play);
    let candidates = &mut thought.candidates;
    (thought.score, thought.line) = match candidates.iter().position(of_play) {
        Some(at) => {
            candidates[..=at].rotate_right(1);
            (Some(candidates[0].score), candidates[0].line.clone())
        }
        None => (None, vec![play]),
    };
}
