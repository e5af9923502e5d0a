//! The kernels in int8: products of unsigned 8-bit activations and signed 8-bit weights, summed in 32 bits.
//!
//! An activation `x >= 0` is the cell `min(x / step + 1/2, 255)` without its fraction, `step` a number of its channel. The steps of the
//! inputs are part of the weights, so a sum times the output channel's factor is the sum of real products. Sums are whole
//! numbers and what follows is rounded one operation at a time: every kernel computes the same bits.

use super::plan::Plan;
use super::portable;
use super::tile::{MOST_ROWS, Places, Vector, of_height, tile_count};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::wasm;
#[cfg(target_arch = "x86_64")]
use super::x86_int8;
use super::{Kernel, LayerSize, Rows};
use std::fmt;

/// Which instructions compute in int8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int8Kernel {
    /// 512-bit vectors with VNNI: 64 products an instruction.
    Avx512Vnni,
    /// 256-bit vectors with VNNI.
    AvxVnni,
    /// 256-bit vectors: 16 products of 16-bit numbers an instruction.
    Avx2,
    /// 128-bit vectors of WebAssembly, in programs built with them: 8 products of 16-bit numbers an instruction.
    Simd128,
    /// Plain Rust with 16-bit numbers, which the compiler vectorises for its target.
    Portable,
}

impl Int8Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Int8Kernel; 5] = [
        Int8Kernel::Avx512Vnni,
        Int8Kernel::AvxVnni,
        Int8Kernel::Avx2,
        Int8Kernel::Simd128,
        Int8Kernel::Portable,
    ];

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        match self {
            Int8Kernel::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx512Vnni => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::AvxVnni => {
                std::arch::is_x86_feature_detected!("avxvnni") && Kernel::Avx2.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx2 => Kernel::Avx2.is_available(),
            Int8Kernel::Simd128 => Kernel::Simd128.is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest one this machine can run.
    pub fn best() -> Int8Kernel {
        let mut all = Int8Kernel::ALL.into_iter();
        all.find(|kernel| kernel.is_available()).unwrap_or(Int8Kernel::Portable)
    }

    /// The kernel for what stays in f32.
    pub(crate) fn float(self) -> Kernel {
        match self {
            Int8Kernel::Avx512Vnni => Kernel::Avx512,
            Int8Kernel::AvxVnni | Int8Kernel::Avx2 => Kernel::Avx2,
            Int8Kernel::Simd128 => Kernel::Simd128,
            Int8Kernel::Portable => Kernel::Portable,
        }
    }

    /// Whether its cells are bytes; else they are 16-bit numbers.
    pub(crate) fn has_byte_cells(self) -> bool {
        matches!(self, Int8Kernel::Avx512Vnni | Int8Kernel::AvxVnni)
    }

    /// The plan for layers over the board of this many channels.
    pub(crate) fn plan(self, positions: usize, width: usize) -> Plan {
        let (height, least) = self.rows(width);
        Plan::new(positions, width, height, least)
    }

    /// How many positions go through the network together.
    pub(crate) fn together(self, width: usize) -> usize {
        super::together(self.rows(width).0)
    }

    /// The most rows of a tile of this many channels, and the fewest that keep the multipliers busy.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "only the kernels of x86-64 have a choice")
    )]
    fn rows(self, width: usize) -> (usize, usize) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx512Vnni => x86_int8::rows(width),
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::AvxVnni => (x86_int8::AVX_VNNI_ROWS, 5),
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx2 => (x86_int8::AVX2_ROWS, x86_int8::AVX2_ROWS),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Int8Kernel::Simd128 => (wasm::ROWS, 4),
            _ => (portable::ROWS, portable::ROWS),
        }
    }

    /// Computes `job`.
    ///
    /// # Panics
    /// If a length does not fit, or the kernel is not available here or has other cells: mistakes of this crate.
    pub(crate) fn run<C: Cell>(self, job: &mut Int8Job<'_, C>) {
        job.check();
        assert!(self.is_available(), "{self} is not available on this machine");
        C::run(self, job);
    }
}

impl fmt::Display for Int8Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Int8Kernel::Avx512Vnni => "avx512-vnni",
            Int8Kernel::AvxVnni => "avx-vnni",
            Int8Kernel::Avx2 => "avx2",
            Int8Kernel::Simd128 => "simd128",
            Int8Kernel::Portable => "portable",
        })
    }
}

/// An activation of 0 to 255 in memory: a byte for instructions that multiply bytes, else 16 bits.
pub(crate) trait Cell:
    Copy + Default + Send + Sync + fmt::Debug + Into<i32> + 'static
{
    /// A weight of -127 to 127 in memory.
    type Weight: Copy + Default + Send + Sync + fmt::Debug;
    /// Inputs that lie side by side for each output: what an instruction sums.
    const GROUP: usize;

    /// A weight, which is within -127 to 127.
    fn weight(value: i8) -> Self::Weight;

    /// A cell from a number of 0 to less than 256, its fraction cut off.
    fn of(value: f32) -> Self;

    /// Runs a checked job on an available kernel.
    ///
    /// # Panics
    /// If the kernel's cells are others.
    fn run(kernel: Int8Kernel, job: &mut Int8Job<'_, Self>);
}

impl Cell for u8 {
    type Weight = i8;
    const GROUP: usize = 4;

    fn weight(value: i8) -> i8 {
        value
    }

    #[inline(always)]
    fn of(value: f32) -> u8 {
        value as u8
    }

    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "only the kernels of x86-64 have such cells")
    )]
    fn run(kernel: Int8Kernel, job: &mut Int8Job<'_, u8>) {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx512Vnni => x86_int8::run_avx512_vnni(job),
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::AvxVnni => x86_int8::run_avx_vnni(job),
            other => panic!("{other} has no cells of bytes"),
        }
    }
}

impl Cell for i16 {
    type Weight = i16;
    const GROUP: usize = 2;

    fn weight(value: i8) -> i16 {
        i16::from(value)
    }

    #[inline(always)]
    fn of(value: f32) -> i16 {
        value as i16
    }

    fn run(kernel: Int8Kernel, job: &mut Int8Job<'_, i16>) {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Int8Kernel::Avx2 => x86_int8::run_avx2(job),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Int8Kernel::Simd128 => wasm::run_int8(job),
            Int8Kernel::Portable => portable::run_int8(job),
            other => panic!("{other} has no cells of 16 bits"),
        }
    }
}

/// A layer's weights in int8, packed for the inner loop.
#[derive(Clone, Debug)]
pub(crate) struct Int8Layer<C: Cell> {
    /// 1 or 7.
    pub(crate) taps: usize,
    /// Cells of an input row, a multiple of the group.
    pub(crate) inputs: usize,
    /// Output channels, a multiple of [`super::PAD`].
    pub(crate) outputs: usize,
    /// `[tap][input / GROUP][output][GROUP]`.
    pub(crate) weights: Vec<C::Weight>,
    /// What a sum is multiplied with, one number an output.
    pub(crate) factors: Vec<f32>,
}

/// What becomes of an output in f32.
pub(crate) enum Float<'a> {
    /// Nothing.
    Drop,
    /// It is written here.
    Write(&'a mut [f32]),
    /// What is here is added to it before it is rectified, and the result is written here.
    Add(&'a mut [f32]),
}

/// One computation of a layer: sums times factors, plus bias, plus residual, rectified.
pub(crate) struct Int8Job<'a, C: Cell> {
    pub(crate) layer: &'a Int8Layer<C>,
    pub(crate) rows: Rows<'a>,
    pub(crate) input: &'a [C],
    /// `outputs` numbers, or as many for each position.
    pub(crate) bias: &'a [f32],
    pub(crate) bias_by_position: bool,
    pub(crate) float: Float<'a>,
    /// Where the outputs go as cells, and one over each channel's step.
    pub(crate) cells: Option<(&'a mut [C], &'a [f32])>,
}

impl<C: Cell> Int8Job<'_, C> {
    /// Checks every length that the inner loops rely on.
    fn check(&self) {
        let Int8Layer { taps, inputs, outputs, ref weights, ref factors } = *self.layer;
        assert_eq!(weights.len(), taps * inputs * outputs);
        assert!(inputs.is_multiple_of(C::GROUP) && factors.len() >= outputs);
        let size = LayerSize { taps, inputs, input_stride: inputs, outputs };
        let check = |out| {
            self.rows.check(size, self.input.len(), self.bias.len(), self.bias_by_position, out);
        };
        match &self.float {
            Float::Drop => {}
            Float::Write(to) | Float::Add(to) => check(to.len()),
        }
        if let Some((cells, inverse)) = &self.cells {
            check(cells.len());
            assert!(inverse.len() >= outputs);
        }
    }
}

/// A vector of 32-bit sums.
///
/// # Safety
/// The methods may be instructions that the machine lacks: callers run them only inside a function compiled for them, after
/// the machine was asked. Pointers need not be aligned; they must be valid for what is read or written.
pub(super) trait Dot: Copy {
    type Cell: Cell;
    /// A group of cells, or of weights, for each sum.
    type Groups: Copy;
    /// As many numbers in f32.
    type Float: Vector;
    unsafe fn zero() -> Self;
    /// The group of cells at `from`, once for each sum.
    unsafe fn input(from: *const Self::Cell) -> Self::Groups;
    /// A group of weights for each sum.
    unsafe fn weights(from: *const <Self::Cell as Cell>::Weight) -> Self::Groups;
    unsafe fn add_products(self, input: Self::Groups, weights: Self::Groups) -> Self;
    unsafe fn to_float(self) -> Self::Float;
    /// Writes numbers of 0 to less than 256 as cells, their fractions cut off.
    unsafe fn store_cells(values: Self::Float, to: *mut Self::Cell);
}

/// The job's places to write to, as pointers.
#[derive(Clone, Copy)]
struct Out<C> {
    float: Option<*mut f32>,
    add: bool,
    cells: Option<(*mut C, *const f32)>,
}

/// Runs a job in tiles of up to `R` rows and exactly `Z` vectors.
///
/// # Safety
/// `job.check` has passed, the machine has `D`'s instructions, no tile of the job's plan is higher than `R`, and `Z` vectors divide the
/// outputs.
#[inline(always)]
pub(super) unsafe fn run<D: Dot, const R: usize, const Z: usize>(job: &mut Int8Job<'_, D::Cell>) {
    const { assert!(R <= MOST_ROWS) };
    let (float, add) = match &mut job.float {
        Float::Drop => (None, false),
        Float::Write(to) => (Some(to.as_mut_ptr()), false),
        Float::Add(to) => (Some(to.as_mut_ptr()), true),
    };
    let cells = job.cells.as_mut().map(|(cells, inverse)| (cells.as_mut_ptr(), inverse.as_ptr()));
    let out = Out { float, add, cells };
    let (inputs, outputs) = (job.layer.inputs, job.layer.outputs);
    let count = tile_count(job.rows, R);
    let mut room = [0; 3 * MOST_ROWS];
    for at in 0..count {
        let places = Places::of(job.rows, (at, count), (inputs, outputs), &mut room);
        for channel in (0..outputs).step_by(Z * <D::Float as Vector>::WIDTH) {
            // SAFETY: rows and channels lie inside what job.check has seen.
            unsafe { of_height!(places.height(), R, tile, (D), Z, (job, places, channel, out)) };
        }
    }
}

/// The tile: products, then factor, bias, residual, rectifier, cells.
///
/// # Safety
/// As of [`run`]; the places are `R` rows of the job's, and `out` has its pointers.
#[inline(always)]
unsafe fn tile<D: Dot, const R: usize, const Z: usize>(
    job: &Int8Job<'_, D::Cell>,
    places: Places<'_>,
    channel: usize,
    out: Out<D::Cell>,
) {
    let width = <D::Float as Vector>::WIDTH;
    let group = <D::Cell as Cell>::GROUP;
    let (inputs, outputs) = (job.layer.inputs, job.layer.outputs);
    // SAFETY: every offset is below a length that job.check has compared: weights taps * inputs * outputs, factors and steps
    // outputs, biases and rows times outputs, input rows of `inputs` cells.
    unsafe {
        let mut sums = [[D::zero(); Z]; R];
        for (n, tap) in places.taps() {
            let input: [*const D::Cell; R] =
                std::array::from_fn(|r| job.input.as_ptr().add(places.input(n, r)));
            let first = tap * inputs * outputs + channel * group;
            let mut weights = job.layer.weights.as_ptr().add(first);
            for i in 0..inputs / group {
                let weight: [D::Groups; Z] =
                    std::array::from_fn(|z| D::weights(weights.add(z * width * group)));
                // Indices known to the compiler keep every sum in its register.
                for r in 0..R {
                    let cells = D::input(input[r].add(i * group));
                    for z in 0..Z {
                        sums[r][z] = sums[r][z].add_products(cells, weight[z]);
                    }
                }
                weights = weights.add(outputs * group);
            }
        }
        for z in 0..Z {
            let at = channel + z * width;
            let factor = D::Float::load(job.layer.factors.as_ptr().add(at));
            for (r, sums) in sums.iter().enumerate() {
                let own = if job.bias_by_position { places.bias(r) } else { 0 };
                let bias = D::Float::load(job.bias.as_ptr().add(own + at));
                let mut sum = sums[z].to_float().mul(factor).add(bias);
                let to = places.output(r) + at;
                if let (Some(float), true) = (out.float, out.add) {
                    sum = sum.add(D::Float::load(float.add(to)));
                }
                sum = sum.max(D::Float::splat(0.0));
                if let Some(float) = out.float {
                    sum.store(float.add(to));
                }
                if let Some((cells, inverse)) = out.cells {
                    let steps = sum.mul(D::Float::load(inverse.add(at))).add(D::Float::splat(0.5));
                    D::store_cells(steps.min(D::Float::splat(255.0)), cells.add(to));
                }
            }
        }
    }
}
