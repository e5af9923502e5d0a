//! Losses: policy cross-entropy over the actions, value cross-entropy over three outcomes, Huber loss of the plays left.
//!
//! Each is a mean over the samples weighted by the sample's own weight. The L2 penalty is not here: it is the optimizer's decay.

use gipf_model::{PLAYS_LEFT_SCALE, POLICY_SIZE};
use ndarray::{ArrayBase, Data, Dimension};
use serde::{Deserialize, Serialize};
use tch::{Device, Kind, Reduction, Tensor};

use crate::batch::TrainBatch;
use crate::error::TorchError;
use crate::hexagon::unpack;
use crate::net::Forward;
use crate::parameters::to_host;

/// The logit of an action that is not there: no probability, and no gradient.
const NO_ACTION: f32 = -1e30;
/// Where the Huber loss turns from a square to a line, in units of `PLAYS_LEFT_SCALE`.
const HUBER_DELTA: f64 = 1.0;

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
}

impl Default for LossWeights {
    fn default() -> Self {
        Self { policy: 1.0, value: 1.0, plays_left: 0.1 }
    }
}

/// Losses of a batch, or of several: each a mean over samples by weight. In nats, the plays left in squared units of
/// `PLAYS_LEFT_SCALE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Cross-entropy of the policy; its least is `policy_entropy`.
    pub policy: f64,
    /// Cross-entropy of the outcome.
    pub value: f64,
    /// Huber loss of the plays left.
    pub plays_left: f64,
    /// Their sum by [`LossWeights`].
    pub total: f64,
    /// Entropy of the policies to learn.
    pub policy_entropy: f64,
    /// Sums of the samples' weights: policy, value, plays left.
    pub weights: [f64; 3],
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
            total: 0.0,
            policy_entropy: mean(0, self.policy_entropy, other.policy_entropy),
            weights: std::array::from_fn(|at| self.weights[at] + other.weights[at]),
        };
        merged.total =
            by.policy * merged.policy + by.value * merged.value + by.plays_left * merged.plays_left;
        merged
    }
}

/// A batch's tensors on a device.
pub(crate) struct DeviceBatch {
    /// `[b, 37, PLANES]`.
    pub(crate) planes: Tensor,
    /// `[b, GLOBALS]`.
    pub(crate) globals: Tensor,
    term_columns: Tensor,
    term_weights: Tensor,
    term_groups: Tensor,
    groups: i64,
    first: Tensor,
    /// Only where some action has a second group.
    second: Option<Tensor>,
    /// `[b, actions]`.
    pub(crate) policy: Tensor,
    policy_weight: Tensor,
    value: Tensor,
    value_weight: Tensor,
    plays_left: Tensor,
    plays_left_weight: Tensor,
    weights: [f64; 3],
    policy_entropy: f64,
}

impl DeviceBatch {
    pub(crate) fn new(batch: &TrainBatch, device: Device) -> Result<Self, TorchError> {
        let columns = Forward::logit_column(batch.mask);
        let row = (37 * batch.mask.len() + gipf_model::POLICY_GLOBALS) as i64;
        let place = |&term: &i64| {
            let (sample, index) = (term / POLICY_SIZE as i64, (term % POLICY_SIZE as i64) as usize);
            sample * row + i64::from(columns[index])
        };
        let term_columns: Vec<i64> = batch.term_logits.iter().map(place).collect();
        let groups = batch.term_groups.last().map_or(0, |&last| last + 1);
        // A group that is not there is the one after the last, of logit NO_ACTION.
        let side = |place: usize| -> Vec<i64> {
            let groups_of_place = batch.groups.index_axis(ndarray::Axis(2), place);
            groups_of_place.iter().map(|&group| if group < 0 { groups } else { group }).collect()
        };
        let second = side(1);
        let indices = |values: &[i64]| -> Result<Tensor, TorchError> {
            Ok(Tensor::f_from_slice(values)?.f_to(device)?)
        };
        let sum =
            |weights: &ndarray::Array1<f32>| weights.iter().map(|&w| f64::from(w)).sum::<f64>();
        let weights =
            [sum(&batch.policy_weight), sum(&batch.value_weight), sum(&batch.plays_left_weight)];
        Ok(Self {
            planes: unpack(&array(&batch.planes, Device::Cpu)?, device)?,
            globals: array(&batch.globals, device)?,
            term_columns: indices(&term_columns)?,
            term_weights: array(&batch.term_weights, device)?,
            term_groups: array(&batch.term_groups, device)?,
            groups,
            first: indices(&side(0))?,
            second: if second.iter().any(|&group| group < groups) {
                Some(indices(&second)?)
            } else {
                None
            },
            policy: array(&batch.policy, device)?,
            policy_weight: array(&batch.policy_weight, device)?,
            value: array(&batch.value, device)?,
            value_weight: array(&batch.value_weight, device)?,
            plays_left: array(&batch.plays_left, device)?,
            plays_left_weight: array(&batch.plays_left_weight, device)?,
            weights,
            policy_entropy: entropy(batch) / weights[0].max(f64::MIN_POSITIVE),
        })
    }

    /// The logit of each action, [`NO_ACTION`] where there is none: `[b, actions]`.
    pub(crate) fn action_logits(&self, forward: &Forward) -> Result<Tensor, TorchError> {
        let logits = forward.logits.f_reshape([-1])?;
        let terms = logits.f_index_select(0, &self.term_columns)?.f_mul(&self.term_weights)?;
        let options = (Kind::Float, logits.device());
        let sums =
            Tensor::f_zeros([self.groups], options)?.f_index_add(0, &self.term_groups, &terms)?;
        let none = Tensor::f_full([1], f64::from(NO_ACTION), options)?;
        let groups = Tensor::f_cat(&[sums, none], 0)?;
        let first = groups.f_index_select(0, &self.first)?;
        let logits = match &self.second {
            Some(second) => first.f_logaddexp(&groups.f_index_select(0, second)?)?,
            None => first,
        };
        Ok(logits.f_reshape(&self.policy.size()[..])?)
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
        let parts = Tensor::f_stack(
            &[
                mean(&policy, &self.policy_weight, 0)?,
                mean(&value, &self.value_weight, 1)?,
                mean(&plays_left, &self.plays_left_weight, 2)?,
            ],
            0,
        )?;
        let by = [by.policy, by.value, by.plays_left];
        let weights = Tensor::f_from_slice(&by.map(|w| w as f32))?.f_to(parts.device())?;
        Ok(LossTensors {
            total: parts.f_dot(&weights)?,
            parts,
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
    parts: Tensor,
    by: [f64; 3],
    policy_entropy: f64,
    weights: [f64; 3],
}

impl LossTensors {
    /// Their numbers; waits for the device.
    pub(crate) fn numbers(&self) -> Result<Losses, TorchError> {
        let parts: Vec<f64> = to_host(&self.parts)?.into_iter().map(f64::from).collect();
        Ok(Losses {
            policy: parts[0],
            value: parts[1],
            plays_left: parts[2],
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
