//! A self-play worker: many games on one thread, their leaves evaluated together.

use std::ops::{Add, Sub};
use std::sync::Arc;

use gipf_core::Color;
use gipf_core::record::GameRecord;
use gipf_model::{EvalError, Evaluation, Evaluator, Features};
use serde::{Deserialize, Serialize};

use crate::cache::EvaluationCache;
use crate::config::{ConfigError, SelfPlayConfig};
use crate::counter::GameCounter;
use crate::given::Given;
use crate::lane::{Lane, Table};
use crate::search::SearchResult;
use crate::source::{GameList, GameSource};
use crate::spec::RulesSampler;

/// What a worker writes into its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerIdentity {
    /// The run.
    pub run: String,
    /// The worker's start: 128 bits in 32 hexadecimal digits.
    pub worker: String,
    /// The run's seed.
    pub seed: u64,
}

/// What a worker has done since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStats {
    /// Batches evaluated.
    pub batches: u64,
    /// Positions evaluated by the network.
    pub evaluations: u64,
    /// Positions whose evaluation was found in the cache.
    #[serde(default)]
    pub cache_hits: u64,
    /// Positions that the batches had room for: lanes times batches.
    pub capacity: u64,
    /// Root visits.
    pub simulations: u64,
    /// Full searches begun.
    pub full_searches: u64,
    /// Fast searches begun.
    pub fast_searches: u64,
    /// Plays made, searched or not.
    pub plays: u64,
    /// Plays that were the only one.
    pub forced_plays: u64,
    /// Games ended.
    pub games: u64,
    /// Of these, won by White.
    pub white_wins: u64,
    /// Won by Black.
    pub black_wins: u64,
    /// Stopped at the limit of plays.
    pub unfinished: u64,
}

impl WorkerStats {
    /// Share of the batches' room that was used, 0 to 1; 1 without a batch.
    pub fn fill(&self) -> f64 {
        if self.capacity == 0 { 1.0 } else { self.evaluations as f64 / self.capacity as f64 }
    }

    /// Share of the evaluations that the cache knew, 0 to 1; 0 without any.
    pub fn hit_rate(&self) -> f64 {
        let all = self.evaluations + self.cache_hits;
        if all == 0 { 0.0 } else { self.cache_hits as f64 / all as f64 }
    }

    pub(crate) fn count_game(&mut self, winner: Option<Color>) {
        self.games += 1;
        match winner {
            Some(Color::White) => self.white_wins += 1,
            Some(Color::Black) => self.black_wins += 1,
            None => self.unfinished += 1,
        }
    }

    /// Field by field.
    fn zip(self, other: WorkerStats, f: impl Fn(u64, u64) -> u64) -> WorkerStats {
        WorkerStats {
            batches: f(self.batches, other.batches),
            evaluations: f(self.evaluations, other.evaluations),
            cache_hits: f(self.cache_hits, other.cache_hits),
            capacity: f(self.capacity, other.capacity),
            simulations: f(self.simulations, other.simulations),
            full_searches: f(self.full_searches, other.full_searches),
            fast_searches: f(self.fast_searches, other.fast_searches),
            plays: f(self.plays, other.plays),
            forced_plays: f(self.forced_plays, other.forced_plays),
            games: f(self.games, other.games),
            white_wins: f(self.white_wins, other.white_wins),
            black_wins: f(self.black_wins, other.black_wins),
            unfinished: f(self.unfinished, other.unfinished),
        }
    }
}

impl Add for WorkerStats {
    type Output = WorkerStats;

    fn add(self, other: WorkerStats) -> WorkerStats {
        self.zip(other, u64::wrapping_add)
    }
}

impl Sub for WorkerStats {
    type Output = WorkerStats;

    /// What was done between two readings; 0 where the later one is smaller.
    fn sub(self, earlier: WorkerStats) -> WorkerStats {
        self.zip(earlier, u64::saturating_sub)
    }
}

/// What one round came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// A batch was evaluated.
    Evaluated,
    /// No game is running and the counter has none to start.
    Idle,
}

/// Plays many games at once, one search each, with one evaluator.
///
/// A game's course depends on the run's seed, its sequence number and the evaluations, not on its lane, its worker or
/// the games beside it. So the records are the same for any number of workers and lanes, with or without a cache of
/// evaluations, as long as an evaluation does not depend on its batch; only the order in which games end differs.
pub struct Worker<E: Evaluator> {
    table: Table,
    lanes: Vec<Lane>,
    evaluator: E,
    /// Row `i` of the batch belongs to lane `rows[i]`.
    rows: Vec<usize>,
    features: Vec<Features>,
    evaluations: Vec<Evaluation>,
}

impl<E: Evaluator> Worker<E> {
    /// A worker without a game. `checkpoint` is the step of the evaluator's checkpoint, for the records.
    pub fn new(
        config: &SelfPlayConfig,
        sampler: RulesSampler,
        identity: WorkerIdentity,
        counter: GameCounter,
        evaluator: E,
        checkpoint: u64,
    ) -> Result<Worker<E>, ConfigError> {
        let identity = Arc::new(identity);
        let source = GameSource::Drawn { sampler, identity, counter };
        Worker::with_source(config, source, evaluator, checkpoint)
    }

    /// The same for games from a list, which says their rules, seeds and identities. The list may grow between rounds.
    pub fn listed(
        config: &SelfPlayConfig,
        list: GameList,
        evaluator: E,
        checkpoint: u64,
    ) -> Result<Worker<E>, ConfigError> {
        Worker::with_source(config, GameSource::Listed(list), evaluator, checkpoint)
    }

    fn with_source(
        config: &SelfPlayConfig,
        source: GameSource,
        evaluator: E,
        checkpoint: u64,
    ) -> Result<Worker<E>, ConfigError> {
        config.validate()?;
        let lanes = config.lanes as usize;
        let table = Table {
            config: config.clone(),
            source,
            checkpoint,
            stats: WorkerStats::default(),
            cache: EvaluationCache::new(config.cache_megabytes),
            given: Given::default(),
            result: SearchResult::default(),
        };
        Ok(Worker {
            table,
            lanes: (0..lanes).map(|_| Lane::new(config)).collect(),
            evaluator,
            rows: Vec::with_capacity(lanes),
            features: (0..lanes).map(|_| Features::new()).collect(),
            evaluations: vec![Evaluation::default(); lanes],
        })
    }

    /// One round: every lane plays on to a position that must be evaluated, starting new games as the counter allows;
    /// then one batch is evaluated. Ended games go to `emit`. After an error the same round can be tried again.
    pub fn round(&mut self, emit: &mut dyn FnMut(GameRecord)) -> Result<Round, EvalError> {
        self.rows.clear();
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if lane.play_on(&mut self.table, &mut self.features[self.rows.len()], emit) {
                self.rows.push(index);
            }
        }
        let count = self.rows.len();
        if count == 0 {
            return Ok(Round::Idle);
        }
        evaluate(&mut self.evaluator, &self.features[..count], &mut self.evaluations[..count])?;
        for (&lane, evaluation) in self.rows.iter().zip(&self.evaluations) {
            self.lanes[lane].absorb(evaluation, self.table.cache.as_mut());
        }
        let stats = &mut self.table.stats;
        stats.batches += 1;
        stats.evaluations += count as u64;
        stats.capacity += self.lanes.len() as u64;
        Ok(Round::Evaluated)
    }

    /// Plays until no game is running and the counter has none to start.
    pub fn run_to_end(&mut self, emit: &mut dyn FnMut(GameRecord)) -> Result<(), EvalError> {
        while self.round(emit)? == Round::Evaluated {}
        Ok(())
    }

    /// Replaces the evaluator and returns the old one. Running searches go on with the new one; the cache is cleared.
    pub fn set_evaluator(&mut self, evaluator: E, checkpoint: u64) -> E {
        if let Some(cache) = &mut self.table.cache {
            cache.clear();
        }
        self.table.checkpoint = checkpoint;
        std::mem::replace(&mut self.evaluator, evaluator)
    }

    /// The evaluator.
    pub fn evaluator(&self) -> &E {
        &self.evaluator
    }

    /// What has been done so far.
    pub fn stats(&self) -> WorkerStats {
        self.table.stats
    }

    /// Games under way.
    pub fn running(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.is_playing()).count()
    }

    /// Drops the games under way. Their sequence numbers are not handed out again.
    pub fn abandon(&mut self) {
        self.lanes.iter_mut().for_each(Lane::abandon);
    }
}

/// Evaluates a batch and refuses what no search can use: a wrong number of logits, or a number that is not finite.
pub(crate) fn evaluate<E: Evaluator + ?Sized>(
    evaluator: &mut E,
    batch: &[Features],
    out: &mut [Evaluation],
) -> Result<(), EvalError> {
    evaluator.evaluate(batch, out)?;
    for (features, evaluation) in batch.iter().zip(&*out) {
        let actions = features.policy.actions();
        let message = if evaluation.logits.len() != actions {
            format!("{} logits for {actions} actions", evaluation.logits.len())
        } else if !evaluation
            .logits
            .iter()
            .chain(&evaluation.value)
            .all(|number| number.is_finite())
        {
            "a logit or value that is not a finite number".to_owned()
        } else {
            continue;
        };
        return Err(EvalError::Backend { name: evaluator.name(), message });
    }
    Ok(())
}
