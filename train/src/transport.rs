//! Where finished games go and checkpoints come from.

use crate::cluster::ClusterError;
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
    /// The way to another machine.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// The way between those who play and the one who learns. Games and checkpoints only: whoever plays needs nothing
/// else of a run. Here both are in one process ([`LocalTransport`]) or on machines of their own
/// ([`crate::cluster::Outbox`]).
pub trait Transport: Send {
    /// Takes finished games; per game whether it is new, as far as this end knows. When this returns they are durable and will be
    /// with the learner, each once, also when it was published twice.
    ///
    /// # Errors
    /// The games were not taken; publishing them again is right.
    fn publish(&mut self, games: &[GameRecord]) -> Result<Vec<bool>, TransportError>;

    /// The checkpoint to play with, if it is another one than when this was last asked.
    ///
    /// # Errors
    /// The checkpoints cannot be read.
    fn new_checkpoint(&mut self) -> Result<Option<CheckpointFile>, TransportError>;
}

/// Both ends in one run folder.
#[derive(Debug)]
pub struct LocalTransport {
    store: Store,
    checkpoints: PathBuf,
    known: Option<u64>,
}

impl LocalTransport {
    /// A transport over a run's games and its folder of checkpoints.
    pub const fn new(store: Store, checkpoints: PathBuf) -> Self {
        Self { store, checkpoints, known: None }
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

    fn new_checkpoint(&mut self) -> Result<Option<CheckpointFile>, TransportError> {
        let newest = list_checkpoints(&self.checkpoints)?.pop();
        let new = newest.filter(|file| self.known != Some(file.step));
        self.known = new.as_ref().map(|file| file.step).or(self.known);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::checkpoint_name;
    use crate::store::{DiskWait, StoreOptions};
    use crate::test_games::game;

    #[test]
    fn a_folder_takes_games_once_and_tells_each_checkpoint_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let games = folder.path().join("games");
        let store = Store::open(&games, StoreOptions::default(), DiskWait::default());
        let mut transport = LocalTransport::new(store.expect("a store"), folder.path().to_owned());
        let game = game("standard", 1, 12);
        assert_eq!(transport.publish(&[game.clone(), game.clone()]).expect("takes"), [true, false]);
        assert_eq!(transport.publish(&[game]).expect("takes"), [false]);
        assert_eq!(transport.new_checkpoint().expect("reads"), None);
        for step in [0, 10] {
            std::fs::write(folder.path().join(checkpoint_name(step)), "").expect("writes");
            let told = transport.new_checkpoint().expect("reads").map(|file| file.step);
            assert_eq!(told, Some(step));
            assert_eq!(transport.new_checkpoint().expect("reads"), None);
        }
    }
}
