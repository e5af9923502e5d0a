//! Samples and batches of them.

use gipf_model::{Features, GLOBALS, PLANES, POLICY_SIZE, PlaneMask};
use ndarray::{Array1, Array2, Array3};

use crate::error::TorchError;

/// A position to learn from.
#[derive(Clone, Debug)]
pub struct TrainSample {
    /// The position's features, filled with all its actions (transformed by a symmetry, if so wanted).
    pub features: Features,
    /// The policy to learn: a probability for each action, in the order of the features' actions.
    pub policy: Vec<f32>,
    /// Weight of the policy loss, 0 or more; 0 after a fast search.
    pub policy_weight: f32,
    /// The value to learn: probabilities of win, loss and unfinished from the decider's view.
    pub value: [f32; 3],
    /// Weight of the value loss, 0 or more.
    pub value_weight: f32,
    /// Plays to the end of the game.
    pub plays_left: f32,
    /// Weight of the plays-left loss, 0 or more; 0 for an unfinished game.
    pub plays_left_weight: f32,
}

/// A batch of `b` samples as arrays. A row of `groups` says which groups (sums of weighted logits) make up an action.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainBatch {
    /// Binary planes as bitboards, bit `Spot::bit`: `[b, PLANES]`.
    pub planes: Array2<i64>,
    /// Globals: `[b, GLOBALS]`.
    pub globals: Array2<f32>,
    /// Terms of all groups of all samples, `sample * POLICY_SIZE + index`: `[terms]`.
    pub term_logits: Array1<i64>,
    /// Their weights: `[terms]`.
    pub term_weights: Array1<f32>,
    /// The group each is part of, ascending: `[terms]`.
    pub term_groups: Array1<i64>,
    /// The group of each action and its second group; -1 where there is none or no action: `[b, actions, 2]`.
    pub groups: Array3<i64>,
    /// Probabilities to learn, 0 where there is no action: `[b, actions]`.
    pub policy: Array2<f32>,
    /// Weights of the policy losses: `[b]`.
    pub policy_weight: Array1<f32>,
    /// Win, loss, unfinished to learn: `[b, 3]`.
    pub value: Array2<f32>,
    /// Weights of the value losses: `[b]`.
    pub value_weight: Array1<f32>,
    /// Plays left to learn, in plays: `[b]`.
    pub plays_left: Array1<f32>,
    /// Weights of the plays-left losses: `[b]`.
    pub plays_left_weight: Array1<f32>,
    /// Policy planes that the samples use.
    pub mask: PlaneMask,
}

impl TrainBatch {
    /// Packs samples; there must be one at least, each must have an action and a policy of as many finite probabilities.
    pub fn pack(samples: &[TrainSample]) -> Result<Self, TorchError> {
        if samples.is_empty() {
            return Err(TorchError::Sample {
                sample: 0,
                reason: "a batch needs a sample".to_owned(),
            });
        }
        for (sample, s) in samples.iter().enumerate() {
            check(s).map_err(|reason| TorchError::Sample { sample, reason })?;
        }
        let b = samples.len();
        let actions = samples.iter().map(|s| s.policy.len()).max().unwrap_or(1);
        let mut batch = Self {
            planes: Array2::from_shape_fn((b, PLANES), |(s, plane)| {
                samples[s].features.planes[plane].0 as i64
            }),
            globals: Array2::from_shape_fn((b, GLOBALS), |(s, global)| {
                samples[s].features.globals[global]
            }),
            term_logits: Array1::default(0),
            term_weights: Array1::default(0),
            term_groups: Array1::default(0),
            groups: Array3::from_elem((b, actions, 2), -1),
            policy: Array2::zeros((b, actions)),
            policy_weight: samples.iter().map(|s| s.policy_weight).collect(),
            value: Array2::from_shape_fn((b, 3), |(s, outcome)| samples[s].value[outcome]),
            value_weight: samples.iter().map(|s| s.value_weight).collect(),
            plays_left: samples.iter().map(|s| s.plays_left).collect(),
            plays_left_weight: samples.iter().map(|s| s.plays_left_weight).collect(),
            mask: PlaneMask::NONE,
        };
        let (mut logits, mut weights, mut term_groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut group = 0;
        for (s, sample) in samples.iter().enumerate() {
            let index = &sample.features.policy;
            batch.mask = batch.mask.union(index.planes());
            for (action, &probability) in sample.policy.iter().enumerate() {
                batch.policy[(s, action)] = probability;
                for (place, terms) in index.groups_of(action).enumerate().take(2) {
                    batch.groups[(s, action, place)] = group;
                    logits.extend(
                        terms
                            .iter()
                            .map(|&(index, _)| (s * POLICY_SIZE + usize::from(index)) as i64),
                    );
                    weights.extend(terms.iter().map(|&(_, weight)| weight));
                    term_groups.resize(logits.len(), group);
                    group += 1;
                }
            }
        }
        (batch.term_logits, batch.term_weights, batch.term_groups) =
            (logits.into(), weights.into(), term_groups.into());
        Ok(batch)
    }

    /// Samples in the batch, 1 or more.
    #[expect(clippy::len_without_is_empty, reason = "no batch is empty")]
    pub fn len(&self) -> usize {
        self.planes.nrows()
    }
}

fn check(sample: &TrainSample) -> Result<(), String> {
    let actions = sample.features.policy.actions();
    if actions == 0 || actions != sample.policy.len() {
        return Err(format!("{actions} actions and a policy of {}", sample.policy.len()));
    }
    if (0..actions).any(|action| sample.features.policy.groups_of(action).len() == 0) {
        return Err("an action without a logit".to_owned());
    }
    let weights =
        [sample.policy_weight, sample.value_weight, sample.plays_left, sample.plays_left_weight];
    let numbers = sample.policy.iter().chain(&sample.value).chain(&weights);
    match numbers.copied().find(|n| !n.is_finite() || *n < 0.0) {
        Some(number) => Err(format!("a target or weight is {number}")),
        None => Ok(()),
    }
}
