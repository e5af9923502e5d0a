//! How the numbers of a chart are written.

use crate::report::html::grouped;

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Unit {
    /// Whole things: steps, games, plays.
    Count,
    /// A number as it is.
    Number,
    /// A share, 0 to 1, shown in per cent.
    Share,
    /// Elo points.
    Elo,
}

impl Unit {
    /// A number as it stands in tables and descriptions.
    pub(in crate::report) fn text(self, value: f64) -> String {
        match self {
            Unit::Count if value.abs() >= 1000.0 => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", grouped(value.abs().round() as u64))
            }
            Unit::Count => plain(value, 1),
            Unit::Number => plain(value, if value.abs() < 0.01 { 6 } else { 3 }),
            Unit::Share => format!("{:.1}%", 100.0 * value),
            Unit::Elo => format!("{value:+.0}"),
        }
    }

    /// A number beside an axis on which numbers are `step` apart.
    pub(super) fn label(self, value: f64, step: f64) -> String {
        match self {
            Unit::Count if value.abs() >= 1e6 => format!("{}M", plain(value / 1e6, 2)),
            Unit::Count if value.abs() >= 1e4 => format!("{}k", plain(value / 1e3, 1)),
            Unit::Share => format!("{}%", plain(100.0 * value, decimals(100.0 * step))),
            Unit::Elo => plain(value, 0),
            // There is no room for more digits, as of a small learning rate.
            _ if decimals(step) > 4 && value != 0.0 => format!("{value:.1e}"),
            _ => plain(value, decimals(step)),
        }
    }
}

/// Digits behind the point that tell numbers `step` apart from each other.
fn decimals(step: f64) -> usize {
    if step > 0.0 { (-step.log10().floor()).clamp(0.0, 8.0) as usize } else { 0 }
}

/// A number with so many digits behind the point, without zeros at its end.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_tell_apart() {
        assert_eq!(Unit::Count.label(15_000.0, 5_000.0), "15k");
        assert_eq!(Unit::Count.label(1_500_000.0, 500_000.0), "1.5M");
        assert_eq!(Unit::Share.label(0.25, 0.1), "25%");
        assert_eq!(Unit::Number.label(0.0030, 0.0005), "0.003");
        assert_eq!(Unit::Number.label(0.000_35, 0.000_03), "3.5e-4");
        assert_eq!(
            (Unit::Number.text(0.000_3), Unit::Count.text(405_600.0)),
            ("0.0003".into(), "405,600".into())
        );
        assert_eq!((Unit::Elo.text(-12.4), plain(-0.001, 2)), ("-12".to_owned(), "0".to_owned()));
    }
}
