//! A share of the batch: its activations, kept from the forward pass for the backward pass, and its sums of gradients.
//!
//! The positions of a lane go through each layer in pieces that stay in the second-level cache. A piece is a row of zeros, then 37
//! rows a position, as [`Plan`] says.

use super::norm::{Norm, Statistics};
use super::parameters::{GLOBALS_WIDTH, Sums, Weights};
use super::passes::{Moments, Normalise, Normalised, Rectified, SpotSums, Stem, StemGradient};
use super::pieces::{Piece, Shape};
use crate::features::{GLOBALS, PLANES};
use crate::native::kernel::{Job, Kernel, Layer, Outer, Plan, Rows, SPOTS};
use crate::native::work::Pool;
use gipf_core::SpotSet;
use std::ops::Range;

/// Positions whose outer products are summed in registers before they are added to those in memory: so few that their rows stay
/// in the first-level cache.
const TOGETHER: usize = 4;

/// A share of a batch, which a worker does alone.
#[derive(Debug)]
pub struct Lane {
    kernel: Kernel,
    channels: usize,
    width: usize,
    /// Its positions of the batch.
    positions: Range<usize>,
    pieces: Vec<Piece>,
    shapes: Vec<Shape>,
    /// What each layer's products give, and its output.
    raw: Vec<Vec<f32>>,
    out: Vec<Vec<f32>>,
    /// Means and largest of each block's inside: rows of `2 * width` a position.
    pooled: Vec<Vec<f32>>,
    /// What a position's pooled row adds to its spots, or the gradient of that.
    bias: Vec<f32>,
    /// Padded rows.
    globals: Vec<f32>,
    planes: Vec<SpotSet>,
    zeros: Vec<f32>,
    /// Gradients of the trunk's rows and of a block's inside.
    outer: Vec<f32>,
    inner: Vec<f32>,
    /// Of a piece: the gradient of what the products gave, that of what they read, and of pooled rows.
    products: Vec<f32>,
    inputs: Vec<f32>,
    slopes: Vec<f32>,
    mean: Vec<f32>,
    squares: Vec<f32>,
    piece_sums: [Vec<f32>; 2],
    /// Of the layer that is being done.
    pub(super) statistics: Statistics,
    /// Of the gradient that was computed last: a channel's sums, and those of its products with `raw - mean`.
    pub(super) gradient_sums: [Vec<f64>; 2],
    pub(super) sums: Sums,
    /// The trunk's output, `[positions, 37, channels]`.
    pub(super) trunk: Vec<f32>,
}

impl Lane {
    /// Room for these positions of a batch, in pieces of `most`.
    pub(super) fn new(
        kernel: Kernel,
        (channels, width): (usize, usize),
        weights: &Weights,
        positions: Range<usize>,
        most: usize,
    ) -> Lane {
        let (mut pieces, mut shapes, mut start) = (Vec::new(), Vec::<Shape>::new(), 0);
        for first in (0..positions.len()).step_by(most) {
            let count = most.min(positions.len() - first);
            let known = shapes.iter().position(|shape| shape.plan.positions() == count);
            let shape = known.unwrap_or_else(|| {
                shapes.push(Shape::new(kernel, count, width));
                shapes.len() - 1
            });
            pieces.push(Piece { first, count, start, shape });
            start += (1 + count * SPOTS) * width;
        }
        let (count, layers) = (positions.len(), 1 + weights.convs.len());
        let zeros = |length: usize| vec![0.0; length];
        let piece = (1 + most * SPOTS) * width;
        Lane {
            kernel,
            channels,
            width,
            positions,
            pieces,
            shapes,
            raw: vec![zeros(start); layers],
            out: vec![zeros(start); layers],
            pooled: vec![zeros(count * 2 * width); weights.pools.len()],
            bias: zeros(count * width),
            globals: zeros(count * GLOBALS_WIDTH),
            planes: vec![SpotSet::EMPTY; count * PLANES],
            zeros: zeros(2 * width),
            outer: zeros(start),
            inner: zeros(start),
            products: zeros(piece),
            inputs: zeros(piece),
            slopes: zeros(most * 2 * width),
            mean: zeros(width),
            squares: zeros(width),
            piece_sums: [zeros(width), zeros(width)],
            statistics: Statistics::new(width),
            gradient_sums: [vec![0.0; width], vec![0.0; width]],
            sums: Sums::new(weights),
            trunk: zeros(count * SPOTS * channels),
        }
    }

    pub(super) fn positions(&self) -> Range<usize> {
        self.positions.clone()
    }

    /// Takes its positions of a batch: [`PLANES`] sets and [`GLOBALS`] numbers a position.
    pub(super) fn take(&mut self, planes: &[SpotSet], globals: &[f32]) {
        let Range { start, end } = self.positions;
        self.planes.copy_from_slice(&planes[start * PLANES..end * PLANES]);
        let rows = self.globals.chunks_exact_mut(GLOBALS_WIDTH);
        for (row, globals) in
            rows.zip(globals[start * GLOBALS..end * GLOBALS].chunks_exact(GLOBALS))
        {
            row[..GLOBALS].copy_from_slice(globals);
        }
    }

    /// The stem's products, and their statistics.
    pub(super) fn stem(&mut self, weights: &Weights) {
        let (kernel, width) = (self.kernel, self.width);
        self.statistics.clear();
        for piece in &self.pieces {
            let bias = &mut self.bias[piece.each(width)];
            each(
                kernel,
                &weights.globals,
                &self.globals[piece.each(GLOBALS_WIDTH)],
                &self.zeros,
                bias,
            );
            let planes = &self.planes[piece.each(PLANES)];
            let out = &mut self.raw[0][piece.rows(width)];
            kernel.work(Stem { planes, weights: &weights.stem, globals: bias, width, out });
            let (mean, squares) = (&mut self.mean, &mut self.squares);
            kernel.work(Moments { rows: &self.raw[0][piece.rows(width)], mean, squares });
            self.statistics.add_rows(piece.count * SPOTS, &self.mean, &self.squares);
        }
    }

    /// Finishes a layer by its normalisation, and goes on to the next one's products and their statistics. After the last
    /// layer the output is the trunk's.
    pub(super) fn forward(&mut self, layer: usize, norm: &Norm, weights: &Weights) {
        let (kernel, width) = (self.kernel, self.width);
        let ends_block = layer > 0 && layer.is_multiple_of(2);
        self.statistics.clear();
        for piece in &self.pieces {
            let rows = piece.rows(width);
            let (before, out) = self.out.split_at_mut(layer);
            let out = &mut out[0];
            kernel.work(Normalise {
                raw: &self.raw[layer][rows.clone()],
                affine: norm.affine(),
                residual: ends_block.then(|| &before[layer - 2][rows.clone()]),
                bias: (ends_block && !weights.pools.is_empty())
                    .then(|| &self.bias[piece.each(width)]),
                out: &mut out[rows.clone()],
            });
            if layer % 2 == 1 && !weights.pools.is_empty() {
                let block = layer / 2;
                let pooled = &mut self.pooled[block][piece.each(2 * width)];
                let input = &out[rows.clone()];
                kernel.work(Pool { rows: input, width, out: pooled, out_stride: 2 * width });
                let bias = &mut self.bias[piece.each(width)];
                each(kernel, &weights.pools[block].layer, pooled, &self.zeros, bias);
            }
            let Some(conv) = weights.convs.get(layer) else {
                unpad(
                    &out[rows],
                    width,
                    self.channels,
                    &mut self.trunk[piece.each(SPOTS * self.channels)],
                );
                continue;
            };
            let raw = &mut self.raw[layer + 1][piece.all(width)];
            let plan = &self.shapes[piece.shape].plan;
            board(kernel, &conv.layer, plan, &out[piece.all(width)], &self.zeros, raw);
            let (mean, squares) = (&mut self.mean, &mut self.squares);
            kernel.work(Moments { rows: &raw[width..], mean, squares });
            self.statistics.add_rows(piece.count * SPOTS, &self.mean, &self.squares);
        }
    }

    /// Begins the backward pass: takes the gradient of the trunk's output, `[batch, 37, channels]`.
    pub(super) fn begin_backward(&mut self, gradient: &[f32], norm: &Norm) {
        let (kernel, width, channels) = (self.kernel, self.width, self.channels);
        let last = self.out.len() - 1;
        let size = SPOTS * channels;
        let own = &gradient[self.positions.start * size..self.positions.end * size];
        self.sums.clear();
        self.gradient_sums.iter_mut().for_each(|sums| sums.fill(0.0));
        for piece in &self.pieces {
            let rows = piece.rows(width);
            let inputs = &mut self.inputs[width..][..rows.len()];
            for (to, from) in
                inputs.chunks_exact_mut(width).zip(own[piece.each(size)].chunks_exact(channels))
            {
                to[..channels].copy_from_slice(from);
                to[channels..].fill(0.0);
            }
            let [sums, product_sums] = cleared(&mut self.piece_sums);
            kernel.work(Rectified {
                products: inputs,
                pooled: None,
                out: &self.out[last][rows.clone()],
                raw: &self.raw[last][rows.clone()],
                mean: norm.mean(),
                gradient: &mut self.outer[rows],
                residual: false,
                sums,
                product_sums,
            });
            add_up(&mut self.gradient_sums, &self.piece_sums);
        }
    }

    /// From the gradient of a layer's output to those of its weights and of the output of the layer before, whose normalisation is
    /// `before`. The layer is not the stem.
    pub(super) fn backward(&mut self, layer: usize, norm: &Norm, before: &Norm, weights: &Weights) {
        let (kernel, width) = (self.kernel, self.width);
        let ends_block = layer.is_multiple_of(2);
        let block = (layer - 1) / 2;
        let pool = if ends_block { weights.pools.get(block) } else { None };
        let conv = &weights.convs[layer - 1];
        self.gradient_sums.iter_mut().for_each(|sums| sums.fill(0.0));
        for piece in &self.pieces {
            let (rows, shape) = (piece.rows(width), &self.shapes[piece.shape]);
            let (own, target) = if ends_block {
                (&self.outer, &mut self.inner)
            } else {
                (&self.inner, &mut self.outer)
            };
            let own = &own[rows.clone()];
            if let Some(pool) = pool {
                let bias = &mut self.bias[piece.each(width)];
                kernel.work(SpotSums { rows: own, width, out: bias });
                let slopes = &mut self.slopes[..piece.count * 2 * width];
                each(kernel, &pool.transpose, bias, &self.zeros, slopes);
                let job = Outer {
                    input: &self.pooled[block][piece.each(2 * width)],
                    inputs: 2 * width,
                    gradient: bias,
                    outputs: width,
                    pairs: &shape.pooled_pairs,
                };
                kernel.add_outer(&job, &mut self.sums.pools[block]);
            }
            let products = &mut self.products[..width + rows.len()];
            kernel.work(Normalised {
                gradient: own,
                raw: &self.raw[layer][rows.clone()],
                slopes: norm.slopes(),
                out: &mut products[width..],
            });
            let input = &self.out[layer - 1][piece.all(width)];
            add_taps(kernel, shape, (input, products), width, &mut self.sums.convs[layer - 1]);
            let inputs = &mut self.inputs[..width + rows.len()];
            board(kernel, &conv.transpose, &shape.plan, products, &self.zeros, inputs);
            let [sums, product_sums] = cleared(&mut self.piece_sums);
            kernel.work(Rectified {
                products: &inputs[width..],
                pooled: pool
                    .map(|_| (&self.pooled[block][piece.each(2 * width)], self.slopes.as_slice())),
                out: &input[width..],
                raw: &self.raw[layer - 1][rows.clone()],
                mean: before.mean(),
                gradient: &mut target[rows],
                residual: !ends_block,
                sums,
                product_sums,
            });
            add_up(&mut self.gradient_sums, &self.piece_sums);
        }
    }

    /// From the gradient of the stem's output to those of its weights.
    pub(super) fn stem_backward(&mut self, norm: &Norm) {
        let (kernel, width) = (self.kernel, self.width);
        for piece in &self.pieces {
            let rows = piece.rows(width);
            let gradient = &mut self.products[width..][..rows.len()];
            kernel.work(Normalised {
                gradient: &self.outer[rows.clone()],
                raw: &self.raw[0][rows],
                slopes: norm.slopes(),
                out: gradient,
            });
            let planes = &self.planes[piece.each(PLANES)];
            kernel.work(StemGradient { planes, gradient, width, sums: &mut self.sums.stem });
            let bias = &mut self.bias[piece.each(width)];
            kernel.work(SpotSums { rows: gradient, width, out: bias });
            let job = Outer {
                input: &self.globals[piece.each(GLOBALS_WIDTH)],
                inputs: GLOBALS_WIDTH,
                gradient: bias,
                outputs: width,
                pairs: &self.shapes[piece.shape].global_pairs,
            };
            kernel.add_outer(&job, &mut self.sums.globals);
        }
    }
}

/// A layer over the board, without bias, residual or rectifier.
fn board(
    kernel: Kernel,
    layer: &Layer,
    plan: &Plan,
    input: &[f32],
    zeros: &[f32],
    out: &mut [f32],
) {
    bare(kernel, layer, Rows::Board(plan), input, zeros, out);
}

/// A linear map of rows that lie one after the other.
fn each(kernel: Kernel, layer: &Layer, input: &[f32], zeros: &[f32], out: &mut [f32]) {
    bare(kernel, layer, Rows::Each(out.len() / layer.outputs), input, zeros, out);
}

/// The products of some rows and nothing else.
fn bare(
    kernel: Kernel,
    layer: &Layer,
    rows: Rows<'_>,
    input: &[f32],
    zeros: &[f32],
    out: &mut [f32],
) {
    let job = Job {
        layer,
        rows,
        input,
        bias: zeros,
        bias_by_position: false,
        residual: None,
        relu: false,
    };
    kernel.run(&job, false, out);
}

/// Adds the gradient of a convolution's weights: the products of its input's rows and the gradient's.
fn add_taps(
    kernel: Kernel,
    shape: &Shape,
    (input, gradient): (&[f32], &[f32]),
    width: usize,
    sums: &mut [f32],
) {
    let positions = shape.plan.positions();
    for first in (0..positions).step_by(TOGETHER) {
        let last = positions.min(first + TOGETHER);
        for (pairs, sums) in shape.pairs.iter().zip(sums.chunks_exact_mut(width * width)) {
            // Every position has as many pairs of a tap.
            let each = pairs.len() / positions;
            let pairs = &pairs[first * each..last * each];
            let job = Outer { input, inputs: width, gradient, outputs: width, pairs };
            kernel.add_outer(&job, sums);
        }
    }
}

fn cleared(sums: &mut [Vec<f32>; 2]) -> [&mut [f32]; 2] {
    sums.each_mut().map(|sums| {
        sums.fill(0.0);
        sums.as_mut_slice()
    })
}

fn add_up(all: &mut [Vec<f64>; 2], piece: &[Vec<f32>; 2]) {
    for (all, piece) in all.iter_mut().zip(piece) {
        all.iter_mut().zip(piece).for_each(|(all, piece)| *all += f64::from(*piece));
    }
}

/// Copies the real channels of rows.
fn unpad(rows: &[f32], width: usize, channels: usize, out: &mut [f32]) {
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(channels)) {
        out.copy_from_slice(&row[..channels]);
    }
}
