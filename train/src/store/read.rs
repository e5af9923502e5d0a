//! Reading stored games in order, in bounded memory.

use super::frame::{Frame, FrameReader};
use super::{Segment, Store, StoreError, segment_name};
use gipf_core::record::GameRecord;
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{Read, Take};
use std::path::PathBuf;

/// The games of a store from some ordinal on, as it was when this was made: `(ordinal, record)`.
pub struct StoredRecords {
    folder: PathBuf,
    segments: VecDeque<Segment>,
    repeated: BTreeSet<(u64, u64)>,
    open: Option<(u64, FrameReader<Take<File>>)>,
    /// Ordinal of the next game read.
    ordinal: u64,
    from: u64,
}

impl Store {
    /// The games from ordinal `from` on.
    pub fn records(&self, from: u64) -> StoredRecords {
        let wanted = |segment: &&Segment| segment.first_game + segment.games > from;
        let segments: VecDeque<_> = self.segments.iter().filter(wanted).cloned().collect();
        StoredRecords {
            folder: self.folder.clone(),
            ordinal: segments.front().map_or(from, |segment| segment.first_game),
            segments,
            repeated: self.repeated.clone(),
            open: None,
            from,
        }
    }
}

impl StoredRecords {
    fn read(&mut self) -> Result<Option<(u64, GameRecord)>, StoreError> {
        loop {
            if self.open.is_none() {
                let Some(segment) = self.segments.pop_front() else { return Ok(None) };
                let path = self.folder.join(segment_name(segment.number));
                // Games appended since are not part of this reading.
                let input = File::open(&path).map(|file| file.take(segment.bytes));
                let reader = input
                    .and_then(FrameReader::new)
                    .map_err(|error| StoreError::io(&path, error))?;
                self.open = Some((segment.number, reader));
            }
            let Some((number, reader)) = &mut self.open else { return Ok(None) };
            let path = || self.folder.join(segment_name(*number));
            match reader.next().map_err(|error| StoreError::io(&path(), error))? {
                Frame::End => self.open = None,
                Frame::Broken { offset, reason } => {
                    return Err(StoreError::Damaged { path: path(), offset, reason });
                }
                Frame::Whole { offset, .. } if self.repeated.contains(&(*number, offset)) => {}
                Frame::Whole { offset, content } => {
                    let ordinal = self.ordinal;
                    self.ordinal += 1;
                    if ordinal >= self.from {
                        let record = serde_json::from_slice(content).map_err(|error| {
                            StoreError::NoRecord { path: path(), offset, reason: error.to_string() }
                        })?;
                        return Ok(Some((ordinal, record)));
                    }
                }
            }
        }
    }
}

impl Iterator for StoredRecords {
    type Item = Result<(u64, GameRecord), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read().transpose();
        if matches!(next, Some(Err(_))) {
            // An error is reported once.
            self.open = None;
            self.segments.clear();
        }
        next
    }
}
