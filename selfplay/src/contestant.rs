//! The two sides of a match.

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

use crate::config::ConfigError;
use crate::network::Network;
use crate::player::Player;
use crate::search::Search;
use crate::worker::evaluate;

/// One side of a match.
pub enum Contestant {
    /// Any player; it is asked play by play, games interleaved, so it should not rely on following one game.
    Player {
        /// The player.
        player: Box<dyn Player>,
        /// Its budget per play, for players that search.
        simulations: u32,
    },
    /// A network: the leaves of all its games are evaluated together.
    Network {
        /// The network and its search.
        network: Network<Box<dyn Evaluator>>,
        /// New root visits per play, 1 or more.
        simulations: u32,
    },
}

impl Contestant {
    /// The player's or network's name.
    pub fn name(&self) -> String {
        match self {
            Contestant::Player { player, .. } => player.name(),
            Contestant::Network { network, .. } => network.name.clone(),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Contestant::Player { .. } => Ok(()),
            Contestant::Network { network, .. } => network.search.validate(),
        }
    }

    /// The search of one game, for a network.
    pub(crate) fn new_search(&self, max_plays: u32) -> Option<Search> {
        match self {
            Contestant::Player { .. } => None,
            Contestant::Network { network, .. } => Some(Search::new(&network.search, max_plays)),
        }
    }
}

/// Leaves of several searches on their way to one evaluator.
#[derive(Default)]
pub(crate) struct Batch {
    features: Vec<Features>,
    evaluations: Vec<Evaluation>,
    /// Row `i` belongs to the search with number `owners[i]`.
    owners: Vec<usize>,
}

impl Batch {
    /// Room for one more leaf; it counts once [`Batch::push`] names its owner.
    pub(crate) fn room(&mut self) -> &mut Features {
        let row = self.owners.len();
        if self.features.len() == row {
            self.features.push(Features::new());
            self.evaluations.push(Evaluation::default());
        }
        &mut self.features[row]
    }

    /// Takes the features written to [`Batch::room`] in.
    pub(crate) fn push(&mut self, owner: usize) {
        self.owners.push(owner);
    }

    /// Evaluates all rows, hands each result to its owner and empties the batch. Returns the number of rows.
    pub(crate) fn evaluate(
        &mut self,
        evaluator: &mut dyn Evaluator,
        mut deliver: impl FnMut(usize, &Evaluation),
    ) -> Result<u64, EvalError> {
        let count = self.owners.len();
        if count > 0 {
            evaluate(evaluator, &self.features[..count], &mut self.evaluations[..count])?;
        }
        for (owner, evaluation) in self.owners.drain(..).zip(&self.evaluations) {
            deliver(owner, evaluation);
        }
        Ok(count as u64)
    }
}
