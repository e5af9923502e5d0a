//! The two sides of a match.

use std::time::Duration;

use gipf_model::{EvalError, Evaluation, Evaluator, Features};

use crate::config::ConfigError;
use crate::network::{Network, NetworkPlayer, SIMULATIONS};
use crate::player::{BuiltIn, Player};
use crate::search::Search;
use crate::worker::evaluate;

/// What each decision of a contestant may cost. What is `None` does not bound; where nothing does, a player takes its own
/// default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// New root visits of a tree search, playouts of MCTS, positions of alpha-beta; 1 or more.
    pub nodes: Option<u32>,
    /// Plays that alpha-beta looks ahead, 1 or more.
    pub depth: Option<u32>,
    /// The time, more than none.
    pub time: Option<Duration>,
}

impl Limit {
    /// A number of nodes.
    pub fn nodes(nodes: u32) -> Limit {
        Limit { nodes: Some(nodes), ..Limit::default() }
    }

    /// A number of plays to look ahead.
    pub fn depth(depth: u32) -> Limit {
        Limit { depth: Some(depth), ..Limit::default() }
    }

    /// A time.
    pub fn time(time: Duration) -> Limit {
        Limit { time: Some(time), ..Limit::default() }
    }
}

/// One side of a match, for one of its threads.
pub enum Contestant {
    /// Any player.
    Player {
        /// The player.
        player: Box<dyn Player>,
        /// What it may use for a decision.
        limit: Limit,
        /// Whether it may play several games side by side: only where it remembers nothing from one decision to the
        /// next. Otherwise its thread plays one game at a time, each beginning with [`Player::new_game`].
        interleaved: bool,
        /// The step of its checkpoint, for the records; 0 without one.
        checkpoint: u64,
    },
    /// A network by nodes: the leaves of all its games are evaluated together.
    Network {
        /// The network and its search.
        network: Network<Box<dyn Evaluator>>,
        /// New root visits a decision, 1 or more.
        simulations: u32,
    },
}

impl Contestant {
    /// A player that plays one game at a time.
    pub fn player(player: Box<dyn Player>, limit: Limit) -> Contestant {
        Contestant::Player { player, limit, interleaved: false, checkpoint: 0 }
    }

    /// A built-in player: none of them remembers anything. By time it plays one game at a time all the same, so that each
    /// decision has the thread for itself.
    pub fn built_in(kind: BuiltIn, limit: Limit) -> Contestant {
        let interleaved = limit.time.is_none();
        Contestant::Player { player: kind.player(), limit, interleaved, checkpoint: 0 }
    }

    /// A network: by nodes many games share its batches, by time it plays one at a time.
    ///
    /// # Errors
    /// A value of its search config is out of range.
    pub fn network(
        network: Network<Box<dyn Evaluator>>,
        limit: Limit,
    ) -> Result<Contestant, ConfigError> {
        if limit.time.is_none() {
            network.search.validate()?;
            let simulations = limit.nodes.unwrap_or(SIMULATIONS);
            return Ok(Contestant::Network { network, simulations });
        }
        let checkpoint = network.checkpoint;
        let player = Box::new(NetworkPlayer::new(network)?);
        Ok(Contestant::Player { player, limit, interleaved: false, checkpoint })
    }

    /// The player, for a game on its own.
    ///
    /// # Errors
    /// A value of a network's search config is out of range.
    pub fn into_player(self) -> Result<Box<dyn Player>, ConfigError> {
        Ok(match self {
            Contestant::Player { player, .. } => player,
            Contestant::Network { network, .. } => Box::new(NetworkPlayer::new(network)?),
        })
    }

    /// The player's or network's name.
    pub fn name(&self) -> String {
        match self {
            Contestant::Player { player, .. } => player.name(),
            Contestant::Network { network, .. } => network.name.clone(),
        }
    }

    /// The limit of time, if there is one.
    pub(crate) fn time(&self) -> Option<Duration> {
        match self {
            Contestant::Player { limit, .. } => limit.time,
            Contestant::Network { .. } => None,
        }
    }

    /// Whether its games on one thread can go on side by side.
    pub(crate) fn is_interleaved(&self) -> bool {
        match self {
            Contestant::Player { interleaved, .. } => *interleaved,
            Contestant::Network { .. } => true,
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

    /// The owners of the rows.
    pub(crate) fn owners(&self) -> &[usize] {
        &self.owners
    }

    /// Evaluates all rows.
    pub(crate) fn evaluate(&mut self, evaluator: &mut dyn Evaluator) -> Result<(), EvalError> {
        let count = self.owners.len();
        if count == 0 {
            return Ok(());
        }
        evaluate(evaluator, &self.features[..count], &mut self.evaluations[..count])
    }

    /// Hands each result to its owner and empties the batch.
    pub(crate) fn deliver(&mut self, mut deliver: impl FnMut(usize, &Evaluation)) {
        for (owner, evaluation) in self.owners.drain(..).zip(&self.evaluations) {
            deliver(owner, evaluation);
        }
    }
}
