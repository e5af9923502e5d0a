//! The greedy player: one play ahead, by material.

use gipf_core::{Color, Phase, Play, Position};

use crate::budget::Budget;
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::{Purpose, below};

/// A basic piece, on the board or in the hand.
const BASIC: i32 = 100;
/// What the first, second and third GIPF-piece are worth beyond their two basic pieces: without one a colour loses, but
/// each costs two pieces that could have been two turns.
const GIPFS: [i32; 3] = [120, 60, 30];
/// A potential that can still move, and one that cannot any more or covers.
const POTENTIAL: i32 = 30;
const USED_POTENTIAL: i32 = 5;
/// A piece in the hand is a turn not yet spent.
const IN_HAND: i32 = 10;
/// The game's end outweighs everything.
const WIN: i32 = 1_000_000;
/// Removals that one play can lead to are few; the limit only guards the loop.
const MOST_REMOVALS: usize = 16;

/// Chooses the play after which, the removals it leads to made, its own material has the largest lead over the other's;
/// a win above all, a loss below all. Ties are broken at random.
///
/// Material: basic pieces wherever they are (captured ones are gone), GIPF-pieces, potentials by whether they can still
/// move, and a little for each piece in the hand.
#[derive(Clone, Debug, Default)]
pub struct GreedyPlayer {
    actions: Vec<Play>,
    best: Vec<Play>,
    removals: Vec<Play>,
}

impl Player for GreedyPlayer {
    fn name(&self) -> String {
        "greedy".to_owned()
    }

    fn choose(
        &mut self,
        game: &GameState<'_>,
        _budget: &Budget<'_>,
    ) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        let me = game.position.decider().unwrap_or(game.position.mover());
        let mut top = i32::MIN;
        self.best.clear();
        for &play in &self.actions {
            let mut position = *game.position;
            position.play(play);
            settle(&mut position, &mut self.removals);
            let lead = lead(&position, me);
            if lead > top {
                top = lead;
                self.best.clear();
            }
            if lead == top {
                self.best.push(play);
            }
        }
        let mut rng = game.key.stream(game.ply(), Purpose::Player);
        Ok(Choice::unsearched(self.best[below(&mut rng, self.best.len())]))
    }
}

/// Lets the announced move pass unchallenged and makes the removals that are due, each as its owner likes best.
fn settle(position: &mut Position, plays: &mut Vec<Play>) {
    for _ in 0..MOST_REMOVALS {
        match position.phase() {
            Phase::Challenge => position.play(Play::PASS),
            Phase::Removal(color) => {
                position.actions(plays);
                let after = plays.iter().map(|&play| {
                    let mut after = *position;
                    after.play(play);
                    after
                });
                match after.max_by_key(|after| lead(after, color)) {
                    Some(best) => *position = best,
                    None => return,
                }
            }
            _ => return,
        }
    }
}

/// A colour's material less the other's.
fn lead(position: &Position, me: Color) -> i32 {
    match position.winner() {
        Some(winner) if winner == me => WIN,
        Some(_) => -WIN,
        None => material(position, me) - material(position, me.other()),
    }
}

fn material(position: &Position, color: Color) -> i32 {
    let hand = i32::from(position.hand_basic(color));
    let potentials: i32 =
        position.hand_potentials(color).iter().map(|&count| i32::from(count)).sum();
    let mut sum = i32::from(position.basic_pieces(color)) * BASIC;
    sum += hand * IN_HAND + potentials * POTENTIAL;
    sum += GIPFS.iter().take(position.gipf_count(color) as usize).sum::<i32>();
    for spot in position.complex().iter() {
        let Some(stack) = position.stack(spot) else { continue };
        let count = i32::from(stack.count);
        let own = if stack.first == color { (count + 1) / 2 } else { count / 2 };
        sum += own * USED_POTENTIAL;
        if stack.is_loaded() && stack.first == color {
            sum += POTENTIAL - USED_POTENTIAL;
        }
    }
    sum
}
