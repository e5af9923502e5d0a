//! What can be wrong with ratings.

use std::io;
use std::path::{Path, PathBuf};

use gipf_selfplay::RatingError;

use crate::run::RunError;
use crate::store::StoreError;

/// An error of a run's ratings. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum RatingsError {
    /// A file that cannot be understood.
    #[error("{path} is damaged: {reason}; remove it and rate again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The games in a folder were played otherwise than asked for.
    #[error("the games in {folder} were played with {found}, not with {wanted}")]
    Setup {
        /// The folder.
        folder: PathBuf,
        /// How they were played.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// A stored game of players that are not in the table.
    #[error("{folder} holds a game of unknown players ({worker}): players.jsonl was changed")]
    UnknownPlayers {
        /// The folder.
        folder: PathBuf,
        /// The game's worker, which names the players' numbers.
        worker: String,
    },
    /// The ratings cannot be solved for.
    #[error(transparent)]
    Fit(#[from] RatingError),
    /// The folder is in use, or its files cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The games cannot be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The picture cannot be drawn.
    #[error("cannot draw {path}: {reason}")]
    Drawing {
        /// The file.
        path: PathBuf,
        /// The library's words.
        reason: String,
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

impl RatingsError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}
