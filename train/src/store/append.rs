//! Appending games: written, made durable, then counted.

use super::{MAX_RECORD, Segment, Store, StoreError};
use crate::faults;
use crate::run::atomic::sync_folder;
use gipf_core::record::GameRecord;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

impl Store {
    /// Appends games and makes them durable; per game whether it is new. A game whose id is stored already is not stored
    /// again. A full disk is waited for; when this returns, every new game is counted and survives a power cut.
    ///
    /// # Errors
    /// An I/O error or a record beyond [`MAX_RECORD`]: then none of these games is counted.
    pub fn append(&mut self, records: &[GameRecord]) -> Result<Vec<bool>, StoreError> {
        let mut frames = Vec::new();
        let mut new = Vec::with_capacity(records.len());
        for (index, record) in records.iter().enumerate() {
            let repeated = self.ids.contains(&record.id)
                || records[..index].iter().any(|earlier| earlier.id == record.id);
            new.push(!repeated);
            if !repeated {
                self.encode(record, &mut frames)?;
            }
        }
        let games = new.iter().filter(|new| **new).count() as u64;
        if games > 0 {
            self.write_frames(&frames)?;
            if let Some(segment) = self.segments.last_mut() {
                segment.bytes += frames.len() as u64;
                segment.games += games;
            }
            let number = self.segments.last().map_or(self.first_number, |segment| segment.number);
            let of_segment = self.segment_ids.entry(number).or_default();
            for (record, _) in records.iter().zip(&new).filter(|(_, new)| **new) {
                self.ids.insert(&record.id);
                of_segment.insert(&record.id);
            }
        }
        Ok(new)
    }

    fn encode(&mut self, record: &GameRecord, frames: &mut Vec<u8>) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| StoreError::io(&self.folder, error.into()))?;
        line.push(b'\n');
        if line.len() > MAX_RECORD {
            return Err(StoreError::TooLong {
                id: format!("{}/{}/{}", record.id.run, record.id.worker, record.id.seq),
                bytes: line.len(),
            });
        }
        self.encoder.encode(&line, frames).map_err(|error| StoreError::io(&self.folder, error))
    }

    /// Writes frames behind the last whole one and makes them durable.
    fn write_frames(&mut self, frames: &[u8]) -> Result<(), StoreError> {
        let full =
            self.segments.last().is_none_or(|segment| segment.bytes >= self.options.segment_bytes);
        if full {
            let number =
                self.segments.last().map_or(self.first_number, |segment| segment.number + 1);
            self.segments.push(Segment { number, bytes: 0, first_game: self.games(), games: 0 });
            self.file = None;
        }
        let Some(segment) = self.segments.last() else { return Ok(()) };
        let (path, end) = (self.segment_path(segment.number), segment.bytes);
        let (folder, wait) = (self.folder.clone(), self.wait.clone());
        wait.retry(&folder, frames.len() as u64, || {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(open_segment(&path, &folder)?),
            };
            let written = write_at(file, end, frames);
            if written.is_err() {
                // Nothing half-written stays, and the room it took is free again.
                let _ = file.set_len(end);
            }
            written
        })
        .map_err(|error| StoreError::io(&path, error))
    }
}

/// Opens a segment for writing and makes its name durable.
fn open_segment(path: &Path, folder: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    sync_folder(folder)?;
    faults::point("segment.after_create");
    Ok(file)
}

fn write_at(file: &mut File, end: u64, frames: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(end))?;
    if faults::is_armed("append.half_frame") {
        file.write_all(&frames[..frames.len() / 2])?;
        faults::point("append.half_frame");
        file.seek(SeekFrom::Start(end))?;
    }
    file.write_all(frames)?;
    faults::point("append.after_write");
    faults::point("append.before_fsync");
    file.sync_data()?;
    faults::point("append.after_fsync");
    Ok(())
}
