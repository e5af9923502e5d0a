//! A worker's transport: its games go through its spool to the server, its checkpoints come from there.

use super::batch::Packer;
use super::error::ClusterError;
use super::link::Link;
use super::names::{CHECKPOINT, RunNames};
use super::sender::Sender;
use super::settings::Announcement;
use super::spool::{Spool, Waiting, disk};
use crate::run::{CheckpointFile, atomic, checkpoint_name};
use crate::store::DiskWait;
use crate::transport::{Transport, TransportError};
use gipf_core::record::GameRecord;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The longest checkpoint that is fetched, in bytes.
const MAX_CHECKPOINT: u64 = 1 << 30;

/// Checkpoints that are kept beside the one in use.
const KEPT: usize = 1;

/// The worker's end of a run.
pub struct Outbox {
    link: Arc<Link>,
    names: RunNames,
    spool: Arc<Spool>,
    sender: Sender,
    packer: Packer,
    checkpoints: PathBuf,
    wait: DiskWait,
    known: Option<Announcement>,
}

/// Where a worker keeps what, and how much.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its folder.
    pub folder: PathBuf,
    /// What this start is called in the ids of its games: 32 hexadecimal digits.
    pub nonce: String,
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
        let spool = Spool::open(&folder, &place.nonce, place.limit, place.wait.clone())?;
        let spool = Arc::new(spool);
        let left = spool.waiting().games;
        if left > 0 {
            tracing::info!("{left} games of an earlier start wait in {}", folder.display());
        }
        warn_of_others(&place.folder, run_id);
        let checkpoints = place.folder.join("checkpoints");
        fs::create_dir_all(&checkpoints)
            .and_then(|()| atomic::remove_leftovers(&checkpoints))
            .map_err(|error| disk(&checkpoints, &error))?;
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
            link,
            names: names.clone(),
            spool,
            checkpoints,
            wait: place.wait.clone(),
            known: None,
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

    /// Fetches a checkpoint, unless its file is here already, and makes sure that it is the announced one.
    fn fetch(&self, announced: &Announcement) -> Result<CheckpointFile, ClusterError> {
        let path = self.checkpoints.join(checkpoint_name(announced.step));
        let file = CheckpointFile { step: announced.step, path };
        if fs::read(&file.path).is_ok_and(|bytes| verify(announced, &bytes).is_ok()) {
            return Ok(file);
        }
        if announced.bytes > MAX_CHECKPOINT {
            return Err(refused(announced, format!("{} bytes are too many", announced.bytes)));
        }
        let bytes =
            self.link.get_object(&self.names.checkpoints(), &announced.name, announced.bytes)?;
        verify(announced, &bytes)?;
        atomic::write(&file.path, &bytes, &self.wait, None)
            .map_err(|error| disk(&file.path, &error))?;
        self.prune(&file.path).map_err(|error| disk(&self.checkpoints, &error))?;
        Ok(file)
    }

    /// Removes older checkpoints.
    fn prune(&self, newest: &Path) -> std::io::Result<()> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.checkpoints)? {
            let path = entry?.path();
            if path != newest {
                others.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        others.sort();
        let gone = others.len().saturating_sub(KEPT);
        others[..gone].iter().try_for_each(|(_, path)| fs::remove_file(path))
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
        let Some(bytes) = self.link.read(&self.names.run_bucket(), CHECKPOINT)? else {
            return Ok(None);
        };
        let announced = Announcement::read(&self.names, &bytes)?;
        if self.known.as_ref() == Some(&announced) {
            return Ok(None);
        }
        let file = self.fetch(&announced)?;
        self.known = Some(announced);
        Ok(Some(file))
    }
}

/// Checks that bytes are those announced.
fn verify(announced: &Announcement, bytes: &[u8]) -> Result<(), ClusterError> {
    if bytes.len() as u64 != announced.bytes {
        return Err(refused(
            announced,
            format!("{} bytes came, {} were announced", bytes.len(), announced.bytes),
        ));
    }
    if sha256(bytes) != announced.sha256 {
        return Err(refused(announced, "its bytes are not those announced (SHA-256)".to_owned()));
    }
    Ok(())
}

fn refused(announced: &Announcement, reason: String) -> ClusterError {
    ClusterError::Checkpoint { name: announced.name.clone(), reason }
}

/// SHA-256 in hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_must_be_the_announced_one() {
        let announced = Announcement {
            step: 3,
            name: "step-00000003".to_owned(),
            bytes: 5,
            sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".to_owned(),
        };
        verify(&announced, b"hello").expect("the announced bytes");
        let longer = verify(&announced, b"hello!").expect_err("longer").to_string();
        assert!(longer.contains("6 bytes came, 5 were announced"), "{longer}");
        let other = verify(&announced, b"hullo").expect_err("other bytes").to_string();
        assert!(other.contains("SHA-256"), "{other}");
    }
}
