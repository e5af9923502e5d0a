//! Games from anywhere: any folder or file of records, checked by the rules.

use super::IdSet;
use flate2::read::MultiGzDecoder;
use gipf_core::record::{GameRecord, MAX_RECORD_BYTES, RecordError};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// An error in a file of records. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// No file of records is there.
    #[error("{0} holds no records: no file ends in .jsonl, .jsonl.zst or .jsonl.gz")]
    Empty(PathBuf),
    /// A file cannot be read, or its compression is damaged.
    #[error("{path}{}: {error}", after(*line))]
    Io {
        /// The file.
        path: PathBuf,
        /// The last good line; 0 before the first.
        line: u64,
        /// The system's words.
        error: io::Error,
    },
    /// A line is longer than any record.
    #[error("{path}, line {line}: longer than {MAX_RECORD_BYTES} bytes")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A line is no record, or its game is not by the rules.
    #[error("{path}, line {line}: {error}")]
    Record {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        error: RecordError,
    },
}

fn after(line: u64) -> String {
    if line == 0 { String::new() } else { format!(", after line {line}") }
}

/// Streams the games of files of records, each once, each replayed by the rules, in bounded memory.
///
/// A record cut off at the end of a file, as in a copy of a run that was being written, is left out with a warning.
pub struct RecordReader {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<OpenFile>,
    ids: IdSet,
    repeated: u64,
    finished: bool,
}

struct OpenFile {
    path: PathBuf,
    line: u64,
    input: Box<dyn BufRead + Send>,
}

impl RecordReader {
    /// The games of a file, of a folder of files in the order of their names, or of a run's folder.
    ///
    /// # Errors
    /// It cannot be read or holds no such file.
    pub fn open(path: &Path) -> Result<Self, RecordFileError> {
        let failed = |error| RecordFileError::Io { path: path.to_owned(), line: 0, error };
        let mut files = Vec::new();
        if fs::metadata(path).map_err(failed)?.is_dir() {
            let games = path.join("games");
            let folder = if games.is_dir() { &games } else { path };
            for entry in fs::read_dir(folder).map_err(failed)? {
                let file = entry.map_err(failed)?.path();
                let name = file
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                if [".jsonl", ".jsonl.zst", ".jsonl.gz"].iter().any(|ending| name.ends_with(ending))
                {
                    files.push(file);
                }
            }
            files.sort();
        } else {
            files.push(path.to_owned());
        }
        if files.is_empty() {
            return Err(RecordFileError::Empty(path.to_owned()));
        }
        Ok(Self {
            files: files.into_iter(),
            open: None,
            ids: IdSet::default(),
            repeated: 0,
            finished: false,
        })
    }

    /// Games left out because they came before.
    pub const fn repeated(&self) -> u64 {
        self.repeated
    }

    fn read(&mut self) -> Result<Option<GameRecord>, RecordFileError> {
        loop {
            let Some(file) = &mut self.open else {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.open = Some(OpenFile::new(path)?);
                continue;
            };
            match file.record()? {
                None => self.open = None,
                Some(record) if self.ids.insert(&record.id) => return Ok(Some(record)),
                Some(_) => self.repeated += 1,
            }
        }
    }
}

impl OpenFile {
    fn new(path: PathBuf) -> Result<Self, RecordFileError> {
        let input = (|| -> io::Result<Box<dyn BufRead + Send>> {
            let file = File::open(&path)?;
            Ok(match path.extension().and_then(|extension| extension.to_str()) {
                Some("zst") => Box::new(BufReader::new(zstd::stream::read::Decoder::new(file)?)),
                Some("gz") => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file)))),
                _ => Box::new(BufReader::new(file)),
            })
        })();
        match input {
            Ok(input) => Ok(Self { path, line: 0, input }),
            Err(error) => Err(RecordFileError::Io { path, line: 0, error }),
        }
    }

    /// The next record of the file.
    fn record(&mut self) -> Result<Option<GameRecord>, RecordFileError> {
        loop {
            let mut bytes = Vec::new();
            let read =
                (&mut self.input).take(MAX_RECORD_BYTES as u64 + 1).read_until(b'\n', &mut bytes);
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.warn_cut();
                    return Ok(None);
                }
                Err(error) => {
                    return Err(RecordFileError::Io {
                        path: self.path.clone(),
                        line: self.line,
                        error,
                    });
                }
            }
            self.line += 1;
            let whole = bytes.last() == Some(&b'\n');
            if !whole && bytes.len() > MAX_RECORD_BYTES {
                return Err(RecordFileError::TooLong { path: self.path.clone(), line: self.line });
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return match parse(&bytes) {
                Ok(record) => Ok(Some(record)),
                Err(RecordError::Json(_)) if !whole => {
                    self.warn_cut();
                    Ok(None)
                }
                Err(error) => {
                    Err(RecordFileError::Record { path: self.path.clone(), line: self.line, error })
                }
            };
        }
    }

    fn warn_cut(&self) {
        tracing::warn!("{}: the last record is cut off and left out", self.path.display());
    }
}

fn parse(bytes: &[u8]) -> Result<GameRecord, RecordError> {
    let text = std::str::from_utf8(bytes).map_err(|error| RecordError::Json(error.to_string()))?;
    let record = GameRecord::from_json(text.trim_end())?;
    record.replay()?;
    Ok(record)
}

impl Iterator for RecordReader {
    type Item = Result<GameRecord, RecordFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let next = self.read().transpose();
        // An error is reported once, and nothing after it can be trusted.
        self.finished = !matches!(next, Some(Ok(_)));
        next
    }
}
