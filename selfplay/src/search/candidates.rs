//! What a search found out about each of the root's plays.

use gipf_core::Color;

use super::{Search, SearchResult};
use crate::budget::{Candidate, Score};
use crate::tree::{Edge, Kind, own_share};

/// What a value from White's side is to the side that decides. The search knows its mean alone: an unfinished game counts as half a win
/// and half a loss.
pub(crate) fn outcomes(color: Color, q: f32) -> Score {
    let win = own_share(color, q);
    Score::Outcomes([win, 0.0, 1.0 - win])
}

impl Search {
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
