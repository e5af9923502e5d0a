//! The rated games of a run: `RUN/ratings/SETUP/`, each a folder of games with the list of their players.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gipf_core::record::{GameRecord, GameResult};
use serde::Deserialize;

use super::results::lines;
use crate::store;

/// A rated game with the names of its players.
#[derive(Debug)]
pub(super) struct RatedGame {
    /// The game.
    pub(super) record: GameRecord,
    /// White's and Black's names; none where the list of players does not tell.
    pub(super) players: Option<[String; 2]>,
}

/// A line of `players.jsonl`; its number is the player's in the games' ids.
#[derive(Debug, Deserialize)]
struct Player {
    #[serde(default)]
    name: String,
}

/// The newest `count` games that are over, of every setup together at most `count`, oldest first.
pub(super) fn newest(run: &Path, count: usize, faults: &mut Vec<String>) -> Vec<RatedGame> {
    let mut games = Vec::new();
    for folder in setups(&run.join("ratings"), faults) {
        let players: Vec<Player> = lines(&folder.join("players.jsonl"), faults);
        match store::newest_records(&folder, 50) {
            Ok(found) => {
                faults.extend(found.faults);
                let over =
                    found.records.into_iter().filter(|it| it.result != GameResult::Unfinished);
                games.extend(over.map(|record| {
                    let players = names(&record, &players);
                    RatedGame { record, players }
                }));
            }
            Err(error) => faults.push(error.to_string()),
        }
    }
    games.split_off(games.len().saturating_sub(count))
}

/// The folders of rated games, in the order of their names; none where nothing was rated.
fn setups(folder: &Path, faults: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                faults.push(format!("{}: {error}", folder.display()));
            }
            return Vec::new();
        }
    };
    let mut folders: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A game's worker is its two players' numbers, 16 hexadecimal digits each; the first has White in games of even number.
fn names(record: &GameRecord, players: &[Player]) -> Option<[String; 2]> {
    let worker = &record.id.worker;
    let name = |digits: Option<&str>| {
        let number = usize::from_str_radix(digits?, 16).ok()?;
        players.get(number).map(|player| player.name.clone())
    };
    let (first, second) = (name(worker.get(..16))?, name(worker.get(16..))?);
    Some(if record.id.seq.is_multiple_of(2) { [first, second] } else { [second, first] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DiskWait, Store, StoreOptions};
    use crate::test_games::game;

    #[test]
    fn rated_games_name_their_players() {
        let run = tempfile::tempdir().expect("a folder");
        let mut faults = Vec::new();
        assert!(newest(run.path(), 2, &mut faults).is_empty() && faults.is_empty());
        let folder = run.path().join("ratings/standard-64-nodes");
        fs::create_dir_all(&folder).expect("makes");
        let players = "{\"name\":\"random\",\"more\":1}\n{\"name\":\"step 10\",\"step\":10}\n";
        fs::write(folder.join("players.jsonl"), players).expect("writes");
        let mut store =
            Store::open(&folder, StoreOptions::default(), DiskWait::default()).expect("a store");
        let games: Vec<GameRecord> = (0..6)
            .map(|seq| {
                let mut record = game("standard", seq, 300);
                record.id.worker = format!("{:016x}{:016x}", 0, if seq < 5 { 1 } else { 9 });
                record
            })
            .collect();
        assert!(games.iter().all(|record| record.result != GameResult::Unfinished));
        store.append(&games).expect("appends");
        let found = newest(run.path(), 3, &mut faults);
        let seqs: Vec<u64> = found.iter().map(|game| game.record.id.seq).collect();
        assert_eq!(seqs, [3, 4, 5]);
        let names = |at: usize| found[at].players.clone().map(|names| names.join(" - "));
        assert_eq!(names(0).as_deref(), Some("step 10 - random"));
        assert_eq!(names(1).as_deref(), Some("random - step 10"));
        assert_eq!(names(2), None);
        assert!(faults.is_empty(), "{faults:?}");
    }
}
