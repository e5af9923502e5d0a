//! A network in a file: its tensors, and a header that says what they are.
//!
//! The file is safetensors. Its metadata has the header as JSON under `gipf-checkpoint` and that JSON's SHA-256 under
//! `gipf-checkpoint-sha256`; the header in turn has the SHA-256 of the tensors' bytes. So nothing in the file can change unseen.
//! Beside the network's tensors there may be one named `calibration.largest`: what int8 evaluators need, see [`Calibration`].
//! A player that is given away can have its weights in 16 bits ([`Checkpoint::rounded`]), which halves the file.

mod check;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use half::f16;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::architecture::{Architecture, ArchitectureError};
use crate::auxiliary::AuxiliaryHeads;
use crate::features::FEATURES_VERSION;
use crate::native::{Calibration, CalibrationError};
use crate::policy::POLICY_VERSION;
use crate::tensor_file::{
    Tensor, TensorFile, TensorFileError, TensorFileProblem, TensorReader, hex, shorten,
};
use check::{check_data, check_header, check_shapes, read_header};

/// The format this version of the crate writes and reads.
pub const CHECKPOINT_FORMAT: &str = "gipf-checkpoint-1";

const HEADER_KEY: &str = "gipf-checkpoint";
const HASH_KEY: &str = "gipf-checkpoint-sha256";
/// The tensor that is no part of the network.
const CALIBRATION: &str = "calibration.largest";

/// What a checkpoint says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointHeader {
    /// [`CHECKPOINT_FORMAT`].
    pub format: String,
    /// The network's size.
    pub architecture: Architecture,
    /// The [`FEATURES_VERSION`] it was trained on.
    pub features_version: u32,
    /// The [`POLICY_VERSION`] it was trained for.
    pub policy_version: u32,
    /// The rules strings it was trained on, canonical; none: any.
    pub rules: Vec<String>,
    /// Training steps done.
    pub step: u64,
    /// The `sha256` of the checkpoint its training started from, if any.
    pub parent: Option<String>,
    /// The run that made it.
    pub run: String,
    /// How its weights are stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weights: WeightFormat,
    /// The SHA-256 of the tensors' bytes in the order of their names, in hexadecimal; set by [`Checkpoint::new`].
    pub sha256: String,
}

/// How a checkpoint's weights are stored; in memory all are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightFormat {
    /// All tensors as 32-bit floats: what training writes.
    #[default]
    F32,
    /// Tensors of two or more dimensions as IEEE 754 half precision, the others as 32-bit floats.
    F16,
}

impl WeightFormat {
    /// Whether a tensor of this shape is stored in 16 bits.
    fn halves(self, shape: &[usize]) -> bool {
        self == WeightFormat::F16 && shape.len() >= 2
    }
}

/// A field that is left out of the header has its default: headers from before there was a choice stay as they are.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CheckpointHeader {
    /// The header of a network that was trained for `step` steps on `rules` by `run`; no parent.
    pub fn new(
        architecture: Architecture,
        rules: Vec<String>,
        step: u64,
        run: impl Into<String>,
    ) -> Self {
        Self {
            format: CHECKPOINT_FORMAT.to_owned(),
            architecture,
            features_version: FEATURES_VERSION,
            policy_version: POLICY_VERSION,
            rules,
            step,
            parent: None,
            run: run.into(),
            weights: WeightFormat::default(),
            sha256: String::new(),
        }
    }
}

/// A network: header and tensors, checked against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What it is.
    pub header: CheckpointHeader,
    /// Exactly the tensors of [`Architecture::tensors`], by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// How large the network's activations become, for int8; files of older versions have none.
    pub calibration: Option<Calibration>,
}

/// Why a checkpoint cannot be used or written.
#[derive(Debug, Error)]
#[error("{}: {problem}", .path.display())]
pub struct CheckpointError {
    /// The file, or the name the caller gave to the bytes.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: CheckpointProblem,
}

/// What can be wrong with a checkpoint.
#[derive(Debug, Error)]
pub enum CheckpointProblem {
    /// It cannot be opened, read or written, or is no file of tensors.
    #[error(transparent)]
    File(#[from] TensorFileProblem),
    /// It is a file of tensors, but not one of this project.
    #[error("not a GIPF checkpoint: {0}")]
    Foreign(String),
    /// Its header is not what was written.
    #[error("damaged: its header {0}")]
    Header(String),
    /// It is of another version of the format, the features or the policy map.
    #[error("{what} is {found}, this program reads {known}")]
    Version {
        /// Which version.
        what: &'static str,
        /// What the file has.
        found: String,
        /// What this program reads.
        known: String,
    },
    /// Its architecture is impossible.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The architecture calls for a tensor that is not there.
    #[error("tensor '{0}' is missing")]
    Missing(String),
    /// It has a tensor that the architecture does not know.
    #[error("unknown tensor '{0}'")]
    Unknown(String),
    /// A tensor has another shape than the architecture calls for.
    #[error("tensor '{name}' has shape {found:?} where a {architecture} network has {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        expected: Vec<usize>,
        /// The network's size.
        architecture: String,
    },
    /// The tensors' bytes are not those that were written.
    #[error("damaged: its tensors have SHA-256 {found:.12}…, its header says {expected:.12}…")]
    Checksum {
        /// The SHA-256 of what is there.
        found: String,
        /// The SHA-256 the header names.
        expected: String,
    },
    /// Its calibration is none of this network.
    #[error("damaged: {0}")]
    Calibration(#[from] CalibrationError),
    /// A number is infinite or none at all: the network's training went wrong.
    #[error("tensor '{0}' holds a number that is not finite")]
    NotFinite(String),
}

impl Checkpoint {
    /// Puts a checkpoint together: checks the tensors against the architecture and fills in the header's `sha256`.
    /// The error's path is empty.
    pub fn new(
        header: CheckpointHeader,
        tensors: BTreeMap<String, Tensor>,
    ) -> Result<Self, CheckpointError> {
        Self::assemble(header, tensors, None)
            .map_err(|problem| CheckpointError { path: PathBuf::new(), problem })
    }

    /// The same network with a calibration, which must be that of a network of its size; the header's `sha256` covers it too. The
    /// error's path is empty.
    pub fn with_calibration(self, calibration: Calibration) -> Result<Self, CheckpointError> {
        Self::assemble(self.header, self.tensors, Some(calibration))
            .map_err(|problem| CheckpointError { path: PathBuf::new(), problem })
    }

    /// The same network with its weights rounded to the nearest 16-bit floats, which is how it is then stored: about half the file,
    /// and every output moves by no more than roundings of a thousandth of a weight can move it. The error's path is empty.
    ///
    /// # Errors
    /// A weight is beyond ±65504, the largest of these numbers.
    pub fn rounded(mut self) -> Result<Self, CheckpointError> {
        self.header.weights = WeightFormat::F16;
        let weights = self.tensors.values_mut();
        for tensor in weights.filter(|tensor| WeightFormat::F16.halves(&tensor.shape)) {
            for value in &mut tensor.data {
                *value = f16::from_f32(*value).to_f32();
            }
        }
        Self::assemble(self.header, self.tensors, self.calibration)
            .map_err(|problem| CheckpointError { path: PathBuf::new(), problem })
    }

    /// The same player with exactly these heads for training: those it has stay as they are, missing ones start as those of a new
    /// network of `seed`, others are dropped. The header's `sha256` becomes that of what it then holds. The error's path is empty.
    pub fn with_auxiliary(
        mut self,
        heads: AuxiliaryHeads,
        seed: u64,
    ) -> Result<Self, CheckpointError> {
        let architecture = self.header.architecture.with_auxiliary(heads);
        let known = architecture.initial_tensors(seed).into_iter();
        let is_head = |name: &str| name.starts_with(AuxiliaryHeads::PREFIX);
        let mut heads: BTreeMap<_, _> = known.filter(|(name, _)| is_head(name)).collect();
        self.tensors.retain(|name, _| !is_head(name) || heads.remove(name).is_some());
        self.tensors.append(&mut heads);
        self.header.architecture = architecture;
        Self::assemble(self.header, self.tensors, self.calibration)
            .map_err(|problem| CheckpointError { path: PathBuf::new(), problem })
    }

    /// The same player without heads that are for training alone: what a player's file needs.
    pub fn without_auxiliary(self) -> Result<Self, CheckpointError> {
        self.with_auxiliary(AuxiliaryHeads::NONE, 0)
    }

    /// An untrained network, step 0; the same seed makes the same network.
    pub fn initial(
        architecture: Architecture,
        rules: Vec<String>,
        run: impl Into<String>,
        seed: u64,
    ) -> Result<Self, CheckpointError> {
        let valid = architecture.validate();
        valid.map_err(|e| CheckpointError { path: PathBuf::new(), problem: e.into() })?;
        let tensors = architecture.initial_tensors(seed).into_iter().collect();
        Self::new(CheckpointHeader::new(architecture, rules, 0, run), tensors)
    }

    /// Reads and checks a file. Nothing but its header is held in memory before the header has been checked against the file's
    /// length.
    pub fn load(path: &Path) -> Result<Self, CheckpointError> {
        let wrap = |problem| CheckpointError { path: path.to_owned(), problem };
        TensorReader::open(path)
            .map_err(|e| wrap(e.into()))
            .and_then(|reader| Self::read(reader).map_err(wrap))
    }

    /// Reads and checks a file's bytes; `name` stands for the path in errors.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let wrap = |problem| CheckpointError { path: PathBuf::from(name), problem };
        let reader = TensorReader::new(bytes, bytes.len() as u64).map_err(|e| wrap(e.into()));
        reader.and_then(|reader| Self::read(reader).map_err(wrap))
    }

    /// Writes the file so that at `path` there is at every moment either what was there before or the whole new file: a temporary
    /// file beside it, fsync, rename, fsync of the folder.
    pub fn save(&self, path: &Path) -> Result<(), CheckpointError> {
        let wrap = |problem| CheckpointError { path: path.to_owned(), problem };
        let file = self.to_file().map_err(wrap)?;
        file.write(path).map_err(|TensorFileError { problem, .. }| wrap(problem.into()))
    }

    /// The file's bytes. Equal checkpoints have equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let file =
            self.to_file().map_err(|problem| CheckpointError { path: PathBuf::new(), problem })?;
        Ok(file.to_bytes())
    }

    /// Reads no more than a file's header: what `status` and listings need.
    pub fn load_header(path: &Path) -> Result<CheckpointHeader, CheckpointError> {
        let wrap = |problem| CheckpointError { path: path.to_owned(), problem };
        let reader = TensorReader::open(path).map_err(|e| wrap(e.into()))?;
        read_header(&reader.metadata).map_err(wrap)
    }

    fn assemble(
        header: CheckpointHeader,
        tensors: BTreeMap<String, Tensor>,
        calibration: Option<Calibration>,
    ) -> Result<Self, CheckpointProblem> {
        check_header(&header)?;
        check_shapes(
            &header.architecture,
            tensors.iter().map(|(name, tensor)| (name.as_str(), tensor.shape.as_slice())),
        )?;
        check_data(&tensors)?;
        let calibration = calibration
            .map(|calibration| {
                Calibration::from_tensor(&header.architecture, calibration.into_tensor())
            })
            .transpose()?;
        let mut checkpoint = Self { header, tensors, calibration };
        checkpoint.header.sha256 = checkpoint.tensor_file().tensors_sha256();
        Ok(checkpoint)
    }

    fn read<R: std::io::Read>(reader: TensorReader<R>) -> Result<Self, CheckpointProblem> {
        let header = read_header(&reader.metadata)?;
        let network = reader.shapes.iter().filter(|(name, _)| name.as_str() != CALIBRATION);
        check_shapes(
            &header.architecture,
            network.map(|(name, shape)| (name.as_str(), shape.as_slice())),
        )?;
        for (name, shape) in &reader.shapes {
            let halves = name != CALIBRATION && header.weights.halves(shape);
            if halves != reader.halves.contains(name) {
                let reason = format!("does not say how '{}' is stored", shorten(name));
                return Err(CheckpointProblem::Header(reason));
            }
        }
        let (mut file, found) = reader.read_all(u64::MAX)?;
        if found != header.sha256 {
            return Err(CheckpointProblem::Checksum { found, expected: header.sha256 });
        }
        let calibration = file.tensors.remove(CALIBRATION);
        let calibration = calibration
            .map(|tensor| Calibration::from_tensor(&header.architecture, tensor))
            .transpose()?;
        check_data(&file.tensors)?;
        Ok(Self { header, tensors: file.tensors, calibration })
    }

    /// All that the file holds but its metadata.
    fn tensor_file(&self) -> TensorFile {
        let mut tensors = self.tensors.clone();
        let weights = tensors.iter();
        let halves = weights
            .filter(|(_, tensor)| self.header.weights.halves(&tensor.shape))
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(calibration) = &self.calibration {
            tensors.insert(CALIBRATION.to_owned(), calibration.as_tensor().clone());
        }
        TensorFile { metadata: BTreeMap::new(), tensors, halves }
    }

    fn to_file(&self) -> Result<TensorFile, CheckpointProblem> {
        // The fields are public: what was changed since `new` is checked again.
        let Self { header, tensors, calibration } = self.clone();
        let checked = Self::assemble(header, tensors, calibration)?;
        let header = serde_json::to_string(&checked.header)
            .map_err(|e| CheckpointProblem::Header(e.to_string()))?;
        let hash = hex(&Sha256::digest(&header));
        let metadata =
            BTreeMap::from([(HEADER_KEY.to_owned(), header), (HASH_KEY.to_owned(), hash)]);
        Ok(TensorFile { metadata, ..checked.tensor_file() })
    }
}
