//! A checkpoint's tensors as the native network wants them: batch norm folded, weights packed, once a checkpoint.

use super::kernel::{Layer, PAD, SPOTS, neighbours};
use crate::architecture::{Architecture, TAPS};
use crate::checkpoint::Checkpoint;
use crate::features::{BOARD, GLOBALS, PLANES};
use crate::policy::{POLICY_GLOBALS, POLICY_PLANES};
use gipf_core::Spot;

/// A layer with the bias its sums start from.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) layer: Layer,
    /// `outputs` numbers, 0 past the real ones.
    pub(super) bias: Vec<f32>,
}

/// A residual block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) first: Packed,
    pub(super) second: Packed,
    /// From the pooled first half to what the second half's sums start from.
    pub(super) pool: Option<Packed>,
}

/// The whole network.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// Channels of the trunk, padded.
    pub(super) width: usize,
    /// Channels of the value head, padded.
    pub(super) value_width: usize,
    /// `[tap][plane][channel]`: planes are binary, so the first layer adds rows of this.
    pub(super) stem: Vec<f32>,
    /// `[spot][channel]`: what the plane of the whole board adds to each spot.
    pub(super) stem_board: Vec<f32>,
    pub(super) stem_globals: Packed,
    pub(super) blocks: Vec<Block>,
    pub(super) policy: Packed,
    pub(super) policy_pool: Packed,
    /// `[plane][channel]` and a bias each: a logit is one product of two rows.
    pub(super) policy_planes: Vec<f32>,
    pub(super) policy_bias: Vec<f32>,
    pub(super) policy_globals: Packed,
    pub(super) value: Packed,
    pub(super) value_hidden: Packed,
    /// Win, loss, unfinished, plays left.
    pub(super) value_out: Packed,
}

fn padded(channels: usize) -> usize {
    channels.next_multiple_of(PAD)
}

/// Reads tensors of a checkpoint, which has checked that they all are there in their shapes.
struct Reader<'a>(&'a Checkpoint);

impl Reader<'_> {
    fn get(&self, name: &str) -> &[f32] {
        self.0.tensors.get(name).map_or(&[], |tensor| &tensor.data)
    }

    /// A layer from `[out][in][taps]` weights, each output scaled and shifted. `place` says where an input lies in its row.
    fn layer(
        &self,
        name: &str,
        taps: usize,
        affine: &[(f32, f32)],
        input_stride: usize,
        place: impl Fn(usize) -> usize,
    ) -> Packed {
        let weights = self.get(&format!("{name}.weight"));
        let (real, outputs) = (affine.len(), padded(affine.len()));
        let inputs = weights.len() / (real * taps).max(1);
        let mut packed = vec![0.0; taps * input_stride * outputs];
        for (out, (factor, _)) in affine.iter().enumerate() {
            for input in 0..inputs {
                for tap in 0..taps {
                    packed[(tap * input_stride + place(input)) * outputs + out] =
                        factor * weights[(out * inputs + input) * taps + tap];
                }
            }
        }
        let mut bias = vec![0.0; outputs];
        for (bias, (_, shift)) in bias.iter_mut().zip(affine) {
            *bias = *shift;
        }
        let layer = Layer { taps, inputs: input_stride, input_stride, outputs, weights: packed };
        Packed { layer, bias }
    }

    fn biases(&self, name: &str) -> Vec<(f32, f32)> {
        self.get(&format!("{name}.bias")).iter().map(|bias| (1.0, *bias)).collect()
    }
}

impl Network {
    pub(super) fn new(checkpoint: &Checkpoint) -> Network {
        let read = Reader(checkpoint);
        // The auxiliary heads are for training alone.
        let Architecture { blocks, channels, global_pooling, value_channels, value_hidden, .. } =
            checkpoint.header.architecture;
        let (width, value_width) = (padded(channels), padded(value_channels));
        // Pooled rows are the means, then the largest, each padded.
        let pooled = |channels: usize| {
            move |input: usize| {
                if input < channels { input } else { input - channels + padded(channels) }
            }
        };
        let plain = |input: usize| input;
        let no_shift = |norm: &[(f32, f32)]| -> Vec<(f32, f32)> {
            norm.iter().map(|(factor, _)| (*factor, 0.0)).collect()
        };
        let stem_norm = checkpoint.folded_norm("stem.bn");
        let block = |i: usize| {
            let name = |part: &str| format!("blocks.{i}.{part}");
            let seven = |conv: &str, bn: &str| {
                read.layer(&name(conv), TAPS, &checkpoint.folded_norm(&name(bn)), width, plain)
            };
            let second = seven("conv2", "bn2");
            // The pool's sums start from the second half's bias, so that one vector holds both.
            let pool = global_pooling.then(|| {
                let identity = vec![(1.0, 0.0); channels];
                let mut pool = read.layer(&name("pool"), 1, &identity, 2 * width, pooled(channels));
                pool.bias.clone_from(&second.bias);
                pool
            });
            Block { first: seven("conv1", "bn1"), second, pool }
        };
        let hidden = |input: usize| {
            if input < 2 * value_channels {
                pooled(value_channels)(input)
            } else {
                input - 2 * value_channels + 2 * value_width
            }
        };
        let out: Vec<(f32, f32)> =
            [read.biases("value.outcome"), read.biases("value.plays_left")].concat();
        let mut value_out = read.layer("value.outcome", 1, &out[..3], padded(value_hidden), plain);
        let last = read.layer("value.plays_left", 1, &out[3..], padded(value_hidden), plain);
        for (row, last) in
            value_out.layer.weights.chunks_mut(PAD).zip(last.layer.weights.chunks(PAD))
        {
            row[3] = last[0];
        }
        value_out.bias[3] = last.bias[0];
        let stem = stem_rows(read.get("stem.conv.weight"), &stem_norm, width);
        Network {
            width,
            value_width,
            stem_board: board_rows(&stem, width),
            stem,
            stem_globals: {
                let mut globals =
                    read.layer("stem.globals", 1, &no_shift(&stem_norm), GLOBALS, plain);
                for (bias, (_, shift)) in globals.bias.iter_mut().zip(&stem_norm) {
                    *bias = *shift;
                }
                globals
            },
            blocks: (0..blocks).map(block).collect(),
            policy: read.layer(
                "policy.conv",
                1,
                &checkpoint.folded_norm("policy.bn"),
                width,
                plain,
            ),
            policy_pool: read.layer(
                "policy.pool",
                1,
                &read.biases("policy.pool"),
                2 * width,
                pooled(channels),
            ),
            policy_planes: rows(read.get("policy.planes.weight"), POLICY_PLANES, width),
            policy_bias: read.get("policy.planes.bias").to_vec(),
            policy_globals: {
                let biases = read.biases("policy.globals");
                debug_assert_eq!(biases.len(), POLICY_GLOBALS);
                read.layer("policy.globals", 1, &biases, 2 * width, pooled(channels))
            },
            value: read.layer("value.conv", 1, &checkpoint.folded_norm("value.bn"), width, plain),
            value_hidden: read.layer(
                "value.hidden",
                1,
                &read.biases("value.hidden"),
                2 * value_width + GLOBALS,
                hidden,
            ),
            value_out,
        }
    }
}

/// `[out][plane][tap]` weights as `[tap][plane][out]`, scaled by the batch norm.
fn stem_rows(weights: &[f32], norm: &[(f32, f32)], width: usize) -> Vec<f32> {
    let mut packed = vec![0.0; TAPS * PLANES * width];
    for (out, (factor, _)) in norm.iter().enumerate() {
        for plane in 0..PLANES {
            for tap in 0..TAPS {
                packed[(tap * PLANES + plane) * width + out] =
                    factor * weights[(out * PLANES + plane) * TAPS + tap];
            }
        }
    }
    packed
}

/// What the plane of all spots adds to each.
fn board_rows(stem: &[f32], width: usize) -> Vec<f32> {
    let mut rows = vec![0.0; SPOTS * width];
    for (spot, row) in Spot::ALL.into_iter().zip(rows.chunks_mut(width)) {
        for (tap, _) in
            neighbours(spot).iter().enumerate().filter(|(_, next)| usize::from(**next) < SPOTS)
        {
            let weights = &stem[(tap * PLANES + BOARD) * width..][..width];
            row.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        }
    }
    rows
}

/// Rows of weights, each padded to `width`.
fn rows(weights: &[f32], count: usize, width: usize) -> Vec<f32> {
    let length = weights.len() / count;
    let mut padded = vec![0.0; count * width];
    for (to, from) in padded.chunks_mut(width).zip(weights.chunks(length)) {
        to[..length].copy_from_slice(from);
    }
    padded
}
