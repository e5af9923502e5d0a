//! Matches: two players, each opening played twice with the colours swapped, several games at once.

mod clock;
mod config;
mod game;
mod hall;
mod result;
mod tally;

use std::sync::Mutex;

pub use config::{MatchConfig, MatchError};
pub use result::{MatchGame, MatchResult, SideCost, SideResult};

use scopeguard::defer_on_unwind;

use crate::contestant::Contestant;
use crate::openings::{Book, Judge};
use crate::spec::searchable;
use hall::{Floor, Hall, Hearers};
use tally::Tally;

/// Two contestants about to meet.
pub struct Match {
    config: MatchConfig,
    /// A and B, for each thread.
    contestants: Vec<[Contestant; 2]>,
    book: Mutex<Book>,
    tally: Tally,
}

impl Match {
    /// Checks the config. The match has a thread for each pair of contestants (A and B, alike in every pair); more than one
    /// needs the feature `threads`, as does a limit of time. With a judge only openings that it calls fair are played.
    ///
    /// # Errors
    /// A number out of range, rules that cannot be searched, no contestants.
    pub fn new(
        config: MatchConfig,
        contestants: Vec<[Contestant; 2]>,
        judge: Option<Judge>,
    ) -> Result<Match, MatchError> {
        config.validate()?;
        config.validate_contestants(&contestants)?;
        searchable(config.rules)?;
        if let Some(judge) = &judge {
            judge
                .search
                .validate()
                .map_err(|error| MatchError::Search { name: judge.name.clone(), error })?;
        }
        let name = |side: usize| contestants.first().map(|pair| pair[side].name());
        let (a, b) = (name(0).unwrap_or_default(), name(1).unwrap_or_default());
        let tally = Tally::new(&config, a, b);
        Ok(Match { config, contestants, book: Mutex::new(Book::new(judge)), tally })
    }

    /// Counts a game of this match that was played before; it is not played again.
    ///
    /// # Errors
    /// The game is none of this match's by its rules, seed, limit of plays or number, or was counted already.
    pub fn take_up(&mut self, game: &MatchGame) -> Result<(), MatchError> {
        self.tally.take_up(&self.config, game)
    }

    /// How it stands.
    pub fn result(&self) -> &MatchResult {
        &self.tally.result
    }

    /// Plays the match, or the rest of it. `stop` is asked before each decision; what is under way then is dropped, and a
    /// later run plays it again. `record` gets each game that ends and `progress` hears of the state after it.
    ///
    /// A player that fails or makes an illegal play loses that game only; an evaluator that fails ends the match. With
    /// limits by nodes or depth the games, but for the order in which they end, depend on the seed and the players only.
    /// A test decides on whole pairs in the order of their numbers; games that ended ahead of their turn count in the score.
    ///
    /// # Errors
    /// An evaluator failed or a thread broke down; the games that had ended are counted.
    pub fn run(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut (dyn FnMut(&MatchResult) + Send),
        record: &mut (dyn FnMut(MatchGame) + Send),
    ) -> Result<MatchResult, MatchError> {
        let hearers = Hearers { progress, record };
        let floor = Floor::new(&self.config, &mut self.tally, &self.book, stop, hearers);
        play(&floor, &mut self.contestants)?;
        let whole = self.tally.is_decided() || self.tally.missing(0).is_none();
        self.tally.result.stopped = !whole;
        Ok(self.tally.result.clone())
    }
}

/// Plays in a hall for each pair of contestants, the last one's on this thread.
fn play(floor: &Floor<'_>, contestants: &mut [[Contestant; 2]]) -> Result<(), MatchError> {
    let halls = contestants.len();
    let enter = |pair: &mut [Contestant; 2]| {
        defer_on_unwind! { floor.close() }
        let ended = Hall::new(floor, pair).run(halls);
        if ended.is_err() {
            floor.close();
        }
        ended
    };
    let Some((last, others)) = contestants.split_last_mut() else { return Ok(()) };
    let enter = &enter;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            others.iter_mut().map(|pair| scope.spawn(move || enter(pair))).collect();
        let mut ended = enter(last);
        for thread in threads {
            ended = ended.and(thread.join().unwrap_or(Err(MatchError::Broken)));
        }
        ended
    })
}
