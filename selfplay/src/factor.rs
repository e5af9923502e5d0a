//! How much compute a way of training saves, from matches of players that had different amounts of it.

use serde::Serialize;

use crate::elo::{PairCounts, Z95, elo_of};

/// How much more compute one way of training needs than another for players of equal strength.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComputeFactor {
    /// The estimate: above 1 where the first way needs less.
    pub factor: f64,
    /// The 95% interval's lower end; `None` where the matches do not bound it.
    pub low: Option<f64>,
    /// The 95% interval's upper end; `None` where the matches do not bound it.
    pub high: Option<f64>,
}

/// The factor between `compute`, which player B had, and what would have made a player of the first way as strong as B.
///
/// `points` are players of the first way: the compute each had (above 0) and its match against B. Elo is taken to grow in
/// proportion to the logarithm of compute (Jones 2021, "Scaling scaling laws with board games"); a line is fitted to the matches, weighted by
/// their standard errors, and the compute is found where it crosses 0, beyond the points too. The interval is Fieller's (1954), from the
/// games alone: that runs of other seeds differ is not in it. `None` with fewer than two amounts of compute, where a match
/// has no finite Elo, or where strength does not grow.
pub fn compute_factor(points: &[(f64, PairCounts)], compute: f64) -> Option<ComputeFactor> {
    let mut fitted = Vec::new();
    for (amount, pairs) in points {
        let (score, error) = (pairs.score(), pairs.standard_error());
        let elo = elo_of(score)?;
        // How far Elo moves when the score does.
        let error = error * 400.0 / std::f64::consts::LN_10 / (score * (1.0 - score));
        if error <= 0.0 || *amount <= 0.0 {
            return None;
        }
        fitted.push((amount.ln(), elo, 1.0 / (error * error)));
    }
    let mean = |value: &dyn Fn(f64, f64) -> f64| {
        let sum: f64 = fitted.iter().map(|&(x, y, weight)| weight * value(x, y)).sum();
        sum / fitted.iter().map(|(_, _, weight)| weight).sum::<f64>()
    };
    let (middle, height) = (mean(&|x, _| x), mean(&|_, y| y));
    let spread: f64 = fitted.iter().map(|(x, _, weight)| weight * (x - middle).powi(2)).sum();
    if fitted.len() < 2 || spread < 1e-12 {
        return None;
    }
    let slope = fitted.iter().map(|(x, y, weight)| weight * (x - middle) * y).sum::<f64>() / spread;
    if slope <= 0.0 {
        return None;
    }
    // About the weighted mean the errors of height and slope are independent.
    let height_variance = 1.0 / fitted.iter().map(|(_, _, weight)| weight).sum::<f64>();
    let slope_variance = 1.0 / spread;
    let factor_at = |distance: f64| compute / (middle + distance).exp();
    let square = slope * slope - Z95 * Z95 * slope_variance;
    let constant = height * height - Z95 * Z95 * height_variance;
    let half = slope * height;
    let root = half * half - square * constant;
    let bounds = (square > 0.0 && root >= 0.0)
        .then(|| [(-half + root.sqrt()) / square, (-half - root.sqrt()) / square].map(factor_at));
    Some(ComputeFactor {
        factor: factor_at(-height / slope),
        low: bounds.map(|[low, _]| low),
        high: bounds.map(|[_, high]| high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elo::score_of;

    /// A match of so many pairs with this score, every pair 0 or 2 points.
    fn match_of(pairs: u64, score: f64) -> PairCounts {
        let won = (score * pairs as f64).round() as u64;
        PairCounts { counts: [pairs - won, 0, 0, 0, won] }
    }

    #[test]
    fn finds_where_a_known_line_crosses() {
        // 100 Elo a doubling, level with B's 12 minutes at 3: a factor of 4.
        let at =
            |minutes: f64| (minutes, match_of(10_000, score_of(100.0 * (minutes / 3.0).log2())));
        let found = compute_factor(&[at(2.0), at(4.0)], 12.0).expect("a factor");
        assert!((found.factor - 4.0).abs() < 0.01, "{found:?}");
        let few = [2.0, 4.0]
            .map(|minutes| (minutes, match_of(300, score_of(100.0 * (minutes / 3.0f64).log2()))));
        let wide = compute_factor(&few, 12.0).expect("a factor");
        let (low, high) = (wide.low.expect("bounded"), wide.high.expect("bounded"));
        assert!(low < 3.9 && high > 4.1 && low > 2.0 && high < 8.0, "{wide:?}");
        assert!(found.low.expect("bounded") > low && found.high.expect("bounded") < high);
        // All of it lies beyond the points: found all the same.
        let beyond = compute_factor(&[at(4.0), at(8.0)], 12.0).expect("a factor");
        assert!((beyond.factor - 4.0).abs() < 0.05, "{beyond:?}");
    }

    #[test]
    fn says_nothing_where_the_matches_do_not() {
        let level = (4.0, match_of(100, 0.5));
        assert_eq!(compute_factor(&[level], 4.0), None);
        assert_eq!(compute_factor(&[level, level], 4.0), None, "one amount of compute");
        assert_eq!(compute_factor(&[level, (8.0, match_of(100, 1.0))], 4.0), None, "no Elo");
        assert_eq!(compute_factor(&[level, (8.0, match_of(100, 0.4))], 4.0), None, "no growth");
        let unsure = compute_factor(&[level, (8.0, match_of(100, 0.52))], 4.0).expect("a factor");
        assert_eq!((unsure.low, unsure.high), (None, None));
        assert!((unsure.factor - 1.0).abs() < 1e-9);
    }
}
