//! Which mixes to choose when each side chooses its own, not knowing the other's choice: a zero-sum matrix game.

use serde::Serialize;

/// Most rows and most columns.
const MOST_SIDE: usize = 100;
/// Below it a reduced cost or a pivot counts as 0; the tableau's entries begin between 1 and 2.
const ZERO: f64 = 1e-11;
/// The largest regret of a solution, as a part of the matrix's range.
const MOST_REGRET: f64 = 1e-8;
/// Steps until the search is given up; games of the largest size take some hundreds.
const MOST_STEPS: usize = 100_000;

/// An equilibrium in mixed strategies: neither side can do better on its own.
///
/// There can be several; all have the same value, and any of White's strategies fits any of Black's. If the matrix is only
/// known within intervals, the equilibria of their lower ends and of their upper ends bound the value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Equilibrium {
    /// How often White chooses each row: not negative, sum 1.
    pub white: Vec<f64>,
    /// How often Black chooses each column: not negative, sum 1.
    pub black: Vec<f64>,
    /// White's score when both choose so.
    pub value: f64,
}

/// A matrix without an equilibrium that could be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EquilibriumError {
    /// No matrix, or too large a one.
    #[error("the matrix has {rows} rows and {columns} columns: allowed are 1 to {MOST_SIDE}")]
    Size {
        /// Rows.
        rows: usize,
        /// Columns of the first row.
        columns: usize,
    },
    /// Rows of different lengths.
    #[error("row {row} of the matrix has {found} scores, the first row {wanted}")]
    Ragged {
        /// The row, from 0.
        row: usize,
        /// Its scores.
        found: usize,
        /// Those of the first row.
        wanted: usize,
    },
    /// No number, or one without bound.
    #[error("row {row}, column {column} of the matrix is not a finite number")]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
    },
    /// Rounding has spoilt the solution.
    #[error("no equilibrium was found within rounding")]
    Unsolved,
}

impl Equilibrium {
    /// The equilibrium of `scores[row][column]`, what White gets when it chooses the row and Black the column.
    ///
    /// Dantzig (1951): with all scores positive, maximize `Σ y` under `scores · y ≤ 1`, `y ≥ 0`. The value is `1 / Σ y`,
    /// Black's strategy `y` and White's the dual solution, both times the value. Solved by the simplex method on a dense
    /// tableau with Bland's rule (1977), by which it ends on degenerate games too, such as those with equal mixes.
    ///
    /// It is own code: one dense tableau in a hundred lines gives both sides' strategies. The maintained crate, `microlp`, gives
    /// no dual solution, so that each side would take a program of its own, and is made for large sparse problems.
    ///
    /// # Errors
    /// A matrix that is empty, too large, ragged or not finite.
    pub fn of(scores: &[Vec<f64>]) -> Result<Equilibrium, EquilibriumError> {
        check(scores)?;
        let all = || scores.iter().flatten().copied();
        let (low, high) =
            all().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let range = if high > low { high - low } else { 1.0 };
        let mut tableau = Tableau::new(scores, |score| 1.0 + (score - low) / range);
        tableau.solve().ok_or(EquilibriumError::Unsolved)?;
        let (white, black) = tableau.strategies();
        let value = payoff(scores, &white, &black);
        let found = Equilibrium { white, black, value };
        let sound = found.regret(scores) <= MOST_REGRET * range;
        if sound { Ok(found) } else { Err(EquilibriumError::Unsolved) }
    }

    /// The most that one side could still gain by another choice while the other keeps to its strategy; 0 but for rounding in
    /// an equilibrium. The matrix must have as many rows and columns as the strategies.
    pub fn regret(&self, scores: &[Vec<f64>]) -> f64 {
        let row = |row: &Vec<f64>| dot(row, &self.black);
        let column = |column: usize| {
            let scores = scores.iter().zip(&self.white);
            scores.map(|(row, share)| row.get(column).unwrap_or(&0.0) * share).sum::<f64>()
        };
        let best = scores.iter().map(row).fold(f64::MIN, f64::max);
        let worst = (0..self.black.len()).map(column).fold(f64::MAX, f64::min);
        (best - self.value).max(self.value - worst)
    }
}

fn check(scores: &[Vec<f64>]) -> Result<(), EquilibriumError> {
    let (rows, columns) = (scores.len(), scores.first().map_or(0, Vec::len));
    if !(1..=MOST_SIDE).contains(&rows) || !(1..=MOST_SIDE).contains(&columns) {
        return Err(EquilibriumError::Size { rows, columns });
    }
    for (row, list) in scores.iter().enumerate() {
        if list.len() != columns {
            let (found, wanted) = (list.len(), columns);
            return Err(EquilibriumError::Ragged { row, found, wanted });
        }
        // At most half of the largest number, so that no difference overflows.
        let usable = |score: &f64| score.abs() < f64::MAX / 2.0;
        if let Some(column) = list.iter().position(|score| !usable(score)) {
            return Err(EquilibriumError::NotFinite { row, column });
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn payoff(scores: &[Vec<f64>], white: &[f64], black: &[f64]) -> f64 {
    scores.iter().zip(white).map(|(row, share)| share * dot(row, black)).sum()
}

/// The simplex method's table: a row for each constraint and, last, the objective; a column for each of Black's choices,
/// for each slack, and, last, the right-hand sides.
struct Tableau {
    rows: Vec<Vec<f64>>,
    /// Which column is basic in each constraint's row.
    basis: Vec<usize>,
    choices: usize,
}

impl Tableau {
    fn new(scores: &[Vec<f64>], positive: impl Fn(f64) -> f64) -> Tableau {
        let (constraints, choices) = (scores.len(), scores.first().map_or(0, Vec::len));
        let slack = |row: usize, place: usize| if row == place { 1.0 } else { 0.0 };
        let constraint = |(row, list): (usize, &Vec<f64>)| {
            let slacks = (0..constraints).map(|place| slack(row, place));
            list.iter().map(|&score| positive(score)).chain(slacks).chain([1.0]).collect()
        };
        let mut rows: Vec<Vec<f64>> = scores.iter().enumerate().map(constraint).collect();
        // Reduced costs: what a choice gains, with the sign turned.
        let costs = (0..choices).map(|_| -1.0).chain((0..=constraints).map(|_| 0.0));
        rows.push(costs.collect());
        let basis = (choices..choices + constraints).collect();
        Tableau { rows, basis, choices }
    }

    /// Pivots until no reduced cost is negative; `None` if it takes too long.
    fn solve(&mut self) -> Option<()> {
        for _ in 0..MOST_STEPS {
            let (costs, constraints) = self.rows.split_last()?;
            let columns = costs.len() - 1;
            let Some(enters) = (0..columns).find(|&column| costs[column] < -ZERO) else {
                return Some(());
            };
            // The smallest ratio leaves; of equal ones the smallest column.
            let mut leaves: Option<(f64, usize)> = None;
            for (row, list) in
                constraints.iter().enumerate().filter(|(_, list)| list[enters] > ZERO)
            {
                let ratio = list[columns] / list[enters];
                let better = leaves.is_none_or(|(least, at)| {
                    ratio < least - ZERO
                        || (ratio <= least + ZERO && self.basis[row] < self.basis[at])
                });
                if better {
                    leaves = Some((ratio, row));
                }
            }
            let (_, leaves) = leaves?;
            self.pivot(leaves, enters);
        }
        None
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let pivot = self.rows[row][column];
        self.rows[row].iter_mut().for_each(|entry| *entry /= pivot);
        let by = self.rows[row].clone();
        for (_, other) in self.rows.iter_mut().enumerate().filter(|&(at, _)| at != row) {
            let factor = other[column];
            if factor != 0.0 {
                other.iter_mut().zip(&by).for_each(|(entry, by)| *entry -= factor * by);
                // Exactly 0, whatever the rounding.
                other[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    /// White's and Black's.
    fn strategies(&self) -> (Vec<f64>, Vec<f64>) {
        let mut black = vec![0.0; self.choices];
        for (row, &column) in self.rows.iter().zip(&self.basis) {
            if let (Some(share), Some(&value)) = (black.get_mut(column), row.last()) {
                *share = value;
            }
        }
        let costs = self.rows.last().map(Vec::as_slice).unwrap_or_default();
        let white = costs.iter().skip(self.choices).take(self.basis.len()).copied().collect();
        (shares(white), shares(black))
    }
}

/// Not negative, sum 1.
fn shares(mut parts: Vec<f64>) -> Vec<f64> {
    parts.iter_mut().for_each(|part| *part = part.max(0.0));
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part /= total);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RandomKey, below, open_unit};

    fn solved(scores: &[Vec<f64>]) -> Equilibrium {
        Equilibrium::of(scores).unwrap_or_else(|error| panic!("{error}: {scores:?}"))
    }

    fn close(found: &[f64], wanted: &[f64]) {
        let near = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near && found.len() == wanted.len(), "{found:?} for {wanted:?}");
    }

    #[test]
    fn games_with_known_solutions() {
        // Rock, paper, scissors.
        let rps = vec![vec![0.5, 0.0, 1.0], vec![1.0, 0.5, 0.0], vec![0.0, 1.0, 0.5]];
        let found = solved(&rps);
        close(&found.white, &[1.0 / 3.0; 3]);
        close(&found.black, &[1.0 / 3.0; 3]);
        close(&[found.value], &[0.5]);
        // A saddle point: row 1, column 0.
        let saddle = solved(&[vec![0.3, 0.9, 0.2], vec![0.6, 0.7, 0.8]]);
        close(&saddle.white, &[0.0, 1.0]);
        close(&saddle.black, &[1.0, 0.0, 0.0]);
        close(&[saddle.value], &[0.6]);
        // Two by two without one: p = (d - c) / (a - b - c + d), value (ad - bc) / (a - b - c + d).
        let mixed = solved(&[vec![3.0, -1.0], vec![-2.0, 1.0]]);
        close(&mixed.white, &[3.0 / 7.0, 4.0 / 7.0]);
        close(&mixed.black, &[2.0 / 7.0, 5.0 / 7.0]);
        close(&[mixed.value], &[1.0 / 7.0]);
        // Diagonal: shares in proportion to 1 / d, value 1 / Σ (1 / d).
        let diagonal = solved(&[vec![1.0, 0.0, 0.0], vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 4.0]]);
        close(&diagonal.white, &[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
        close(&diagonal.black, &diagonal.white);
        close(&[diagonal.value], &[4.0 / 7.0]);
        // All alike, and a single choice.
        close(&[solved(&vec![vec![0.4; 40]; 40]).value], &[0.4]);
        close(&[solved(&[vec![0.7, 0.2, 0.5]]).value], &[0.2]);
        close(&[solved(&[vec![0.7], vec![0.2]]).value], &[0.7]);
    }

    #[test]
    fn no_choice_gains_on_random_matrices() {
        for game in 0..400 {
            let mut rng = RandomKey { seed: 11, game }.stream(0, Purpose::Player);
            let (rows, columns) = (1 + below(&mut rng, 40), 1 + below(&mut rng, 40));
            // Every third has few different scores, so that many bases are degenerate.
            let coarse = game % 3 == 0;
            let mut score = || {
                let score = open_unit(&mut rng);
                if coarse { (score * 4.0).floor() / 4.0 } else { 0.35 + 0.3 * score }
            };
            let scores: Vec<Vec<f64>> =
                (0..rows).map(|_| (0..columns).map(|_| score()).collect()).collect();
            let found = solved(&scores);
            assert!(found.regret(&scores) < 1e-9, "{rows} x {columns}: {}", found.regret(&scores));
            for (strategy, length) in [(&found.white, rows), (&found.black, columns)] {
                assert!(strategy.len() == length && strategy.iter().all(|&share| share >= 0.0));
                assert!((strategy.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_one_sides_loss_is_the_others_gain() {
        let mut rng = RandomKey { seed: 12, game: 0 }.stream(0, Purpose::Player);
        let scores: Vec<Vec<f64>> =
            (0..100).map(|_| (0..100).map(|_| open_unit(&mut rng)).collect()).collect();
        let turned: Vec<Vec<f64>> =
            (0..100).map(|at| scores.iter().map(|row| 1.0 - row[at]).collect()).collect();
        close(&[solved(&scores).value], &[1.0 - solved(&turned).value]);
    }

    #[test]
    fn errors_name_the_place() {
        let message = |scores: &[Vec<f64>]| Equilibrium::of(scores).unwrap_err().to_string();
        assert_eq!(message(&[]), "the matrix has 0 rows and 0 columns: allowed are 1 to 100");
        assert_eq!(
            message(&vec![vec![0.0]; 101]),
            "the matrix has 101 rows and 1 columns: allowed are 1 to 100"
        );
        assert_eq!(
            message(&[vec![0.0, 1.0], vec![0.0]]),
            "row 1 of the matrix has 1 scores, the first row 2"
        );
        assert_eq!(
            message(&[vec![0.0, f64::NAN]]),
            "row 0, column 1 of the matrix is not a finite number"
        );
    }
}
