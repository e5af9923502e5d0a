//! Players behind one trait, and the simplest of them.

use std::fmt;
use std::str::FromStr;

use gipf_core::{Play, Position};
use gipf_model::EvalError;

use crate::alphabeta::{AlphaBetaPlayer, MOST_DEPTH};
use crate::budget::{Budget, Thought};
use crate::greedy::GreedyPlayer;
use crate::mcts::{MOST_PLAYOUTS, MctsPlayer};
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

/// The players that need nothing but their name: `random`, `greedy`, `alphabeta`, `alphabeta:DEPTH`, `mcts`,
/// `mcts:PLAYOUTS`. `FromStr` reads it, `Display` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// [`RandomPlayer`]
    Random,
    /// [`GreedyPlayer`]
    Greedy,
    /// [`AlphaBetaPlayer`]
    AlphaBeta {
        /// Plays it looks ahead at every decision, 1 to 64, whatever the budget; `None`: as the budget says.
        depth: Option<u32>,
    },
    /// [`MctsPlayer`]
    Mcts {
        /// Playouts of every decision, 1 to 10,000,000, whatever the budget; `None`: as the budget says.
        playouts: Option<u32>,
    },
}

impl BuiltIn {
    /// All of them, each without a number of its own.
    pub const ALL: [BuiltIn; 4] = [
        BuiltIn::Random,
        BuiltIn::Greedy,
        BuiltIn::AlphaBeta { depth: None },
        BuiltIn::Mcts { playouts: None },
    ];

    /// The names of [`BuiltIn::ALL`].
    pub const NAMES: [&str; 4] = ["random", "greedy", "alphabeta", "mcts"];

    /// What [`FromStr`] reads, for help texts and messages.
    pub const FORMS: &str = "random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS]";

    /// The name without a number.
    pub const fn name(self) -> &'static str {
        BuiltIn::NAMES[match self {
            BuiltIn::Random => 0,
            BuiltIn::Greedy => 1,
            BuiltIn::AlphaBeta { .. } => 2,
            BuiltIn::Mcts { .. } => 3,
        }]
    }

    /// The number in the name.
    const fn number(self) -> Option<u32> {
        match self {
            BuiltIn::Random | BuiltIn::Greedy => None,
            BuiltIn::AlphaBeta { depth } => depth,
            BuiltIn::Mcts { playouts } => playouts,
        }
    }

    /// A player of this kind.
    pub fn player(self) -> Box<dyn Player> {
        match self {
            BuiltIn::Random => Box::new(RandomPlayer::default()),
            BuiltIn::Greedy => Box::new(GreedyPlayer::default()),
            BuiltIn::AlphaBeta { depth } => Box::new(AlphaBetaPlayer::new(depth)),
            BuiltIn::Mcts { playouts } => Box::new(MctsPlayer::new(playouts)),
        }
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            None => f.write_str(self.name()),
            Some(number) => write!(f, "{}:{number}", self.name()),
        }
    }
}

/// A text that names no built-in player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerNameError {
    /// No built-in player is called so.
    #[error("unknown player \"{name}\"{}", .nearest.as_ref().map(|nearest| format!(": did you mean \"{nearest}\"?")).unwrap_or_default())]
    Unknown {
        /// The text.
        name: String,
        /// The name that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// The player is known, what follows its name is not.
    #[error("player \"{name}\": {what} is a number from 1 to {most}")]
    Number {
        /// The text.
        name: String,
        /// What the number stands for.
        what: &'static str,
        /// The largest allowed.
        most: u32,
    },
    /// The player takes no number.
    #[error("player \"{name}\": {player} takes no number")]
    NoNumber {
        /// The text.
        name: String,
        /// The player's name.
        player: &'static str,
    },
}

impl FromStr for BuiltIn {
    type Err = PlayerNameError;

    fn from_str(text: &str) -> Result<BuiltIn, PlayerNameError> {
        let (word, number) = match text.split_once(':') {
            Some((word, number)) => (word, Some(number)),
            None => (text, None),
        };
        let shown = || text.chars().take(80).collect::<String>();
        let read = |what, most| match number {
            None => Ok(None),
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|value| (1..=most).contains(value))
                .filter(|value: &u32| value.to_string() == digits)
                .map(Some)
                .ok_or_else(|| PlayerNameError::Number { name: shown(), what, most }),
        };
        let player = match BuiltIn::ALL.into_iter().find(|player| player.name() == word) {
            None => {
                let nearest = nearest_name(word, &BuiltIn::NAMES);
                return Err(PlayerNameError::Unknown { name: shown(), nearest });
            }
            Some(BuiltIn::AlphaBeta { .. }) => {
                BuiltIn::AlphaBeta { depth: read("the depth in plays", MOST_DEPTH)? }
            }
            Some(BuiltIn::Mcts { .. }) => {
                BuiltIn::Mcts { playouts: read("the number of playouts", MOST_PLAYOUTS)? }
            }
            Some(player) if number.is_some() => {
                return Err(PlayerNameError::NoNumber { name: shown(), player: player.name() });
            }
            Some(player) => player,
        };
        Ok(player)
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
        let numbered = [
            BuiltIn::AlphaBeta { depth: Some(1) },
            BuiltIn::AlphaBeta { depth: Some(64) },
            BuiltIn::Mcts { playouts: Some(1) },
            BuiltIn::Mcts { playouts: Some(10_000_000) },
        ];
        for player in BuiltIn::ALL.into_iter().chain(numbered) {
            assert_eq!(player.to_string().parse(), Ok(player));
            assert_eq!(player.player().name(), player.to_string());
        }
        let message = |text: &str| text.parse::<BuiltIn>().unwrap_err().to_string();
        assert_eq!(message("gredy"), "unknown player \"gredy\": did you mean \"greedy\"?");
        assert_eq!(message("Randmo"), "unknown player \"Randmo\": did you mean \"random\"?");
        assert_eq!(
            message("alfabeta:3"),
            "unknown player \"alfabeta:3\": did you mean \"alphabeta\"?"
        );
        assert_eq!(message("stockfish"), "unknown player \"stockfish\"");
        assert_eq!(message(""), "unknown player \"\"");
        for text in ["alphabeta:x", "alphabeta:", "alphabeta:0", "alphabeta:65", "alphabeta:+3"] {
            let expected =
                format!("player \"{text}\": the depth in plays is a number from 1 to 64");
            assert_eq!(message(text), expected);
        }
        assert_eq!(
            message("mcts:10000001"),
            "player \"mcts:10000001\": the number of playouts is a number from 1 to 10000000"
        );
        assert_eq!(message("greedy:2"), "player \"greedy:2\": greedy takes no number");
    }
}
