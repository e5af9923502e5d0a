//! The games of one setup, on the disk.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gipf_core::record::GameRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::MixesError;
use super::setup::Setup;
use super::summary::GameSummary;
use crate::run::{RunLock, atomic};
use crate::store::{DiskWait, Store, StoreOptions};

const SETUP: &str = "setup.json";
const GAMES: &str = "games";
const RIVALS: &str = "rivals";
const STUDIES: &str = "studies";

/// The games of one setup, held by this process.
#[derive(Debug)]
pub struct Book {
    folder: PathBuf,
    setup: Setup,
    /// Games against itself, by their worker's nonce and number.
    games: HashMap<String, BTreeMap<u64, GameSummary>>,
    store: Store,
    /// Games against rivals, without their searches, by their worker's nonce.
    rival_games: HashMap<String, Vec<GameRecord>>,
    rival_store: Store,
    wait: DiskWait,
    _lock: RunLock,
}

impl Book {
    /// Checks, without making anything, that a folder's games are of this setup or that there are none.
    ///
    /// # Errors
    /// They are of another setup, or the folder cannot be read.
    pub fn check(place: &Path, setup: &Setup) -> Result<(), MixesError> {
        let folder = place.join(setup.folder_name());
        let found: Option<Setup> = read_json(&folder.join(SETUP))?;
        match found.and_then(|found| setup.difference(&found)) {
            Some(difference) => Err(MixesError::Setup { folder, difference }),
            None => Ok(()),
        }
    }

    /// The games of a setup below a folder; a new book where there are none.
    ///
    /// # Errors
    /// As [`Book::check`]; another process works here; files that are damaged or cannot be written.
    pub fn open(place: &Path, setup: Setup, wait: DiskWait) -> Result<Self, MixesError> {
        Book::check(place, &setup)?;
        let folder = place.join(setup.folder_name());
        fs::create_dir_all(&folder).map_err(|error| MixesError::io(&folder, error))?;
        let lock = RunLock::take(&folder)?;
        atomic::remove_leftovers(&folder).map_err(|error| MixesError::io(&folder, error))?;
        let path = folder.join(SETUP);
        if !path.exists() {
            write_json(&path, &setup, &wait)?;
        }
        let open =
            |name: &str| Store::open(&folder.join(name), StoreOptions::default(), wait.clone());
        let (store, rival_store) = (open(GAMES)?, open(RIVALS)?);
        let mut book = Book {
            folder,
            setup,
            games: HashMap::new(),
            store,
            rival_games: HashMap::new(),
            rival_store,
            wait,
            _lock: lock,
        };
        for stored in book.store.records(0) {
            book.count(stored?.1)?;
        }
        for stored in book.rival_store.records(0) {
            book.count_rival(stored?.1);
        }
        Ok(book)
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Who plays and how.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The number of games against itself, by whatever rules.
    pub fn games(&self) -> u64 {
        self.store.games()
    }

    /// A game by its worker's nonce and number.
    pub fn game(&self, worker: &str, number: u64) -> Option<&GameSummary> {
        self.games.get(worker)?.get(&number)
    }

    /// Stores games against itself; once this returns they are durable.
    ///
    /// # Errors
    /// The games cannot be stored, or are not by the rules.
    pub fn add(&mut self, games: Vec<GameRecord>) -> Result<(), MixesError> {
        let new = self.store.append(&games)?;
        for (game, _) in games.into_iter().zip(new).filter(|(_, new)| *new) {
            self.count(game)?;
        }
        Ok(())
    }

    fn count(&mut self, game: GameRecord) -> Result<(), MixesError> {
        let (worker, number) = (game.id.worker.clone(), game.id.seq);
        let rules = game.rules.clone();
        let damaged = |reason: String| MixesError::damaged(self.store.folder(), reason);
        if worker != self.setup.worker(&rules) {
            return Err(damaged(format!("game {number} of {rules} is of another setup")));
        }
        let summary = GameSummary::of(game, self.setup.opening_plays)
            .map_err(|error| damaged(format!("game {number} of {rules}: {error}")))?;
        self.games.entry(worker).or_default().insert(number, summary);
        Ok(())
    }

    /// The games against a rival, by their worker's nonce.
    pub(super) fn rival_games(&self, worker: &str) -> &[GameRecord] {
        self.rival_games.get(worker).map_or(&[], Vec::as_slice)
    }

    /// Stores a game against a rival; once this returns it is durable.
    ///
    /// # Errors
    /// The game cannot be stored.
    pub(super) fn add_rival(&mut self, game: GameRecord) -> Result<(), MixesError> {
        if self.rival_store.append(std::slice::from_ref(&game))?.first() == Some(&true) {
            self.count_rival(game);
        }
        Ok(())
    }

    fn count_rival(&mut self, mut game: GameRecord) {
        game.plays.iter_mut().for_each(|play| play.s = None);
        self.rival_games.entry(game.id.worker.clone()).or_default().push(game);
    }

    /// Whole games against itself, with their searches, by worker's nonce and number; those that are not there are left out.
    ///
    /// # Errors
    /// The games cannot be read.
    pub fn records(&self, wanted: &[(String, u64)]) -> Result<Vec<GameRecord>, MixesError> {
        let mut found: Vec<Option<GameRecord>> = vec![None; wanted.len()];
        for stored in self.store.records(0) {
            let (_, record) = stored?;
            let place = wanted.iter().position(|(worker, number)| {
                *worker == record.id.worker && *number == record.id.seq
            });
            if let Some(place) = place.and_then(|place| found.get_mut(place)) {
                *place = Some(record);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// What was written about the study of this name; `None` where nothing was.
    ///
    /// # Errors
    /// The file is damaged or cannot be read.
    pub(super) fn read_study<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, MixesError> {
        read_json(&self.study_path(name))
    }

    /// Writes it, as a whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write_study(&self, name: &str, study: &impl Serialize) -> Result<(), MixesError> {
        let path = self.study_path(name);
        let folder = self.folder.join(STUDIES);
        fs::create_dir_all(&folder).map_err(|error| MixesError::io(&folder, error))?;
        write_json(&path, study, &self.wait)
    }

    /// The file of a study.
    pub(super) fn study_path(&self, name: &str) -> PathBuf {
        self.folder.join(STUDIES).join(format!("{name}.json"))
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, MixesError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => {
            let bytes = bytes.map_err(|error| MixesError::io(path, error))?;
            serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| MixesError::damaged(path, error.to_string()))
        }
    }
}

fn write_json(path: &Path, value: &impl Serialize, wait: &DiskWait) -> Result<(), MixesError> {
    let failed = |error: io::Error| MixesError::io(path, error);
    let text = serde_json::to_string(value).map_err(|error| failed(error.into()))?;
    atomic::write(path, format!("{text}\n").as_bytes(), wait, None).map_err(failed)
}
