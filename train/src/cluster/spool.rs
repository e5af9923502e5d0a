//! A worker's games on their way: each message a file, from before it is counted until the server has it.

use super::batch::Body;
use super::error::ClusterError;
use crate::run::atomic;
use crate::store::DiskWait;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ending of a message's file.
const ENDING: &str = ".games";

/// The folder of games that no message of the server can hold.
const OVERSIZED: &str = "oversized";

/// A message on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parcel {
    /// `NONCE-NUMBER-GAMES`: what the server knows it by, and its file's name.
    pub(super) id: String,
    /// Its games.
    pub(super) games: u64,
    /// Its bytes.
    pub(super) bytes: u64,
}

/// What waits on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Games.
    pub games: u64,
    /// Bytes.
    pub bytes: u64,
    /// Games that no message of the server can hold: they stay where they are.
    pub oversized: u64,
}

/// The messages of one run in a worker's folder, oldest first. One process at a time; two of its threads, one that adds and one
/// that sends.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    nonce: String,
    /// Number of the next message of this start.
    next: Arc<AtomicU64>,
    limit: u64,
    wait: DiskWait,
    inner: Mutex<Inner>,
    added: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    parcels: VecDeque<Parcel>,
    waiting: Waiting,
}

impl Spool {
    /// Takes up what an earlier start left in a folder, which is made if it is missing. Messages of this start are called by
    /// `nonce` and numbered by `next`, which all spools of a start share: the server takes a second message of one name for the
    /// first one sent again. More than `limit` bytes are a reason to stop playing.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub(super) fn open(
        folder: &Path,
        nonce: &str,
        next: Arc<AtomicU64>,
        limit: u64,
        wait: DiskWait,
    ) -> Result<Self, ClusterError> {
        let aside = folder.join(OVERSIZED);
        let listed = fs::create_dir_all(&aside)
            .and_then(|()| atomic::remove_leftovers(folder))
            .and_then(|()| parcels(folder))
            .map_err(|error| disk(folder, &error))?;
        let oversized = parcels(&aside).map_err(|error| disk(&aside, &error))?;
        let inner = Inner {
            waiting: Waiting {
                games: listed.iter().map(|parcel| parcel.games).sum(),
                bytes: listed.iter().map(|parcel| parcel.bytes).sum(),
                oversized: oversized.iter().map(|parcel| parcel.games).sum(),
            },
            parcels: listed.into(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            nonce: nonce.to_owned(),
            next,
            limit,
            wait,
            inner: Mutex::new(inner),
            added: Condvar::new(),
        })
    }

    /// Adds a message; on return it survives a power cut. A full disk is waited for.
    ///
    /// # Errors
    /// The folder cannot be written, or the disk is full and the worker was told to stop.
    pub(super) fn add(&self, body: &Body) -> Result<(), ClusterError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("{}-{number:08}-{}", self.nonce, body.games);
        let path = if body.oversized { self.oversized(&id) } else { self.path(&id) };
        atomic::write(&path, &body.bytes, &self.wait, Some(&atomic::SPOOL))
            .map_err(|error| disk(&path, &error))?;
        let (games, bytes) = (body.games as u64, body.bytes.len() as u64);
        let mut inner = self.lock();
        if body.oversized {
            inner.waiting.oversized += games;
            drop(inner);
            warn_oversized(&path);
            return Ok(());
        }
        inner.waiting.games += games;
        inner.waiting.bytes += bytes;
        inner.parcels.push_back(Parcel { id, games, bytes });
        drop(inner);
        self.added.notify_all();
        Ok(())
    }

    /// The oldest messages, up to `count`; they stay until they are [`Spool::delivered`]. Waits up to `patience` for the first one.
    pub(super) fn oldest(&self, count: usize, patience: Duration) -> Vec<Parcel> {
        let empty = |inner: &mut Inner| inner.parcels.is_empty();
        let (inner, _) = self
            .added
            .wait_timeout_while(self.lock(), patience, empty)
            .unwrap_or_else(PoisonError::into_inner);
        inner.parcels.iter().take(count).cloned().collect()
    }

    /// The bytes of a message.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub(super) fn read(&self, parcel: &Parcel) -> Result<Vec<u8>, ClusterError> {
        let path = self.path(&parcel.id);
        fs::read(&path).map_err(|error| disk(&path, &error))
    }

    /// Forgets a message that the server has.
    ///
    /// # Errors
    /// Its file cannot be removed: it would be sent again after the next start, which does no harm.
    pub(super) fn delivered(&self, parcel: &Parcel) -> Result<(), ClusterError> {
        let path = self.path(&parcel.id);
        self.forget(parcel);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk(&path, &error)),
            _ => Ok(()),
        }
    }

    /// Puts a message aside that the server will never take, for its size.
    ///
    /// # Errors
    /// Its file cannot be moved.
    pub(super) fn set_aside(&self, parcel: &Parcel) -> Result<(), ClusterError> {
        let path = self.oversized(&parcel.id);
        fs::rename(self.path(&parcel.id), &path).map_err(|error| disk(&path, &error))?;
        self.forget(parcel);
        self.lock().waiting.oversized += parcel.games;
        warn_oversized(&path);
        Ok(())
    }

    /// What waits.
    pub(super) fn waiting(&self) -> Waiting {
        self.lock().waiting
    }

    /// Whether more may wait.
    pub(super) fn has_room(&self) -> bool {
        self.lock().waiting.bytes < self.limit
    }

    fn forget(&self, parcel: &Parcel) {
        let mut inner = self.lock();
        if let Some(at) = inner.parcels.iter().position(|other| other.id == parcel.id) {
            inner.parcels.remove(at);
            inner.waiting.games -= parcel.games;
            inner.waiting.bytes -= parcel.bytes;
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{ENDING}"))
    }

    fn oversized(&self, id: &str) -> PathBuf {
        self.folder.join(OVERSIZED).join(format!("{id}{ENDING}"))
    }

    /// What is locked is whole at every moment, so one left by a panicking thread is sound.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn warn_oversized(path: &Path) {
    tracing::warn!(
        "{}: larger than any message that the server takes; raise its max_payload and move the file one folder up",
        path.display()
    );
}

/// The messages of a folder, by name: those of one start in the order in which it made them.
fn parcels(folder: &Path) -> io::Result<Vec<Parcel>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(id) = name.strip_suffix(ENDING)
            && let Some(games) = id.rsplit('-').next().and_then(|games| games.parse().ok())
        {
            found.push(Parcel { id: id.to_owned(), games, bytes: entry.metadata()?.len() });
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

pub(super) fn disk(path: &Path, error: &io::Error) -> ClusterError {
    ClusterError::Disk { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::batch::{HEADER_ROOM, Packer, unpack};
    use crate::test_games::game;

    const NONCE: &str = "00000000000000000000000000000001";

    fn open(folder: &Path, nonce: &str, limit: u64) -> Spool {
        Spool::open(folder, nonce, Arc::default(), limit, DiskWait::default()).expect("a spool")
    }

    #[test]
    fn messages_stay_until_they_are_delivered_also_over_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let games: Vec<_> = (0..6).map(|seq| game("standard", seq, 30)).collect();
        let mut packer = Packer::new(1 << 20).expect("a packer");
        let spool = open(folder.path(), NONCE, 1_000_000);
        for part in games.chunks(2) {
            spool.add(&packer.pack(part).expect("packs")[0]).expect("adds");
        }
        let first = spool.oldest(2, Duration::ZERO);
        assert_eq!((first.len(), first[0].games), (2, 2));
        assert_eq!(unpack(&spool.read(&first[0]).expect("reads")).expect("games"), games[..2]);
        spool.delivered(&first[0]).expect("removes");
        assert_eq!(spool.waiting().games, 4);
        // A half-written file is what a killed start leaves; another start goes on with the rest.
        fs::write(folder.path().join(".x.games.tmp"), "half").expect("writes");
        drop(spool);
        let spool = open(folder.path(), &NONCE.replace('1', "2"), 10);
        assert_eq!(spool.waiting().games, 4);
        assert!(!spool.has_room(), "{:?}", spool.waiting());
        for parcel in spool.oldest(9, Duration::ZERO) {
            spool.delivered(&parcel).expect("removes");
        }
        assert!(spool.has_room() && spool.oldest(1, Duration::ZERO).is_empty());
    }

    #[test]
    fn no_two_messages_of_a_start_have_one_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let games: Vec<_> = (0..3).map(|seq| game("standard", seq, 30)).collect();
        let mut packer = Packer::new(1 << 20).expect("a packer");
        let (next, mut names) = (Arc::new(AtomicU64::new(0)), Vec::new());
        for game in &games {
            // As when the run's settings change: opened again, whether or not all was delivered before.
            let wait = DiskWait::default();
            let spool = Spool::open(folder.path(), NONCE, Arc::clone(&next), 1 << 20, wait);
            let spool = spool.expect("a spool");
            spool.add(&packer.pack(std::slice::from_ref(game)).expect("packs")[0]).expect("adds");
            for parcel in spool.oldest(9, Duration::ZERO) {
                spool.delivered(&parcel).expect("removes");
                names.push(parcel.id);
            }
        }
        names.dedup();
        assert_eq!(names.len(), games.len(), "{names:?}");
    }

    #[test]
    fn what_no_message_can_hold_is_kept_apart_and_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut packer = Packer::new(HEADER_ROOM + 100).expect("a packer");
        let bodies = packer.pack(&[game("standard", 1, 60)]).expect("packs");
        let spool = open(folder.path(), NONCE, 1_000_000);
        spool.add(&bodies[0]).expect("adds");
        assert_eq!(spool.waiting(), Waiting { games: 0, bytes: 0, oversized: 1 });
        assert_eq!(open(folder.path(), NONCE, 1).waiting().oversized, 1);
        // Or the server turns out to take less than was thought.
        let small = Packer::new(1 << 20).expect("a packer").pack(&[game("standard", 2, 60)]);
        spool.add(&small.expect("packs")[0]).expect("adds");
        spool.set_aside(&spool.oldest(1, Duration::ZERO)[0]).expect("moves");
        assert_eq!(spool.waiting(), Waiting { games: 0, bytes: 0, oversized: 2 });
    }
}
