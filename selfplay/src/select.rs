//! Which play a descent takes at a decision below the root.
//!
//! Of the untried plays both rules prefer the one with the highest prior. So below the root plays are visited in the order of
//! falling priors, and only those tried and the next need a look: [`Tree::sort_next`] has put that one in its place.

use gipf_core::Color;

use crate::config::{GumbelConfig, PuctConfig};
use crate::improve::{Mixed, q_weight};
use crate::tree::{Edge, Tree, own_share, sign};

/// Danihelka et al. 2022, section 5: the play that maximizes the improved policy minus its share of the visits,
/// `π'(a) - N(a) / (1 + ΣN)`. Returns the edge's arena index. `shares` is scratch space.
pub(crate) fn by_improved_policy(
    config: &GumbelConfig,
    tree: &Tree,
    node: u32,
    color: Color,
    shares: &mut Vec<f32>,
) -> u32 {
    let edges = tree.edges(node);
    let visited = tried_prefix(edges);
    let raw = own_share(color, tree.node(node).raw);
    let mut mixed = Mixed::default();
    let mut top = f32::NEG_INFINITY;
    let mut unvisited_prior = 1.0;
    for edge in &edges[..visited] {
        unvisited_prior -= edge.prior;
        if !edge.is_lost_for(color) {
            let q = own_share(color, edge.q);
            mixed.add(edge.prior, edge.visits, q);
            top = top.max(q);
        }
    }
    let unvisited_q = mixed.value(raw);
    let next = edges.get(visited);
    if next.is_some() {
        top = top.max(unvisited_q);
    }
    // Softmax of ln(prior) + weight·q, as prior times an exponential: one for each visited play, one for all the others.
    let weight = q_weight(config, mixed.max_visits);
    let unvisited_factor = (weight * (unvisited_q - top)).exp();
    let mut total = if next.is_some() { unvisited_prior.max(0.0) * unvisited_factor } else { 0.0 };
    shares.clear();
    for edge in &edges[..visited] {
        let lost = edge.is_lost_for(color);
        let share =
            if lost { 0.0 } else { edge.prior * (weight * (own_share(color, edge.q) - top)).exp() };
        total += share;
        shares.push(share);
    }
    let (scale, visits) = (1.0 / total.max(f32::MIN_POSITIVE), 1.0 + mixed.visits());
    let mut best = (f32::NEG_INFINITY, 0);
    for (index, (edge, share)) in edges.iter().zip(&*shares).enumerate() {
        let score = share * scale - edge.visits as f32 / visits;
        if score > best.0 && !edge.is_lost_for(color) {
            best = (score, index);
        }
    }
    if next.is_some_and(|edge| edge.prior * unvisited_factor * scale > best.0) {
        best.1 = visited;
    }
    tree.first_edge(node) + best.1 as u32
}

/// AlphaZero's rule: the play that maximizes `Q + c_puct · P · sqrt(ΣN) / (1 + N)`, Q the decider's in [-1, 1]. An
/// unvisited play's Q is the node's less `fpu_reduction · sqrt(visited plays' share of P)` (as in KataGo and lc0).
/// A visit under way counts as one whose value is less by `virtual_loss` than what the play's value is now: so simulations that
/// are made together go different ways (Chaslot et al. 2008, "virtual loss"; with 0 it is the rule of Liu et al. 2020, WU-UCT).
/// `priors` replaces the network's at a root with noise; then every play gets a look, and there is no reduction: it would keep
/// the search from what the noise is to make it try (Wu 2019, section 2). Returns the arena index.
pub(crate) fn by_upper_confidence(
    config: &PuctConfig,
    tree: &Tree,
    node: u32,
    color: Color,
    priors: Option<&[f32]>,
) -> u32 {
    let edges = tree.edges(node);
    let looked_at =
        if priors.is_some() { edges.len() } else { edges.len().min(tried_prefix(edges) + 1) };
    let mut mixed = Mixed::default();
    for edge in edges[..looked_at].iter().filter(|edge| edge.visits > 0) {
        mixed.add(edge.prior, edge.visits, 0.0);
    }
    let reduction = if priors.is_some() { 0.0 } else { config.fpu_reduction };
    let first_play = sign(color) * tree.node(node).q - reduction * mixed.prior().max(0.0).sqrt();
    let flying: u32 = edges[..looked_at].iter().map(|edge| u32::from(edge.flying)).sum();
    let root = (mixed.visits() + flying as f32).max(1.0).sqrt();
    let mut best = (f32::NEG_INFINITY, 0);
    for (index, edge) in edges[..looked_at].iter().enumerate() {
        if edge.is_lost_for(color) {
            continue;
        }
        let q = if edge.visits > 0 { sign(color) * edge.q } else { first_play };
        let prior = priors.map_or(edge.prior, |priors| priors[index]);
        let (flying, mut visits) = (f32::from(edge.flying), edge.visits as f32);
        let mut q = q;
        if edge.flying > 0 {
            visits += flying;
            q -= config.virtual_loss * flying / visits;
        }
        let score = q + config.c_puct * prior * root / (1.0 + visits);
        if score > best.0 {
            best = (score, index);
        }
    }
    tree.first_edge(node) + best.1 as u32
}

fn tried_prefix(edges: &[Edge]) -> usize {
    edges.iter().position(Edge::is_untried).unwrap_or(edges.len())
}
