//! Files of named tensors of floats with text metadata: safetensors, written the same way every time.
//!
//! A safetensors file is the length of a JSON header (8 bytes, little-endian), the header, and the tensors' bytes. Written here,
//! metadata keys and tensors are in the order of their names and the header is padded with spaces to a multiple of 8, so that
//! equal contents make equal files. In memory all numbers are f32; a tensor may be stored with 16 or 8 bits a number.

mod numbers;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::Metadata;
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use numbers::NumberFormat;

/// The longest header that is read, in bytes: a thousand times what the largest network needs is no network.
const MAX_HEADER: u64 = 8 << 20;
/// Numbers converted at a time.
const CHUNK: usize = 1 << 14;

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Its elements, the last dimension fastest.
    pub data: Vec<f32>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// Texts by key.
    pub metadata: BTreeMap<String, String>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// How tensors are stored, by name; those without an entry as F32.
    pub formats: BTreeMap<String, NumberFormat>,
}

/// An error of reading or writing a file of tensors.
#[derive(Debug, Error)]
#[error("{}: {problem}", .path.display())]
pub struct TensorFileError {
    /// The file, or the name the caller gave to the bytes.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: TensorFileProblem,
}

/// What can be wrong with a file of tensors.
#[derive(Debug, Error)]
pub enum TensorFileProblem {
    /// The operating system could not open, read, write or rename it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It does not start as a safetensors file does.
    #[error("not a safetensors file ({0})")]
    Foreign(String),
    /// It ends too early or goes on too long.
    #[error("damaged: {found} bytes where its header says {expected}")]
    Length {
        /// Bytes the header calls for.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// It is larger than any file of this use.
    #[error("{found} bytes of tensors, more than the {limit} that are read")]
    TooLarge {
        /// Bytes of tensors.
        found: u64,
        /// The most that is read.
        limit: u64,
    },
    /// A tensor's numbers are stored in another way than those of [`NumberFormat`].
    #[error("tensor '{name}' is {found}, not F32, F16 or I8")]
    Type {
        /// Its name.
        name: String,
        /// Its type.
        found: String,
    },
}

impl TensorFile {
    /// Reads a file whose tensors take at most `limit` bytes.
    pub fn read(path: &Path, limit: u64) -> Result<Self, TensorFileError> {
        let wrap = |problem| TensorFileError { path: path.to_owned(), problem };
        let reader = TensorReader::open(path).map_err(wrap)?;
        reader.read_all(limit).map(|(file, _)| file).map_err(wrap)
    }

    /// Reads a file's bytes; `name` stands for the path in errors.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, TensorFileError> {
        let wrap = |problem| TensorFileError { path: PathBuf::from(name), problem };
        let reader = TensorReader::new(bytes, bytes.len() as u64).map_err(wrap)?;
        reader.read_all(u64::MAX).map(|(file, _)| file).map_err(wrap)
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = serde_json::Map::new();
        if !self.metadata.is_empty() {
            let texts = self.metadata.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
            header.insert("__metadata__".to_owned(), serde_json::Value::Object(texts));
        }
        let mut end = 0;
        for (name, tensor) in &self.tensors {
            let (start, format) = (end, self.format(name));
            end += format.bytes() * tensor.data.len();
            let info = serde_json::json!({ "dtype": format.name(), "shape": tensor.shape, "data_offsets": [start, end] });
            header.insert(name.clone(), info);
        }
        let mut header = serde_json::Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = Vec::with_capacity(8 + header.len() + end);
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&header);
        self.encode(|encoded| bytes.extend_from_slice(encoded));
        bytes
    }

    /// The tensors as a reader of the file would see them: each number rounded as it is stored.
    pub(crate) fn tensors_as_stored(&self) -> BTreeMap<String, Tensor> {
        let mut bytes = Vec::new();
        let read = |(name, tensor): (&String, &Tensor)| {
            let (format, mut data) = (self.format(name), Vec::with_capacity(tensor.data.len()));
            bytes.clear();
            format.encode(&tensor.data, &mut bytes);
            format.decode(&bytes, &mut data);
            (name.clone(), Tensor { shape: tensor.shape.clone(), data })
        };
        self.tensors.iter().map(read).collect()
    }

    /// Writes the file so that at `path` there is at every moment either what was there before or the whole new file.
    pub fn write(&self, path: &Path) -> Result<(), TensorFileError> {
        write_atomic(path, &self.to_bytes()).map_err(|error| TensorFileError {
            path: path.to_owned(),
            problem: TensorFileProblem::Io(error),
        })
    }

    /// A file with a text under `key`, and under `key` followed by `-sha256` the SHA-256 of text and tensors together.
    pub fn sealed(key: &str, text: String, tensors: BTreeMap<String, Tensor>) -> Self {
        let mut file = Self { tensors, ..Self::default() };
        let seal = file.seal_of(&text);
        file.metadata = BTreeMap::from([(key.to_owned(), text), (format!("{key}-sha256"), seal)]);
        file
    }

    /// The text of a file made by [`Self::sealed`] with this key; what is wrong if it is another file or not as it was made.
    pub fn unseal(&self, key: &str) -> Result<&str, String> {
        let text = self.metadata.get(key).ok_or_else(|| format!("its metadata has no '{key}'"))?;
        if self.metadata.get(&format!("{key}-sha256")) != Some(&self.seal_of(text)) {
            return Err("damaged: its SHA-256 is not the one written in it".to_owned());
        }
        Ok(text)
    }

    fn seal_of(&self, text: &str) -> String {
        // Names and shapes count too: swapped names would leave the bytes as they are.
        let mut hash = Sha256::new();
        hash.update(text);
        for (name, tensor) in &self.tensors {
            hash.update(format!("\n{name} {:?}", tensor.shape));
        }
        hash.update(self.tensors_sha256());
        hex(&hash.finalize())
    }

    /// The SHA-256 of the tensors' bytes in the order of their names, in hexadecimal: that of the file after its header.
    pub fn tensors_sha256(&self) -> String {
        let mut hash = Sha256::new();
        self.encode(|encoded| hash.update(encoded));
        hex(&hash.finalize())
    }

    /// Hands over the tensors' bytes in the order of their names, a piece at a time.
    fn encode(&self, mut take: impl FnMut(&[u8])) {
        let mut bytes = Vec::with_capacity(4 * CHUNK);
        for (name, tensor) in &self.tensors {
            let format = self.format(name);
            for values in tensor.data.chunks(CHUNK) {
                bytes.clear();
                format.encode(values, &mut bytes);
                take(&bytes);
            }
        }
    }

    /// How a tensor is stored.
    fn format(&self, name: &str) -> NumberFormat {
        self.formats.get(name).copied().unwrap_or_default()
    }
}

/// Writes `bytes` to a file beside `path`, syncs it, renames it to `path` and syncs the folder.
fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the path of a file"))?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(".tmp");
    let temporary = folder.join(temporary);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = written {
        // The first error is the one to report: that the half-written file cannot be removed either adds nothing.
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(folder)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// A file whose header has been read and whose tensors have not: what it claims can be checked before memory is spent on it.
pub(crate) struct TensorReader<R> {
    source: R,
    /// The file's texts.
    pub(crate) metadata: BTreeMap<String, String>,
    /// Names and shapes in the order of the file's bytes.
    pub(crate) shapes: Vec<(String, Vec<usize>)>,
    /// How tensors are stored that are not F32, by name.
    pub(crate) formats: BTreeMap<String, NumberFormat>,
    data_len: u64,
}

impl TensorReader<io::BufReader<File>> {
    pub(crate) fn open(path: &Path) -> Result<Self, TensorFileProblem> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(TensorFileProblem::Io(io::Error::new(
                io::ErrorKind::IsADirectory,
                "is a folder, not a file",
            )));
        }
        Self::new(io::BufReader::new(file), about.len())
    }
}

impl<R: Read> TensorReader<R> {
    pub(crate) fn new(mut source: R, len: u64) -> Result<Self, TensorFileProblem> {
        let foreign = |reason: &str| TensorFileProblem::Foreign(reason.to_owned());
        let mut length = [0; 8];
        if len < 8 {
            return Err(foreign(if len == 0 { "it is empty" } else { "it is too short" }));
        }
        source.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER {
            return Err(foreign("its first bytes are no header length"));
        }
        if length > len - 8 {
            return Err(TensorFileProblem::Length { expected: 8 + length, found: len });
        }
        let mut header = vec![0; length as usize];
        source.read_exact(&mut header)?;
        let header: Metadata = serde_json::from_slice(&header)
            .map_err(|error| foreign(&format!("its header: {}", shorten(&error.to_string()))))?;
        let data_len = header.data_len() as u64;
        if data_len != len - 8 - length {
            return Err(TensorFileProblem::Length { expected: 8 + length + data_len, found: len });
        }
        let (mut shapes, mut formats) = (Vec::new(), BTreeMap::new());
        for name in header.offset_keys() {
            let Some(info) = header.info(&name) else {
                continue;
            };
            match NumberFormat::of(info.dtype) {
                Some(NumberFormat::F32) => {}
                Some(format) => {
                    formats.insert(name.clone(), format);
                }
                None => {
                    return Err(TensorFileProblem::Type { name, found: info.dtype.to_string() });
                }
            }
            shapes.push((name, info.shape.clone()));
        }
        let metadata = header.metadata().clone().unwrap_or_default().into_iter().collect();
        Ok(Self { source, metadata, shapes, formats, data_len })
    }

    /// The tensors, and the SHA-256 of the bytes they were read from.
    pub(crate) fn read_all(
        mut self,
        limit: u64,
    ) -> Result<(TensorFile, String), TensorFileProblem> {
        if self.data_len > limit {
            return Err(TensorFileProblem::TooLarge { found: self.data_len, limit });
        }
        let mut hash = Sha256::new();
        let mut bytes = vec![0; 4 * CHUNK];
        let mut tensors = BTreeMap::new();
        for (name, shape) in self.shapes {
            let len: usize = shape.iter().product();
            let format = self.formats.get(&name).copied().unwrap_or_default();
            let mut data = Vec::with_capacity(len);
            while data.len() < len {
                let bytes = &mut bytes[..format.bytes() * CHUNK.min(len - data.len())];
                self.source.read_exact(bytes)?;
                hash.update(&*bytes);
                format.decode(bytes, &mut data);
            }
            tensors.insert(name, Tensor { shape, data });
        }
        let file = TensorFile { metadata: self.metadata, tensors, formats: self.formats };
        Ok((file, hex(&hash.finalize())))
    }
}

/// The first line of an error text, at most 200 characters.
pub(crate) fn shorten(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
