//! Several simulations of one search under way at once, so that their positions can be evaluated together or by several threads.
//!
//! Sequential halving visits every candidate of a row once before it looks at what came of it, and what lies below one candidate has
//! nothing to do with what lies below another. So a row's simulations are independent of each other: taken together they give what
//! they give one after the other, but for plays that a proof in the middle of a row would have changed. Nothing has to stand in for
//! values that are not there yet ("virtual loss").

use gipf_core::Color;
use gipf_model::{Evaluation, Features};

use super::Search;
use crate::config::Method;
use crate::tree::{Kind, PathStep, sign};

/// A simulation whose new positions wait for their evaluations.
#[derive(Default)]
pub(super) struct Flight {
    /// Its way down; empty where the root itself is evaluated.
    path: Vec<PathStep>,
    chances: Vec<u32>,
    leaves: Vec<u32>,
}

impl Search {
    /// Begins simulations until `most` positions must be evaluated, or a few more, or no other simulation is independent of these: the
    /// features of each are then in `features`, from its beginning on, and [`Search::land`] takes their evaluations. 0 where the
    /// search is over. With one simulation at a time it is [`Search::step`].
    pub(crate) fn take_off(&mut self, most: usize, features: &mut Vec<Features>) -> usize {
        self.flying = 0;
        let mut count = 0;
        if !self.leaves.is_empty() {
            // The root, before anything else can be done.
            count = self.fly(count, features);
        }
        let at_root = self.flying > 0;
        while count < most && !at_root {
            let root = self.tree.node(0);
            let Kind::Decision(color) = root.kind else { break };
            let begun = self.simulations + self.flying as u32;
            if root.exact || begun >= self.budget.simulations || !self.is_independent(color) {
                break;
            }
            self.descend(color);
            if self.leaves.is_empty() {
                self.complete();
            } else {
                count = self.fly(count, features);
            }
        }
        count
    }

    /// Whether the next simulation has nothing to do with those under way: it is of the same row of the halving, and of another play.
    fn is_independent(&self, color: Color) -> bool {
        if self.flying == 0 {
            return true;
        }
        let Method::Gumbel = self.config.method else { return false };
        let edge = self.tree.first_edge(0)
            + self.gumbel.next_choice(&self.config.gumbel, &self.tree, color);
        let flies = |flight: &Flight| flight.path.first().is_some_and(|step| step.edge == edge);
        !self.gumbel.begins_row() && !self.flights[..self.flying].iter().any(flies)
    }

    /// Files the present simulation as one under way; the number of positions that must be evaluated then.
    fn fly(&mut self, mut count: usize, features: &mut Vec<Features>) -> usize {
        if self.flights.len() == self.flying {
            self.flights.push(Flight::default());
        }
        for at in 0..self.leaves.len() {
            if features.len() == count {
                features.push(Features::new());
            }
            self.fill_leaf(self.leaves[at], &mut features[count]);
            count += 1;
        }
        let flight = &mut self.flights[self.flying];
        std::mem::swap(&mut flight.path, &mut self.path);
        std::mem::swap(&mut flight.chances, &mut self.chances);
        std::mem::swap(&mut flight.leaves, &mut self.leaves);
        self.path.clear();
        self.chances.clear();
        self.leaves.clear();
        self.flying += 1;
        count
    }

    /// Takes the evaluations of the positions that [`Search::take_off`] gave out, in their order.
    pub(crate) fn land(&mut self, evaluations: &[Evaluation]) {
        let mut rest = evaluations.iter();
        for at in 0..std::mem::take(&mut self.flying) {
            let flight = &mut self.flights[at];
            std::mem::swap(&mut flight.path, &mut self.path);
            std::mem::swap(&mut flight.chances, &mut self.chances);
            for (leaf, evaluation) in flight.leaves.drain(..).zip(&mut rest) {
                if let Kind::Decision(color) = self.tree.node(leaf).kind {
                    let value = sign(color) * evaluation.q();
                    self.tree.set_evaluation(leaf, value, &evaluation.logits);
                }
            }
            self.complete();
        }
    }
}
