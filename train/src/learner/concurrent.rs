//! Training while self-play goes on: workers on their own threads, everything else here.

use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use gipf_core::record::GameRecord;
use gipf_selfplay::{GameCounter, Worker, WorkerIdentity};

use super::selfplay::{SelfPlay, sampler, self_play_config};
use super::session::{Ending, Session};
use crate::cpu::cores;

/// The most games that are stored at once: few, so that self-play waits soon for a learner that falls behind.
const GAMES_AT_ONCE: usize = 16;

/// How long to wait for a game when there is nothing to learn.
const PATIENCE: Duration = Duration::from_millis(100);

impl Session {
    /// Trains until a limit is reached or the user stops the run, then saves it.
    ///
    /// # Errors
    /// A worker, the learner or the run's folder fails; the last save point stands.
    pub fn train_concurrently(&mut self) -> anyhow::Result<Ending> {
        self.begin_gating()?;
        let mut self_play = self.start_self_play()?;
        let ending = self.concurrent_loop(&mut self_play);
        let next_seq = self_play.next_seq();
        if ending.is_err() {
            // The first failure is the one to tell; the workers only have to end.
            let _ = self_play.stop();
            return ending;
        }
        self.progress.stage("stopping self-play");
        let rest = self_play.stop()?;
        self.collect(&rest)?;
        self.folder.state.next_seq = next_seq;
        self.progress.stage("saving the run");
        self.save()?;
        if matches!(ending, Ok(Ending::Done)) {
            self.judge()?;
        }
        ending
    }

    fn start_self_play(&self) -> anyhow::Result<SelfPlay> {
        let state = &self.folder.state;
        let end = match self.limits.games {
            0 => u64::MAX,
            games => state.next_seq + games.saturating_sub(state.games),
        };
        let counter = GameCounter::new(state.next_seq, end);
        let config = self_play_config(&self.config);
        let evaluators = self.evaluators()?;
        let mut workers = Vec::with_capacity(evaluators.len());
        for (index, evaluator) in evaluators.into_iter().enumerate() {
            let identity = WorkerIdentity {
                run: state.run_id.clone(),
                worker: self.folder.worker_name(index as u64),
                seed: self.config.run.seed,
            };
            workers.push(Worker::new(
                &config,
                sampler(&self.config)?,
                identity,
                counter.clone(),
                evaluator,
                self.playing_step(),
            )?);
        }
        SelfPlay::start(workers, counter, self.config.self_play.niceness)
    }

    fn concurrent_loop(&mut self, self_play: &mut SelfPlay) -> anyhow::Result<Ending> {
        let mut refreshed = self.folder.state.step;
        let mut playing = true;
        let mut gate = self.start_gate()?;
        loop {
            if self.stop.is_set() {
                return Ok(Ending::Stopped);
            }
            let used = self.used();
            if self.limits.training_reached(&used) {
                return Ok(Ending::Done);
            }
            self.progress.stage(match (self.window_is_ready(), playing) {
                (false, _) => "self-play, filling the window",
                (true, true) => "self-play and training",
                (true, false) => "training on the last games",
            });
            let idle = !self.window_is_ready() || !self.bucket.has_step();
            if playing && !self.bucket.is_full() {
                let games = self.receive(self_play, idle, &mut playing)?;
                self.collect(&games)?;
            }
            self.meters.stats(self_play.stats(), &self.executors);
            self.share_cores(playing);
            let stepped = self.step_if_due()?;
            if !stepped && !playing {
                return Ok(Ending::Done);
            }
            let due = self.folder.state.step >= refreshed + self.config.self_play.refresh_steps;
            if playing && due && !self.is_gated() && !self.is_distilling() {
                refreshed = self.folder.state.step;
                self_play.swap(self.evaluators()?, refreshed);
            }
            if self.save_is_due() {
                self.folder.state.next_seq = self_play.next_seq();
                self.save()?;
            }
            if let Some(over) = gate.take_if(|gate| gate.is_over())
                && self.end_gate(over)?
                && playing
            {
                self_play.swap(self.evaluators()?, self.playing_step());
            }
            if gate.is_none() {
                gate = self.start_gate()?;
            }
            self.show();
        }
    }

    /// How many cores the learner's next step may use, where the config leaves it to the run. While it keeps up with
    /// self-play it has one thread, which the workers give way to, and they have the rest. While it is behind it has
    /// them all; so no core waits for it.
    fn share_cores(&mut self, playing: bool) {
        if self.config.run.threads > 0 {
            return;
        }
        self.hurrying = !playing || self.bucket.is_behind(self.hurrying);
        self.learner.set_threads(if self.hurrying { cores() } else { 1 });
    }

    /// The games that are there, waiting a moment for one where there is nothing else to do.
    fn receive(
        &self,
        self_play: &mut SelfPlay,
        idle: bool,
        playing: &mut bool,
    ) -> anyhow::Result<Vec<GameRecord>> {
        let mut games = Vec::new();
        if idle {
            match self_play.games().recv_timeout(PATIENCE) {
                Ok(game) => games.push(game),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => *playing = false,
            }
        }
        while games.len() < GAMES_AT_ONCE {
            match self_play.games().try_recv() {
                Ok(game) => games.push(game),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    *playing = false;
                    break;
                }
            }
        }
        if !*playing {
            self_play.join()?;
        }
        Ok(games)
    }
}
