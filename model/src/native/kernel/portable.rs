//! The kernels in plain Rust.

use super::Job;
use super::int8::{self, Dot, Int8Job};
use super::outer::{self, Outer};
use super::tile::{self, Vector};

/// Eight numbers, which compilers turn into vectors of the target's width.
#[derive(Clone, Copy)]
pub(super) struct Eight([f32; 8]);

/// Rows of a tile.
pub(super) const ROWS: usize = 4;

impl Vector for Eight {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: valid for 8 numbers by the trait's contract.
        Eight(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Eight([value; 8])
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // Not a fused one: without the instruction that would be a call of a slow function.
        Eight(std::array::from_fn(|i| self.0[i] + a.0[i] * b.0[i]))
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Eight(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Eight(std::array::from_fn(|i| self.0[i] * other.0[i]))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Eight(std::array::from_fn(|i| if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        Eight(std::array::from_fn(|i| if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: valid for 8 numbers by the trait's contract.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
}

pub(super) fn run(job: &Job<'_>, out: &mut [f32]) {
    // SAFETY: Kernel::run has checked the job; there are no special instructions.
    unsafe { tile::run::<Eight, ROWS, 1>(job, out.as_mut_ptr()) }
}

pub(super) fn add_outer(job: &Outer<'_>, sums: &mut [f32]) {
    // SAFETY: Kernel::add_outer has checked the job; there are no special instructions.
    unsafe { outer::run::<Eight, ROWS, 1>(job, sums.as_mut_ptr()) }
}

/// Eight sums of products of 16-bit numbers.
#[derive(Clone, Copy)]
struct EightSums([i32; 8]);

/// Eight pairs of 16-bit numbers.
#[derive(Clone, Copy)]
struct EightPairs([[i16; 2]; 8]);

impl Dot for EightSums {
    type Cell = i16;
    type Groups = EightPairs;
    type Float = Eight;

    #[inline(always)]
    unsafe fn zero() -> Self {
        EightSums([0; 8])
    }

    #[inline(always)]
    unsafe fn input(from: *const i16) -> EightPairs {
        // SAFETY: valid for a group by the trait's contract.
        EightPairs([unsafe { from.cast::<[i16; 2]>().read_unaligned() }; 8])
    }

    #[inline(always)]
    unsafe fn weights(from: *const i16) -> EightPairs {
        // SAFETY: valid for 8 groups by the trait's contract.
        EightPairs(unsafe { from.cast::<[[i16; 2]; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn add_products(self, input: EightPairs, weights: EightPairs) -> Self {
        let product = |i: usize, j: usize| i32::from(input.0[i][j]) * i32::from(weights.0[i][j]);
        EightSums(std::array::from_fn(|i| self.0[i] + (product(i, 0) + product(i, 1))))
    }

    #[inline(always)]
    unsafe fn to_float(self) -> Eight {
        Eight(self.0.map(|sum| sum as f32))
    }

    #[inline(always)]
    unsafe fn store_cells(values: Eight, to: *mut i16) {
        // SAFETY: valid for 8 cells by the trait's contract.
        unsafe { to.cast::<[i16; 8]>().write_unaligned(values.0.map(|value| value as i16)) }
    }
}

pub(super) fn run_int8(job: &mut Int8Job<'_, i16>) {
    // SAFETY: Int8Kernel::run has checked the job; there are no special instructions.
    unsafe { int8::run::<EightSums, ROWS, 1>(job) }
}

pub(super) fn peak_work() -> u64 {
    const SUMS: usize = 6;
    const ROUNDS: u64 = 20_000;
    let (factor, addend) = (std::hint::black_box(0.999_f32), std::hint::black_box(0.5_f32));
    let mut sums = [[1.0_f32; 8]; SUMS];
    for _ in 0..ROUNDS {
        for sum in sums.iter_mut().flatten() {
            *sum = *sum * factor + addend;
        }
    }
    std::hint::black_box(sums);
    ROUNDS * (SUMS * 8 * 2) as u64
}
