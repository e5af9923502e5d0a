//! Which two players should meet next.

use nalgebra::{Cholesky, DMatrix, DVector, Matrix2};

use super::fit::logistic;
use super::{ELO, Encounter, RatingError, Ratings};

/// Standard deviation in Elo points of what is known of a player before its first game.
const UNKNOWN: f64 = 800.0;

/// The variance of a logistic distribution of scale 1.
const LOGISTIC_VARIANCE: f64 = std::f64::consts::PI * std::f64::consts::PI / 3.0;

/// Two players who may meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// One player's number.
    pub a: usize,
    /// The other's.
    pub b: usize,
    /// What a pair of their games costs, in any unit (seconds), more than 0.
    pub cost: f64,
}

/// Chooses pairings: the one whose games lower the sum of the ratings' variances most for what they cost.
///
/// The variances are the model's own about the present ratings, with a wide normal prior for those who have not played.
/// A game's information is `E[p (1 - p)]` over what is not yet known of the two, `q (1 - q) / s` with `q` the logistic
/// function of the expected lead over `s`, `s² = 1 + 3 v / π²`, `v` the lead's variance.
#[derive(Clone, Debug)]
pub struct Planner {
    anchor: usize,
    /// Expected strengths in natural logarithms of the odds, White's advantage last.
    strengths: DVector<f64>,
    covariance: DMatrix<f64>,
}

impl Planner {
    /// A planner that knows these ratings and the games behind them; `guesses` are the Elo of players without a rating,
    /// one for each player.
    ///
    /// # Errors
    /// The numbers are beyond floating point.
    pub fn new(
        ratings: &Ratings,
        anchor: usize,
        encounters: &[Encounter],
        guesses: &[f64],
    ) -> Result<Planner, RatingError> {
        let players = guesses.len();
        let white = ratings.white_advantage().elo / ELO;
        let mut strengths = DVector::zeros(players.max(1));
        for (player, guess) in guesses.iter().enumerate() {
            if let Some(column) = column(anchor, player) {
                strengths[column] = ratings.player(player).map_or(*guess, |e| e.elo) / ELO;
            }
        }
        let size = strengths.len();
        strengths[size - 1] = white;
        let mut planner = Planner { anchor, strengths, covariance: DMatrix::zeros(size, size) };
        let mut information = DMatrix::identity(size, size) * (ELO / UNKNOWN).powi(2);
        for e in encounters {
            if e.a.max(e.b) >= players || e.a == e.b {
                return Err(RatingError::Players(e.a, e.b, players));
            }
            for game in 0..2 {
                let row = planner.row(e.a, e.b, game);
                let p = logistic(row.dot(&planner.strengths));
                information.ger(e.pairs.pairs() as f64 * p * (1.0 - p), &row, &row, 1.0);
            }
        }
        planner.covariance = Cholesky::new(information).ok_or(RatingError::Numerics)?.inverse();
        Ok(planner)
    }

    /// The number of the best pairing for `pairs` pairs of games (1 or more), `None` without a pairing. The planner goes on
    /// as if they had been played, so that the next choice is another one where that is better.
    pub fn choose(&mut self, pairings: &[Pairing], pairs: u32) -> Option<usize> {
        let drop = |p: &Pairing| {
            let change = self.change(p, pairs);
            let size = change.nrows() - 1;
            (0..size).map(|column| change[(column, column)]).sum::<f64>() / p.cost.max(1e-9)
        };
        let best =
            pairings.iter().map(drop).enumerate().max_by(|one, other| one.1.total_cmp(&other.1))?.0;
        self.covariance -= self.change(&pairings[best], pairs);
        Some(best)
    }

    /// What the covariance loses by these games (Woodbury's identity).
    fn change(&self, pairing: &Pairing, pairs: u32) -> DMatrix<f64> {
        let rows = [0, 1].map(|game| self.row(pairing.a, pairing.b, game));
        let through = rows.each_ref().map(|row| &self.covariance * row);
        let spread = Matrix2::from_fn(|i, j| rows[i].dot(&through[j]));
        let noise = [0, 1].map(|game| {
            let scale = (1.0 + spread[(game, game)] / LOGISTIC_VARIANCE).sqrt();
            let q = logistic(rows[game].dot(&self.strengths) / scale);
            scale / (f64::from(pairs) * q * (1.0 - q)).max(1e-12)
        });
        let total = spread + Matrix2::from_diagonal(&noise.into());
        let size = self.strengths.len();
        let mut change = DMatrix::zeros(size, size);
        if let Some(weights) = total.try_inverse() {
            for i in 0..2 {
                for j in 0..2 {
                    change.ger(weights[(i, j)], &through[i], &through[j], 1.0);
                }
            }
        }
        change
    }

    /// A game's row of the design: the first player is White in game 0, the second in game 1.
    fn row(&self, a: usize, b: usize, game: usize) -> DVector<f64> {
        let size = self.strengths.len();
        let mut row = DVector::zeros(size);
        let sign = if game == 0 { 1.0 } else { -1.0 };
        for (player, sign) in [(a, sign), (b, -sign)] {
            if let Some(column) = column(self.anchor, player) {
                row[column] += sign;
            }
        }
        row[size - 1] = 1.0;
        row
    }
}

/// The column of a player; the anchor has none.
fn column(anchor: usize, player: usize) -> Option<usize> {
    (player != anchor).then(|| player - usize::from(player > anchor))
}
