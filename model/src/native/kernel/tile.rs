//! The register tile in f32, written once over a vector type: some rows times some vectors of output channels.

use super::plan::Tile;
use super::{Job, Layer, Rows};

/// A vector of `f32`.
///
/// # Safety
/// The methods may be instructions that the machine lacks: callers run them only inside a function compiled for them, after
/// the machine was asked. Pointers need not be aligned; they must be valid for `WIDTH` numbers.
pub(super) trait Vector: Copy {
    const WIDTH: usize;
    unsafe fn load(from: *const f32) -> Self;
    unsafe fn splat(value: f32) -> Self;
    /// `self + a * b`, rounded once or twice.
    unsafe fn add_product(self, a: Self, b: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    unsafe fn store(self, to: *mut f32);
}

/// A vector whose products are rounded before they are added: so every kernel computes the same bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Rounded<V>(V);

#[cfg(target_arch = "x86_64")]
impl<V: Vector> Vector for Rounded<V> {
    const WIDTH: usize = V::WIDTH;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller keeps V's contract. So below.
        Rounded(unsafe { V::load(from) })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { V::splat(value) })
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { self.0.add(a.0.mul(b.0)) })
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { self.0.add(other.0) })
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { self.0.mul(other.0) })
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { self.0.max(other.0) })
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: as above.
        Rounded(unsafe { self.0.min(other.0) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe { self.0.store(to) }
    }
}

/// The most rows of any tile.
pub(super) const MOST_ROWS: usize = 8;

/// Where a tile's rows lie. All offsets are within what the job's check has compared.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// Rows of the tile.
    height: usize,
    /// Which taps of the layer it has.
    taps: &'a [u8],
    /// Of each row where the output begins and where its position's bias, then for each tap where the input begins.
    offsets: &'a [u32],
}

/// Room for the offsets of a tile of rows that lie one after the other.
pub(super) type OffsetRoom = [u32; 3 * MOST_ROWS];

/// The number of tiles of a job, none higher than `height`.
#[inline(always)]
pub(super) fn tile_count(rows: Rows<'_>, height: usize) -> usize {
    match rows {
        Rows::Board(plan) => plan.tiles.len(),
        Rows::Each(rows) => rows.div_ceil(height),
    }
}

impl<'a> Places<'a> {
    /// Tile `at` of `count`; strides are those of rows that lie one after the other, in and out.
    #[inline(always)]
    pub(super) fn of(
        rows: Rows<'a>,
        (at, count): (usize, usize),
        (input_stride, outputs): (usize, usize),
        room: &'a mut OffsetRoom,
    ) -> Self {
        match rows {
            Rows::Board(plan) => {
                let Tile { height, first, ref taps, tap_count } = plan.tiles[at];
                let offsets = &plan.offsets[first..][..(2 + tap_count) * height];
                Places { height, taps: &taps[..tap_count], offsets }
            }
            Rows::Each(rows) => {
                // Tiles of nearly equal height: a short last one would waste the registers.
                let (from, to) = (rows * at / count, rows * (at + 1) / count);
                let height = to - from;
                for r in 0..height {
                    room[r] = ((from + r) * outputs) as u32;
                    room[height + r] = 0;
                    room[2 * height + r] = ((from + r) * input_stride) as u32;
                }
                Places { height, taps: &[0], offsets: &room[..3 * height] }
            }
        }
    }

    /// Rows of the tile.
    #[inline(always)]
    pub(super) fn height(&self) -> usize {
        self.height
    }

    #[inline(always)]
    fn offset(&self, at: usize) -> usize {
        debug_assert!(at < self.offsets.len());
        // SAFETY: `at` is one of the (2 + taps) * height offsets.
        unsafe { *self.offsets.get_unchecked(at) as usize }
    }

    /// The taps that it has, by their numbers in the layer.
    #[inline(always)]
    pub(super) fn taps(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        self.taps.iter().map(|tap| usize::from(*tap)).enumerate()
    }

    /// Where row `r` of the `n`-th tap's input begins.
    #[inline(always)]
    pub(super) fn input(&self, n: usize, r: usize) -> usize {
        self.offset((2 + n) * self.height + r)
    }

    /// Where row `r` of the output begins.
    #[inline(always)]
    pub(super) fn output(&self, r: usize) -> usize {
        self.offset(r)
    }

    /// Where the bias of row `r`'s position begins, if each position has its own.
    #[inline(always)]
    pub(super) fn bias(&self, r: usize) -> usize {
        self.offset(self.height + r)
    }
}

/// Calls `$tile::<types, height, vectors>(arguments)` with both sizes as constants, so that the compiler keeps every sum in a
/// register. A tile never has more rows than `$most`. The caller keeps the tile's contract.
macro_rules! of_height {
    ($height:expr, $most:expr, $tile:ident, $types:tt, $vectors:ident, $arguments:tt) => {
        of_height!(@rows $height, $most, $tile, $types, $vectors, $arguments, 1 2 3 4 5 6 7 8)
    };
    (@rows $height:expr, $most:expr, $tile:ident, $types:tt, $vectors:ident, $arguments:tt, $($r:literal)*) => {
        match $height {
            $($r if $r <= $most => of_height!(@call $tile, $types, $r, $vectors, $arguments),)*
            _ => debug_assert!(false, "a tile of 1 to {} rows", $most),
        }
    };
    (@call $tile:ident, ($($type:ty),*), $r:literal, $vectors:ident, ($($argument:expr),*)) => {
        $tile::<$($type,)* $r, $vectors>($($argument),*)
    };
}
pub(super) use of_height;

/// Runs a job in tiles of up to `R` rows and exactly `Z` vectors.
///
/// # Safety
/// `job.check` has passed for the length behind `out`, the machine has `V`'s instructions, no tile of the job's plan is higher than
/// `R`, and `Z` vectors divide the outputs.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const R: usize, const Z: usize>(job: &Job<'_>, out: *mut f32) {
    const { assert!(R <= MOST_ROWS) };
    let Layer { input_stride, outputs, .. } = *job.layer;
    let count = tile_count(job.rows, R);
    let mut room = [0; 3 * MOST_ROWS];
    for at in 0..count {
        let places = Places::of(job.rows, (at, count), (input_stride, outputs), &mut room);
        for channel in (0..outputs).step_by(Z * V::WIDTH) {
            // SAFETY: rows and channels lie inside what job.check has seen.
            unsafe { of_height!(places.height(), R, tile, (V), Z, (job, places, channel, out)) };
        }
    }
}

/// The tile: bias, products, residual, rectifier.
///
/// # Safety
/// As of [`run`]; the places are `R` rows of the job's.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const Z: usize>(
    job: &Job<'_>,
    places: Places<'_>,
    channel: usize,
    out: *mut f32,
) {
    let (inputs, outputs) = (job.layer.inputs, job.layer.outputs);
    // SAFETY: every offset is below a length that job.check has compared: weights taps * inputs * outputs, biases and rows times
    // outputs, input rows of at least `inputs` numbers.
    unsafe {
        let mut sums = [[V::splat(0.0); Z]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            let own = if job.bias_by_position { places.bias(r) } else { 0 };
            let bias = job.bias.as_ptr().add(own + channel);
            for (z, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(bias.add(z * V::WIDTH));
            }
        }
        for (n, tap) in places.taps() {
            let input: [*const f32; R] =
                std::array::from_fn(|r| job.input.as_ptr().add(places.input(n, r)));
            let mut weights = job.layer.weights.as_ptr().add(tap * inputs * outputs + channel);
            for i in 0..inputs {
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
            let at = places.output(r) + channel;
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
