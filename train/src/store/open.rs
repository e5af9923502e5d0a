//! Opening a store: every segment is read, a torn tail is cut, every game is counted once.

use super::frame::{Encoder, Frame, FrameReader, MAGIC};
use super::prune::{self, Pruned};
use super::{DiskWait, Segment, Store, StoreError, StoreOptions, segment_number};
use gipf_core::record::GameId;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The one part of a record that counting needs; the rest is skipped, not built.
#[derive(Deserialize)]
struct Identified {
    id: GameId,
}

impl Store {
    /// Opens the games of a folder, which is made if it is missing.
    ///
    /// Bytes behind the last whole frame of the last segment are what a killed writer left: they are cut, with one
    /// warning on the log. Anything else that is wrong is an error, and nothing is changed.
    ///
    /// # Errors
    /// Damage before the end, a missing segment, a frame that is no record, an I/O error.
    pub fn open(folder: &Path, options: StoreOptions, wait: DiskWait) -> Result<Self, StoreError> {
        Self::open_counted(folder, options, wait, 0)
    }

    /// The same where `counted` games are known to be there: fewer are an error too, before anything is cut.
    ///
    /// # Errors
    /// As [`Store::open`], and [`StoreError::GamesLost`].
    pub fn open_counted(
        folder: &Path,
        options: StoreOptions,
        wait: DiskWait,
        counted: u64,
    ) -> Result<Self, StoreError> {
        let failed = |error| StoreError::io(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let pruned = Pruned::read(folder)?;
        let mut store = Self {
            folder: folder.to_owned(),
            options,
            wait,
            segments: Vec::new(),
            file: None,
            ids: pruned.ids.clone(),
            segment_ids: BTreeMap::new(),
            pruned_ids: pruned.ids,
            repeated: BTreeSet::new(),
            pruned: pruned.games,
            first_number: pruned.segments,
            encoder: Encoder::new(options.level).map_err(failed)?,
        };
        let numbers = segment_numbers(folder)?;
        prune::remove_segments(
            folder,
            numbers.iter().copied().filter(|number| *number < pruned.segments),
        )?;
        let numbers: Vec<_> =
            numbers.into_iter().filter(|number| *number >= pruned.segments).collect();
        let mut torn = None;
        for (index, number) in numbers.iter().enumerate() {
            let expected = pruned.segments + index as u64;
            if *number != expected {
                return Err(StoreError::Missing { path: store.segment_path(expected) });
            }
            torn = store.scan(*number, index + 1 == numbers.len())?;
        }
        store.expect_games(counted)?;
        if let Some(torn) = torn {
            torn.cut()?;
        }
        Ok(store)
    }

    /// Reads one segment, the next in order, and changes nothing; the torn tail of the last one, if it has one.
    fn scan(&mut self, number: u64, last: bool) -> Result<Option<Torn>, StoreError> {
        let path = self.segment_path(number);
        let failed = |error| StoreError::io(&path, error);
        let mut reader = FrameReader::new(File::open(&path).map_err(failed)?).map_err(failed)?;
        let mut segment = Segment { number, bytes: 0, first_game: self.games(), games: 0 };
        let torn = loop {
            match reader.next().map_err(failed)? {
                Frame::Whole { offset, content } => {
                    let record: Identified =
                        serde_json::from_slice(content).map_err(|error| StoreError::NoRecord {
                            path: path.clone(),
                            offset,
                            reason: error.to_string(),
                        })?;
                    if self.ids.insert(&record.id) {
                        self.segment_ids.entry(number).or_default().insert(&record.id);
                        segment.games += 1;
                    } else {
                        self.repeated.insert((number, offset));
                    }
                }
                Frame::Broken { offset, reason } => break Some((offset, reason)),
                Frame::End => break None,
            }
        };
        let length = fs::metadata(&path).map_err(failed)?.len();
        segment.bytes = length;
        if let Some((offset, reason)) = &torn {
            let (offset, reason) = (*offset, reason.clone());
            if !last || reader.whole_frame_follows().map_err(failed)? {
                return Err(StoreError::Damaged { path, offset, reason });
            }
            // A writer that is killed leaves the beginning of a frame, or zeros.
            if offset == 0 && !begins_as_written(&path).map_err(failed)? {
                let reason = "it is no file of games, and is left as it is".to_owned();
                return Err(StoreError::Damaged { path, offset, reason });
            }
            segment.bytes = offset;
        }
        self.segments.push(segment);
        Ok(torn.map(|(offset, _)| Torn { path, offset, bytes: length - offset }))
    }
}

/// Whether a file's first bytes are such that a writer of games may have left them.
fn begins_as_written(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(MAGIC.starts_with(&head) || head.iter().all(|byte| *byte == 0))
}

/// What a killed writer left behind the last whole game.
struct Torn {
    path: PathBuf,
    offset: u64,
    bytes: u64,
}

impl Torn {
    fn cut(self) -> Result<(), StoreError> {
        let Self { path, offset, bytes } = self;
        let failed = |error| StoreError::io(&path, error);
        let file = File::options().write(true).open(&path).map_err(failed)?;
        file.set_len(offset).and_then(|()| file.sync_all()).map_err(failed)?;
        tracing::warn!(
            "{}: cut {bytes} bytes behind byte {offset}, a game whose writing was cut off",
            path.display()
        );
        Ok(())
    }
}

/// The numbers of a folder's segments, ascending.
pub(super) fn segment_numbers(folder: &Path) -> Result<Vec<u64>, StoreError> {
    let failed = |error| StoreError::io(folder, error);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        numbers.extend(entry.file_name().to_str().and_then(segment_number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
