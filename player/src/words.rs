//! Words that several explanations share: lists, pieces, ranges of spots.

use gipf_core::{Potential, SpotSet};

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String], and: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {and} {last}", first.join(", ")),
    }
}

/// The spots by name: `c3, d4 and e5`.
pub(crate) fn spots(set: SpotSet) -> String {
    list(&set.iter().map(|spot| spot.to_string()).collect::<Vec<_>>(), "and")
}

/// The two ends of a stretch of one line: `c3-f5`.
pub(crate) fn stretch(set: SpotSet) -> String {
    match (set.first(), set.last()) {
        (Some(first), Some(last)) => format!("{first}-{last}"),
        _ => String::new(),
    }
}

/// `1 GIPF-piece`, `2 GIPF-pieces`.
pub(crate) fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Potentials in hand: `4 TAMSK`, `3 ZÈRTZ`.
pub(crate) fn potentials(counts: [u8; 5]) -> Vec<String> {
    Potential::ALL
        .into_iter()
        .zip(counts)
        .filter(|&(_, count)| count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.name()))
        .collect()
}
