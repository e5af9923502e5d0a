//! What training does beside its products of matrices, written so that each kernel's vectors can do it.
//!
//! Rows are those of some positions without the row of zeros, `width` numbers each; loops run over blocks of [`PAD`] channels.

use crate::features::PLANES;
use crate::native::kernel::{PAD, SPOTS, Work};
use crate::native::work::{MOST_ROWS, add_rows, planes_by_spot, stem_rows};
use gipf_core::{Spot, SpotSet};

/// A layer's batch normalisation in the step that is being done, a number a channel each.
#[derive(Clone, Copy)]
pub(super) struct Affine<'a> {
    pub(super) scale: &'a [f32],
    pub(super) shift: &'a [f32],
}

/// Mean, and sum of squared differences from it, of each channel of some rows. The differences are taken from the mean itself, not
/// from sums of squares, which would lose the small variance of a channel with a large mean.
pub(super) struct Moments<'a> {
    pub(super) rows: &'a [f32],
    pub(super) mean: &'a mut [f32],
    pub(super) squares: &'a mut [f32],
}

impl Work for Moments<'_> {
    #[inline(always)]
    fn work(self) {
        let Moments { rows, mean, squares } = self;
        let width = mean.len();
        let count = rows.len() / width;
        for channel in (0..width).step_by(PAD) {
            let mut sums = [0.0_f32; PAD];
            for row in rows.chunks_exact(width) {
                let row = &row[channel..][..PAD];
                for i in 0..PAD {
                    sums[i] += row[i];
                }
            }
            let means = sums.map(|sum| sum / count as f32);
            let mut sums = [0.0_f32; PAD];
            for row in rows.chunks_exact(width) {
                let row = &row[channel..][..PAD];
                for i in 0..PAD {
                    let difference = row[i] - means[i];
                    sums[i] += difference * difference;
                }
            }
            mean[channel..][..PAD].copy_from_slice(&means);
            squares[channel..][..PAD].copy_from_slice(&sums);
        }
    }
}

/// `out = relu(raw * scale + shift + residual + bias of the position)`.
pub(super) struct Normalise<'a> {
    pub(super) raw: &'a [f32],
    pub(super) affine: Affine<'a>,
    pub(super) residual: Option<&'a [f32]>,
    /// A row a position.
    pub(super) bias: Option<&'a [f32]>,
    pub(super) out: &'a mut [f32],
}

impl Work for Normalise<'_> {
    #[inline(always)]
    fn work(self) {
        let Normalise { raw, affine: Affine { scale, shift }, residual, bias, out } = self;
        let width = scale.len();
        for (position, (raw, out)) in
            raw.chunks_exact(SPOTS * width).zip(out.chunks_exact_mut(SPOTS * width)).enumerate()
        {
            let residual = residual.map(|rows| &rows[position * SPOTS * width..][..SPOTS * width]);
            for channel in (0..width).step_by(PAD) {
                let (scale, mut start) = (&scale[channel..][..PAD], [0.0_f32; PAD]);
                start.copy_from_slice(&shift[channel..][..PAD]);
                if let Some(bias) = bias {
                    let bias = &bias[position * width + channel..][..PAD];
                    for i in 0..PAD {
                        start[i] += bias[i];
                    }
                }
                for spot in 0..SPOTS {
                    let at = spot * width + channel;
                    let (raw, out) = (&raw[at..][..PAD], &mut out[at..][..PAD]);
                    let mut sums = [0.0_f32; PAD];
                    for i in 0..PAD {
                        sums[i] = raw[i] * scale[i] + start[i];
                    }
                    if let Some(residual) = residual {
                        let residual = &residual[at..][..PAD];
                        for i in 0..PAD {
                            sums[i] += residual[i];
                        }
                    }
                    for i in 0..PAD {
                        // This way round what is not a number stays so, and the learner sees it in the loss.
                        out[i] = if sums[i] < 0.0 { 0.0 } else { sums[i] };
                    }
                }
            }
        }
    }
}

/// The gradient of a layer's rectified output from that of what reads it: adds the pooling's and the residual's, lets through
/// what the rectifier did, and sums it up for the layer's normalisation.
pub(super) struct Rectified<'a> {
    /// What the next layer's products give.
    pub(super) products: &'a [f32],
    /// Of the pooled output: its means and largest, and their gradients, rows of `2 * width` a position. The gradient of a largest number
    /// is split evenly among all spots that have it.
    pub(super) pooled: Option<(&'a [f32], &'a [f32])>,
    /// The layer's output and what its normalisation read.
    pub(super) out: &'a [f32],
    pub(super) raw: &'a [f32],
    pub(super) mean: &'a [f32],
    /// The gradient. What is in it is added first where `residual`.
    pub(super) gradient: &'a mut [f32],
    pub(super) residual: bool,
    /// The gradient's sums a channel, and those of its products with `raw - mean`. Added to.
    pub(super) sums: &'a mut [f32],
    pub(super) product_sums: &'a mut [f32],
}

impl Work for Rectified<'_> {
    #[inline(always)]
    fn work(self) {
        let Rectified { products, pooled, out, raw, mean, gradient, residual, sums, product_sums } =
            self;
        let width = mean.len();
        let size = SPOTS * width;
        for (position, gradient) in gradient.chunks_exact_mut(size).enumerate() {
            let products = &products[position * size..][..size];
            let out = &out[position * size..][..size];
            let raw = &raw[position * size..][..size];
            for channel in (0..width).step_by(PAD) {
                let (mut every, mut share, mut most) =
                    ([0.0_f32; PAD], [0.0_f32; PAD], [f32::INFINITY; PAD]);
                if let Some((pooled, slopes)) = pooled {
                    let pooled = &pooled[position * 2 * width..][..2 * width];
                    let slopes = &slopes[position * 2 * width..][..2 * width];
                    most.copy_from_slice(&pooled[width + channel..][..PAD]);
                    let mut ties = [0.0_f32; PAD];
                    for spot in 0..SPOTS {
                        let out = &out[spot * width + channel..][..PAD];
                        for i in 0..PAD {
                            ties[i] += if out[i] == most[i] { 1.0 } else { 0.0 };
                        }
                    }
                    let (means, largest) =
                        (&slopes[channel..][..PAD], &slopes[width + channel..][..PAD]);
                    for i in 0..PAD {
                        every[i] = means[i] * (1.0 / SPOTS as f32);
                        share[i] = largest[i] / ties[i];
                    }
                }
                let mean = &mean[channel..][..PAD];
                let (mut sum, mut product_sum) = ([0.0_f32; PAD], [0.0_f32; PAD]);
                for spot in 0..SPOTS {
                    let at = spot * width + channel;
                    let (products, out) = (&products[at..][..PAD], &out[at..][..PAD]);
                    let (raw, gradient) = (&raw[at..][..PAD], &mut gradient[at..][..PAD]);
                    for i in 0..PAD {
                        let mut value = products[i] + every[i];
                        value += if out[i] == most[i] { share[i] } else { 0.0 };
                        value += if residual { gradient[i] } else { 0.0 };
                        value = if out[i] > 0.0 { value } else { 0.0 };
                        gradient[i] = value;
                        sum[i] += value;
                        product_sum[i] += value * (raw[i] - mean[i]);
                    }
                }
                let (sums, product_sums) =
                    (&mut sums[channel..][..PAD], &mut product_sums[channel..][..PAD]);
                for i in 0..PAD {
                    sums[i] += sum[i];
                    product_sums[i] += product_sum[i];
                }
            }
        }
    }
}

/// How the gradient of a normalisation's output becomes that of its input, a number a channel each:
/// `scale * (gradient - lift - (raw - mean) * tilt)`.
#[derive(Clone, Copy)]
pub(super) struct Slopes<'a> {
    pub(super) mean: &'a [f32],
    pub(super) scale: &'a [f32],
    pub(super) lift: &'a [f32],
    pub(super) tilt: &'a [f32],
}

/// The gradient of a normalisation's input.
pub(super) struct Normalised<'a> {
    pub(super) gradient: &'a [f32],
    pub(super) raw: &'a [f32],
    pub(super) slopes: Slopes<'a>,
    pub(super) out: &'a mut [f32],
}

impl Work for Normalised<'_> {
    #[inline(always)]
    fn work(self) {
        let Normalised { gradient, raw, slopes: Slopes { mean, scale, lift, tilt }, out } = self;
        let width = mean.len();
        let rows = gradient.chunks_exact(width).zip(raw.chunks_exact(width));
        for ((gradient, raw), out) in rows.zip(out.chunks_exact_mut(width)) {
            for channel in (0..width).step_by(PAD) {
                let (gradient, raw) = (&gradient[channel..][..PAD], &raw[channel..][..PAD]);
                let (mean, scale) = (&mean[channel..][..PAD], &scale[channel..][..PAD]);
                let (lift, tilt) = (&lift[channel..][..PAD], &tilt[channel..][..PAD]);
                let out = &mut out[channel..][..PAD];
                for i in 0..PAD {
                    out[i] = scale[i] * (gradient[i] - lift[i] - (raw[i] - mean[i]) * tilt[i]);
                }
            }
        }
    }
}

/// Each position's sum of its rows: the gradient of what was added to all of them.
pub(super) struct SpotSums<'a> {
    pub(super) rows: &'a [f32],
    pub(super) width: usize,
    /// A row a position.
    pub(super) out: &'a mut [f32],
}

impl Work for SpotSums<'_> {
    #[inline(always)]
    fn work(self) {
        let SpotSums { rows, width, out } = self;
        for (rows, out) in rows.chunks_exact(SPOTS * width).zip(out.chunks_exact_mut(width)) {
            for channel in (0..width).step_by(PAD) {
                let mut sums = [0.0_f32; PAD];
                for spot in 0..SPOTS {
                    let row = &rows[spot * width + channel..][..PAD];
                    for i in 0..PAD {
                        sums[i] += row[i];
                    }
                }
                out[channel..][..PAD].copy_from_slice(&sums);
            }
        }
    }
}

/// The stem: what the globals give to every spot, and for each piece on a spot or beside it a row of weights.
pub(super) struct Stem<'a> {
    /// [`PLANES`] sets a position.
    pub(super) planes: &'a [SpotSet],
    /// `[tap][plane][channel]`.
    pub(super) weights: &'a [f32],
    /// What the globals give: a row a position.
    pub(super) globals: &'a [f32],
    pub(super) width: usize,
    pub(super) out: &'a mut [f32],
}

impl Work for Stem<'_> {
    #[inline(always)]
    fn work(self) {
        let Stem { planes, weights, globals, width, out } = self;
        let positions = planes.chunks_exact(PLANES).zip(globals.chunks_exact(width));
        let mut rows = [0_u32; MOST_ROWS];
        for ((planes, globals), out) in positions.zip(out.chunks_exact_mut(SPOTS * width)) {
            let planes = planes_by_spot(planes, false);
            for (spot, out) in Spot::ALL.into_iter().zip(out.chunks_exact_mut(width)) {
                let count = stem_rows(&planes, spot, width, &mut rows);
                add_rows::<false>(weights, globals, None, &rows[..count], out);
            }
        }
    }
}

/// The gradient of the stem's weights: each spot's row is added where the forward pass took a row.
pub(super) struct StemGradient<'a> {
    pub(super) planes: &'a [SpotSet],
    pub(super) gradient: &'a [f32],
    pub(super) width: usize,
    /// `[tap][plane][channel]`, added to.
    pub(super) sums: &'a mut [f32],
}

impl Work for StemGradient<'_> {
    #[inline(always)]
    fn work(self) {
        let StemGradient { planes, gradient, width, sums } = self;
        let mut rows = [0_u32; MOST_ROWS];
        let positions = planes.chunks_exact(PLANES).zip(gradient.chunks_exact(SPOTS * width));
        for (planes, gradient) in positions {
            let planes = planes_by_spot(planes, false);
            for (spot, gradient) in Spot::ALL.into_iter().zip(gradient.chunks_exact(width)) {
                let count = stem_rows(&planes, spot, width, &mut rows);
                for &row in &rows[..count] {
                    let sums = &mut sums[row as usize..][..width];
                    for channel in (0..width).step_by(PAD) {
                        let (sums, gradient) =
                            (&mut sums[channel..][..PAD], &gradient[channel..][..PAD]);
                        for i in 0..PAD {
                            sums[i] += gradient[i];
                        }
                    }
                }
            }
        }
    }
}
