//! What a player thinks of the plays of a game: the value of each decision, the best play, and what the play made has lost.
//!
//! Values are expected points of the side that decides: a win 1, an unfinished game 1/2, a loss 0. A play that the player would have
//! made itself has lost nothing. The worth of any other is that of the position after it, searched like every position of the game;
//! a side game's outcomes are weighed by their probabilities.

use gipf_core::{Color, Play, Position, Rules};
use gipf_selfplay::{Choice, GameState, Player, PlayerError, RandomKey, Score};

use crate::games::PlayedGame;

/// What a player thinks of one decision of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPlay {
    /// The play's place in the game, from 0.
    pub index: usize,
    /// Who made it.
    pub color: Color,
    /// The play.
    pub play: Play,
    /// What the player would have played.
    pub best: Play,
    /// Expected points before it, 0 to 1.
    pub value: f32,
    /// Expected points that it has lost, 0 to 1; 0 for the best play.
    pub lost: f32,
    /// The expected plays, the best one first.
    pub line: Vec<Play>,
}

/// Why a game cannot be judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// The player cannot play.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// The player says nothing of how games end.
    #[error("{0} does not weigh results: a trained player or mcts does")]
    NoOutcomes(String),
    /// Side games that are played elsewhere have no probabilities.
    #[error("rules '{0}': the outcomes of recorded side games have no probabilities")]
    RecordedSideGames(Rules),
}

/// Judges every decision of a game between two plays or more and hands it over as it is found. `choose` lets the player choose, with the
/// budget that each decision may have.
///
/// # Errors
/// The player fails, or is one that says nothing of how games end.
pub fn judge(
    player: &mut dyn Player,
    game: &PlayedGame,
    choose: &dyn Fn(&mut dyn Player, &GameState<'_>) -> Result<Choice, PlayerError>,
    mut take: impl FnMut(JudgedPlay),
) -> Result<(), AnalysisError> {
    if !game.rules().is_searchable() {
        return Err(AnalysisError::RecordedSideGames(*game.rules()));
    }
    player.new_game();
    let mut judge = Judge { player, game, choose, key: RandomKey { seed: 1, game: 0 } };
    let mut actions = Vec::new();
    // Searching a position is the dearest part: that of the position after a play is that of the next decision.
    let mut next: Option<Opinion> = None;
    for (index, &play) in game.plays.iter().enumerate() {
        let position = &game.positions[index];
        let Some(color) = position.decider() else { continue };
        position.actions(&mut actions);
        if actions.len() < 2 {
            continue;
        }
        let opinion = match next.take().filter(|opinion| opinion.index == index) {
            Some(opinion) => opinion,
            None => judge.opinion(index)?,
        };
        let action = position.action_for(play);
        let lost = if action == position.action_for(opinion.play) {
            0.0
        } else {
            let after = judge.after(index + 1, &mut next)?;
            (opinion.value - own(color, after)).max(0.0)
        };
        let Opinion { value, play: best, line, .. } = opinion;
        take(JudgedPlay { index, color, play, best, value, lost, line });
    }
    Ok(())
}

/// What a player thinks of one position of the game.
struct Opinion {
    /// Plays made before it.
    index: usize,
    play: Play,
    /// Expected points of the side that decides.
    value: f32,
    line: Vec<Play>,
}

struct Judge<'a> {
    player: &'a mut dyn Player,
    game: &'a PlayedGame,
    choose: &'a dyn Fn(&mut dyn Player, &GameState<'_>) -> Result<Choice, PlayerError>,
    key: RandomKey,
}

impl Judge<'_> {
    /// What the player thinks of the position after so many plays of the game.
    fn opinion(&mut self, index: usize) -> Result<Opinion, AnalysisError> {
        let (position, plays) = (&self.game.positions[index], &self.game.plays[..index]);
        let (play, value, line) = self.think(position, plays)?;
        Ok(Opinion { index, play, value, line })
    }

    fn think(
        &mut self,
        position: &Position,
        plays: &[Play],
    ) -> Result<(Play, f32, Vec<Play>), AnalysisError> {
        let max_plays = self.game.max_plays;
        let state = GameState { position, plays, max_plays, key: self.key };
        let choice = (self.choose)(self.player, &state)?;
        let thought = choice.thought.unwrap_or_default();
        let value = match thought.score {
            Some(Score::Outcomes([win, unfinished, _])) => win + unfinished / 2.0,
            Some(Score::Proven(plays)) => f32::from(u8::from(plays >= 0)),
            Some(Score::Material(_)) | None => {
                return Err(AnalysisError::NoOutcomes(self.player.name()));
            }
        };
        Ok((choice.play, value, thought.line))
    }

    /// White's expected points after so many plays of the game; an opinion that comes up on the way is kept in `next`.
    fn after(&mut self, index: usize, next: &mut Option<Opinion>) -> Result<f32, AnalysisError> {
        let position = self.game.positions[index];
        let mut actions = Vec::new();
        position.actions(&mut actions);
        match position.decider() {
            Some(color) if actions.len() > 1 && index < self.game.max_plays as usize => {
                let opinion = self.opinion(index)?;
                let value = own(color, opinion.value);
                *next = Some(opinion);
                Ok(value)
            }
            _ => self.beyond(&position, &mut self.game.plays[..index].to_vec()),
        }
    }

    /// White's expected points in a position behind these plays, which need not be the game's.
    fn beyond(&mut self, position: &Position, plays: &mut Vec<Play>) -> Result<f32, AnalysisError> {
        if position.is_over() || plays.len() >= self.game.max_plays as usize {
            return Ok(match position.winner() {
                Some(color) => own(color, 1.0),
                None => 0.5,
            });
        }
        let mut outcomes = Vec::new();
        if let Some(color) = position.decider() {
            let mut actions = Vec::new();
            position.actions(&mut actions);
            if let [only] = actions[..] {
                outcomes.push((only, 1.0));
            } else {
                return Ok(own(color, self.think(position, plays)?.1));
            }
        } else {
            position.outcomes(&mut outcomes);
        }
        let mut mean = 0.0;
        for (play, chance) in outcomes {
            let mut after = *position;
            after.play(play);
            plays.push(play);
            mean += chance as f32 * self.beyond(&after, plays)?;
            plays.pop();
        }
        Ok(mean)
    }
}

/// Points of one colour as White's, and White's as that colour's.
fn own(color: Color, points: f32) -> f32 {
    match color {
        Color::White => points,
        Color::Black => 1.0 - points,
    }
}
