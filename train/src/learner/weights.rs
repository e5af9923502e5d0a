//! The run's weights as checkpoints: what is saved, and what self-play plays with.

use gipf_model::{Checkpoint, CheckpointHeader, Features, calibrate};
use gipf_model_torch::{Device, WeightSet};

use super::selfplay::worker_count;
use super::session::Session;
use crate::config::{CpuPrecision, drawn_mixes};
use crate::evaluators::{
    BoxedEvaluator, CALIBRATION_POSITIONS, evaluator_with, features_of, for_workers,
    random_positions,
};

impl Session {
    /// The header of a checkpoint of the weights as they are.
    pub(super) fn header(&self) -> CheckpointHeader {
        let state = &self.folder.state;
        let architecture = self.learner.architecture();
        let mut header = CheckpointHeader::new(
            architecture,
            self.rules.clone(),
            state.step,
            state.run_id.clone(),
        );
        header.parent.clone_from(&self.parent);
        header.mixes = drawn_mixes(&self.config);
        header
    }

    /// The averaged weights as they are.
    pub(super) fn averaged(&self) -> anyhow::Result<Checkpoint> {
        Ok(self.learner.net(WeightSet::Averaged).to_checkpoint(self.header())?)
    }

    /// The checkpoint with a calibration on positions spread evenly over the window, or of random games where it is empty. It draws
    /// nothing from the window's random stream.
    pub(super) fn calibrated(&self, checkpoint: Checkpoint) -> anyhow::Result<Checkpoint> {
        let window = self.replay.train();
        let every = (window.len() / CALIBRATION_POSITIONS).max(1);
        let chosen = window.samples().step_by(every).take(CALIBRATION_POSITIONS);
        let mut actions = Vec::new();
        let mut positions: Vec<Features> =
            chosen.map(|(sample, _)| features_of(&sample.position, &mut actions)).collect();
        if positions.is_empty() {
            positions = random_positions(&self.rules);
        }
        let calibration = calibrate(&checkpoint, &positions);
        Ok(checkpoint.with_calibration(calibration)?)
    }

    /// The weights that self-play uses, as it evaluates them: the best checkpoint's, those of the small network while a grown one
    /// learns from it, or the averaged ones as they are, for int8 with a calibration.
    pub(super) fn playing(&self) -> anyhow::Result<Checkpoint> {
        if let Some(best) = self.folder.state.best {
            return Ok(Checkpoint::load(&self.folder.checkpoint_path(best))?);
        }
        if self.is_distilling()
            && let Some(small) = self.small()?
        {
            return Ok(small);
        }
        let checkpoint = self.averaged()?;
        match (self.device, self.config.self_play.precision) {
            (Device::Cpu, CpuPrecision::Int8) => self.calibrated(checkpoint),
            _ => Ok(checkpoint),
        }
    }

    /// The workers' evaluators of those weights.
    pub(super) fn evaluators(&self) -> anyhow::Result<Vec<BoxedEvaluator>> {
        let count = worker_count(&self.config, self.device);
        let precisions = (self.config.self_play.precision, self.config.run.gpu_precision);
        for_workers(&self.playing()?, self.device, count, precisions, &self.executors)
    }

    /// An evaluator of those weights, for a single worker.
    pub(super) fn evaluator(&self) -> anyhow::Result<BoxedEvaluator> {
        evaluator_with(&self.playing()?, self.device, self.config.self_play.precision)
    }
}
