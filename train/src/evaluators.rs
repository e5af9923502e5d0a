//! Which evaluator serves a checkpoint: the one place that knows the back ends.

use gipf_model::{Checkpoint, Evaluator, NativeEvaluator};
use gipf_model_torch::{Device, Precision, TorchEvaluator};
use gipf_selfplay::{ExecutorMeter, Method, Network, RemoteEvaluator, SearchConfig};

use crate::config::GpuPrecision;

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

/// The most positions that a GPU evaluates at once, however many workers wait.
const GPU_BATCH: usize = 16_384;

/// An evaluator for each of `count` workers. On the CPU each has its own, with the weights in common; on a GPU one executor
/// evaluates for all of them, with numbers of this precision.
///
/// # Errors
/// The device refuses the network, or the executor's thread cannot be started.
pub fn for_workers(
    checkpoint: &Checkpoint,
    device: Device,
    count: usize,
    precision: GpuPrecision,
    meter: &ExecutorMeter,
) -> anyhow::Result<Vec<BoxedEvaluator>> {
    if device == Device::Cpu {
        let native = NativeEvaluator::new(checkpoint);
        return Ok((0..count).map(|_| Box::new(native.clone()) as BoxedEvaluator).collect());
    }
    let precision = match precision {
        GpuPrecision::F32 => Precision::F32,
        GpuPrecision::Bf16 => Precision::Bf16,
    };
    let network = TorchEvaluator::with_precision(checkpoint, device, 1, precision)?;
    let handles = RemoteEvaluator::start(network, count, GPU_BATCH, meter)?;
    Ok(handles.into_iter().map(|handle| Box::new(handle) as BoxedEvaluator).collect())
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
