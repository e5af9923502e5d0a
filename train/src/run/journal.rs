//! Files that only grow, one JSON object a line: what a run has been through.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::RunError;
use crate::store::DiskWait;

/// The lines of a journal, oldest first; none if there is no file. A last line that a killed process left half-written is
/// left out.
///
/// # Errors
/// The file cannot be read, or another line is not what it should be.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes.map_err(|error| RunError::io(path, error))?,
    };
    let parse = |(index, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|error| RunError::Damaged {
            path: path.to_owned(),
            reason: format!("line {}: {error}", index + 1),
        })
    };
    whole(&bytes).split_inclusive(|&byte| byte == b'\n').enumerate().map(parse).collect()
}

/// Appends lines and makes them durable; what a killed process left half-written goes first.
///
/// # Errors
/// Any I/O error but a full disk, which is waited for.
pub fn append<T: Serialize>(path: &Path, lines: &[T], wait: &DiskWait) -> Result<(), RunError> {
    let failed = |error| RunError::io(path, error);
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    wait.retry(folder, bytes.len() as u64, || {
        let end = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            old => whole(&old?).len() as u64,
        };
        let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            // What is half-written takes the very room that is missing.
            let _ = file.set_len(end);
        }
        written
    })
    .map_err(failed)
}

/// The lines in the order of their steps: a later line for a step, or for an earlier one, replaces those from there on,
/// because the run was taken up before them.
pub fn by_step<T>(lines: Vec<T>, step: impl Fn(&T) -> u64) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(lines.len());
    for line in lines {
        while kept.last().is_some_and(|last| step(last) >= step(&line)) {
            kept.pop();
        }
        kept.push(line);
    }
    kept
}

/// The whole lines of a text.
fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_went_back_has_one_history() {
        let lines = vec![(0, 'a'), (10, 'b'), (20, 'c'), (10, 'd'), (10, 'e'), (15, 'f')];
        assert_eq!(by_step(lines, |line| line.0), [(0, 'a'), (10, 'e'), (15, 'f')]);
    }

    #[test]
    fn a_torn_line_is_left_out_and_then_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let wait = DiskWait::default();
        assert!(read::<u64>(&path).expect("nothing").is_empty());
        append(&path, &[1u64, 2], &wait).expect("writes");
        let mut bytes = fs::read(&path).expect("reads");
        bytes.extend_from_slice(b"{\"to");
        fs::write(&path, bytes).expect("writes");
        assert_eq!(read::<u64>(&path).expect("reads"), [1, 2]);
        append(&path, &[3u64], &wait).expect("writes");
        assert_eq!(fs::read_to_string(&path).expect("reads"), "1\n2\n3\n");
        fs::write(&path, "1\nx\n3\n").expect("writes");
        let error = read::<u64>(&path).expect_err("damaged").to_string();
        assert!(error.contains("a.jsonl is damaged: line 2"), "{error}");
    }
}
