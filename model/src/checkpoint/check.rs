//! What is checked of a checkpoint before it is used.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{CHECKPOINT_FORMAT, CheckpointHeader, CheckpointProblem, HASH_KEY, HEADER_KEY};
use crate::architecture::Architecture;
use crate::features::FEATURES_VERSION;
use crate::policy::POLICY_VERSION;
use crate::tensor_file::{Tensor, hex, shorten};

/// The header in a file's metadata, unsealed and checked.
pub(super) fn read_header(
    metadata: &BTreeMap<String, String>,
) -> Result<CheckpointHeader, CheckpointProblem> {
    let Some(text) = metadata.get(HEADER_KEY) else {
        return Err(CheckpointProblem::Foreign(format!("its metadata has no '{HEADER_KEY}'")));
    };
    let hash = metadata.get(HASH_KEY).map(String::as_str).unwrap_or_default();
    if hash != hex(&Sha256::digest(text)) {
        return Err(CheckpointProblem::Header(
            "does not have the SHA-256 written beside it".to_owned(),
        ));
    }
    // The format is looked at first: another format may have other fields.
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    let unreadable = |e: serde_json::Error| {
        CheckpointProblem::Header(format!("is unreadable: {}", shorten(&e.to_string())))
    };
    let Format { format } = serde_json::from_str(text).map_err(unreadable)?;
    check_version("checkpoint format", &shorten(&format), CHECKPOINT_FORMAT)?;
    let header = serde_json::from_str(text).map_err(unreadable)?;
    check_header(&header)?;
    Ok(header)
}

/// Whether this program reads what the header announces.
pub(super) fn check_header(header: &CheckpointHeader) -> Result<(), CheckpointProblem> {
    check_version("checkpoint format", &shorten(&header.format), CHECKPOINT_FORMAT)?;
    check_version(
        "features version",
        &header.features_version.to_string(),
        &FEATURES_VERSION.to_string(),
    )?;
    check_version(
        "policy map version",
        &header.policy_version.to_string(),
        &POLICY_VERSION.to_string(),
    )?;
    Ok(header.architecture.validate()?)
}

fn check_version(what: &'static str, found: &str, known: &str) -> Result<(), CheckpointProblem> {
    if found == known {
        return Ok(());
    }
    Err(CheckpointProblem::Version { what, found: found.to_owned(), known: known.to_owned() })
}

/// Whether these are exactly the tensors of the architecture, each of its shape.
pub(super) fn check_shapes<'a>(
    architecture: &Architecture,
    found: impl Iterator<Item = (&'a str, &'a [usize])>,
) -> Result<(), CheckpointProblem> {
    let found: BTreeMap<_, _> = found.collect();
    let specs = architecture.tensors();
    for spec in &specs {
        let Some(&shape) = found.get(spec.name.as_str()) else {
            return Err(CheckpointProblem::Missing(spec.name.clone()));
        };
        if shape != spec.shape {
            return Err(CheckpointProblem::Shape {
                name: spec.name.clone(),
                found: shape.to_vec(),
                expected: spec.shape.clone(),
                architecture: architecture.to_string(),
            });
        }
    }
    let known: BTreeSet<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    match found.keys().find(|name| !known.contains(*name)) {
        Some(name) => Err(CheckpointProblem::Unknown(shorten(name))),
        None => Ok(()),
    }
}

/// Whether every tensor has as many numbers as its shape says, all of them finite.
pub(super) fn check_data(tensors: &BTreeMap<String, Tensor>) -> Result<(), CheckpointProblem> {
    for (name, tensor) in tensors {
        let expected: usize = tensor.shape.iter().product();
        if tensor.data.len() != expected {
            return Err(CheckpointProblem::Header(format!(
                "gives '{name}' {expected} numbers, it has {}",
                tensor.data.len()
            )));
        }
        if !tensor.data.iter().all(|value| value.is_finite()) {
            return Err(CheckpointProblem::NotFinite(name.clone()));
        }
    }
    Ok(())
}
