//! A league: its players meet where a pair of games tells most for its cost.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_selfplay::{
    BuiltIn, Contestant, Match, MatchConfig, MatchGame, MatchResult, Method, Pairing, Planner,
    Ratings, SideCost,
};

use super::book::{Book, Entrant};
use super::error::RatingsError;
use super::file::{PairingResult, RATINGS_FORMAT, RatedPairing, RatedPlayer, RatingsFile};
use crate::evaluators::network;
use crate::learner::Scalars;
use crate::run::HistoryPoint;

/// Makes a contestant for one thread.
type Make = Box<dyn Fn() -> anyhow::Result<Contestant>>;

/// A player that can be asked for plays now.
pub struct Rival {
    /// Who it is.
    pub entrant: Entrant,
    /// Makes it, for one thread of a match.
    pub make: Make,
}

/// Players, their games so far, and the next ones.
pub struct League {
    book: Book,
    /// The players that can play, by number.
    rivals: BTreeMap<usize, Rival>,
    rules: Rules,
    judge: Checkpoint,
    device: Device,
    threads: usize,
    /// The run's name in the games' records.
    run: String,
    anchor: usize,
    /// Seconds thought and games played, by player, since this process began.
    costs: BTreeMap<usize, (f64, u64)>,
    /// Seconds of the threads beside all thinking (openings, networks made, games stored), and the games.
    overhead: (f64, u64),
}

impl League {
    /// A league of these players with the games of a book. The anchor is the run's step 0 if it plays, else the random
    /// player, else the first.
    ///
    /// # Errors
    /// The judge's network or the book cannot be read or written, or there are fewer than two players.
    pub fn new(
        mut book: Book,
        rivals: Vec<Rival>,
        device: Device,
        threads: usize,
        run: String,
    ) -> anyhow::Result<League> {
        let rules = book.setup().rules.parse().context("the rules of the ratings")?;
        let judge = Checkpoint::load(&book.judge())?;
        let mut numbered = BTreeMap::new();
        for rival in rivals {
            numbered.insert(book.enter(rival.entrant.clone())?, rival);
        }
        anyhow::ensure!(numbered.len() > 1, "ratings need two players or more");
        let named = |wanted: &dyn Fn(&Entrant) -> bool| {
            numbered.iter().find(|(_, rival)| wanted(&rival.entrant)).map(|(number, _)| *number)
        };
        let anchor = named(&|entrant| entrant.step == Some(0))
            .or_else(|| named(&|entrant| entrant.name == BuiltIn::Random.to_string()))
            .or_else(|| numbered.first_key_value().map(|(number, _)| *number))
            .unwrap_or_default();
        Ok(League {
            book,
            rivals: numbered,
            rules,
            judge,
            device,
            threads,
            run,
            anchor,
            costs: BTreeMap::new(),
            overhead: (0.0, 0),
        })
    }

    /// Makes the player of this name the anchor; whether there is one among those that can play.
    pub fn anchor_at(&mut self, name: &str) -> bool {
        let found = self.rivals.iter().find(|(_, rival)| rival.entrant.name == name);
        if let Some((&number, _)) = found {
            self.anchor = number;
        }
        found.is_some()
    }

    /// The ratings by all games so far.
    ///
    /// # Errors
    /// They cannot be solved for.
    pub fn ratings(&self) -> Result<Ratings, RatingsError> {
        Ok(Ratings::fit(self.book.players().len(), self.anchor, &self.book.encounters())?)
    }

    /// Whether every player that can play has a rating with an interval of at most this much either way.
    pub fn is_within(&self, ratings: &Ratings, margin: f64) -> bool {
        self.rivals
            .keys()
            .all(|&player| ratings.player(player).is_some_and(|e| e.margin() <= margin))
    }

    /// The two players whose next `pairs` pairs of games tell most for their time; as long as somebody has no rating, of
    /// those pairings that give him one.
    ///
    /// # Errors
    /// The numbers are beyond what can be solved.
    pub fn next(&self, ratings: &Ratings, pairs: u32) -> anyhow::Result<(usize, usize)> {
        let encounters = self.book.encounters();
        let guesses = self.guesses(ratings);
        let alike = self.neighbours();
        let mut planner = Planner::new(ratings, self.anchor, &encounters, &guesses, &alike)
            .map_err(RatingsError::from)?;
        let numbers: Vec<usize> = self.rivals.keys().copied().collect();
        let beside = self.overhead.0 / self.overhead.1.max(1) as f64;
        let pairings: Vec<Pairing> = numbers
            .iter()
            .enumerate()
            .flat_map(|(place, &a)| numbers[place + 1..].iter().map(move |&b| (a, b)))
            .map(|(a, b)| Pairing { a, b, cost: self.cost(a) + self.cost(b) + beside })
            .collect();
        // Whoever has no rating yet gets one first.
        let connects = |p: &&Pairing| ratings.is_rated(p.a) != ratings.is_rated(p.b);
        let first: Vec<Pairing> = pairings.iter().filter(connects).copied().collect();
        let pairings = if first.is_empty() { pairings } else { first };
        let best = planner.choose(&pairings, pairs).context("there are no two players to meet")?;
        Ok((pairings[best].a, pairings[best].b))
    }

    /// Seconds that a player thinks in a game; the mean of the others' where it has not played yet.
    fn cost(&self, player: usize) -> f64 {
        let each = |&(seconds, games): &(f64, u64)| seconds / games as f64;
        let mean = || {
            let known: Vec<f64> = self.costs.values().map(each).collect();
            if known.is_empty() { 1.0 } else { known.iter().sum::<f64>() / known.len() as f64 }
        };
        // Setting up a game takes a moment too, so that nobody is free.
        self.costs.get(&player).map_or_else(mean, each) + 1e-3
    }

    /// What to think of players before their first game: a checkpoint is as strong as its rated neighbours by steps, a
    /// player without steps as the mean of all.
    fn guesses(&self, ratings: &Ratings) -> Vec<f64> {
        let players = self.book.players();
        let elo = |player: usize| ratings.player(player).map(|e| e.elo);
        let mut ladder: Vec<(u64, f64)> = players
            .iter()
            .enumerate()
            .filter_map(|(number, entrant)| Some((entrant.step?, elo(number)?)))
            .collect();
        ladder.sort_by_key(|&(step, _)| step);
        let rated: Vec<f64> = (0..players.len()).filter_map(elo).collect();
        let mean = rated.iter().sum::<f64>() / rated.len().max(1) as f64;
        players
            .iter()
            .map(|entrant| entrant.step.map_or(mean, |step| between(&ladder, step, mean)))
            .collect()
    }

    /// Checkpoints next to each other by steps.
    fn neighbours(&self) -> Vec<(usize, usize)> {
        let checkpoint = |(number, entrant): (usize, &Entrant)| Some((entrant.step?, number));
        let mut ladder: Vec<(u64, usize)> =
            self.book.players().iter().enumerate().filter_map(checkpoint).collect();
        ladder.sort_unstable();
        ladder.windows(2).map(|pair| (pair[0].1, pair[1].1)).collect()
    }

    /// The name of a player in tables.
    pub fn name(&self, player: usize) -> &str {
        self.book.players().get(player).map_or("?", |entrant| &entrant.name)
    }

    /// The folder of its games.
    pub fn folder(&self) -> &Path {
        self.book.folder()
    }

    /// Games of whole pairs.
    pub fn games(&self) -> u64 {
        self.book.encounters().iter().map(|e| 2 * e.pairs.pairs()).sum()
    }

    /// Lets two players play `pairs` more pairs of games, and what a killed process left half done. Each game is durable
    /// before it counts. `progress` hears after each game.
    ///
    /// # Errors
    /// A player cannot be made, an evaluator failed, or a game cannot be stored.
    pub fn play(
        &mut self,
        (a, b): (usize, usize),
        pairs: u32,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut (dyn FnMut(&MatchResult) + Send),
    ) -> anyhow::Result<MatchResult> {
        let begun = Instant::now();
        let setup = self.book.setup().clone();
        let meeting = self.book.meeting(a, b).cloned().unwrap_or_default();
        let whole = meeting.pairs().pairs() + u64::from(pairs);
        let games = 2 * whole.max(meeting.begun());
        let config = MatchConfig {
            games: u32::try_from(games).context("too many games of two players")?,
            max_plays: setup.max_plays,
            run: self.run.clone(),
            worker: Book::worker(a, b),
            ..MatchConfig::new(self.rules, setup.seed)
        };
        let opening = config.opening.plays;
        // A thread without a game of its own would only make networks.
        let threads = self.threads.clamp(1, games as usize - meeting.games.len());
        let sides = (0..threads)
            .map(|_| Ok([self.make(a)?, self.make(b)?]))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let judge = network("judge", Method::Gumbel, &self.judge, self.device)?;
        let mut game = Match::new(config, sides, Some(judge))?;
        for record in meeting.games {
            game.take_up(&MatchGame { record, costs: [SideCost::default(); 2] })?;
        }
        let before = game.result().games;
        let failed = AtomicBool::new(false);
        let mut failure: Option<RatingsError> = None;
        let book = &mut self.book;
        let mut keep = |game: MatchGame| {
            if let Err(error) = book.add(game.record, opening) {
                failed.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
        };
        let ended = game.run(&|| stop() || failed.load(Ordering::Relaxed), progress, &mut keep);
        if let Some(error) = failure {
            return Err(error.into());
        }
        let result = ended?;
        let thought: f64 = result.sides.iter().map(|side| side.cost.seconds).sum();
        let spent = threads as f64 * begun.elapsed().as_secs_f64();
        self.overhead.0 += (spent - thought).max(0.0);
        self.overhead.1 += result.games - before;
        for (player, side) in [a, b].into_iter().zip(&result.sides) {
            let cost = self.costs.entry(player).or_default();
            cost.0 += side.cost.seconds;
            cost.1 += result.games - before;
        }
        self.costs.retain(|_, cost| cost.1 > 0);
        Ok(result)
    }

    fn make(&self, player: usize) -> anyhow::Result<Contestant> {
        let rival = self.rivals.get(&player).context("a player that cannot play")?;
        (rival.make)()
    }

    /// The ratings as they are written; `run` is the run's folder as the user named it, `history` its save points.
    pub fn file(&self, ratings: &Ratings, run: &Path, history: &[HistoryPoint]) -> RatingsFile {
        let encounters = self.book.encounters();
        let names = self.names();
        let mut totals = vec![(0u64, 0.0); names.len()];
        let mut pairings = Vec::new();
        for e in encounters.iter().filter(|e| e.pairs.pairs() > 0) {
            let result = PairingResult::of(&e.pairs);
            for (player, points) in
                [(e.a, result.points()), (e.b, result.games as f64 - result.points())]
            {
                totals[player].0 += result.games;
                totals[player].1 += points;
            }
            pairings.push(RatedPairing { a: names[e.a].clone(), b: names[e.b].clone(), result });
        }
        let mut players: Vec<RatedPlayer> = self
            .book
            .players()
            .iter()
            .enumerate()
            .filter(|(number, _)| totals[*number].0 > 0 || self.rivals.contains_key(number))
            .map(|(number, entrant)| {
                let point =
                    entrant.step.and_then(|step| history.iter().find(|point| point.step == step));
                let estimate = ratings.player(number);
                let (games, points) = totals[number];
                RatedPlayer {
                    name: names[number].clone(),
                    player: match entrant.step {
                        Some(step) => format!("run:{}@{step}", run.display()),
                        None => entrant.name.clone(),
                    },
                    step: entrant.step,
                    seconds: point.map(|point| point.seconds),
                    games_made: point.map(|point| point.games),
                    elo: estimate.map(|e| e.elo),
                    low: estimate.map(|e| e.low),
                    high: estimate.map(|e| e.high),
                    games,
                    score: if games == 0 { 0.5 } else { points / games as f64 },
                }
            })
            .collect();
        let height = |player: &RatedPlayer| player.elo.unwrap_or(f64::NEG_INFINITY);
        players.sort_by(|one, other| height(other).total_cmp(&height(one)));
        RatingsFile {
            format: RATINGS_FORMAT.to_owned(),
            rules: self.rules.to_string(),
            limit: self.book.setup().limit,
            seed: self.book.setup().seed,
            anchor: names[self.anchor].clone(),
            white_advantage: ratings.white_advantage(),
            players,
            pairings,
            games: self.games(),
        }
    }

    /// Names by number; a checkpoint whose step has other weights by now says so.
    fn names(&self) -> Vec<String> {
        let players = self.book.players();
        let name = |(number, entrant): (usize, &Entrant)| {
            let later = players[number + 1..].iter().any(|other| other.name == entrant.name);
            if later { format!("{} (replaced)", entrant.name) } else { entrant.name.clone() }
        };
        players.iter().enumerate().map(name).collect()
    }
}

/// The Elo at a step by straight lines between the rated steps, level beyond them; `mean` where there are none.
fn between(ladder: &[(u64, f64)], step: u64, mean: f64) -> f64 {
    let after = ladder.partition_point(|&(rated, _)| rated < step);
    match (after.checked_sub(1).and_then(|before| ladder.get(before)), ladder.get(after)) {
        (Some(&(low, below)), Some(&(high, above))) => {
            below + (above - below) * (step - low) as f64 / (high - low) as f64
        }
        (Some(&(_, elo)), None) | (None, Some(&(_, elo))) => elo,
        (None, None) => mean,
    }
}

/// Writes the checkpoints' ratings for TensorBoard, at their steps, in place of those written before: a run of its own
/// beside the training curves, for it is rated anew each time.
///
/// # Errors
/// The events of before cannot be removed.
pub fn write_scalars(ratings: &RatingsFile, events: &Path) -> io::Result<()> {
    let folder = events.join("ratings");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut points: Vec<(u64, [f64; 3])> = ratings
        .players
        .iter()
        .filter_map(|player| Some((player.step?, [player.elo?, player.low?, player.high?])))
        .collect();
    points.sort_by_key(|point| point.0);
    let mut scalars = Scalars::new(&folder);
    for (step, [elo, low, high]) in points {
        scalars.add(step, &[("elo/rating", elo), ("elo/low", low), ("elo/high", high)]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unplayed_checkpoints_are_guessed_from_their_neighbours() {
        let ladder = [(0, 0.0), (100, 400.0), (300, 500.0)];
        assert_eq!(between(&ladder, 50, 9.0), 200.0);
        assert_eq!(between(&ladder, 100, 9.0), 400.0);
        assert_eq!(between(&ladder, 200, 9.0), 450.0);
        assert_eq!(between(&ladder, 900, 9.0), 500.0);
        assert_eq!(between(&[], 900, 9.0), 9.0);
    }
}
