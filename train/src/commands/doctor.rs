//! `gipf doctor`: what this machine and build can do, each part tried.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use gipf_core::{Position, Rules};
use gipf_model::{
    Architecture, Checkpoint, Evaluation, Evaluator, FEATURES_VERSION, Features, Int8Evaluator,
    Int8Kernel, Kernel, NativeEvaluator, POLICY_VERSION, calibrate,
};
use gipf_model_torch::{Device, device_from_name, device_name};
use serde::Serialize;

use super::{Output, Usage};
use crate::evaluators::{evaluator, random_positions};
use crate::run::RunError;

/// Say what this machine and build can do, and try each part; fails when one does not work
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf doctor --device cuda")]
pub(super) struct Args {
    /// Device to try: cpu, cuda, cuda:N or auto; one that is absent is a failure
    #[arg(long, default_value = "auto")]
    device: String,
    /// Folder in which runs are to lie: its disk is tried; the nearest folder that exists where it does not
    #[arg(long, value_name = "DIR", default_value = "runs")]
    run: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Finding {
    part: &'static str,
    ok: bool,
    detail: String,
}

/// The least free space, in MB, at which a run can begin in earnest.
const LEAST_FREE_MB: u64 = 500;
/// Bytes written to measure the disk.
const DISK_PROBE: usize = 32 << 20;
/// Positions in the batch of the forward pass.
const BATCH: usize = 64;

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    super::check_device_name(&args.device)?;
    if args.run.exists() && !args.run.is_dir() {
        return Err(Usage::error(format!("--run: {}", RunError::NotFolder(args.run.clone()))));
    }
    let disk = nearest_folder(&args.run);
    let mut findings = vec![
        fine(
            "program",
            format!(
                "gipf {}, features {FEATURES_VERSION}, policy map {POLICY_VERSION}",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        fine("processor", processor()),
        fine("libtorch", format!("{} in {}", env!("GIPF_LIBTORCH_VERSION"), env!("GIPF_LIBTORCH"))),
        fine("devices", devices()),
        tried("rules", rules),
    ];
    let device = device_from_name(&args.device);
    match &device {
        Ok(device) => findings
            .push(fine("device", format!("{}: {} asked for", device_name(*device), args.device))),
        Err(error) => findings.push(Finding {
            part: "device",
            ok: false,
            detail: super::one_line(&error.to_string()),
        }),
    }
    if let Ok(device) = device {
        findings.push(tried("network", || network(device)));
    }
    findings.push(tried("int8", int8));
    findings.push(tried("checkpoint", || round_trip(&disk)));
    findings.push(tried("disk", || disk_speed(&disk)));
    findings.push(free_space(&disk));
    let failed = findings.iter().filter(|finding| !finding.ok).count();
    if args.json {
        writeln!(out, "{}", serde_json::json!({ "ok": failed == 0, "parts": findings }))?;
    } else {
        for finding in &findings {
            let mark = if finding.ok { "ok    " } else { "FAILED" };
            writeln!(out, "{mark} {:<11} {}", finding.part, finding.detail)?;
        }
    }
    if failed > 0 {
        out.flush()?;
        let parts: Vec<&str> =
            findings.iter().filter(|finding| !finding.ok).map(|finding| finding.part).collect();
        bail!("{} of {} parts do not work here: {}", failed, findings.len(), parts.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

fn fine(part: &'static str, detail: String) -> Finding {
    Finding { part, ok: true, detail }
}

fn tried(part: &'static str, attempt: impl FnOnce() -> anyhow::Result<String>) -> Finding {
    match attempt() {
        Ok(detail) => fine(part, detail),
        Err(error) => Finding { part, ok: false, detail: super::one_line(&format!("{error:#}")) },
    }
}

fn processor() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut features: Vec<&str> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("avx2", std::arch::is_x86_feature_detected!("avx2")),
            ("fma", std::arch::is_x86_feature_detected!("fma")),
            ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
            ("avx512vnni", std::arch::is_x86_feature_detected!("avx512vnni")),
            ("avxvnni", std::arch::is_x86_feature_detected!("avxvnni")),
        ];
        features.extend(known.iter().filter(|(_, there)| *there).map(|(name, _)| *name));
    }
    let kernels =
        if features.is_empty() { "no vector kernels".to_owned() } else { features.join(" ") };
    format!("{}, {cores} cores, {kernels}", std::env::consts::ARCH)
}

fn devices() -> String {
    match tch::Cuda::device_count() {
        count if count > 0 && tch::Cuda::is_available() => {
            format!("cpu, {count} CUDA (cuda:0 to cuda:{})", count - 1)
        }
        _ => "cpu (no CUDA device, or a libtorch without CUDA)".to_owned(),
    }
}

fn rules() -> anyhow::Result<String> {
    let start = "standard".parse::<Rules>()?.start();
    let nodes = gipf_core::perft(&start, 3);
    if nodes != 73_800 {
        bail!("perft(3) of standard is {nodes}, expected 73800");
    }
    Ok(format!("perft(3) of standard is {nodes}"))
}

fn small_network() -> anyhow::Result<Checkpoint> {
    let architecture: Architecture = "4x32".parse()?;
    Ok(Checkpoint::initial(architecture, vec!["standard".to_owned()], "doctor", 1)?)
}

/// A forward pass of a 4x32 network on a batch, twice: finite, the same both times, and how fast.
fn network(device: Device) -> anyhow::Result<String> {
    let mut network = evaluator(&small_network()?, device)?;
    let start: Position = "standard".parse::<Rules>()?.start();
    let mut actions = Vec::new();
    start.actions(&mut actions);
    let mut features = Features::new();
    features.fill(&start, &actions);
    let batch = vec![features; BATCH];
    let mut answers = vec![Evaluation::default(); BATCH];
    network.evaluate(&batch, &mut answers)?;
    let first = answers[0].clone();
    if first.logits.len() != actions.len()
        || !first.q().is_finite()
        || first.logits.iter().any(|logit| !logit.is_finite())
    {
        bail!("a forward pass gives values that are no numbers");
    }
    let rounds = 10;
    let started = Instant::now();
    for _ in 0..rounds {
        network.evaluate(&batch, &mut answers)?;
    }
    let speed = (rounds * BATCH) as f64 / started.elapsed().as_secs_f64();
    if (answers[0].q() - first.q()).abs() > 1e-4 {
        bail!("two forward passes differ: {} and {}", first.q(), answers[0].q());
    }
    Ok(format!("{}: {speed:.0} positions/s in batches of {BATCH} on one thread", network.name()))
}

/// A 4x32 network in int8 on every kernel that this machine has: the same bits from all, and close to f32.
fn int8() -> anyhow::Result<String> {
    let checkpoint = small_network()?;
    let batch = random_positions(&checkpoint.header.rules);
    let calibration = calibrate(&checkpoint, &batch);
    let evaluate = |evaluator: &mut dyn Evaluator| -> anyhow::Result<Vec<Evaluation>> {
        let mut answers = vec![Evaluation::default(); batch.len()];
        evaluator.evaluate(&batch, &mut answers)?;
        Ok(answers)
    };
    let float = evaluate(&mut NativeEvaluator::new(&checkpoint))?;
    let int8 = evaluate(&mut Int8Evaluator::new(&checkpoint, &calibration))?;
    for kernel in Int8Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let mut evaluator = Int8Evaluator::with_kernel(&checkpoint, &calibration, kernel);
        if evaluate(&mut evaluator)? != int8 {
            bail!("kernels {kernel} and {} compute different numbers", Int8Kernel::best());
        }
    }
    let apart = float.iter().zip(&int8).map(|(a, b)| (a.q() - b.q()).abs()).fold(0.0, f32::max);
    if apart.is_nan() || apart > 0.05 {
        bail!("a value in int8 is {apart} from the one in f32");
    }
    let kernels = (Kernel::best(), Int8Kernel::best());
    Ok(format!(
        "kernel {} (f32: {}), every kernel the same bits, values within {apart:.4} of f32",
        kernels.1, kernels.0
    ))
}

fn round_trip(folder: &Path) -> anyhow::Result<String> {
    let path = folder.join(format!(".gipf-doctor-{}.safetensors", std::process::id()));
    let checkpoint = small_network()?;
    let result = checkpoint.save(&path).and_then(|()| Checkpoint::load(&path));
    let size = fs::metadata(&path).map_or(0, |data| data.len());
    let removed = fs::remove_file(&path);
    if result? != checkpoint {
        bail!("a checkpoint reads back changed");
    }
    removed?;
    Ok(format!("{size} bytes written and read back in {}", folder.display()))
}

fn disk_speed(folder: &Path) -> anyhow::Result<String> {
    let path = folder.join(format!(".gipf-doctor-{}", std::process::id()));
    let write = || -> std::io::Result<f64> {
        let mut file = File::create(&path)?;
        let started = Instant::now();
        file.write_all(&vec![0x5a; DISK_PROBE])?;
        file.sync_all()?;
        Ok(DISK_PROBE as f64 / 1e6 / started.elapsed().as_secs_f64())
    };
    let speed = write();
    let _ = fs::remove_file(&path);
    Ok(format!(
        "{:.0} MB/s with fsync in {}",
        speed.with_context(|| format!("cannot write in {}", folder.display()))?,
        folder.display()
    ))
}

fn free_space(folder: &Path) -> Finding {
    match rustix::fs::statvfs(folder) {
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize) / 1_000_000;
            let detail = format!("{free} MB free in {}", folder.display());
            Finding { part: "space", ok: free >= LEAST_FREE_MB, detail }
        }
        Err(error) => {
            Finding { part: "space", ok: false, detail: format!("{}: {error}", folder.display()) }
        }
    }
}

/// The folder itself, or the nearest one above it that exists.
fn nearest_folder(folder: &Path) -> PathBuf {
    folder
        .ancestors()
        .find(|folder| folder.is_dir())
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}
