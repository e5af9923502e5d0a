//! The int8 kernels on x86-64: VNNI in 512 and 256 bits, and AVX2 with 16-bit products.

use super::int8::{self, Dot, Int8Job};
use super::x86::vectors;
use std::arch::x86_64::*;

/// Rows of a tile of one to four vectors of 16 sums, and of two vectors of 8.
const ROWS_OF: [usize; 4] = [8, 8, 8, 5];
pub(super) const AVX_VNNI_ROWS: usize = 5;
pub(super) const AVX2_ROWS: usize = 4;

/// The most rows of a 512-bit tile of this many channels, and the fewest that make ten sums: two instructions a cycle, five cycles
/// each.
pub(super) fn rows(width: usize) -> (usize, usize) {
    let vectors = vectors(width);
    (ROWS_OF[vectors - 1], 10_usize.div_ceil(vectors).min(ROWS_OF[vectors - 1]))
}

/// 16 sums, VNNI in 512 bits.
#[derive(Clone, Copy)]
struct Wide(__m512i);

impl Dot for Wide {
    type Cell = u8;
    type Groups = __m512i;
    type Float = __m512;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the machine has AVX-512 with VNNI, and pointers are valid for what is read or written, by the trait's
        // contract. So below.
        Wide(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    unsafe fn input(from: *const u8) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn weights(from: *const i8) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn add_products(self, input: __m512i, weights: __m512i) -> Self {
        // SAFETY: as above.
        Wide(unsafe { _mm512_dpbusd_epi32(self.0, input, weights) })
    }

    #[inline(always)]
    unsafe fn to_float(self) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_cvtepi32_ps(self.0) }
    }

    #[inline(always)]
    unsafe fn store_cells(values: __m512, to: *mut u8) {
        // SAFETY: as above.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(values)));
        }
    }
}

/// 8 sums, VNNI in 256 bits.
#[derive(Clone, Copy)]
struct Narrow(__m256i);

impl Dot for Narrow {
    type Cell = u8;
    type Groups = __m256i;
    type Float = __m256;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the machine has AVX2 with VNNI, and pointers are valid for what is read or written, by the trait's
        // contract. So below.
        Narrow(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn input(from: *const u8) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn weights(from: *const i8) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn add_products(self, input: __m256i, weights: __m256i) -> Self {
        // SAFETY: as above.
        Narrow(unsafe { _mm256_dpbusd_avx_epi32(self.0, input, weights) })
    }

    #[inline(always)]
    unsafe fn to_float(self) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_cvtepi32_ps(self.0) }
    }

    #[inline(always)]
    unsafe fn store_cells(values: __m256, to: *mut u8) {
        // SAFETY: as above.
        unsafe {
            let words = words(values);
            _mm_storel_epi64(to.cast(), _mm_packus_epi16(words, words));
        }
    }
}

/// 8 sums of products of 16-bit numbers, in 256 bits.
#[derive(Clone, Copy)]
struct Pairs(__m256i);

impl Dot for Pairs {
    type Cell = i16;
    type Groups = __m256i;
    type Float = __m256;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the machine has AVX2, and pointers are valid for what is read or written, by the trait's contract. So below.
        Pairs(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn input(from: *const i16) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn weights(from: *const i16) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn add_products(self, input: __m256i, weights: __m256i) -> Self {
        // SAFETY: as above.
        Pairs(unsafe { _mm256_add_epi32(self.0, _mm256_madd_epi16(input, weights)) })
    }

    #[inline(always)]
    unsafe fn to_float(self) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_cvtepi32_ps(self.0) }
    }

    #[inline(always)]
    unsafe fn store_cells(values: __m256, to: *mut i16) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(to.cast(), words(values)) }
    }
}

/// Eight numbers of 0 to 255 as 16-bit ones, their fractions cut off.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn words(values: __m256) -> __m128i {
    // SAFETY: the caller's promise.
    unsafe {
        let numbers = _mm256_cvttps_epi32(values);
        _mm_packs_epi32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256(numbers, 1))
    }
}

pub(super) fn run_avx512_vnni(job: &mut Int8Job<'_, u8>) {
    /// # Safety
    /// The job is checked, and the machine has AVX-512 with VNNI.
    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn run(job: &mut Int8Job<'_, u8>) {
        // SAFETY: the caller's promise.
        unsafe {
            match vectors(job.layer.outputs) {
                4 => int8::run::<Wide, { ROWS_OF[3] }, 4>(job),
                3 => int8::run::<Wide, { ROWS_OF[2] }, 3>(job),
                2 => int8::run::<Wide, { ROWS_OF[1] }, 2>(job),
                _ => int8::run::<Wide, { ROWS_OF[0] }, 1>(job),
            }
        }
    }
    // SAFETY: Int8Kernel::run has checked the job and asked the machine.
    unsafe { run(job) }
}

pub(super) fn run_avx_vnni(job: &mut Int8Job<'_, u8>) {
    /// # Safety
    /// The job is checked, and the machine has AVX2 with VNNI.
    #[target_feature(enable = "avx2,fma,avxvnni")]
    unsafe fn run(job: &mut Int8Job<'_, u8>) {
        // SAFETY: the caller's promise.
        unsafe { int8::run::<Narrow, AVX_VNNI_ROWS, 2>(job) }
    }
    // SAFETY: Int8Kernel::run has checked the job and asked the machine.
    unsafe { run(job) }
}

pub(super) fn run_avx2(job: &mut Int8Job<'_, i16>) {
    /// # Safety
    /// The job is checked, and the machine has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run(job: &mut Int8Job<'_, i16>) {
        // SAFETY: the caller's promise.
        unsafe { int8::run::<Pairs, AVX2_ROWS, 2>(job) }
    }
    // SAFETY: Int8Kernel::run has checked the job and asked the machine.
    unsafe { run(job) }
}
