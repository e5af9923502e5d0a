//! The network in int8: the trunk's convolutions and the heads' first layers multiply bytes, the rest stays in f32.
//!
//! Activations are unsigned: everything that is read has passed a rectifier. Each channel has its own step, from the
//! calibration; the steps are multiplied into the weights, which are then scaled for each output channel. The residual stream, the
//! sums that enter it, the first layer, whose planes are binary, and all that follows a pool are f32, with every product
//! rounded: so the result is the same to the bit on every kernel, in every batch.

use super::calibration::Calibration;
use super::heads::{Arithmetic, HeadRooms, answer};
use super::kernel::{Cell, Float, Int8Job, Int8Kernel, Int8Layer, Rows, SPOTS};
use super::pack::{Network, Packed};
use super::work::{PoolCells, Quantise, Stem};
use super::{Plans, part_length};
use crate::checkpoint::Checkpoint;
use crate::evaluator::{EvalError, Evaluation, Evaluator, check_lengths};
use crate::features::Features;
use std::sync::Arc;

/// Evaluates on the CPU in int8. Cloning shares the weights.
#[derive(Clone, Debug)]
pub struct Int8Evaluator {
    name: String,
    engine: Engine,
}

/// The network with the cells of its kernel.
#[derive(Clone, Debug)]
enum Engine {
    Bytes(Int8Network<u8>),
    Words(Int8Network<i16>),
}

impl Int8Evaluator {
    /// The network of a checkpoint on the fastest kernel of this machine. The calibration must be that of a network of the
    /// same size, best of this one.
    pub fn new(checkpoint: &Checkpoint, calibration: &Calibration) -> Int8Evaluator {
        Self::with_kernel(checkpoint, calibration, Int8Kernel::best())
    }

    /// The same on a given kernel; on another machine than it was made for it falls back to the portable one.
    pub fn with_kernel(
        checkpoint: &Checkpoint,
        calibration: &Calibration,
        kernel: Int8Kernel,
    ) -> Int8Evaluator {
        let kernel = if kernel.is_available() { kernel } else { Int8Kernel::Portable };
        let network = Network::new(checkpoint);
        let name = format!("native int8 {kernel} {}", checkpoint.header.architecture);
        let engine = if kernel.has_byte_cells() {
            Engine::Bytes(Int8Network::new(network, calibration, kernel))
        } else {
            Engine::Words(Int8Network::new(network, calibration, kernel))
        };
        Int8Evaluator { name, engine }
    }
}

impl Evaluator for Int8Evaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        match &mut self.engine {
            Engine::Bytes(network) => network.evaluate(batch, out),
            Engine::Words(network) => network.evaluate(batch, out),
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The steps of a place's channels.
#[derive(Debug)]
struct Steps {
    step: Vec<f32>,
    inverse: Vec<f32>,
}

/// The largest cell.
const LARGEST: f32 = 255.0;

impl Steps {
    /// Those of a place's channels, padded to `width`.
    fn new(calibration: &Calibration, place: usize, width: usize) -> Steps {
        let ranges = calibration.ranges(place, width);
        Steps {
            step: ranges.iter().map(|range| range / LARGEST).collect(),
            inverse: ranges.iter().map(|range| LARGEST / range).collect(),
        }
    }
}

/// A layer's weights in int8: the inputs' steps are part of them, each output has its own scale.
fn quantised<C: Cell>(packed: &Packed, inputs: &Steps) -> Int8Layer<C> {
    let layer = &packed.layer;
    let (taps, width, outputs) = (layer.taps, layer.inputs, layer.outputs);
    let real = |tap: usize, input: usize, out: usize| {
        layer.weights[(tap * width + input) * outputs + out] * inputs.step[input]
    };
    let mut weights = vec![C::Weight::default(); taps * width * outputs];
    let mut factors = vec![0.0; outputs];
    for (out, factor) in factors.iter_mut().enumerate() {
        let all = (0..taps).flat_map(|tap| (0..width).map(move |input| (tap, input)));
        let most = all.clone().map(|(tap, input)| real(tap, input, out).abs()).fold(0.0, f32::max);
        if most == 0.0 {
            continue;
        }
        *factor = most / 127.0;
        for (tap, input) in all {
            let (group, place) = (input / C::GROUP, input % C::GROUP);
            let at = ((tap * (width / C::GROUP) + group) * outputs + out) * C::GROUP + place;
            weights[at] = C::weight((real(tap, input, out) / *factor).round() as i8);
        }
    }
    Int8Layer { taps, inputs: width, outputs, weights, factors }
}

/// A residual block.
#[derive(Debug)]
struct Block<C: Cell> {
    first: Int8Layer<C>,
    second: Int8Layer<C>,
    /// Steps of what the first and the second read.
    read: [Steps; 2],
}

/// What all clones share.
#[derive(Debug)]
struct Weights<C: Cell> {
    /// The biases, and the layers that stay in f32.
    float: Network,
    blocks: Vec<Block<C>>,
    /// Steps at the trunk's end.
    last: Steps,
    policy: Int8Layer<C>,
    value: Int8Layer<C>,
}

#[derive(Clone, Debug)]
struct Int8Network<C: Cell> {
    weights: Arc<Weights<C>>,
    kernel: Int8Kernel,
    plans: Plans,
    rooms: Rooms<C>,
}

/// Room for the numbers of the positions that go through together.
#[derive(Clone, Debug, Default)]
struct Rooms<C> {
    /// The residual stream: rows a spot, after a row of zeros.
    x: Vec<f32>,
    /// The same as cells, and the inside of a block.
    x_cells: Vec<C>,
    h_cells: Vec<C>,
    pooled: Vec<f32>,
    bias: Vec<f32>,
    globals: Vec<f32>,
    policy: Vec<f32>,
    value: Vec<f32>,
    heads: HeadRooms,
}

impl<C: Cell> Int8Network<C> {
    fn new(float: Network, calibration: &Calibration, kernel: Int8Kernel) -> Self {
        let width = float.width;
        let steps = |place: usize| Steps::new(calibration, place, width);
        let block = |(i, block): (usize, &super::pack::Block)| {
            let read = [steps(2 * i), steps(2 * i + 1)];
            let (first, second) =
                (quantised(&block.first, &read[0]), quantised(&block.second, &read[1]));
            Block { first, second, read }
        };
        let last = steps(2 * float.blocks.len());
        let weights = Weights {
            blocks: float.blocks.iter().enumerate().map(block).collect(),
            policy: quantised(&float.policy, &last),
            value: quantised(&float.value, &last),
            last,
            float,
        };
        Self {
            weights: Arc::new(weights),
            kernel,
            plans: Plans::default(),
            rooms: Rooms::default(),
        }
    }

    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) {
        let part = part_length(batch.len(), self.kernel.together(self.weights.float.width));
        for (batch, out) in batch.chunks(part).zip(out.chunks_mut(part)) {
            self.forward(batch, out);
        }
    }

    fn forward(&mut self, batch: &[Features], out: &mut [Evaluation]) {
        let (weights, kernel, rooms) = (&*self.weights, self.kernel, &mut self.rooms);
        let network = &weights.float;
        let (count, width) = (batch.len(), network.width);
        let plan = self.plans.of(count, || kernel.plan(count, width));
        let how = Arithmetic { kernel: kernel.float(), rounded: true };
        // Behind the row of zeros.
        let size = (1 + count * SPOTS) * width;
        rooms.x.resize(size, 0.0);
        rooms.x_cells.resize(size, C::default());
        rooms.h_cells.resize(size, C::default());
        how.stem_globals(network, batch, &mut rooms.globals, &mut rooms.bias);
        let stem = Stem { network, batch, globals: &rooms.bias, out: &mut rooms.x[width..] };
        how.kernel.work(stem);
        how.kernel.work(Quantise {
            rows: &rooms.x[width..],
            inverse: &weights.reads(0).inverse,
            out: &mut rooms.x_cells[width..],
        });
        for (i, (block, float)) in weights.blocks.iter().zip(&network.blocks).enumerate() {
            kernel.run(&mut Int8Job {
                layer: &block.first,
                rows: Rows::Board(plan),
                input: &rooms.x_cells,
                bias: &float.first.bias,
                bias_by_position: false,
                float: Float::Drop,
                cells: Some((&mut rooms.h_cells, &block.read[1].inverse)),
            });
            if let Some(pool) = &float.pool {
                rooms.pooled.resize(count * 2 * width, 0.0);
                how.kernel.work(PoolCells {
                    rows: &rooms.h_cells[width..],
                    steps: &block.read[1].step,
                    out: &mut rooms.pooled,
                });
                how.each(pool, count, &rooms.pooled, false, &mut rooms.bias);
            }
            kernel.run(&mut Int8Job {
                layer: &block.second,
                rows: Rows::Board(plan),
                input: &rooms.h_cells,
                bias: if float.pool.is_some() { &rooms.bias } else { &float.second.bias },
                bias_by_position: float.pool.is_some(),
                float: Float::Add(&mut rooms.x),
                cells: Some((&mut rooms.x_cells, &weights.reads(i + 1).inverse)),
            });
        }
        for (layer, bias, room) in [
            (&weights.policy, &network.policy.bias, &mut rooms.policy),
            (&weights.value, &network.value.bias, &mut rooms.value),
        ] {
            room.resize(count * SPOTS * layer.outputs, 0.0);
            kernel.run(&mut Int8Job {
                layer,
                rows: Rows::Each(count * SPOTS),
                input: &rooms.x_cells[width..],
                bias,
                bias_by_position: false,
                float: Float::Write(room),
                cells: None,
            });
        }
        let first = (rooms.policy.as_mut_slice(), rooms.value.as_slice());
        answer(network, how, batch, first, &mut rooms.heads, out);
    }
}

impl<C: Cell> Weights<C> {
    /// The steps of what the `i`-th block reads; after the last, of what the heads read.
    fn reads(&self, i: usize) -> &Steps {
        self.blocks.get(i).map_or(&self.last, |block| &block.read[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::WeightFormat;
    use crate::native::calibrate;
    use std::path::Path;

    /// The layers in bytes.
    fn layers(checkpoint: &Checkpoint) -> Vec<Int8Layer<u8>> {
        let calibration = checkpoint.calibration.as_ref().expect("a calibration");
        let network = Network::new(checkpoint);
        let network = Int8Network::<u8>::new(network, calibration, Int8Kernel::Portable);
        let weights = &network.weights;
        let blocks = weights.blocks.iter().flat_map(|block| [&block.first, &block.second]);
        blocks.chain([&weights.policy, &weights.value]).cloned().collect()
    }

    #[test]
    fn a_file_in_int8_holds_the_kernels_own_bytes() {
        let path = Path::new("../tests/data/checkpoints/standard-4x32.safetensors");
        let trained = Checkpoint::load(path).expect("a checkpoint");
        let mut features = Features::new();
        let start = "standard".parse::<gipf_core::Rules>().expect("rules").start();
        let mut actions = Vec::new();
        start.actions(&mut actions);
        features.fill(&start, &actions);
        let calibration = calibrate(&trained, &[features]);
        let trained = trained.with_calibration(calibration).expect("fits");
        let small = trained.clone().rounded(WeightFormat::Int8).expect("rounds");
        let bytes = small.to_bytes().expect("bytes");
        let read = Checkpoint::from_bytes("small", &bytes).expect("reads");
        for (from_file, from_weights) in layers(&read).iter().zip(layers(&trained)) {
            let differing = from_file.weights.iter().zip(&from_weights.weights);
            let (count, all) =
                (differing.filter(|(a, b)| a != b).count(), from_weights.weights.len());
            // A number halfway between two bytes may go to either.
            assert!(count <= 1 + all / 10_000, "{count} of {all} bytes differ");
            for (a, b) in from_file.factors.iter().zip(&from_weights.factors) {
                assert!((a - b).abs() <= b.abs() / 65536.0, "factor {a}, not {b}");
            }
        }
    }
}
