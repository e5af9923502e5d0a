//! Training the trunk on the CPU with this crate's own kernels: forward by the batch's statistics, and backward.
//!
//! The formulas are those of [`crate::Architecture`]; heads and losses are somebody else's, who gives back the gradient of
//! the trunk's output. Forward and backward pass go through the batch a layer at a time, since a layer's normalisation
//! needs the statistics of the whole batch, and within a layer in pieces that stay in the cache: a piece's normalisation,
//! rectifier, pooling, products and statistics are done before the next piece begins.
//!
//! A batch is split into at most [`LANES`] lanes whatever the number of threads, and sums of lanes are added in their order: the
//! results do not depend on who does which lane. A kernel's results differ from another's by rounding.

mod lane;
mod norm;
mod parameters;
mod passes;
mod pieces;

pub use lane::Lane;

use crate::architecture::{Architecture, TensorSpec};
use crate::features::{GLOBALS, PLANES};
use crate::native::kernel::{Kernel, SPOTS};
use gipf_core::SpotSet;
use norm::{Norm, Statistics};
use parameters::{Places, Weights, padded};

/// Into how many lanes a batch is split at most: how many threads can work on it.
const LANES: usize = 8;

/// Who does the lanes of a batch.
pub trait Workers {
    /// Does `work` once for each lane, in any order and as many at a time as wanted, and returns when all are done.
    fn each(&self, lanes: &mut [Lane], work: &(dyn Fn(&mut Lane) + Sync));
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug)]
pub struct OneThread;

impl Workers for OneThread {
    fn each(&self, lanes: &mut [Lane], work: &(dyn Fn(&mut Lane) + Sync)) {
        lanes.iter_mut().for_each(work);
    }
}

/// The trunk of a network that is trained: activations and gradients of one batch at a time. It allocates only when the batch's size
/// changes.
#[derive(Debug)]
pub struct TrunkTrainer {
    kernel: Kernel,
    channels: usize,
    places: Places,
    weights: Weights,
    norms: Vec<Norm>,
    lanes: Vec<Lane>,
    statistics: Statistics,
    gradient_sums: [Vec<f64>; 2],
    batch: usize,
}

impl TrunkTrainer {
    /// A trainer of networks whose tensors lie in two flat arrays, the trained ones and the running statistics, in the order of
    /// `trained` and `running`. A kernel that this machine lacks is replaced by the portable one. `None` where a tensor of
    /// the trunk is in neither list.
    pub fn new(
        architecture: &Architecture,
        trained: &[TensorSpec],
        running: &[TensorSpec],
        kernel: Kernel,
    ) -> Option<TrunkTrainer> {
        let channels = architecture.channels;
        let width = padded(channels);
        Some(TrunkTrainer {
            kernel: if kernel.is_available() { kernel } else { Kernel::Portable },
            channels,
            places: Places::new(architecture, trained, running)?,
            weights: Weights::new(architecture),
            norms: vec![Norm::new(channels); 1 + 2 * architecture.blocks],
            lanes: Vec::new(),
            statistics: Statistics::new(width),
            gradient_sums: [vec![0.0; width], vec![0.0; width]],
            batch: 0,
        })
    }

    /// The forward pass of `b` positions: `planes` is `[b, PLANES]`, `globals` `[b, GLOBALS]`, `trained` and `running` are the flat
    /// arrays. The running statistics move; `trunk`, `[b, 37, channels]`, becomes the trunk's output.
    ///
    /// # Panics
    /// If the lengths do not fit each other, or there is no position.
    pub fn forward(
        &mut self,
        workers: &dyn Workers,
        (planes, globals): (&[SpotSet], &[f32]),
        trained: &[f32],
        running: &mut [f32],
        trunk: &mut [f32],
    ) {
        let batch = planes.len() / PLANES;
        let size = SPOTS * self.channels;
        assert!(batch > 0 && planes.len() == batch * PLANES && globals.len() == batch * GLOBALS);
        assert!(trained.len() == self.places.trained && running.len() == self.places.running);
        assert_eq!(trunk.len(), batch * size);
        self.resize(batch);
        self.weights.pack(self.channels, &self.places, trained);
        let TrunkTrainer { weights, norms, lanes, statistics, places, .. } = self;
        workers.each(lanes, &|lane| {
            lane.take(planes, globals);
            lane.stem(weights);
        });
        for (layer, (norm, places)) in norms.iter_mut().zip(&places.norms).enumerate() {
            statistics.clear();
            lanes.iter().for_each(|lane| statistics.add(&lane.statistics));
            norm.set(statistics, places, trained, running);
            workers.each(lanes, &|lane| lane.forward(layer, norm, weights));
        }
        for lane in lanes.iter() {
            let positions = lane.positions();
            trunk[positions.start * size..positions.end * size].copy_from_slice(&lane.trunk);
        }
    }

    /// The backward pass of the last forward pass: `trunk` is the gradient of its output, `[b, 37, channels]`; the gradients of the
    /// trunk's parameters are added to `gradient`, which is laid out as the trained array.
    ///
    /// # Panics
    /// If the lengths are not those of the last forward pass.
    pub fn backward(&mut self, workers: &dyn Workers, trunk: &[f32], gradient: &mut [f32]) {
        assert!(self.batch > 0 && gradient.len() == self.places.trained);
        assert_eq!(trunk.len(), self.batch * SPOTS * self.channels);
        let TrunkTrainer { weights, norms, lanes, gradient_sums, places, channels, batch, .. } =
            self;
        let last = norms.len() - 1;
        workers.each(lanes, &|lane| lane.begin_backward(trunk, &norms[last]));
        for layer in (0..norms.len()).rev() {
            for (at, sums) in gradient_sums.iter_mut().enumerate() {
                sums.fill(0.0);
                for lane in lanes.iter() {
                    let parts = sums.iter_mut().zip(&lane.gradient_sums[at]);
                    parts.for_each(|(sum, part)| *sum += part);
                }
            }
            let [sums, product_sums] = &*gradient_sums;
            let rows = *batch * SPOTS;
            norms[layer].turn(rows, sums, product_sums, &places.norms[layer], gradient);
            match layer.checked_sub(1) {
                Some(before) => workers.each(lanes, &|lane| {
                    lane.backward(layer, &norms[layer], &norms[before], weights);
                }),
                None => workers.each(lanes, &|lane| lane.stem_backward(&norms[0])),
            }
        }
        if let Some((first, others)) = lanes.split_first_mut() {
            others.iter().for_each(|lane| first.sums.add(&lane.sums));
            first.sums.unpack(*channels, places, gradient);
        }
    }

    /// Makes room for a batch of this size: lanes of whole pieces.
    fn resize(&mut self, batch: usize) {
        if self.batch == batch {
            return;
        }
        let width = padded(self.channels);
        let piece = super::part_length(batch, self.kernel.together(width));
        let pieces = batch.div_ceil(piece);
        let count = LANES.min(pieces);
        let edge = |lane: usize| (pieces * lane / count * piece).min(batch);
        let size = (self.channels, width);
        self.lanes = (0..count)
            .map(|lane| {
                let positions = edge(lane)..edge(lane + 1);
                Lane::new(self.kernel, size, &self.weights, positions, piece)
            })
            .collect();
        self.batch = batch;
    }
}
