//! From a sample to what the learner sees: features and targets on one of the 12 symmetric boards.

use super::sample::Sample;
use gipf_core::record::GameResult;
use gipf_core::{Color, Play, Symmetry};
use gipf_model::{AuxiliaryHeads, Features, PolicyIndex};
use gipf_model_torch::{AuxiliaryTargets, Reply};

/// Of what the value target is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueMix {
    /// Share of the search value, 0 to 1; the rest is the game's result.
    pub from_search: f32,
}

/// A sample with its targets, from the view of the side that decides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labelled {
    /// The position and its actions.
    pub features: Features,
    /// Target probability of each action, summing to 1; all 0 without a policy target.
    pub policy: Vec<f32>,
    /// 1 after a full search, 0 after a fast one.
    pub policy_weight: f32,
    /// Target probabilities of win, loss and unfinished.
    pub value: [f32; 3],
    /// 1 for a finished game; else only the share of the search value.
    pub value_weight: f32,
    /// Plays to the game's end, this one included.
    pub plays_left: f32,
    /// 1 for a finished game, else 0: nobody knows how long it would have gone on.
    pub plays_left_weight: f32,
    /// What auxiliary heads are to say, on the same board; only of those that were asked for.
    pub auxiliary: AuxiliaryTargets,
    /// Scratch.
    actions: Vec<Play>,
}

impl Labelled {
    /// Makes it the sample on the board of symmetry number `side` (0 to 11).
    pub(super) fn fill(&mut self, sample: &Sample, policy: &[u16], side: usize, mix: ValueMix) {
        let position = &sample.position;
        position.actions(&mut self.actions);
        self.features.fill(position, &self.actions);
        if let Some(symmetry) =
            Symmetry::ALL.get(side).filter(|symmetry| **symmetry != Symmetry::IDENTITY)
        {
            self.features = self.features.transformed(*symmetry);
        }
        self.policy.clear();
        if policy.len() == self.actions.len() && !policy.is_empty() {
            self.policy.extend(probabilities(policy));
            self.policy_weight = 1.0;
        } else {
            self.policy.resize(self.actions.len(), 0.0);
            self.policy_weight = 0.0;
        }
        self.fill_value(sample, view(sample), mix);
    }

    /// Adds the targets of auxiliary heads to what was filled of a sample on this board; `reply` is its reply and that one's policy.
    /// Indices of the policy map name spots and directions of the board, whoever decides, so a reply needs no turning beside the
    /// symmetry that the position has.
    pub(super) fn fill_auxiliary(
        &mut self,
        heads: AuxiliaryHeads,
        sample: &Sample,
        reply: Option<(&Sample, &[u16])>,
        side: usize,
    ) {
        let sign = if view(sample) == Color::White { 1.0 } else { -1.0 };
        self.auxiliary.swing =
            sample.swing.filter(|_| heads.swing).map(|swing| sign * f32::from(swing));
        self.auxiliary.reply = reply.filter(|_| heads.reply).map(|(reply, policy)| {
            reply.position.actions(&mut self.actions);
            let mut index = PolicyIndex::new();
            index.fill(&reply.position, &self.actions);
            let symmetry = Symmetry::ALL.get(side).copied().unwrap_or(Symmetry::IDENTITY);
            Reply { index: index.transformed(symmetry), policy: probabilities(policy).collect() }
        });
    }

    fn fill_value(&mut self, sample: &Sample, view: Color, mix: ValueMix) {
        let sign = if view == Color::White { 1.0 } else { -1.0 };
        let search = sign * sample.search_value;
        // A search value tells win from loss; it holds no chance of being left unfinished.
        let searched = [f32::midpoint(1.0, search), f32::midpoint(1.0, -search), 0.0];
        let score = sign * f32::from(sample.result.for_white());
        let finished = sample.result != GameResult::Unfinished;
        if finished {
            let result = [f32::from(u8::from(score > 0.0)), f32::from(u8::from(score < 0.0)), 0.0];
            for ((value, result), searched) in self.value.iter_mut().zip(result).zip(searched) {
                *value = (1.0 - mix.from_search) * result + mix.from_search * searched;
            }
            self.value_weight = 1.0;
        } else {
            self.value = searched;
            self.value_weight = mix.from_search;
        }
        self.plays_left = f32::from(sample.plays_left);
        self.plays_left_weight = if finished { 1.0 } else { 0.0 };
    }
}

/// The side that the targets are seen by.
fn view(sample: &Sample) -> Color {
    sample.position.decider().unwrap_or(sample.position.mover())
}

/// A policy that sums to 1.
fn probabilities(policy: &[u16]) -> impl Iterator<Item = f32> {
    let total = policy.iter().map(|weight| u32::from(*weight)).sum::<u32>().max(1);
    policy.iter().map(move |weight| f32::from(*weight) / total as f32)
}
