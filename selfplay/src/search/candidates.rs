//! What a search found out about each of the root's plays, and what it expects after them.

use gipf_core::{Color, Play};

use super::{Search, SearchResult};
use crate::budget::{Candidate, Score};
use crate::root::most_visited;
use crate::tree::{Edge, Kind, NONE, own_share};

/// What a value from White's side is to the side that decides. The search knows its mean alone: an unfinished game counts as half a win
/// and half a loss.
pub(crate) fn outcomes(color: Color, q: f32) -> Score {
    let win = own_share(color, q);
    Score::Outcomes([win, 0.0, 1.0 - win])
}

impl Search {
    /// The expected plays into `out`: this one at the root, which must be one of its actions, then the most visited ones.
    pub fn line(&self, first: Play, out: &mut Vec<Play>) {
        out.clear();
        out.push(first);
        let mut below = if self.tree.is_empty() { None } else { self.child(first) };
        while let Some(node) = below {
            let edges = self.tree.edges(node);
            let best = match self.tree.node(node).kind {
                Kind::Decision(color) => Some(most_visited(edges, color) as usize),
                _ => (0..edges.len()).max_by_key(|&index| edges[index].visits),
            };
            let best =
                best.and_then(|index| Some((edges.get(index)?, self.tree.plays(node)[index])));
            let Some((edge, play)) = best.filter(|(edge, _)| edge.visits > 0) else { return };
            out.push(play);
            below = (edge.child != NONE).then_some(edge.child);
        }
    }

    /// The root's visited plays into `out`, `most` at most: the search's choice first, the others by falling visits, equal ones by
    /// falling share. `result` is the one that the search has given last.
    pub fn candidates(&self, result: &SearchResult, most: usize, out: &mut Vec<Candidate>) {
        out.clear();
        if self.tree.is_empty() {
            return;
        }
        let Kind::Decision(color) = self.tree.node(0).kind else { return };
        let edges = self.tree.edges(0);
        let mut order: Vec<usize> =
            (0..edges.len().min(result.policy.len())).filter(|&at| edges[at].visits > 0).collect();
        let key = |at: usize| {
            let (play, share) = result.policy[at];
            (play == result.play, edges[at].visits, share)
        };
        order.sort_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2))
        });
        for at in order.into_iter().take(most) {
            let (play, share) = result.policy[at];
            let mut line = Vec::new();
            self.line(play, &mut line);
            let Edge { visits, q, .. } = edges[at];
            out.push(Candidate { visits, share, score: outcomes(color, q), line });
        }
    }
}
