//! The token bucket that ties training to self-play: so many samples trained for each sample made.

/// Tokens are samples that may still be trained; a sample made adds the reuse ratio, a step takes its batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bucket {
    tokens: f64,
    reuse: f64,
    batch: f64,
    /// Tokens beyond which self-play waits for the learner.
    ceiling: f64,
}

impl Bucket {
    /// A bucket with the tokens of a saved run (0 for a new one).
    ///
    /// `minimum` is the number of samples made before the first step: what they add is no reason for self-play to wait.
    pub(super) fn new(tokens: f64, reuse: f64, batch: usize, minimum: u64) -> Self {
        let batch = batch as f64;
        Bucket { tokens, reuse, batch, ceiling: 2.0 * minimum as f64 * reuse + 64.0 * batch }
    }

    /// Counts samples made by self-play.
    pub(super) fn made(&mut self, samples: u64) {
        self.tokens += samples as f64 * self.reuse;
    }

    /// Takes the tokens of one step, where there are enough.
    pub(super) fn take_step(&mut self) -> bool {
        let enough = self.has_step();
        if enough {
            self.tokens -= self.batch;
        }
        enough
    }

    /// Whether there are tokens for a step.
    pub(super) fn has_step(&self) -> bool {
        self.tokens >= self.batch
    }

    /// Whether the learner is so far behind that self-play should wait.
    pub(super) fn is_full(&self) -> bool {
        self.tokens >= self.ceiling
    }

    /// Whether the learner has fallen behind, and should have more of the machine: from half way to the ceiling on, and once
    /// it is (`already`) until three quarters of that are worked off.
    pub(super) fn is_behind(&self, already: bool) -> bool {
        self.tokens >= self.ceiling * if already { 0.125 } else { 0.5 }
    }

    /// The tokens, for the run's state.
    pub(super) fn tokens(&self) -> f64 {
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_trained_follow_samples_made() {
        let mut bucket = Bucket::new(0.0, 4.0, 128, 0);
        let mut trained = 0;
        for _ in 0..1000 {
            bucket.made(37);
            while bucket.take_step() {
                trained += 128;
            }
        }
        let made = 37_000_i64;
        assert!((4 * made - trained).abs() < 128, "{trained} trained of {made} made");
    }

    #[test]
    fn self_play_waits_for_a_learner_far_behind() {
        let mut bucket = Bucket::new(0.0, 4.0, 128, 1000);
        bucket.made(1000);
        assert!(!bucket.is_full(), "the first samples are no reason to wait");
        bucket.made(1000 + 64 * 32);
        assert!(bucket.is_full());
    }

    #[test]
    fn a_learner_behind_is_so_until_it_has_caught_up() {
        let mut bucket = Bucket::new(0.0, 1.0, 100, 0);
        assert!(!bucket.is_behind(false) && !bucket.is_behind(true));
        bucket.made(3199);
        assert!(!bucket.is_behind(false) && bucket.is_behind(true));
        bucket.made(1);
        assert!(bucket.is_behind(false) && !bucket.is_full());
        while bucket.is_behind(true) {
            assert!(bucket.take_step());
        }
        assert!((700.0..800.0).contains(&bucket.tokens()), "{bucket:?}");
    }
}
