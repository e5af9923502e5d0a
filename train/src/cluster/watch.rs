//! The thread that looks for new settings and checkpoints, so that a worker's play never waits for the network.

use super::error::ClusterError;
use super::link::Link;
use super::names::{CHECKPOINT, RunNames, SETTINGS};
use super::settings::{Announcement, Settings};
use super::spool::disk;
use crate::run::{CheckpointFile, atomic, checkpoint_name};
use crate::store::DiskWait;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often the server is asked.
const LOOK: Duration = Duration::from_secs(2);

/// How often before there is a first checkpoint.
const FIRST_LOOK: Duration = Duration::from_millis(200);

/// The longest checkpoint that is fetched, in bytes.
const MAX_CHECKPOINT: u64 = 1 << 30;

/// Checkpoints that are kept beside the one in use.
const KEPT: usize = 1;

/// What a worker is to know, as of the last look.
pub(super) struct Watch {
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Seen {
    /// The run's settings, or why they can never be used.
    settings: Option<Result<Settings, ClusterError>>,
    /// A checkpoint that was not told yet.
    checkpoint: Option<CheckpointFile>,
}

impl Watch {
    /// Starts looking; checkpoints go into `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// The folder cannot be written, or the thread cannot be started.
    pub(super) fn start(
        link: Arc<Link>,
        names: RunNames,
        folder: PathBuf,
        wait: DiskWait,
    ) -> Result<Self, ClusterError> {
        fs::create_dir_all(&folder)
            .and_then(|()| atomic::remove_leftovers(&folder))
            .map_err(|error| disk(&folder, &error))?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let failed = |error: std::io::Error| disk(&folder, &error);
        let (shared, stopping) = (Arc::clone(&seen), Arc::clone(&stop));
        let mut lookout = Lookout { link, names, folder: folder.clone(), wait, known: None };
        // Nobody waits for its end: it may be in the middle of a request that takes long.
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                while !stopping.load(Ordering::Relaxed) {
                    lookout.look(&shared);
                    thread::sleep(if lookout.known.is_some() { LOOK } else { FIRST_LOOK });
                }
            })
            .map_err(failed)?;
        Ok(Self { seen, stop })
    }

    /// The run's settings, if a look has found some since the last call.
    pub(super) fn settings(&self) -> Option<Result<Settings, ClusterError>> {
        lock(&self.seen).settings.take()
    }

    /// The announced checkpoint, verified and on the disk, if it is another one than before.
    pub(super) fn checkpoint(&self) -> Option<CheckpointFile> {
        lock(&self.seen).checkpoint.take()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What is seen is whole at every moment, so what a panicking thread left is sound.
fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread works with.
struct Lookout {
    link: Arc<Link>,
    names: RunNames,
    folder: PathBuf,
    wait: DiskWait,
    known: Option<Announcement>,
}

impl Lookout {
    fn look(&mut self, seen: &Mutex<Seen>) {
        if !self.link.is_connected() {
            return;
        }
        match self.link.read(&self.names.run_bucket(), SETTINGS) {
            Ok(Some(bytes)) => {
                let settings = Settings::read(&self.names, &bytes);
                lock(seen).settings = Some(settings);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!("{error}"),
        }
        match self.new_checkpoint() {
            Ok(Some(file)) => lock(seen).checkpoint = Some(file),
            Ok(None) => {}
            Err(error) if error.may_pass() => tracing::debug!("{error}"),
            Err(error) => tracing::warn!("{error}; going on with the checkpoint before"),
        }
    }

    fn new_checkpoint(&mut self) -> Result<Option<CheckpointFile>, ClusterError> {
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

    /// Fetches a checkpoint, unless its file is here already, and makes sure that it is the announced one.
    fn fetch(&self, announced: &Announcement) -> Result<CheckpointFile, ClusterError> {
        let path = self.folder.join(checkpoint_name(announced.step));
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
        self.prune(&file.path).map_err(|error| disk(&self.folder, &error))?;
        Ok(file)
    }

    /// Removes older checkpoints.
    fn prune(&self, newest: &Path) -> std::io::Result<()> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
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
