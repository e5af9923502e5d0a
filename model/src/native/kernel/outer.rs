//! Sums of outer products: the gradient of a layer's weights. For a tap it is the sum, over the rows that have this tap on the board,
//! of the tap's input row times the gradient of the output row.

use super::tile::Vector;
use super::{PAD, Plan, SPOTS, TAPS, neighbours};
use gipf_core::Spot;

/// Pairs of rows whose outer products are summed into `[input][output]`.
pub(crate) struct Outer<'a> {
    pub(crate) input: &'a [f32],
    /// Numbers of an input row, a multiple of [`PAD`].
    pub(crate) inputs: usize,
    pub(crate) gradient: &'a [f32],
    /// Numbers of a row of the gradient, a multiple of [`PAD`].
    pub(crate) outputs: usize,
    /// Where each pair's input row and gradient row begin.
    pub(crate) pairs: &'a [(u32, u32)],
}

impl Outer<'_> {
    /// Checks every length that the inner loop relies on.
    pub(super) fn check(&self, sums: usize) {
        let Outer { input, inputs, gradient, outputs, pairs } = *self;
        assert!(inputs.is_multiple_of(PAD) && outputs.is_multiple_of(PAD));
        assert!(sums >= inputs * outputs);
        let fits = |&(from, to): &(u32, u32)| {
            from as usize + inputs <= input.len() && to as usize + outputs <= gradient.len()
        };
        assert!(pairs.iter().all(fits));
    }
}

/// The pairs of a layer over the board: for each tap where input row and output row begin, in buffers as [`Plan`] says. Taps off
/// the board are left out.
pub(crate) fn tap_pairs(plan: &Plan) -> [Vec<(u32, u32)>; TAPS] {
    std::array::from_fn(|tap| {
        let mut pairs = Vec::new();
        for position in 0..plan.positions() {
            let row = |spot: usize| ((1 + position * SPOTS + spot) * plan.width()) as u32;
            for spot in Spot::ALL {
                let next = usize::from(neighbours(spot)[tap]);
                if next < SPOTS {
                    pairs.push((row(next), row(spot.index())));
                }
            }
        }
        pairs
    })
}

/// Adds the job's products to `sums`, in tiles of `R` inputs times `Z` vectors.
///
/// # Safety
/// `job.check` has passed for the length behind `sums`, the machine has `V`'s instructions, `R` divides [`PAD`], and `Z` vectors
/// divide the outputs.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const R: usize, const Z: usize>(
    job: &Outer<'_>,
    sums: *mut f32,
) {
    const { assert!(PAD.is_multiple_of(R)) };
    for input in (0..job.inputs).step_by(R) {
        for output in (0..job.outputs).step_by(Z * V::WIDTH) {
            // SAFETY: `R` numbers from `input` and `Z` vectors from `output` on lie inside every row that check has seen, and inside sums.
            unsafe {
                let mut tile = [[V::splat(0.0); Z]; R];
                let (x, dy) = (job.input.as_ptr().add(input), job.gradient.as_ptr().add(output));
                for &(from, to) in job.pairs {
                    let (x, dy) = (x.add(from as usize), dy.add(to as usize));
                    let dy: [V; Z] = std::array::from_fn(|z| V::load(dy.add(z * V::WIDTH)));
                    for (r, row) in tile.iter_mut().enumerate() {
                        let value = V::splat(*x.add(r));
                        for (sum, dy) in row.iter_mut().zip(dy) {
                            *sum = sum.add_product(value, dy);
                        }
                    }
                }
                for (r, row) in tile.iter().enumerate() {
                    let to = sums.add((input + r) * job.outputs + output);
                    for (z, sum) in row.iter().enumerate() {
                        let to = to.add(z * V::WIDTH);
                        V::load(to).add(*sum).store(to);
                    }
                }
            }
        }
    }
}
