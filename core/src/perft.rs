//! Counting play sequences, the usual check of a move generator.

use crate::play::PlayKind;
use crate::position::{Position, ways_of};

/// The number of play sequences of exactly `depth` plays from a position. A sequence that ended
/// earlier counts 0; all 42 ways to enter count, and so do the outcomes of side games.
///
/// Ways to enter with the same result are followed once and counted as many times; the last play
/// is counted without being made.
///
/// ```
/// # let rules: gipf_core::Rules = "standard".parse()?;
/// assert_eq!(gipf_core::perft(&rules.start(), 3), 73_800);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn perft(position: &Position, depth: u32) -> u64 {
    let mut actions = Vec::new();
    match depth {
        0 => return 1,
        1 => return position.count_legal(&mut actions),
        _ => position.actions(&mut actions),
    }
    let mut total = 0_u64;
    for action in actions {
        let ways = match action.kind() {
            PlayKind::Enter { entry, .. } | PlayKind::Extra(entry) => ways_of(position, entry),
            _ => 1,
        };
        let mut next = *position;
        next.play(action);
        total = total.saturating_add(ways.saturating_mul(perft(&next, depth - 1)));
    }
    total
}
