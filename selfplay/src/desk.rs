//! Where a player's search gets its evaluations: those of a row's positions together, from its own thread and from those that help.

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

#[cfg(feature = "threads")]
use crate::helpers::Helpers;
use crate::search::Search;
use crate::worker::evaluate;

/// Positions for each thread that are given out together at most: more would be looked at before the clock is.
const EACH: usize = 8;
/// Positions that are given out together at most where nothing overlaps: as many whatever the threads, so that the search goes the same
/// way with any number of them.
const WITHOUT_OVERLAP: usize = 16;

/// Room for a batch, and the threads that help.
#[derive(Default)]
pub(crate) struct Desk {
    features: Vec<Features>,
    evaluations: Vec<Evaluation>,
    #[cfg(feature = "threads")]
    pub(crate) helpers: Option<Helpers>,
}

impl Desk {
    /// Threads that evaluate.
    fn threads(&self) -> usize {
        #[cfg(feature = "threads")]
        return 1 + self.helpers.as_ref().map_or(0, Helpers::len);
        #[cfg(not(feature = "threads"))]
        1
    }

    /// Lets the search go on until positions must be evaluated, `most` of them or fewer (a chance node may add some); how many, 0 where
    /// it is over or has made many visits that needed none. Up to `overlap` of them for each thread may depend on one another.
    pub(crate) fn take(&mut self, search: &mut Search, most: usize, overlap: u32) -> u32 {
        let bound = if overlap == 0 { WITHOUT_OVERLAP } else { EACH * self.threads() };
        let most = most.min(bound);
        search.take_off(most, overlap as usize * self.threads(), &mut self.features) as u32
    }

    /// Evaluates the positions that were taken.
    ///
    /// # Errors
    /// The evaluator's.
    pub(crate) fn evaluate(
        &mut self,
        own: &mut impl Evaluator,
        count: u32,
    ) -> Result<(), EvalError> {
        let count = count as usize;
        if self.evaluations.len() < count {
            self.evaluations.resize_with(count, Evaluation::default);
        }
        let (features, out) = (&mut self.features[..count], &mut self.evaluations[..count]);
        #[cfg(feature = "threads")]
        if let Some(helpers) = &mut self.helpers {
            return helpers.evaluate(own, features, out);
        }
        evaluate(own, features, out)
    }

    /// Hands the evaluations to the search.
    pub(crate) fn deliver(&self, search: &mut Search, count: u32) {
        search.land(&self.evaluations[..count as usize]);
    }
}
