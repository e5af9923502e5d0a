//! `gipf train`: starts a run, or goes on with it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use gipf_model::Checkpoint;
use gipf_model_torch::device_from_name;

use super::{Output, Usage};
use crate::config::{ConfigError, LoadedConfig};
use crate::learner::{self, Ending, Session, StopFlag};
use crate::progress::Progress;
use crate::run::{RunError, RunFolder};
use crate::store::{DiskWait, RecordReader};

/// Train a player: start a run, or go on with it where --run names a folder that holds one
///
/// Self-play and training go on together until a limit of the config is reached or Ctrl-C stops them; a second
/// Ctrl-C quits at once. A run can be killed at any moment and gone on with.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf train configs/quickstart.toml --run runs/first --set run.minutes=30"
)]
pub(super) struct Args {
    /// Configuration file; every key is explained in configs/quickstart.toml
    config: PathBuf,
    /// The run's folder; a new one under runs/ where it is absent
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Override a key of the config, such as train.batch_size=512; written down in the run's folder
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Start a new run from the weights of this checkpoint
    #[arg(long, value_name = "CHECKPOINT")]
    init: Option<PathBuf>,
    /// Train on the games of this folder or file instead of on self-play
    #[arg(long, value_name = "DIR")]
    from_records: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let loaded = LoadedConfig::load(&args.config, &args.set).map_err(wrong_config)?;
    // What is missing is said before there is a folder.
    device_from_name(&loaded.config.run.device)?;
    if let Some(records) = &args.from_records {
        RecordReader::open(records).context("--from-records")?;
    }
    let stop = StopFlag::on_signals()?;
    let mut progress = Progress::new();
    progress.stage("preparing the run");
    let init = match &args.init {
        Some(path) => Some(Checkpoint::load(path).context("--init")?),
        None => None,
    };
    let wait = DiskWait::new(stop.shared());
    let path = args.run.clone().unwrap_or_else(|| new_folder(&loaded.config.run.name));
    let folder = if RunFolder::holds_run(&path) {
        let folder =
            RunFolder::resume(&path, Some(&loaded), &loaded.settings, wait).map_err(wrong_run)?;
        if init.is_some() && folder.state.saved {
            return Err(Usage::error(format!(
                "--init: the run in {} has weights already; begin a new one",
                path.display()
            )));
        }
        progress.note(&format!("going on with {} from step {}", path.display(), folder.state.step));
        folder
    } else {
        let folder = RunFolder::create(&path, &loaded, wait).map_err(wrong_run)?;
        progress.note(&format!("a new run in {}", path.display()));
        folder
    };
    let mut session = Session::open(folder, init.as_ref(), stop.clone(), progress)?;
    let ending = match &args.from_records {
        Some(records) => session.train_from_records(records)?,
        None if loaded.config.run.deterministic => session.train_alternately()?,
        None => session.train_concurrently()?,
    };
    finish(session, &args.config, ending, &stop, out)
}

fn finish(
    session: Session,
    config: &Path,
    ending: Ending,
    stop: &StopFlag,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let (folder, mut progress) = session.into_parts();
    if ending == Ending::Stopped {
        progress.finish();
        writeln!(out, "stopped at step {}; go on with:", folder.state.step)?;
        writeln!(out, "  gipf train {} --run {}", config.display(), folder.path().display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let standings = learner::matches(&folder, stop, &mut progress)?;
    progress.finish();
    learner::write(&folder, config, &standings, out)?;
    Ok(ExitCode::SUCCESS)
}

/// `runs/NAME-N` with the first N that is free.
fn new_folder(name: &str) -> PathBuf {
    (1..u32::MAX)
        .map(|number| Path::new("runs").join(format!("{name}-{number}")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| Path::new("runs").join(name))
}

/// A config that says what cannot be is wrong use; one that cannot be read is a failure.
fn wrong_config(error: ConfigError) -> anyhow::Error {
    match error {
        ConfigError::Read { .. } => error.into(),
        _ => Usage::error(error.to_string()),
    }
}

fn wrong_run(error: RunError) -> anyhow::Error {
    match error {
        RunError::ConfigDiffers { .. } | RunError::Fixed { .. } => Usage::error(error.to_string()),
        _ => error.into(),
    }
}
