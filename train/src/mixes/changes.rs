//! Whether the answer depends on the player: two tables of one space beside each other.

use gipf_selfplay::study::Verdict;
use serde::Serialize;

use super::table::MixTable;

/// A rules string whose verdict is not the same in two tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Its number in the space.
    pub line: usize,
    /// The rules string.
    pub rules: String,
    /// White's score in each table.
    pub white: [f64; 2],
    /// The verdict in each table.
    pub verdicts: [Verdict; 2],
    /// Whether the two intervals among their tables have nothing in common: then White's scores differ, and it is not only that
    /// one table knows more than the other.
    pub apart: bool,
}

/// The rules strings whose verdicts differ, those that are known to differ first. Both tables must be of one space.
pub fn changes(first: &MixTable, second: &MixTable) -> Vec<Change> {
    let lines = first.lines.iter().zip(&second.lines).enumerate();
    let mut changes: Vec<Change> = lines
        .filter(|(_, (one, other))| one.verdict != other.verdict)
        .map(|(line, (one, other))| Change {
            line,
            rules: one.rules.clone(),
            white: [one.white, other.white],
            verdicts: [one.verdict, other.verdict],
            apart: one.bounds.common(&other.bounds).is_none(),
        })
        .collect();
    changes.sort_by_key(|change| !change.apart);
    changes
}
