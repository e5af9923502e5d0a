//! The one hot loop: rows of sums of products, several rows and output channels in registers at a time.
//!
//! A *row* is the `inputs` numbers of one spot (or of one position, for the layers after pooling). Each output row is a
//! bias, plus for each tap the product of the tap's input row with the tap's weights, plus a residual, rectified. The order
//! of the additions of an output number depends on nothing but the layer, so a position's result is the same in every
//! batch and at every place in it.
//!
//! This module holds the crate's only `unsafe` code: raw pointers in the inner loop and vector instructions. Everything
//! reaches it through [`Kernel::run`], which checks every length first.

mod portable;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use gipf_core::{Direction, Spot};
use std::fmt;

/// Spots of a position.
pub(crate) const SPOTS: usize = Spot::ALL.len();
/// Output channels are padded to a multiple of this: the widest vector.
pub(crate) const PAD: usize = 16;
/// Input rows of a spot: its own and its six neighbours'.
const TAPS: usize = crate::TAPS;

/// Which instructions compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply and add.
    Avx2,
    /// Plain Rust, which the compiler vectorises for its target (wasm simd128 too).
    Portable,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 3] = [Kernel::Avx512, Kernel::Avx2, Kernel::Portable];

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            Kernel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest one this machine can run.
    pub fn best() -> Kernel {
        Kernel::ALL.into_iter().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
    }

    /// Computes `job` into `out`, `rows` times `layer.outputs` numbers.
    ///
    /// # Panics
    /// If a length does not fit, or the kernel is not available here: both are mistakes of this crate.
    pub(crate) fn run(self, job: &Job<'_>, out: &mut [f32]) {
        job.check(out.len());
        assert!(self.is_available(), "{self} is not available on this machine");
        match self {
            Kernel::Portable => portable::run(job, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::run_avx512(job, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::run_avx2(job, out),
            #[cfg(not(target_arch = "x86_64"))]
            _ => portable::run(job, out),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel::Avx512 => "avx512",
            Kernel::Avx2 => "avx2",
            Kernel::Portable => "portable",
        })
    }
}

/// A layer's weights, packed for the inner loop.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// 1, or 7: a spot and its neighbours N, NE, SE, S, SW, NW.
    pub(crate) taps: usize,
    /// Numbers of an input row that have weights.
    pub(crate) inputs: usize,
    /// Distance between input rows, `inputs` or more.
    pub(crate) input_stride: usize,
    /// Output channels, a multiple of [`PAD`].
    pub(crate) outputs: usize,
    /// `[tap][input][output]`.
    pub(crate) weights: Vec<f32>,
}

/// One computation of a layer.
pub(crate) struct Job<'a> {
    pub(crate) layer: &'a Layer,
    /// Rows; with 7 taps a multiple of [`SPOTS`].
    pub(crate) rows: usize,
    pub(crate) input: &'a [f32],
    /// What each sum starts from, `outputs` numbers for every `bias_rows` rows.
    pub(crate) bias: &'a [f32],
    /// Rows that share a bias; 0: all of them.
    pub(crate) bias_rows: usize,
    /// Added at the end, laid out as the output.
    pub(crate) residual: Option<&'a [f32]>,
    /// Whether negative results become 0.
    pub(crate) relu: bool,
}

impl Job<'_> {
    /// Checks every length that the inner loops rely on.
    fn check(&self, out: usize) {
        let Layer { taps, inputs, input_stride, outputs, ref weights } = *self.layer;
        assert!(taps == 1 || taps == TAPS && self.rows.is_multiple_of(SPOTS));
        assert!(inputs <= input_stride && outputs.is_multiple_of(PAD) && outputs > 0);
        assert_eq!(weights.len(), taps * inputs * outputs);
        assert!(input_stride <= ZEROS.len());
        assert!(self.input.len() >= self.rows * input_stride);
        let biases = match self.bias_rows {
            0 => 1,
            rows => self.rows.div_ceil(rows),
        };
        assert!(self.bias.len() >= biases * outputs);
        assert!(self.residual.is_none_or(|residual| residual.len() >= self.rows * outputs));
        assert!(out >= self.rows * outputs);
    }

    /// Where the bias of a row starts.
    #[inline(always)]
    fn bias_at(&self, row: usize) -> usize {
        row.checked_div(self.bias_rows).unwrap_or(0) * self.layer.outputs
    }
}

/// The input row of a neighbour outside the board. Longer than any input row of a network (1024 channels, pooled twice, and
/// globals).
static ZEROS: [f32; 4096] = [0.0; 4096];

/// Per spot its own number and its neighbours', in the order of the taps; [`SPOTS`] where there is none.
static NEIGHBOURS: [[u8; TAPS]; SPOTS] = {
    let mut table = [[SPOTS as u8; TAPS]; SPOTS];
    let mut i = 0;
    while i < SPOTS {
        table[i][0] = i as u8;
        let mut d = 0;
        while d < 6 {
            if let Some(next) = Spot::ALL[i].step(Direction::ALL[d]) {
                table[i][d + 1] = next.index() as u8;
            }
            d += 1;
        }
        i += 1;
    }
    table
};

/// The neighbours of a spot in the order of the taps.
pub(crate) fn neighbours(spot: Spot) -> &'static [u8; TAPS] {
    &NEIGHBOURS[spot.index()]
}
