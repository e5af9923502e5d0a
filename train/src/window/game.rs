//! The samples of one game, for those who want no window.

use gipf_core::record::{GameRecord, RecordError};

use super::label::{Labelled, ValueMix};
use super::sample::GameSamples;

/// The searched decisions of a game as samples with their targets, on the board as it is, in their order.
///
/// # Errors
/// The rules do not allow the game.
pub fn labelled_game(record: &GameRecord, mix: ValueMix) -> Result<Vec<Labelled>, RecordError> {
    let mut game = GameSamples::default();
    game.fill(record)?;
    let labelled = game.samples.iter().map(|sample| {
        let start = sample.policy_start as usize;
        let policy = &game.policies[start..start + usize::from(sample.policy_length)];
        let mut labelled = Labelled::default();
        labelled.fill(sample, policy, 0, mix);
        labelled
    });
    Ok(labelled.collect())
}
