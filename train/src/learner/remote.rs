//! Training on what workers on other machines play.

use std::time::Duration;

use gipf_selfplay::WorkerStats;

use super::session::{Ending, Session};
use crate::cluster::{Intake, Stand};

/// The most games that are stored at once, by whole messages: one fsync for all of them.
const GAMES_AT_ONCE: usize = 64;

/// How long to wait for a game when there is nothing to learn.
const PATIENCE: Duration = Duration::from_millis(100);

impl Session {
    /// Trains until a limit is reached or the user stops the run, then saves it. Games come in through `intake` and are
    /// acknowledged once they are on the disk; the weights that self-play is to use go out by it.
    ///
    /// # Errors
    /// The learner or the run's folder fails; the last save point stands, and what was not acknowledged comes again.
    pub fn train_remotely(&mut self, intake: Intake) -> anyhow::Result<Ending> {
        self.begin_gating()?;
        self.announce(&intake)?;
        let ending = self.remote_loop(&intake)?;
        self.progress.stage("saving the run");
        self.save()?;
        if ending == Ending::Done {
            self.judge()?;
        }
        self.announce(&intake)?;
        self.post(&intake, 0, false);
        self.progress.stage("telling the workers");
        intake.close(ending == Ending::Done);
        Ok(ending)
    }

    fn remote_loop(&mut self, intake: &Intake) -> anyhow::Result<Ending> {
        if let Some(ending) = self.take_up_stored()? {
            return Ok(ending);
        }
        let first = self.folder.state.positions;
        let (mut refreshed, mut repeated) = (self.folder.state.step, 0);
        let mut gate = self.start_gate()?;
        loop {
            if self.stop.is_set() {
                return Ok(Ending::Stopped);
            }
            let used = self.used();
            if self.limits.training_reached(&used) {
                return Ok(Ending::Done);
            }
            let playing = !self.limits.games_reached(&used);
            self.progress.stage(match (self.window_is_ready(), playing) {
                (false, _) => "filling the window with the workers' games",
                (true, true) => "training on the workers' games",
                (true, false) => "training on the last games",
            });
            let full = self.bucket.is_full();
            if playing && !full {
                let idle = !self.window_is_ready() || !self.bucket.has_step();
                repeated += self.receive_remote(intake, idle)?;
            }
            let plays = self.folder.state.positions - first;
            self.meters.stats(WorkerStats { plays, ..WorkerStats::default() }, &self.executors);
            // The cores are the learner's: nobody plays here.
            let stepped = self.step_if_due()?;
            if !stepped && !playing {
                return Ok(Ending::Done);
            }
            let due = self.folder.state.step >= refreshed + self.config.self_play.refresh_steps;
            if due && !self.is_gated() && !self.is_distilling() {
                refreshed = self.folder.state.step;
                self.announce(intake)?;
            }
            if self.save_is_due() {
                self.save()?;
            }
            if let Some(over) = gate.take_if(|gate| gate.is_over())
                && self.end_gate(over)?
            {
                self.announce(intake)?;
            }
            if gate.is_none() {
                gate = self.start_gate()?;
            }
            self.post(intake, repeated, full);
            self.show();
        }
    }

    /// Takes in the games that are there, waiting a moment for the first where there is nothing else to do; how many had come
    /// before.
    fn receive_remote(&mut self, intake: &Intake, idle: bool) -> anyhow::Result<u64> {
        let patience = if idle { PATIENCE } else { Duration::ZERO };
        let (mut games, mut deliveries) = (Vec::new(), Vec::new());
        for arrival in intake.receive(GAMES_AT_ONCE, patience)? {
            games.extend(arrival.games);
            deliveries.push(arrival.delivery);
        }
        if deliveries.is_empty() {
            return Ok(0);
        }
        let repeated = self.take_in(&games)?;
        intake.stored(deliveries);
        Ok(repeated as u64)
    }

    /// Has the weights that self-play is to use announced.
    fn announce(&self, intake: &Intake) -> anyhow::Result<()> {
        let checkpoint = self.playing()?;
        intake.board().announce(checkpoint.header.step, checkpoint.to_bytes()?);
        Ok(())
    }

    fn post(&self, intake: &Intake, repeated: u64, full: bool) {
        let state = &self.folder.state;
        intake.board().stand(Stand {
            step: state.step,
            games: state.games,
            positions: state.positions,
            repeated,
            full,
        });
    }
}
