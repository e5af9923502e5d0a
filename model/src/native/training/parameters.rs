//! The trunk's parameters: where they lie in flat arrays, packed for the kernels, and their gradients on the way back.

use crate::architecture::{Architecture, TAPS, TensorSpec};
use crate::features::{GLOBALS, PLANES};
use crate::native::kernel::{Layer, PAD};
use std::ops::Range;

pub(super) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(PAD)
}

/// Globals of a row, padded.
pub(super) const GLOBALS_WIDTH: usize = GLOBALS.next_multiple_of(PAD);

/// The tap that leads back: the spot itself, or the opposite neighbour.
fn back(tap: usize) -> usize {
    if tap == 0 { 0 } else { 1 + (tap + 2) % 6 }
}

/// Where a batch normalisation's numbers lie: the first two in the trained array, the others in the running one.
#[derive(Clone, Debug)]
pub(super) struct NormPlaces {
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
    pub(super) mean: Range<usize>,
    pub(super) var: Range<usize>,
}

/// Where the trunk's tensors lie in flat arrays.
#[derive(Clone, Debug)]
pub(super) struct Places {
    stem: Range<usize>,
    globals: Range<usize>,
    /// Two a block.
    convs: Vec<Range<usize>>,
    /// One a block, or none.
    pools: Vec<Range<usize>>,
    /// The stem's, then two a block.
    pub(super) norms: Vec<NormPlaces>,
    /// Lengths of both arrays.
    pub(super) trained: usize,
    pub(super) running: usize,
}

impl Places {
    /// `trained` and `running` are the tensors in the order in which they follow each other.
    pub(super) fn new(
        architecture: &Architecture,
        trained: &[TensorSpec],
        running: &[TensorSpec],
    ) -> Option<Places> {
        let find = |specs: &[TensorSpec], name: &str| {
            let at = specs.iter().position(|spec| spec.name == name)?;
            let start = specs[..at].iter().map(TensorSpec::len).sum();
            Some(start..start + specs[at].len())
        };
        let norm = |name: &str| {
            Some(NormPlaces {
                weight: find(trained, &format!("{name}.weight"))?,
                bias: find(trained, &format!("{name}.bias"))?,
                mean: find(running, &format!("{name}.mean"))?,
                var: find(running, &format!("{name}.var"))?,
            })
        };
        let (mut convs, mut pools, mut norms) = (Vec::new(), Vec::new(), vec![norm("stem.bn")?]);
        for block in 0..architecture.blocks {
            for half in ["1", "2"] {
                convs.push(find(trained, &format!("blocks.{block}.conv{half}.weight"))?);
                norms.push(norm(&format!("blocks.{block}.bn{half}"))?);
            }
            if architecture.global_pooling {
                pools.push(find(trained, &format!("blocks.{block}.pool.weight"))?);
            }
        }
        Some(Places {
            stem: find(trained, "stem.conv.weight")?,
            globals: find(trained, "stem.globals.weight")?,
            convs,
            pools,
            norms,
            trained: trained.iter().map(TensorSpec::len).sum(),
            running: running.iter().map(TensorSpec::len).sum(),
        })
    }
}

/// A linear map or convolution, and its transpose for the gradient of its input.
#[derive(Clone, Debug)]
pub(super) struct Both {
    pub(super) layer: Layer,
    pub(super) transpose: Layer,
}

/// The trunk's weights, packed.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// `[tap][plane][channel]`.
    pub(super) stem: Vec<f32>,
    pub(super) globals: Layer,
    pub(super) convs: Vec<Both>,
    pub(super) pools: Vec<Both>,
}

fn layer(taps: usize, inputs: usize, outputs: usize) -> Layer {
    let weights = vec![0.0; taps * inputs * outputs];
    Layer { taps, inputs, input_stride: inputs, outputs, weights }
}

impl Weights {
    /// Weights of zero.
    pub(super) fn new(architecture: &Architecture) -> Weights {
        let width = padded(architecture.channels);
        let conv = Both { layer: layer(TAPS, width, width), transpose: layer(TAPS, width, width) };
        let pool =
            Both { layer: layer(1, 2 * width, width), transpose: layer(1, width, 2 * width) };
        let pools = if architecture.global_pooling { architecture.blocks } else { 0 };
        Weights {
            stem: vec![0.0; TAPS * PLANES * width],
            globals: layer(1, GLOBALS_WIDTH, width),
            convs: vec![conv; 2 * architecture.blocks],
            pools: vec![pool; pools],
        }
    }

    /// Packs the weights of a flat array. What is past the real channels stays 0.
    pub(super) fn pack(&mut self, channels: usize, places: &Places, trained: &[f32]) {
        let width = padded(channels);
        let weights = &trained[places.stem.clone()];
        for (row, weights) in weights.chunks_exact(TAPS).enumerate() {
            let (output, plane) = (row / PLANES, row % PLANES);
            for (tap, weight) in weights.iter().enumerate() {
                self.stem[(tap * PLANES + plane) * width + output] = *weight;
            }
        }
        let weights = &trained[places.globals.clone()];
        for (output, weights) in weights.chunks_exact(GLOBALS).enumerate() {
            for (input, weight) in weights.iter().enumerate() {
                self.globals.weights[input * width + output] = *weight;
            }
        }
        for (both, place) in self.convs.iter_mut().zip(&places.convs) {
            for (row, weights) in trained[place.clone()].chunks_exact(TAPS).enumerate() {
                let (output, input) = (row / channels, row % channels);
                for (tap, weight) in weights.iter().enumerate() {
                    both.layer.weights[(tap * width + input) * width + output] = *weight;
                    both.transpose.weights[(back(tap) * width + output) * width + input] = *weight;
                }
            }
        }
        for (both, place) in self.pools.iter_mut().zip(&places.pools) {
            for (output, weights) in trained[place.clone()].chunks_exact(2 * channels).enumerate() {
                for (input, weight) in weights.iter().enumerate() {
                    let input = pooled_place(input, channels);
                    both.layer.weights[input * width + output] = *weight;
                    both.transpose.weights[output * 2 * width + input] = *weight;
                }
            }
        }
    }
}

/// Where an input of a pooling's map lies in its row: means, then largest, both padded.
fn pooled_place(input: usize, channels: usize) -> usize {
    if input < channels { input } else { input - channels + padded(channels) }
}

/// Sums of the gradients of the trunk's weights, laid out as [`Weights`].
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) stem: Vec<f32>,
    pub(super) globals: Vec<f32>,
    pub(super) convs: Vec<Vec<f32>>,
    pub(super) pools: Vec<Vec<f32>>,
}

impl Sums {
    pub(super) fn new(weights: &Weights) -> Sums {
        let like = |both: &Both| vec![0.0; both.layer.weights.len()];
        Sums {
            stem: vec![0.0; weights.stem.len()],
            globals: vec![0.0; weights.globals.weights.len()],
            convs: weights.convs.iter().map(like).collect(),
            pools: weights.pools.iter().map(like).collect(),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &Vec<f32>> {
        [&self.stem, &self.globals].into_iter().chain(&self.convs).chain(&self.pools)
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        let first = [&mut self.stem, &mut self.globals];
        first.into_iter().chain(&mut self.convs).chain(&mut self.pools)
    }

    pub(super) fn clear(&mut self) {
        self.parts_mut().for_each(|part| part.fill(0.0));
    }

    /// Adds another's sums.
    pub(super) fn add(&mut self, other: &Sums) {
        for (sums, other) in self.parts_mut().zip(other.parts()) {
            sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
        }
    }

    /// Adds the sums to a flat gradient.
    pub(super) fn unpack(&self, channels: usize, places: &Places, gradient: &mut [f32]) {
        let width = padded(channels);
        for (row, to) in gradient[places.stem.clone()].chunks_exact_mut(TAPS).enumerate() {
            let (output, plane) = (row / PLANES, row % PLANES);
            for (tap, to) in to.iter_mut().enumerate() {
                *to += self.stem[(tap * PLANES + plane) * width + output];
            }
        }
        for (output, to) in gradient[places.globals.clone()].chunks_exact_mut(GLOBALS).enumerate() {
            for (input, to) in to.iter_mut().enumerate() {
                *to += self.globals[input * width + output];
            }
        }
        for (sums, place) in self.convs.iter().zip(&places.convs) {
            for (row, to) in gradient[place.clone()].chunks_exact_mut(TAPS).enumerate() {
                let (output, input) = (row / channels, row % channels);
                for (tap, to) in to.iter_mut().enumerate() {
                    *to += sums[(tap * width + input) * width + output];
                }
            }
        }
        for (sums, place) in self.pools.iter().zip(&places.pools) {
            for (output, to) in gradient[place.clone()].chunks_exact_mut(2 * channels).enumerate() {
                for (input, to) in to.iter_mut().enumerate() {
                    *to += sums[pooled_place(input, channels) * width + output];
                }
            }
        }
    }
}
