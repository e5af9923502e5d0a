//! From a policy head's logits to the logit of each action, for the positions of a batch.

use gipf_model::{POLICY_GLOBALS, POLICY_SIZE, PlaneMask, PolicyIndex};
use ndarray::{Array1, Array3, Axis};
use tch::{Device, Kind, Tensor};

use crate::error::TorchError;
use crate::hexagon::SPOTS;
use crate::loss::array;
use crate::net::Forward;

/// The logit of an action that is not there: no probability, and no gradient.
const NO_ACTION: f32 = -1e30;

/// Which sums of weighted logits (groups) make up the actions of `b` positions. All are numbered through the batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionGroups {
    /// Terms of all groups of all positions, `position * POLICY_SIZE + index`: `[terms]`.
    pub term_logits: Array1<i64>,
    /// Their weights: `[terms]`.
    pub term_weights: Array1<f32>,
    /// The group each is part of, ascending: `[terms]`.
    pub term_groups: Array1<i64>,
    /// The group of each action and its second group; -1 where there is none or no action: `[b, actions, 2]`.
    pub groups: Array3<i64>,
}

impl ActionGroups {
    /// Packs the actions of one position after the other; one without any has none in the batch.
    pub(crate) fn pack<'a>(positions: impl Iterator<Item = &'a PolicyIndex> + Clone) -> Self {
        let actions = positions.clone().map(PolicyIndex::actions).max().unwrap_or(0);
        let mut groups = Array3::from_elem((positions.clone().count(), actions, 2), -1);
        let (mut logits, mut weights, mut term_groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut group = 0;
        for (position, index) in positions.enumerate() {
            for action in 0..index.actions() {
                for (place, terms) in index.groups_of(action).enumerate().take(2) {
                    groups[(position, action, place)] = group;
                    let whole = |&(index, _): &(u16, f32)| {
                        (position * POLICY_SIZE + usize::from(index)) as i64
                    };
                    logits.extend(terms.iter().map(whole));
                    weights.extend(terms.iter().map(|&(_, weight)| weight));
                    term_groups.resize(logits.len(), group);
                    group += 1;
                }
            }
        }
        Self {
            term_logits: logits.into(),
            term_weights: weights.into(),
            term_groups: term_groups.into(),
            groups,
        }
    }
}

/// The same on a device, for logits of the planes of a mask.
pub(crate) struct DeviceGroups {
    term_columns: Tensor,
    term_weights: Tensor,
    term_groups: Tensor,
    groups: i64,
    first: Tensor,
    /// Only where some action has a second group.
    second: Option<Tensor>,
    /// `[b, actions]`.
    shape: [i64; 2],
}

impl DeviceGroups {
    pub(crate) fn new(
        actions: &ActionGroups,
        mask: PlaneMask,
        device: Device,
    ) -> Result<Self, TorchError> {
        let columns = Forward::logit_column(mask);
        let row = SPOTS * mask.len() as i64 + POLICY_GLOBALS as i64;
        let place = |&term: &i64| {
            let (sample, index) = (term / POLICY_SIZE as i64, (term % POLICY_SIZE as i64) as usize);
            sample * row + i64::from(columns[index])
        };
        let term_columns: Vec<i64> = actions.term_logits.iter().map(place).collect();
        let groups = actions.term_groups.last().map_or(0, |&last| last + 1);
        // A group that is not there is the one after the last, of logit NO_ACTION.
        let side = |place: usize| -> Vec<i64> {
            let groups_of_place = actions.groups.index_axis(Axis(2), place);
            groups_of_place.iter().map(|&group| if group < 0 { groups } else { group }).collect()
        };
        let second = side(1);
        let indices = |values: &[i64]| -> Result<Tensor, TorchError> {
            Ok(Tensor::f_from_slice(values)?.f_to(device)?)
        };
        let (b, width, _) = actions.groups.dim();
        Ok(Self {
            term_columns: indices(&term_columns)?,
            term_weights: array(&actions.term_weights, device)?,
            term_groups: array(&actions.term_groups, device)?,
            groups,
            first: indices(&side(0))?,
            second: if second.iter().any(|&group| group < groups) {
                Some(indices(&second)?)
            } else {
                None
            },
            shape: [b as i64, width as i64],
        })
    }

    /// The logit of each action, [`NO_ACTION`] where there is none, `[b, actions]`, from a policy head's logits (see
    /// [`Forward::logits`]).
    pub(crate) fn logits(&self, head: &Tensor) -> Result<Tensor, TorchError> {
        let logits = head.f_reshape([-1])?;
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
        Ok(logits.f_reshape(self.shape)?)
    }
}
