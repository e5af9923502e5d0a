//! What can go wrong with the window.

use crate::store::StoreError;
use gipf_core::record::RecordError;

/// An error of the replay window.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// A game that the rules do not allow.
    #[error("game {game} cannot be replayed")]
    Game {
        /// Its ordinal in the store.
        game: u64,
        /// What is wrong with it.
        source: RecordError,
    },
    /// The stored games are not those that the saved window held.
    #[error(
        "the stored games give the {window} window {found} samples up to game {games}, state.json counted {counted}: games were changed or removed"
    )]
    Differs {
        /// `training` or `held-out`.
        window: &'static str,
        /// Games read.
        games: u64,
        /// Samples found.
        found: u64,
        /// Samples saved.
        counted: u64,
    },
    /// The saved random stream cannot be read.
    #[error("state.json: the {window} window's random stream is damaged")]
    Stream {
        /// `training` or `held-out`.
        window: &'static str,
    },
    /// The games cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
