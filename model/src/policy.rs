//! The policy map: which logits make up the logit of each action.
//!
//! A network says [`POLICY_PLANES`] planes of logits over the 37 spots and [`POLICY_GLOBALS`] more. An action's *group* is a set of
//! them with weights, its logit their weighted sum; a removal that two lines share has two groups, and its logit is the
//! logarithm of the sum of their exponentials. The softmax then runs over the actions of the position.
//!
//! | plays | planes | at |
//! |---|---|---|
//! | entry of each of 7 kinds onto an empty spot | 1 a kind, *place* | the first spot |
//! | entry of each of 7 kinds that pushes | 6 a kind, by direction | the first spot |
//! | TAMSK extra move | 1 place and 6 push | the first spot |
//! | ZÈRTZ jump | 6, by direction | the source |
//! | YINSH run | 36, by direction and distance | the source |
//! | DVONN cover, PÜNCT cover | 6 each, by direction | the source |
//! | removal of a line's row | 3, by orientation | all spots of the line, averaged |
//! | the same | 1, *take* | each spot taken by choice, added |
//! | skip, decline, challenge, pass | global | |
//!
//! Whose play it is does not matter: features are seen by the decider.

mod planes;

use std::ops::Range;

use gipf_core::position::RemovalLine;
use gipf_core::{Entry, Play, PlayKind, Position, Potential, Spot, SpotSet, Symmetry};

use planes::{
    CHALLENGE, DECLINE, DVONN, ENTER, EXTRA, PASS, PUNCT, REMOVAL, SKIP, TAKE, YINSH,
    YINSH_DISTANCES, ZERTZ, logit,
};
pub use planes::{
    PLANE_SPOTS, POLICY_GLOBALS, POLICY_PLANES, POLICY_SIZE, PlaneMask, plane_mask, plane_name,
    symmetry_permutation,
};

/// The version of this map, raised with every change of an index's meaning.
pub const POLICY_VERSION: u32 = 1;

/// For each action of a position its one group, or two, of weighted logits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyIndex {
    /// Logit index and weight, all groups one after the other.
    terms: Vec<(u16, f32)>,
    /// Where each group ends in `terms`.
    group_ends: Vec<u32>,
    /// Where each action ends in `group_ends`. Both are empty as long as every action is one group of one term, which all
    /// but removals are.
    action_ends: Vec<u32>,
    /// Room for a removal's lines, kept so that filling allocates nothing.
    lines: Vec<RemovalLine>,
}

impl PolicyIndex {
    /// An index of no action.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes it the index of these actions, plays of `position` in phases where somebody decides.
    pub fn fill(&mut self, position: &Position, actions: &[Play]) {
        self.terms.clear();
        self.group_ends.clear();
        self.action_ends.clear();
        let occupied = position.occupied();
        for &action in actions {
            match action.kind() {
                PlayKind::Enter { kind, entry } => {
                    self.entry(ENTER + 7 * kind.index(), entry, occupied)
                }
                PlayKind::Extra(entry) => self.entry(EXTRA, entry, occupied),
                PlayKind::Move { kind, from, to } => self.potential(kind, from, to),
                PlayKind::Remove(taken) => self.removal(position, taken),
                PlayKind::SkipExtra => self.single(SKIP),
                PlayKind::Decline => self.single(DECLINE),
                PlayKind::Challenge => self.single(CHALLENGE),
                PlayKind::Pass => self.single(PASS),
                // Chance decides here, not a policy: an action without a group has logit 0.
                PlayKind::Outcome(_) => {
                    self.write_ends();
                    self.end_action();
                }
            }
        }
    }

    /// The number of actions.
    pub fn actions(&self) -> usize {
        if self.is_plain() { self.terms.len() } else { self.action_ends.len() }
    }

    /// The planes that its groups use.
    pub fn planes(&self) -> PlaneMask {
        let mut planes = PlaneMask::NONE;
        for (index, _) in self.terms.iter().filter(|(index, _)| usize::from(*index) < SKIP) {
            planes.insert(usize::from(*index) / PLANE_SPOTS);
        }
        planes
    }

    /// The groups of an action: index and weight of each of its logits. No group if there is no such action.
    pub fn groups_of(&self, action: usize) -> impl ExactSizeIterator<Item = &[(u16, f32)]> {
        let groups = if action < self.actions() { self.groups(action) } else { 0..0 };
        groups.map(|group| &self.terms[self.terms_of(group)])
    }

    /// The logit of each action from all [`POLICY_SIZE`] logits, written to `out`.
    ///
    /// # Panics
    /// If `all` is shorter.
    pub fn logits(&self, all: &[f32], out: &mut Vec<f32>) {
        self.logits_with(|index| all[usize::from(index)], out);
    }

    /// The logit of each action, written to `out`; `logit` gives the one of an index. For evaluators that leave planes out.
    pub fn logits_with(&self, logit: impl Fn(u16) -> f32, out: &mut Vec<f32>) {
        self.combine(|at| logit(self.terms[at].0), out);
    }

    /// The logits that the actions' groups are made of, one after the other: index and weight of each.
    pub(crate) fn terms(&self) -> &[(u16, f32)] {
        &self.terms
    }

    /// The logit of each action, written to `out`; `values` has one logit for each of [`Self::terms`].
    pub(crate) fn logits_of_terms(&self, values: &[f32], out: &mut Vec<f32>) {
        self.combine(|at| values[at], out);
    }

    /// Puts the groups together; `value` is the logit of a term.
    fn combine(&self, value: impl Fn(usize) -> f32, out: &mut Vec<f32>) {
        out.clear();
        if self.is_plain() {
            out.extend(self.terms.iter().enumerate().map(|(at, (_, weight))| weight * value(at)));
            return;
        }
        let sum = |group: usize| -> f32 {
            self.terms_of(group).map(|at| self.terms[at].1 * value(at)).sum()
        };
        out.extend((0..self.actions()).map(|action| {
            let groups = self.groups(action);
            match groups.len() {
                0 => 0.0,
                1 => sum(groups.start),
                // A removal deals with two lines at most.
                _ => log_add_exp(sum(groups.start), sum(groups.start + 1)),
            }
        }));
    }

    /// The same actions on the transformed board, in the same order.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> PolicyIndex {
        let mut image = self.clone();
        image.transform(symmetry);
        image
    }

    /// Makes it the index of the same actions on the transformed board, in the same order.
    pub(crate) fn transform(&mut self, symmetry: Symmetry) {
        let permutation = symmetry_permutation(symmetry);
        for (index, _) in &mut self.terms {
            *index = permutation[usize::from(*index)];
        }
    }

    fn entry(&mut self, family: usize, entry: Entry, occupied: SpotSet) {
        let first = entry.first_spot();
        let push = if occupied.contains(first) { 1 + entry.direction().index() } else { 0 };
        self.single(logit(family + push, first));
    }

    fn potential(&mut self, kind: Potential, from: Spot, to: Spot) {
        let Some((direction, distance)) = from.distance_to(to) else {
            debug_assert!(false, "a potential moves along a line");
            return;
        };
        let direction = direction.index();
        let plane = match kind {
            Potential::Zertz => ZERTZ + direction,
            Potential::Yinsh => YINSH + direction * YINSH_DISTANCES + usize::from(distance) - 1,
            Potential::Dvonn => DVONN + direction,
            Potential::Punct => PUNCT + direction,
            Potential::Tamsk => EXTRA,
        };
        self.single(logit(plane, from));
    }

    fn removal(&mut self, position: &Position, taken: SpotSet) {
        self.write_ends();
        let mut lines = std::mem::take(&mut self.lines);
        position.removal_lines(taken, &mut lines);
        debug_assert!(!lines.is_empty(), "a removal deals with a line");
        // Three cross on one spot only where twelve GIPF-pieces of one colour are on the board or nearly so; the third is left out.
        for &RemovalLine { line, optional, .. } in lines.iter().take(2) {
            let weight = 1.0 / line.len() as f32;
            for spot in line.spots().iter() {
                self.terms.push((logit(REMOVAL + line.orientation(), spot) as u16, weight));
            }
            for spot in (optional & taken).iter() {
                self.terms.push((logit(TAKE, spot) as u16, 1.0));
            }
            self.end_group();
        }
        self.lines = lines;
        self.end_action();
    }

    /// An action of one group of one logit.
    fn single(&mut self, index: usize) {
        self.terms.push((index as u16, 1.0));
        if !self.is_plain() {
            self.end_group();
            self.end_action();
        }
    }

    fn is_plain(&self) -> bool {
        self.action_ends.is_empty()
    }

    /// Before the first action that is not one group of one term: where those before it end.
    fn write_ends(&mut self) {
        if self.is_plain() {
            let ends = 1..=self.terms.len() as u32;
            self.group_ends.extend(ends.clone());
            self.action_ends.extend(ends);
        }
    }

    fn end_group(&mut self) {
        self.group_ends.push(self.terms.len() as u32);
    }

    fn end_action(&mut self) {
        self.action_ends.push(self.group_ends.len() as u32);
    }

    /// The groups of an action that there is.
    fn groups(&self, action: usize) -> Range<usize> {
        range(&self.action_ends, action, self.is_plain())
    }

    /// The terms of a group that there is.
    fn terms_of(&self, group: usize) -> Range<usize> {
        range(&self.group_ends, group, self.is_plain())
    }
}

/// From the end before to this one, or one place each where it is plain.
fn range(ends: &[u32], at: usize, is_plain: bool) -> Range<usize> {
    match at {
        _ if is_plain => at..at + 1,
        0 => 0..ends[0] as usize,
        _ => ends[at - 1] as usize..ends[at] as usize,
    }
}

fn log_add_exp(a: f32, b: f32) -> f32 {
    let most = a.max(b);
    most + (-(a - b).abs()).exp().ln_1p()
}
