//! What can be wrong with a study of mixes.

use std::io;
use std::path::{Path, PathBuf};

use gipf_selfplay::study::StudyError;
use gipf_selfplay::{ConfigError, MatchError, PlayerError, PoolError, SpecError};

use crate::run::RunError;
use crate::store::StoreError;

/// An error of a study's folder or play. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum MixesError {
    /// The games in a folder were played otherwise than asked for.
    #[error("{folder} holds games of another player or other settings: {difference}")]
    Setup {
        /// The folder.
        folder: PathBuf,
        /// The first setting that differs.
        difference: String,
    },
    /// A file that cannot be understood, or does not belong where it is.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The folder is in use, or its files cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The games cannot be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workers of a network cannot play.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A value of the search is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A player without batches has no play.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// A match against another player cannot be played.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The study refuses a number or a game.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Rules that cannot be searched.
    #[error(transparent)]
    Rules(#[from] SpecError),
    /// A thread broke down.
    #[error("a thread of the study broke down (a bug: its words are above)")]
    Broken,
    /// An I/O error.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl MixesError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }
}
