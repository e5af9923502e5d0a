//! The f32 kernels on x86-64: AVX-512, and AVX2 with fused multiply and add.

use super::outer::{self, Outer};
use super::tile::{self, Rounded, Vector};
use super::{Job, Work};
use std::arch::x86_64::*;

/// Rows of a tile of one, two, three and four vectors of 16 channels, and of two vectors of 8: as many sums as the compiler keeps in
/// the 32 and 16 registers beside weights and inputs.
const ROWS_OF: [usize; 4] = [8, 8, 6, 5];
pub(super) const AVX2_ROWS: usize = 6;

/// Vectors of 16 channels in a tile: the most of 4, 3, 2 and 1 that divide a layer's.
pub(super) fn vectors(width: usize) -> usize {
    let whole = |vectors: &usize| (width / super::PAD).is_multiple_of(*vectors);
    [4, 3, 2].into_iter().find(whole).unwrap_or(1)
}

/// The most rows of an AVX-512 tile of this many channels, and the fewest that make eight sums.
pub(super) fn rows(width: usize) -> (usize, usize) {
    let vectors = vectors(width);
    (ROWS_OF[vectors - 1], 8_usize.div_ceil(vectors))
}

impl Vector for __m512 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: valid for 16 numbers, and the machine has AVX-512, by the trait's contract. So below.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_max_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_min_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_ps(to, self) }
    }
}

impl Vector for __m256 {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: valid for 8 numbers, and the machine has AVX2 and FMA, by the trait's contract. So below.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_max_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_min_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_ps(to, self) }
    }
}

pub(super) fn run_avx512(job: &Job<'_>, rounded: bool, out: &mut [f32]) {
    /// # Safety
    /// The job is checked, and the machine has AVX-512.
    #[target_feature(enable = "avx512f")]
    unsafe fn run<V: Vector>(job: &Job<'_>, out: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe {
            match vectors(job.layer.outputs) {
                4 => tile::run::<V, { ROWS_OF[3] }, 4>(job, out),
                3 => tile::run::<V, { ROWS_OF[2] }, 3>(job, out),
                2 => tile::run::<V, { ROWS_OF[1] }, 2>(job, out),
                _ => tile::run::<V, { ROWS_OF[0] }, 1>(job, out),
            }
        }
    }
    // SAFETY: Kernel::run has checked the job and asked the machine.
    unsafe {
        if rounded {
            run::<Rounded<__m512>>(job, out.as_mut_ptr());
        } else {
            run::<__m512>(job, out.as_mut_ptr());
        }
    }
}

pub(super) fn run_avx2(job: &Job<'_>, rounded: bool, out: &mut [f32]) {
    /// # Safety
    /// The job is checked, and the machine has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run<V: Vector>(job: &Job<'_>, out: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { tile::run::<V, AVX2_ROWS, 2>(job, out) }
    }
    // SAFETY: Kernel::run has checked the job and asked the machine.
    unsafe {
        if rounded {
            run::<Rounded<__m256>>(job, out.as_mut_ptr());
        } else {
            run::<__m256>(job, out.as_mut_ptr());
        }
    }
}

pub(super) fn add_outer_avx512(job: &Outer<'_>, sums: &mut [f32]) {
    /// # Safety
    /// The job is checked, and the machine has AVX-512.
    #[target_feature(enable = "avx512f")]
    unsafe fn run(job: &Outer<'_>, sums: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe {
            match vectors(job.outputs) {
                4 => outer::run::<__m512, 4, 4>(job, sums),
                3 => outer::run::<__m512, 8, 3>(job, sums),
                2 => outer::run::<__m512, 8, 2>(job, sums),
                _ => outer::run::<__m512, 16, 1>(job, sums),
            }
        }
    }
    // SAFETY: Kernel::add_outer has checked the job and asked the machine.
    unsafe { run(job, sums.as_mut_ptr()) }
}

pub(super) fn add_outer_avx2(job: &Outer<'_>, sums: &mut [f32]) {
    /// # Safety
    /// The job is checked, and the machine has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run(job: &Outer<'_>, sums: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { outer::run::<__m256, 4, 2>(job, sums) }
    }
    // SAFETY: Kernel::add_outer has checked the job and asked the machine.
    unsafe { run(job, sums.as_mut_ptr()) }
}

pub(super) fn work_avx512(work: impl Work) {
    #[target_feature(enable = "avx512f")]
    fn with(work: impl Work) {
        work.work();
    }
    // SAFETY: Kernel::work has asked the machine.
    unsafe { with(work) }
}

pub(super) fn work_avx2(work: impl Work) {
    #[target_feature(enable = "avx2,fma")]
    fn with(work: impl Work) {
        work.work();
    }
    // SAFETY: Kernel::work has asked the machine.
    unsafe { with(work) }
}

/// Sums that depend on nothing but themselves: twelve, since two multipliers take four cycles each.
const PEAK_SUMS: usize = 12;
const PEAK_ROUNDS: u64 = 100_000;

/// # Safety
/// The machine has `V`'s instructions, and the caller is compiled for them.
#[inline(always)]
unsafe fn peak_work<V: Vector>() -> u64 {
    let (factor, addend) = (std::hint::black_box(0.999), std::hint::black_box(0.5));
    // SAFETY: the caller's promise; `last` has room for a vector.
    unsafe {
        let (factor, mut sums) = (V::splat(factor), [V::splat(addend); PEAK_SUMS]);
        for _ in 0..PEAK_ROUNDS {
            for sum in &mut sums {
                *sum = sum.add_product(*sum, factor);
            }
        }
        let mut last = [0.0; super::PAD];
        for sum in sums {
            sum.store(last.as_mut_ptr());
            std::hint::black_box(&last);
        }
    }
    PEAK_ROUNDS * (PEAK_SUMS * V::WIDTH * 2) as u64
}

pub(super) fn peak_work_avx512() -> u64 {
    #[target_feature(enable = "avx512f")]
    fn work() -> u64 {
        // SAFETY: this function is compiled for them.
        unsafe { peak_work::<__m512>() }
    }
    // SAFETY: Kernel::peak_work has asked the machine.
    unsafe { work() }
}

pub(super) fn peak_work_avx2() -> u64 {
    #[target_feature(enable = "avx2,fma")]
    fn work() -> u64 {
        // SAFETY: this function is compiled for them.
        unsafe { peak_work::<__m256>() }
    }
    // SAFETY: Kernel::peak_work has asked the machine.
    unsafe { work() }
}
