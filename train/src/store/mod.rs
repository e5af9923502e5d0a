//! The games on disk: appended, made durable, then counted; each once.
//!
//! A record is one line of JSON, in a zstd frame of its own, so that a file cut anywhere keeps every whole game before the
//! cut and `zstdcat games/*.zst` prints them all.

mod append;
mod disk;
mod error;
mod frame;
mod held_out;
mod ids;
mod newest;
mod open;
mod prune;
mod read;
mod records;

pub use disk::{DiskWait, into_io, is_full};
pub use error::StoreError;
pub use frame::MAX_RECORD;
pub use held_out::is_held_out;
pub use ids::IdSet;
pub use newest::{NewestRecords, newest_records};
pub use read::StoredRecords;
pub use records::{RecordFileError, RecordReader};

pub(crate) use frame::{Encoder, Frame, FrameReader};

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// How a store writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOptions {
    /// Size in bytes at which a new segment is begun.
    pub segment_bytes: u64,
    /// zstd level, 1 to 19.
    pub level: i32,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { segment_bytes: 64_000_000, level: 6 }
    }
}

/// One file of games.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    /// Its number, from 1, in its name.
    number: u64,
    /// Length in bytes of its whole frames.
    bytes: u64,
    /// Ordinal of its first game.
    first_game: u64,
    /// Games counted in it.
    games: u64,
}

/// The games of a run. Every game has an ordinal: its place in the order of appending, from 0, which stays when older
/// games are pruned.
pub struct Store {
    folder: PathBuf,
    options: StoreOptions,
    wait: DiskWait,
    segments: Vec<Segment>,
    /// The last segment, open for appending; none before the first append to it.
    file: Option<File>,
    /// All games ever counted, pruned ones included.
    ids: IdSet,
    /// Of these, the games of each segment, and those of the segments pruned away.
    segment_ids: BTreeMap<u64, IdSet>,
    pruned_ids: IdSet,
    /// Frames (segment, offset) that repeat a game: not counted, not read.
    repeated: BTreeSet<(u64, u64)>,
    /// Games pruned away.
    pruned: u64,
    /// Number of the first segment, also of one yet to come.
    first_number: u64,
    encoder: Encoder,
}

impl Store {
    /// The folder of the segments.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Games counted since the run began, pruned ones included: the ordinal of the next one.
    pub fn games(&self) -> u64 {
        self.segments.last().map_or(self.pruned, |segment| segment.first_game + segment.games)
    }

    /// Ordinal of the oldest game still here.
    pub const fn first_game(&self) -> u64 {
        self.pruned
    }

    /// Bytes on the disk.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Checks that no counted game was lost.
    ///
    /// # Errors
    /// [`StoreError::GamesLost`] if there are fewer.
    pub fn expect_games(&self, counted: u64) -> Result<(), StoreError> {
        let found = self.games();
        if found < counted {
            return Err(StoreError::GamesLost { folder: self.folder.clone(), found, counted });
        }
        Ok(())
    }

    /// The first sequence number above those of all games here with this run's id.
    pub fn next_seq(&self, run: &str) -> u64 {
        self.ids.next_seq(run)
    }

    fn segment_path(&self, number: u64) -> PathBuf {
        self.folder.join(segment_name(number))
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("folder", &self.folder)
            .field("games", &self.games())
            .finish_non_exhaustive()
    }
}

/// The file name of a segment.
fn segment_name(number: u64) -> String {
    format!("{number:06}.jsonl.zst")
}

/// The number in a segment's name.
fn segment_number(name: &str) -> Option<u64> {
    let number: u64 = name.strip_suffix(".jsonl.zst")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

#[cfg(test)]
mod full_disk_tests;
#[cfg(test)]
mod tests;
