//! The MCTS player: a baseline that knows nothing of the game but its rules.

use gipf_core::{Color, Play, Position, playout};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngCore, SeedableRng};

use crate::budget::{Budget, Score, Thought};
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::Purpose;

/// The largest number of playouts of a decision.
pub(crate) const MOST_PLAYOUTS: u32 = 10_000_000;
/// Playouts where neither name nor budget bounds them.
const DEFAULT_PLAYOUTS: u32 = 2_000;
/// How much an uncertain play attracts: UCT's constant, for values from -1 to 1.
const EXPLORATION: f32 = 0.6;
/// Once the tree has so many nodes (32 bytes each) playouts go on, but it does not grow any more.
const MOST_NODES: usize = 4_000_000;
/// Playouts between two looks at the clock.
const BETWEEN_LOOKS: u32 = 8;

/// A play, and what the playouts through it came to.
#[derive(Clone, Debug)]
struct Node {
    play: Play,
    visits: u32,
    /// Playouts that White, and that Black, has won; the others were unfinished.
    won: [u32; 2],
    /// The probability of a side game's outcome.
    probability: f32,
    first_child: u32,
    children: u16,
    /// The result of the game from here on, where it is proven.
    proven: Option<Outcome>,
}

const _: () = assert!(size_of::<Node>() <= 32);

/// How a game ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Won(Color),
    Unfinished,
}

/// One step of a descent: a node and who chose among its children; nobody at a side game or a leaf.
type Step = (u32, Option<Color>);

/// UCT (Kocsis and Szepesvári 2006) with uniformly random playouts: below the root the child with the largest
/// `mean + c·sqrt(ln(visits of the parent) / visits)` is entered, its mean read by whoever decides at the parent; side
/// games go to the outcome with the largest deficit of visits. The most visited play is played.
///
/// Games that end in the tree are proven results, and so is what follows from them. The tree begins anew at every decision,
/// so a choice depends on nothing but the game's state and the budget.
#[derive(Clone, Debug)]
pub struct MctsPlayer {
    playouts: Option<u32>,
    nodes: Vec<Node>,
    path: Vec<Step>,
    plays: Vec<Play>,
    outcomes: Vec<(Play, f64)>,
}

impl MctsPlayer {
    /// A player; `playouts` (1 to 10,000,000) in place of any budget's.
    pub fn new(playouts: Option<u32>) -> MctsPlayer {
        MctsPlayer {
            playouts: playouts.map(|playouts| playouts.clamp(1, MOST_PLAYOUTS)),
            nodes: Vec::new(),
            path: Vec::new(),
            plays: Vec::new(),
            outcomes: Vec::new(),
        }
    }
}

impl Player for MctsPlayer {
    fn name(&self) -> String {
        match self.playouts {
            Some(playouts) => format!("mcts:{playouts}"),
            None => "mcts".to_owned(),
        }
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.plays)?;
        if let &[only] = self.plays.as_slice() {
            return Ok(Choice::unsearched(only));
        }
        let mut stream = game.key.stream(game.ply(), Purpose::Player);
        let mut rng = SmallRng::seed_from_u64(stream.next_u64());
        let left = game.max_plays.saturating_sub(game.ply()).max(1);
        let timed = self.playouts.is_none();
        let bounded = budget.clock.is_some_and(|clock| clock.limit().is_some());
        let most = match (self.playouts, budget.nodes) {
            (Some(playouts), _) => playouts,
            (None, Some(nodes)) => nodes.clamp(1, MOST_PLAYOUTS),
            (None, None) if bounded => MOST_PLAYOUTS,
            (None, None) => DEFAULT_PLAYOUTS,
        };
        self.nodes.clear();
        self.nodes.push(Node::new(Play::PASS, 1.0));
        self.expand(0, game.position, &mut rng);
        let mut told = 64;
        let mut playouts = 0;
        while playouts < most && self.nodes[0].proven.is_none() {
            let over = |clock: &dyn crate::budget::Clock| {
                if timed { clock.is_over() } else { clock.is_stopped() }
            };
            if playouts.is_multiple_of(BETWEEN_LOOKS) && budget.clock.is_some_and(over) {
                break;
            }
            self.descend(game.position, left, &mut rng);
            playouts += 1;
            if let Some(listener) = budget.listener
                && playouts == told
            {
                told *= 2;
                listener(&self.thought(game.position));
            }
        }
        let best = self.best_child(0, game.position.decider());
        let play = self.nodes[best as usize].play;
        let thought = self.thought(game.position);
        if let Some(listener) = budget.listener {
            listener(&thought);
        }
        Ok(Choice { play, search: None, thought: Some(thought) })
    }
}

impl MctsPlayer {
    /// One playout: down the tree to a new node, to the game's end at random, and back up.
    fn descend(&mut self, root: &Position, left: u32, rng: &mut SmallRng) {
        let mut position = *root;
        let mut at = 0;
        self.path.clear();
        let outcome = loop {
            let depth = self.path.len() as u32;
            if let Some(outcome) = self.nodes[at as usize].proven {
                self.path.push((at, None));
                break outcome;
            }
            if position.is_over() || depth >= left {
                let outcome = Outcome::of(&position);
                self.nodes[at as usize].proven = Some(outcome);
                self.path.push((at, None));
                break outcome;
            }
            let node = &self.nodes[at as usize];
            if node.children == 0 && (node.visits == 0 || self.nodes.len() >= MOST_NODES) {
                self.path.push((at, None));
                playout(&mut position, rng, left - depth, &mut self.plays);
                break Outcome::of(&position);
            }
            if node.children == 0 {
                self.expand(at, &position, rng);
            }
            let decider = position.decider();
            self.path.push((at, decider));
            at = match decider {
                Some(color) => self.most_promising(at, color),
                None => self.largest_deficit(at),
            };
            position.play(self.nodes[at as usize].play);
        };
        self.back_up(outcome);
    }

    /// Gives a node its children: the actions in a random order, or the outcomes of a side game; those of a recorded one,
    /// which have no probabilities, are equally likely.
    fn expand(&mut self, at: u32, position: &Position, rng: &mut SmallRng) {
        position.actions(&mut self.plays);
        position.outcomes(&mut self.outcomes);
        let first = self.nodes.len() as u32;
        if self.outcomes.is_empty() {
            self.plays.shuffle(rng);
            let even = 1.0 / self.plays.len() as f32;
            self.nodes.extend(self.plays.iter().map(|&play| Node::new(play, even)));
        } else {
            let outcomes = self.outcomes.iter();
            self.nodes.extend(outcomes.map(|&(play, p)| Node::new(play, p as f32)));
        }
        let children = (self.nodes.len() as u32 - first) as u16;
        let node = &mut self.nodes[at as usize];
        (node.first_child, node.children) = (first, children);
    }

    fn children(&self, at: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[at as usize];
        node.first_child..node.first_child + u32::from(node.children)
    }

    /// UCT's choice. A child without a visit comes first; one proven lost for the decider only if all are.
    fn most_promising(&self, at: u32, color: Color) -> u32 {
        let log = (self.nodes[at as usize].visits.max(1) as f32).ln();
        let mut best = (f32::NEG_INFINITY, self.nodes[at as usize].first_child);
        for child in self.children(at) {
            let node = &self.nodes[child as usize];
            let score = match node.proven {
                Some(Outcome::Won(winner)) if winner != color => continue,
                _ if node.visits == 0 => return child,
                _ => node.mean(color) + EXPLORATION * (log / node.visits as f32).sqrt(),
            };
            if score > best.0 {
                best = (score, child);
            }
        }
        best.1
    }

    /// The outcome of a side game whose visits are furthest behind its probability.
    fn largest_deficit(&self, at: u32) -> u32 {
        let all = (self.nodes[at as usize].visits + 1) as f32;
        let deficit = |child: u32| {
            let node = &self.nodes[child as usize];
            node.probability * all - node.visits as f32
        };
        let first = self.nodes[at as usize].first_child;
        self.children(at).fold(
            first,
            |best, child| {
                if deficit(child) > deficit(best) { child } else { best }
            },
        )
    }

    /// Counts the playout along the path, and proves what follows from its end.
    fn back_up(&mut self, outcome: Outcome) {
        let mut path = std::mem::take(&mut self.path);
        for (at, decider) in path.drain(..).rev() {
            if self.nodes[at as usize].children > 0 && self.nodes[at as usize].proven.is_none() {
                self.nodes[at as usize].proven = self.follows(at, decider);
            }
            let node = &mut self.nodes[at as usize];
            node.visits += 1;
            if let Outcome::Won(color) = outcome {
                node.won[color.index()] += 1;
            }
        }
        self.path = path;
    }

    /// What the children of a node prove about it.
    fn follows(&self, at: u32, decider: Option<Color>) -> Option<Outcome> {
        let mut all = true;
        let mut best = None;
        for child in self.children(at) {
            match (self.nodes[child as usize].proven, decider) {
                (None, _) => all = false,
                (Some(outcome), Some(color)) => {
                    if outcome == Outcome::Won(color) {
                        return Some(outcome);
                    }
                    if best != Some(Outcome::Unfinished) {
                        best = Some(outcome);
                    }
                }
                // Outcomes of chance prove something where they agree.
                (Some(outcome), None) => {
                    all &= best.is_none_or(|other| other == outcome);
                    best = Some(outcome);
                }
            }
        }
        best.filter(|_| all)
    }

    /// The child to play: proven won, else the most visited that is not proven lost, else the most visited.
    fn best_child(&self, at: u32, decider: Option<Color>) -> u32 {
        let rank = |child: u32| {
            let node = &self.nodes[child as usize];
            let sure = match (node.proven, decider) {
                (Some(Outcome::Won(winner)), Some(color)) => {
                    if winner == color {
                        2
                    } else {
                        0
                    }
                }
                _ => 1,
            };
            (sure, node.visits, node.won[decider.map_or(0, Color::index)])
        };
        let first = self.nodes[at as usize].first_child;
        self.children(at)
            .fold(first, |best, child| if rank(child) > rank(best) { child } else { best })
    }

    /// Where the search stands: the line of best children as far as they have been visited, and the value of the first.
    fn thought(&self, root: &Position) -> Thought {
        let mut thought = Thought { nodes: u64::from(self.nodes[0].visits), ..Thought::default() };
        let (mut at, mut position) = (0, *root);
        while self.nodes[at as usize].children > 0 {
            let best = self.best_child(at, position.decider());
            let node = &self.nodes[best as usize];
            if node.visits == 0 {
                break;
            }
            if at == 0 {
                thought.score = position.decider().map(|color| self.score(best, color));
            }
            thought.line.push(node.play);
            position.play(node.play);
            at = best;
        }
        thought.depth = thought.line.len() as u32;
        thought
    }

    fn score(&self, child: u32, color: Color) -> Score {
        let node = &self.nodes[child as usize];
        match node.proven {
            Some(Outcome::Won(winner)) => {
                let plays = self.plays_to_end(child) as i32 + 1;
                Score::Proven(if winner == color { plays } else { -plays })
            }
            Some(Outcome::Unfinished) => Score::Outcomes([0.0, 1.0, 0.0]),
            None => {
                let all = node.visits.max(1) as f32;
                let share = |color: Color| node.won[color.index()] as f32 / all;
                let (won, lost) = (share(color), share(color.other()));
                Score::Outcomes([won, 1.0 - won - lost, lost])
            }
        }
    }

    /// Plays to the end of a proven game as the tree shows it: the shortest way to it among the children that prove it
    /// where one is enough, the longest where it takes all.
    fn plays_to_end(&self, at: u32) -> u32 {
        let proven = self.nodes[at as usize].proven;
        let same = |child: &u32| self.nodes[*child as usize].proven == proven;
        let (all, same): (u32, Vec<u32>) =
            (self.children(at).len() as u32, self.children(at).filter(same).collect());
        let ways = same.iter().map(|&child| 1 + self.plays_to_end(child));
        let way = if same.len() as u32 == all { ways.max() } else { ways.min() };
        way.unwrap_or(0)
    }
}

impl Node {
    fn new(play: Play, probability: f32) -> Node {
        Node {
            play,
            visits: 0,
            won: [0; 2],
            probability,
            first_child: 0,
            children: 0,
            proven: None,
        }
    }

    /// The mean result from a colour's side, -1 to 1.
    fn mean(&self, color: Color) -> f32 {
        let lead = f64::from(self.won[color.index()]) - f64::from(self.won[color.other().index()]);
        (lead / f64::from(self.visits.max(1))) as f32
    }
}

impl Outcome {
    /// The outcome of a game that ends in this position.
    fn of(position: &Position) -> Outcome {
        position.winner().map_or(Outcome::Unfinished, Outcome::Won)
    }
}
