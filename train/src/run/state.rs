//! `state.json`: where a run stands.

use crate::window::ReplayState;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Format of `state.json`.
pub const STATE_FORMAT: &str = "gipf-run-1";

/// Everything a run needs to go on, beside its games, its checkpoint and its learner's state.
///
/// It is written last at a save point, so whatever it names is on the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// [`STATE_FORMAT`].
    pub format: String,
    /// The run's identity in its games' ids: its name and 64 random bits.
    pub run_id: String,
    /// Whether a save point stands: then a checkpoint and a learner's state of `step` do too.
    pub saved: bool,
    /// Training steps done.
    pub step: u64,
    /// Games counted, held-out ones included.
    pub games: u64,
    /// Positions decided in self-play, forced plays included.
    pub positions: u64,
    /// Training samples made.
    pub samples_made: u64,
    /// Training samples used, each as often as it was.
    pub samples_trained: u64,
    /// Samples that may be trained before more must be made (the token bucket of the sample-reuse ratio).
    pub tokens: f64,
    /// Training time in seconds, all starts together.
    pub seconds: f64,
    /// Number of the next self-play game.
    pub next_seq: u64,
    /// Times the run was started.
    pub starts: u64,
    /// The step of the checkpoint that self-play uses with gating on; none with gating off.
    pub best: Option<u64>,
    /// The newest checkpoint that was tested against the best one, by its step; none without gating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<u64>,
    /// The step at which the network grew: that checkpoint is the last of the small one; none before, or without growth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grown_at: Option<u64>,
    /// Where games of the run came from that were given to it, not played by it; the last such place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<String>,
    /// The replay window.
    pub replay: ReplayState,
    /// Positions of further random streams by name.
    pub streams: BTreeMap<String, StreamState>,
}

impl State {
    /// The state of a new run; `nonce` makes its id unlike any other's.
    pub fn new(name: &str, nonce: u64) -> Self {
        Self {
            format: STATE_FORMAT.to_owned(),
            run_id: format!("{name}-{nonce:016x}"),
            saved: false,
            step: 0,
            games: 0,
            positions: 0,
            samples_made: 0,
            samples_trained: 0,
            tokens: 0.0,
            seconds: 0.0,
            next_seq: 0,
            starts: 0,
            best: None,
            judged: None,
            grown_at: None,
            records: None,
            replay: ReplayState::default(),
            streams: BTreeMap::new(),
        }
    }
}

/// The position of a ChaCha8 stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamState {
    /// The 32 bytes of the key, in hex.
    pub seed: String,
    /// The stream's number.
    pub stream: u64,
    /// Words drawn, in decimal: JSON has no 128-bit numbers.
    pub word: String,
}

impl StreamState {
    /// Where a stream stands.
    pub fn of(rng: &ChaCha8Rng) -> Self {
        Self {
            seed: rng.get_seed().iter().map(|byte| format!("{byte:02x}")).collect(),
            stream: rng.get_stream(),
            word: rng.get_word_pos().to_string(),
        }
    }

    /// The stream, going on where it stood; `None` if this is not what [`StreamState::of`] makes.
    pub fn restore(&self) -> Option<ChaCha8Rng> {
        let mut seed = [0; 32];
        if self.seed.len() != 64 || !self.seed.is_ascii() {
            return None;
        }
        for (byte, digits) in seed.iter_mut().zip(self.seed.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        let mut rng = ChaCha8Rng::from_seed(seed);
        rng.set_stream(self.stream);
        rng.set_word_pos(self.word.parse().ok()?);
        Some(rng)
    }
}

/// 32 hex digits that name one start of a worker in the ids of its games.
///
/// `fixed` makes them a function of that seed, for deterministic runs, whose games have the same ids every time.
pub fn worker_name(fixed: Option<u64>) -> String {
    let mut rng = fixed.map_or_else(ChaCha8Rng::from_os_rng, ChaCha8Rng::seed_from_u64);
    format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_where_it_stood() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        rng.set_stream(3);
        for _ in 0..37 {
            rng.next_u32();
        }
        let text = serde_json::to_string(&StreamState::of(&rng)).expect("serializes");
        let mut again = serde_json::from_str::<StreamState>(&text)
            .expect("parses")
            .restore()
            .expect("restores");
        for _ in 0..100 {
            assert_eq!(rng.next_u32(), again.next_u32());
        }
    }

    #[test]
    fn worker_names_are_fixed_or_fresh() {
        assert_eq!(worker_name(Some(1)), worker_name(Some(1)));
        assert_ne!(worker_name(Some(1)), worker_name(Some(2)));
        assert_ne!(worker_name(None), worker_name(None));
        assert_eq!(worker_name(None).len(), 32);
    }
}
