//! How large the window is.

use crate::config::WindowSection;

/// The window's size as a function of the samples made so far.
///
/// `c (1 + β ((N/c)^α - 1) / α)` for `N > c`, all of them before (KataGo, Wu 2019, appendix C), at most `maximum`. For `α <= 1` and
/// `β <= 1` it never grows faster than samples are made, so a sample that has left never belongs in it again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    minimum: f64,
    scale: f64,
    exponent: f64,
    maximum: u64,
}

impl Growth {
    /// The growth that a configuration states, for a window that gets `share` (0 to 1) of its samples.
    pub fn new(section: &WindowSection, share: f64) -> Self {
        Self {
            minimum: (section.minimum as f64 * share).max(1.0),
            scale: section.growth_scale,
            exponent: section.growth_exponent,
            maximum: ((section.maximum as f64 * share).ceil() as u64).max(1),
        }
    }

    /// Samples the window may hold after `made` were made.
    pub fn limit(&self, made: u64) -> u64 {
        let (n, c) = (made as f64, self.minimum);
        let size = if n <= c {
            c
        } else {
            c * (1.0 + self.scale * ((n / c).powf(self.exponent) - 1.0) / self.exponent)
        };
        (size as u64).min(self.maximum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth() -> Growth {
        let section = WindowSection {
            minimum: 250_000,
            growth_scale: 0.4,
            growth_exponent: 0.75,
            maximum: 20_000_000,
        };
        Growth::new(&section, 1.0)
    }

    #[test]
    fn the_size_follows_the_formula() {
        // KataGo's own figures: 250k at the start, about 22 million after 241 million samples.
        assert_eq!(growth().limit(0), 250_000);
        assert_eq!(growth().limit(250_000), 250_000);
        assert_eq!(
            growth().limit(1_000_000),
            250_000 + (250_000.0 * 0.4 * (4f64.powf(0.75) - 1.0) / 0.75) as u64
        );
        assert_eq!(growth().limit(241_000_000), 20_000_000);
    }

    #[test]
    fn it_never_grows_faster_than_samples_are_made() {
        let growth = growth();
        let mut before = growth.limit(0);
        for made in (0..3_000_000).step_by(1000) {
            let size = growth.limit(made);
            assert!(size >= before && size - before <= 1000, "{made}");
            before = size;
        }
    }
}
