//! The newest games of a folder, read without holding it: for looking at a run while another process works in it.

use super::frame::{Frame, FrameReader};
use super::open::segment_numbers;
use super::{StoreError, segment_name};
use gipf_core::record::GameRecord;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;

/// What was found.
#[derive(Debug, Default)]
pub struct NewestRecords {
    /// The games, oldest first.
    pub records: Vec<GameRecord>,
    /// What is wrong with the files, one line each.
    pub faults: Vec<String>,
}

/// The last `count` games of a folder of segments; a missing folder holds none.
///
/// Nothing is changed. Damage costs the games it touches and the one behind it, and is told; bytes behind the last whole game are being written, or
/// were when a writer was killed, and are passed over. Memory is bounded by `count` records.
///
/// # Errors
/// The folder cannot be read.
pub fn newest_records(folder: &Path, count: usize) -> Result<NewestRecords, StoreError> {
    let mut found = NewestRecords::default();
    if !folder.exists() {
        return Ok(found);
    }
    let numbers = segment_numbers(folder)?;
    // Newest first, until there are enough.
    let mut lines: VecDeque<Vec<u8>> = VecDeque::new();
    for number in numbers.into_iter().rev() {
        if lines.len() >= count {
            break;
        }
        let path = folder.join(segment_name(number));
        let mut part = VecDeque::new();
        if let Err(error) = read_segment(&path, count - lines.len(), &mut part, &mut found.faults) {
            found.faults.push(format!("{}: {error}", path.display()));
        }
        part.append(&mut lines);
        lines = part;
    }
    for line in lines {
        let text = String::from_utf8_lossy(&line);
        match GameRecord::from_json(text.trim_end()) {
            Ok(record) => found.records.push(record),
            Err(error) => found.faults.push(format!("{}: {error}", folder.display())),
        }
    }
    Ok(found)
}

/// The last `count` lines of one segment.
fn read_segment(
    path: &Path,
    count: usize,
    lines: &mut VecDeque<Vec<u8>>,
    faults: &mut Vec<String>,
) -> io::Result<()> {
    let mut reader = FrameReader::new(File::open(path)?)?;
    loop {
        match reader.next()? {
            Frame::Whole { content, .. } => {
                if lines.len() == count {
                    lines.pop_front();
                }
                lines.push_back(content.to_vec());
            }
            Frame::Broken { offset, reason } => {
                if !reader.whole_frame_follows()? {
                    return Ok(());
                }
                faults.push(format!("{} is damaged at byte {offset}: {reason}", path.display()));
            }
            Frame::End => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DiskWait, Store, StoreOptions};
    use crate::test_games::game;
    use std::fs;

    fn read(folder: &Path, count: usize) -> (Vec<u64>, Vec<String>) {
        let found = newest_records(folder, count).expect("reads");
        (found.records.iter().map(|record| record.id.seq).collect(), found.faults)
    }

    #[test]
    fn the_newest_come_over_segments_and_around_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let games: Vec<_> = (0..30).map(|seq| game("standard", seq, 12)).collect();
        let options = StoreOptions { segment_bytes: 3_000, ..StoreOptions::default() };
        let mut store = Store::open(folder.path(), options, DiskWait::default()).expect("a store");
        for part in games.chunks(4) {
            store.append(part).expect("appends");
        }
        let last = store.segments.len() as u64;
        assert!(last > 3, "{last} segments");
        let all = |from: u64| (from..30).collect::<Vec<_>>();
        for count in [0, 1, 7, 29, 30, 99] {
            assert_eq!(
                read(folder.path(), count),
                (all(30_u64.saturating_sub(count as u64)), vec![])
            );
        }
        // A game being written.
        let path = store.segment_path(last);
        let bytes = fs::read(&path).expect("reads");
        fs::write(&path, &bytes[..bytes.len() - 5]).expect("writes");
        assert_eq!(read(folder.path(), 99), ((0..29).collect(), vec![]));
        // A damaged game costs itself and the one behind it.
        let path = store.segment_path(1);
        let mut bytes = fs::read(&path).expect("reads");
        bytes[40] ^= 0xFF;
        fs::write(&path, &bytes).expect("writes");
        let (found, faults) = read(folder.path(), 99);
        assert_eq!(found, (2..29).collect::<Vec<_>>());
        assert_eq!(faults.len(), 1);
        assert!(faults[0].contains("000001.jsonl.zst is damaged at byte 0"), "{faults:?}");
        assert_eq!(read(&folder.path().join("nowhere"), 5), (vec![], vec![]));
    }
}
