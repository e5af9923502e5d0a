//! Making suites: games of a quick player, searched backwards from their ends.

use std::collections::HashSet;

use gipf_core::{DEFAULT_MAX_PLAYS, Play, Position, Rules, Symmetry};

use super::solver::{Exhausted, Solver};
use super::{SUITE_FORMAT, Suite, Tactic};
use crate::budget::Budget;
use crate::player::{BuiltIn, GameState, PlayerError, actions_of};
use crate::random::{Purpose, RandomKey, below, weighted};
use crate::spec::{SpecError, searchable};

/// How many of a hundred plays are random in place of the player's own: without mistakes a game has few wins that its loser
/// could not see coming.
const RANDOM_PERCENT: usize = 10;
/// Wins of so many plays are wanted.
const FEWEST_PLAYS: u32 = 3;
const MOST_PLAYS: u32 = 9;
/// Slower wins count as solutions if they take no more than so many plays beyond the fewest.
const SLACK: u32 = 2;
/// At most one in so many actions wins.
const RARE: usize = 4;
/// Positions looked at for one proof, at most: a fraction of a second.
const MOST_LOOKED: u64 = 1_000_000;
/// Positions taken from one game, at most.
const MOST_PER_GAME: usize = 2;
/// After so many decisions of the winner without a forced win the search of a game ends.
const PATIENCE: u32 = 2;
/// No more of the positions than one in so many have the same number of plays, as far as there are others.
const SAME_PLAYS: usize = 3;

/// Makes a suite, game by game.
pub struct SuiteMaker {
    rules: Rules,
    player: BuiltIn,
    seed: u64,
    wanted: usize,
    game: u64,
    suite: Suite,
    /// Hashes of the positions there are, each the smallest of its symmetric ones.
    seen: HashSet<u64>,
}

impl SuiteMaker {
    /// A maker of `wanted` positions from games of a player against itself.
    ///
    /// # Errors
    /// Rules whose side games have no probabilities.
    pub fn new(
        rules: Rules,
        player: BuiltIn,
        seed: u64,
        wanted: usize,
    ) -> Result<SuiteMaker, SpecError> {
        let rules = searchable(rules)?;
        let suite = Suite {
            format: SUITE_FORMAT.to_owned(),
            rules: rules.to_string(),
            player: format!("{player}, {RANDOM_PERCENT}% random"),
            seed,
            positions: Vec::new(),
        };
        Ok(SuiteMaker { rules, player, seed, wanted, game: 0, suite, seen: HashSet::new() })
    }

    /// What there is so far.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// Games played so far.
    pub fn games(&self) -> u64 {
        self.game
    }

    /// The suite has as many positions as are wanted.
    pub fn is_complete(&self) -> bool {
        self.suite.positions.len() >= self.wanted
    }

    /// Plays one more game and takes what it has. A game depends on the seed and its number alone.
    ///
    /// # Errors
    /// The player failed.
    pub fn next_game(&mut self) -> Result<(), PlayerError> {
        let key = RandomKey { seed: self.seed, game: self.game };
        self.game += 1;
        let positions = self.play(key)?;
        let Some(winner) = positions.last().and_then(Position::winner) else { return Ok(()) };
        let (mut taken, mut without) = (0, 0);
        for (ply, position) in positions.iter().enumerate().rev() {
            if position.decider() != Some(winner) {
                continue;
            }
            // One solver a position: a proof does not depend on what else was proven.
            let mut solver = Solver::new(winner, MOST_LOOKED);
            let Ok(Some(plays)) = solver.shortest_win(position, MOST_PLAYS) else {
                without += 1;
                if without == PATIENCE {
                    break;
                }
                continue;
            };
            without = 0;
            if plays < FEWEST_PLAYS || self.has_enough(plays) || !self.is_new(position) {
                continue;
            }
            let Ok(Some(tactic)) = tactic(&mut solver, position, plays) else { continue };
            self.seen.insert(orbit(position));
            self.suite.positions.push(Tactic { game: key.game, ply: ply as u32, ..tactic });
            taken += 1;
            if taken == MOST_PER_GAME || self.is_complete() {
                break;
            }
        }
        Ok(())
    }

    /// The positions of one game, from the start to its end.
    fn play(&self, key: RandomKey) -> Result<Vec<Position>, PlayerError> {
        let mut position = self.rules.start();
        let mut positions = vec![position];
        let (mut plays, mut actions, mut outcomes) = (Vec::<Play>::new(), Vec::new(), Vec::new());
        // A new player remembers nothing.
        let mut player = self.player.player();
        while !position.is_over() && plays.len() < DEFAULT_MAX_PLAYS as usize {
            let ply = plays.len() as u32;
            position.outcomes(&mut outcomes);
            let play = if outcomes.is_empty() {
                actions_of(&position, &mut actions)?;
                let mut rng = key.stream(ply, Purpose::OpeningPlay);
                if below(&mut rng, 100) < RANDOM_PERCENT {
                    actions[below(&mut rng, actions.len())]
                } else {
                    let state = GameState {
                        position: &position,
                        plays: &plays,
                        max_plays: DEFAULT_MAX_PLAYS,
                        key,
                    };
                    player.choose(&state, &Budget::default())?.play
                }
            } else {
                let mut rng = key.stream(ply, Purpose::Outcome);
                outcomes[weighted(&mut rng, outcomes.iter().map(|&(_, chance)| chance))].0
            };
            position.play(play);
            plays.push(play);
            positions.push(position);
        }
        Ok(positions)
    }

    fn has_enough(&self, plays: u32) -> bool {
        let same = self.suite.positions.iter().filter(|tactic| tactic.plays == plays).count();
        same >= self.wanted.div_ceil(SAME_PLAYS)
    }

    fn is_new(&self, position: &Position) -> bool {
        !self.seen.contains(&orbit(position))
    }
}

/// The position with all its winning plays, unless too many of its actions win.
fn tactic(
    solver: &mut Solver,
    position: &Position,
    plays: u32,
) -> Result<Option<Tactic>, Exhausted> {
    let within = plays + SLACK;
    let mut actions = Vec::new();
    position.actions(&mut actions);
    let winning = solver.winning_plays(position, within)?;
    Ok((winning.len() * RARE <= actions.len()).then(|| Tactic {
        position: position.to_string(),
        plays,
        within,
        winning: winning.iter().map(Play::to_string).collect(),
        game: 0,
        ply: 0,
    }))
}

/// The same number for a position and all its symmetric ones.
fn orbit(position: &Position) -> u64 {
    let hashes = Symmetry::ALL.into_iter().map(|symmetry| position.transform(symmetry).hash64());
    hashes.min().unwrap_or_default()
}
