//! The log of a run's overrides.

use super::atomic;
use super::error::RunError;
use crate::config::Setting;
use crate::store::DiskWait;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// An override in force, with the step at which it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedSetting {
    /// Training step of the run when it came.
    pub step: u64,
    /// Dotted key.
    pub key: String,
    /// Value as TOML text.
    pub value: String,
}

impl LoggedSetting {
    /// The override itself.
    pub fn setting(&self) -> Setting {
        Setting { key: self.key.clone(), value: self.value.clone() }
    }
}

/// The overrides of a run, oldest first; none if there is no log.
pub(super) fn read(path: &Path) -> Result<Vec<LoggedSetting>, RunError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| RunError::io(path, error))?,
    };
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| RunError::Damaged {
            path: path.to_owned(),
            reason: format!("line {}: {error}", index + 1),
        })
    };
    text.lines().enumerate().map(parse).collect()
}

/// Writes the whole log.
pub(super) fn write(path: &Path, log: &[LoggedSetting], wait: &DiskWait) -> Result<(), RunError> {
    let mut text = String::new();
    for setting in log {
        let line =
            serde_json::to_string(setting).map_err(|error| RunError::io(path, error.into()))?;
        text.push_str(&line);
        text.push('\n');
    }
    atomic::write(path, text.as_bytes(), wait, None).map_err(|error| RunError::io(path, error))
}
