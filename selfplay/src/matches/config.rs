//! How a match is played, and why it cannot be.

use gipf_core::{DEFAULT_MAX_PLAYS, Rules};
use gipf_model::EvalError;

use crate::config::ConfigError;
use crate::contestant::Contestant;
use crate::openings::{OpeningFrame, OpeningRule};
use crate::player::PlayerError;
use crate::spec::SpecError;
use crate::sprt::{Sprt, SprtError};

/// How a match is played.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The rules of every game.
    pub rules: Rules,
    /// Games, an even number of 2 or more: two for each opening. With a test it may end earlier.
    pub games: u32,
    /// A game that reaches this many plays is unfinished: half a point. 1 or more.
    pub max_plays: u32,
    /// Everything random follows from it.
    pub seed: u64,
    /// Games of networks by nodes under way at once, over all threads, 1 or more: the larger, the larger their batches.
    pub concurrent: u32,
    /// The openings.
    pub opening: OpeningRule,
    /// Ends the match as soon as it decides.
    pub sprt: Option<Sprt>,
    /// The run's name in the games' records.
    pub run: String,
    /// The worker's nonce in the games' records: 32 hexadecimal digits.
    pub worker: String,
}

impl MatchConfig {
    /// 200 games, 64 at once, with the usual openings and no test.
    pub fn new(rules: Rules, seed: u64) -> MatchConfig {
        MatchConfig {
            rules,
            games: 200,
            max_plays: DEFAULT_MAX_PLAYS,
            seed,
            concurrent: 64,
            opening: OpeningRule::default(),
            sprt: None,
            run: "match".to_owned(),
            worker: format!("{seed:032x}"),
        }
    }

    pub(super) fn opening_frame(&self) -> OpeningFrame<'_> {
        OpeningFrame {
            rule: &self.opening,
            rules: &self.rules,
            max_plays: self.max_plays,
            seed: self.seed,
            pairs: u64::from(self.games / 2),
        }
    }

    /// Checks every number.
    pub(super) fn validate(&self) -> Result<(), MatchError> {
        let rule = &self.opening;
        let complaint = if self.games == 0 || self.games % 2 == 1 {
            format!("games is {}: it must be even and 2 or more", self.games)
        } else if self.concurrent == 0 {
            "concurrent is 0: it must be 1 or more".to_owned()
        } else if self.max_plays <= rule.plays {
            format!(
                "max_plays is {}: it must be more than the opening's {} plays",
                self.max_plays, rule.plays
            )
        } else if !(0.0 <= rule.low && rule.low <= rule.high && rule.high <= 1.0) {
            format!(
                "a fair opening is {} to {}: it must be a range within 0 to 1",
                rule.low, rule.high
            )
        } else {
            return Ok(self.sprt.map_or(Ok(()), |sprt| sprt.validate())?);
        };
        Err(MatchError::Config(complaint))
    }

    /// Checks what each thread plays with: a pair of contestants each, and a clock where time is limited.
    pub(super) fn validate_contestants(
        &self,
        contestants: &[[Contestant; 2]],
    ) -> Result<(), MatchError> {
        if contestants.is_empty() {
            return Err(MatchError::Config("a match needs two contestants".to_owned()));
        }
        if contestants.len() > 1 && !cfg!(feature = "threads") {
            return Err(MatchError::Config("this build plays on one thread".to_owned()));
        }
        for contestant in contestants.iter().flatten() {
            contestant
                .validate()
                .map_err(|error| MatchError::Search { name: contestant.name(), error })?;
            if contestant.time().is_some() && !cfg!(feature = "threads") {
                return Err(MatchError::Config("this build has no clock to play by".to_owned()));
            }
        }
        Ok(())
    }
}

/// Why a match cannot be played (on).
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// A number out of range.
    #[error("{0}")]
    Config(String),
    /// The test.
    #[error(transparent)]
    Sprt(#[from] SprtError),
    /// A network's search config.
    #[error("{name}: {error}")]
    Search {
        /// The contestant.
        name: String,
        /// What is wrong with its config.
        error: ConfigError,
    },
    /// Rules that cannot be searched.
    #[error(transparent)]
    Rules(#[from] SpecError),
    /// A network's evaluator failed: that is no game's fault.
    #[error("{name}: {error}")]
    Player {
        /// The contestant.
        name: String,
        /// Why.
        error: PlayerError,
    },
    /// The judge of the openings failed.
    #[error("judging the openings: {0}")]
    Judge(EvalError),
    /// A game that was to be taken up is none of this match's.
    #[error("game {number} {fault}")]
    Foreign {
        /// Its number; the first is 0.
        number: u64,
        /// What does not fit.
        fault: String,
    },
    /// A thread broke down: a bug in a player or an evaluator.
    #[error("a thread of the match broke down (a bug: its words are above)")]
    Broken,
}
