//! Deterministic training: learner and self-play take turns on one thread, and no clock is read.

use gipf_selfplay::{GameCounter, Round, Worker, WorkerIdentity};

use super::selfplay::{sampler, self_play_config};
use super::session::{Ending, Session};

impl Session {
    /// Trains until a limit is reached, bit for bit the same every time, also when the run was stopped at a save point
    /// and gone on with. A stop takes effect at the next save point.
    ///
    /// One worker plays, as many games a turn as it has lanes, each to its end: so every turn begins with empty lanes
    /// and a batch never depends on the scheduling of threads.
    ///
    /// # Errors
    /// The worker, the learner or the run's folder fails; the last save point stands.
    pub fn train_alternately(&mut self) -> anyhow::Result<Ending> {
        self.begin_gating()?;
        // The run may have been stopped before its last save point was tested.
        self.judge()?;
        if self.stop.is_set() {
            return Ok(Ending::Stopped);
        }
        let config = self_play_config(&self.config);
        let identity = WorkerIdentity {
            run: self.folder.state.run_id.clone(),
            worker: self.folder.worker_name(0),
            seed: self.config.run.seed,
        };
        let next = self.folder.state.next_seq;
        let counter = GameCounter::new(next, next);
        let evaluator = self.evaluator()?;
        let sampler = sampler(&self.config)?;
        let mut worker = Worker::new(
            &config,
            sampler,
            identity,
            counter.clone(),
            evaluator,
            self.playing_step(),
        )?;
        loop {
            self.progress.stage("training");
            while !self.limits.training_reached(&self.used()) && self.step_if_due()? {
                self.show();
                if self.save_is_due() {
                    self.save()?;
                    self.judge()?;
                    if self.stop.is_set() {
                        return Ok(Ending::Stopped);
                    }
                }
            }
            let used = self.used();
            if self.limits.training_reached(&used) || self.limits.games_reached(&used) {
                self.save()?;
                self.judge()?;
                return Ok(Ending::Done);
            }
            self.progress.stage("self-play");
            worker.set_evaluator(self.evaluator()?, self.playing_step());
            let left =
                if self.limits.games > 0 { self.limits.games - used.games } else { u64::MAX };
            counter.allow(left.min(u64::from(config.lanes)));
            let mut games = Vec::new();
            let mut told = false;
            while worker.round(&mut |game| games.push(game))? == Round::Evaluated {
                self.meters.stats(worker.stats(), &self.executors);
                self.show();
                if self.stop.is_set() && !told {
                    told = true;
                    self.progress.note("stopping at the next save point; Ctrl-C again quits at once, and the run goes on from the last one");
                }
            }
            // Games end in an order of their own; the records stand in the order of their numbers.
            games.sort_by_key(|game| game.id.seq);
            self.folder.state.next_seq = counter.next_seq();
            self.collect(&games)?;
            if self.save_is_due() {
                self.save()?;
                self.judge()?;
                if self.stop.is_set() {
                    return Ok(Ending::Stopped);
                }
            }
        }
    }
}
