//! The kernels in WebAssembly with simd128: four numbers in f32, or four sums of two products of 16-bit numbers, an instruction.

use super::Job;
use super::int8::{self, Dot, Int8Job};
use super::tile::{self, Vector};
use std::arch::wasm32::*;

/// Rows of a tile: with two vectors across that is eight sums. More do not fit into the sixteen registers of the machines that run most
/// browsers, beside what is multiplied (five rows were a sixth slower).
pub(super) const ROWS: usize = 4;

/// Eight numbers in two vectors.
#[derive(Clone, Copy)]
pub(super) struct Eight(v128, v128);

impl Eight {
    #[inline(always)]
    fn each(self, other: Self, of: impl Fn(v128, v128) -> v128) -> Self {
        Eight(of(self.0, other.0), of(self.1, other.1))
    }
}

impl Vector for Eight {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: valid for 8 numbers by the trait's contract. So below.
        unsafe { Eight(v128_load(from.cast()), v128_load(from.add(4).cast())) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Eight(f32x4_splat(value), f32x4_splat(value))
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: simd128 is there by the trait's contract.
        unsafe { self.add(a.mul(b)) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.each(other, |a, b| f32x4_add(a, b))
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self.each(other, |a, b| f32x4_mul(a, b))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // As the processors' own instruction: the second where it is not less. One instruction, where f32x4_max takes several.
        self.each(other, |a, b| f32x4_pmax(b, a))
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        self.each(other, |a, b| f32x4_pmin(b, a))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe {
            v128_store(to.cast(), self.0);
            v128_store(to.add(4).cast(), self.1);
        }
    }
}

pub(super) fn run(job: &Job<'_>, out: &mut [f32]) {
    // SAFETY: Kernel::run has checked the job; the program is built with simd128.
    unsafe { tile::run::<Eight, ROWS, 1>(job, out.as_mut_ptr()) }
}

/// Eight sums of products of 16-bit numbers in two vectors.
#[derive(Clone, Copy)]
struct Sums(v128, v128);

impl Dot for Sums {
    type Cell = i16;
    type Groups = (v128, v128);
    type Float = Eight;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Sums(i32x4_splat(0), i32x4_splat(0))
    }

    #[inline(always)]
    unsafe fn input(from: *const i16) -> (v128, v128) {
        // SAFETY: valid for a group, two cells, by the trait's contract.
        let group = unsafe { v128_load32_splat(from.cast()) };
        (group, group)
    }

    #[inline(always)]
    unsafe fn weights(from: *const i16) -> (v128, v128) {
        // SAFETY: valid for 8 groups by the trait's contract.
        unsafe { (v128_load(from.cast()), v128_load(from.add(8).cast())) }
    }

    #[inline(always)]
    unsafe fn add_products(self, input: (v128, v128), weights: (v128, v128)) -> Self {
        Sums(
            i32x4_add(self.0, i32x4_dot_i16x8(input.0, weights.0)),
            i32x4_add(self.1, i32x4_dot_i16x8(input.1, weights.1)),
        )
    }

    #[inline(always)]
    unsafe fn to_float(self) -> Eight {
        Eight(f32x4_convert_i32x4(self.0), f32x4_convert_i32x4(self.1))
    }

    #[inline(always)]
    unsafe fn store_cells(values: Eight, to: *mut i16) {
        let words = |vector| i32x4_trunc_sat_f32x4(vector);
        // SAFETY: valid for 8 cells by the trait's contract.
        unsafe { v128_store(to.cast(), i16x8_narrow_i32x4(words(values.0), words(values.1))) }
    }
}

pub(super) fn run_int8(job: &mut Int8Job<'_, i16>) {
    // SAFETY: Int8Kernel::run has checked the job; the program is built with simd128.
    unsafe { int8::run::<Sums, ROWS, 1>(job) }
}

pub(super) fn peak_work() -> u64 {
    const SUMS: usize = 12;
    const ROUNDS: u64 = 20_000;
    let (factor, addend) = (std::hint::black_box(0.999_f32), std::hint::black_box(0.5_f32));
    let (factor, addend) = (f32x4_splat(factor), f32x4_splat(addend));
    let mut sums = [f32x4_splat(1.0); SUMS];
    for _ in 0..ROUNDS {
        sums = sums.map(|sum| f32x4_add(f32x4_mul(sum, factor), addend));
    }
    std::hint::black_box(sums);
    ROUNDS * (SUMS * 4 * 2) as u64
}
