//! Losses: policy cross-entropy over the actions, value cross-entropy over three outcomes, Huber loss of the plays left; of the
//! auxiliary heads, where there are any, cross-entropy of the reply's policy and Huber loss of the swing.
//!
//! Each is a mean over the samples weighted by the sample's own weight. The L2 penalty is not here: it is the optimizer's decay.

use gipf_model::{PLAYS_LEFT_SCALE, PlaneMask, SWING_SCALE};
use ndarray::{ArrayBase, Data, Dimension};
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Reduction, Tensor};

use crate::actions::DeviceGroups;
use crate::batch::{ReplyBatch, TrainBatch};
use crate::error::TorchError;
use crate::hexagon::unpack;
use crate::net::Forward;
use crate::parameters::to_host;

/// Where a Huber loss turns from a square to a line, in units of `PLAYS_LEFT_SCALE` and `SWING_SCALE`.
const HUBER_DELTA: f64 = 1.0;

/// The losses that there are.
const PARTS: usize = 5;

/// How much each loss counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossWeights {
    /// Of the policy loss.
    pub policy: f64,
    /// Of the value loss.
    pub value: f64,
    /// Of the plays-left loss.
    pub plays_left: f64,
    /// Of the reply loss, in a network that has this head.
    pub reply: f64,
    /// Of the swing loss, in a network that has this head.
    pub swing: f64,
}

impl Default for LossWeights {
    fn default() -> Self {
        Self { policy: 1.0, value: 1.0, plays_left: 0.1, reply: 0.0, swing: 0.0 }
    }
}

impl LossWeights {
    /// In the order of [`Losses::weights`].
    fn parts(&self) -> [f64; PARTS] {
        [self.policy, self.value, self.plays_left, self.reply, self.swing]
    }
}

/// Losses of a batch, or of several: each a mean over samples by weight. In nats; the plays left in squared units of
/// `PLAYS_LEFT_SCALE`, the swing of `SWING_SCALE`. Those of heads that the network lacks are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Cross-entropy of the policy; its least is `policy_entropy`.
    pub policy: f64,
    /// Cross-entropy of the outcome.
    pub value: f64,
    /// Huber loss of the plays left.
    pub plays_left: f64,
    /// Cross-entropy of the reply's policy.
    pub reply: f64,
    /// Huber loss of the swing.
    pub swing: f64,
    /// Their sum by [`LossWeights`].
    pub total: f64,
    /// Entropy of the policies to learn.
    pub policy_entropy: f64,
    /// Sums of the samples' weights: policy, value, plays left, reply, swing.
    pub weights: [f64; PARTS],
}

impl Losses {
    /// Adds other samples' losses to these: what both would be in one batch, but for `total`, which is that of `by`.
    #[must_use]
    pub fn merged(&self, other: &Losses, by: &LossWeights) -> Losses {
        let mean = |at: usize, a: f64, b: f64| {
            let (wa, wb) = (self.weights[at], other.weights[at]);
            if wa + wb > 0.0 { (wa * a + wb * b) / (wa + wb) } else { 0.0 }
        };
        let mut merged = Losses {
            policy: mean(0, self.policy, other.policy),
            value: mean(1, self.value, other.value),
            plays_left: mean(2, self.plays_left, other.plays_left),
            reply: mean(3, self.reply, other.reply),
            swing: mean(4, self.swing, other.swing),
            total: 0.0,
            policy_entropy: mean(0, self.policy_entropy, other.policy_entropy),
            weights: std::array::from_fn(|at| self.weights[at] + other.weights[at]),
        };
        let parts = [merged.policy, merged.value, merged.plays_left, merged.reply, merged.swing];
        merged.total = parts.iter().zip(by.parts()).map(|(loss, weight)| loss * weight).sum();
        merged
    }
}

/// A batch's tensors on a device.
pub(crate) struct DeviceBatch {
    /// `[b, 37, PLANES]`.
    pub(crate) planes: Tensor,
    /// `[b, GLOBALS]`.
    pub(crate) globals: Tensor,
    actions: DeviceGroups,
    /// `[b, actions]`.
    pub(crate) policy: Tensor,
    policy_weight: Tensor,
    value: Tensor,
    value_weight: Tensor,
    plays_left: Tensor,
    plays_left_weight: Tensor,
    reply: Option<DeviceReply>,
    swing: Tensor,
    swing_weight: Tensor,
    weights: [f64; PARTS],
    policy_entropy: f64,
}

/// What the reply head is to say.
struct DeviceReply {
    actions: DeviceGroups,
    /// `[b, actions]`.
    policy: Tensor,
    weight: Tensor,
}

impl DeviceReply {
    fn new(batch: &ReplyBatch, mask: PlaneMask, device: Device) -> Result<Self, TorchError> {
        Ok(Self {
            actions: DeviceGroups::new(&batch.actions, mask, device)?,
            policy: array(&batch.policy, device)?,
            weight: array(&batch.weight, device)?,
        })
    }
}

impl DeviceBatch {
    pub(crate) fn new(batch: &TrainBatch, device: Device) -> Result<Self, TorchError> {
        let sum =
            |weights: &ndarray::Array1<f32>| weights.iter().map(|&w| f64::from(w)).sum::<f64>();
        let reply = batch.reply.as_ref();
        let weights = [
            sum(&batch.policy_weight),
            sum(&batch.value_weight),
            sum(&batch.plays_left_weight),
            reply.map_or(0.0, |reply| sum(&reply.weight)),
            sum(&batch.swing_weight),
        ];
        Ok(Self {
            planes: unpack(&array(&batch.planes, Device::Cpu)?, device)?,
            globals: array(&batch.globals, device)?,
            actions: DeviceGroups::new(&batch.actions, batch.mask, device)?,
            policy: array(&batch.policy, device)?,
            policy_weight: array(&batch.policy_weight, device)?,
            value: array(&batch.value, device)?,
            value_weight: array(&batch.value_weight, device)?,
            plays_left: array(&batch.plays_left, device)?,
            plays_left_weight: array(&batch.plays_left_weight, device)?,
            reply: reply.map(|reply| DeviceReply::new(reply, batch.mask, device)).transpose()?,
            swing: array(&batch.swing, device)?,
            swing_weight: array(&batch.swing_weight, device)?,
            weights,
            policy_entropy: entropy(batch) / weights[0].max(f64::MIN_POSITIVE),
        })
    }

    /// The logit of each action, hugely negative where there is none: `[b, actions]`.
    pub(crate) fn action_logits(&self, forward: &Forward) -> Result<Tensor, TorchError> {
        self.actions.logits(&forward.logits)
    }

    /// The losses of a forward pass, as the tensor to descend (a scalar) and a function of the losses' numbers.
    pub(crate) fn losses(
        &self,
        forward: &Forward,
        by: &LossWeights,
    ) -> Result<LossTensors, TorchError> {
        let log_policy = self.action_logits(forward)?.f_log_softmax(-1, Kind::Float)?;
        let policy = cross_entropy(&self.policy, &log_policy)?;
        let value = cross_entropy(&self.value, &forward.outcome.f_log_softmax(-1, Kind::Float)?)?;
        let plays = self.plays_left.f_div_scalar(f64::from(PLAYS_LEFT_SCALE))?;
        let plays_left = forward.plays_left.f_huber_loss(&plays, Reduction::None, HUBER_DELTA)?;
        let mean = |losses: &Tensor, weight: &Tensor, at: usize| -> Result<Tensor, TorchError> {
            Ok(losses
                .f_dot(weight)?
                .f_div_scalar(self.weights[at].max(f64::from(f32::MIN_POSITIVE)))?)
        };
        let mut parts = vec![
            mean(&policy, &self.policy_weight, 0)?,
            mean(&value, &self.value_weight, 1)?,
            mean(&plays_left, &self.plays_left_weight, 2)?,
        ];
        let mut places = vec![0, 1, 2];
        if let (Some(logits), Some(reply)) = (&forward.reply, &self.reply) {
            let log = reply.actions.logits(logits)?.f_log_softmax(-1, Kind::Float)?;
            parts.push(mean(&cross_entropy(&reply.policy, &log)?, &reply.weight, 3)?);
            places.push(3);
        }
        if let Some(said) = &forward.swing {
            let swing = self.swing.f_div_scalar(f64::from(SWING_SCALE))?;
            let losses = said.f_huber_loss(&swing, Reduction::None, HUBER_DELTA)?;
            parts.push(mean(&losses, &self.swing_weight, 4)?);
            places.push(4);
        }
        let parts = Tensor::f_stack(&parts, 0)?;
        let by = by.parts();
        let weights: Vec<f32> = places.iter().map(|&place| by[place] as f32).collect();
        let weights = Tensor::f_from_slice(&weights)?.f_to(parts.device())?;
        Ok(LossTensors {
            total: parts.f_dot(&weights)?,
            parts,
            places,
            by,
            policy_entropy: self.policy_entropy,
            weights: self.weights,
        })
    }
}

/// Losses that are still tensors.
pub(crate) struct LossTensors {
    /// What to descend.
    pub(crate) total: Tensor,
    /// The losses of the heads that there are.
    parts: Tensor,
    /// Which they are, in the order of [`Losses::weights`].
    places: Vec<usize>,
    by: [f64; PARTS],
    policy_entropy: f64,
    weights: [f64; PARTS],
}

impl LossTensors {
    /// Their numbers; waits for the device.
    pub(crate) fn numbers(&self) -> Result<Losses, TorchError> {
        let mut parts = [0.0; PARTS];
        for (&place, loss) in self.places.iter().zip(to_host(&self.parts)?) {
            parts[place] = f64::from(loss);
        }
        let [policy, value, plays_left, reply, swing] = parts;
        Ok(Losses {
            policy,
            value,
            plays_left,
            reply,
            swing,
            total: parts.iter().zip(self.by).map(|(loss, weight)| loss * weight).sum(),
            policy_entropy: self.policy_entropy,
            weights: self.weights,
        })
    }
}

/// `-sum target * log`, per row.
fn cross_entropy(target: &Tensor, log: &Tensor) -> Result<Tensor, TorchError> {
    Ok(target.f_mul(log)?.f_sum_dim_intlist([-1i64].as_slice(), false, Kind::Float)?.f_neg()?)
}

/// The sum of the entropies of the policies to learn, by weight.
fn entropy(batch: &TrainBatch) -> f64 {
    let of_row = |row: ndarray::ArrayView1<'_, f32>| -> f64 {
        row.iter().filter(|p| **p > 0.0).map(|&p| -f64::from(p) * f64::from(p).ln()).sum()
    };
    batch
        .policy
        .rows()
        .into_iter()
        .zip(&batch.policy_weight)
        .map(|(row, &w)| f64::from(w) * of_row(row))
        .sum()
}

/// An array as a tensor of its shape.
pub(crate) fn array<T, S, D>(array: &ArrayBase<S, D>, device: Device) -> Result<Tensor, TorchError>
where
    T: tch::kind::Element + Clone,
    S: Data<Elem = T>,
    D: Dimension,
{
    let shape: Vec<i64> = array.shape().iter().map(|&n| n as i64).collect();
    let flat = match array.as_slice() {
        Some(values) => Tensor::f_from_slice(values)?,
        None => Tensor::f_from_slice(&array.iter().cloned().collect::<Vec<_>>())?,
    };
    Ok(flat.f_reshape(&shape[..])?.f_to(device)?)
}
