//! The schedule of sequential halving.
//!
//! Karnin et al. 2013, in the form Danihelka et al. 2022 use at the root: the budget is split evenly over the
//! ⌈log2 m⌉ phases; each phase visits every candidate left equally often, then keeps the better half. As in mctx the
//! schedule is the sequence of visit counts that are looked at: the next simulation goes to the best candidate that
//! has been visited exactly so often, which makes the halving itself implicit.

/// Yields, for each simulation, the number of new visits that the candidate to visit has had so far. It never ends:
/// the caller stops at its budget.
#[derive(Clone, Copy, Debug)]
pub struct HalvingSchedule {
    simulations: u32,
    phases: u32,
    /// Candidates that the running phase visits.
    considered: u32,
    /// The running row: every candidate of the phase is visited once per row.
    visit: u32,
    place: u32,
    rows_left: u32,
}

impl HalvingSchedule {
    /// A schedule for `candidates` candidates (0 and 1 mean the same) and a budget of `simulations`.
    pub fn new(candidates: u32, simulations: u32) -> HalvingSchedule {
        let considered = candidates.max(1);
        let phases = considered.next_power_of_two().trailing_zeros();
        let mut schedule =
            HalvingSchedule { simulations, phases, considered, visit: 0, place: 0, rows_left: 0 };
        schedule.rows_left = schedule.rows();
        schedule
    }

    /// Whether the next number is the first of a row.
    pub(crate) fn begins_row(&self) -> bool {
        self.place == 0
    }

    /// Whether the next number is the first of a phase, or of as many rows again of the last one.
    pub(crate) fn begins_phase(&self) -> bool {
        self.place == 0 && self.rows_left == self.rows()
    }

    /// Visits that each candidate gets in a phase with the present number of candidates.
    fn rows(&self) -> u32 {
        (self.simulations / (self.phases * self.considered).max(1)).max(1)
    }
}

impl Iterator for HalvingSchedule {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let visit = self.visit;
        self.place += 1;
        if self.place == self.considered {
            self.place = 0;
            self.visit += 1;
            self.rows_left -= 1;
            if self.rows_left == 0 {
                if self.considered > 1 {
                    self.considered = (self.considered / 2).max(2);
                }
                self.rows_left = self.rows();
            }
        }
        Some(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(candidates: u32, simulations: u32) -> Vec<u32> {
        HalvingSchedule::new(candidates, simulations).take(simulations as usize).collect()
    }

    /// Rows `(visit, how often)`, written out.
    fn rows(rows: &[(u32, usize)]) -> Vec<u32> {
        rows.iter().flat_map(|&(visit, count)| std::iter::repeat_n(visit, count)).collect()
    }

    /// The tables of mctx's `seq_halving_test.py`.
    #[test]
    fn equals_the_published_tables() {
        assert_eq!(
            sequence(8, 24),
            rows(&[(0, 8), (1, 4), (2, 4), (3, 2), (4, 2), (5, 2), (6, 2)])
        );
        let mut extra = rows(&[(0, 8), (1, 4), (2, 4), (3, 4)]);
        extra.extend((4..17).flat_map(|visit| [visit, visit]));
        extra.push(17);
        assert_eq!(sequence(8, 47), extra);
        assert_eq!(sequence(8, 2), [0, 0]);
        assert_eq!(sequence(8, 13), rows(&[(0, 8), (1, 4), (2, 1)]));
        assert_eq!(
            sequence(7, 24),
            rows(&[(0, 7), (1, 3), (2, 3), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 1)])
        );
        assert_eq!(sequence(0, 16), (0..16).collect::<Vec<_>>());
        assert_eq!(sequence(1, 16), (0..16).collect::<Vec<_>>());
    }

    /// The paper's example, 200 simulations and 16 candidates: 16, 8, 4 and 2 candidates, 50 simulations or so each.
    #[test]
    fn splits_the_budget_evenly_over_the_phases() {
        let sequence = sequence(16, 200);
        let first_phase = sequence.iter().filter(|&&visit| visit < 3).count();
        let second_phase = sequence.iter().filter(|&&visit| (3..9).contains(&visit)).count();
        let third_phase = sequence.iter().filter(|&&visit| (9..21).contains(&visit)).count();
        assert_eq!([first_phase, second_phase, third_phase], [48, 48, 48]);
        assert_eq!(sequence.len(), 200);
    }
}
