//! Removing old games, whole segments at a time.

use super::{IdSet, Store, StoreError, segment_name};
use crate::faults;
use crate::run::atomic;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// Name of the note on what was pruned.
const NAME: &str = "pruned.json";

/// What was pruned: written before the segments go, so that an interrupted removal is finished at the next start and no
/// ordinal changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pruned {
    /// Number of the first segment that stays.
    pub(super) segments: u64,
    /// Ordinal of its first game.
    pub(super) games: u64,
    /// The games before it: one that is delivered again after it was pruned is still known. Absent in notes of older versions.
    #[serde(default)]
    pub(super) ids: IdSet,
}

impl Pruned {
    /// Reads the note; without one nothing was pruned.
    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(NAME);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { segments: 1, games: 0, ids: IdSet::default() })
            }
            Err(error) => Err(StoreError::io(&path, error)),
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| StoreError::io(&path, error.into()))
            }
        }
    }
}

impl Store {
    /// Removes segments all of whose games come before `keep_from`; the last segment always stays. The games removed.
    ///
    /// # Errors
    /// An I/O error; the store stays usable, and the next start finishes the removal.
    pub fn prune(&mut self, keep_from: u64) -> Result<u64, StoreError> {
        let sealed = self.segments.len().saturating_sub(1);
        let old = |segment: &&super::Segment| segment.first_game + segment.games <= keep_from;
        let count = self.segments[..sealed].iter().take_while(old).count();
        if count == 0 {
            return Ok(0);
        }
        let first = &self.segments[count];
        let (segments, games) = (first.number, first.first_game);
        let kept = self.segment_ids.split_off(&segments);
        let mut ids = self.pruned_ids.clone();
        for gone in std::mem::replace(&mut self.segment_ids, kept).into_values() {
            ids.absorb(gone);
        }
        self.pruned_ids.clone_from(&ids);
        let note = Pruned { segments, games, ids };
        let path = self.folder.join(NAME);
        let text =
            serde_json::to_vec(&note).map_err(|error| StoreError::io(&path, error.into()))?;
        atomic::write(&path, &text, &self.wait, None)
            .map_err(|error| StoreError::io(&path, error))?;
        faults::point("prune.after_mark");
        let removed = note.games - self.pruned;
        self.pruned = note.games;
        let gone: Vec<_> = self.segments.drain(..count).map(|segment| segment.number).collect();
        self.repeated = self.repeated.split_off(&(note.segments, 0));
        remove_segments(&self.folder, gone)?;
        Ok(removed)
    }
}

/// Removes segments by number.
pub(super) fn remove_segments(
    folder: &Path,
    numbers: impl IntoIterator<Item = u64>,
) -> Result<(), StoreError> {
    for number in numbers {
        let path = folder.join(segment_name(number));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io(&path, error));
            }
            _ => faults::point("prune.after_first"),
        }
    }
    Ok(())
}
