//! The kernel on x86-64: AVX-512, and AVX2 with fused multiply and add.

use super::Job;
use super::tile::{self, Vector};
use std::arch::x86_64::*;

impl Vector for __m512 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: valid for 16 numbers, and the machine has AVX-512, by the trait's contract. So below.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        unsafe { _mm512_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe { _mm512_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        unsafe { _mm512_max_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
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
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn add_product(self, a: Self, b: Self) -> Self {
        unsafe { _mm256_fmadd_ps(a, b, self) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        unsafe { _mm256_add_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        unsafe { _mm256_max_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { _mm256_storeu_ps(to, self) }
    }
}

pub(super) fn run_avx512(job: &Job<'_>, out: &mut [f32]) {
    /// # Safety
    /// The job is checked.
    #[target_feature(enable = "avx512f")]
    unsafe fn run(job: &Job<'_>, out: *mut f32) {
        // As many sums as the compiler keeps in the 32 registers: 6 x 4 or 12 x 2 it spills.
        // SAFETY: the caller's promise.
        unsafe {
            if job.layer.outputs.is_multiple_of(64) {
                tile::run::<__m512, 5, 4>(job, out);
            } else {
                tile::run::<__m512, 9, 2>(job, out);
            }
        }
    }
    // SAFETY: Kernel::run has checked the job and asked the machine.
    unsafe { run(job, out.as_mut_ptr()) }
}

pub(super) fn run_avx2(job: &Job<'_>, out: &mut [f32]) {
    /// # Safety
    /// The job is checked.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run(job: &Job<'_>, out: *mut f32) {
        // 6 x 2 sums, the weights and one input fit the 16 registers.
        // SAFETY: the caller's promise.
        unsafe { tile::run::<__m256, 6, 2>(job, out) }
    }
    // SAFETY: Kernel::run has checked the job and asked the machine.
    unsafe { run(job, out.as_mut_ptr()) }
}
