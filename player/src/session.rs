//! A trained player at a game.

use gipf_core::{DEFAULT_MAX_PLAYS, IllegalPlay, Play, Position, Rules};
use gipf_model::Evaluator;
use gipf_selfplay::{
    Budget, Choice, GameState, NetworkPlayer, Player, PlayerError, Purpose, RandomKey,
};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;

use crate::file::{PlayerFile, UnknownRules};
use crate::strength::Strength;

/// A trained player at a game: the position, the plays that led there, and the player, who keeps what it has searched from one
/// decision to the next.
///
/// It starts no thread and reads no clock: a limit of time is a [`gipf_selfplay::Clock`] in the [`Budget`], told by whoever has one.
pub struct Session {
    player: NetworkPlayer<Box<dyn Evaluator>>,
    file: PlayerFile,
    rules: Rules,
    position: Position,
    plays: Vec<Play>,
    max_plays: u32,
    strength: Strength,
    key: RandomKey,
}

/// Why a game cannot be set up so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The player was not trained on the rules.
    #[error(transparent)]
    UnknownRules(#[from] UnknownRules),
    /// A play of a list is not legal.
    #[error("play {} ('{play}'): {error}", .index + 1)]
    IllegalPlay {
        /// Its place in the list, from 0.
        index: usize,
        /// The play.
        play: Play,
        /// Why.
        error: IllegalPlay,
    },
}

impl Session {
    /// A game from the start of these rules, by the player of a file.
    ///
    /// # Errors
    /// The player was not trained on these rules.
    pub fn new(file: &PlayerFile, rules: Rules) -> Result<Session, SessionError> {
        file.check_rules(&rules)?;
        let (position, key) = (rules.start(), RandomKey { seed: 1, game: 0 });
        Ok(Session {
            player: file.player(),
            file: file.clone(),
            rules,
            position,
            plays: Vec::new(),
            max_plays: DEFAULT_MAX_PLAYS,
            strength: Strength::FULL,
            key,
        })
    }

    /// Begins a game anew, by these rules and with this seed of everything random; another game of the same seed draws otherwise.
    ///
    /// # Errors
    /// The player was not trained on these rules; the old game stays.
    pub fn begin(&mut self, rules: Rules, seed: u64) -> Result<(), SessionError> {
        self.begin_as(rules, RandomKey { seed, game: self.key.game.wrapping_add(1) })
    }

    /// The same with a game of its own of everything random: the same key, the same draws.
    ///
    /// # Errors
    /// As [`Session::begin`].
    pub fn begin_as(&mut self, rules: Rules, key: RandomKey) -> Result<(), SessionError> {
        self.file.check_rules(&rules)?;
        self.player.new_game();
        (self.rules, self.position) = (rules, rules.start());
        self.plays.clear();
        self.key = key;
        Ok(())
    }

    /// How strong the player plays from now on.
    pub fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    /// After how many plays the game is unfinished, 1 or more.
    pub fn set_max_plays(&mut self, max_plays: u32) {
        self.max_plays = max_plays.max(1);
    }

    /// Sets up the position `start` with these plays made; `None`: the start of the game's rules. What was searched is kept where the
    /// plays go on from those before.
    ///
    /// # Errors
    /// Names the first play that is not legal, or the position's rules where the player does not know them; the old position stays.
    pub fn set_position(
        &mut self,
        start: Option<&Position>,
        plays: &[Play],
    ) -> Result<(), SessionError> {
        let mut position = start.copied().unwrap_or_else(|| self.rules.start());
        self.file.check_rules(position.rules())?;
        for (index, &play) in plays.iter().enumerate() {
            let illegal = |error| SessionError::IllegalPlay { index, play, error };
            position.try_play(play).map_err(illegal)?;
        }
        (self.rules, self.position) = (*position.rules(), position);
        self.plays.clear();
        self.plays.extend_from_slice(plays);
        Ok(())
    }

    /// Makes a play, of whoever decides, or the outcome of a side game.
    ///
    /// # Errors
    /// It is not legal; the position stays.
    pub fn play(&mut self, play: Play) -> Result<(), SessionError> {
        let index = self.plays.len();
        let illegal = |error| SessionError::IllegalPlay { index, play, error };
        self.position.try_play(play).map_err(illegal)?;
        self.plays.push(play);
        Ok(())
    }

    /// Draws the outcome of the side game that is due, by its probabilities, and makes it; `None` where none is due.
    pub fn draw_outcome(&mut self) -> Option<Play> {
        let mut outcomes = Vec::new();
        self.position.outcomes(&mut outcomes);
        let chances = WeightedIndex::new(outcomes.iter().map(|&(_, chance)| chance)).ok()?;
        let mut rng = self.key.stream(self.plays.len() as u32, Purpose::Outcome);
        let (play, _) = outcomes[chances.sample(&mut rng)];
        self.play(play).ok().map(|()| play)
    }

    /// What the player would play, what it expects then and what it thinks of every play that it has looked at
    /// ([`gipf_selfplay::Thought::candidates`]). It makes no play.
    ///
    /// # Errors
    /// Nobody has to decide: the game is over or a side game is due.
    pub fn think(&mut self, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        if self.is_over() {
            return Err(PlayerError::NoChoice(self.position.to_string()));
        }
        let game = GameState {
            position: &self.position,
            plays: &self.plays,
            max_plays: self.max_plays,
            key: self.key,
        };
        let budget = Budget { candidates: usize::MAX, ..*budget };
        self.strength.choose(&mut self.player, &game, &budget)
    }

    /// The position.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The plays that led to it.
    pub fn plays(&self) -> &[Play] {
        &self.plays
    }

    /// Whether the game has a winner or has reached its limit of plays.
    pub fn is_over(&self) -> bool {
        self.position.is_over() || self.plays.len() >= self.max_plays as usize
    }

    /// The player's file.
    pub fn file(&self) -> &PlayerFile {
        &self.file
    }
}
