//! The order of a decision's plays: falling priors, as far as anybody looks.

use super::{Edge, Tree};

impl Tree {
    /// Sees to it that the first untried play, of a decision below the root, is the one with the largest prior of
    /// those. Most nodes never need their other plays in order.
    pub(crate) fn sort_next(&mut self, node: u32) {
        let entry = &mut self.nodes[node as usize];
        let (range, sorted) = (entry.range(), entry.sorted as usize);
        let edges = &mut self.edges[range.clone()];
        if sorted == edges.len() || sorted > 0 && edges[sorted - 1].is_untried() {
            return;
        }
        let (mut largest, mut at) = (f32::NEG_INFINITY, sorted);
        for (index, edge) in edges.iter().enumerate().skip(sorted) {
            if edge.prior > largest {
                (largest, at) = (edge.prior, index);
            }
        }
        // Those between move up by one: equal priors keep their order.
        edges[sorted..=at].rotate_right(1);
        self.plays[range][sorted..=at].rotate_right(1);
        entry.sorted += 1;
    }

    /// Sorts all plays of a decision by falling prior; equal ones keep their order.
    pub(crate) fn sort_all(&mut self, node: u32) {
        let entry = &mut self.nodes[node as usize];
        let rest = entry.first_edge + entry.sorted..entry.first_edge + entry.edge_count;
        let rest = rest.start as usize..rest.end as usize;
        entry.sorted = entry.edge_count;
        let (edges, plays) = (&mut self.edges[rest.clone()], &mut self.plays[rest]);
        // A play each: the complement of its prior's bits, then its index. Numbers from 0 up are in the order of their bits.
        self.order.clear();
        let key = |(edge, index): (&Edge, u64)| u64::from(!edge.prior.to_bits()) << 32 | index;
        self.order.extend(edges.iter().zip(0..).map(key));
        self.order.sort_unstable();
        self.actions.clear();
        self.actions.extend_from_slice(plays);
        for ((edge, play), &key) in edges.iter_mut().zip(plays).zip(&self.order) {
            // Unsorted edges differ in their priors only: none of them has been visited.
            edge.prior = f32::from_bits(!(key >> 32) as u32);
            *play = self.actions[key as u32 as usize];
        }
    }
}
