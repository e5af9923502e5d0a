//! A larger network that says what a smaller one says: how a network grows during a run.
//!
//! After Net2Net (Chen, Goodfellow, Shlens 2016), with zeros in place of copied units. Old weights keep their places. An added
//! channel reads with fresh weights but nothing old reads it: those weights start at 0, so the old channels compute what they
//! computed, and since what they would multiply is not 0, they learn from the first step. An added block starts as identity:
//! the factor of its last batch normalisation is 0 (as in every new network) and so are the weights of its pooled bias.
//! Copied units would have to be split and told apart by noise; fresh ones differ by themselves.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::architecture::{Architecture, TensorSpec};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::tensor_file::Tensor;

/// Why a network cannot grow to a size.
#[derive(Debug, Error)]
pub enum GrowError {
    /// It would lose blocks or channels, or differ in more than these.
    #[error(
        "a {from} network cannot grow to {to}: it may gain blocks and channels, and nothing else may change"
    )]
    Size {
        /// What it is.
        from: String,
        /// What it was to become.
        to: String,
    },
    /// The larger network is none.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Whether a network of size `from` can grow to `to`: at least as many blocks and channels, more of one of them, and the rest
/// alike. Auxiliary heads do not count: they are none of a player's.
pub fn can_grow(from: &Architecture, to: &Architecture) -> bool {
    let to = to.with_auxiliary(from.auxiliary);
    let resized = Architecture { blocks: to.blocks, channels: to.channels, ..*from };
    *from != to && resized == to && to.blocks >= from.blocks && to.channels >= from.channels
}

/// The network of a checkpoint in the size `to`: nearly the same function (the sums have more terms, all 0). The header stays, but
/// for the size and the checksum; a calibration is dropped, because it is one number a channel. Auxiliary heads grow with it, whatever
/// `to` says of them. `seed` makes the added weights.
///
/// # Errors
/// `to` is not larger ([`can_grow`]), or is no valid size.
pub fn grown(
    checkpoint: &Checkpoint,
    to: Architecture,
    seed: u64,
) -> Result<Checkpoint, GrowError> {
    let from = checkpoint.header.architecture;
    if !can_grow(&from, &to) {
        return Err(GrowError::Size { from: from.to_string(), to: to.to_string() });
    }
    let to = to.with_auxiliary(from.auxiliary);
    // Checks the size before anything of that size is made.
    let fresh = Checkpoint::initial(to, Vec::new(), "", seed)?;
    let mut tensors: BTreeMap<String, Tensor> = fresh.tensors;
    for spec in to.tensors() {
        let Some(tensor) = tensors.get_mut(&spec.name) else { continue };
        match checkpoint.tensors.get(&spec.name) {
            Some(old) => put(old, tensor, [from.channels, to.channels]),
            None => start_added(&spec, tensor),
        }
    }
    let mut header = checkpoint.header.clone();
    header.architecture = to;
    Ok(Checkpoint::new(header, tensors)?)
}

/// A tensor of an added block: the pooled bias would change what passes the block.
fn start_added(spec: &TensorSpec, tensor: &mut Tensor) {
    if spec.name.ends_with(".pool.weight") {
        tensor.data.fill(0.0);
    }
}

/// Puts an old tensor into the larger one: old outputs read old inputs as before and added ones with 0; added outputs stay
/// fresh. `channels`: before and after.
fn put(old: &Tensor, new: &mut Tensor, channels: [usize; 2]) {
    let axis = |tensor: &Tensor, at: usize| tensor.shape.get(at).copied().unwrap_or(1);
    let taps = axis(old, 2);
    let (inputs, old_inputs) = (axis(new, 1), axis(old, 1));
    for output in 0..axis(old, 0) {
        let row = output * inputs * taps;
        new.data[row..row + inputs * taps].fill(0.0);
        for input in 0..old_inputs {
            let to = row + place(input, old_inputs, inputs, channels) * taps;
            let from = (output * old_inputs + input) * taps;
            new.data[to..to + taps].copy_from_slice(&old.data[from..from + taps]);
        }
    }
}

/// Where an old input of `old` lies among `new`. Pooled inputs are two halves, means and maxima, each with its added channels
/// behind its old ones; elsewhere what was added is behind.
fn place(input: usize, old: usize, new: usize, [before, after]: [usize; 2]) -> usize {
    let pooled = old == 2 * before && new == 2 * after;
    if pooled && input >= before { input - before + after } else { input }
}
