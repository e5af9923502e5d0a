//! How the network learns.

use gipf_model::AuxiliaryHeads;
use gipf_model_torch::Trunk;
use serde::{Deserialize, Serialize};

/// How the learning rate falls after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decay {
    /// It stays.
    Constant,
    /// Half a cosine wave down to the final fraction at the run's end.
    Cosine,
}

/// `[train]`: how the network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainSection {
    /// Samples a step.
    pub batch_size: usize,
    /// Peak learning rate of AdamW.
    pub learning_rate: f64,
    /// Steps over which the rate rises from 0 to its peak.
    pub warmup_steps: u64,
    /// How it falls afterwards.
    pub decay: Decay,
    /// Rate at the end, as a fraction of the peak.
    pub final_fraction: f64,
    /// Decoupled weight decay (Loshchilov and Hutter 2019).
    pub weight_decay: f64,
    /// Largest norm of the gradient; longer ones are scaled down.
    pub gradient_clip: f64,
    /// Decay a step of the averaged weights that self-play uses.
    pub average_decay: f64,
    /// Samples trained per sample made.
    pub sample_reuse: f64,
    /// Share of the search value in the value target; the rest is the game's result.
    pub value_from_search: f64,
    /// Weight of the value loss.
    pub value_loss_weight: f64,
    /// Weight of the plays-left loss.
    pub plays_left_loss_weight: f64,
    /// Weight of the loss of the opponent's reply; 0: the network has no such head.
    pub reply_loss_weight: f64,
    /// Weight of the loss of the swing of material; 0: the network has no such head.
    pub swing_loss_weight: f64,
    /// Share of the draws of fully searched samples that goes by how much the search surprised the network.
    pub policy_surprise_weight: f64,
    /// Share of the games that are never trained on.
    pub held_out: f64,
    /// What trains the network's trunk on the CPU; on a GPU libtorch does.
    pub trunk: Trunk,
}

impl Default for TrainSection {
    fn default() -> Self {
        Self {
            batch_size: 256,
            learning_rate: 0.002,
            warmup_steps: 200,
            decay: Decay::Cosine,
            final_fraction: 0.1,
            weight_decay: 0.0001,
            gradient_clip: 1.0,
            average_decay: 0.99,
            sample_reuse: 4.0,
            value_from_search: 0.3,
            value_loss_weight: 1.0,
            plays_left_loss_weight: 0.1,
            reply_loss_weight: 0.0,
            swing_loss_weight: 0.0,
            policy_surprise_weight: 0.0,
            held_out: 0.05,
            trunk: Trunk::Native,
        }
    }
}

impl TrainSection {
    /// The auxiliary heads that the network has: those with a weight.
    pub fn auxiliary(&self) -> AuxiliaryHeads {
        AuxiliaryHeads { reply: self.reply_loss_weight > 0.0, swing: self.swing_loss_weight > 0.0 }
    }

    /// The learning rate of step `step` (from 0), `progress` (0 to 1) into the run.
    pub fn learning_rate_at(&self, step: u64, progress: f64) -> f64 {
        let warm = if step < self.warmup_steps {
            (step + 1) as f64 / self.warmup_steps as f64
        } else {
            1.0
        };
        let progress = progress.clamp(0.0, 1.0);
        let fall = match self.decay {
            Decay::Constant => 1.0,
            Decay::Cosine => {
                let wave = 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
                self.final_fraction + (1.0 - self.final_fraction) * wave
            }
        };
        self.learning_rate * warm * fall
    }
}
