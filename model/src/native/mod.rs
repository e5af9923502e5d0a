//! The network without libtorch: a kernel on the 37 spots, weights packed once a checkpoint, no allocation once warm.
//!
//! A convolution over a spot and its six neighbours is 37 x 7 products of rows where a square board of 7 x 7 with 3 x 3
//! kernels has 49 x 9, so nearly half of the work is saved. The first layer adds one row of weights for each piece and
//! tap, since its planes are binary; the policy head computes only the logits of the actions it is asked about.

mod kernel;
mod pack;

pub use kernel::Kernel;

use crate::architecture::PLAYS_LEFT_SCALE;
use crate::checkpoint::Checkpoint;
use crate::evaluator::{EvalError, Evaluation, Evaluator, check_lengths};
use crate::features::{Features, GLOBALS, PLANES};
use crate::policy::{PLANE_SPOTS, POLICY_GLOBALS, POLICY_PLANES};
use kernel::{Job, PAD, SPOTS};
use pack::{Network, Packed, seen_from};
use std::sync::Arc;

/// Positions that go through the network together: their rows stay in the first and second level caches.
const TOGETHER: usize = 8;

/// Evaluates on the CPU with this crate's own kernel. Cloning shares the weights.
#[derive(Clone, Debug)]
pub struct NativeEvaluator {
    network: Arc<Network>,
    name: String,
    kernel: Kernel,
    rooms: Rooms,
}

/// Room for the numbers of [`TOGETHER`] positions.
#[derive(Clone, Debug, Default)]
struct Rooms {
    x: Vec<f32>,
    h: Vec<f32>,
    y: Vec<f32>,
    pooled: Vec<f32>,
    bias: Vec<f32>,
    globals: Vec<f32>,
    policy_globals: Vec<f32>,
    value: Vec<f32>,
    hidden: Vec<f32>,
    hidden_in: Vec<f32>,
    out: Vec<f32>,
}

impl NativeEvaluator {
    /// The network of a checkpoint on the fastest kernel of this machine.
    pub fn new(checkpoint: &Checkpoint) -> NativeEvaluator {
        Self::with_kernel(checkpoint, Kernel::best())
    }

    /// The network of a checkpoint on a given kernel; on another machine than it was made for it falls back to the
    /// portable one.
    pub fn with_kernel(checkpoint: &Checkpoint, kernel: Kernel) -> NativeEvaluator {
        let kernel = if kernel.is_available() { kernel } else { Kernel::Portable };
        let network = Arc::new(Network::new(checkpoint));
        let name = format!("native {kernel} {}", checkpoint.header.architecture);
        NativeEvaluator { network, name, kernel, rooms: Rooms::default() }
    }

    fn forward(&mut self, batch: &[Features], out: &mut [Evaluation]) {
        let (network, kernel, rooms) = (&*self.network, self.kernel, &mut self.rooms);
        let (count, width) = (batch.len(), network.width);
        let rows = count * SPOTS;
        let run = |packed: &Packed, rows: usize, input: &[f32], relu: bool, out: &mut Vec<f32>| {
            out.resize(rows * packed.layer.outputs, 0.0);
            let (layer, bias) = (&packed.layer, &packed.bias);
            let job = Job { layer, rows, input, bias, bias_rows: 0, residual: None, relu };
            kernel.run(&job, out);
        };
        stem(network, kernel, batch, rooms);
        for block in &network.blocks {
            run(&block.first, rows, &rooms.x, true, &mut rooms.h);
            let (bias, bias_rows) = match &block.pool {
                Some(pool) => {
                    pool_rows(&rooms.h, count, width, 2 * width, &mut rooms.pooled);
                    run(pool, count, &rooms.pooled, false, &mut rooms.bias);
                    (&rooms.bias, SPOTS)
                }
                None => (&block.second.bias, 0),
            };
            rooms.y.resize(rows * width, 0.0);
            let job = Job {
                layer: &block.second.layer,
                rows,
                input: &rooms.h,
                bias,
                bias_rows,
                residual: Some(&rooms.x),
                relu: true,
            };
            kernel.run(&job, &mut rooms.y);
            std::mem::swap(&mut rooms.x, &mut rooms.y);
        }
        // The policy head: what its pool adds is the same on all spots of a position.
        run(&network.policy, rows, &rooms.x, true, &mut rooms.h);
        pool_rows(&rooms.h, count, width, 2 * width, &mut rooms.pooled);
        run(&network.policy_pool, count, &rooms.pooled, false, &mut rooms.bias);
        run(&network.policy_globals, count, &rooms.pooled, false, &mut rooms.policy_globals);
        for (rows, bias) in rooms.h.chunks_mut(SPOTS * width).zip(rooms.bias.chunks(width)) {
            for row in rows.chunks_mut(width) {
                row.iter_mut()
                    .zip(bias)
                    .for_each(|(value, bias)| *value = (*value + bias).max(0.0));
            }
        }
        // The value head.
        let value_width = network.value_width;
        let stride = network.value_hidden.layer.input_stride;
        run(&network.value, rows, &rooms.x, true, &mut rooms.value);
        pool_rows(&rooms.value, count, value_width, stride, &mut rooms.hidden_in);
        for (row, features) in rooms.hidden_in.chunks_mut(stride).zip(batch) {
            row[2 * value_width..].copy_from_slice(&features.globals);
        }
        run(&network.value_hidden, count, &rooms.hidden_in, true, &mut rooms.hidden);
        run(&network.value_out, count, &rooms.hidden, false, &mut rooms.out);
        for (at, (features, evaluation)) in batch.iter().zip(out).enumerate() {
            let globals = &rooms.policy_globals[at * PAD..][..POLICY_GLOBALS];
            let spots = &rooms.h[at * SPOTS * width..][..SPOTS * width];
            let logit = |index: u16| {
                let (plane, spot) =
                    (usize::from(index) / PLANE_SPOTS, usize::from(index) % PLANE_SPOTS);
                if plane == POLICY_PLANES {
                    return globals[spot];
                }
                let row = &spots[spot * width..][..width];
                let weights = &network.policy_planes[plane * width..][..width];
                network.policy_bias[plane] + product(row, weights)
            };
            features.policy.logits_with(logit, &mut evaluation.logits);
            outcome(&rooms.out[at * PAD..][..4], evaluation);
        }
    }
}

impl Evaluator for NativeEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        for (batch, out) in batch.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            self.forward(batch, out);
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The first layer: globals give what every spot starts from; each plane's spots add a row of weights to all that see them.
fn stem(network: &Network, kernel: Kernel, batch: &[Features], rooms: &mut Rooms) {
    let width = network.width;
    rooms.globals.clear();
    batch.iter().for_each(|features| rooms.globals.extend_from_slice(&features.globals));
    debug_assert_eq!(rooms.globals.len(), batch.len() * GLOBALS);
    rooms.bias.resize(batch.len() * width, 0.0);
    let Packed { layer, bias } = &network.stem_globals;
    let (rows, input) = (batch.len(), rooms.globals.as_slice());
    let job = Job { layer, rows, input, bias, bias_rows: 0, residual: None, relu: false };
    kernel.run(&job, &mut rooms.bias);
    rooms.x.resize(batch.len() * SPOTS * width, 0.0);
    let positions = rooms.x.chunks_mut(SPOTS * width).zip(rooms.bias.chunks(width));
    for (features, (x, bias)) in batch.iter().zip(positions) {
        x.chunks_mut(width).for_each(|row| row.copy_from_slice(bias));
        for (plane, spots) in features.planes.iter().enumerate() {
            for spot in spots.iter() {
                for (row, tap) in seen_from(spot) {
                    let weights = &network.stem[(tap * PLANES + plane) * width..][..width];
                    let row = &mut x[row * width..][..width];
                    row.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
                }
            }
        }
        x.iter_mut().for_each(|value| *value = value.max(0.0));
    }
}

/// Means, then largest, of each position's rows: `stride` numbers a position, what is past the two is left 0.
fn pool_rows(rows: &[f32], count: usize, width: usize, stride: usize, out: &mut Vec<f32>) {
    out.clear();
    out.resize(count * stride, 0.0);
    for (rows, out) in rows.chunks(SPOTS * width).zip(out.chunks_mut(stride)) {
        let (mean, rest) = out.split_at_mut(width);
        let most = &mut rest[..width];
        most.fill(f32::NEG_INFINITY);
        for row in rows.chunks(width) {
            for ((mean, most), value) in mean.iter_mut().zip(most.iter_mut()).zip(row) {
                *mean += value;
                *most = most.max(*value);
            }
        }
        mean.iter_mut().for_each(|mean| *mean *= 1.0 / SPOTS as f32);
    }
}

/// The sum of products of two rows, in sixteen sums that are added at the end.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; PAD];
    for (a, b) in a.chunks_exact(PAD).zip(b.chunks_exact(PAD)) {
        for i in 0..PAD {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum()
}

/// Softmax of the three outcomes, and the plays left.
fn outcome(numbers: &[f32], evaluation: &mut Evaluation) {
    let most = numbers[..3].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponentials = [0, 1, 2].map(|i| (numbers[i] - most).exp());
    let sum: f32 = exponentials.iter().sum();
    evaluation.value = exponentials.map(|value| value / sum);
    // Softplus, in the form that overflows for no number.
    let x = numbers[3];
    evaluation.plays_left = (x.max(0.0) + (-x.abs()).exp().ln_1p()) * PLAYS_LEFT_SCALE;
}
