//! The pairs of an encounter as the clusters of the robust covariance (see [`Ratings::fit`](super::Ratings::fit)).

use nalgebra::{DMatrix, DVector, Matrix2, Vector2};

use super::Encounter;
use super::fit::{Games, row};

/// Pairs of the model's own variance that join those seen of each encounter: a few pairs that ended alike prove nothing.
const VIRTUAL_PAIRS: f64 = 1.0;

/// The pairs of one encounter at the fitted strengths.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) pairs: f64,
    /// Columns of the two players.
    players: [Option<usize>; 2],
    /// The variance of White's score in either game by the model.
    pub(super) weights: Vector2<f64>,
    /// What the residuals are multiplied with before they make variances: the correction for small samples.
    pub(super) adjust: Matrix2<f64>,
    /// The residuals' mean product over the pairs, the virtual ones included.
    pub(super) products: Matrix2<f64>,
}

impl Cluster {
    /// The cluster of an encounter; `None` where the numbers are no numbers.
    pub(super) fn of(
        games: &Games,
        e: &Encounter,
        strengths: &DVector<f64>,
        inverse: &DMatrix<f64>,
    ) -> Option<Cluster> {
        let size = strengths.len();
        let p = Vector2::new(games.expected(0, strengths), games.expected(1, strengths));
        let weights = p.map(|p| (p * (1.0 - p)).max(1e-15));
        let mut cluster = Cluster {
            pairs: games.pairs,
            players: games.players,
            weights,
            adjust: Matrix2::identity(),
            products: Matrix2::zeros(),
        };
        // The hat matrix of a pair, made symmetric with the roots of the weights.
        let columns = [0, 1].map(|game| {
            let unit = Vector2::from_fn(|i, _| f64::from(u8::from(i == game)));
            cluster.spread(&unit, size)
        });
        let roots = weights.map(f64::sqrt);
        let hat =
            Matrix2::from_fn(|i, j| roots[i] * columns[i].dot(&(inverse * &columns[j])) * roots[j]);
        let eigen = (Matrix2::identity() - hat).symmetric_eigen();
        let shrunk = eigen.eigenvalues.map(|value| 1.0 / value.max(1e-6).sqrt());
        let power =
            eigen.eigenvectors * Matrix2::from_diagonal(&shrunk) * eigen.eigenvectors.transpose();
        cluster.adjust =
            Matrix2::from_diagonal(&roots) * power * Matrix2::from_diagonal(&roots.map(f64::recip));
        let mut products = Matrix2::from_diagonal(&weights) * VIRTUAL_PAIRS;
        for (white, black, count) in e.pairs.cells() {
            let residual = Vector2::new(0.5 * white as f64, 1.0 - 0.5 * black as f64) - p;
            products += residual * residual.transpose() * count as f64;
        }
        cluster.products = products / (games.pairs + VIRTUAL_PAIRS);
        cluster.adjust.iter().all(|value| value.is_finite()).then_some(cluster)
    }

    /// A vector over the parameters as it shows in the two games: `X v`.
    pub(super) fn project(&self, vector: &DVector<f64>) -> Vector2<f64> {
        Vector2::from_fn(|game, _| {
            let value = |(column, sign): (Option<usize>, f64)| {
                column.map_or(0.0, |column| sign * vector[column])
            };
            row(&self.players, game, vector.len()).into_iter().map(value).sum()
        })
    }

    /// Values of the two games as they act on the parameters: `X' v`.
    pub(super) fn spread(&self, values: &Vector2<f64>, size: usize) -> DVector<f64> {
        let mut out = DVector::zeros(size);
        for game in 0..2 {
            for (column, sign) in row(&self.players, game, size) {
                if let Some(column) = column {
                    out[column] += sign * values[game];
                }
            }
        }
        out
    }
}
