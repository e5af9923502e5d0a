//! Reading TensorBoard's event files back: the curves that `learner::scalars` wrote.
//!
//! A file is records: length (8 bytes, little endian), its masked CRC-32C (4), the bytes, their masked CRC-32C (4); the
//! bytes are a protobuf `Event`. Event kinds and fields that this program does not write are skipped.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protobuf::Message;
use tensorboard_proto::event::Event;
use tensorboard_rs::masked_crc32c::masked_crc32c;

/// Bytes before a record's content: its length and the length's checksum.
const HEAD: usize = 12;
/// Bytes after it: the content's checksum.
const FOOT: usize = 4;

/// The curves of a run: by tag, values over training steps, ascending, one a step.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Curves {
    tags: BTreeMap<String, BTreeMap<u64, f64>>,
}

/// What one file holds.
#[derive(Debug, Default)]
struct EventFile {
    /// When its first event was written, in seconds since 1970; 0 in an empty file.
    begun: f64,
    /// Step, tag and value, in the order of writing.
    points: Vec<(u64, String, f64)>,
    /// What is wrong with it, in one line.
    fault: Option<String>,
}

impl Curves {
    /// The points of a tag, `(step, value)`; none for an unknown tag.
    pub(super) fn get(&self, tag: &str) -> Vec<(f64, f64)> {
        let points = self.tags.get(tag).into_iter().flatten();
        points.map(|(&step, &value)| (step as f64, value)).collect()
    }

    /// The tags that have points, in the order of the alphabet.
    pub(super) fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.keys().map(String::as_str)
    }

    /// Adds the points of a later file. A later start of training went on from a save point, so what an earlier one told of the
    /// steps from its first one on was lost with that start and is replaced; curves that the file does not have, as one of
    /// ratings has none of training, stay.
    fn add(&mut self, points: Vec<(u64, String, f64)>) {
        // By curve: what is told of a checkpoint, as by a gate, may be of an older step than what training tells.
        let mut firsts = BTreeMap::<&str, u64>::new();
        for (step, tag, _) in &points {
            firsts.entry(tag).and_modify(|first| *first = (*first).min(*step)).or_insert(*step);
        }
        for (tag, first) in firsts {
            if let Some(before) = self.tags.get_mut(tag) {
                before.split_off(&first);
            }
        }
        for (step, tag, value) in points {
            self.tags.entry(tag).or_default().insert(step, value);
        }
    }
}

/// Reads all event files of a folder, oldest first, and what is wrong with any of them, a line each.
///
/// A missing folder holds no curves. A record cut off at a file's end is being written, or was when the run was killed:
/// that is no fault.
pub(super) fn read(folder: &Path) -> (Curves, Vec<String>) {
    let (mut curves, mut faults) = (Curves::default(), Vec::new());
    let paths = match event_files(folder) {
        Ok(paths) => paths,
        Err(error) => return (curves, vec![format!("{}: {error}", folder.display())]),
    };
    let mut files = Vec::new();
    for path in paths {
        match fs::read(&path) {
            Ok(bytes) => {
                let file = parse(&bytes);
                faults.extend(file.fault.iter().map(|it| format!("{}: {it}", path.display())));
                files.push(file);
            }
            Err(error) => faults.push(format!("{}: {error}", path.display())),
        }
    }
    files.sort_by(|a, b| a.begun.total_cmp(&b.begun));
    for file in files {
        curves.add(file.points);
    }
    (curves, faults)
}

fn event_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains("tfevents") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a file's bytes as far as they can be trusted.
fn parse(bytes: &[u8]) -> EventFile {
    let mut file = EventFile::default();
    let (mut at, mut damaged) = (0, 0_u64);
    while let Some(head) = bytes.get(at..at + HEAD) {
        let (length, sum) = head.split_at(8);
        if masked_crc32c(length).to_le_bytes() != *sum {
            // Without a length nothing tells where the next record begins.
            file.fault = Some(format!("damaged at byte {at}: what follows is left out"));
            return file;
        }
        let length = length.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
        let content = at + HEAD;
        let Some(end) = usize::try_from(length)
            .ok()
            .and_then(|length| content.checked_add(length))
            .filter(|end| end.saturating_add(FOOT) <= bytes.len())
        else {
            break;
        };
        let (content, sum) = (&bytes[content..end], &bytes[end..end + FOOT]);
        at = end + FOOT;
        let whole = masked_crc32c(content).to_le_bytes() == *sum;
        match whole.then(|| Event::parse_from_bytes(content)) {
            Some(Ok(event)) => file.take(&event),
            _ => damaged += 1,
        }
    }
    if damaged > 0 {
        let records = if damaged == 1 { "record is" } else { "records are" };
        file.fault = Some(format!("{damaged} damaged {records} left out"));
    }
    file
}

impl EventFile {
    fn take(&mut self, event: &Event) {
        if self.begun == 0.0 {
            self.begun = event.get_wall_time();
        }
        let Ok(step) = u64::try_from(event.get_step()) else { return };
        if !event.has_summary() {
            return;
        }
        for value in event.get_summary().get_value() {
            let number = f64::from(value.get_simple_value());
            if value.has_simple_value() && number.is_finite() {
                self.points.push((step, value.get_tag().to_owned(), number));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tensorboard_rs::record_writer::RecordWriter;
    use tensorboard_rs::summary::scalar;

    use super::*;

    fn event(begun: f64, step: i64, tag: &str, value: f32) -> Event {
        let mut event = Event::new();
        event.set_wall_time(begun);
        event.set_step(step);
        event.set_summary(scalar(tag, value));
        event
    }

    fn records(events: &[Event]) -> Vec<u8> {
        let mut writer = Vec::new();
        let mut records = RecordWriter::new(&mut writer);
        for event in events {
            records.write(&event.write_to_bytes().expect("encodes")).expect("writes");
        }
        writer
    }

    fn values(file: &EventFile) -> Vec<(u64, f64)> {
        file.points.iter().map(|(step, _, value)| (*step, *value)).collect()
    }

    #[test]
    fn a_torn_tail_is_no_fault_wherever_it_is_torn() {
        let events = [event(1.0, 50, "a", 0.5), event(2.0, 100, "a", 0.25)];
        let (one, two) = (records(&events[..1]).len(), records(&events));
        assert_eq!(values(&parse(&two)), [(50, 0.5), (100, 0.25)]);
        for length in one..two.len() {
            let file = parse(&two[..length]);
            assert_eq!(values(&file), [(50, 0.5)], "{length} bytes");
            assert_eq!(file.fault, None, "{length} bytes");
        }
    }

    #[test]
    fn no_flipped_byte_passes() {
        let events =
            [event(1.0, 50, "a", 0.5), event(2.0, 100, "a", 0.25), event(3.0, 150, "a", 0.125)];
        let (first, second) = (records(&events[..1]).len(), records(&events[..2]).len());
        let bytes = records(&events);
        for index in first..second {
            let mut bytes = bytes.clone();
            bytes[index] ^= 0x10;
            let file = parse(&bytes);
            let fault = file.fault.clone().expect("a fault");
            if index < first + HEAD {
                assert_eq!(values(&file), [(50, 0.5)]);
                assert_eq!(fault, format!("damaged at byte {first}: what follows is left out"));
            } else {
                assert_eq!(values(&file), [(50, 0.5), (150, 0.125)]);
                assert_eq!(fault, "1 damaged record is left out");
            }
        }
    }

    #[test]
    fn unknown_fields_and_events_are_skipped() {
        let mut known = event(1.0, 50, "a", 0.5).write_to_bytes().expect("encodes");
        // Field 900, a varint; field 901, three bytes.
        known.extend([0xA0, 0x38, 0x07, 0xAA, 0x38, 0x03, 1, 2, 3]);
        let mut version = Event::new();
        version.set_file_version("brain.Event:2".to_owned());
        let mut bytes = records(&[version]);
        RecordWriter::new(&mut bytes).write(&known).expect("writes");
        // A length beyond any file is a record that has not been written yet.
        let length = u64::MAX.to_le_bytes();
        bytes.extend(length);
        bytes.extend(masked_crc32c(&length).to_le_bytes());
        let file = parse(&bytes);
        assert_eq!((values(&file), file.fault), (vec![(50, 0.5)], None));
    }

    #[test]
    fn a_later_start_replaces_what_it_did_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, events: &[Event]| {
            fs::write(folder.path().join(name), records(events)).expect("writes");
        };
        // By name the second start comes first: the time within decides.
        let lost = [100, 150].map(|step| event(11.0, step, "a", 2.0));
        write("tfevents.9", &[&[event(10.0, 50, "a", 1.0)][..], &lost].concat());
        write("tfevents.1", &[event(20.0, 100, "a", 3.0), event(21.0, 150, "b", 4.0)]);
        // Ratings, written after training, say nothing of other curves.
        write("tfevents.2", &[event(30.0, 0, "c", 5.0)]);
        fs::write(folder.path().join("tfevents.5"), b"").expect("writes");
        fs::write(folder.path().join("notes.txt"), b"nothing of ours").expect("writes");
        fs::write(folder.path().join("tfevents.7"), b"no record is this").expect("writes");
        let (curves, faults) = read(folder.path());
        assert_eq!(curves.get("a"), [(50.0, 1.0), (100.0, 3.0)]);
        assert_eq!(curves.get("b"), [(150.0, 4.0)]);
        assert_eq!(curves.get("c"), [(0.0, 5.0)]);
        assert_eq!(curves.get("d"), []);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].ends_with("tfevents.7: damaged at byte 0: what follows is left out"));
        assert_eq!(read(&folder.path().join("nowhere")), (Curves::default(), Vec::new()));
    }
}
