//! The search of one game's decisions. It holds the tree and asks for evaluations; whoever drives it has the network.

mod candidates;
mod flight;
mod result;

use gipf_core::{Color, Play, Position, Symmetry};
use gipf_model::{Evaluation, Features};
use rand_chacha::ChaCha8Rng;

use crate::config::{Method, SearchConfig};
use crate::random::dirichlet;
use crate::root::GumbelRoot;
use crate::select::{by_improved_policy, by_upper_confidence};
use crate::tree::{Kind, NONE, Node, PathStep, Tree, sign};

pub(crate) use candidates::outcomes;
pub use result::SearchResult;

/// How much one decision may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBudget {
    /// New visits of the root. Visits kept from an earlier search do not count.
    pub simulations: u32,
    /// Root plays that a Gumbel search is halved over, 1 or more.
    pub considered: u32,
    /// Gumbel noise, or PUCT's Dirichlet noise, at the root. Off for play.
    pub noise: bool,
}

/// What a search wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The features were filled: evaluate them and call [`Search::absorb`].
    Evaluate,
    /// The budget is spent, or the root's value is proven: ask for [`Search::result`].
    Done,
}

/// The searches of one game, one after another on one tree.
///
/// ```text
/// begin → (step → Evaluate → absorb)* → step → Done → result → advance(the play made) → begin …
/// ```
pub struct Search {
    config: SearchConfig,
    max_plays: u32,
    tree: Tree,
    /// The other half of the arena: what is kept of a tree is copied there, which compacts it.
    spare: Tree,
    budget: SearchBudget,
    noise: Option<ChaCha8Rng>,
    gumbel: GumbelRoot,
    /// PUCT's priors of the root with noise mixed in.
    noisy_priors: Vec<f32>,
    simulations: u32,
    /// The longest way down of this search's simulations.
    deepest: u32,
    /// The present simulation's way down; empty while the root itself is evaluated.
    path: Vec<PathStep>,
    /// New chance nodes of the present simulation, upper ones first.
    chances: Vec<u32>,
    /// New decisions of the present simulation that still want an evaluation.
    leaves: Vec<u32>,
    shares: Vec<f32>,
    /// Simulations under way at once: the first `flying` of these.
    flights: Vec<flight::Flight>,
    flying: usize,
}

impl Search {
    /// A search for games that are unfinished after `max_plays` plays. The config is taken as valid.
    pub fn new(config: &SearchConfig, max_plays: u32) -> Search {
        Search {
            config: config.clone(),
            max_plays,
            tree: Tree::default(),
            spare: Tree::default(),
            budget: SearchBudget { simulations: 0, considered: 1, noise: false },
            noise: None,
            gumbel: GumbelRoot::default(),
            noisy_priors: Vec::new(),
            simulations: 0,
            deepest: 0,
            path: Vec::new(),
            chances: Vec::new(),
            leaves: Vec::new(),
            shares: Vec::new(),
            flights: Vec::new(),
            flying: 0,
        }
    }

    /// Starts the search of a decision. A tree kept by [`Search::advance`] is used if `position` and `ply` are its
    /// root's and it is not too large. The position must have two actions or more; with one the search is over at
    /// once. `noise` is read only if the budget asks for noise.
    pub fn begin(
        &mut self,
        position: &Position,
        ply: u32,
        budget: SearchBudget,
        noise: ChaCha8Rng,
    ) {
        let full = self.tree.len() + budget.simulations as usize > self.config.max_nodes as usize;
        if full || !self.stands_at(position, ply) || self.is_waiting() {
            self.clear();
        }
        self.budget = budget;
        self.noise = budget.noise.then_some(noise);
        (self.simulations, self.deepest) = (0, 0);
        self.path.clear();
        self.chances.clear();
        if self.tree.is_empty() {
            let root = self.tree.add(position, ply, self.max_plays);
            if let Kind::Decision(_) = self.tree.node(root).kind {
                self.leaves.push(root);
            }
        } else {
            self.prepare_root();
        }
    }

    /// Whether the tree's root is this position after so many plays.
    pub fn stands_at(&self, position: &Position, ply: u32) -> bool {
        !self.tree.is_empty() && self.tree.node(0).ply == ply && self.tree.position(0) == position
    }

    /// Simulates until a position must be evaluated, whose features are then in `features`, or the search is over.
    /// Called again before [`Search::absorb`] it fills the same features again.
    pub fn step(&mut self, features: &mut Features) -> Step {
        if self.seek().is_none() {
            return Step::Done;
        }
        self.fill(features);
        Step::Evaluate
    }

    /// Simulates until a position must be evaluated: that position, or none where the search is over.
    pub(crate) fn seek(&mut self) -> Option<&Position> {
        loop {
            if let Some(&leaf) = self.leaves.last() {
                return Some(self.tree.position(leaf));
            }
            let Kind::Decision(color) = self.tree.node(0).kind else { return None };
            if self.is_over() {
                return None;
            }
            if self.descend(color) && self.leaves.is_empty() {
                self.complete();
            }
        }
    }

    /// The position that is to be evaluated.
    pub(crate) fn leaf(&self) -> Option<&Position> {
        self.leaves.last().map(|&leaf| self.tree.position(leaf))
    }

    /// Fills the features of the position that is to be evaluated, seen on the board that its hash names where the config asks
    /// for symmetry. The logits stay in the order of the plays, so nothing has to be turned back.
    pub(crate) fn fill(&self, features: &mut Features) {
        if let Some(&leaf) = self.leaves.last() {
            self.fill_leaf(leaf, features);
        }
    }

    fn fill_leaf(&self, leaf: u32, features: &mut Features) {
        let position = self.tree.position(leaf);
        features.fill(position, self.tree.plays(leaf));
        if self.config.symmetry {
            features.transform(board_of(position));
        }
    }

    /// Takes the evaluation of the position that [`Search::step`] asked for; without such a position it does nothing.
    pub fn absorb(&mut self, evaluation: &Evaluation) {
        let Some(leaf) = self.leaves.pop() else { return };
        if let Kind::Decision(color) = self.tree.node(leaf).kind {
            self.tree.set_evaluation(leaf, sign(color) * evaluation.q(), &evaluation.logits);
        }
        if self.leaves.is_empty() {
            self.complete();
        }
    }

    /// Whether [`Search::result`] has something to say: the root has been evaluated.
    pub fn is_ready(&self) -> bool {
        !self.tree.is_empty()
            && (self.tree.node(0).visits > 0 || self.tree.node(0).kind == Kind::Chance)
    }

    /// Raises the running search's budget to so many new visits of the root in all. Before the root is evaluated that is
    /// the number that the halving is planned for; afterwards the plan stays, and its last two candidates share what
    /// comes on top.
    pub fn extend(&mut self, simulations: u32) {
        self.budget.simulations = self.budget.simulations.max(simulations);
    }

    /// New visits of the root so far.
    pub fn simulations(&self) -> u32 {
        self.simulations
    }

    /// Plays of the longest line that this search has gone down.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The game made this legal play at the root: what was searched below it becomes the tree, the rest goes.
    pub fn advance(&mut self, play: Play) {
        if self.tree.is_empty() {
            return;
        }
        let child = self.child(play).filter(|_| self.config.tree_reuse && !self.is_waiting());
        match child.filter(|&child| self.tree.node(child).visits > 0) {
            Some(child) => {
                self.tree.copy_subtree(child, &mut self.spare);
                std::mem::swap(&mut self.tree, &mut self.spare);
            }
            None => self.clear(),
        }
    }

    /// Forgets the tree, keeping its memory.
    pub fn clear(&mut self) {
        self.tree.clear();
        self.leaves.clear();
        self.chances.clear();
        self.path.clear();
        self.flying = 0;
    }

    /// Whether positions of the tree have been given out and not been evaluated.
    fn is_waiting(&self) -> bool {
        self.flying > 0 || !self.leaves.is_empty()
    }

    /// Nodes of the tree.
    pub fn nodes(&self) -> usize {
        self.tree.len()
    }

    /// The node below the root's edge for a play, if it has been opened. Merged entries share an edge.
    fn child(&self, play: Play) -> Option<u32> {
        let find = |play: Play| self.tree.edge_of(0, play);
        let edge = find(play).or_else(|| find(self.tree.position(0).action_for(play)))?;
        (edge.child != NONE).then_some(edge.child)
    }

    /// What a search needs of an evaluated root.
    fn prepare_root(&mut self) {
        let Kind::Decision(color) = self.tree.node(0).kind else { return };
        self.tree.sort_all(0);
        let edges = self.tree.edges(0);
        match self.config.method {
            Method::Gumbel => {
                let SearchBudget { simulations, considered, .. } = self.budget;
                self.gumbel.prepare(edges, color, considered, simulations, self.noise.take());
            }
            Method::Puct => {
                self.noisy_priors.clear();
                if let Some(mut noise) = self.noise.take() {
                    let (fraction, alpha) =
                        (self.config.puct.noise_fraction, self.config.puct.noise_alpha);
                    self.noisy_priors.resize(edges.len(), 0.0);
                    dirichlet(&mut noise, f64::from(alpha), &mut self.noisy_priors);
                    for (noisy, edge) in self.noisy_priors.iter_mut().zip(edges) {
                        *noisy = fraction * *noisy + (1.0 - fraction) * edge.prior;
                    }
                }
            }
        }
    }

    /// Whether the improved policy chooses below the root, not PUCT.
    fn is_improved_below(&self) -> bool {
        self.config.method == Method::Gumbel
            && self.budget.simulations < self.config.gumbel.puct_from
    }

    /// Goes down to a node without a visit, or to one whose value is certain. Where that node's first visit is under way already
    /// it comes back without anything done, and says so by false; with no other simulation under way that cannot be.
    fn descend(&mut self, root_color: Color) -> bool {
        self.path.clear();
        let improved = self.is_improved_below();
        let mut node = 0;
        let mut edge = match self.config.method {
            Method::Gumbel => {
                self.tree.first_edge(0)
                    + self.gumbel.choose(&self.config.gumbel, &self.tree, root_color)
            }
            Method::Puct => {
                let priors = (!self.noisy_priors.is_empty()).then_some(&*self.noisy_priors);
                by_upper_confidence(&self.config.puct, &self.tree, 0, root_color, priors)
            }
        };
        loop {
            self.path.push(PathStep { node, edge });
            let child = self.tree.edge(edge).child;
            if child == NONE {
                let child = self.tree.open(node, edge, self.max_plays);
                self.grow(child);
                return true;
            }
            let Node { exact, visits, .. } = *self.tree.node(child);
            if exact {
                self.tree.revisit(child);
                return true;
            }
            if visits == 0 {
                if self.config.method == Method::Gumbel {
                    self.gumbel.take_back();
                }
                return false;
            }
            node = child;
            if let Kind::Decision(_) = self.tree.node(node).kind {
                self.tree.sort_next(node);
            }
            edge = match self.tree.node(node).kind {
                Kind::Decision(color) if improved => by_improved_policy(
                    &self.config.gumbel,
                    &self.tree,
                    node,
                    color,
                    &mut self.shares,
                ),
                Kind::Decision(color) => {
                    by_upper_confidence(&self.config.puct, &self.tree, node, color, None)
                }
                _ => self.tree.largest_deficit(node),
            };
        }
    }

    /// Files a new node as a leaf, or opens all that lies below it down to the next decisions.
    fn grow(&mut self, node: u32) {
        let file = |search: &mut Search, node| match search.tree.node(node).kind {
            Kind::Over => {}
            Kind::Decision(_) => search.leaves.push(node),
            Kind::Chance => search.chances.push(node),
        };
        file(self, node);
        let mut next = 0;
        while next < self.chances.len() {
            let chance = self.chances[next];
            let first = self.tree.first_edge(chance);
            for edge in first..first + self.tree.edges(chance).len() as u32 {
                let child = self.tree.open(chance, edge, self.max_plays);
                file(self, child);
            }
            next += 1;
        }
    }

    /// Ends a simulation whose new nodes all have their values.
    fn complete(&mut self) {
        while let Some(chance) = self.chances.pop() {
            self.tree.settle_chance(chance);
        }
        if self.path.is_empty() {
            self.prepare_root();
        } else {
            self.tree.back_up(&self.path);
            self.simulations += 1;
            self.deepest = self.deepest.max(self.path.len() as u32);
        }
    }
}

/// The symmetric board that a position is shown on: a function of the position alone, so that it is the same in every tree, lane
/// and batch and an evaluation can be kept by the position. The hash is the position's own, not one that its symmetric
/// positions share: on average over positions each board is seen equally often.
fn board_of(position: &Position) -> Symmetry {
    let high = position.hash64() >> 32;
    Symmetry::ALL[((high * Symmetry::COUNT as u64) >> 32) as usize]
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
