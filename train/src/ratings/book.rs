//! The games behind a run's ratings, on the disk.
//!
//! ```text
//! RUN/ratings/standard-64-nodes/setup.json         how the games are played
//! RUN/ratings/standard-64-nodes/judge.safetensors  the network that finds openings fair, kept when the run prunes it
//! RUN/ratings/standard-64-nodes/players.jsonl      the players by number
//! RUN/ratings/standard-64-nodes/openings.jsonl     the openings, one list for all pairings
//! RUN/ratings/standard-64-nodes/000001.jsonl.zst   the games (crate::store)
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gipf_core::record::{GameRecord, GameResult};
use gipf_selfplay::{ColorPairs, Encounter};
use serde::{Deserialize, Serialize};

use super::error::RatingsError;
use super::file::RatedLimit;
use crate::run::{RunLock, atomic, journal};
use crate::store::{DiskWait, Store, StoreOptions};

/// Format of `setup.json`.
const SETUP_FORMAT: &str = "gipf-rating-games-1";

/// How rated games are played: games of one setup only are rated together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    format: String,
    /// The rules of every game.
    pub rules: String,
    /// Plays after which a game is unfinished.
    pub max_plays: u32,
    /// The limit of each decision.
    pub limit: RatedLimit,
    /// The seed of openings and players.
    pub seed: u64,
}

impl Setup {
    /// Games by these rules, at this limit.
    pub fn new(rules: String, max_plays: u32, limit: RatedLimit, seed: u64) -> Self {
        Setup { format: SETUP_FORMAT.to_owned(), rules, max_plays, limit, seed }
    }

    /// The folder's name.
    fn name(&self) -> String {
        let limit = match self.limit {
            RatedLimit::Nodes(nodes) => format!("{nodes}-nodes"),
            RatedLimit::Milliseconds(time) => format!("{time}-ms"),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || "+.-=".contains(c) { c } else { '_' };
        format!("{}-{limit}", self.rules).chars().map(plain).collect()
    }

    fn words(&self) -> String {
        let Setup { rules, max_plays, limit, seed, .. } = self;
        format!("rules {rules}, {limit}, at most {max_plays} plays and seed {seed}")
    }
}

/// Who plays, as the games know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrant {
    /// Its name in tables.
    pub name: String,
    /// The training step of a checkpoint of the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// The SHA-256 of a network's weights: another network is another player, whatever it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An opening of the list.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    /// The number of the pairs of games that begin with it.
    pair: u64,
    plays: Vec<String>,
}

/// The games of two players.
#[derive(Debug, Clone, Default)]
pub struct Meeting {
    /// The games, without their searches.
    pub games: Vec<GameRecord>,
    /// The first player's half points with White and with Black, by the pair's number.
    points: BTreeMap<u64, [Option<usize>; 2]>,
}

impl Meeting {
    /// Whole pairs, seen from the first player.
    pub fn pairs(&self) -> ColorPairs {
        let mut pairs = ColorPairs::default();
        for points in self.points.values() {
            if let [Some(white), Some(black)] = *points {
                pairs.add(white, black);
            }
        }
        pairs
    }

    /// The number of pairs that have begun, or one more than the largest number of them: a match of so many pairs ends
    /// what a killed process left half done.
    pub fn begun(&self) -> u64 {
        self.points.last_key_value().map_or(0, |(pair, _)| pair + 1)
    }
}

/// The games of one setup, held by this process.
#[derive(Debug)]
pub struct Book {
    folder: PathBuf,
    setup: Setup,
    players: Vec<Entrant>,
    meetings: BTreeMap<(usize, usize), Meeting>,
    openings: BTreeSet<u64>,
    store: Store,
    wait: DiskWait,
    _lock: RunLock,
}

impl Book {
    /// The games of a setup in a run's folder; a new book where there are none. `judge` is the file of the network that
    /// shall find openings fair, of which a new book keeps a copy.
    ///
    /// # Errors
    /// Another process rates here, the games were played otherwise, or the files cannot be read or written.
    pub fn open(
        run: &Path,
        setup: Setup,
        judge: &Path,
        wait: DiskWait,
    ) -> Result<Self, RatingsError> {
        let folder = run.join("ratings").join(setup.name());
        fs::create_dir_all(&folder).map_err(|error| RatingsError::io(&folder, error))?;
        let lock = RunLock::take(&folder)?;
        atomic::remove_leftovers(&folder).map_err(|error| RatingsError::io(&folder, error))?;
        match read_setup(&folder)? {
            Some(found) if found != setup => {
                let (found, wanted) = (found.words(), setup.words());
                return Err(RatingsError::Setup { folder, found, wanted });
            }
            Some(_) => {}
            None => {
                // The setup is written last: with it the judge is there.
                let copy = folder.join(JUDGE);
                let bytes = fs::read(judge).map_err(|error| RatingsError::io(judge, error))?;
                write(&copy, &bytes, &wait)?;
                let path = folder.join(SETUP);
                let text = serde_json::to_string_pretty(&setup)
                    .map_err(|error| RatingsError::io(&path, error.into()))?;
                write(&path, format!("{text}\n").as_bytes(), &wait)?;
            }
        }
        let players: Vec<Entrant> = journal::read(&folder.join(PLAYERS))?;
        let openings: Vec<Opening> = journal::read(&folder.join(OPENINGS))?;
        let store = Store::open(&folder, StoreOptions::default(), wait.clone())?;
        let mut book = Book {
            folder,
            setup,
            players,
            meetings: BTreeMap::new(),
            openings: openings.iter().map(|opening| opening.pair).collect(),
            store,
            wait,
            _lock: lock,
        };
        for stored in book.store.records(0) {
            book.count(stored?.1)?;
        }
        Ok(book)
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How its games are played.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The file of the network that finds openings fair.
    pub fn judge(&self) -> PathBuf {
        self.folder.join(JUDGE)
    }

    /// All players that ever entered, by number.
    pub fn players(&self) -> &[Entrant] {
        &self.players
    }

    /// The number of a player; a new one is written down.
    ///
    /// # Errors
    /// The table cannot be written.
    pub fn enter(&mut self, entrant: Entrant) -> Result<usize, RatingsError> {
        if let Some(number) = self.players.iter().position(|known| *known == entrant) {
            return Ok(number);
        }
        journal::append(&self.folder.join(PLAYERS), &[&entrant], &self.wait)?;
        self.players.push(entrant);
        Ok(self.players.len() - 1)
    }

    /// The nonce in the records of two players' games: their numbers, the first one's first.
    pub fn worker(a: usize, b: usize) -> String {
        format!("{a:016x}{b:016x}")
    }

    /// The games of two players, the one with the smaller number first.
    pub fn meeting(&self, a: usize, b: usize) -> Option<&Meeting> {
        self.meetings.get(&(a, b))
    }

    /// All whole pairs.
    pub fn encounters(&self) -> Vec<Encounter> {
        let of = |(&(a, b), meeting): (&(usize, usize), &Meeting)| Encounter {
            a,
            b,
            pairs: meeting.pairs(),
        };
        self.meetings.iter().map(of).collect()
    }

    /// Stores a game; once this returns it is durable and counts. `opening` is the number of plays that it began with.
    ///
    /// # Errors
    /// The game cannot be stored.
    pub fn add(&mut self, game: GameRecord, opening: u32) -> Result<(), RatingsError> {
        let pair = game.id.seq / 2;
        if self.openings.insert(pair) {
            let plays = game.plays.iter().take(opening as usize).map(|play| play.p.clone());
            let opening = Opening { pair, plays: plays.collect() };
            journal::append(&self.folder.join(OPENINGS), &[opening], &self.wait)?;
        }
        if self.store.append(std::slice::from_ref(&game))?.first() == Some(&true) {
            self.count(game)?;
        }
        Ok(())
    }

    fn count(&mut self, mut game: GameRecord) -> Result<(), RatingsError> {
        let worker = &game.id.worker;
        let number = |text: Option<&str>| usize::from_str_radix(text?, 16).ok();
        let players = (number(worker.get(..16)), number(worker.get(16..)));
        let (Some(a), Some(b)) = players else { return Err(self.unknown(worker)) };
        if a >= b || b >= self.players.len() {
            return Err(self.unknown(worker));
        }
        let black = game.id.seq % 2 == 1;
        let points = match game.result {
            GameResult::Unfinished => 1,
            GameResult::White => 2 * usize::from(!black),
            GameResult::Black => 2 * usize::from(black),
        };
        // Searches are what makes records long, and ratings have no use for them.
        game.plays.iter_mut().for_each(|play| play.s = None);
        let meeting = self.meetings.entry((a, b)).or_default();
        meeting.points.entry(game.id.seq / 2).or_default()[usize::from(black)] = Some(points);
        meeting.games.push(game);
        Ok(())
    }

    fn unknown(&self, worker: &str) -> RatingsError {
        RatingsError::UnknownPlayers { folder: self.folder.clone(), worker: worker.to_owned() }
    }
}

const SETUP: &str = "setup.json";
const JUDGE: &str = "judge.safetensors";
const PLAYERS: &str = "players.jsonl";
const OPENINGS: &str = "openings.jsonl";

fn read_setup(folder: &Path) -> Result<Option<Setup>, RatingsError> {
    let path = folder.join(SETUP);
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => {
            let bytes = bytes.map_err(|error| RatingsError::io(&path, error))?;
            serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| RatingsError::Damaged { path, reason: error.to_string() })
        }
    }
}

fn write(path: &Path, bytes: &[u8], wait: &DiskWait) -> Result<(), RatingsError> {
    atomic::write(path, bytes, wait, None).map_err(|error| RatingsError::io(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::record::{GameId, RECORD_FORMAT, RecordedPlay};

    fn game(a: usize, b: usize, seq: u64, result: GameResult) -> GameRecord {
        GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId { run: "t".to_owned(), worker: Book::worker(a, b), seq },
            rules: "basic".to_owned(),
            start: None,
            max_plays: 100,
            seed: 1,
            result,
            forfeit: None,
            plays: vec![RecordedPlay { p: "e1-e2".to_owned(), s: None }],
        }
    }

    fn entrant(name: &str) -> Entrant {
        Entrant { name: name.to_owned(), step: None, sha256: None }
    }

    fn setup(seed: u64) -> Setup {
        Setup::new("basic".to_owned(), 100, RatedLimit::Nodes(8), seed)
    }

    #[test]
    fn a_book_comes_back_and_half_a_pair_is_not_counted() {
        let run = tempfile::tempdir().expect("a folder");
        let judge = run.path().join("judge");
        fs::write(&judge, "weights").expect("writes");
        let open = |seed| Book::open(run.path(), setup(seed), &judge, DiskWait::default());
        let mut book = open(1).expect("opens");
        let (a, b) = (book.enter(entrant("a")).expect("a"), book.enter(entrant("b")).expect("b"));
        for (seq, result) in
            [(1, GameResult::White), (0, GameResult::White), (4, GameResult::Unfinished)]
        {
            book.add(game(a, b, seq, result), 1).expect("stores");
        }
        assert!(open(1).is_err(), "one process at a time");
        drop(book);
        fs::remove_file(&judge).expect("removes");
        let mut book = open(1).expect("opens without the judge's first file");
        assert_eq!(fs::read_to_string(book.judge()).expect("reads"), "weights");
        assert_eq!(book.enter(entrant("b")).expect("known"), b);
        let encounters = book.encounters();
        let mut pairs = ColorPairs::default();
        // Won as White, lost as Black.
        pairs.add(2, 0);
        assert_eq!(encounters, [Encounter { a, b, pairs }]);
        let meeting = book.meeting(a, b).expect("they met");
        assert_eq!((meeting.games.len(), meeting.begun()), (3, 3));
        drop(book);
        let list = fs::read_to_string(run.path().join("ratings/basic-8-nodes/openings.jsonl"));
        assert_eq!(list.expect("reads").lines().count(), 2, "an opening is written down once");
        let error = open(2).expect_err("another seed").to_string();
        assert!(error.contains("seed 1") && error.contains("seed 2"), "{error}");
    }
}
