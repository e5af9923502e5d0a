//! A player against itself, one game at a time: for players that share no batches, and for time.

use std::sync::atomic::{AtomicBool, Ordering};

use gipf_core::record::{GameRecord, GameResult};
use gipf_core::{Play, Position};

use crate::budget::{Budget, Timer};
use crate::config::OpeningConfig;
use crate::contestant::Limit;
use crate::given::Given;
use crate::player::{GameState, Player, PlayerError};
use crate::random::{Purpose, below};
use crate::record::{Made, drawn_play, game_record};
use crate::source::ListedGame;

/// Plays both sides of its games.
///
/// Before `opening.sampled_plays` a play is drawn from the policy of the player's search, and evenly from all actions where the
/// player has none; there are no random plays besides.
pub struct SoloPlayer {
    player: Box<dyn Player>,
    limit: Limit,
    opening: OpeningConfig,
    max_plays: u32,
    checkpoint: u64,
    given: Given,
}

impl SoloPlayer {
    /// A player with what each decision may cost. A game that reaches `max_plays` (1 or more) is unfinished; `checkpoint` is
    /// the step of its network for the records, 0 without one.
    pub fn new(
        player: Box<dyn Player>,
        limit: Limit,
        opening: OpeningConfig,
        max_plays: u32,
        checkpoint: u64,
    ) -> SoloPlayer {
        SoloPlayer { player, limit, opening, max_plays, checkpoint, given: Given::default() }
    }

    /// Plays a game to its end; `None` where `stop` is set before.
    ///
    /// # Errors
    /// The player fails or makes an illegal play.
    pub fn play(
        &mut self,
        game: &ListedGame,
        stop: &AtomicBool,
    ) -> Result<Option<GameRecord>, PlayerError> {
        self.player.new_game();
        let mut position = game.rules().start();
        let (mut made, mut plays) = (Vec::new(), Vec::new());
        while !position.is_over() && plays.len() < self.max_plays as usize {
            let given = self.given.play(&position, game.key(), plays.len() as u32);
            let next = match given {
                Some(play) => Made::unsearched(play),
                None => self.decide(game, &position, &plays, stop)?,
            };
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            position.play(next.play);
            plays.push(next.play);
            made.push(next);
        }
        Ok(Some(game_record(game, self.max_plays, GameResult::of(&position), &made)))
    }

    fn decide(
        &mut self,
        game: &ListedGame,
        position: &Position,
        plays: &[Play],
        stop: &AtomicBool,
    ) -> Result<Made, PlayerError> {
        let (key, ply) = (game.key(), plays.len() as u32);
        let state = GameState { position, plays, max_plays: self.max_plays, key };
        let timer = Timer::new(self.limit.time).stopped_by(stop);
        let Limit { nodes, depth, .. } = self.limit;
        let budget = Budget { nodes, depth, clock: Some(&timer), ..Budget::default() };
        let choice = self.player.choose(&state, &budget)?;
        let opening = ply < self.opening.sampled_plays;
        let play = match &choice.search {
            Some(found) if opening && !found.policy.is_empty() => {
                drawn_play(&found.policy, self.opening.temperature, key, ply)
            }
            None if opening => {
                let mut rng = key.stream(ply, Purpose::Sample);
                self.given.actions[below(&mut rng, self.given.actions.len())]
            }
            _ => choice.play,
        };
        if !position.is_legal(play) {
            let name = self.player.name();
            return Err(PlayerError::Forfeit(format!("{name}: '{play}' is not legal here")));
        }
        Ok(match &choice.search {
            Some(found) => Made::searched(play, found, false, self.checkpoint),
            None => Made::unsearched(play),
        })
    }
}
