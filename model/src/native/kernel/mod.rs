//! The hot loops: rows of sums of products, several rows and output channels in registers at a time, in f32 and in int8.
//!
//! A *row* is the `inputs` numbers of one spot (or of one position, for the layers after pooling). Each output row is a
//! bias, plus for each tap the product of the tap's input row with the tap's weights, plus a residual, rectified. The order
//! of the additions of an output number depends on nothing but the layer, so a position's result is the same in every
//! batch and at every place in it.
//!
//! This module holds the crate's only `unsafe` code: raw pointers in the inner loops and vector instructions. Everything
//! reaches it through [`Kernel::run`], [`Kernel::add_outer`], [`Kernel::work`] and [`Int8Kernel::run`], which check every length first.

mod int8;
mod outer;
mod plan;
mod portable;
mod tile;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_int8;

pub use int8::Int8Kernel;
pub(crate) use int8::{Cell, Float, Int8Job, Int8Layer};
pub(crate) use outer::{Outer, tap_pairs};
pub(crate) use plan::Plan;

use gipf_core::{Direction, Spot};
use std::fmt;

/// Spots of a position.
pub(crate) const SPOTS: usize = Spot::ALL.len();
/// Output channels are padded to a multiple of this: the widest vector.
pub(crate) const PAD: usize = 16;
/// Input rows of a spot: its own and its six neighbours'.
pub(crate) const TAPS: usize = crate::TAPS;

/// Which instructions compute in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply and add.
    Avx2,
    /// 128-bit vectors of WebAssembly, in programs built with them.
    Simd128,
    /// Plain Rust, which the compiler vectorises for its target.
    Portable,
}

/// Something that is done with the instructions of a kernel. `work` must be `#[inline(always)]`, and so must what it calls, or
/// the compiler makes plain code of it.
pub(crate) trait Work {
    fn work(self);
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 4] = [Kernel::Avx512, Kernel::Avx2, Kernel::Simd128, Kernel::Portable];

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
            Kernel::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest one this machine can run.
    pub fn best() -> Kernel {
        Kernel::ALL.into_iter().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Portable)
    }

    /// The plan for layers over the board of this many channels.
    pub(crate) fn plan(self, positions: usize, width: usize) -> Plan {
        let (height, least) = self.rows(width);
        Plan::new(positions, width, height, least)
    }

    /// How many positions go through the network together: whole tiles of them, whose rows stay in the second-level cache.
    pub(crate) fn together(self, width: usize) -> usize {
        together(self.rows(width).0)
    }

    /// The most rows of a tile of this many channels, and the fewest that keep the multipliers busy: two a cycle, four cycles
    /// each, so eight sums at least.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "only the kernels of x86-64 have a choice")
    )]
    fn rows(self, width: usize) -> (usize, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::rows(width),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => (x86::AVX2_ROWS, 4),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kernel::Simd128 => (wasm::ROWS, 4),
            _ => (portable::ROWS, portable::ROWS),
        }
    }

    /// Computes `job` into `out`. With `rounded` each product is rounded before it is added, and every kernel computes the same
    /// bits; else kernels that can multiply and add with one rounding do.
    ///
    /// # Panics
    /// If a length does not fit, or the kernel is not available here: both are mistakes of this crate.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "only the kernels of x86-64 have a choice")
    )]
    pub(crate) fn run(self, job: &Job<'_>, rounded: bool, out: &mut [f32]) {
        job.check(out.len());
        assert!(self.is_available(), "{self} is not available on this machine");
        match self {
            Kernel::Portable => portable::run(job, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::run_avx512(job, rounded, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::run_avx2(job, rounded, out),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kernel::Simd128 => wasm::run(job, out),
            _ => portable::run(job, out),
        }
    }

    /// Adds the outer products of `job` to `sums`, `[input][output]`.
    ///
    /// # Panics
    /// If a length does not fit, or the kernel is not available here: both are mistakes of this crate.
    pub(crate) fn add_outer(self, job: &Outer<'_>, sums: &mut [f32]) {
        job.check(sums.len());
        assert!(self.is_available(), "{self} is not available on this machine");
        match self {
            Kernel::Portable => portable::add_outer(job, sums),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::add_outer_avx512(job, sums),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::add_outer_avx2(job, sums),
            // Nobody trains in a browser.
            _ => portable::add_outer(job, sums),
        }
    }

    /// Does some work compiled for this kernel's vectors. Nothing is fused, so every kernel computes the same bits.
    ///
    /// # Panics
    /// If the kernel is not available here.
    pub(crate) fn work(self, work: impl Work) {
        assert!(self.is_available(), "{self} is not available on this machine");
        match self {
            Kernel::Portable => work.work(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::work_avx512(work),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::work_avx2(work),
            _ => work.work(),
        }
    }

    /// Multiplies and adds in registers alone for about a millisecond: the f32 operations it did (a product and a sum are
    /// two). Over the time it took they are the peak that nothing can exceed.
    ///
    /// # Panics
    /// If the kernel is not available here.
    pub fn peak_work(self) -> u64 {
        assert!(self.is_available(), "{self} is not available on this machine");
        match self {
            Kernel::Portable => portable::peak_work(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => x86::peak_work_avx512(),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => x86::peak_work_avx2(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Kernel::Simd128 => wasm::peak_work(),
            _ => portable::peak_work(),
        }
    }
}

/// At least eight positions, in tiles of `height` rows.
fn together(height: usize) -> usize {
    8_usize.next_multiple_of(height)
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel::Avx512 => "avx512",
            Kernel::Avx2 => "avx2",
            Kernel::Simd128 => "simd128",
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

/// Which rows a job computes.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// All spots of some positions, with 7 taps. In and out are buffers as [`Plan`] says.
    Board(&'a Plan),
    /// So many rows one after the other, with 1 tap.
    Each(usize),
}

impl Rows<'_> {
    /// Checks that the numbers behind input, biases and output are enough for a layer.
    fn check(&self, size: LayerSize, input: usize, bias: usize, by_position: bool, out: usize) {
        let LayerSize { taps, inputs, input_stride, outputs } = size;
        assert!(inputs <= input_stride && outputs.is_multiple_of(PAD) && outputs > 0);
        let biases = match *self {
            Rows::Board(plan) => {
                assert!(taps == TAPS && input_stride == plan.width() && outputs == plan.width());
                assert!(input >= plan.extent() && out >= plan.extent());
                if by_position { plan.positions() } else { 1 }
            }
            Rows::Each(rows) => {
                assert!(taps == 1 && !by_position);
                assert!(input >= rows * input_stride && out >= rows * outputs);
                1
            }
        };
        assert!(bias >= biases * outputs);
    }
}

/// What the check of a job looks at.
#[derive(Clone, Copy)]
struct LayerSize {
    taps: usize,
    inputs: usize,
    input_stride: usize,
    outputs: usize,
}

/// One computation of a layer.
pub(crate) struct Job<'a> {
    pub(crate) layer: &'a Layer,
    pub(crate) rows: Rows<'a>,
    pub(crate) input: &'a [f32],
    /// What each sum starts from: `outputs` numbers, or as many for each position.
    pub(crate) bias: &'a [f32],
    pub(crate) bias_by_position: bool,
    /// Added at the end, laid out as the output.
    pub(crate) residual: Option<&'a [f32]>,
    /// Whether negative results become 0.
    pub(crate) relu: bool,
}

impl Job<'_> {
    /// Checks every length that the inner loops rely on.
    fn check(&self, out: usize) {
        let Layer { taps, inputs, input_stride, outputs, ref weights } = *self.layer;
        assert_eq!(weights.len(), taps * inputs * outputs);
        let size = LayerSize { taps, inputs, input_stride, outputs };
        self.rows.check(size, self.input.len(), self.bias.len(), self.bias_by_position, out);
        assert!(self.residual.is_none_or(|residual| residual.len() >= out));
    }
}

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
