//! How well the player plays by a rules string: its score against players without a network.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use gipf_core::Rules;
use gipf_core::record::{GameRecord, GameResult};
use gipf_selfplay::study::{Interval, Tally};
use gipf_selfplay::{Contestant, Judge, Match, MatchConfig, MatchGame, SideCost};
use serde::Serialize;

use super::book::Book;
use super::error::MixesError;
use super::setup::Setup;

/// The error rate of a score's interval.
const ERROR: f64 = 0.05;
/// The name of the run in the games' records.
const RUN: &str = "mixes";

/// Makes the player and a rival for each thread, for games by these rules.
type Pairs<'a> = dyn Fn(&Rules) -> anyhow::Result<Vec<[Contestant; 2]>> + 'a;

/// A player without a network that the player of a study is measured against.
pub struct Rival<'a> {
    /// Its name; the number in it says how strong it is.
    pub name: String,
    /// The player and this rival, for each thread.
    pub pairs: Box<Pairs<'a>>,
    /// What finds openings fair, where there is a network.
    pub judge: Box<dyn Fn() -> anyhow::Result<Option<Judge>> + 'a>,
}

/// The player's score against a rival by one rules string.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RivalScore {
    /// The rival.
    pub name: String,
    /// Games that count: every opening is played twice, with colours swapped, and whole pairs count.
    pub games: u64,
    /// The player's score, 0 to 1; 1/2 without a game.
    pub score: f64,
    /// Its 95% interval, each pair of games one sample.
    pub interval: Interval,
}

impl RivalScore {
    /// Whether the player is known to be the stronger one.
    pub fn is_won(&self) -> bool {
        self.interval.low > 0.5
    }
}

impl Rival<'_> {
    /// Plays what is missing of so many games (even) by these rules; `false` where `stop` came before the end. `tell` hears of
    /// each game that ends.
    ///
    /// # Errors
    /// A player or evaluator fails, or games cannot be stored.
    pub fn play(
        &self,
        book: &mut Book,
        rules: &Rules,
        games: u32,
        stop: &(dyn Fn() -> bool + Sync),
        tell: &mut (dyn FnMut() + Send),
    ) -> anyhow::Result<bool> {
        let setup = book.setup().clone();
        let worker = self.worker(&setup, rules);
        let played = numbered(book.rival_games(&worker), games);
        if played.len() as u64 >= u64::from(games) {
            return Ok(true);
        }
        let config = MatchConfig {
            games,
            max_plays: setup.max_plays,
            run: RUN.to_owned(),
            worker,
            ..MatchConfig::new(*rules, setup.seed)
        };
        let judge = (self.judge)()?;
        let mut game = Match::new(config, (self.pairs)(rules)?, judge).map_err(MixesError::from)?;
        for record in played.into_values() {
            let costs = [SideCost::default(); 2];
            let played = MatchGame { record: record.clone(), costs };
            game.take_up(&played).map_err(MixesError::from)?;
        }
        let failure = Mutex::new(None);
        let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let result = game.run(&|| stop() || failed(), &mut |_| tell(), &mut |game| {
            if let Err(error) = book.add_rival(game.record) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error.into());
        }
        Ok(!result.map_err(MixesError::from)?.stopped)
    }

    /// What the first so many games by these rules say.
    pub fn score(&self, book: &Book, rules: &Rules, games: u32) -> RivalScore {
        let worker = self.worker(book.setup(), rules);
        let played = numbered(book.rival_games(&worker), games);
        let mut tally = Tally::default();
        for (number, record) in &played {
            if played.contains_key(&(number ^ 1)) {
                // The player is White in even games.
                let own = match (record.result, number % 2 == 0) {
                    (GameResult::Unfinished, _) => GameResult::Unfinished,
                    (GameResult::White, true) | (GameResult::Black, false) => GameResult::White,
                    _ => GameResult::Black,
                };
                tally.add(number / 2, own);
            }
        }
        RivalScore {
            name: self.name.clone(),
            games: tally.games(),
            score: tally.mean(),
            interval: tally.fixed_interval(ERROR),
        }
    }

    fn worker(&self, setup: &Setup, rules: &Rules) -> String {
        setup.worker(&format!("{rules} against {}", self.name))
    }
}

/// The games with numbers below `games`.
fn numbered(records: &[GameRecord], games: u32) -> BTreeMap<u64, &GameRecord> {
    let wanted = records.iter().filter(|record| record.id.seq < u64::from(games));
    wanted.map(|record| (record.id.seq, record)).collect()
}
