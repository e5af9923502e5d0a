//! Scores in words, for every form of a table.

use gipf_selfplay::study::Interval;

/// A share of the points: `51.3%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// An interval of shares, in per cent: `48.2 to 54.4`.
pub fn interval(it: Interval) -> String {
    format!("{:.1} to {:.1}", 100.0 * it.low, 100.0 * it.high)
}
