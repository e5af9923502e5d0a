//! Errors of this crate.

use std::path::PathBuf;

use gipf_model::{CheckpointError, TensorFileError};
use thiserror::Error;

/// What can go wrong between Rust and libtorch.
#[derive(Debug, Error)]
pub enum TorchError {
    /// libtorch refused an operation; the first line of what it says.
    #[error("torch: {0}")]
    Torch(String),
    /// There is no such device, or this libtorch cannot use it.
    #[error("device '{name}': {reason}")]
    Device {
        /// The name that was asked for.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Samples that make no batch.
    #[error("sample {sample}: {reason}")]
    Sample {
        /// Its index.
        sample: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The training went wrong: nothing was changed in this step.
    #[error("training diverged: {what} is not finite after {step} steps")]
    NotFinite {
        /// What it was.
        what: &'static str,
        /// Steps done before.
        step: u64,
    },
    /// A checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A learner's state cannot be read or written.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// A file is no learner's state, or that of another learner.
    #[error("{}: {reason}", .path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<tch::TchError> for TorchError {
    fn from(error: tch::TchError) -> Self {
        TorchError::Torch(shorten(&error.to_string()))
    }
}

/// The first line of a text, at most 200 characters: an error of libtorch can print whole weight tensors.
pub(crate) fn shorten(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torch_error_is_one_short_line() {
        let (a, b) =
            (tch::Tensor::from_slice(&[1f32, 2.0]), tch::Tensor::from_slice(&[1f32, 2.0, 3.0]));
        let error = TorchError::from(a.f_add(&b).expect_err("shapes differ")).to_string();
        assert!(
            error.starts_with("torch: ") && error.lines().count() == 1 && error.len() < 220,
            "{error}"
        );
    }
}
