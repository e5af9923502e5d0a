//! The network without libtorch: kernels on the 37 spots, weights packed once a checkpoint, no allocation once warm.
//!
//! A convolution over a spot and its six neighbours is 37 x 7 products of rows where a square board of 7 x 7 with 3 x 3
//! kernels has 49 x 9, so nearly half of the work is saved, and 42 of the 259 taps, which fall outside the board, are left out
//! where it can be done. The first layer adds one row of weights for each piece and tap, since its planes are binary; the
//! policy head computes only the logits of the actions it is asked about.

mod calibration;
mod heads;
mod int8;
mod kernel;
mod pack;
pub mod training;
mod work;

pub use calibration::{Calibration, CalibrationError, calibrate};
pub use int8::Int8Evaluator;
pub use kernel::{Int8Kernel, Kernel};

use crate::checkpoint::Checkpoint;
use crate::evaluator::{EvalError, Evaluation, Evaluator, check_lengths};
use crate::features::Features;
use heads::{Arithmetic, HeadRooms, answer};
use kernel::{Job, Plan, Rows, SPOTS};
use pack::Network;
use std::sync::Arc;
use work::{Pool, Stem};

/// Evaluates on the CPU in f32 with this crate's own kernels. Cloning shares the weights.
#[derive(Clone, Debug)]
pub struct NativeEvaluator {
    network: Arc<Network>,
    name: String,
    kernel: Kernel,
    plans: Plans,
    rooms: Rooms,
}

/// Room for the numbers of the positions that go through together.
#[derive(Clone, Debug, Default)]
struct Rooms {
    /// Rows a spot, after a row of zeros: the trunk, the inside of a block, and the trunk to be.
    x: Vec<f32>,
    h: Vec<f32>,
    y: Vec<f32>,
    pooled: Vec<f32>,
    bias: Vec<f32>,
    globals: Vec<f32>,
    policy: Vec<f32>,
    value: Vec<f32>,
    heads: HeadRooms,
}

/// The plans for the numbers of positions that have come so far.
#[derive(Clone, Debug, Default)]
struct Plans(Vec<Plan>);

impl Plans {
    /// The plan for so many positions, made at its first use.
    fn of(&mut self, positions: usize, make: impl FnOnce() -> Plan) -> &Plan {
        let at = match self.0.iter().position(|plan| plan.positions() == positions) {
            Some(at) => at,
            None => {
                self.0.push(make());
                self.0.len() - 1
            }
        };
        &self.0[at]
    }
}

/// Positions of the parts of a batch of `length`, at most `most` each and all nearly the same.
fn part_length(length: usize, most: usize) -> usize {
    length.div_ceil(length.div_ceil(most).max(1)).max(1)
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
        NativeEvaluator { network, name, kernel, plans: Plans::default(), rooms: Rooms::default() }
    }

    /// Positions that go through the network together.
    fn together(&self) -> usize {
        self.kernel.together(self.network.width)
    }

    /// Evaluates positions together. `see` is shown the rows of every layer that int8 reads from, in the order of the layers.
    fn forward(
        &mut self,
        batch: &[Features],
        out: &mut [Evaluation],
        mut see: impl FnMut(usize, &[f32]),
    ) {
        let (network, kernel, rooms) = (&*self.network, self.kernel, &mut self.rooms);
        let (count, width) = (batch.len(), network.width);
        let plan = self.plans.of(count, || kernel.plan(count, width));
        let how = Arithmetic { kernel, rounded: false };
        // Behind the row of zeros.
        let size = (1 + count * SPOTS) * width;
        for room in [&mut rooms.x, &mut rooms.h, &mut rooms.y] {
            room.resize(size, 0.0);
        }
        how.stem_globals(network, batch, &mut rooms.globals, &mut rooms.bias);
        kernel.work(Stem { network, batch, globals: &rooms.bias, out: &mut rooms.x[width..] });
        for (i, block) in network.blocks.iter().enumerate() {
            see(2 * i, &rooms.x[width..]);
            let job = Job {
                layer: &block.first.layer,
                rows: Rows::Board(plan),
                input: &rooms.x,
                bias: &block.first.bias,
                bias_by_position: false,
                residual: None,
                relu: true,
            };
            kernel.run(&job, false, &mut rooms.h);
            see(2 * i + 1, &rooms.h[width..]);
            if let Some(pool) = &block.pool {
                rooms.pooled.resize(count * 2 * width, 0.0);
                let (rows, out) = (&rooms.h[width..], rooms.pooled.as_mut_slice());
                kernel.work(Pool { rows, width, out, out_stride: 2 * width });
                how.each(pool, count, &rooms.pooled, false, &mut rooms.bias);
            }
            let job = Job {
                layer: &block.second.layer,
                rows: Rows::Board(plan),
                input: &rooms.h,
                bias: if block.pool.is_some() { &rooms.bias } else { &block.second.bias },
                bias_by_position: block.pool.is_some(),
                residual: Some(&rooms.x),
                relu: true,
            };
            kernel.run(&job, false, &mut rooms.y);
            std::mem::swap(&mut rooms.x, &mut rooms.y);
        }
        let trunk = &rooms.x[width..];
        see(2 * network.blocks.len(), trunk);
        how.each(&network.policy, count * SPOTS, trunk, true, &mut rooms.policy);
        how.each(&network.value, count * SPOTS, trunk, true, &mut rooms.value);
        let first = (rooms.policy.as_mut_slice(), rooms.value.as_slice());
        answer(network, how, batch, first, &mut rooms.heads, out);
    }
}

impl Evaluator for NativeEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        let part = part_length(batch.len(), self.together());
        for (batch, out) in batch.chunks(part).zip(out.chunks_mut(part)) {
            self.forward(batch, out, |_, _| ());
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
