//! Uniform random play, the measure of a simulator.

use crate::play::Play;
use crate::position::Position;
use rand::Rng;

/// Plays at random, each action equally likely, until the game is over or `max_plays` plays have
/// been made; returns their number. The list of actions is made at every step, in `actions`.
/// Outcomes of side games are drawn alike, whatever their probabilities.
///
/// ```
/// # use rand::SeedableRng;
/// # let rules: gipf_core::Rules = "standard".parse()?;
/// let mut position = rules.start();
/// let mut rng = rand::rngs::SmallRng::seed_from_u64(1);
/// let plays = gipf_core::playout(&mut position, &mut rng, 500, &mut Vec::new());
/// assert!(plays < 500 && position.is_over());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn playout(
    position: &mut Position,
    rng: &mut impl Rng,
    max_plays: u32,
    actions: &mut Vec<Play>,
) -> u32 {
    for made in 0..max_plays {
        position.actions(actions);
        if actions.is_empty() {
            return made;
        }
        // A multiply and a shift: the bias of 64 bits over a short list cannot be seen.
        let at = (u128::from(rng.next_u64()) * actions.len() as u128) >> 64;
        position.play(actions[at as usize]);
    }
    max_plays
}
