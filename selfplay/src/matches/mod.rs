//! Matches: two players, each opening played twice with the colours swapped, many games at once.

mod hall;
mod result;

use gipf_core::record::GameRecord;
use gipf_core::{DEFAULT_MAX_PLAYS, Rules};
use gipf_model::EvalError;

pub use result::MatchResult;

use crate::config::ConfigError;
use crate::contestant::{Batch, Contestant};
use crate::openings::{Judge, OpeningRule, draw};
use crate::player::PlayerError;
use crate::spec::{SpecError, searchable};
use hall::{Hall, Seat};

/// How a match is played.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The rules of every game.
    pub rules: Rules,
    /// Games, an even number of 2 or more: two for each opening.
    pub games: u32,
    /// A game that reaches this many plays is unfinished: half a point. 1 or more.
    pub max_plays: u32,
    /// Everything random follows from it.
    pub seed: u64,
    /// Games under way at once, 1 or more: the largest batch of a network.
    pub concurrent: u32,
    /// The openings.
    pub opening: OpeningRule,
    /// The run's name in the games' records.
    pub run: String,
    /// The worker's nonce in the games' records: 32 hexadecimal digits.
    pub worker: String,
}

impl MatchConfig {
    /// 200 games, 64 at once, with the usual openings.
    pub fn new(rules: Rules, seed: u64) -> MatchConfig {
        MatchConfig {
            rules,
            games: 200,
            max_plays: DEFAULT_MAX_PLAYS,
            seed,
            concurrent: 64,
            opening: OpeningRule::default(),
            run: "match".to_owned(),
            worker: format!("{seed:032x}"),
        }
    }
}

/// Why a match cannot be played (on).
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// A number out of range.
    #[error("{0}")]
    Config(String),
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
    /// A player failed.
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
}

/// Two contestants about to meet.
pub struct Match {
    config: MatchConfig,
    /// A and B.
    contestants: [Contestant; 2],
    judge: Option<Judge>,
}

impl Match {
    /// Checks the config. With a judge only openings that it calls fair are played.
    pub fn new(
        config: MatchConfig,
        a: Contestant,
        b: Contestant,
        judge: Option<Judge>,
    ) -> Result<Match, MatchError> {
        let rule = &config.opening;
        let complaint = if config.games == 0 || config.games % 2 == 1 {
            Some(format!("games is {}: it must be even and 2 or more", config.games))
        } else if config.concurrent == 0 {
            Some("concurrent is 0: it must be 1 or more".to_owned())
        } else if config.max_plays <= rule.plays {
            Some(format!(
                "max_plays is {}: it must be more than the opening's {} plays",
                config.max_plays, rule.plays
            ))
        } else if !(0.0 <= rule.low && rule.low <= rule.high && rule.high <= 1.0) {
            Some(format!(
                "a fair opening is {} to {}: it must be a range within 0 to 1",
                rule.low, rule.high
            ))
        } else {
            None
        };
        if let Some(complaint) = complaint {
            return Err(MatchError::Config(complaint));
        }
        searchable(config.rules)?;
        for contestant in [&a, &b] {
            contestant
                .validate()
                .map_err(|error| MatchError::Search { name: contestant.name(), error })?;
        }
        if let Some(judge) = &judge {
            judge
                .search
                .validate()
                .map_err(|error| MatchError::Search { name: judge.name.clone(), error })?;
        }
        Ok(Match { config, contestants: [a, b], judge })
    }

    /// Plays the match. `stop` is asked before each round of evaluations; `progress` hears of the state after each game
    /// and `record` gets each game. The games, but for the order in which they end, depend on the seed and the players only.
    pub fn run(
        &mut self,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(&MatchResult),
        record: &mut dyn FnMut(GameRecord),
    ) -> Result<MatchResult, MatchError> {
        let config = &self.config;
        let mut result = MatchResult {
            a: self.contestants[0].name(),
            b: self.contestants[1].name(),
            ..MatchResult::default()
        };
        let pairs = u64::from(config.games / 2);
        let judge = self.judge.as_mut();
        let drawn =
            draw(&config.opening, &config.rules, config.max_plays, config.seed, pairs, judge, stop);
        let Some(openings) = drawn.map_err(MatchError::Judge)? else {
            result.stopped = true;
            return Ok(result);
        };
        let mut hall = Hall::new(config, &openings, result);
        let contestants = &mut self.contestants;
        let mut seats: Vec<Seat> = (0..config.concurrent.min(config.games))
            .map(|_| Seat::new(contestants, config.max_plays))
            .collect();
        let mut batches = [Batch::default(), Batch::default()];
        loop {
            if stop() {
                hall.result.stopped = true;
                return Ok(hall.result);
            }
            for (index, seat) in seats.iter_mut().enumerate() {
                hall.play_on(seat, index, contestants, &mut batches, progress, record)?;
            }
            let mut rows = 0;
            for (side, (contestant, batch)) in contestants.iter_mut().zip(&mut batches).enumerate()
            {
                let Contestant::Network { network, .. } = contestant else { continue };
                let deliver = |seat: usize, evaluation: &_| {
                    seats[seat].searches[side]
                        .iter_mut()
                        .for_each(|search| search.absorb(evaluation));
                };
                let count = batch.evaluate(&mut *network.evaluator, deliver).map_err(|error| {
                    MatchError::Player {
                        name: network.name.clone(),
                        error: PlayerError::Evaluation(error),
                    }
                })?;
                rows += count;
                hall.result.batches += u64::from(count > 0);
            }
            hall.result.evaluations += rows;
            if rows == 0 {
                return Ok(hall.result);
            }
        }
    }
}
