//! Players behind one trait, and the simplest of them.

use std::str::FromStr;

use gipf_core::{Play, Position};
use gipf_model::EvalError;

use crate::budget::{Budget, Thought};
use crate::greedy::GreedyPlayer;
use crate::random::{Purpose, RandomKey, below};
use crate::search::SearchResult;

/// A game as the player to move sees it.
#[derive(Clone, Copy)]
pub struct GameState<'a> {
    /// The position to play in. Somebody decides there: it is neither over nor waiting for a side game.
    pub position: &'a Position,
    /// The plays so far, from the game's first position on.
    pub plays: &'a [Play],
    /// The limit of plays after which the game is unfinished.
    pub max_plays: u32,
    /// The key of the game's random streams.
    pub key: RandomKey,
}

impl GameState<'_> {
    /// Plays made so far.
    pub fn ply(&self) -> u32 {
        self.plays.len() as u32
    }
}

/// What a player plays, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// A legal play.
    pub play: Play,
    /// What its search found, if it searched a tree.
    pub search: Option<SearchResult>,
    /// What it thought, if it searched.
    pub thought: Option<Thought>,
}

impl Choice {
    /// A play that was not searched for.
    pub fn unsearched(play: Play) -> Choice {
        Choice { play, search: None, thought: None }
    }
}

/// Why a player has no play.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayerError {
    /// The position has no play to choose: the game is over or a side game is due.
    #[error("there is no play to choose here: {0}")]
    NoChoice(String),
    /// The player's evaluator failed.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// The player itself has broken down or the rules: in a match it loses this game, and the match goes on.
    #[error("{0}")]
    Forfeit(String),
}

/// Whoever chooses plays. A player may follow one game at a time; [`Player::new_game`] tells of another one.
pub trait Player: Send {
    /// What it is called in tables and records.
    fn name(&self) -> String;

    /// A new game begins; what is remembered of the last one can go.
    fn new_game(&mut self) {}

    /// Chooses a play. The same game state, budget and history give the same choice.
    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError>;
}

/// The actions of a position where somebody decides, into `out`.
pub(crate) fn actions_of(position: &Position, out: &mut Vec<Play>) -> Result<(), PlayerError> {
    out.clear();
    if position.decider().is_some() {
        position.actions(out);
    }
    if out.is_empty() { Err(PlayerError::NoChoice(position.to_string())) } else { Ok(()) }
}

/// Plays any action, all equally likely.
#[derive(Clone, Debug, Default)]
pub struct RandomPlayer {
    actions: Vec<Play>,
}

impl Player for RandomPlayer {
    fn name(&self) -> String {
        "random".to_owned()
    }

    fn choose(
        &mut self,
        game: &GameState<'_>,
        _budget: &Budget<'_>,
    ) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        let mut rng = game.key.stream(game.ply(), Purpose::Player);
        Ok(Choice::unsearched(self.actions[below(&mut rng, self.actions.len())]))
    }
}

/// The players that need nothing but their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// [`RandomPlayer`]
    Random,
    /// [`GreedyPlayer`]
    Greedy,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 2] = [BuiltIn::Random, BuiltIn::Greedy];

    /// The name that [`FromStr`] reads.
    pub const fn name(self) -> &'static str {
        match self {
            BuiltIn::Random => "random",
            BuiltIn::Greedy => "greedy",
        }
    }

    /// A player of this kind.
    pub fn player(self) -> Box<dyn Player> {
        match self {
            BuiltIn::Random => Box::new(RandomPlayer::default()),
            BuiltIn::Greedy => Box::new(GreedyPlayer::default()),
        }
    }
}

/// A name that no built-in player has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown player \"{name}\"{}", .nearest.as_ref().map(|nearest| format!(": did you mean \"{nearest}\"?")).unwrap_or_default())]
pub struct UnknownPlayer {
    /// The name.
    pub name: String,
    /// The built-in player whose name is nearest, if one is near.
    pub nearest: Option<String>,
}

impl FromStr for BuiltIn {
    type Err = UnknownPlayer;

    fn from_str(text: &str) -> Result<BuiltIn, UnknownPlayer> {
        BuiltIn::ALL.into_iter().find(|player| player.name() == text).ok_or_else(|| UnknownPlayer {
            name: text.chars().take(80).collect(),
            nearest: nearest_name(text, &BuiltIn::ALL.map(BuiltIn::name)),
        })
    }
}

/// The candidate nearest to a mistyped text by edit distance (letter case does not count), unless even that one differs
/// in more than a third of the letters.
pub fn nearest_name(text: &str, candidates: &[&str]) -> Option<String> {
    let text: String = text.chars().take(80).collect::<String>().to_lowercase();
    let distance = |candidate: &&&str| strsim::osa_distance(&text, &candidate.to_lowercase());
    let nearest = candidates.iter().min_by_key(distance)?;
    let letters = nearest.chars().count().max(text.chars().count());
    (distance(&nearest) * 3 <= letters).then(|| (*nearest).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_mistakes_answered() {
        for player in BuiltIn::ALL {
            assert_eq!(player.name().parse(), Ok(player));
            assert_eq!(player.player().name(), player.name());
        }
        let message = |text: &str| text.parse::<BuiltIn>().unwrap_err().to_string();
        assert_eq!(message("gredy"), "unknown player \"gredy\": did you mean \"greedy\"?");
        assert_eq!(message("Randmo"), "unknown player \"Randmo\": did you mean \"random\"?");
        assert_eq!(message("stockfish"), "unknown player \"stockfish\"");
        assert_eq!(message(""), "unknown player \"\"");
    }
}
