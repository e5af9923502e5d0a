//! The alpha-beta player: a baseline for every rules string.

mod effort;
mod evaluation;
mod order;
mod quiescence;
mod rows;
mod search;
mod table;
#[cfg(test)]
mod tests;
mod value;

use gipf_core::{Play, Position};
use rand::seq::SliceRandom;

use crate::budget::{Budget, Score, Thought};
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::Purpose;
use effort::Effort;
use search::{Memory, Search};
use value::{INFINITE, LOST, WIN, WON};

/// The largest depth.
pub(crate) const MOST_DEPTH: u32 = 64;
/// The depth where neither name nor budget bounds the search.
const DEFAULT_DEPTH: u32 = 4;

/// Iterative deepening with principal variation search, a transposition table, killers and history, quiescence search
/// over plays that make rows, and expectation over side games.
///
/// A depth in its name is exact: neither nodes nor time bound it (a clock's wish to stop does). Otherwise depth, positions
/// and time of the budget all bound it, and where it has none of them it looks 4 plays ahead. Plays of equal value are
/// drawn from the game's random stream; a choice depends on nothing but the game's state and the budget.
#[derive(Clone, Debug)]
pub struct AlphaBetaPlayer {
    depth: Option<u32>,
    memory: Option<Box<Memory>>,
    actions: Vec<Play>,
}

impl AlphaBetaPlayer {
    /// A player; `depth` (1 to 64) in place of any budget's.
    pub fn new(depth: Option<u32>) -> AlphaBetaPlayer {
        let depth = depth.map(|depth| depth.clamp(1, MOST_DEPTH));
        AlphaBetaPlayer { depth, memory: None, actions: Vec::new() }
    }

    /// How deep to look, and the effort that bounds it.
    fn limits<'b>(&self, budget: &Budget<'b>) -> (u32, Effort<'b>) {
        if let Some(depth) = self.depth {
            return (depth, Effort::new(u64::MAX, budget.clock, false));
        }
        let most = budget.nodes.map_or(u64::MAX, |nodes| u64::from(nodes.max(1)));
        let timed = budget.clock.is_some_and(|clock| clock.limit().is_some());
        let bounded = budget.nodes.is_some() || timed;
        let depth = budget.depth.unwrap_or(if bounded { MOST_DEPTH } else { DEFAULT_DEPTH });
        (depth.clamp(1, MOST_DEPTH), Effort::new(most, budget.clock, true))
    }
}

impl Player for AlphaBetaPlayer {
    fn name(&self) -> String {
        match self.depth {
            Some(depth) => format!("alphabeta:{depth}"),
            None => "alphabeta".to_owned(),
        }
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        if let &[only] = self.actions.as_slice() {
            return Ok(Choice::unsearched(only));
        }
        self.actions.shuffle(&mut game.key.stream(game.ply(), Purpose::Player));
        let (depth, effort) = self.limits(budget);
        let memory = self.memory.get_or_insert_with(|| Box::new(Memory::new()));
        let left = game.max_plays.saturating_sub(game.ply()).max(1);
        let mut search = Search::new(memory, effort, left);
        let mut root = Root::new(game.position, &self.actions);
        let mut thought = Thought::default();
        for depth in 1..=depth.min(left) {
            let Some(value) = root.deepen(&mut search, depth) else { break };
            thought = Thought {
                depth,
                nodes: search.effort.nodes,
                score: Some(score(value)),
                line: root.line.clone(),
                candidates: Vec::new(),
            };
            if let Some(listener) = budget.listener {
                listener(&thought);
            }
            if !(LOST + 1..WON).contains(&value) {
                break;
            }
        }
        thought.nodes = search.effort.nodes;
        let play = root.plays[0].1;
        if thought.line.first() != Some(&play) {
            thought.line = vec![play];
        }
        Ok(Choice { play, search: None, thought: Some(thought) })
    }
}

fn score(value: i32) -> Score {
    match value {
        WON.. => Score::Proven(WIN - value),
        ..=LOST => Score::Proven(-(WIN + value)),
        _ => Score::Material(value),
    }
}

/// The plays of the decision, best first.
struct Root<'a> {
    position: &'a Position,
    plays: Vec<(i32, Play)>,
    line: Vec<Play>,
}

impl<'a> Root<'a> {
    fn new(position: &'a Position, plays: &[Play]) -> Root<'a> {
        Root { position, plays: plays.iter().map(|&play| (0, play)).collect(), line: Vec::new() }
    }

    /// Looks so many plays ahead. The best play found comes to the front, also where the effort ends before all plays
    /// are looked at; then the value is `None`.
    fn deepen(&mut self, search: &mut Search<'_>, depth: u32) -> Option<i32> {
        let below = depth as i32 - 1;
        let mut alpha = -INFINITE;
        for at in 0..self.plays.len() {
            let mut next = *self.position;
            next.play(self.plays[at].1);
            let mut look = |window| {
                search.seen_from(self.position, &next, window, |search, window| {
                    search.value(&next, below, 1, window)
                })
            };
            let mut value = -INFINITE;
            if at > 0 {
                value = look((alpha, alpha + 1));
            }
            if at == 0 || value > alpha {
                value = look((alpha, INFINITE));
            }
            if search.effort.is_over() {
                return None;
            }
            if value > alpha {
                alpha = value;
                let play = self.plays[at].1;
                self.plays[..=at].rotate_right(1);
                self.line.clear();
                self.line.push(play);
                self.line.extend_from_slice(search.line(1));
            }
        }
        Some(alpha)
    }
}
