//! Which evaluator serves a checkpoint: the one place that knows the back ends.

use gipf_core::{Play, Position, Rules, playout};
use gipf_model::{
    Calibration, Checkpoint, Evaluator, Features, Int8Evaluator, NativeEvaluator, calibrate,
};
use gipf_model_torch::{Device, Precision, TorchEvaluator};
use gipf_selfplay::{ExecutorMeter, Method, Network, RemoteEvaluator, SearchConfig};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::config::{CpuPrecision, GpuPrecision};

/// Any back end.
pub type BoxedEvaluator = Box<dyn Evaluator>;

/// An evaluator of a checkpoint on a device, for one thread: this project's own kernels on the CPU, libtorch elsewhere.
///
/// # Errors
/// The device refuses the network.
pub fn evaluator(checkpoint: &Checkpoint, device: Device) -> anyhow::Result<BoxedEvaluator> {
    evaluator_with(checkpoint, device, CpuPrecision::F32)
}

/// The same with a precision for the CPU; other devices have their own.
///
/// # Errors
/// The device refuses the network.
pub fn evaluator_with(
    checkpoint: &Checkpoint,
    device: Device,
    precision: CpuPrecision,
) -> anyhow::Result<BoxedEvaluator> {
    Ok(match (device, precision) {
        (Device::Cpu, CpuPrecision::F32) => Box::new(NativeEvaluator::new(checkpoint)),
        (Device::Cpu, CpuPrecision::Int8) => Box::new(int8(checkpoint)),
        (device, _) => Box::new(TorchEvaluator::from_checkpoint(checkpoint, device, 1)?),
    })
}

/// A checkpoint in int8; without a calibration it is calibrated here, on positions of random games by its rules.
pub fn int8(checkpoint: &Checkpoint) -> Int8Evaluator {
    let made: Calibration;
    let calibration = match &checkpoint.calibration {
        Some(calibration) => calibration,
        None => {
            made = calibrate(checkpoint, &random_positions(&checkpoint.header.rules));
            &made
        }
    };
    Int8Evaluator::new(checkpoint, calibration)
}

/// Positions that calibrate a network.
pub const CALIBRATION_POSITIONS: usize = 512;

/// Positions of random games, by these rules in turn; those that this program cannot read are left out, and where none is left the
/// games are `standard`.
pub fn random_positions(rules: &[String]) -> Vec<Features> {
    let mut starts: Vec<Position> = rules
        .iter()
        .filter_map(|rules| rules.parse().ok())
        .map(|rules: Rules| rules.start())
        .collect();
    if starts.is_empty() {
        starts.extend("standard".parse::<Rules>().map(|rules| rules.start()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut found, mut actions) = (Vec::new(), Vec::<Play>::new());
    // One position a game, each a play later than the game before: from every stage of a random game.
    const STAGES: u32 = 40;
    for (game, start) in (0..).zip(starts.iter().cycle()).take(2 * CALIBRATION_POSITIONS) {
        let mut position = *start;
        playout(&mut position, &mut rng, game / starts.len() as u32 % STAGES, &mut actions);
        if position.decider().is_some() && found.len() < CALIBRATION_POSITIONS {
            found.push(features_of(&position, &mut actions));
        }
    }
    found
}

/// What a network sees of a position; `actions` is room.
pub fn features_of(position: &Position, actions: &mut Vec<Play>) -> Features {
    position.actions(actions);
    let mut features = Features::new();
    features.fill(position, actions);
    features
}

/// The most positions that a GPU evaluates at once, however many workers wait.
const GPU_BATCH: usize = 16_384;

/// An evaluator for each of `count` workers. On the CPU each has its own, with the weights in common; on a GPU one executor
/// evaluates for all of them. Both with numbers of their precision.
///
/// # Errors
/// The device refuses the network, or the executor's thread cannot be started.
pub fn for_workers(
    checkpoint: &Checkpoint,
    device: Device,
    count: usize,
    (cpu, gpu): (CpuPrecision, GpuPrecision),
    meter: &ExecutorMeter,
) -> anyhow::Result<Vec<BoxedEvaluator>> {
    if device == Device::Cpu {
        fn each<E: Evaluator + Clone + 'static>(evaluator: E, count: usize) -> Vec<BoxedEvaluator> {
            (0..count).map(|_| Box::new(evaluator.clone()) as BoxedEvaluator).collect()
        }
        return Ok(match cpu {
            CpuPrecision::F32 => each(NativeEvaluator::new(checkpoint), count),
            CpuPrecision::Int8 => each(int8(checkpoint), count),
        });
    }
    let precision = match gpu {
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
    network_with(name, method, checkpoint, device, CpuPrecision::F32)
}

/// The same with a precision for the CPU.
///
/// # Errors
/// The device refuses the network.
pub fn network_with(
    name: &str,
    method: Method,
    checkpoint: &Checkpoint,
    device: Device,
    precision: CpuPrecision,
) -> anyhow::Result<Network<BoxedEvaluator>> {
    Ok(Network {
        name: name.to_owned(),
        evaluator: evaluator_with(checkpoint, device, precision)?,
        search: SearchConfig { method, ..SearchConfig::default() },
        checkpoint: checkpoint.header.step,
    })
}
