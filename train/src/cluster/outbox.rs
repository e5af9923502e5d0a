//! A worker's transport: its games go through its spool to the server, its checkpoints come from there.

use super::batch::Packer;
use super::error::ClusterError;
use super::link::Link;
use super::names::RunNames;
use super::sender::Sender;
use super::settings::Settings;
use super::spool::{Spool, Waiting, disk};
use super::watch::Watch;
use crate::run::CheckpointFile;
use crate::store::DiskWait;
use crate::transport::{Transport, TransportError};
use gipf_core::record::GameRecord;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The worker's end of a run.
pub struct Outbox {
    spool: Arc<Spool>,
    sender: Sender,
    packer: Packer,
    watch: Watch,
}

/// Where a worker keeps what, and how much.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its folder.
    pub folder: PathBuf,
    /// What this start is called in the ids of its games: 32 hexadecimal digits.
    pub nonce: String,
    /// Number of its next message, over all openings of this start.
    pub messages: Arc<AtomicU64>,
    /// The most bytes of games that may wait there.
    pub limit: u64,
    /// How writes wait on a full disk.
    pub wait: DiskWait,
}

impl Outbox {
    /// Opens a worker's end, and begins to send what an earlier start left.
    ///
    /// # Errors
    /// The folder cannot be written, or the sender's thread cannot be started.
    pub fn open(
        link: Arc<Link>,
        names: &RunNames,
        run_id: &str,
        place: &Place,
    ) -> Result<Self, ClusterError> {
        let folder = place.folder.join(run_id);
        let spool = Arc::new(Spool::open(
            &folder,
            &place.nonce,
            Arc::clone(&place.messages),
            place.limit,
            place.wait.clone(),
        )?);
        let left = spool.waiting().games;
        if left > 0 {
            tracing::info!("{left} games of an earlier start wait in {}", folder.display());
        }
        warn_of_others(&place.folder, run_id);
        let failed = |error: std::io::Error| disk(&folder, &error);
        Ok(Self {
            packer: Packer::new(link.max_payload()).map_err(failed)?,
            sender: Sender::start(
                Arc::clone(&link),
                names.clone(),
                run_id.to_owned(),
                Arc::clone(&spool),
            )
            .map_err(failed)?,
            watch: Watch::start(
                link,
                names.clone(),
                place.folder.join("checkpoints"),
                place.wait.clone(),
            )?,
            spool,
        })
    }

    /// What waits on the disk.
    pub fn waiting(&self) -> Waiting {
        self.spool.waiting()
    }

    /// Whether more may wait there: where not, the worker is to stop playing.
    pub fn has_room(&self) -> bool {
        self.spool.has_room()
    }

    /// Sends what is left for up to `time`; what is still left then stays on the disk. How much that is.
    pub fn close(self, time: Duration) -> Waiting {
        self.sender.close(&self.spool, time);
        self.spool.waiting()
    }

    /// The run's settings, if they were looked at since the last call; an error if they can never be used.
    pub(super) fn settings(&self) -> Option<Result<Settings, ClusterError>> {
        self.watch.settings()
    }
}

impl Transport for Outbox {
    /// Takes finished games. On return they are on this machine's disk, from where they go to the server, and with them to the
    /// learner, once.
    fn publish(&mut self, games: &[GameRecord]) -> Result<Vec<bool>, TransportError> {
        for body in self.packer.pack(games)? {
            self.spool.add(&body)?;
        }
        for game in games {
            tracing::debug!("counted {}/{}/{}", game.id.run, game.id.worker, game.id.seq);
        }
        Ok(vec![true; games.len()])
    }

    /// The announced checkpoint, verified and on this machine's disk, if it is another one than before.
    fn new_checkpoint(&mut self) -> Result<Option<CheckpointFile>, TransportError> {
        Ok(self.watch.checkpoint())
    }
}

/// Says that games of other runs lie in a worker's folder: they are kept, and nobody sends them.
fn warn_of_others(folder: &Path, run_id: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = entry.path();
        let is_run = entry.file_name() != run_id && other.join("oversized").is_dir();
        if is_run && fs::read_dir(&other).is_ok_and(|entries| entries.count() > 1) {
            tracing::warn!(
                "{} holds games of another run, which no learner here waits for; remove it if nobody needs them",
                other.display()
            );
        }
    }
}
