//! What can be wrong with a run folder.

use crate::config::{ConfigError, Difference};
use std::io;
use std::path::{Path, PathBuf};

/// An error of a run folder. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another process works in the folder.
    #[error("{folder} is in use by {}: only one process can work in a run folder", process_name(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The other process, if it has written its id.
        process: Option<u32>,
    },
    /// A new run was asked for where one is.
    #[error("{0} holds a run already")]
    Exists(PathBuf),
    /// A run was asked for where none is.
    #[error("{0} holds no run: it has no state.json")]
    NoRun(PathBuf),
    /// A new run was asked for in a folder of other things.
    #[error("{folder} is no run folder and is not empty: it holds {other}")]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// One of the other things.
        other: String,
    },
    /// The folder is no folder.
    #[error("{0} is a file, not a folder")]
    NotFolder(PathBuf),
    /// A new run was asked for in a folder that holds parts of one.
    #[error(
        "{folder} holds {part} of a run but no state.json, so it cannot be gone on with; {advice}"
    )]
    LostState {
        /// The folder.
        folder: PathBuf,
        /// The part that was found.
        part: &'static str,
        /// What can be done with the rest.
        advice: String,
    },
    /// The file differs from the run's configuration.
    #[error("{file} differs from the run in {folder}: {}; change the run with --set KEY=VALUE, or begin a new one with --run", lines(.differences))]
    ConfigDiffers {
        /// The file.
        file: PathBuf,
        /// The run's folder.
        folder: PathBuf,
        /// What differs, key by key.
        differences: Vec<Difference>,
    },
    /// An override of a key that is settled when a run is made.
    #[error(
        "--set {key}: settled when the run in {folder} was made; begin a new run with --run, from a checkpoint with --init"
    )]
    Fixed {
        /// The key.
        key: &'static str,
        /// The run's folder.
        folder: PathBuf,
    },
    /// The run's own configuration cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `state.json` or the log of overrides cannot be understood.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The run was made by another version.
    #[error("{path} has format {found:?}; this program reads {expected:?}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The format of this version.
        expected: &'static str,
    },
    /// A file that the state names is gone.
    #[error("{path} is missing, but state.json goes on from it")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// An I/O error.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl RunError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}

fn process_name(process: Option<u32>) -> String {
    process.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}

fn lines(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
