//! `gipf train`: starts a run, or goes on with it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gipf_model::Checkpoint;
use gipf_model_torch::device_from_name;

use super::called::program;
use super::{Output, Usage};
use crate::cluster::Intake;
use crate::config::{self, Config, ConfigError, LoadedConfig};
use crate::learner::{self, Ending, FollowUp, Session, StopFlag};
use crate::progress::Progress;
use crate::report::{DEFAULT_GAMES, Report};
use crate::run::{RunError, RunFolder, RunView};
use crate::store::DiskWait;

/// Train a player: start a run, or go on with it where --run names a folder that holds one
///
/// Self-play and training go on together until a limit of the config is reached or Ctrl-C stops them; a second
/// Ctrl-C quits at once. A run can be killed at any moment and gone on with.
#[derive(Debug, clap::Args)]
#[group(id = "training")]
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

impl Args {
    /// Whether games that exist are to be trained on.
    pub(super) const fn has_records(&self) -> bool {
        self.from_records.is_some()
    }
}

/// Where a run's games are played.
pub(super) enum Players<'a> {
    /// In this process.
    Here,
    /// By workers elsewhere: checks what that needs of a run before there is a folder.
    Elsewhere(&'a dyn Workers),
}

/// The way to workers elsewhere.
pub(super) trait Workers {
    /// Checks that a run of this configuration can go that way.
    fn check(&self, config: &Config) -> anyhow::Result<()>;

    /// Opens it for a run.
    fn open(&self, folder: &RunFolder, stop: &StopFlag) -> anyhow::Result<Intake>;

    /// The options that go on with it.
    fn options(&self) -> Vec<String>;
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    train(args, &Players::Here, "train", out)
}

/// Starts a run or goes on with it; `command` is what the user called.
pub(super) fn train(
    args: &Args,
    players: &Players<'_>,
    command: &'static str,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let loaded = LoadedConfig::load(&args.config, &args.set).map_err(wrong_config)?;
    // What is missing or cannot be is said before there is a folder, or a change in one.
    let path = args.run.clone().unwrap_or_else(|| new_folder(&loaded.config.run.name));
    RunFolder::check_place(&path).map_err(wrong_run)?;
    let config = in_force(&path, &loaded)?;
    device_from_name(&config.run.device)?;
    if let Players::Elsewhere(workers) = players {
        workers.check(&config)?;
    }
    if args.init.is_some() && RunFolder::holds_run(&path) && RunView::open(&path)?.state.saved {
        return Err(Usage::error(format!(
            "--init: the run in {} has weights already; begin a new one",
            path.display()
        )));
    }
    let stop = StopFlag::on_signals()?;
    let mut progress = Progress::new();
    progress.stage("preparing the run");
    if loaded.keys_set() == 0 {
        let file = args.config.display();
        progress.note(&format!("{file} sets 0 keys: all have their defaults, or --set's values"));
    }
    let init = match &args.init {
        // Its text is whole; as a source it would be printed in parts and again.
        Some(path) => {
            Some(Checkpoint::load(path).map_err(|error| anyhow::anyhow!("--init: {error}"))?)
        }
        None => None,
    };
    learner::check_start(&config, init.as_ref())?;
    if let Some(records) = &args.from_records {
        learner::check_records(records, &config)?;
    }
    let next = FollowUp {
        program: program(),
        command,
        config: args.config.clone(),
        run: path.clone(),
        records: args.from_records.clone(),
        options: match players {
            Players::Here => Vec::new(),
            Players::Elsewhere(workers) => workers.options(),
        },
    };
    let folder = open_folder(&path, &loaded, args.from_records.as_deref(), &stop, &progress)?;
    progress.note(&format!("stop with Ctrl-C; go on with: {}", next.go_on()));
    let mut session = Session::open(folder, init.as_ref(), stop.clone(), progress)?;
    let ending = match (&args.from_records, players) {
        (Some(records), _) => session.train_from_records(records)?,
        (None, Players::Elsewhere(workers)) => {
            session.progress.stage("opening the run on the server");
            match workers.open(session.folder(), &stop) {
                Ok(intake) => session.train_remotely(intake)?,
                // It waited for the server until it was told to stop.
                Err(_) if stop.is_set() => Ending::Stopped,
                Err(error) => return Err(error),
            }
        }
        (None, Players::Here) if session.folder().config().run.deterministic => {
            session.train_alternately()?
        }
        (None, Players::Here) => session.train_concurrently()?,
    };
    finish(session, &next, ending, &stop, out)
}

/// The configuration that the run will have: a new one the file's; one that goes on its own, with the overrides that it keeps, and
/// the new ones.
fn in_force(path: &Path, loaded: &LoadedConfig) -> anyhow::Result<Config> {
    if !RunFolder::holds_run(path) {
        return Ok(loaded.config.clone());
    }
    let view = RunView::open(path).map_err(wrong_run)?;
    config::apply(&view.config, &loaded.settings).map_err(wrong_config)
}

/// Makes the run's folder or takes it up, and says which, and where its games come from if that changes.
fn open_folder(
    path: &Path,
    loaded: &LoadedConfig,
    records: Option<&Path>,
    stop: &StopFlag,
    progress: &Progress,
) -> anyhow::Result<RunFolder> {
    let (shown, wait) = (path.display(), DiskWait::new(stop.shared()));
    let mut folder = if RunFolder::holds_run(path) {
        let folder =
            RunFolder::resume(path, Some(loaded), &loaded.settings, wait).map_err(wrong_run)?;
        progress.note(&format!("going on with {shown} from step {}", folder.state.step));
        folder
    } else {
        let folder = RunFolder::create(path, loaded, wait).map_err(wrong_run)?;
        progress.note(&format!("a new run in {shown}"));
        folder
    };
    let state = &mut folder.state;
    match (&state.records, records) {
        (Some(before), None) => progress.note(&format!(
            "so far {shown} was trained on the games of {before}: now self-play adds to them (--from-records {before} goes on without it)"
        )),
        (None, Some(records)) if state.games > 0 => progress.note(&format!(
            "{shown} has {} games of self-play: the games of {} are added to them",
            state.games,
            records.display()
        )),
        _ => {}
    }
    if let Some(records) = records {
        state.records = Some(records.display().to_string());
    }
    Ok(folder)
}

fn finish(
    session: Session,
    next: &FollowUp,
    ending: Ending,
    stop: &StopFlag,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let (folder, mut progress) = session.into_parts();
    if ending == Ending::Stopped {
        progress.finish();
        writeln!(out, "stopped at step {}; go on with:", folder.state.step)?;
        writeln!(out, "  {}", next.go_on())?;
        return Ok(ExitCode::SUCCESS);
    }
    let standings = learner::matches(&folder, stop, &mut progress)?;
    progress.finish();
    let page = write_page(&folder);
    learner::write(&folder, next, &standings, page.as_deref(), out)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the run's report; a run that is done is done, also where its report cannot be written.
fn write_page(folder: &RunFolder) -> Option<PathBuf> {
    let path = folder.path().join("report.html");
    let write = || -> anyhow::Result<()> {
        let report = Report::of(&RunView::open(folder.path())?, DEFAULT_GAMES, &program())?;
        report.faults.iter().for_each(|fault| tracing::warn!("{fault}"));
        Ok(report.write(&path, folder.disk_wait())?)
    };
    match write() {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!("no report in {}: {error:#}", path.display());
            None
        }
    }
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
        RunError::ConfigDiffers { .. } | RunError::Fixed { .. } | RunError::NotFolder(_) => {
            Usage::error(error.to_string())
        }
        _ => error.into(),
    }
}
