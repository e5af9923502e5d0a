//! Whether memory and speed stay flat: trains a run in this process and reads, once a minute, what it holds and does.
//!
//! ```text
//! cargo run --release -p gipf-train --example flat_run -- configs/standard.toml RUN JSON --minutes 25
//! ```
//!
//! `RUN` must not exist yet. The first minutes fill the window; it grows with the run, so memory may rise by what the
//! samples take (`bytes_a_sample` times `samples`), up to the config's maximum, and no further.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use gipf_train::config::LoadedConfig;
use gipf_train::cpu;
use gipf_train::learner::{Session, StopFlag, check_start};
use gipf_train::progress::Progress;
use gipf_train::run::{RunFolder, RunView};
use gipf_train::store::DiskWait;
use gipf_train::window::Sample;
use serde_json::{Value, json};

/// Train for a while and write down memory and speed, minute by minute
#[derive(Parser)]
struct Args {
    /// Configuration file
    config: PathBuf,
    /// The new run's folder
    run: PathBuf,
    /// Where the figures go
    json: PathBuf,
    /// Minutes of training
    #[arg(long, default_value_t = 25)]
    minutes: u32,
    /// Override a key of the config
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // A save point every few seconds says how many positions there are; the limit of time is this program's.
    let mut settings = args.set.clone();
    settings.extend([
        format!("run.minutes={}", args.minutes),
        "checkpoints.every_steps=50".to_owned(),
        "report.games=0".to_owned(),
    ]);
    let loaded = LoadedConfig::load(&args.config, &settings)?;
    check_start(&loaded.config, None)?;
    let stop = StopFlag::on_signals()?;
    let folder = RunFolder::create(&args.run, &loaded, DiskWait::new(stop.shared()))?;
    let mut session = Session::open(folder, None, stop, Progress::new())?;
    let done = AtomicBool::new(false);
    let minutes = thread::scope(|scope| -> anyhow::Result<Vec<Value>> {
        let watching = scope.spawn(|| watch(&args.run, &done));
        let ending = session.train_concurrently();
        done.store(true, Ordering::Relaxed);
        let minutes = watching.join().map_err(|_| anyhow::anyhow!("the watch broke down"))?;
        ending?;
        minutes
    })?;
    let figures = json!({
        "command": std::env::args().skip(1).fold(
            "cargo run --release -p gipf-train --example flat_run --".to_owned(),
            |line, word| line + " " + &word,
        ),
        "cores": cpu::cores(),
        "bytes_a_sample": size_of::<Sample>(),
        "minutes": minutes,
    });
    fs::write(&args.json, serde_json::to_string_pretty(&figures)? + "\n")
        .with_context(|| args.json.display().to_string())
}

/// Where the run stood at a reading.
#[derive(Clone, Copy, Default)]
struct Reading {
    seconds: f64,
    positions: u64,
    steps: u64,
    cpu: f64,
    wall: f64,
}

/// A reading a minute until the run is done.
fn watch(run: &Path, done: &AtomicBool) -> anyhow::Result<Vec<Value>> {
    let started = Instant::now();
    let (mut minutes, mut before) = (Vec::new(), Reading::default());
    before.cpu = cpu::process_seconds();
    loop {
        let next = Duration::from_secs(60 * (1 + minutes.len() as u64));
        while started.elapsed() < next {
            if done.load(Ordering::Relaxed) {
                return Ok(minutes);
            }
            thread::sleep(Duration::from_millis(200));
        }
        let state = RunView::open(run)?.state;
        let now = Reading {
            seconds: state.seconds,
            positions: state.positions,
            steps: state.step,
            cpu: cpu::process_seconds(),
            wall: started.elapsed().as_secs_f64(),
        };
        // Positions and steps are those of save points, so are the seconds between them.
        let between = (now.seconds - before.seconds).max(1e-9);
        minutes.push(json!({
            "minute": minutes.len() + 1,
            "resident_megabytes": resident_megabytes()?,
            "positions_per_second": (now.positions - before.positions) as f64 / between,
            "steps_per_second": (now.steps - before.steps) as f64 / between,
            "samples": state.samples_made,
            "cpu_share": (now.cpu - before.cpu) / ((now.wall - before.wall) * cpu::cores() as f64),
        }));
        before = now;
    }
}

/// Memory of this process that is in RAM.
fn resident_megabytes() -> anyhow::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).context("no VmRSS")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
