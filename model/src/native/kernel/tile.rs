//! The register tile, written once over a vector type: `R` rows times `Z` vectors of output channels.

use super::{Job, NEIGHBOURS, SPOTS, TAPS, ZEROS};

/// A vector of `f32`.
///
/// # Safety
/// The methods may be instructions that the machine lacks: callers run them only inside a function compiled for them, after
/// the machine was asked. Pointers need not be aligned; they must be valid for `WIDTH` numbers.
pub(super) trait Vector: Copy {
    const WIDTH: usize;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn splat(value: f32) -> Self;
    /// `self + a * b`
    unsafe fn add_product(self, a: Self, b: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    unsafe fn store(self, to: *mut f32);
}

/// Most rows of any tile.
const MOST: usize = 9;

/// Per tap the input rows of a tile's rows.
type Inputs = [[*const f32; MOST]; TAPS];

/// Runs a job in tiles of up to `R` rows and `Z` vectors, then with 1 vector what is left of the channels.
///
/// # Safety
/// `job.check` has passed for the length behind `out`, and the machine has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const R: usize, const Z: usize>(job: &Job<'_>, out: *mut f32) {
    const { assert!(R <= MOST) };
    let blocks = job.rows.div_ceil(R);
    let mut inputs: Inputs = [[ZEROS.as_ptr(); MOST]; TAPS];
    for block in 0..blocks {
        // Blocks of nearly equal height: a short last one would waste the registers.
        let (from, to) = (job.rows * block / blocks, job.rows * (block + 1) / blocks);
        for row in from..to {
            // SAFETY: the row is below job.rows.
            unsafe { point_at(job, row, row - from, &mut inputs) };
        }
        let mut channel = 0;
        while channel < job.layer.outputs {
            // SAFETY: rows and channels lie inside what job.check has seen.
            unsafe {
                if channel + Z * V::WIDTH <= job.layer.outputs {
                    rows::<V, R, Z>(job, from, to, channel, &inputs, out);
                    channel += Z * V::WIDTH;
                } else {
                    rows::<V, R, 1>(job, from, to, channel, &inputs, out);
                    channel += V::WIDTH;
                }
            }
        }
    }
}

/// Finds the input rows of an output row, the tile's row `r`.
#[inline(always)]
unsafe fn point_at(job: &Job<'_>, row: usize, r: usize, inputs: &mut Inputs) {
    let stride = job.layer.input_stride;
    if job.layer.taps == 1 {
        // SAFETY: input holds rows * stride numbers.
        inputs[0][r] = unsafe { job.input.as_ptr().add(row * stride) };
        return;
    }
    let (first, spot) = (row - row % SPOTS, row % SPOTS);
    for (input, &next) in inputs.iter_mut().zip(&NEIGHBOURS[spot]) {
        input[r] = if usize::from(next) == SPOTS {
            ZEROS.as_ptr()
        } else {
            // SAFETY: with 7 taps the rows are whole positions, so the neighbour's row is one of them.
            unsafe { job.input.as_ptr().add((first + usize::from(next)) * stride) }
        };
    }
}

/// Dispatches on the number of rows, so that each tile's height is known to the compiler.
#[inline(always)]
unsafe fn rows<V: Vector, const R: usize, const Z: usize>(
    job: &Job<'_>,
    from: usize,
    to: usize,
    channel: usize,
    inputs: &Inputs,
    out: *mut f32,
) {
    macro_rules! heights {
        ($($n:literal)*) => {
            match to - from {
                // SAFETY: the caller's promise; a height above R never occurs.
                $($n if $n <= R => unsafe { tile::<V, $n, Z>(job, from, channel, inputs, out) },)*
                _ => {}
            }
        };
    }
    heights!(1 2 3 4 5 6 7 8 9);
}

/// The tile: bias, products, residual, rectifier.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const Z: usize>(
    job: &Job<'_>,
    from: usize,
    channel: usize,
    inputs: &Inputs,
    out: *mut f32,
) {
    let outputs = job.layer.outputs;
    // SAFETY: every offset is below a length that job.check has compared: weights taps * inputs * outputs, biases and rows times
    // outputs, input rows of at least `inputs` numbers.
    unsafe {
        let mut sums = [[V::splat(0.0); Z]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            let bias = job.bias.as_ptr().add(job.bias_at(from + r) + channel);
            for (z, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(bias.add(z * V::WIDTH));
            }
        }
        let mut weights = job.layer.weights.as_ptr().add(channel);
        for input in inputs.iter().take(job.layer.taps) {
            let input: [*const f32; R] = std::array::from_fn(|r| input[r]);
            for i in 0..job.layer.inputs {
                let weight: [V; Z] = std::array::from_fn(|z| V::load(weights.add(z * V::WIDTH)));
                // Indices known to the compiler keep every sum in its register.
                for r in 0..R {
                    let value = V::splat(*input[r].add(i));
                    for z in 0..Z {
                        sums[r][z] = sums[r][z].add_product(value, weight[z]);
                    }
                }
                weights = weights.add(outputs);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let at = (from + r) * outputs + channel;
            for (z, sum) in sums.iter().enumerate() {
                let at = at + z * V::WIDTH;
                let mut sum = *sum;
                if let Some(residual) = job.residual {
                    sum = sum.add(V::load(residual.as_ptr().add(at)));
                }
                if job.relu {
                    sum = sum.max(V::splat(0.0));
                }
                sum.store(out.add(at));
            }
        }
    }
}
