//! A network in a file: its tensors, and a header that says what they are.
//!
//! The file is safetensors. Its metadata has the header as JSON under `gipf-checkpoint` and that JSON's SHA-256 under
//! `gipf-checkpoint-sha256`; the header in turn has the SHA-256 of the tensors' bytes. So nothing in the file can change unseen.
//! Beside the network's tensors there may be one named `calibration.largest`: what int8 evaluators need, see [`Calibration`].
//! A player that is given away can have its weights in fewer bits ([`Checkpoint::rounded`]) and says who it is ([`PlayerCard`]).

mod check;
mod header;
mod weights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::architecture::{Architecture, ArchitectureError, BATCH_NORM_EPSILON};
use crate::auxiliary::AuxiliaryHeads;
use crate::native::{Calibration, CalibrationError};
use crate::tensor_file::{
    Tensor, TensorFile, TensorFileError, TensorFileProblem, TensorReader, hex,
};
use check::{check_data, check_header, check_shapes, read_header};
use weights::{check_formats, is_network, restored, stored};

pub use header::{CheckpointHeader, DrawnMixes, PlayerCard, PlayerRating};
pub use weights::WeightFormat;

/// The format this version of the crate writes and reads.
pub const CHECKPOINT_FORMAT: &str = "gipf-checkpoint-1";

const HEADER_KEY: &str = "gipf-checkpoint";
const HASH_KEY: &str = "gipf-checkpoint-sha256";
/// The tensor that is no part of the network.
const CALIBRATION: &str = "calibration.largest";

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
    /// Its weights are in bytes, and what they are bytes of is not there.
    #[error("int8 weights need a calibration, and there is none")]
    Uncalibrated,
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

    /// The same network with its weights as this format stores them, which is how they are then stored: [`WeightFormat::F16`] takes
    /// half of the file, and every output moves by no more than roundings of a thousandth of a weight can move it; with
    /// [`WeightFormat::Int8`], about a third, the same holds for int8 evaluators. The error's path is empty.
    ///
    /// # Errors
    /// A weight is beyond ±65504, the largest number of 16 bits; int8 is asked of a network without a calibration.
    pub fn rounded(mut self, weights: WeightFormat) -> Result<Self, CheckpointError> {
        self.header.weights = weights;
        let read = |checkpoint: &Self| {
            let file = checkpoint.tensor_file()?;
            let (tensors, calibration) = restored(&checkpoint.header, file.tensors_as_stored())?;
            Self::assemble(checkpoint.header.clone(), tensors, calibration)
        };
        read(&self).map_err(|problem| CheckpointError { path: PathBuf::new(), problem })
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

    /// A batch normalisation, such as `stem.bn`, with its running statistics: the factor and the addend of each channel, in its order.
    /// Without such a normalisation there is none.
    pub fn folded_norm(&self, name: &str) -> Vec<(f32, f32)> {
        let part = |part: &str| {
            self.tensors.get(&format!("{name}.{part}")).map_or(&[][..], |tensor| &tensor.data)
        };
        let (weight, bias, mean, var) = (part("weight"), part("bias"), part("mean"), part("var"));
        (0..weight.len())
            .map(|c| {
                let factor = f64::from(weight[c]) / (f64::from(var[c]) + BATCH_NORM_EPSILON).sqrt();
                (factor as f32, (f64::from(bias[c]) - f64::from(mean[c]) * factor) as f32)
            })
            .collect()
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
        checkpoint.header.sha256 = checkpoint.tensor_file()?.tensors_sha256();
        Ok(checkpoint)
    }

    fn read<R: std::io::Read>(reader: TensorReader<R>) -> Result<Self, CheckpointProblem> {
        let header = read_header(&reader.metadata)?;
        let network = reader.shapes.iter().filter(|(name, _)| is_network(&header, name));
        check_shapes(
            &header.architecture,
            network.map(|(name, shape)| (name.as_str(), shape.as_slice())),
        )?;
        check_formats(&header, &reader.shapes, &reader.formats)?;
        let (file, found) = reader.read_all(u64::MAX)?;
        if found != header.sha256 {
            return Err(CheckpointProblem::Checksum { found, expected: header.sha256 });
        }
        let (tensors, calibration) = restored(&header, file.tensors)?;
        check_data(&tensors)?;
        Ok(Self { header, tensors, calibration })
    }

    /// All that the file holds but its metadata.
    fn tensor_file(&self) -> Result<TensorFile, CheckpointProblem> {
        stored(&self.header, &self.tensors, self.calibration.as_ref())
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
        Ok(TensorFile { metadata, ..checked.tensor_file()? })
    }
}
