//! A learner's state in a file: weights, averaged weights, the optimizer's moments, counters. It goes on bit for bit.
//!
//! The file is safetensors, with a JSON header under `gipf-learner` in its metadata and under `gipf-learner-sha256` the SHA-256
//! of header and tensors together.

use std::path::{Path, PathBuf};

use gipf_model::{Architecture, FEATURES_VERSION, POLICY_VERSION, TensorFile};
use serde::{Deserialize, Serialize};
use tch::{Device, Tensor};

use crate::adamw::AdamW;
use crate::error::{TorchError, shorten};
use crate::learner::{Learner, LearnerConfig};
use crate::net::TorchNet;
use crate::parameters::Layout;

/// The format of a learner's state.
pub const LEARNER_FORMAT: &str = "gipf-learner-1";

const KEY: &str = "gipf-learner";
/// Larger than the state of the largest network.
const MAX_BYTES: u64 = 8 << 30;

/// Where each part's names begin.
const NET: &str = "net.";
const AVERAGE: &str = "average.";
const MEAN: &str = "mean.";
const SQUARE: &str = "square.";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    architecture: Architecture,
    features_version: u32,
    policy_version: u32,
    step: u64,
    optimizer_steps: u64,
}

impl Learner {
    /// Writes the state so that at `path` there is at every moment either what was there before or the whole new file.
    pub fn save_state(&self, path: &Path) -> Result<(), TorchError> {
        Ok(self.state()?.write(path)?)
    }

    /// The bytes of the state's file.
    pub fn state_bytes(&self) -> Result<Vec<u8>, TorchError> {
        Ok(self.state()?.to_bytes())
    }

    /// The learner whose state was saved at `path`, told `config` from now on.
    pub fn load_state(
        path: &Path,
        config: LearnerConfig,
        device: Device,
    ) -> Result<Self, TorchError> {
        let file = TensorFile::read(path, MAX_BYTES)?;
        Self::from_state(&file, config, device, path)
    }

    /// The learner of a state's bytes; `name` stands for the path in errors.
    pub fn from_state_bytes(
        name: &str,
        bytes: &[u8],
        config: LearnerConfig,
        device: Device,
    ) -> Result<Self, TorchError> {
        Self::from_state(&TensorFile::from_bytes(name, bytes)?, config, device, Path::new(name))
    }

    fn state(&self) -> Result<TensorFile, TorchError> {
        let header = Header {
            format: LEARNER_FORMAT.to_owned(),
            architecture: self.architecture(),
            features_version: FEATURES_VERSION,
            policy_version: POLICY_VERSION,
            step: self.step,
            optimizer_steps: self.optimizer.steps(),
        };
        let header = serde_json::to_string(&header).map_err(|e| TorchError::State {
            path: PathBuf::from("learner state"),
            reason: shorten(&e.to_string()),
        })?;
        let mut tensors = self.net.tensors(NET)?;
        tensors.extend(self.average.tensors(AVERAGE)?);
        let (mean, square) = self.optimizer.moments();
        self.net.layout.unpack_trained(mean, MEAN, &mut tensors)?;
        self.net.layout.unpack_trained(square, SQUARE, &mut tensors)?;
        Ok(TensorFile::sealed(KEY, header, tensors))
    }

    fn from_state(
        file: &TensorFile,
        config: LearnerConfig,
        device: Device,
        path: &Path,
    ) -> Result<Self, TorchError> {
        let wrong = |reason: String| TorchError::State { path: path.to_owned(), reason };
        let text = file.unseal(KEY).map_err(wrong)?;
        let header: Header = serde_json::from_str(text)
            .map_err(|e| wrong(format!("its header: {}", shorten(&e.to_string()))))?;
        let versions = [
            ("format", header.format, LEARNER_FORMAT.to_owned()),
            ("features version", header.features_version.to_string(), FEATURES_VERSION.to_string()),
            ("policy map version", header.policy_version.to_string(), POLICY_VERSION.to_string()),
        ];
        if let Some((what, found, known)) =
            versions.into_iter().find(|(_, found, known)| found != known)
        {
            return Err(wrong(format!(
                "{what} is {}, this program reads {known}",
                shorten(&found)
            )));
        }
        header.architecture.validate().map_err(|e| wrong(e.to_string()))?;
        let layout = Layout::new(header.architecture);
        let net =
            TorchNet::from_tensors(layout.clone(), &file.tensors, NET, device).map_err(wrong)??;
        let average = TorchNet::from_tensors(layout.clone(), &file.tensors, AVERAGE, device)
            .map_err(wrong)??;
        let moment = |prefix: &str| -> Result<Tensor, TorchError> {
            let values = layout.pack_trained(&file.tensors, prefix).map_err(wrong)?;
            Ok(Tensor::f_from_slice(&values)?.f_to(device)?)
        };
        let optimizer = AdamW::resume(
            config.optimizer,
            moment(MEAN)?,
            moment(SQUARE)?,
            header.optimizer_steps,
            layout.decayed,
        );
        Self::assemble(config, net, average, optimizer, header.step)
    }
}
