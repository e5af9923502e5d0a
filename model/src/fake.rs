//! Evaluators for tests: numbers made up from a hash, given ones, and wrappers that delay, reorder or fail.

use gipf_core::Symmetry;

use crate::evaluator::{EvalError, Evaluation, Evaluator, check_lengths};
use crate::features::Features;
use crate::hash;

/// Makes its numbers up: a fixed function of features, actions and seed, without rhyme or reason.
#[derive(Clone, Debug)]
pub struct FakeEvaluator {
    seed: u64,
    symmetric: bool,
    /// Logits lie in [-scale, scale].
    scale: f32,
    /// Positions evaluated so far.
    pub positions: u64,
    /// Batches evaluated so far.
    pub batches: u64,
}

impl FakeEvaluator {
    /// One that answers differently for every position, transformed ones included.
    pub fn new(seed: u64) -> Self {
        Self { seed, symmetric: false, scale: 2.0, positions: 0, batches: 0 }
    }

    /// One that gives a position and its transformed ones the same value, and their actions the same logits.
    pub fn symmetric(seed: u64) -> Self {
        Self { symmetric: true, ..Self::new(seed) }
    }

    fn evaluation(&self, features: &Features, out: &mut Evaluation) {
        out.logits.clear();
        out.logits.resize(features.policy.actions(), 0.0);
        let mut sum = 0;
        let mut action_sums = vec![0u64; features.policy.actions()];
        let mut add = |features: &Features| {
            let position = hash::of_features(features, self.seed);
            sum = u64::wrapping_add(sum, position);
            for (action, sum) in action_sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add(hash::of_action(features, action, position));
            }
        };
        if self.symmetric {
            Symmetry::ALL.into_iter().for_each(|symmetry| add(&features.transformed(symmetry)));
        } else {
            add(features);
        }
        for (logit, hash) in out.logits.iter_mut().zip(action_sums) {
            *logit = (2.0 * hash::unit(hash::mix(hash)) - 1.0) * self.scale;
        }
        let win = hash::unit(hash::mix(sum ^ 1));
        let unfinished = 0.1 * hash::unit(hash::mix(sum ^ 2));
        out.value = [win * (1.0 - unfinished), (1.0 - win) * (1.0 - unfinished), unfinished];
        out.plays_left = 100.0 * hash::unit(hash::mix(sum ^ 3));
    }
}

impl Evaluator for FakeEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        self.positions += batch.len() as u64;
        self.batches += 1;
        batch.iter().zip(out).for_each(|(features, out)| self.evaluation(features, out));
        Ok(())
    }

    fn name(&self) -> String {
        format!("fake{}:{}", if self.symmetric { "-symmetric" } else { "" }, self.seed)
    }
}

/// Knows nothing: equal logits, an even value.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformEvaluator;

impl Evaluator for UniformEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        for (features, out) in batch.iter().zip(out) {
            out.logits.clear();
            out.logits.resize(features.policy.actions(), 0.0);
            out.value = [0.5, 0.5, 0.0];
            out.plays_left = 50.0;
        }
        Ok(())
    }

    fn name(&self) -> String {
        "uniform".to_owned()
    }
}

/// Asks a function, position by position.
pub struct ScriptedEvaluator<F> {
    script: F,
}

impl<F: FnMut(&Features) -> Evaluation + Send> ScriptedEvaluator<F> {
    /// One that answers with `script`; the function's logits must be as many as the actions.
    pub fn new(script: F) -> Self {
        Self { script }
    }
}

impl<F: FnMut(&Features) -> Evaluation + Send> Evaluator for ScriptedEvaluator<F> {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        for (features, out) in batch.iter().zip(out) {
            *out = (self.script)(features);
            let (expected, found) = (features.policy.actions(), out.logits.len());
            if expected != found {
                let message = format!("{found} logits for {expected} actions");
                return Err(EvalError::Backend { name: self.name(), message });
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        "scripted".to_owned()
    }
}

/// Evaluates in pieces and out of order: the positions of a batch one at a time, in an order that changes with every batch.
/// Whoever keeps results by position sees no difference.
#[derive(Clone, Debug)]
pub struct OutOfOrder<E> {
    inner: E,
    state: u64,
}

impl<E: Evaluator> OutOfOrder<E> {
    /// Wraps an evaluator; the orders follow from the seed.
    pub fn new(inner: E, seed: u64) -> Self {
        Self { inner, state: seed }
    }
}

impl<E: Evaluator> Evaluator for OutOfOrder<E> {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        self.state = hash::mix(self.state);
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by_key(|&at| hash::mix(self.state ^ at as u64));
        for at in order {
            self.inner.evaluate(&batch[at..=at], &mut out[at..=at])?;
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("out-of-order {}", self.inner.name())
    }
}

/// Calls a function before each batch, with its number from 0 and its length: a test waits there, counts, or makes it fail.
pub struct Hooked<E, F> {
    inner: E,
    hook: F,
    batches: u64,
}

impl<E: Evaluator, F: FnMut(u64, usize) -> Result<(), String> + Send> Hooked<E, F> {
    /// Wraps an evaluator; an error of `hook` becomes the batch's error.
    pub fn new(inner: E, hook: F) -> Self {
        Self { inner, hook, batches: 0 }
    }
}

impl<E: Evaluator, F: FnMut(u64, usize) -> Result<(), String> + Send> Evaluator for Hooked<E, F> {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        let number = self.batches;
        self.batches += 1;
        (self.hook)(number, batch.len())
            .map_err(|message| EvalError::Backend { name: self.name(), message })?;
        self.inner.evaluate(batch, out)
    }

    fn name(&self) -> String {
        format!("hooked {}", self.inner.name())
    }
}
