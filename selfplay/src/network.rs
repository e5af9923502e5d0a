//! The network player.

use gipf_core::Play;
use gipf_model::{Evaluation, Evaluator, Features};

use crate::budget::{Budget, Score, Thought};
use crate::config::{ConfigError, SearchConfig};
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::Purpose;
use crate::search::{Search, SearchBudget, SearchResult, Step};
use crate::tree::sign;
use crate::worker::evaluate;

/// New root visits where the budget says nothing.
pub(crate) const SIMULATIONS: u32 = 200;
/// New root visits where only time bounds.
const MOST_SIMULATIONS: u32 = 1_000_000;

/// A network to play with: what evaluates, and how its evaluations are searched.
pub struct Network<E> {
    /// What it is called in tables and records.
    pub name: String,
    /// What evaluates.
    pub evaluator: E,
    /// The search. Games and matches are played without noise at the root.
    pub search: SearchConfig,
    /// The step of the evaluator's checkpoint.
    pub checkpoint: u64,
}

/// Plays one game at a time with a network and a search (Gumbel without noise, or PUCT), keeping its tree from one play
/// to the next.
pub struct NetworkPlayer<E> {
    network: Network<E>,
    search: Option<Search>,
    /// The limit of plays that the search was made for.
    max_plays: u32,
    /// The plays that the tree's root stands behind.
    seen: Vec<Play>,
    actions: Vec<Play>,
    /// A batch of one.
    features: [Features; 1],
    evaluations: [Evaluation; 1],
}

impl<E: Evaluator> NetworkPlayer<E> {
    /// A player; an error names a value of the search config that is out of range.
    pub fn new(network: Network<E>) -> Result<NetworkPlayer<E>, ConfigError> {
        network.search.validate()?;
        Ok(NetworkPlayer {
            network,
            search: None,
            max_plays: 0,
            seen: Vec::new(),
            actions: Vec::new(),
            features: [Features::new()],
            evaluations: [Evaluation::default()],
        })
    }

    /// What it plays with.
    pub fn network(&self) -> &Network<E> {
        &self.network
    }
}

impl<E: Evaluator> Player for NetworkPlayer<E> {
    fn name(&self) -> String {
        self.network.name.clone()
    }

    fn new_game(&mut self) {
        self.seen.clear();
        if let Some(search) = &mut self.search {
            search.clear();
        }
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        if let [only] = self.actions[..] {
            return Ok(Choice::unsearched(only));
        }
        if self.max_plays != game.max_plays {
            (self.max_plays, self.search) = (game.max_plays, None);
        }
        let config = &self.network.search;
        let search = self.search.get_or_insert_with(|| Search::new(config, game.max_plays));
        // The plays since the last choice lead from the old tree to the new one; another game leads nowhere.
        match game.plays.strip_prefix(&*self.seen) {
            Some(new) => new.iter().for_each(|&play| search.advance(play)),
            None => search.clear(),
        }
        self.seen.clear();
        self.seen.extend_from_slice(game.plays);
        let noise = game.key.stream(game.ply(), Purpose::Noise);
        let simulations = budget.nodes.unwrap_or(match budget.clock {
            Some(_) => MOST_SIMULATIONS,
            None => SIMULATIONS,
        });
        search.begin(game.position, game.ply(), play_budget(config, simulations), noise);
        while search.step(&mut self.features[0]) == Step::Evaluate {
            if budget.is_over() && search.is_ready() {
                break;
            }
            evaluate(&mut self.network.evaluator, &self.features, &mut self.evaluations)?;
            search.absorb(&self.evaluations[0]);
        }
        let mut result = SearchResult::default();
        search.result(&mut result);
        let win =
            0.5 * (1.0 + game.position.decider().map_or(0.0, |side| sign(side) * result.value));
        let thought = Thought {
            depth: 1,
            nodes: u64::from(result.simulations),
            score: Some(Score::Outcomes([win, 0.0, 1.0 - win])),
            line: vec![result.play],
        };
        Ok(Choice { play: result.play, search: Some(result), thought: Some(thought) })
    }
}

/// A search without noise.
pub(crate) fn play_budget(config: &SearchConfig, simulations: u32) -> SearchBudget {
    SearchBudget {
        simulations: simulations.max(1),
        considered: config.gumbel.considered,
        noise: false,
    }
}
