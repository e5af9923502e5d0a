//! Which games are measured only.

use gipf_core::record::GameId;
use sha2::{Digest, Sha256};

/// Whether a game is among the `share` (0 to 1) of games that are never trained on: a fixed function of its id, so that a
/// game stays on its side whoever reads it, and when.
pub fn is_held_out(id: &GameId, share: f64) -> bool {
    let mut hash = Sha256::new();
    for part in [id.run.as_bytes(), id.worker.as_bytes(), &id.seq.to_le_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    // 53 bits, which f64 holds exactly.
    let place = (u64::from_le_bytes(first) >> 11) as f64 / (1u64 << 53) as f64;
    place < share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_of_the_games_is_held_out() {
        let id = |seq| GameId { run: "r".into(), worker: "w".into(), seq };
        let held = (0..100_000).filter(|seq| is_held_out(&id(*seq), 0.05)).count();
        assert!((4_700..5_300).contains(&held), "{held}");
        assert_eq!((0..1000).filter(|seq| is_held_out(&id(*seq), 0.0)).count(), 0);
        // A smaller share holds out a part of what a larger one does.
        assert!((0..10_000).all(|seq| !is_held_out(&id(seq), 0.02) || is_held_out(&id(seq), 0.05)));
    }
}
