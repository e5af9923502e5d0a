//! Self-play beside the learner: a thread that runs the workers.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::anyhow;
use gipf_core::record::GameRecord;
use gipf_model_torch::Device;
use gipf_selfplay::{
    GameCounter, OpeningConfig, Pool, PoolControl, PoolEnd, PoolError, RulesSampler,
    SelfPlayConfig, SettledConfig, Worker, WorkerStats,
};

use crate::config::Config;
use crate::cpu::cores;
use crate::evaluators::BoxedEvaluator;

/// Finished games that may wait for the learner before the workers wait themselves.
const WAITING_GAMES: usize = 32;

/// The workers' configuration of a run.
pub(crate) fn self_play_config(config: &Config) -> SelfPlayConfig {
    let section = &config.self_play;
    SelfPlayConfig {
        search: section.search_config(),
        lanes: section.lanes,
        simulations: section.simulations,
        fast_simulations: section.fast_simulations,
        fast_considered: section.fast_considered,
        full_probability: section.full_search_probability as f32,
        max_plays: config.rules.max_plays,
        cache_megabytes: section.cache_megabytes,
        opening: OpeningConfig {
            random_plays: section.opening_random_plays,
            sampled_plays: section.opening_sampled_plays,
            temperature: section.opening_temperature as f32,
        },
        settled: (section.settled_plays > 0).then_some(SettledConfig {
            value: section.settled_value as f32,
            plays: section.settled_plays,
        }),
    }
}

/// Which games a run plays.
///
/// # Errors
/// A rules string that cannot be searched, or ranges that no mix can meet.
pub(crate) fn sampler(config: &Config) -> anyhow::Result<RulesSampler> {
    Ok(RulesSampler::mixed(&config.rules.rules)?)
}

/// Worker threads of a run: one a core, or two where a GPU evaluates, unless the config says otherwise.
pub(crate) fn worker_count(config: &Config, device: Device) -> usize {
    match (config.self_play.workers, device) {
        (0, Device::Cpu) => cores(),
        (0, _) => 2 * cores(),
        (workers, _) => workers,
    }
}

/// Makes this thread give way to others.
fn give_way(niceness: u32) {
    // Of no weight where the system does not allow it: the run is only less well balanced.
    if let Err(error) = rustix::process::nice(i32::try_from(niceness).unwrap_or(0)) {
        tracing::warn!("self-play keeps its priority: {error}");
    }
}

/// Workers that play while the learner learns.
pub(crate) struct SelfPlay {
    control: PoolControl<BoxedEvaluator>,
    counter: GameCounter,
    games: Receiver<GameRecord>,
    thread: Option<JoinHandle<Result<PoolEnd, PoolError>>>,
}

impl SelfPlay {
    /// Starts the workers' threads, which give way to others by so much.
    ///
    /// # Errors
    /// The pool or its thread cannot be made.
    pub(crate) fn start(
        workers: Vec<Worker<BoxedEvaluator>>,
        counter: GameCounter,
        niceness: u32,
    ) -> anyhow::Result<Self> {
        let mut pool = Pool::with_start(workers, move |_| give_way(niceness))?;
        let control = pool.control();
        let (sink, games) = sync_channel(WAITING_GAMES);
        let thread =
            thread::Builder::new().name("self-play".to_owned()).spawn(move || pool.run(&sink))?;
        Ok(SelfPlay { control, counter, games, thread: Some(thread) })
    }

    /// The finished games, as they come.
    pub(crate) fn games(&self) -> &Receiver<GameRecord> {
        &self.games
    }

    /// Gives every worker its new evaluator; each takes it at its next round.
    pub(crate) fn swap(&self, evaluators: Vec<BoxedEvaluator>, step: u64) {
        self.control.swap(evaluators, step);
    }

    /// The workers' sums.
    pub(crate) fn stats(&self) -> WorkerStats {
        self.control.stats()
    }

    /// The sequence number of the next game to begin.
    pub(crate) fn next_seq(&self) -> u64 {
        self.counter.next_seq()
    }

    /// Stops the workers; the games that were finished and waiting. Games under way are dropped: they were never counted.
    ///
    /// # Errors
    /// A worker had failed.
    pub(crate) fn stop(mut self) -> anyhow::Result<Vec<GameRecord>> {
        self.control.stop();
        let mut rest = Vec::new();
        // A worker may wait for room in the channel: take games until the thread has let go of it.
        while let Ok(game) = self.games.recv() {
            rest.push(game);
        }
        self.join()?;
        Ok(rest)
    }

    /// Waits for the workers' thread, which ends by itself once no more games are to begin.
    ///
    /// # Errors
    /// A worker failed.
    pub(crate) fn join(&mut self) -> anyhow::Result<()> {
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| {
                anyhow!("a self-play worker broke down (a bug: its words are above)")
            })??;
        }
        Ok(())
    }
}
