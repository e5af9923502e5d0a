//! The maximum of the likelihood and the intervals about it.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::cluster::Cluster;
use super::{ELO, Encounter, Estimate};

/// Drawn games that nobody played, for each player on the average: without them whoever won (or lost) everything would be
/// infinitely strong. Half of a player's goes to its opponents as its games did. Between two players they put the lower end
/// of such a one's interval at the exact binomial bound.
const VIRTUAL_GAMES: f64 = 1.0;

/// Newton steps until the fit is given up; it takes about ten.
const MOST_STEPS: usize = 200;

/// A step that moves no strength by more than this many Elo points is the last.
const SMALLEST_STEP: f64 = 1e-7;

/// Why there are no ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingError {
    /// A player's number that is too large, or an encounter of a player with himself.
    #[error("an encounter of players {0} and {1}, of {2} players")]
    Players(usize, usize, usize),
    /// The numbers are beyond what the fit can solve.
    #[error("the ratings cannot be solved for: the games are too many or too one-sided")]
    Numerics,
}

/// Fitted strengths of players and White's advantage, with what their intervals need.
#[derive(Clone, Debug)]
pub struct Ratings {
    anchor: usize,
    /// The column of each player; `None` for the anchor and for players who are not connected with it by games.
    columns: Vec<Option<usize>>,
    rated: Vec<bool>,
    /// Strengths in natural logarithms of the odds, White's advantage last.
    strengths: DVector<f64>,
    /// The inverse of the information.
    inverse: DMatrix<f64>,
    clusters: Vec<Cluster>,
    /// What the virtual games add to the variance of the gradient.
    virtual_meat: DMatrix<f64>,
}

impl Ratings {
    /// The ratings of `players` players, numbered from 0, of whom `anchor` has strength 0.
    ///
    /// The likelihood of a score `s` in {0, 1/2, 1} with expectation `p` is `p^s (1 - p)^(1 - s)`; Newton's method with
    /// step halving finds the maximum over strengths and advantage together. One virtual drawn game a player, spread
    /// over its opponents as its real games are, keeps it finite.
    ///
    /// The two games of a pair begin with one opening and so are not independent: the covariance is the cluster-robust
    /// one (Liang and Zeger 1986), `M (Σ g g') M` with the pair as cluster, `M` the inverse information and `g` a pair's
    /// gradient from residuals corrected for small samples (Kauermann and Carroll 2001; Bell and McCaffrey's CR2). One
    /// pair of the model's own variance joins those of each encounter, and the virtual games count as half won, half
    /// lost. Intervals use Student's quantile with Satterthwaite's degrees of freedom, contrast by contrast (Bell and
    /// McCaffrey 2002).
    ///
    /// # Errors
    /// An encounter that names no two players, or numbers beyond floating point.
    pub fn fit(
        players: usize,
        anchor: usize,
        encounters: &[Encounter],
    ) -> Result<Ratings, RatingError> {
        let wrong = |e: &&Encounter| e.a >= players || e.b >= players || e.a == e.b;
        if let Some(e) = encounters.iter().find(wrong) {
            return Err(RatingError::Players(e.a, e.b, players));
        }
        if anchor >= players {
            return Err(RatingError::Players(anchor, anchor, players));
        }
        let rated = connected(players, anchor, encounters);
        let mut next = 0;
        let columns: Vec<Option<usize>> = (0..players)
            .map(|player| {
                let column = (rated[player] && player != anchor).then_some(next);
                next += usize::from(column.is_some());
                column
            })
            .collect();
        let met: Vec<&Encounter> =
            encounters.iter().filter(|e| rated[e.a] && e.pairs.pairs() > 0).collect();
        let games: Vec<Games> = virtual_games(players, &met)
            .into_iter()
            .zip(&met)
            .map(|(drawn, e)| Games::of(e, [columns[e.a], columns[e.b]], drawn))
            .collect();
        let (strengths, information) = maximum(next + 1, &games)?;
        let inverse = information.inverse();
        let clusters: Vec<Cluster> = games
            .iter()
            .zip(&met)
            .map(|(games, e)| Cluster::of(games, e, &strengths, &inverse))
            .collect::<Option<_>>()
            .ok_or(RatingError::Numerics)?;
        let mut virtual_meat = DMatrix::zeros(next + 1, next + 1);
        for games in &games {
            for game in 0..2 {
                let p = games.expected(game, &strengths);
                let variance = 0.25 * games.drawn * (p * p + (1.0 - p) * (1.0 - p));
                games.add_square(game, variance, &mut virtual_meat);
            }
        }
        Ok(Ratings { anchor, columns, rated, strengths, inverse, clusters, virtual_meat })
    }

    /// Whether games connect the player with the anchor, so that it has a rating.
    pub fn is_rated(&self, player: usize) -> bool {
        self.rated.get(player).copied().unwrap_or(false)
    }

    /// A player's strength over the anchor's; `None` where no games connect the two.
    pub fn player(&self, player: usize) -> Option<Estimate> {
        self.difference(player, self.anchor)
    }

    /// How much stronger the first player is; `None` where no games connect the two.
    pub fn difference(&self, one: usize, other: usize) -> Option<Estimate> {
        if !self.is_rated(one) || !self.is_rated(other) {
            return None;
        }
        let mut contrast = DVector::zeros(self.strengths.len());
        for (player, sign) in [(one, 1.0), (other, -1.0)] {
            if let Some(column) = self.columns[player] {
                contrast[column] += sign;
            }
        }
        Some(self.estimate(&contrast))
    }

    /// White's advantage, common to all players.
    pub fn white_advantage(&self) -> Estimate {
        let mut contrast = DVector::zeros(self.strengths.len());
        contrast[self.strengths.len() - 1] = 1.0;
        self.estimate(&contrast)
    }

    /// A linear combination of the strengths and the advantage, with its interval.
    fn estimate(&self, contrast: &DVector<f64>) -> Estimate {
        let through = &self.inverse * contrast;
        let certain = through.dot(&(&self.virtual_meat * &through));
        let size = self.strengths.len();
        // P = diag(a) - U M U' over all pairs: the model's covariance of the pairs' shares in the estimate's error. The
        // traces of P and of its square give the degrees of freedom.
        let (mut seen, mut trace, mut square) = (0.0, 0.0, 0.0);
        let mut inner = DMatrix::zeros(size, size);
        for cluster in &self.clusters {
            let share = cluster.adjust.transpose() * cluster.project(&through);
            seen += cluster.pairs * share.dot(&(cluster.products * share));
            let weighted = cluster.weights.component_mul(&share);
            let own = weighted.dot(&share);
            let row = cluster.spread(&weighted, size);
            let leverage = row.dot(&(&self.inverse * &row));
            trace += cluster.pairs * (own - leverage);
            square += cluster.pairs * (own * own - 2.0 * own * leverage);
            inner.ger(cluster.pairs, &row, &row, 1.0);
        }
        let inner = &self.inverse * inner;
        square += (&inner * &inner).trace();
        let variance = seen + certain;
        // The variance that the pairs show is uncertain, that of the virtual games is not.
        let freedom = if seen > 0.0 && trace > 0.0 && square > 0.0 {
            (trace * trace / square) * (variance / seen).powi(2)
        } else {
            f64::INFINITY
        };
        let elo = ELO * contrast.dot(&self.strengths);
        let margin = ELO * quantile(freedom) * variance.max(0.0).sqrt();
        Estimate { elo, low: elo - margin, high: elo + margin }
    }
}

/// The 97.5% point of Student's distribution; the normal one's where the degrees of freedom are many.
fn quantile(freedom: f64) -> f64 {
    // Below one degree there is no interval worth the name, above a thousand the third digit does not change.
    match StudentsT::new(0.0, 1.0, freedom.clamp(1.0, 1e3)) {
        Ok(student) => student.inverse_cdf(0.975),
        Err(_) => f64::INFINITY,
    }
}

/// Who is connected with the anchor by games.
fn connected(players: usize, anchor: usize, encounters: &[Encounter]) -> Vec<bool> {
    let mut reached = vec![false; players];
    reached[anchor] = true;
    loop {
        let mut grown = false;
        for e in encounters.iter().filter(|e| e.pairs.pairs() > 0) {
            if reached[e.a] != reached[e.b] {
                (reached[e.a], reached[e.b], grown) = (true, true, true);
            }
        }
        if !grown {
            return reached;
        }
    }
}

/// Virtual drawn games of each encounter: [`VIRTUAL_GAMES`] a player, spread as its real games.
fn virtual_games(players: usize, encounters: &[&Encounter]) -> Vec<f64> {
    let mut played = vec![0.0; players];
    for e in encounters {
        played[e.a] += e.pairs.pairs() as f64;
        played[e.b] += e.pairs.pairs() as f64;
    }
    let share = |e: &Encounter| {
        0.5 * VIRTUAL_GAMES * e.pairs.pairs() as f64 * (1.0 / played[e.a] + 1.0 / played[e.b])
    };
    encounters.iter().map(|e| share(e)).collect()
}

/// The games of one encounter, those with the first player as White and those with the second.
pub(super) struct Games {
    pub(super) players: [Option<usize>; 2],
    pub(super) pairs: f64,
    /// Virtual drawn games, half of them with either colouring.
    drawn: f64,
    /// White's points in the real games of either colouring.
    points: [f64; 2],
}

impl Games {
    fn of(e: &Encounter, players: [Option<usize>; 2], drawn: f64) -> Games {
        let mut points = [0.0; 2];
        for (white, black, count) in e.pairs.cells() {
            points[0] += 0.5 * white as f64 * count as f64;
            points[1] += (1.0 - 0.5 * black as f64) * count as f64;
        }
        Games { players, pairs: e.pairs.pairs() as f64, drawn, points }
    }

    /// The columns with a value in a game's row of the design: White's, Black's, the advantage's.
    fn row(&self, game: usize, size: usize) -> [(Option<usize>, f64); 3] {
        row(&self.players, game, size)
    }

    fn lead(&self, game: usize, strengths: &DVector<f64>) -> f64 {
        let value = |(column, sign): (Option<usize>, f64)| {
            column.map_or(0.0, |column| sign * strengths[column])
        };
        self.row(game, strengths.len()).into_iter().map(value).sum()
    }

    /// White's expected score.
    pub(super) fn expected(&self, game: usize, strengths: &DVector<f64>) -> f64 {
        logistic(self.lead(game, strengths))
    }

    /// Points and games of one colouring, the virtual ones included.
    fn totals(&self, game: usize) -> (f64, f64) {
        (self.points[game] + 0.25 * self.drawn, self.pairs + 0.5 * self.drawn)
    }

    /// The logarithm of the likelihood.
    fn likelihood(&self, strengths: &DVector<f64>) -> f64 {
        let one = |game| {
            let (points, games) = self.totals(game);
            let lead = self.lead(game, strengths);
            // points ln p + (games - points) ln(1 - p), without overflow.
            points * lead - games * (lead.max(0.0) + (-lead.abs()).exp().ln_1p())
        };
        one(0) + one(1)
    }

    /// Adds `weight x x'`, `x` the game's row of the design.
    fn add_square(&self, game: usize, weight: f64, into: &mut DMatrix<f64>) {
        let row = self.row(game, into.nrows());
        for (i, a) in row {
            for (j, b) in row {
                if let (Some(i), Some(j)) = (i, j) {
                    into[(i, j)] += weight * a * b;
                }
            }
        }
    }
}

/// A game's row of the design: +1 for White, -1 for Black, +1 for the advantage; the anchor has no column.
pub(super) fn row(
    players: &[Option<usize>; 2],
    game: usize,
    size: usize,
) -> [(Option<usize>, f64); 3] {
    [(players[game], 1.0), (players[1 - game], -1.0), (Some(size - 1), 1.0)]
}

pub(super) fn logistic(lead: f64) -> f64 {
    1.0 / (1.0 + (-lead).exp())
}

/// The strengths of the largest likelihood, and the information there.
fn maximum(
    size: usize,
    games: &[Games],
) -> Result<(DVector<f64>, Cholesky<f64, Dyn>), RatingError> {
    let mut strengths = DVector::zeros(size);
    let likelihood =
        |strengths: &DVector<f64>| games.iter().map(|g| g.likelihood(strengths)).sum::<f64>();
    let mut best = likelihood(&strengths);
    for _ in 0..MOST_STEPS {
        let mut gradient = DVector::zeros(size);
        // A trace of information about everything keeps a fit without any game solvable.
        let mut information = DMatrix::identity(size, size) * 1e-9;
        for one in games {
            for game in 0..2 {
                let (points, total) = one.totals(game);
                let p = one.expected(game, &strengths);
                for (column, sign) in one.row(game, size) {
                    if let Some(column) = column {
                        gradient[column] += sign * (points - total * p);
                    }
                }
                one.add_square(game, total * p * (1.0 - p), &mut information);
            }
        }
        let solver = Cholesky::new(information).ok_or(RatingError::Numerics)?;
        let mut step = solver.solve(&gradient);
        if step.amax() * ELO < SMALLEST_STEP {
            return Ok((strengths, solver));
        }
        loop {
            let tried = &strengths + &step;
            let value = likelihood(&tried);
            if value >= best - 1e-12 * best.abs() {
                (strengths, best) = (tried, value);
                break;
            }
            step *= 0.5;
            if step.amax() * ELO < SMALLEST_STEP {
                return Ok((strengths, solver));
            }
        }
    }
    Err(RatingError::Numerics)
}
