//! A run's folder as others see it.

use super::checkpoints::{CheckpointFile, checkpoint_name, list_checkpoints};
use super::error::RunError;
use super::folder::RunFolder;
use super::gates::GateOutcome;
use super::history::HistoryPoint;
use super::journal;
use super::place::way_forward;
use super::settings::{self, LoggedSetting};
use super::state::{STATE_FORMAT, State};
use crate::config::{self, Config, LoadedConfig, Setting};
use crate::ratings::{RatingsError, RatingsFile};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const HISTORY: &str = "history.jsonl";
pub(super) const GATES: &str = "gates.jsonl";

/// A run's folder, read without holding it: for matches and reports, also while another process works in it.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The folder.
    pub folder: PathBuf,
    /// The configuration in force.
    pub config: Config,
    /// The configuration of `config.toml` alone.
    pub file: Config,
    /// The overrides in force.
    pub settings: Vec<LoggedSetting>,
    /// Where the run stands.
    pub state: State,
}

impl RunView {
    /// Reads a run's folder.
    ///
    /// # Errors
    /// There is no run, or its files cannot be understood.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        if !RunFolder::holds_run(folder) {
            return Err(RunError::NoRun(folder.to_owned()));
        }
        let path = folder.join("config.toml");
        let text = fs::read_to_string(&path).map_err(|error| RunError::io(&path, error))?;
        let settings = settings::read(&folder.join("settings.jsonl"))?;
        let name = path.display().to_string();
        // The overrides made at the start may be what makes the keys agree.
        let in_force: Vec<_> = settings.iter().map(LoggedSetting::setting).collect();
        let config = config::parse(&text, &name, &in_force)?;
        let file = config::parse_file(&text, &name)?;
        let state = read_state(&folder.join("state.json"))?;
        Ok(Self { folder: folder.to_owned(), config, file, settings, state })
    }

    /// The checkpoints, oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<CheckpointFile>, RunError> {
        list_checkpoints(&self.folder.join("checkpoints"))
    }

    /// The step of the best checkpoint: with gating the last one that was accepted; else the one with the highest rating
    /// in `ratings.json` that is still there; else the newest.
    ///
    /// # Errors
    /// `ratings.json` cannot be read.
    pub fn best_step(&self) -> Result<u64, RatingsError> {
        if let Some(best) = self.state.best {
            return Ok(best);
        }
        let ratings = RatingsFile::read(&self.folder)?;
        let there = |step| self.folder.join("checkpoints").join(checkpoint_name(step)).is_file();
        Ok(ratings.and_then(|ratings| ratings.best_step(there)).unwrap_or(self.state.step))
    }

    /// What the run had used at its save points, oldest first; none for a run of an older version.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn history(&self) -> Result<Vec<HistoryPoint>, RunError> {
        read_history(&self.folder)
    }

    /// How the tests of checkpoints against the best ended, oldest first; none without gating.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn gates(&self) -> Result<Vec<GateOutcome>, RunError> {
        read_gates(&self.folder)
    }

    /// Compares a file with the run: a key may differ only where an override names it.
    ///
    /// # Errors
    /// [`RunError::ConfigDiffers`].
    pub(super) fn compare(&self, file: &LoadedConfig, new: &[Setting]) -> Result<(), RunError> {
        let in_file = config::diff(&self.file, &file.file);
        let mut differences = config::diff(&self.config, &file.file);
        // An override in force explains why the run and an unchanged file differ.
        differences.retain(|difference| {
            in_file.iter().any(|changed| changed.key == difference.key)
                && !new.iter().any(|setting| setting.key == difference.key)
        });
        if differences.is_empty() {
            return Ok(());
        }
        Err(RunError::ConfigDiffers {
            file: file.path.clone(),
            folder: self.folder.clone(),
            differences,
        })
    }
}

pub(super) fn read_history(folder: &Path) -> Result<Vec<HistoryPoint>, RunError> {
    Ok(journal::by_step(journal::read(&folder.join(HISTORY))?, |point: &HistoryPoint| point.step))
}

pub(super) fn read_gates(folder: &Path) -> Result<Vec<GateOutcome>, RunError> {
    Ok(journal::by_step(journal::read(&folder.join(GATES))?, |gate: &GateOutcome| gate.step))
}

fn read_state(path: &Path) -> Result<State, RunError> {
    let bytes = fs::read(path).map_err(|error| RunError::io(path, error))?;
    let damaged = |error: serde_json::Error| RunError::Damaged {
        path: path.to_owned(),
        reason: format!("{error}; {}", way_forward(path.parent().unwrap_or(Path::new(".")))),
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(damaged)?;
    match value.get("format").and_then(serde_json::Value::as_str) {
        Some(STATE_FORMAT) => serde_json::from_value(value).map_err(damaged),
        format => Err(RunError::Format {
            path: path.to_owned(),
            found: format.unwrap_or("").to_owned(),
            expected: STATE_FORMAT,
        }),
    }
}
