//! The speed of evaluation, beside the processor's peak and the same network in libtorch.

use std::time::{Duration, Instant};

use gipf_core::Rules;
use gipf_model::{
    Architecture, Checkpoint, Evaluation, Evaluator, Features, Int8Evaluator, Int8Kernel, Kernel,
    NativeEvaluator, PLANE_SPOTS, PLANES, TAPS, calibrate,
};
use gipf_model_torch::{Device, GridEvaluator, GridForm, TorchEvaluator};
use serde_json::{Map, Value, json};

use super::{Args, Usage, checkpoint, features};
use crate::config::CpuPrecision;
use crate::cpu;
use crate::evaluators::{BoxedEvaluator, evaluator};

/// One turn of each of those that are compared.
const SLICE: f64 = 0.05;

/// A rival with what it has done.
struct Rival {
    evaluator: BoxedEvaluator,
    positions: f64,
    seconds: f64,
}

impl Rival {
    fn new(evaluator: impl Evaluator + 'static) -> Rival {
        Rival { evaluator: Box::new(evaluator), positions: 0.0, seconds: 0.0 }
    }

    /// Evaluates the batch for a slice of processor time.
    fn turn(&mut self, batch: &[Features], out: &mut [Evaluation]) -> anyhow::Result<()> {
        let started = cpu::thread_seconds();
        loop {
            self.evaluator.evaluate(batch, out)?;
            self.positions += batch.len() as f64;
            let seconds = cpu::thread_seconds() - started;
            if seconds >= SLICE {
                self.seconds += seconds;
                return Ok(());
            }
        }
    }

    /// Positions a second of processor time.
    fn speed(&self) -> f64 {
        self.positions / self.seconds
    }
}

/// On the CPU: this project's kernels in f32 and int8, libtorch's forms, and the peak, all on one thread in turns of a few
/// hundredths of a second, so that whatever else the machine does hits all alike; rates are those of processor time. On another
/// device its evaluator alone, by the clock.
pub(super) fn evaluation(
    args: &Args,
    rules: &Rules,
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let checkpoint = checkpoint(args, rules)?;
    let batch: Vec<Features> =
        features(rules, args.batch as usize).into_iter().map(|(features, _)| features).collect();
    if device == Device::Cpu {
        on_cpu(args, &checkpoint, &batch, time)
    } else {
        on_device(&checkpoint, &batch, device, time)
    }
}

fn on_device(
    checkpoint: &Checkpoint,
    batch: &[Features],
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let mut network = evaluator(checkpoint, device)?;
    let mut answers = vec![Evaluation::default(); batch.len()];
    network.evaluate(batch, &mut answers)?;
    let (mut rounds, started) = (0_u64, Instant::now());
    while started.elapsed() < time {
        network.evaluate(batch, &mut answers)?;
        rounds += 1;
    }
    let evaluated = rounds as f64 * batch.len() as f64;
    Ok(json!({
        "evaluator": network.name(),
        "batch": batch.len(),
        "positions_per_second": evaluated / started.elapsed().as_secs_f64(),
    }))
}

fn on_cpu(
    args: &Args,
    checkpoint: &Checkpoint,
    batch: &[Features],
    time: Duration,
) -> anyhow::Result<Value> {
    let (kernel, int8_kernel) = kernels(args)?;
    let calibration = match &checkpoint.calibration {
        Some(calibration) => calibration.clone(),
        None => calibrate(checkpoint, batch),
    };
    let mut float = Rival::new(NativeEvaluator::with_kernel(checkpoint, kernel));
    let mut int8 = Rival::new(Int8Evaluator::with_kernel(checkpoint, &calibration, int8_kernel));
    let mut torch = vec![Rival::new(TorchEvaluator::from_checkpoint(checkpoint, Device::Cpu, 1)?)];
    for form in GridForm::ALL {
        torch.push(Rival::new(GridEvaluator::new(checkpoint, form)?));
    }
    let (with_float, with_int8) = match args.precision {
        None => (true, true),
        Some(only) => (only == CpuPrecision::F32, only == CpuPrecision::Int8),
    };
    let mut answers = vec![Evaluation::default(); batch.len()];
    let mut rivals: Vec<&mut Rival> = Vec::new();
    rivals.extend(with_float.then_some(&mut float));
    rivals.extend(with_int8.then_some(&mut int8));
    rivals.extend(torch.iter_mut());
    for rival in &mut rivals {
        // Tracing, packing and filling the caches are no part of the speed.
        rival.evaluator.evaluate(batch, &mut answers)?;
        rival.evaluator.evaluate(batch, &mut answers)?;
    }
    let (mut work, mut seconds, started) = (0_u64, 0.0, Instant::now());
    while seconds == 0.0 || started.elapsed() < time {
        let before = cpu::thread_seconds();
        while cpu::thread_seconds() < before + SLICE / 2.0 {
            work += kernel.peak_work();
        }
        seconds += cpu::thread_seconds() - before;
        for rival in &mut rivals {
            rival.turn(batch, &mut answers)?;
        }
    }
    drop(rivals);
    let peak = work as f64 / seconds;
    let operations = operations(&checkpoint.header.architecture);
    let best = torch.iter().max_by(|a, b| a.speed().total_cmp(&b.speed()));
    let mut figures = Map::new();
    let mut put = |name: &str, value: Value| {
        figures.insert(name.to_owned(), value);
    };
    put("batch", batch.len().into());
    put("operations_a_position", operations.into());
    put("peak_gflops", (peak / 1e9).into());
    if with_float {
        let speed = float.speed();
        put("evaluator", float.evaluator.name().into());
        put("positions_per_second", speed.into());
        put("gflops", (speed * operations / 1e9).into());
        put("percent_of_peak", (100.0 * speed * operations / peak).into());
    }
    for rival in &torch {
        put(&format!("{} a second", rival.evaluator.name()), rival.speed().into());
    }
    if let (Some(best), true) = (best, with_float) {
        put("torch_positions_per_second", best.speed().into());
        put("ratio_to_torch", (float.speed() / best.speed()).into());
    }
    if with_int8 {
        put("int8_evaluator", int8.evaluator.name().into());
        put("int8_positions_per_second", int8.speed().into());
        if with_float {
            put("int8_ratio_to_f32", (int8.speed() / float.speed()).into());
        }
    }
    Ok(Value::Object(figures))
}

/// Operations of a position, a product and a sum being two: 37 x 7 taps a convolution, and the heads' first layers. What is
/// computed may be less: taps off the board and empty planes can be left out.
fn operations(architecture: &Architecture) -> f64 {
    let (c, v) = (architecture.channels, architecture.value_channels);
    let taps = TAPS * (PLANES * c + architecture.blocks * 2 * c * c);
    (2 * PLANE_SPOTS * (taps + c * c + v * c)) as f64
}

/// The kernels asked for, each precision's fastest where none is.
fn kernels(args: &Args) -> anyhow::Result<(Kernel, Int8Kernel)> {
    let (float, int8) = (Kernel::best(), Int8Kernel::best());
    let Some(name) = &args.kernel else { return Ok((float, int8)) };
    let floats = Kernel::ALL.map(|kernel| (kernel.to_string(), kernel.is_available()));
    let int8s = Int8Kernel::ALL.map(|kernel| (kernel.to_string(), kernel.is_available()));
    match floats.iter().chain(&int8s).find(|(known, _)| known == name) {
        None => {
            return Err(Usage::error(format!(
                "--kernel {}: a kernel is avx512, avx2, portable, avx512-vnni or avx-vnni",
                gipf_player::messages::echo(name)
            )));
        }
        Some((_, false)) => {
            return Err(Usage::error(format!("--kernel {name}: this machine cannot run it")));
        }
        Some(_) => {}
    }
    Ok((
        Kernel::ALL.into_iter().find(|kernel| kernel.to_string() == *name).unwrap_or(float),
        Int8Kernel::ALL.into_iter().find(|kernel| kernel.to_string() == *name).unwrap_or(int8),
    ))
}
