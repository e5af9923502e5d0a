//! Which evaluator serves a checkpoint: the one place that knows the back ends.

use gipf_model::{Checkpoint, Evaluator, NativeEvaluator};
use gipf_model_torch::{Device, TorchEvaluator};
use gipf_selfplay::{Method, Network, SearchConfig};

/// Any back end.
pub type BoxedEvaluator = Box<dyn Evaluator>;

/// An evaluator of a checkpoint on a device, for one thread: this project's own kernels on the CPU, libtorch elsewhere.
///
/// # Errors
/// The device refuses the network.
pub fn evaluator(checkpoint: &Checkpoint, device: Device) -> anyhow::Result<BoxedEvaluator> {
    Ok(match device {
        Device::Cpu => Box::new(NativeEvaluator::new(checkpoint)),
        device => Box::new(TorchEvaluator::from_checkpoint(checkpoint, device, 1)?),
    })
}

/// A checkpoint's network with its search, for a match.
///
/// # Errors
/// The device refuses the network.
pub fn network(
    name: &str,
    method: Method,
    checkpoint: &Checkpoint,
    device: Device,
) -> anyhow::Result<Network<BoxedEvaluator>> {
    Ok(Network {
        name: name.to_owned(),
        evaluator: evaluator(checkpoint, device)?,
        search: SearchConfig { method, ..SearchConfig::default() },
        checkpoint: checkpoint.header.step,
    })
}
