//! What a worker has of its own: its folder and the seed of its games.

use super::error::ClusterError;
use super::names::RunNames;
use super::spool::disk;
use crate::run::RunLock;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders tried for one that no other worker uses.
const FOLDERS: u32 = 1000;

/// The seed of a start's games. A game's course hangs on its seed and its number, and every start counts from 0: so each has a
/// seed of its own. It has 53 bits, which every reader of JSON holds exactly.
pub(super) fn seed(run: u64, nonce: &str) -> u64 {
    let own = u64::from_str_radix(nonce.get(..16).unwrap_or(""), 16).unwrap_or(0);
    (run ^ own) >> 11
}

/// Takes the worker's folder for this process.
pub(super) fn take_folder(
    given: Option<&Path>,
    names: &RunNames,
) -> Result<(PathBuf, RunLock), ClusterError> {
    let take = |folder: &Path| {
        fs::create_dir_all(folder).map_err(|error| disk(folder, &error))?;
        RunLock::take(folder).map_err(|error| ClusterError::Disk {
            path: folder.display().to_string(),
            reason: error.to_string(),
        })
    };
    if let Some(folder) = given {
        return Ok((folder.to_owned(), take(folder)?));
    }
    let mut last = None;
    for number in 1..=FOLDERS {
        let folder = Path::new("runs").join(format!("worker-{}-{number}", names.run()));
        match take(&folder) {
            Ok(lock) => return Ok((folder, lock)),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or(ClusterError::Stopped("a folder")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_has_a_seed_of_its_own() {
        let (a, b) =
            (seed(7, &"0123456789abcdef".repeat(2)), seed(7, &"fedcba9876543210".repeat(2)));
        assert_ne!(a, b);
        assert!(a < 1 << 53 && b < 1 << 53);
    }
}
