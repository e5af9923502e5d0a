//! A run's folder, made, opened and saved.

use super::atomic;
use super::checkpoints::{checkpoint_name, list_checkpoints, superfluous};
use super::error::RunError;
use super::gates::GateOutcome;
use super::history::HistoryPoint;
use super::journal;
use super::lock::RunLock;
use super::place::{BEGUN, OWN};
use super::settings::{self, LoggedSetting};
use super::state::{State, worker_name};
use super::view::{GATES, HISTORY, RunView, read_gates, read_history};
use crate::config::{self, Config, LoadedConfig, Setting};
use crate::store::{DiskWait, Store, StoreError, StoreOptions};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A run's folder, held by this process.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    config: Config,
    settings: Vec<LoggedSetting>,
    wait: DiskWait,
    /// Where the run stands; the caller keeps it up to date between save points.
    pub state: State,
    /// A checkpoint that must stay while it is being tested, by its step.
    pub under_test: Option<u64>,
    /// The state as `state.json` has it.
    written: State,
    _lock: RunLock,
}

impl RunFolder {
    /// Makes a new run.
    ///
    /// # Errors
    /// The folder holds a run or other things, is in use, or cannot be written.
    pub fn create(folder: &Path, loaded: &LoadedConfig, wait: DiskWait) -> Result<Self, RunError> {
        let failed = |error| RunError::io(folder, error);
        Self::check_place(folder)?;
        fs::create_dir_all(folder).map_err(failed)?;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if !Self::holds_run(folder) && !OWN.contains(&name.as_str()) && !name.ends_with(".tmp")
            {
                return Err(RunError::Foreign { folder: folder.to_owned(), other: name });
            }
        }
        let lock = RunLock::take(folder)?;
        if Self::holds_run(folder) {
            return Err(RunError::Exists(folder.to_owned()));
        }
        // Once more, now that no other process can change it.
        Self::check_place(folder)?;
        let begun = folder.join(BEGUN);
        fs::write(&begun, "")
            .and_then(|()| atomic::sync_folder(folder))
            .map_err(|error| RunError::io(&begun, error))?;
        for name in ["checkpoints", "learner", "games", "events"] {
            fs::create_dir_all(folder.join(name)).map_err(failed)?;
        }
        let path = folder.join("config.toml");
        atomic::write(&path, loaded.text.as_bytes(), &wait, None)
            .map_err(|error| RunError::io(&path, error))?;
        let settings: Vec<_> = loaded.settings.iter().map(|setting| logged(setting, 0)).collect();
        settings::write(&folder.join("settings.jsonl"), &settings, &wait)?;
        let run = &loaded.config.run;
        // A deterministic run's games carry the same ids every time.
        let name = worker_name(run.deterministic.then_some(run.seed));
        let nonce = u64::from_str_radix(&name[..16], 16).unwrap_or_default();
        let state = State::new(&run.name, nonce);
        let run = Self {
            folder: folder.to_owned(),
            config: loaded.config.clone(),
            settings,
            wait,
            under_test: None,
            written: state.clone(),
            state,
            _lock: lock,
        };
        run.write(&run.state)?;
        remove(&begun)?;
        Ok(run)
    }

    /// Goes on with a run: its own configuration and overrides, then the new overrides, which are logged with the run's step.
    ///
    /// With a `file`, its keys must be the run's, but for those that an override, old or new, names.
    ///
    /// # Errors
    /// There is no run, it is in use, differs from the file, or is damaged.
    pub fn resume(
        folder: &Path,
        file: Option<&LoadedConfig>,
        new: &[Setting],
        wait: DiskWait,
    ) -> Result<Self, RunError> {
        Self::check_place(folder)?;
        if !Self::holds_run(folder) {
            return Err(RunError::NoRun(folder.to_owned()));
        }
        let lock = RunLock::take(folder)?;
        for part in [folder.to_owned(), folder.join("checkpoints"), folder.join("learner")] {
            fs::create_dir_all(&part)
                .and_then(|()| atomic::remove_leftovers(&part))
                .map_err(|error| RunError::io(&part, error))?;
        }
        let view = RunView::open(folder)?;
        if let Some(file) = file {
            view.compare(file, new)?;
        }
        let config = config::apply(&view.config, new)?;
        let changed = config::diff(&view.config, &config);
        if let Some(key) =
            config::fixed_keys(new).into_iter().find(|key| changed.iter().any(|d| d.key == *key))
        {
            return Err(RunError::Fixed { key, folder: folder.to_owned() });
        }
        let mut settings = view.settings;
        let known = settings.len();
        settings.extend(
            new.iter()
                .filter(|setting| changed.iter().any(|difference| difference.key == setting.key))
                .map(|setting| logged(setting, view.state.step)),
        );
        if settings.len() > known {
            settings::write(&folder.join("settings.jsonl"), &settings, &wait)?;
        }
        let run = Self {
            folder: folder.to_owned(),
            config,
            settings,
            wait,
            under_test: None,
            written: view.state.clone(),
            state: view.state,
            _lock: lock,
        };
        run.check_save_point()?;
        Ok(run)
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The overrides in force.
    pub fn settings(&self) -> &[LoggedSetting] {
        &self.settings
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// How this run's writes wait on a full disk.
    pub const fn disk_wait(&self) -> &DiskWait {
        &self.wait
    }

    /// The folder of TensorBoard events.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events")
    }

    /// The folder of checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.folder.join("checkpoints")
    }

    /// The checkpoint of a step.
    pub fn checkpoint_path(&self, step: u64) -> PathBuf {
        self.checkpoints().join(checkpoint_name(step))
    }

    /// The learner's state of a step.
    pub fn learner_path(&self, step: u64) -> PathBuf {
        self.folder.join("learner").join(checkpoint_name(step))
    }

    /// The name of this start's worker `index` in the ids of its games: the same every time in a deterministic run, else
    /// unlike any other.
    pub fn worker_name(&self, index: u64) -> String {
        let run = &self.config.run;
        worker_name(
            run.deterministic.then(|| run.seed.wrapping_mul(1_000_003).wrapping_add(index + 1)),
        )
    }

    /// Opens the run's games.
    ///
    /// # Errors
    /// The store is damaged, or holds fewer games than were counted.
    pub fn open_store(&self) -> Result<Store, StoreError> {
        let options = StoreOptions {
            segment_bytes: self.config.store.segment_megabytes * 1_000_000,
            ..StoreOptions::default()
        };
        Store::open_counted(
            &self.folder.join("games"),
            options,
            self.wait.clone(),
            self.state.games,
        )
    }

    /// Saves the run at `state.step`: the checkpoint, the learner's state, then `state.json`, each whole and durable
    /// before the next; then removes what is no longer needed.
    ///
    /// Both functions write the path they are given; they may be called again after a full disk ([`crate::store::into_io`] keeps
    /// that cause visible).
    ///
    /// # Errors
    /// An I/O error; the save point before this one still stands then.
    pub fn save_point(
        &mut self,
        checkpoint: impl FnMut(&Path) -> io::Result<()>,
        learner: impl FnMut(&Path) -> io::Result<()>,
    ) -> Result<(), RunError> {
        let step = self.state.step;
        let path = self.checkpoint_path(step);
        let size = self.size_of_last(&self.checkpoints());
        atomic::write_via(&path, size, &self.wait, Some(&atomic::CHECKPOINT), checkpoint)
            .map_err(|error| RunError::io(&path, error))?;
        let path = self.learner_path(step);
        let size = self.size_of_last(&self.folder.join("learner"));
        atomic::write_via(&path, size, &self.wait, Some(&atomic::LEARNER), learner)
            .map_err(|error| RunError::io(&path, error))?;
        self.state.saved = true;
        self.write(&self.state)?;
        self.written.clone_from(&self.state);
        self.prune()
    }

    /// Writes which checkpoint is the best and which was judged last, now and not with the next save point; everything
    /// else in `state.json` stays that of the last one.
    ///
    /// # Errors
    /// An I/O error.
    pub fn save_best(&mut self) -> Result<(), RunError> {
        (self.written.best, self.written.judged) = (self.state.best, self.state.judged);
        self.write(&self.written)
    }

    /// Writes down what the run had used at its last save point; `cpu_seconds` is processor time, all starts together.
    ///
    /// # Errors
    /// An I/O error.
    pub fn add_history(&self, cpu_seconds: f64) -> Result<(), RunError> {
        let point = HistoryPoint::of(&self.written, cpu_seconds);
        journal::append(&self.folder.join(HISTORY), &[point], &self.wait)
    }

    /// What the run had used at its save points, oldest first.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn history(&self) -> Result<Vec<HistoryPoint>, RunError> {
        read_history(&self.folder)
    }

    /// Writes down how a checkpoint's test against the best ended.
    ///
    /// # Errors
    /// An I/O error.
    pub fn add_gate(&self, outcome: &GateOutcome) -> Result<(), RunError> {
        journal::append(&self.folder.join(GATES), std::slice::from_ref(outcome), &self.wait)
    }

    /// How the tests of this run's checkpoints ended, oldest first.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn gates(&self) -> Result<Vec<GateOutcome>, RunError> {
        read_gates(&self.folder)
    }

    fn write(&self, state: &State) -> Result<(), RunError> {
        let path = self.folder.join("state.json");
        let mut text = serde_json::to_string_pretty(state)
            .map_err(|error| RunError::io(&path, error.into()))?;
        text.push('\n');
        atomic::write(&path, text.as_bytes(), &self.wait, Some(&atomic::STATE))
            .map_err(|error| RunError::io(&path, error))
    }

    /// Removes checkpoints beyond the configured number, never step 0, the best, the one under test, the last before the network
    /// grew or the newest save point; and older learner's states, of which only the newest is ever read.
    fn prune(&self) -> Result<(), RunError> {
        let State { best, grown_at, step, .. } = self.state;
        let protected: Vec<u64> =
            [best, self.under_test, grown_at, Some(step)].into_iter().flatten().collect();
        let files = list_checkpoints(&self.checkpoints())?;
        for file in superfluous(&files, self.config.checkpoints.keep, &protected) {
            remove(&file.path)?;
        }
        for file in list_checkpoints(&self.folder.join("learner"))? {
            if file.step < self.state.step {
                remove(&file.path)?;
            }
        }
        Ok(())
    }

    /// Checks that the save point's files are there, and removes those of a later one that was cut off: the run
    /// goes on from before them and will write them anew.
    fn check_save_point(&self) -> Result<(), RunError> {
        for folder in [self.checkpoints(), self.folder.join("learner")] {
            for file in list_checkpoints(&folder)? {
                if !self.state.saved || file.step > self.state.step {
                    remove(&file.path)?;
                }
            }
        }
        if !self.state.saved {
            return Ok(());
        }
        for path in [self.checkpoint_path(self.state.step), self.learner_path(self.state.step)] {
            if !path.is_file() {
                return Err(RunError::Missing { path });
            }
        }
        Ok(())
    }

    /// About how big the next file will be, for the message about a full disk.
    fn size_of_last(&self, folder: &Path) -> u64 {
        let last = list_checkpoints(folder).ok().and_then(|mut files| files.pop());
        last.and_then(|file| fs::metadata(file.path).ok()).map_or(1, |data| data.len())
    }
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::io(path, error)),
        _ => Ok(()),
    }
}

fn logged(setting: &Setting, step: u64) -> LoggedSetting {
    LoggedSetting { step, key: setting.key.clone(), value: setting.value.clone() }
}
