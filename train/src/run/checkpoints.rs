//! Names of checkpoints, and which of them may go.

use super::error::RunError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A checkpoint on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFile {
    /// The training step at which it was written.
    pub step: u64,
    /// Where it lies.
    pub path: PathBuf,
}

/// The file name of the checkpoint, or of the learner's state, of a step: names sort as their steps do.
pub fn checkpoint_name(step: u64) -> String {
    format!("step-{step:08}.safetensors")
}

/// The step in such a name.
fn step_of(name: &str) -> Option<u64> {
    let step: u64 = name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok()?;
    (checkpoint_name(step) == name).then_some(step)
}

/// The checkpoints of a folder, oldest first; files with other names are left out, a missing folder holds none.
///
/// # Errors
/// The folder cannot be read.
pub fn list_checkpoints(folder: &Path) -> Result<Vec<CheckpointFile>, RunError> {
    let failed = |error| RunError::io(folder, error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Some(step) = entry.file_name().to_str().and_then(step_of) {
            found.push(CheckpointFile { step, path: entry.path() });
        }
    }
    found.sort_by_key(|file| file.step);
    Ok(found)
}

/// The checkpoints that may go: all but the newest `keep`, step 0 and the protected ones.
pub(super) fn superfluous(
    files: &[CheckpointFile],
    keep: usize,
    protected: &[u64],
) -> Vec<CheckpointFile> {
    let old = files.len().saturating_sub(keep);
    files[..old]
        .iter()
        .filter(|file| file.step != 0 && !protected.contains(&file.step))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_steps_match() {
        assert_eq!(checkpoint_name(1234), "step-00001234.safetensors");
        assert_eq!(step_of("step-00001234.safetensors"), Some(1234));
        assert_eq!(step_of(&checkpoint_name(123_456_789_012)), Some(123_456_789_012));
        assert_eq!(step_of("step-1234.safetensors"), None);
        assert_eq!(step_of(".step-00001234.safetensors.tmp"), None);
    }

    #[test]
    fn the_newest_the_first_and_the_protected_stay() {
        let files: Vec<_> = [0, 10, 20, 30, 40]
            .map(|step| CheckpointFile { step, path: checkpoint_name(step).into() })
            .into();
        let steps = |keep, protected: &[u64]| -> Vec<u64> {
            superfluous(&files, keep, protected).iter().map(|file| file.step).collect()
        };
        assert_eq!(steps(2, &[]), [10, 20]);
        assert_eq!(steps(2, &[20]), [10]);
        assert_eq!(steps(9, &[]), [0; 0]);
        assert_eq!(steps(1, &[10, 30]), [20]);
    }
}
