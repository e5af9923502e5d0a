//! Samples and batches of them.

use gipf_model::{Features, GLOBALS, PLANES, PlaneMask, PolicyIndex};
use ndarray::{Array1, Array2};

use crate::actions::ActionGroups;
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
    /// What the auxiliary heads are to say.
    pub auxiliary: AuxiliaryTargets,
}

/// Targets of the auxiliary heads (`gipf_model::AuxiliaryHeads`); what is absent has weight 0, what is there 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuxiliaryTargets {
    /// The other side's next decision.
    pub reply: Option<Reply>,
    /// By how much the balance of basic pieces changes, in pieces, from the decider's view.
    pub swing: Option<f32>,
}

/// A later position's policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The later position's actions on the board that the sample's features show.
    pub index: PolicyIndex,
    /// A probability for each of them.
    pub policy: Vec<f32>,
}

/// A batch of `b` samples as arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainBatch {
    /// Binary planes as bitboards, bit `Spot::bit`: `[b, PLANES]`.
    pub planes: Array2<i64>,
    /// Globals: `[b, GLOBALS]`.
    pub globals: Array2<f32>,
    /// The samples' actions.
    pub actions: ActionGroups,
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
    /// What the reply head is to say, where any sample has a reply.
    pub reply: Option<ReplyBatch>,
    /// Swings to learn, in basic pieces: `[b]`.
    pub swing: Array1<f32>,
    /// Weights of the swing losses: `[b]`.
    pub swing_weight: Array1<f32>,
    /// Policy planes that the samples and their replies use.
    pub mask: PlaneMask,
}

/// The replies of a batch of `b` samples.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyBatch {
    /// The replies' actions; a sample without a reply has none.
    pub actions: ActionGroups,
    /// Probabilities to learn, 0 where there is no action: `[b, actions]`.
    pub policy: Array2<f32>,
    /// Weights of the reply losses: `[b]`.
    pub weight: Array1<f32>,
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
        let of_features = samples.iter().map(|s| &s.features.policy);
        let mask = of_features.clone().fold(PlaneMask::NONE, |mask, i| mask.union(i.planes()));
        let reply = ReplyBatch::pack(samples);
        let swing = |s: &TrainSample| s.auxiliary.swing;
        Ok(Self {
            planes: Array2::from_shape_fn((b, PLANES), |(s, plane)| {
                samples[s].features.planes[plane].0 as i64
            }),
            globals: Array2::from_shape_fn((b, GLOBALS), |(s, global)| {
                samples[s].features.globals[global]
            }),
            actions: ActionGroups::pack(of_features),
            policy: rows(samples.iter().map(|s| s.policy.as_slice())),
            policy_weight: samples.iter().map(|s| s.policy_weight).collect(),
            value: Array2::from_shape_fn((b, 3), |(s, outcome)| samples[s].value[outcome]),
            value_weight: samples.iter().map(|s| s.value_weight).collect(),
            plays_left: samples.iter().map(|s| s.plays_left).collect(),
            plays_left_weight: samples.iter().map(|s| s.plays_left_weight).collect(),
            swing: samples.iter().map(|s| swing(s).unwrap_or(0.0)).collect(),
            swing_weight: samples.iter().map(|s| weight_of(swing(s).is_some())).collect(),
            mask: reply.as_ref().map_or(mask, |(_, planes)| mask.union(*planes)),
            reply: reply.map(|(reply, _)| reply),
        })
    }

    /// Samples in the batch, 1 or more.
    #[expect(clippy::len_without_is_empty, reason = "no batch is empty")]
    pub fn len(&self) -> usize {
        self.planes.nrows()
    }
}

impl ReplyBatch {
    /// The replies, where there is any, and the policy planes that they use.
    fn pack(samples: &[TrainSample]) -> Option<(Self, PlaneMask)> {
        let none = Reply::default();
        let replies = || samples.iter().map(|s| s.auxiliary.reply.as_ref().unwrap_or(&none));
        let indices = replies().map(|reply| &reply.index);
        let planes = indices.clone().fold(PlaneMask::NONE, |mask, i| mask.union(i.planes()));
        let there = |s: &TrainSample| s.auxiliary.reply.is_some();
        samples.iter().any(there).then(|| {
            let reply = Self {
                actions: ActionGroups::pack(indices),
                policy: rows(replies().map(|reply| reply.policy.as_slice())),
                weight: samples.iter().map(|s| weight_of(there(s))).collect(),
            };
            (reply, planes)
        })
    }
}

fn weight_of(there: bool) -> f32 {
    f32::from(u8::from(there))
}

/// Rows of unequal lengths, with zeros behind the shorter ones.
fn rows<'a>(rows: impl Iterator<Item = &'a [f32]> + Clone) -> Array2<f32> {
    let width = rows.clone().map(<[f32]>::len).max().unwrap_or(0);
    let mut array = Array2::zeros((rows.clone().count(), width));
    for (mut row, values) in array.rows_mut().into_iter().zip(rows) {
        for (place, value) in row.iter_mut().zip(values) {
            *place = *value;
        }
    }
    array
}

fn check(sample: &TrainSample) -> Result<(), String> {
    let AuxiliaryTargets { reply, swing } = &sample.auxiliary;
    check_policy("", &sample.features.policy, &sample.policy)?;
    if let Some(Reply { index, policy }) = reply {
        check_policy("a reply of ", index, policy)?;
    }
    if let Some(swing) = swing.filter(|swing| !swing.is_finite()) {
        return Err(format!("a target or weight is {swing}"));
    }
    let replies = reply.iter().flat_map(|reply| &reply.policy);
    let weights =
        [sample.policy_weight, sample.value_weight, sample.plays_left, sample.plays_left_weight];
    let numbers = sample.policy.iter().chain(replies).chain(&sample.value).chain(&weights);
    match numbers.copied().find(|n| !n.is_finite() || *n < 0.0) {
        Some(number) => Err(format!("a target or weight is {number}")),
        None => Ok(()),
    }
}

/// As many probabilities as actions, one at least, each action with a logit; `whose` begins the message.
fn check_policy(whose: &str, index: &PolicyIndex, policy: &[f32]) -> Result<(), String> {
    let actions = index.actions();
    if actions == 0 || actions != policy.len() {
        return Err(format!("{whose}{actions} actions and a policy of {}", policy.len()));
    }
    if (0..actions).any(|action| index.groups_of(action).len() == 0) {
        return Err(format!("{whose}an action without a logit"));
    }
    Ok(())
}
