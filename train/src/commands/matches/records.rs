//! The file of a match's games, and how a match that was stopped goes on with it.
//!
//! ```text
//! FILE           one game a line, as gipf check and gipf train --from-records read them
//! FILE.match     the match: one JSON object on its first line, then what each game cost, one a line
//! ```
//!
//! A game's cost is written before the game. Both files only grow, and a kill tears at most their last lines: these are cut
//! off, and the game is played again. A game is safe from a kill of the program once its line is written, and from a loss of
//! power a second later.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gipf_core::Rules;
use gipf_core::record::{GameRecord, MAX_RECORD_BYTES};
use gipf_selfplay::{Limit, MatchGame, SideCost};
use serde::{Deserialize, Serialize};

use crate::commands::Usage;
use crate::commands::fault::{check_new_file, folder_of};
use crate::commands::players::PlayerSpec;
use crate::config::CpuPrecision;
use crate::identity::{difference, nonce};
use crate::run::atomic;
use crate::store::DiskWait;

/// The `format` of a match's first line.
const FORMAT: &str = "gipf-match-1";
/// The longest line of the file beside the games; a cost is far shorter.
const LONGEST_LINE: usize = 1 << 20;
/// How long a game may wait for the disk.
const SYNC: Duration = Duration::from_secs(1);

/// What makes two matches one: with all of it equal, every game is the same game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchIdentity {
    format: String,
    /// The players as they were named.
    a: String,
    b: String,
    /// The SHA-256 of their networks' weights.
    a_network: Option<String>,
    b_network: Option<String>,
    /// The numbers that they compute with.
    a_precision: Option<CpuPrecision>,
    b_precision: Option<CpuPrecision>,
    pub(super) rules: String,
    max_plays: u32,
    seed: u64,
    /// The limit of a decision; one of both.
    nodes: Option<u32>,
    movetime: Option<u64>,
}

impl MatchIdentity {
    /// The match of these players and settings.
    pub(super) fn new(
        [(a, a_precision), (b, b_precision)]: [(&PlayerSpec, Option<CpuPrecision>); 2],
        rules: &Rules,
        limit: Limit,
        seed: u64,
        max_plays: u32,
    ) -> Self {
        let weights = |player: &PlayerSpec| {
            player.checkpoint().map(|checkpoint| checkpoint.header.sha256.clone())
        };
        MatchIdentity {
            format: FORMAT.to_owned(),
            a: a.name(),
            b: b.name(),
            a_network: weights(a),
            b_network: weights(b),
            a_precision: a.precision(a_precision),
            b_precision: b.precision(b_precision),
            rules: rules.to_string(),
            max_plays,
            seed,
            nodes: limit.nodes,
            movetime: limit.time.map(|time| time.as_millis() as u64),
        }
    }

    fn line(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// The worker's nonce of the match's games: 32 hexadecimal digits that follow from all of it.
    pub(super) fn nonce(&self) -> String {
        // The texts and numbers of an identity always serialize.
        nonce(&self.line().unwrap_or_default())
    }
}

/// What a game cost A and B, as a line of the file beside the games.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostLine {
    game: u64,
    costs: [SideCost; 2],
}

/// The open files of a match.
pub(super) struct RecordsFile {
    games: File,
    costs: File,
    synced: Instant,
}

/// Checks that a match may use this file: there is none, or it is the match's own. Changes nothing.
///
/// # Errors
/// [`Usage`] where it is another match's or no match's; a failure where it cannot be read or written.
pub(super) fn check(path: &Path, identity: &MatchIdentity) -> anyhow::Result<()> {
    let beside = beside(path);
    let shown = path.display();
    if !beside.exists() {
        check_new_file(&beside, None)?;
        // A start that was killed at once leaves an empty file.
        return match path.metadata() {
            Ok(found) if found.is_file() && found.len() == 0 => Ok(()),
            Ok(found) if found.is_file() => Err(Usage::error(format!(
                "{shown} exists already, and is no match's: there is no {}",
                beside.display()
            ))),
            _ => check_new_file(path, None),
        };
    }
    let mut line = Vec::new();
    let file = File::open(&beside).with_context(|| format!("cannot open {}", beside.display()))?;
    io::Read::take(BufReader::new(file), LONGEST_LINE as u64)
        .read_until(b'\n', &mut line)
        .with_context(|| format!("cannot read {}", beside.display()))?;
    let Ok(found) = serde_json::from_slice::<MatchIdentity>(&line) else {
        return Err(Usage::error(format!("{} is no match of this version", beside.display())));
    };
    match difference(identity, &found) {
        Some(difference) => {
            Err(Usage::error(format!("{shown} belongs to another match: {difference}")))
        }
        None => Ok(()),
    }
}

impl RecordsFile {
    /// Opens a match's files, or makes them; the games that they hold. Torn last lines are cut off.
    ///
    /// # Errors
    /// As [`check`]; another process plays the match; or a line that is no game of it, which is named.
    pub(super) fn open(
        path: &Path,
        identity: &MatchIdentity,
    ) -> anyhow::Result<(RecordsFile, Vec<MatchGame>)> {
        check(path, identity)?;
        let beside = beside(path);
        let place = |path: &Path| format!("cannot write {}", path.display());
        let open = |path: &Path| {
            let options = OpenOptions::new().read(true).append(true).create(true).to_owned();
            options.open(path).with_context(|| place(path))
        };
        // The games' file is never replaced, so its lock is the match's.
        let games = open(path)?;
        match games.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another process is playing the match of {}", path.display())
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| place(path)),
        }
        if !beside.exists() {
            atomic::write(&beside, identity.line()?.as_bytes(), &DiskWait::default(), None)
                .with_context(|| place(&beside))?;
        }
        let costs = open(&beside)?;
        atomic::sync_folder(&folder_of(path)).with_context(|| place(path))?;
        let (costs_of, costs_end) = read_costs(&beside, &costs)?;
        let (found, games_end) = read_games(path, &games, identity, &costs_of)?;
        for (file, end, path) in [(&games, games_end, path), (&costs, costs_end, &*beside)] {
            if file.metadata().is_ok_and(|data| data.len() != end) {
                file.set_len(end).with_context(|| place(path))?;
            }
        }
        Ok((RecordsFile { games, costs, synced: Instant::now() }, found))
    }

    /// Appends a game.
    ///
    /// # Errors
    /// A file cannot be written; the game may be torn then, and does not count.
    pub(super) fn write(&mut self, game: &MatchGame) -> io::Result<()> {
        let cost = CostLine { game: game.record.id.seq, costs: game.costs };
        let cost = serde_json::to_string(&cost).map_err(io::Error::other)?;
        self.costs.write_all(format!("{cost}\n").as_bytes())?;
        self.games.write_all(format!("{}\n", game.record.to_json()).as_bytes())?;
        if self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.costs.sync_data()?;
        self.games.sync_data()?;
        self.synced = Instant::now();
        Ok(())
    }
}

/// The file beside a match's games.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".match");
    name.into()
}

/// The whole lines of a file, with their numbers from 1, and where they end. What follows the last line feed is torn.
fn whole_lines(
    path: &Path,
    file: &File,
    longest: usize,
    mut each: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let (mut reader, mut line, mut end) = (BufReader::new(file), Vec::new(), 0);
    for number in 1.. {
        line.clear();
        let mut limited = io::Read::take(&mut reader, longest as u64 + 1);
        let place = || format!("{}, line {number}", path.display());
        limited.read_until(b'\n', &mut line).with_context(place)?;
        let Some(text) = line.strip_suffix(b"\n") else {
            if line.len() > longest {
                bail!("{}: longer than {longest} bytes", place());
            }
            break;
        };
        each(text).with_context(place)?;
        end += line.len() as u64;
    }
    Ok(end)
}

/// What the games cost, by their numbers: the last line of each counts.
fn read_costs(path: &Path, file: &File) -> anyhow::Result<(BTreeMap<u64, [SideCost; 2]>, u64)> {
    let (mut costs, mut first) = (BTreeMap::new(), true);
    let end = whole_lines(path, file, LONGEST_LINE, |line| {
        if !std::mem::replace(&mut first, false) {
            let line: CostLine = serde_json::from_slice(line).context("no cost of a game")?;
            costs.insert(line.game, line.costs);
        }
        Ok(())
    })?;
    Ok((costs, end))
}

/// The games, each replayed by the rules, in the order of their numbers.
fn read_games(
    path: &Path,
    file: &File,
    identity: &MatchIdentity,
    costs: &BTreeMap<u64, [SideCost; 2]>,
) -> anyhow::Result<(Vec<MatchGame>, u64)> {
    let (mut games, nonce) = (BTreeMap::new(), identity.nonce());
    let end = whole_lines(path, file, MAX_RECORD_BYTES, |line| {
        let record = GameRecord::from_json(std::str::from_utf8(line)?)?;
        record.replay()?;
        let number = record.id.seq;
        if record.id.worker != nonce {
            bail!("a game of another match");
        }
        let costs = costs.get(&number).copied().unwrap_or_default();
        if games.insert(number, MatchGame { record, costs }).is_some() {
            bail!("game {number} stands twice");
        }
        Ok(())
    })?;
    Ok((games.into_values().collect(), end))
}
