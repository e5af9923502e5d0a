//! What a search found.

use gipf_core::Play;

use super::Search;
use crate::config::Method;
use crate::root::{most_visited, winning};
use crate::tree::{Edge, Kind};

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The search's choice.
    pub play: Play,
    /// Every action with its share; the shares sum to 1. Gumbel: the improved policy; PUCT: the visits. A proven win has
    /// all of it, a proven loss nothing unless all is lost.
    pub policy: Vec<(Play, f32)>,
    /// The root's value from White's side in [-1, 1]. Gumbel: the value of the play that the search chose, a mean over the
    /// many visits that the last phases of halving gave it. (The mean over all of the root's visits would be pulled
    /// down by the candidates that halving has to look at, the improved policy's expectation pushed up by plays that
    /// one visit happened to flatter.) PUCT: the mean over the root's visits. A proven root's value is certain.
    pub value: f32,
    /// The network's own value of the root, White's side.
    pub raw_value: f32,
    /// The Kullback-Leibler divergence of `policy` from the network's own, without any noise, in nats: 0 where both agree.
    pub surprise: f32,
    /// The root's visits, those kept from earlier searches included.
    pub visits: u32,
    /// The visits made by this search.
    pub simulations: u32,
    /// The value is certain.
    pub proven: bool,
}

impl Default for SearchResult {
    fn default() -> SearchResult {
        SearchResult {
            play: Play::PASS,
            policy: Vec::new(),
            value: 0.0,
            raw_value: 0.0,
            surprise: 0.0,
            visits: 0,
            simulations: 0,
            proven: false,
        }
    }
}

impl Search {
    /// The result so far; final once [`Search::step`] says [`Step::Done`]. Keeps `out`'s allocation.
    pub fn result(&mut self, out: &mut SearchResult) {
        out.policy.clear();
        *out = SearchResult { policy: std::mem::take(&mut out.policy), ..SearchResult::default() };
        if self.tree.is_empty() {
            return;
        }
        let root = self.tree.node(0);
        (out.value, out.raw_value, out.proven, out.simulations) =
            (root.q, root.raw, root.exact, self.simulations);
        let (plays, edges) = (self.tree.plays(0), self.tree.edges(0));
        out.visits = edges.iter().map(|edge| edge.visits).sum();
        let Kind::Decision(color) = root.kind else {
            if let Some(&only) = plays.first() {
                out.play = only;
                out.policy.push((only, 1.0));
            }
            return;
        };
        match self.config.method {
            Method::Gumbel => {
                let choice = self.gumbel.decide(&self.config.gumbel, &self.tree, color);
                let policy = self.gumbel.improved(&self.config.gumbel, &self.tree, color);
                let chosen = &edges[choice as usize];
                out.play = plays[choice as usize];
                if !root.exact && chosen.visits > 0 {
                    out.value = chosen.q;
                }
                out.policy.extend(plays.iter().copied().zip(policy.iter().copied()));
            }
            Method::Puct => {
                let won = winning(edges, color);
                out.play = plays[won.unwrap_or_else(|| most_visited(edges, color)) as usize];
                let counts = |edge: &Edge| if edge.is_lost_for(color) { 0 } else { edge.visits };
                let counted: u32 = edges.iter().map(counts).sum();
                // Without a visit that counts the priors have to do: those of the plays not proven lost, if any is left.
                let left = |edge: &Edge| if edge.is_lost_for(color) { 0.0 } else { edge.prior };
                let open: f32 = edges.iter().map(left).sum();
                let share = |(index, edge): (usize, &Edge)| match won {
                    Some(won) => f32::from(u8::from(index == won as usize)),
                    None if counted > 0 => counts(edge) as f32 / counted as f32,
                    None if open > 0.0 => left(edge) / open,
                    None => edge.prior,
                };
                out.policy.extend(plays.iter().copied().zip(edges.iter().enumerate().map(share)));
            }
        }
        let priors = edges.iter().map(|edge| edge.prior);
        out.surprise = divergence(out.policy.iter().map(|&(_, share)| share), priors);
    }
}

/// The Kullback-Leibler divergence of `policy` from `priors`, which are above 0, in nats. Rounding must not make it negative.
pub(super) fn divergence(
    policy: impl Iterator<Item = f32>,
    priors: impl Iterator<Item = f32>,
) -> f32 {
    let term = |(share, prior): (f32, f32)| match share > 0.0 {
        true => f64::from(share) * (f64::from(share) / f64::from(prior)).ln(),
        false => 0.0,
    };
    policy.zip(priors).map(term).sum::<f64>().max(0.0) as f32
}
