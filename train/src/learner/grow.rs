//! Growing: once in a run the network becomes larger, and learns for a while from what it was.
//!
//! It happens at a save point, the last one of the small network. The larger one begins as the same function
//! ([`gipf_model::grown`]) with a fresh optimizer and fresh averages, then learns for `network.grow_steps` steps half from the
//! games and half from the small one ([`Teacher`]). These are steps like others: each takes its samples from the token bucket and
//! counts for every limit; only the rate warms up again. Until they are over, self-play goes on with the small network.
//!
//! All that a run must remember is the step at which it grew. One that is killed before the next save point stands at the small
//! network's and grows again, to the same weights; later it finds the larger learner at its save point and the small
//! network among its checkpoints.

use anyhow::Context;
use gipf_model::{Architecture, Checkpoint, grown};
use gipf_model_torch::{Learner, Teacher, TrainBatch};

use super::session::Session;
use super::start::{grow_to, learner_config, learner_threads};

/// Sets the stream of the added weights apart from that of the first ones.
const SEED: u64 = 0x6772_6f77;

impl Session {
    /// The size that the network is to grow to, as soon as the run has come far enough and if it has not grown yet.
    fn growth_due(&self) -> anyhow::Result<Option<Architecture>> {
        let network = &self.config.network;
        let open = self.folder.state.grown_at.is_none() && self.window_is_ready();
        if !open || self.limits.share(&self.used()) < network.grow_at {
            return Ok(None);
        }
        grow_to(&self.config)
    }

    /// Whether a save point is needed for the network to grow at.
    pub(super) fn growth_wants_save(&self) -> bool {
        self.saved_step() != self.folder.state.step && matches!(self.growth_due(), Ok(Some(_)))
    }

    /// Lets the network grow, if it is time and this step is a save point's.
    ///
    /// # Errors
    /// The save point's checkpoint cannot be read, or the larger network cannot be made.
    pub(super) fn grow_if_due(&mut self) -> anyhow::Result<()> {
        if self.saved_step() != self.folder.state.step {
            return Ok(());
        }
        let Some(to) = self.growth_due()? else { return Ok(()) };
        let step = self.folder.state.step;
        let small = Checkpoint::load(&self.folder.checkpoint_path(step))?;
        let large = grown(&small, to, self.config.run.seed ^ SEED)
            .with_context(|| format!("network.grow_to = \"{}\"", self.config.network.grow_to))?;
        self.learner = Learner::from_checkpoint(&large, learner_config(&self.config), self.device)?;
        self.folder.state.grown_at = Some(step);
        self.progress.note(&format!(
            "step {step}: the network grows from {} to {to}",
            small.header.architecture
        ));
        Ok(())
    }

    /// Whether the larger network still learns from the small one, which self-play goes on with.
    pub(super) fn is_distilling(&self) -> bool {
        let state = &self.folder.state;
        state.grown_at.is_some_and(|step| state.step < step + self.config.network.grow_steps)
    }

    /// Steps that the present network has been trained for in this run.
    pub(super) fn steps_since_growth(&self) -> u64 {
        let state = &self.folder.state;
        state.step - state.grown_at.unwrap_or(0)
    }

    /// The last checkpoint of the small network.
    pub(super) fn small(&self) -> anyhow::Result<Option<Checkpoint>> {
        let step = self.folder.state.grown_at;
        Ok(step.map(|step| Checkpoint::load(&self.folder.checkpoint_path(step))).transpose()?)
    }

    /// Mixes what the small network says into what is learned, while the larger one learns from it.
    pub(super) fn distill(&mut self, batch: &mut TrainBatch) -> anyhow::Result<()> {
        if !self.is_distilling() {
            self.teacher = None;
            return Ok(());
        }
        if self.teacher.is_none()
            && let Some(small) = self.small()?
        {
            let threads = learner_threads(&self.config);
            self.teacher = Some(Teacher::new(&small, threads, self.device)?);
        }
        if let Some(teacher) = &self.teacher {
            teacher.mix_into(batch)?;
        }
        Ok(())
    }
}
