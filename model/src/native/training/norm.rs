//! Batch normalisation by the batch's own statistics (Ioffe and Szegedy 2015, algorithm 1, and its gradient there in section 3).

use super::parameters::{NormPlaces, padded};
use super::passes::{Affine, Slopes};
use crate::architecture::{BATCH_NORM_EPSILON, BATCH_NORM_MOMENTUM};

/// Mean and sum of squared differences of each channel over the rows seen so far.
#[derive(Clone, Debug)]
pub(super) struct Statistics {
    rows: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Statistics {
    pub(super) fn new(width: usize) -> Statistics {
        Statistics { rows: 0.0, mean: vec![0.0; width], squares: vec![0.0; width] }
    }

    pub(super) fn clear(&mut self) {
        self.rows = 0.0;
        self.mean.fill(0.0);
        self.squares.fill(0.0);
    }

    /// Adds other rows' (Chan, Golub, LeVeque 1979).
    fn merge(&mut self, rows: f64, other: impl Iterator<Item = (f64, f64)>) {
        let all = self.rows + rows;
        for ((mean, squares), (other_mean, other_squares)) in
            self.mean.iter_mut().zip(&mut self.squares).zip(other)
        {
            let difference = other_mean - *mean;
            *mean += difference * rows / all;
            *squares += other_squares + difference * difference * self.rows * rows / all;
        }
        self.rows = all;
    }

    /// Adds so many rows' means and sums of squared differences.
    pub(super) fn add_rows(&mut self, rows: usize, mean: &[f32], squares: &[f32]) {
        let pairs = mean.iter().zip(squares).map(|(m, s)| (f64::from(*m), f64::from(*s)));
        self.merge(rows as f64, pairs);
    }

    pub(super) fn add(&mut self, other: &Statistics) {
        self.merge(other.rows, other.mean.iter().copied().zip(other.squares.iter().copied()));
    }
}

/// One layer's normalisation in a step; a number a channel, padded channels have a factor of 0.
#[derive(Clone, Debug)]
pub(super) struct Norm {
    mean: Vec<f32>,
    inverse: Vec<f64>,
    scale: Vec<f32>,
    shift: Vec<f32>,
    lift: Vec<f32>,
    tilt: Vec<f32>,
}

impl Norm {
    pub(super) fn new(channels: usize) -> Norm {
        let zeros = vec![0.0; padded(channels)];
        Norm {
            mean: zeros.clone(),
            inverse: vec![0.0; padded(channels)],
            scale: zeros.clone(),
            shift: zeros.clone(),
            lift: zeros.clone(),
            tilt: zeros,
        }
    }

    /// Takes the batch's statistics, and moves the running ones towards them: the mean, and the variance that estimates that of all
    /// positions (divided by one less than the rows).
    pub(super) fn set(
        &mut self,
        statistics: &Statistics,
        places: &NormPlaces,
        trained: &[f32],
        running: &mut [f32],
    ) {
        let rows = statistics.rows;
        let (weight, bias) = (&trained[places.weight.clone()], &trained[places.bias.clone()]);
        for (channel, (weight, bias)) in weight.iter().zip(bias).enumerate() {
            let (mean, squares) = (statistics.mean[channel], statistics.squares[channel]);
            let inverse = 1.0 / (squares / rows + BATCH_NORM_EPSILON).sqrt();
            let scale = f64::from(*weight) * inverse;
            self.mean[channel] = mean as f32;
            self.inverse[channel] = inverse;
            self.scale[channel] = scale as f32;
            self.shift[channel] = (f64::from(*bias) - mean * scale) as f32;
            let mut towards = |at: usize, value: f64| {
                let old = f64::from(running[at]);
                running[at] =
                    (BATCH_NORM_MOMENTUM * value + (1.0 - BATCH_NORM_MOMENTUM) * old) as f32;
            };
            towards(places.mean.start + channel, mean);
            towards(places.var.start + channel, squares / (rows - 1.0));
        }
    }

    pub(super) fn affine(&self) -> Affine<'_> {
        Affine { scale: &self.scale, shift: &self.shift }
    }

    pub(super) fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// Takes the sums of the output's gradient and of its products with `raw - mean` over `rows` rows, and adds the gradients of factor
    /// and addend.
    pub(super) fn turn(
        &mut self,
        rows: usize,
        sums: &[f64],
        product_sums: &[f64],
        places: &NormPlaces,
        gradient: &mut [f32],
    ) {
        for channel in 0..places.weight.len() {
            let (sum, product, inverse) =
                (sums[channel], product_sums[channel], self.inverse[channel]);
            gradient[places.weight.start + channel] += (product * inverse) as f32;
            gradient[places.bias.start + channel] += sum as f32;
            self.lift[channel] = (sum / rows as f64) as f32;
            self.tilt[channel] = (product * inverse * inverse / rows as f64) as f32;
        }
    }

    pub(super) fn slopes(&self) -> Slopes<'_> {
        let Norm { mean, scale, lift, tilt, .. } = self;
        Slopes { mean, scale, lift, tilt }
    }
}
