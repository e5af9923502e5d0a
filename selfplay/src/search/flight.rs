//! Several simulations of one search under way at once, so that their positions can be evaluated together or by several threads.
//!
//! Sequential halving visits every candidate of a row once before it looks at what came of it, and what lies below one candidate has
//! nothing to do with what lies below another. So a row's simulations are independent of each other: taken together they give what
//! they give one after the other, but for plays that a proof in the middle of a row would have changed. Nothing has to stand in for
//! values that are not there yet.
//!
//! A row becomes short: the last phase has two candidates. So a search may also go on to the next rows of the same phase, and with PUCT
//! at the root to its next simulations: which candidates these visit is known, what is chosen below them depends on values that are
//! not there yet, and a virtual loss stands for those ([`by_upper_confidence`](crate::select::by_upper_confidence)).

use gipf_core::Color;
use gipf_model::{Evaluation, Features};

use super::Search;
use crate::config::Method;
use crate::tree::{Kind, PathStep, sign};

/// Visits without an evaluation after which [`Search::take_off`] comes back: whoever drives the search looks at the clock then.
const UNEVALUATED: u32 = 256;

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
    /// search [is over](Search::is_over), or has visited nothing but what is proven for a while. While there are fewer than `overlap`
    /// positions the next simulation need not be independent, where PUCT chooses. With one simulation at a time it is [`Search::step`].
    pub(crate) fn take_off(
        &mut self,
        most: usize,
        overlap: usize,
        features: &mut Vec<Features>,
    ) -> usize {
        self.flying = 0;
        let (mut count, mut unevaluated) = (0, 0);
        if !self.leaves.is_empty() {
            // The root, before anything else can be done.
            count = self.fly(count, features);
        }
        let at_root = self.flying > 0;
        while count < most && !at_root && unevaluated < UNEVALUATED {
            let Kind::Decision(color) = self.tree.node(0).kind else { break };
            if self.is_over() {
                break;
            }
            let goes = self.is_independent(color) || count < overlap && self.may_overlap();
            if !goes || !self.descend(color) {
                break;
            }
            if self.leaves.is_empty() {
                self.complete();
                unevaluated += 1;
            } else {
                count = self.fly(count, features);
            }
        }
        count
    }

    /// Whether nothing is left to begin: the budget is used up, those under way included, or the root's value is proven.
    pub(crate) fn is_over(&self) -> bool {
        let root = self.tree.node(0);
        let begun = self.simulations + self.flying as u32;
        root.exact || begun >= self.budget.simulations || !matches!(root.kind, Kind::Decision(_))
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

    /// Whether the next simulation's choice at the root does not depend on those under way, and PUCT chooses below it.
    fn may_overlap(&self) -> bool {
        match self.config.method {
            Method::Gumbel => !self.is_improved_below() && !self.gumbel.begins_phase(),
            Method::Puct => true,
        }
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
        self.tree.take_off(&self.path);
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
            self.tree.land(&self.path);
            self.complete();
        }
    }
}

#[cfg(test)]
#[path = "flight_tests.rs"]
mod tests;
