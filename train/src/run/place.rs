//! What a folder holds: a run, the beginning of one, what is left of one, or other things.

use super::checkpoints::list_checkpoints;
use super::error::RunError;
use super::folder::RunFolder;
use std::fs;
use std::path::Path;

/// What a run folder may hold before it holds a run: what a start that was killed at once leaves.
pub(super) const OWN: [&str; 14] = [
    "lock",
    "config.toml",
    "settings.jsonl",
    "checkpoints",
    "learner",
    "games",
    "events",
    "history.jsonl",
    "gates.jsonl",
    "ratings.json",
    "ratings.svg",
    "ratings",
    "matches.json",
    "report.html",
];

/// Parts that only a run has made: without a `state.json` they are what is left of one.
const PARTS: [&str; 5] = ["config.toml", "settings.jsonl", "games", "checkpoints", "learner"];

/// Stands in a folder while a run is being made there: a start that was killed at once left the parts, not a run.
pub(super) const BEGUN: &str = ".begun.tmp";

impl RunFolder {
    /// Whether a folder holds a run.
    pub fn holds_run(folder: &Path) -> bool {
        folder.join("state.json").is_file()
    }

    /// Checks, without changing anything, that a run is or can be in a folder: it is no file, and does not hold the
    /// parts of a run that has lost its `state.json`.
    ///
    /// # Errors
    /// [`RunError::NotFolder`] or [`RunError::LostState`].
    pub fn check_place(folder: &Path) -> Result<(), RunError> {
        if folder.exists() && !folder.is_dir() {
            return Err(RunError::NotFolder(folder.to_owned()));
        }
        if Self::holds_run(folder) {
            return Ok(());
        }
        let filled = |part: &&&str| {
            let path = folder.join(part);
            fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
        };
        let there = |part: &&&str| folder.join(part).exists();
        let part = if folder.join(BEGUN).exists() {
            // The folders are made before state.json, and filled after it.
            PARTS.iter().find(filled)
        } else {
            PARTS.iter().find(there)
        };
        match part {
            None => Ok(()),
            Some(part) => Err(RunError::LostState {
                folder: folder.to_owned(),
                part,
                advice: way_forward(folder),
            }),
        }
    }
}

/// What can be done with the weights and games of a run that cannot be gone on with.
pub(super) fn way_forward(folder: &Path) -> String {
    let newest =
        list_checkpoints(&folder.join("checkpoints")).ok().and_then(|mut files| files.pop());
    let games = folder.join("games");
    let has_games = fs::read_dir(&games).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "zst"))
    });
    let mut options = Vec::new();
    options.extend(newest.map(|file| format!("--init {}", file.path.display())));
    options.extend(has_games.then(|| format!("--from-records {}", games.display())));
    if options.is_empty() {
        "start a new run with another --run".to_owned()
    } else {
        format!("start a new run with another --run and {}", options.join(" or "))
    }
}
