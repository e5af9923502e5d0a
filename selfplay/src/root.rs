//! The root of a Gumbel search: candidates drawn without replacement, and the one that the budget is spent on next.

use gipf_core::Color;
use rand_chacha::ChaCha8Rng;

use crate::config::GumbelConfig;
use crate::halving::HalvingSchedule;
use crate::improve::{Child, Mixed, complete_q, improved_policy, q_weight};
use crate::random::gumbel;
use crate::tree::{Edge, Tree, own_share};

/// A root play in the order of `gumbel + logit`.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Index among the root's edges.
    edge: u32,
    /// Gumbel noise plus the logarithm of the prior.
    base: f32,
    /// Visits in this search. Those kept from an earlier one count for Q, not for the halving.
    visits: u32,
}

/// The state of the sequential halving.
#[derive(Default)]
pub(crate) struct GumbelRoot {
    candidates: Vec<Candidate>,
    /// Candidates in play are the first so many.
    considered: usize,
    schedule: Option<HalvingSchedule>,
    /// The schedule before the last choice, and the candidate that was chosen.
    before: Option<(HalvingSchedule, usize)>,
    /// The root's plays and their completed Q, for the policy and the last choice.
    children: Vec<Child>,
    completed: Vec<f32>,
    policy: Vec<f32>,
}

impl GumbelRoot {
    /// Draws the candidates: the `considered` plays with the largest `gumbel + logit`, which is a sample without
    /// replacement from the prior (without `noise`: the plays with the largest priors). Proven losses are passed over.
    pub(crate) fn prepare(
        &mut self,
        edges: &[Edge],
        color: Color,
        considered: u32,
        simulations: u32,
        mut noise: Option<ChaCha8Rng>,
    ) {
        self.candidates.clear();
        for (edge, index) in edges.iter().zip(0..) {
            // A number for every play, lost ones too: what is drawn must not depend on what is known.
            let noise = noise.as_mut().map_or(0.0, gumbel);
            if !edge.is_lost_for(color) {
                self.candidates.push(Candidate {
                    edge: index,
                    base: noise + edge.prior.ln(),
                    visits: 0,
                });
            }
        }
        self.candidates
            .sort_unstable_by(|a, b| b.base.total_cmp(&a.base).then(a.edge.cmp(&b.edge)));
        self.considered = self.candidates.len().min(considered as usize);
        self.before = None;
        self.schedule = Some(HalvingSchedule::new(self.considered as u32, simulations));
    }

    /// The root's edge index that the next simulation visits: of the candidates with the scheduled number of new visits
    /// the one with the best `gumbel + logit + weight · completed Q`. Where proven losses have left none with that
    /// number, the nearest below it is taken, then the nearest above. Where no candidate is left, the next play of the
    /// sample comes in.
    pub(crate) fn choose(&mut self, config: &GumbelConfig, tree: &Tree, color: Color) -> u32 {
        let before = self.schedule;
        let scheduled = self.schedule.as_mut().and_then(Iterator::next).unwrap_or(0);
        let edges = tree.edges(0);
        let lost = |candidate: &Candidate| edges[candidate.edge as usize].is_lost_for(color);
        if self.candidates[..self.considered].iter().all(lost) {
            let next =
                self.candidates[self.considered..].iter().position(|candidate| !lost(candidate));
            self.considered += next.map_or(0, |offset| offset + 1);
        }
        let Some(index) = self.best(config, tree, color, scheduled) else {
            // Every play is lost; then the root is proven and no search asks.
            return 0;
        };
        self.candidates[index].visits += 1;
        self.before = before.map(|schedule| (schedule, index));
        self.candidates[index].edge
    }

    /// Takes the last choice back: its simulation was not made.
    pub(crate) fn take_back(&mut self) {
        if let Some((schedule, index)) = self.before.take() {
            self.schedule = Some(schedule);
            self.candidates[index].visits -= 1;
        }
    }

    /// What [`GumbelRoot::choose`] would choose next, unless it had to take another play of the sample in.
    pub(crate) fn next_choice(&self, config: &GumbelConfig, tree: &Tree, color: Color) -> u32 {
        let scheduled = self.schedule.and_then(|mut schedule| schedule.next()).unwrap_or(0);
        let best = self.best(config, tree, color, scheduled);
        best.map_or(0, |index| self.candidates[index].edge)
    }

    /// Whether the next choice is the first of a row, which depends on what came of the row before.
    pub(crate) fn begins_row(&self) -> bool {
        self.schedule.as_ref().is_none_or(HalvingSchedule::begins_row)
    }

    /// Whether the next choice depends on which candidates a phase has left over.
    pub(crate) fn begins_phase(&self) -> bool {
        self.schedule.as_ref().is_none_or(HalvingSchedule::begins_phase)
    }

    /// The candidate that a simulation goes to which is scheduled for so many visits before it.
    fn best(
        &self,
        config: &GumbelConfig,
        tree: &Tree,
        color: Color,
        scheduled: u32,
    ) -> Option<usize> {
        let edges = tree.edges(0);
        // Plays without a visit have one Q in common: what visited plays and candidates say is enough.
        let mut mixed = Mixed::default();
        for edge in edges.iter().filter(|edge| edge.visits > 0 && !edge.is_lost_for(color)) {
            mixed.add(edge.prior, edge.visits, own_share(color, edge.q));
        }
        let weight = q_weight(config, mixed.max_visits);
        let unvisited = mixed.value(own_share(color, tree.node(0).raw));
        let nearness = |visits: u32| {
            if visits <= scheduled {
                (true, i64::from(visits))
            } else {
                (false, -i64::from(visits))
            }
        };
        let mut best: Option<((bool, i64), f32, usize)> = None;
        for (index, candidate) in self.candidates[..self.considered].iter().enumerate() {
            let edge = &edges[candidate.edge as usize];
            if edge.is_lost_for(color) {
                continue;
            }
            let q = if edge.visits == 0 { unvisited } else { own_share(color, edge.q) };
            let score = candidate.base + weight * q;
            let near = nearness(candidate.visits);
            if best.is_none_or(|(best_near, best_score, _)| {
                near > best_near || near == best_near && score > best_score
            }) {
                best = Some((near, score, index));
            }
        }
        best.map(|(_, _, index)| index)
    }

    /// The search's choice (an edge index of the root): of the candidates with the most new visits the one with the best
    /// `gumbel + logit + weight · completed Q`. A proven win first; where all is lost, the most visited play.
    pub(crate) fn decide(&mut self, config: &GumbelConfig, tree: &Tree, color: Color) -> u32 {
        if let Some(won) = winning(tree.edges(0), color) {
            return won;
        }
        let weight = self.read(config, tree, color);
        let mut best: Option<(u32, f32, u32)> = None;
        for candidate in &self.candidates[..self.considered] {
            if self.children[candidate.edge as usize].lost {
                continue;
            }
            let score = candidate.base + weight * self.completed[candidate.edge as usize];
            let visits = candidate.visits;
            if best.is_none_or(|(most, top, _)| visits > most || visits == most && score > top) {
                best = Some((visits, score, candidate.edge));
            }
        }
        best.map_or_else(|| most_visited(tree.edges(0), color), |(_, _, edge)| edge)
    }

    /// The improved policy over the root's edges; one-hot where a win is proven.
    pub(crate) fn improved(&mut self, config: &GumbelConfig, tree: &Tree, color: Color) -> &[f32] {
        let weight = self.read(config, tree, color);
        if let Some(won) = winning(tree.edges(0), color) {
            self.policy.clear();
            self.policy.resize(self.children.len(), 0.0);
            self.policy[won as usize] = 1.0;
        } else {
            improved_policy(weight, &self.children, &self.completed, &mut self.policy);
        }
        &self.policy
    }

    /// Reads the root's edges and completes their Q; returns the weight of the completed Q.
    fn read(&mut self, config: &GumbelConfig, tree: &Tree, color: Color) -> f32 {
        self.children.clear();
        self.children.extend(tree.edges(0).iter().map(|edge| Child {
            prior: edge.prior,
            visits: edge.visits,
            q: own_share(color, edge.q),
            lost: edge.is_lost_for(color),
        }));
        complete_q(config, own_share(color, tree.node(0).raw), &self.children, &mut self.completed)
    }
}

/// The first edge proven won.
pub(crate) fn winning(edges: &[Edge], color: Color) -> Option<u32> {
    edges.iter().position(|edge| edge.is_won_for(color)).map(|index| index as u32)
}

/// The most visited edge that is not proven lost, of all if every one is; the one with the higher prior among equals.
pub(crate) fn most_visited(edges: &[Edge], color: Color) -> u32 {
    let mut best: Option<((bool, u32), u32)> = None;
    for (edge, index) in edges.iter().zip(0..) {
        let key = (!edge.is_lost_for(color), edge.visits);
        if best.is_none_or(|(top, _)| key > top) {
            best = Some((key, index));
        }
    }
    best.map_or(0, |(_, index)| index)
}
