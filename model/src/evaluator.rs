//! What a network says of a position, and the trait of whatever says it.

use thiserror::Error;

use crate::features::Features;

/// What a network says of a position, from the decider's view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// One logit an action, in the order the actions were given to [`Features::fill`]. Unnormalised: their softmax is the policy.
    pub logits: Vec<f32>,
    /// The probabilities that the decider wins, that it loses, and that the game stays unfinished; they sum to 1.
    pub value: [f32; 3],
    /// Plays until the end of the game, 0 or more.
    pub plays_left: f32,
}

impl Evaluation {
    /// The decider's expected result in [-1, 1]: win minus loss.
    pub fn q(&self) -> f32 {
        self.value[0] - self.value[1]
    }

    /// The policy: softmax of the logits, one probability an action, written to `out`.
    pub fn policy(&self, out: &mut Vec<f32>) {
        out.clear();
        let most = self.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        out.extend(self.logits.iter().map(|logit| (logit - most).exp()));
        let sum: f32 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }
}

/// Why a batch could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// The batch and the place for its results differ in length.
    #[error("{batch} positions to evaluate but room for {out} results")]
    Length {
        /// Positions.
        batch: usize,
        /// Results there is room for.
        out: usize,
    },
    /// The back end failed.
    #[error("{name}: {message}")]
    Backend {
        /// The evaluator's name.
        name: String,
        /// What it says, one line.
        message: String,
    },
}

/// Evaluates positions, a batch at a time.
pub trait Evaluator: Send {
    /// Evaluates `batch[i]` into `out[i]`; each logits vector gets one logit an action. After an error `out` is unspecified.
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError>;

    /// What it is, for people: back end, network size, device.
    fn name(&self) -> String;
}

impl<E: Evaluator + ?Sized> Evaluator for Box<E> {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        (**self).evaluate(batch, out)
    }

    fn name(&self) -> String {
        (**self).name()
    }
}

/// An error unless batch and results have the same length: every evaluator begins with it.
pub fn check_lengths(batch: &[Features], out: &[Evaluation]) -> Result<(), EvalError> {
    if batch.len() == out.len() {
        return Ok(());
    }
    Err(EvalError::Length { batch: batch.len(), out: out.len() })
}
