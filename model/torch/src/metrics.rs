//! What is measured on positions that are not learned from.

use serde::{Deserialize, Serialize};

use crate::loss::{LossWeights, Losses};

/// Bins of the value's calibration, of equal width over an expected score from 0 to 1.
pub const CALIBRATION_BINS: usize = 10;

/// Positions whose predicted score (win plus half of unfinished) fell into one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Their weight.
    pub weight: f64,
    /// The mean score predicted.
    pub predicted: f64,
    /// The mean score that came of it.
    pub actual: f64,
}

/// Losses and more, over one batch or several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Positions.
    pub positions: u64,
    /// Losses.
    pub losses: Losses,
    /// Share, by policy weight, of positions whose most probable action is one of the most probable to learn.
    pub policy_accuracy: f64,
    /// Brier score: the mean over positions, by value weight, of the squared differences of the three outcomes, 0 to 2.
    pub value_brier: f64,
    /// Calibration of the value.
    pub calibration: [CalibrationBin; CALIBRATION_BINS],
}

impl Metrics {
    /// Adds those of other positions; the total loss is recomputed by `by`.
    #[must_use]
    pub fn merged(&self, other: &Metrics, by: &LossWeights) -> Metrics {
        let mean = |a: f64, wa: f64, b: f64, wb: f64| {
            if wa + wb > 0.0 { (a * wa + b * wb) / (wa + wb) } else { 0.0 }
        };
        let weights = |metrics: &Metrics, at: usize| metrics.losses.weights[at];
        Metrics {
            positions: self.positions + other.positions,
            losses: self.losses.merged(&other.losses, by),
            policy_accuracy: mean(
                self.policy_accuracy,
                weights(self, 0),
                other.policy_accuracy,
                weights(other, 0),
            ),
            value_brier: mean(
                self.value_brier,
                weights(self, 1),
                other.value_brier,
                weights(other, 1),
            ),
            calibration: std::array::from_fn(|bin| {
                let (a, b) = (&self.calibration[bin], &other.calibration[bin]);
                CalibrationBin {
                    weight: a.weight + b.weight,
                    predicted: mean(a.predicted, a.weight, b.predicted, b.weight),
                    actual: mean(a.actual, a.weight, b.actual, b.weight),
                }
            }),
        }
    }

    /// The expected calibration error: the mean over positions of the difference between a bin's predicted and actual score.
    pub fn calibration_error(&self) -> f64 {
        let weight: f64 = self.calibration.iter().map(|bin| bin.weight).sum();
        let error = |bin: &CalibrationBin| bin.weight * (bin.predicted - bin.actual).abs();
        if weight > 0.0 { self.calibration.iter().map(error).sum::<f64>() / weight } else { 0.0 }
    }

    /// Adds one position's value: predicted and actual probabilities of win, loss, unfinished. Means stay sums until
    /// [`Self::finish_values`].
    pub(crate) fn add_value(&mut self, predicted: [f64; 3], actual: [f64; 3], weight: f64) {
        let score = |outcome: [f64; 3]| outcome[0] + outcome[2] / 2.0;
        self.value_brier +=
            weight * predicted.iter().zip(actual).map(|(p, a)| (p - a).powi(2)).sum::<f64>();
        let bin = ((score(predicted) * CALIBRATION_BINS as f64) as usize).min(CALIBRATION_BINS - 1);
        let bin = &mut self.calibration[bin];
        bin.weight += weight;
        bin.predicted += weight * score(predicted);
        bin.actual += weight * score(actual);
    }

    pub(crate) fn finish_values(&mut self) {
        let weight: f64 = self.calibration.iter().map(|bin| bin.weight).sum();
        if weight > 0.0 {
            self.value_brier /= weight;
        }
        for bin in self.calibration.iter_mut().filter(|bin| bin.weight > 0.0) {
            bin.predicted /= bin.weight;
            bin.actual /= bin.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(values: &[([f64; 3], [f64; 3], f64)]) -> Metrics {
        let mut metrics = Metrics { positions: values.len() as u64, ..Metrics::default() };
        for &(predicted, actual, weight) in values {
            metrics.add_value(predicted, actual, weight);
            metrics.losses.weights[1] += weight;
        }
        metrics.finish_values();
        metrics
    }

    #[test]
    fn brier_and_calibration() {
        let all = [
            ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0),
            ([0.5, 0.5, 0.0], [0.0, 1.0, 0.0], 1.0),
            ([0.5, 0.4, 0.1], [1.0, 0.0, 0.0], 2.0),
        ];
        let whole = metrics(&all);
        assert!((whole.value_brier - (0.0 + 0.5 + 2.0 * 0.42) / 4.0).abs() < 1e-12);
        assert_eq!(whole.calibration[9].weight, 1.0);
        assert!((whole.calibration[5].predicted - (0.5 + 2.0 * 0.55) / 3.0).abs() < 1e-12);
        assert!((whole.calibration[5].actual - 2.0 / 3.0).abs() < 1e-12);
        let merged = metrics(&all[..1]).merged(&metrics(&all[1..]), &LossWeights::default());
        assert!((merged.value_brier - whole.value_brier).abs() < 1e-12);
        assert!((merged.calibration_error() - whole.calibration_error()).abs() < 1e-12);
        assert_eq!(merged.positions, 3);
    }
}
