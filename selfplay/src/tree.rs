//! The tree of one game: an arena of nodes, their plays and their positions.
//!
//! **Values** are kept from White's side throughout and read by each node's decider; nothing is flipped by depth, because
//! a turn is often several plays by one colour. +1 is a win for White, -1 one for Black, 0 an unfinished game.
//!
//! **A node's q** is the network's value averaged with its children's, each weighted by its visits. Children proven
//! lost for the decider are left out: it will not play them. It is kept up to date by difference: a child that becomes
//! exact, or a chance node whose mean moves, changes its parents at once with all its visits.
//!
//! **Exact nodes**: the value is known for certain. The game is over there, or the decider has a winning play, or all
//! plays (all outcomes, at a chance node) are exact.
//!
//! **Chance nodes** are the side games, and decisions with a single play: no network call there; the first visit opens
//! every outcome; q is their mean weighted by probability; a descent goes to the largest deficit of visits.

mod order;

use std::ops::Range;

use gipf_core::{Color, Play, Position};

/// No such node.
pub(crate) const NONE: u32 = u32::MAX;

/// Probabilities from the network are not taken below this, so that their logarithms stay finite.
const SMALLEST_PRIOR: f32 = 1e-30;

/// Own values this near to 1 are wins (a mean of won outcomes may be rounded).
const WIN: f32 = 1.0 - 1e-6;

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The game is over, or has reached its limit of plays.
    Over,
    /// This colour chooses between two or more plays.
    Decision(Color),
    /// A side game's outcome is due, or there is a single play.
    Chance,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The network's value plus the sum over the counted children of visits times q.
    sum: f64,
    /// What `sum` is divided by: 1 plus the visits of the counted children.
    weight: u32,
    pub(crate) visits: u32,
    /// White's value in [-1, 1].
    pub(crate) q: f32,
    /// The network's value, White's side; 0 where it was not asked.
    pub(crate) raw: f32,
    first_edge: u32,
    edge_count: u32,
    /// So many of a decision's plays stand at the front in the order of falling priors; none of the others has more.
    sorted: u32,
    pub(crate) ply: u32,
    pub(crate) kind: Kind,
    pub(crate) exact: bool,
}

/// What stands beside a node's play: a copy of what a choice among its siblings reads of the child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The network's probability of a play, or that of a chance node's outcome.
    pub(crate) prior: f32,
    /// The child's q, White's side; not read at 0 visits.
    pub(crate) q: f32,
    pub(crate) visits: u32,
    /// The child's node, or `NONE`.
    pub(crate) child: u32,
    pub(crate) exact: bool,
    /// Visits that are under way: their positions wait for an evaluation.
    pub(crate) flying: u16,
}

/// One step down: a node and the index, in the arena, of the edge taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathStep {
    pub(crate) node: u32,
    pub(crate) edge: u32,
}

/// The arena. Node 0 is the root. Nothing is allocated once it has grown to the size that its searches need.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Plays by edge, apart from the edges, so that a node's are at hand as a slice.
    plays: Vec<Play>,
    edges: Vec<Edge>,
    /// Positions by node. Kept, not recomputed: one play per new node instead of one per level and visit.
    positions: Vec<Position>,
    // Room for a node's plays, for outcomes, and for sorting.
    actions: Vec<Play>,
    outcomes: Vec<(Play, f64)>,
    order: Vec<u64>,
}

/// An edge that nothing is known of.
const BLANK: Edge = Edge { prior: 1.0, q: 0.0, visits: 0, child: NONE, exact: false, flying: 0 };

/// Black's sign is -1: `sign * q` is the colour's own value.
pub(crate) fn sign(color: Color) -> f32 {
    match color {
        Color::White => 1.0,
        Color::Black => -1.0,
    }
}

/// White's value as the colour's own, in [0, 1].
pub(crate) fn own_share(color: Color, q: f32) -> f32 {
    (1.0 + sign(color) * q) * 0.5
}

impl Node {
    fn range(&self) -> Range<usize> {
        self.first_edge as usize..(self.first_edge + self.edge_count) as usize
    }
}

impl Edge {
    /// Whether this play has no visit, and none under way.
    pub(crate) fn is_untried(&self) -> bool {
        self.visits == 0 && self.flying == 0
    }

    /// Whether this play is proven lost for the colour that may choose it.
    pub(crate) fn is_lost_for(&self, color: Color) -> bool {
        self.exact && sign(color) * self.q <= -WIN
    }

    /// Whether this play is proven won for the colour that may choose it.
    pub(crate) fn is_won_for(&self, color: Color) -> bool {
        self.exact && sign(color) * self.q >= WIN
    }

    /// The part that this edge has in its node's `sum` and `weight`.
    fn contribution(&self, color: Color) -> (f64, u32) {
        if self.visits == 0 || self.is_lost_for(color) {
            return (0.0, 0);
        }
        (f64::from(self.q) * f64::from(self.visits), self.visits)
    }
}

impl Tree {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.plays.clear();
        self.edges.clear();
        self.positions.clear();
    }

    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(crate) fn position(&self, node: u32) -> &Position {
        &self.positions[node as usize]
    }

    pub(crate) fn edge(&self, edge: u32) -> &Edge {
        &self.edges[edge as usize]
    }

    /// A decision's visited edges come first below the root, in the order of falling priors; how far that order goes on is up
    /// to [`Tree::sort_next`] and [`Tree::sort_all`].
    pub(crate) fn edges(&self, node: u32) -> &[Edge] {
        &self.edges[self.node(node).range()]
    }

    /// The plays of a node's edges.
    pub(crate) fn plays(&self, node: u32) -> &[Play] {
        &self.plays[self.node(node).range()]
    }

    /// The edge of a node's play.
    pub(crate) fn edge_of(&self, node: u32, play: Play) -> Option<&Edge> {
        let index = self.plays(node).iter().position(|&other| other == play)?;
        self.edges(node).get(index)
    }

    /// The arena index of a node's first edge.
    pub(crate) fn first_edge(&self, node: u32) -> u32 {
        self.node(node).first_edge
    }

    /// Adds a node for a position and returns its index. A decision still wants [`Tree::set_evaluation`], a chance
    /// node its children and [`Tree::settle_chance`].
    pub(crate) fn add(&mut self, position: &Position, ply: u32, max_plays: u32) -> u32 {
        let index = self.nodes.len() as u32;
        let mut node = Node {
            sum: 0.0,
            weight: 1,
            visits: 0,
            q: 0.0,
            raw: 0.0,
            first_edge: self.edges.len() as u32,
            edge_count: 0,
            sorted: 0,
            ply,
            kind: Kind::Over,
            exact: false,
        };
        if position.is_over() || ply >= max_plays {
            // One visit, so that it can be read like any evaluated node.
            node.visits = 1;
            node.q = position.winner().map_or(0.0, sign);
            node.exact = true;
        } else if let Some(decider) = position.decider() {
            position.actions(&mut self.actions);
            node.kind =
                if self.actions.len() == 1 { Kind::Chance } else { Kind::Decision(decider) };
            self.plays.extend_from_slice(&self.actions);
            self.edges.resize(self.plays.len(), BLANK);
        } else {
            position.outcomes(&mut self.outcomes);
            node.kind = Kind::Chance;
            for &(play, probability) in &self.outcomes {
                self.plays.push(play);
                self.edges.push(Edge { prior: probability as f32, ..BLANK });
            }
        }
        node.edge_count = self.edges.len() as u32 - node.first_edge;
        self.nodes.push(node);
        self.positions.push(*position);
        index
    }

    /// Adds the child below an edge of `node` and returns its index.
    pub(crate) fn open(&mut self, node: u32, edge: u32, max_plays: u32) -> u32 {
        let mut position = self.positions[node as usize];
        position.play(self.plays[edge as usize]);
        let child = self.add(&position, self.node(node).ply + 1, max_plays);
        self.edges[edge as usize].child = child;
        child
    }

    /// Gives a fresh decision node its first visit: the network's value from White's side, and its plays' priors, from
    /// logits in the order of `Position::actions`.
    pub(crate) fn set_evaluation(&mut self, node: u32, raw: f32, logits: &[f32]) {
        let entry = &mut self.nodes[node as usize];
        entry.raw = raw.clamp(-1.0, 1.0);
        entry.sum = f64::from(entry.raw);
        entry.q = entry.raw;
        entry.visits = 1;
        let edges = &mut self.edges[entry.range()];
        debug_assert_eq!(edges.len(), logits.len(), "one logit for each action");
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut total = 0.0;
        for (edge, &logit) in edges.iter_mut().zip(logits) {
            edge.prior = (logit - top).exp();
            total += edge.prior;
        }
        for edge in edges {
            edge.prior = (edge.prior / total).max(SMALLEST_PRIOR);
        }
    }

    /// Gives a fresh chance node its first visit, once all its children have theirs.
    pub(crate) fn settle_chance(&mut self, node: u32) {
        for edge in self.first_edge(node)..self.first_edge(node) + self.node(node).edge_count {
            self.copy_child(edge);
        }
        self.average_outcomes(node);
        self.nodes[node as usize].visits = 1;
    }

    /// One more visit of a node whose value is known.
    pub(crate) fn revisit(&mut self, node: u32) {
        self.nodes[node as usize].visits += 1;
    }

    /// Brings the path's nodes up to date, lowest first, after the last edge's child has had a visit.
    pub(crate) fn back_up(&mut self, path: &[PathStep]) {
        for step in path.iter().rev() {
            self.nodes[step.node as usize].visits += 1;
            match self.node(step.node).kind {
                Kind::Decision(color) => self.count_child(step.node, step.edge, color),
                _ => {
                    self.copy_child(step.edge);
                    self.average_outcomes(step.node);
                }
            }
        }
    }

    /// Counts a visit under way on every edge of the path.
    pub(crate) fn take_off(&mut self, path: &[PathStep]) {
        for step in path {
            self.edges[step.edge as usize].flying += 1;
        }
    }

    /// The visit of [`Tree::take_off`] is under way no more.
    pub(crate) fn land(&mut self, path: &[PathStep]) {
        for step in path {
            self.edges[step.edge as usize].flying -= 1;
        }
    }

    /// The outcome of a chance node with the largest deficit: probability times all visits, less its own, those under way
    /// included.
    pub(crate) fn largest_deficit(&self, node: u32) -> u32 {
        let edges = self.edges(node);
        let made = |edge: &Edge| edge.visits + u32::from(edge.flying);
        let visits: u32 = edges.iter().map(made).sum();
        let deficit = |edge: &Edge| edge.prior * (visits + 1) as f32 - made(edge) as f32;
        let mut best = (f32::NEG_INFINITY, 0);
        for (edge, index) in edges.iter().zip(0..) {
            // An exact outcome has nothing left to find out.
            let deficit = if edge.exact { f32::MIN } else { deficit(edge) };
            if deficit > best.0 {
                best = (deficit, index);
            }
        }
        self.first_edge(node) + best.1
    }

    fn copy_child(&mut self, edge: u32) {
        let edge = &mut self.edges[edge as usize];
        let child = &self.nodes[edge.child as usize];
        (edge.visits, edge.q, edge.exact) = (child.visits, child.q, child.exact);
    }

    fn count_child(&mut self, node: u32, edge: u32, color: Color) {
        let before = self.edges[edge as usize].contribution(color);
        let was_exact = self.edges[edge as usize].exact;
        self.copy_child(edge);
        let edge = &self.edges[edge as usize];
        let after = edge.contribution(color);
        let (newly_exact, won, q) = (edge.exact && !was_exact, edge.is_won_for(color), edge.q);
        let entry = &mut self.nodes[node as usize];
        if entry.exact {
            return;
        }
        entry.sum += after.0 - before.0;
        entry.weight = entry.weight + after.1 - before.1;
        entry.q = (entry.sum / f64::from(entry.weight)).clamp(-1.0, 1.0) as f32;
        if won {
            (entry.exact, entry.q) = (true, q);
        } else if newly_exact && self.edges(node).iter().all(|edge| edge.exact) {
            let best =
                self.edges(node).iter().map(|edge| sign(color) * edge.q).fold(-1.0, f32::max);
            let entry = &mut self.nodes[node as usize];
            (entry.exact, entry.q) = (true, sign(color) * best);
        }
    }

    fn average_outcomes(&mut self, node: u32) {
        let edges = self.edges(node);
        let mean: f64 = edges.iter().map(|edge| f64::from(edge.prior) * f64::from(edge.q)).sum();
        let total: f64 = edges.iter().map(|edge| f64::from(edge.prior)).sum();
        let exact = edges.iter().all(|edge| edge.exact);
        let entry = &mut self.nodes[node as usize];
        entry.q = if total > 0.0 { (mean / total) as f32 } else { 0.0 };
        entry.exact = exact;
    }

    /// Copies what lies below `root` into `out`, which is cleared first; `root` becomes its node 0.
    pub(crate) fn copy_subtree(&self, root: u32, out: &mut Tree) {
        out.clear();
        out.copy_node(self, root);
        // Copied nodes are visited in turn: their edges still hold this tree's children.
        let mut next = 0;
        while next < out.nodes.len() {
            let node = &out.nodes[next];
            for edge in node.range() {
                let child = out.edges[edge].child;
                if child != NONE {
                    out.edges[edge].child = out.copy_node(self, child);
                }
            }
            next += 1;
        }
    }

    fn copy_node(&mut self, from: &Tree, node: u32) -> u32 {
        let index = self.nodes.len() as u32;
        let mut copy = from.node(node).clone();
        copy.first_edge = self.edges.len() as u32;
        self.plays.extend_from_slice(from.plays(node));
        self.edges.extend_from_slice(from.edges(node));
        self.nodes.push(copy);
        self.positions.push(from.positions[node as usize]);
        index
    }
}
