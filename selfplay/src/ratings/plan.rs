//! Which two players should meet next.

use nalgebra::{Cholesky, DMatrix, DVector, Matrix2};

use super::fit::logistic;
use super::{ELO, Encounter, RatingError, Ratings};

/// Standard deviation in Elo points of what is known of a player before its first game.
const UNKNOWN: f64 = 800.0;

/// The same of the difference between two players that are expected to be alike.
const ALIKE: f64 = 200.0;

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

/// Chooses pairings: the one whose games lower the sum of the variances of the scores that neighbours expect against each other
/// most for what they cost, neighbours being next to each other in the present order of strength. So one wide gap, such as that
/// between trained and untrained players, counts once, not for everybody beyond it, and hardly more than nothing: whether it is 1,500
/// points or 2,000 says little, and to find out would take most of the games where those players are cheap.
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
    /// Columns of players next to each other by strength; the anchor has none.
    neighbours: Vec<[Option<usize>; 2]>,
}

impl Planner {
    /// A planner that knows these ratings and the games behind them; `guesses` are the Elo of players without a rating,
    /// one for each player, and `alike` are pairs of players that are expected to be about as strong as each other, such as
    /// neighbouring checkpoints of a run. It plans by that, no rating knows of it.
    ///
    /// # Errors
    /// The numbers are beyond floating point.
    pub fn new(
        ratings: &Ratings,
        anchor: usize,
        encounters: &[Encounter],
        guesses: &[f64],
        alike: &[(usize, usize)],
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
        let value = |player: &usize| column(anchor, *player).map_or(0.0, |at| strengths[at]);
        let mut order: Vec<usize> = (0..players).collect();
        order.sort_by(|one, other| value(one).total_cmp(&value(other)));
        let neighbours = order
            .windows(2)
            .map(|pair| [column(anchor, pair[0]), column(anchor, pair[1])])
            .collect();
        let covariance = DMatrix::zeros(size, size);
        let mut planner = Planner { anchor, strengths, covariance, neighbours };
        let mut information = DMatrix::identity(size, size) * (ELO / UNKNOWN).powi(2);
        let met = encounters.iter().map(|e| (e.a, e.b));
        if let Some((a, b)) =
            met.chain(alike.iter().copied()).find(|&(a, b)| a.max(b) >= players || a == b)
        {
            return Err(RatingError::Players(a, b, players));
        }
        for &(a, b) in alike {
            let mut row = planner.row(a, b, 0);
            row[size - 1] = 0.0;
            information.ger((ELO / ALIKE).powi(2), &row, &row, 1.0);
        }
        for e in encounters {
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
        let weights: Vec<f64> = self.neighbours.iter().map(|gap| self.weight(gap)).collect();
        let drop = |p: &Pairing| {
            let change = self.change(p, pairs);
            let drops = self.neighbours.iter().map(|gap| variance(&change, gap));
            drops.zip(&weights).map(|(drop, weight)| drop * weight).sum::<f64>() / p.cost.max(1e-9)
        };
        let best =
            pairings.iter().map(drop).enumerate().max_by(|one, other| one.1.total_cmp(&other.1))?.0;
        self.covariance -= self.change(&pairings[best], pairs);
        Some(best)
    }

    /// The variance of the expected score for one of the difference in strength, over that between equals: 0 to 1.
    fn weight(&self, gap: &[Option<usize>; 2]) -> f64 {
        let value = |column: Option<usize>| column.map_or(0.0, |at| self.strengths[at]);
        let score = logistic(value(gap[1]) - value(gap[0]));
        (4.0 * score * (1.0 - score)).powi(2)
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

/// The variance of the difference between two players' strengths, or what it changes by.
fn variance(covariance: &DMatrix<f64>, &[i, j]: &[Option<usize>; 2]) -> f64 {
    let entry = |i: Option<usize>, j: Option<usize>| match (i, j) {
        (Some(i), Some(j)) => covariance[(i, j)],
        _ => 0.0,
    };
    entry(i, i) + entry(j, j) - 2.0 * entry(i, j)
}

/// The column of a player; the anchor has none.
fn column(anchor: usize, player: usize) -> Option<usize> {
    (player != anchor).then(|| player - usize::from(player > anchor))
}
