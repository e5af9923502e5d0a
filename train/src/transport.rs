//! Where finished games go and checkpoints come from.

use crate::run::{CheckpointFile, RunError, list_checkpoints};
use crate::store::{Store, StoreError};
use gipf_core::record::GameRecord;
use std::path::PathBuf;

/// An error of a transport.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The games cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The checkpoints cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The way between those who play and the one who learns. Games and checkpoints only: whoever plays needs nothing
/// else of a run.
pub trait Transport: Send {
    /// Delivers finished games; per game whether it is new. When this returns they are durable at the other end, and a game
    /// delivered twice is there once.
    ///
    /// # Errors
    /// The games were not delivered; delivering them again is right.
    fn publish(&mut self, games: &[GameRecord]) -> Result<Vec<bool>, TransportError>;

    /// The newest checkpoint, if it is of a later step than `known`.
    ///
    /// # Errors
    /// The checkpoints cannot be read.
    fn newest_checkpoint(
        &mut self,
        known: Option<u64>,
    ) -> Result<Option<CheckpointFile>, TransportError>;
}

/// Both ends in one run folder.
#[derive(Debug)]
pub struct LocalTransport {
    store: Store,
    checkpoints: PathBuf,
}

impl LocalTransport {
    /// A transport over a run's games and its folder of checkpoints.
    pub const fn new(store: Store, checkpoints: PathBuf) -> Self {
        Self { store, checkpoints }
    }

    /// The games.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The games, for pruning.
    pub const fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl Transport for LocalTransport {
    fn publish(&mut self, games: &[GameRecord]) -> Result<Vec<bool>, TransportError> {
        Ok(self.store.append(games)?)
    }

    fn newest_checkpoint(
        &mut self,
        known: Option<u64>,
    ) -> Result<Option<CheckpointFile>, TransportError> {
        let newest = list_checkpoints(&self.checkpoints)?.pop();
        Ok(newest.filter(|file| known.is_none_or(|known| file.step > known)))
    }
}
