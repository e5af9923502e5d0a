//! The pieces of a lane: which of its positions and rows they are, and what pieces of one length share.

use super::parameters::GLOBALS_WIDTH;
use crate::native::kernel::{Kernel, Plan, SPOTS, TAPS, tap_pairs};
use std::ops::Range;

/// Positions that go through a layer together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Its first position within the lane, and how many they are.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Where its rows begin, the row of zeros first.
    pub(super) start: usize,
    pub(super) shape: usize,
}

/// What pieces of one length share.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) plan: Plan,
    pub(super) pairs: [Vec<(u32, u32)>; TAPS],
    /// Of each position's row in arrays of such rows: `(pooled, bias)` and `(globals, bias)`.
    pub(super) pooled_pairs: Vec<(u32, u32)>,
    pub(super) global_pairs: Vec<(u32, u32)>,
}

impl Shape {
    pub(super) fn new(kernel: Kernel, count: usize, width: usize) -> Shape {
        let plan = kernel.plan(count, width);
        let rows = |from: usize| {
            (0..count)
                .map(|position| ((position * from) as u32, (position * width) as u32))
                .collect()
        };
        Shape {
            pairs: tap_pairs(&plan),
            plan,
            pooled_pairs: rows(2 * width),
            global_pairs: rows(GLOBALS_WIDTH),
        }
    }
}

impl Piece {
    /// Its rows with the row of zeros, and without it.
    pub(super) fn all(&self, width: usize) -> Range<usize> {
        self.start..self.start + (1 + self.count * SPOTS) * width
    }

    pub(super) fn rows(&self, width: usize) -> Range<usize> {
        self.start + width..self.start + (1 + self.count * SPOTS) * width
    }

    /// Its rows in an array of `size` numbers a position.
    pub(super) fn each(&self, size: usize) -> Range<usize> {
        self.first * size..(self.first + self.count) * size
    }
}
