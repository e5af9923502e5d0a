//! What a trained player is asked: for a play of a given strength, or for its opinion on a position. It thinks in slices, so
//! that whoever asks can end it between two of them; the result does not depend on how the thinking is cut.

use std::cell::Cell;
use std::time::Duration;

use gipf_core::{Color, Play, Position, Rules, notation};
use gipf_selfplay::{Budget, Choice, Clock, RandomKey, Score};
use serde::{Deserialize, Serialize};

use super::{Fault, Game, Replay, parse};
use crate::messages::echo;
use crate::{PlayerFile, Session, SessionError, Strength};

/// The most new visits of the root that an opinion may be asked for.
pub const MOST_NODES: u32 = 20_000;
/// New visits of the root at full strength, where nothing else bounds the search.
pub const FULL_NODES: u32 = 800;
/// New visits of an opinion where the question does not say.
const USUAL_NODES: u32 = 200;
/// Plays of the search that are told.
const TOLD: usize = 5;

/// The question `best`: a play of some strength.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema), schema(example = json!({ "game": { "rules": "standard", "plays": ["e1-e2", "e9-e8"] }, "strength": 7 })))]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// The game so far; somebody has to decide.
    pub game: Game,
    /// 1, for beginners, to 10, as well as the player can.
    #[cfg_attr(feature = "serve", schema(minimum = 1, maximum = 10))]
    pub strength: u32,
    /// Seed of what the lowest strengths draw. A player goes on with what it searched for the question before, where the game goes on
    /// from there, so the same question may find more later.
    #[serde(default)]
    #[cfg_attr(feature = "serve", schema(value_type = u64, maximum = 4_294_967_295_u64))]
    pub seed: u32,
}

/// The question `analysis`: what the player thinks of a position.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema), schema(example = json!({ "game": { "rules": "standard", "plays": ["e1-e2", "e9-e8"] }, "nodes": 100 })))]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// The game so far; somebody has to decide.
    pub game: Game,
    /// New visits of the search's root.
    #[serde(default = "usual_nodes")]
    #[cfg_attr(feature = "serve", schema(minimum = 1, maximum = 20_000))]
    pub nodes: u32,
}

fn usual_nodes() -> u32 {
    USUAL_NODES
}

/// What a player is asked.
#[derive(Clone, Debug)]
pub enum Task {
    /// For a play.
    Best(Best),
    /// For its opinion.
    Analysis(Analysis),
}

impl Task {
    /// Reads a question by its name, `best` or `analysis`, and its body.
    ///
    /// # Errors
    /// [`Fault`] for another name, or a body that is none of its form.
    pub fn parse(question: &str, body: &[u8]) -> Result<Task, Fault> {
        match question {
            "best" => Ok(Task::Best(parse(body)?)),
            "analysis" => Ok(Task::Analysis(parse(body)?)),
            _ => Err(Fault::new(format!("no question '{}'", echo(question)))),
        }
    }
}

/// The question `knows`: whether the player was trained for a game.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema), schema(example = json!({ "rules": "standard" })))]
#[serde(deny_unknown_fields)]
pub struct Knows {
    /// The rules string.
    pub rules: String,
}

/// The answer to `knows`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Knowledge {
    /// Whether the player plays by these rules.
    pub knows: bool,
    /// Why not, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A player, as it introduces itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct PlayerInfo {
    /// What it is called.
    pub name: String,
    /// The rules strings that it was trained for; none: any.
    pub rules: Vec<String>,
    /// Its network, blocks x channels.
    pub network: String,
}

/// What was found so far.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Opinion {
    /// Whether the thinking is over.
    pub done: bool,
    /// The play.
    pub play: String,
    /// White's chances, 0 to 1; absent where there was nothing to choose, and so nothing to search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "serve", schema(minimum = 0, maximum = 1))]
    pub white: Option<f32>,
    /// New visits of the search's root.
    pub nodes: u32,
    /// Whether the chances are certain.
    pub proven: bool,
    /// The expected plays, the choice first.
    pub line: Vec<String>,
    /// The plays that the search thinks most of, the first five by share.
    pub top: Vec<Candidate>,
}

/// A play that the search thinks of.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Candidate {
    /// The play's text.
    pub play: String,
    /// The same in official notation.
    pub official: String,
    /// Its share of the search's policy, 0 to 1.
    #[cfg_attr(feature = "serve", schema(minimum = 0, maximum = 1))]
    pub share: f32,
}

/// A trained player that answers questions, one at a time.
pub struct Thinker {
    session: Session,
    seed: Option<u32>,
    /// New visits that the running question may make, and whether its thinking has been cut.
    nodes: u32,
    begun: bool,
}

impl Thinker {
    /// The player of a file.
    ///
    /// # Errors
    /// Its rules are none that this version can read.
    pub fn new(file: &PlayerFile) -> Result<Thinker, Fault> {
        let rules = file.rules().map_err(|error| Fault::new(error.to_string()))?;
        let session = Session::new(file, rules).map_err(|error| Fault::new(error.to_string()))?;
        Ok(Thinker { session, seed: None, nodes: 1, begun: false })
    }

    /// Who it is.
    pub fn player(&self) -> PlayerInfo {
        let (file, header) = (self.session.file(), self.session.file().header());
        PlayerInfo {
            name: file.name().to_owned(),
            rules: header.rules.clone(),
            network: header.architecture.to_string(),
        }
    }

    /// Whether it was trained for a game.
    ///
    /// # Errors
    /// [`Fault`] for a text that is no rules string.
    pub fn knows(&self, question: &Knows) -> Result<Knowledge, Fault> {
        let rules: Rules = question
            .rules
            .parse()
            .map_err(|error| Fault::new(format!("rules '{}': {error}", echo(&question.rules))))?;
        let why = check_rules(self.session.file(), &rules).err().map(|fault| fault.error);
        Ok(Knowledge { knows: why.is_none(), why })
    }

    /// Turns to a question; what was thought about the one before is forgotten unless its game goes on.
    ///
    /// # Errors
    /// [`Fault`] for a game that cannot be, that the player does not know, or in which nobody has to decide, and for a strength
    /// or a number of nodes out of range.
    pub fn begin(&mut self, task: &Task) -> Result<(), Fault> {
        let (game, strength, nodes, seed) = match task {
            Task::Best(best) => {
                let strength =
                    Strength::new(best.strength).map_err(|error| Fault::new(error.to_string()))?;
                (&best.game, strength, FULL_NODES, Some(best.seed))
            }
            Task::Analysis(Analysis { game, nodes }) => {
                if !(1..=MOST_NODES).contains(nodes) {
                    return Err(Fault::new(format!("nodes is a number from 1 to {MOST_NODES}")));
                }
                (game, Strength::FULL, *nodes, None)
            }
        };
        let replay = game.replay()?;
        if replay.last().decider().is_none() || replay.is_unfinished() {
            return Err(Fault::new("nobody has to decide: the game is over or a side game is due"));
        }
        check_rules(self.session.file(), &replay.rules)?;
        self.turn_to(&replay, seed).map_err(|error| Fault::new(error.to_string()))?;
        self.session.set_strength(strength);
        (self.nodes, self.begun) = (nodes, false);
        Ok(())
    }

    fn turn_to(&mut self, replay: &Replay, seed: Option<u32>) -> Result<(), SessionError> {
        if let Some(seed) = seed.filter(|seed| self.seed != Some(*seed)) {
            // One game of each seed, however many others were asked about in between.
            self.session.begin_as(replay.rules, RandomKey { seed: u64::from(seed), game: 0 })?;
            self.seed = Some(seed);
        }
        self.session.set_position(Some(&replay.positions[0]), &replay.plays)
    }

    /// Thinks on for so many evaluations of the network: what was found so far.
    ///
    /// # Errors
    /// The evaluator failed.
    pub fn go_on(&mut self, evaluations: u32) -> Result<Opinion, Fault> {
        let slice = Slice { left: Cell::new(evaluations), cut: Cell::new(false) };
        let budget = Budget {
            nodes: Some(self.nodes),
            clock: Some(&slice),
            resume: std::mem::replace(&mut self.begun, true),
            ..Budget::default()
        };
        let choice = self.session.think(&budget).map_err(|error| Fault::new(error.to_string()))?;
        Ok(opinion(self.session.position(), &choice, !slice.cut.get()))
    }
}

/// Refuses rules that the player was not trained on, and those that no search can play by.
fn check_rules(file: &PlayerFile, rules: &Rules) -> Result<(), Fault> {
    if !rules.is_searchable() {
        return Err(Fault::new("side games that are played elsewhere are for people alone"));
    }
    file.check_rules(rules).map_err(|error| Fault::new(error.to_string()))
}

/// A clock that counts evaluations in place of time: a search looks at it before each.
struct Slice {
    left: Cell<u32>,
    cut: Cell<bool>,
}

impl Clock for Slice {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn limit(&self) -> Option<Duration> {
        None
    }

    fn is_stopped(&self) -> bool {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => self.cut.set(true),
        }
        self.cut.get()
    }
}

fn opinion(position: &Position, choice: &Choice, done: bool) -> Opinion {
    let own = choice.thought.as_ref().and_then(|thought| thought.score).and_then(chances);
    let white = own.zip(position.decider()).map(|(own, side)| match side {
        Color::White => own,
        Color::Black => 1.0 - own,
    });
    let mut shares: Vec<(Play, f32)> = choice
        .search
        .as_ref()
        .map_or_else(|| vec![(choice.play, 1.0)], |search| search.policy.clone());
    // Stable: among equals the search's order stays.
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let candidate = |&(play, share): &(Play, f32)| Candidate {
        play: play.to_string(),
        official: notation::write_official(position, play),
        share,
    };
    let line =
        choice.thought.as_ref().map_or_else(|| vec![choice.play], |thought| thought.line.clone());
    Opinion {
        done,
        play: choice.play.to_string(),
        white,
        nodes: choice.search.as_ref().map_or(0, |search| search.simulations),
        proven: choice.search.as_ref().is_some_and(|search| search.proven),
        line: line.iter().map(ToString::to_string).collect(),
        top: shares.iter().take(TOLD).map(candidate).collect(),
    }
}

/// The chances of the side that decides, 0 to 1; an unfinished game is half a win.
fn chances(score: Score) -> Option<f32> {
    match score {
        Score::Outcomes([win, unfinished, _]) => Some((win + unfinished / 2.0).clamp(0.0, 1.0)),
        Score::Proven(plays) => Some(if plays > 0 { 1.0 } else { 0.0 }),
        Score::Material(_) => None,
    }
}
