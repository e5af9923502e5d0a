//! What can go wrong with stored games.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A segment is damaged before its end.
    #[error(
        "{path} is damaged at byte {offset}: {reason}; whole games follow, so this is no cut-off write: restore the file, or cut it there to give up the rest"
    )]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A whole frame that holds no game record.
    #[error("{path} holds no game record at byte {offset}: {reason}")]
    NoRecord {
        /// The segment.
        path: PathBuf,
        /// Where the frame begins.
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A segment between others is gone.
    #[error("{path} is missing, but later games are there")]
    Missing {
        /// The segment.
        path: PathBuf,
    },
    /// Fewer games than were counted.
    #[error(
        "{folder} holds {found} games, but {counted} were counted: games were removed or damaged"
    )]
    GamesLost {
        /// The folder of games.
        folder: PathBuf,
        /// Games found.
        found: u64,
        /// Games counted before.
        counted: u64,
    },
    /// A record longer than any reader accepts.
    #[error("game {id} is too long to be stored: {bytes} bytes, at most {}", super::MAX_RECORD)]
    TooLong {
        /// The game.
        id: String,
        /// Its length as JSON.
        bytes: usize,
    },
    /// An I/O error; a full disk only when the run was asked to stop meanwhile.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl StoreError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    /// Whether the disk was full and the run was asked to stop.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Io { error, .. } if super::is_full(error))
    }
}
