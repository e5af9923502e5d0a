//! Where a worker's games come from: numbered ones by rules that are drawn, or a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gipf_core::Rules;

use crate::counter::GameCounter;
use crate::random::{Purpose, RandomKey};
use crate::spec::{RulesSampler, SpecError, searchable};
use crate::worker::WorkerIdentity;

/// A game that is to be played from the start of its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGame {
    rules: Rules,
    identity: Arc<WorkerIdentity>,
    number: u64,
}

impl ListedGame {
    /// The game with this number among those of an identity: with its seed it says all that is random about the game, and it
    /// is what the game's record is known by.
    ///
    /// # Errors
    /// Rules that cannot be searched.
    pub fn new(
        rules: Rules,
        identity: Arc<WorkerIdentity>,
        number: u64,
    ) -> Result<ListedGame, SpecError> {
        Ok(ListedGame { rules: searchable(rules)?, identity, number })
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What the record says of its origin.
    pub fn identity(&self) -> &WorkerIdentity {
        &self.identity
    }

    /// The number among the games of the identity.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The key of the game's random streams.
    pub fn key(&self) -> RandomKey {
        RandomKey { seed: self.identity.seed, game: self.number }
    }
}

/// Games that wait for somebody to play them, first come first served. Clones share one list.
#[derive(Clone, Debug, Default)]
pub struct GameList {
    shared: Arc<Mutex<VecDeque<ListedGame>>>,
}

impl GameList {
    /// Adds games at the end.
    pub fn extend(&self, games: impl IntoIterator<Item = ListedGame>) {
        self.lock().extend(games);
    }

    /// The next game, or `None` when there is none (left).
    pub fn take(&self) -> Option<ListedGame> {
        self.lock().pop_front()
    }

    /// Drops the games that nobody has taken.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// A list holds whole games only, so one left by a panicking thread is sound.
    fn lock(&self) -> MutexGuard<'_, VecDeque<ListedGame>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the lanes of a worker take their games from.
pub(crate) enum GameSource {
    /// The rules of each number are drawn with the number's own stream.
    Drawn { sampler: RulesSampler, identity: Arc<WorkerIdentity>, counter: GameCounter },
    /// A list.
    Listed(GameList),
}

impl GameSource {
    /// The next game to begin, or `None` when there is none (now).
    pub(crate) fn take(&self) -> Option<ListedGame> {
        match self {
            GameSource::Drawn { sampler, identity, counter } => {
                let number = counter.take()?;
                let key = RandomKey { seed: identity.seed, game: number };
                let rules = sampler.draw(&mut key.stream(0, Purpose::Rules)).rules;
                Some(ListedGame { rules, identity: Arc::clone(identity), number })
            }
            GameSource::Listed(list) => list.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_shared_and_in_order() {
        let identity =
            Arc::new(WorkerIdentity { run: "t".to_owned(), worker: "0".repeat(32), seed: 7 });
        let game = |rules: &str, number| {
            ListedGame::new(rules.parse().unwrap(), Arc::clone(&identity), number)
        };
        let list = GameList::default();
        let other = list.clone();
        list.extend((0..3).map(|number| game("standard+T6", number).unwrap()));
        let taken = [list.take(), other.take()].map(|game| game.unwrap().key());
        assert_eq!(taken, [0, 1].map(|game| RandomKey { seed: 7, game }));
        other.clear();
        assert_eq!(list.take(), None);
        let error = game("standard+T6;challenge=recorded", 0).unwrap_err().to_string();
        assert!(error.contains("recorded"), "{error}");
    }
}
