//! The kernel in plain Rust.

use super::Job;
use super::tile::{self, Vector};

/// Eight numbers, which compilers turn into vectors of the target's width.
#[derive(Clone, Copy)]
struct Eight([f32; 8]);

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
    unsafe fn max(self, other: Self) -> Self {
        Eight(std::array::from_fn(|i| if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: valid for 8 numbers by the trait's contract.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }
}

pub(super) fn run(job: &Job<'_>, out: &mut [f32]) {
    // SAFETY: Kernel::run has checked the job; there are no special instructions.
    unsafe { tile::run::<Eight, 4, 1>(job, out.as_mut_ptr()) }
}
