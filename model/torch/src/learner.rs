//! The learner: a network, its optimizer, and the averaged weights that self-play and rating use.

use gipf_model::{Architecture, Checkpoint, CheckpointHeader, Kernel};
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Tensor};

use crate::adamw::{AdamW, AdamWConfig};
use crate::batch::TrainBatch;
use crate::device::set_threads;
use crate::error::TorchError;
use crate::loss::{DeviceBatch, LossWeights, Losses};
use crate::metrics::Metrics;
use crate::net::{Forward, NormMode, TorchNet};
use crate::parameters::to_host;
use crate::trunk::{NativeTrunk, Trunk};

/// What a learner can be told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnerConfig {
    /// How much each loss counts.
    pub losses: LossWeights,
    /// The optimizer's constants.
    pub optimizer: AdamWConfig,
    /// Share of the averaged weights that stays at each step, in [0, 1). Less in the first steps: (1 + step) / (10 + step).
    pub average_decay: f64,
    /// Threads of one operation on the CPU; 0: as many as before.
    pub threads: usize,
    /// What trains the trunk on the CPU.
    pub trunk: Trunk,
}

impl Default for LearnerConfig {
    fn default() -> Self {
        Self {
            losses: LossWeights::default(),
            optimizer: AdamWConfig::default(),
            average_decay: 0.995,
            threads: 0,
            trunk: Trunk::default(),
        }
    }
}

/// Which of the learner's two sets of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightSet {
    /// Those that are trained.
    Trained,
    /// Their exponential moving average, running statistics included.
    Averaged,
}

/// A network that learns.
pub struct Learner {
    pub(crate) config: LearnerConfig,
    pub(crate) net: TorchNet,
    pub(crate) average: TorchNet,
    pub(crate) optimizer: AdamW,
    /// Steps done, those of the checkpoint it started from included.
    pub(crate) step: u64,
    /// The last gradient's norm before clipping.
    gradient_norm: f64,
    /// Where the trunk is trained by the project's own kernels.
    trunk: Option<NativeTrunk>,
}

impl Learner {
    /// A learner of a new network; the same seed makes the same one.
    pub fn new(
        architecture: Architecture,
        seed: u64,
        config: LearnerConfig,
        device: Device,
    ) -> Result<Self, TorchError> {
        Self::with_net(TorchNet::new(architecture, seed, device)?, config, 0)
    }

    /// A learner that starts from a checkpoint's weights and step, with a fresh optimizer.
    pub fn from_checkpoint(
        checkpoint: &Checkpoint,
        config: LearnerConfig,
        device: Device,
    ) -> Result<Self, TorchError> {
        Self::with_net(
            TorchNet::from_checkpoint(checkpoint, device)?,
            config,
            checkpoint.header.step,
        )
    }

    fn with_net(net: TorchNet, config: LearnerConfig, step: u64) -> Result<Self, TorchError> {
        let optimizer = AdamW::new(config.optimizer, &net.trained, net.layout.decayed)?;
        let average = net.copied()?;
        Self::assemble(config, net, average, optimizer, step)
    }

    pub(crate) fn assemble(
        config: LearnerConfig,
        net: TorchNet,
        average: TorchNet,
        optimizer: AdamW,
        step: u64,
    ) -> Result<Self, TorchError> {
        let _ = net.trained.f_set_requires_grad(true)?;
        let trunk = match (config.trunk, net.device()) {
            (Trunk::Native, Device::Cpu) => Some(NativeTrunk::new(&net, Kernel::best())?),
            _ => None,
        };
        Ok(Self { config, net, average, optimizer, step, gradient_norm: 0.0, trunk })
    }

    /// Learns from a batch with this learning rate. An error for a loss or gradient that is not finite leaves the trained weights
    /// as they were.
    pub fn train_step(&mut self, batch: &TrainBatch, rate: f64) -> Result<Losses, TorchError> {
        // The forward pass moves the running statistics: with numbers that are none, for good.
        let running = self.net.running.f_detach_copy()?;
        let losses = self.step_with(batch, rate);
        if let Err(TorchError::NotFinite { .. }) = losses {
            let _no_grad = tch::no_grad_guard();
            self.net.running.f_copy_(&running)?;
        }
        losses
    }

    fn step_with(&mut self, batch: &TrainBatch, rate: f64) -> Result<Losses, TorchError> {
        set_threads(self.config.threads);
        let data = DeviceBatch::new(batch, self.net.device())?;
        let (net, norm) = (&mut self.net, NormMode::Batch);
        let (forward, leaf) = match &mut self.trunk {
            Some(trunk) => {
                trunk.set_threads(self.config.threads)?;
                let leaf = trunk.forward(batch, net)?;
                (net.heads(&leaf, &data.globals, batch.mask, norm)?, Some(leaf))
            }
            None => (net.forward(&data.planes, &data.globals, batch.mask, norm)?, None),
        };
        let tensors = data.losses(&forward, &self.config.losses)?;
        let leaves: Vec<&Tensor> = [&net.trained].into_iter().chain(&leaf).collect();
        let gradient = Tensor::f_run_backward(&[&tensors.total], &leaves, false, false)?;
        let losses = tensors.numbers()?;
        let diverged = |what| TorchError::NotFinite { what, step: self.step };
        if !losses.total.is_finite() {
            return Err(diverged("the loss"));
        }
        let gradient = match (gradient.as_slice(), &mut self.trunk) {
            ([heads, of_trunk], Some(trunk)) => trunk.backward(heads, of_trunk)?,
            ([gradient], _) => gradient.shallow_clone(),
            _ => return Err(TorchError::Torch("no gradient".to_owned())),
        };
        let norm = self.optimizer.step(&mut self.net.trained, &gradient, rate)?;
        if !norm.is_finite() {
            return Err(diverged("the gradient"));
        }
        self.gradient_norm = norm;
        self.step += 1;
        self.update_average()?;
        Ok(losses)
    }

    fn update_average(&mut self) -> Result<(), TorchError> {
        let _no_grad = tch::no_grad_guard();
        let steps = self.optimizer.steps() as f64;
        let new = 1.0 - self.config.average_decay.min((1.0 + steps) / (10.0 + steps));
        let _ = self.average.trained.f_lerp_(&self.net.trained, new)?;
        let _ = self.average.running.f_lerp_(&self.net.running, new)?;
        Ok(())
    }

    /// Measures on a batch that is not learned from.
    pub fn evaluate(&self, batch: &TrainBatch, weights: WeightSet) -> Result<Metrics, TorchError> {
        set_threads(self.config.threads);
        let _no_grad = tch::no_grad_guard();
        let net = self.net(weights);
        let data = DeviceBatch::new(batch, net.device())?;
        let forward = net.forward(&data.planes, &data.globals, batch.mask, NormMode::Running)?;
        let losses = data.losses(&forward, &self.config.losses)?.numbers()?;
        let policy_accuracy = accuracy(&data, &forward, batch)?;
        let mut metrics = Metrics {
            positions: batch.len() as u64,
            losses,
            policy_accuracy,
            ..Metrics::default()
        };
        let outcome = to_host(&forward.outcome.f_softmax(-1, Kind::Float)?)?;
        for (sample, predicted) in outcome.chunks_exact(3).enumerate() {
            let actual = std::array::from_fn(|k| f64::from(batch.value[(sample, k)]));
            let predicted = std::array::from_fn(|k| f64::from(predicted[k]));
            metrics.add_value(predicted, actual, f64::from(batch.value_weight[sample]));
        }
        metrics.finish_values();
        Ok(metrics)
    }

    /// A checkpoint of one set of weights, at the learner's step.
    pub fn checkpoint(
        &self,
        weights: WeightSet,
        rules: Vec<String>,
        run: &str,
        parent: Option<String>,
    ) -> Result<Checkpoint, TorchError> {
        let header = CheckpointHeader::new(self.architecture(), rules, self.step, run);
        self.net(weights).to_checkpoint(CheckpointHeader { parent, ..header })
    }

    /// One set of weights as a network.
    pub fn net(&self, weights: WeightSet) -> &TorchNet {
        match weights {
            WeightSet::Trained => &self.net,
            WeightSet::Averaged => &self.average,
        }
    }

    /// The network's size.
    pub fn architecture(&self) -> Architecture {
        self.net.architecture()
    }

    /// Steps done, those of the checkpoint it started from included.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Sets the threads of one operation on the CPU, from the next step on; 0: as many as before.
    pub fn set_threads(&mut self, threads: usize) {
        self.config.threads = threads;
    }

    /// The norm of the last step's gradient before clipping; 0 before the first.
    pub fn gradient_norm(&self) -> f64 {
        self.gradient_norm
    }
}

fn accuracy(data: &DeviceBatch, forward: &Forward, batch: &TrainBatch) -> Result<f64, TorchError> {
    let logits = to_host(&data.action_logits(forward)?)?;
    let actions = batch.policy.ncols();
    let (mut right, mut all) = (0.0, 0.0);
    for ((row, logits), &weight) in
        batch.policy.rows().into_iter().zip(logits.chunks_exact(actions)).zip(&batch.policy_weight)
    {
        let choice = (0..actions).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0);
        let most = row.iter().copied().fold(0.0, f32::max);
        all += f64::from(weight);
        right += if row[choice] >= most { f64::from(weight) } else { 0.0 };
    }
    Ok(if all > 0.0 { right / all } else { 0.0 })
}
