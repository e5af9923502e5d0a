//! Scores in words, for every form of a table.

use gipf_selfplay::study::{End, Interval};

/// A share of the points: `51.3%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// An interval of shares, in per cent: `48.2 to 54.4`.
pub fn interval(it: Interval) -> String {
    format!("{:.1} to {:.1}", 100.0 * it.low, 100.0 * it.high)
}

/// Why there are no more games.
pub fn end_words(end: Option<End>) -> &'static str {
    match end {
        None => "stopped before the end; the same command goes on",
        Some(End::Decided) => "every rules string has its verdict",
        Some(End::Narrow) => "every interval is narrow enough",
        Some(End::Spent) => "all games of the budget are played; with more of them it goes on",
        Some(End::TooClose) => {
            "the rest of the budget would bring no further verdict and is saved; more games may, and --even plays all"
        }
        Some(End::NoOpenings) => {
            "what is undecided has too few different openings: more --opening-plays or --temperature"
        }
    }
}
