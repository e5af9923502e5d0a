//! Where a player's search gets its evaluations: one position at a time, or, with threads that help, a row's together.

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

#[cfg(feature = "threads")]
use crate::helpers::Helpers;
use crate::search::{Search, Step};
use crate::worker::evaluate;

/// Positions for each thread that are given out together at most: more would be looked at before the clock is.
#[cfg(feature = "threads")]
const EACH: usize = 8;

/// The evaluator, and room for a batch.
pub(crate) struct Desk {
    features: Vec<Features>,
    evaluations: Vec<Evaluation>,
    #[cfg(feature = "threads")]
    pub(crate) helpers: Option<Helpers>,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk {
            features: vec![Features::new()],
            evaluations: vec![Evaluation::default()],
            #[cfg(feature = "threads")]
            helpers: None,
        }
    }
}

impl Desk {
    /// Whether positions are evaluated by several threads.
    pub(crate) fn is_shared(&self) -> bool {
        #[cfg(feature = "threads")]
        return self.helpers.is_some();
        #[cfg(not(feature = "threads"))]
        false
    }

    /// Lets the search go on until positions must be evaluated; how many, 0 where it is over.
    pub(crate) fn take(&mut self, search: &mut Search) -> u32 {
        #[cfg(feature = "threads")]
        if let Some(helpers) = &self.helpers {
            let most = EACH * (1 + helpers.len());
            return search.take_off(most, &mut self.features) as u32;
        }
        u32::from(search.step(&mut self.features[0]) == Step::Evaluate)
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
    pub(crate) fn deliver(&mut self, search: &mut Search, count: u32) {
        #[cfg(feature = "threads")]
        if self.helpers.is_some() {
            return search.land(&self.evaluations[..count as usize]);
        }
        for evaluation in &self.evaluations[..count as usize] {
            search.absorb(evaluation);
        }
    }
}
