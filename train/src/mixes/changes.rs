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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixes::{MixLine, Setup, Strength};
    use gipf_selfplay::study::{Design, Interval};

    fn table(bounds: &[(f64, f64)]) -> MixTable {
        let line = |&(low, high): &(f64, f64)| {
            let bounds = Interval { low, high };
            MixLine {
                rules: format!("rules {low}"),
                games: 100,
                repeated: 0,
                openings: 100,
                white: f64::midpoint(low, high),
                interval: bounds,
                bounds,
                verdict: Verdict::of(bounds),
                unfinished: 0.0,
                length: 60.0,
                captured: [5.0; 2],
                swing: None,
                turns: None,
                potentials: Vec::new(),
                rivals: Vec::new(),
                trusted: None,
            }
        };
        MixTable {
            setup: Setup::new("greedy".to_owned(), Strength::Nodes(16)),
            design: Design::Adaptive,
            rounds: 1,
            games: 100,
            end: None,
            lines: bounds.iter().map(line).collect(),
            ranking: (0..bounds.len()).collect(),
            fairest: None,
            sharpest: None,
            longest: None,
            grids: Vec::new(),
        }
    }

    #[test]
    fn verdicts_that_differ_are_named_and_scores_that_differ_come_first() {
        let first = table(&[(0.51, 0.6), (0.3, 0.6), (0.52, 0.6), (0.49, 0.51)]);
        let second = table(&[(0.53, 0.7), (0.55, 0.6), (0.4, 0.49), (0.48, 0.52)]);
        let found = changes(&first, &second);
        let lines: Vec<(usize, bool)> = found.iter().map(|it| (it.line, it.apart)).collect();
        assert_eq!(lines, [(2, true), (1, false)]);
        assert_eq!(found[0].verdicts, [Verdict::Above, Verdict::Below]);
        assert!((found[0].white[1] - 0.445).abs() < 1e-12);
    }
}
