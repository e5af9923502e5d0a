//! Game records: what self-play and matches write, one JSON object a line.
//!
//! A record is the truth about a game; training tensors are derived from it by replaying it, so it
//! holds plays and search results as texts, never indices into a network's output.

use crate::{Color, Play, Position, Rules};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The value of [`GameRecord::format`]. A record of another format is refused.
pub const RECORD_FORMAT: &str = "gipf-record-1";

/// A record's longest line in bytes; longer ones are refused before they are parsed.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

/// The full policy of a decision: probabilities are whole numbers of 1/65535.
pub const POLICY_UNIT: u16 = u16::MAX;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameResult {
    /// White won.
    #[serde(rename = "W")]
    White,
    /// Black won.
    #[serde(rename = "B")]
    Black,
    /// The limit of plays was reached, or the game was stopped (rules, section 8).
    #[serde(rename = "U")]
    Unfinished,
}

impl GameResult {
    /// The result of a position: its winner's, or unfinished.
    pub fn of(position: &Position) -> GameResult {
        match position.winner() {
            Some(Color::White) => GameResult::White,
            Some(Color::Black) => GameResult::Black,
            None => GameResult::Unfinished,
        }
    }

    /// White's score: 1, -1 or 0.
    pub const fn for_white(self) -> i8 {
        match self {
            GameResult::White => 1,
            GameResult::Black => -1,
            GameResult::Unfinished => 0,
        }
    }

    /// The letter of records: `W`, `B` or `U`.
    pub const fn letter(self) -> char {
        match self {
            GameResult::White => 'W',
            GameResult::Black => 'B',
            GameResult::Unfinished => 'U',
        }
    }
}

/// What makes a game unique in the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameId {
    /// The run's name.
    pub run: String,
    /// 128-bit nonce of the worker's start, 32 hexadecimal digits.
    pub worker: String,
    /// The game's number within that worker's life.
    pub seq: u64,
}

/// One game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// [`RECORD_FORMAT`].
    pub format: String,
    /// The game's identity.
    pub id: GameId,
    /// The rules string.
    pub rules: String,
    /// The first position's text, if it is not the start of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Plays after which the game is unfinished.
    pub max_plays: u32,
    /// Seed of the game's random streams.
    pub seed: u64,
    /// How it ended.
    pub result: GameResult,
    /// Why the side that lost could not play on, where a match ended the game before the rules did: then `result` is not
    /// what the last position says, and tells nothing about the positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forfeit: Option<String>,
    /// Its plays in order, forced ones and side-game outcomes included.
    pub plays: Vec<RecordedPlay>,
}

/// One play of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPlay {
    /// The play's text.
    pub p: String,
    /// What the search that chose it found; absent for plays that were forced, random or chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s: Option<SearchRecord>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// Visits of the root.
    pub n: u32,
    /// The search's policy: plays with their probability in units of 1/65535, none of them 0.
    pub pi: Vec<(String, u16)>,
    /// Value of the root after the search, from White's side, -1 to 1.
    pub q: f32,
    /// The network's own value of the root, from White's side, -1 to 1.
    pub v: f32,
    /// Whether it was a full search, whose policy is a training target.
    pub full: bool,
    /// Step of the checkpoint that evaluated.
    pub ckpt: u64,
    /// How much the search surprised the network: the Kullback-Leibler divergence of the search's policy from the network's own, in
    /// nats, 0 or more. Absent after a fast search and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kl: Option<f32>,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not a record at all.
    #[error("not a game record: {0}")]
    Json(String),
    /// A record of another version.
    #[error("record format \"{0}\", this program reads {RECORD_FORMAT}")]
    Format(String),
    /// The head of the record.
    #[error("{0}")]
    Head(String),
    /// A play; the first is number 1.
    #[error("play {number}: {fault}")]
    Play {
        /// Its number.
        number: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// A result that the plays do not lead to, or a forfeit that cannot be.
    #[error("result {told}, but the plays lead to {found}")]
    Result {
        /// The record's letter.
        told: char,
        /// What the plays lead to.
        found: String,
    },
}

/// A record replayed by the rules.
#[derive(Clone, Debug)]
pub struct ReplayedGame {
    /// The rules.
    pub rules: Rules,
    /// The plays.
    pub plays: Vec<Play>,
    /// The positions: one before each play, and the last one.
    pub positions: Vec<Position>,
}

impl GameRecord {
    /// Reads a record from its line.
    ///
    /// # Errors
    /// Text that is no JSON object of this form, too long, or of another format version. The game
    /// itself is checked by [`GameRecord::replay`].
    pub fn from_json(line: &str) -> Result<GameRecord, RecordError> {
        if line.len() > MAX_RECORD_BYTES {
            return Err(RecordError::Json(format!("longer than {MAX_RECORD_BYTES} bytes")));
        }
        let record: GameRecord =
            serde_json::from_str(line).map_err(|error| RecordError::Json(error.to_string()))?;
        if record.format == RECORD_FORMAT {
            Ok(record)
        } else {
            Err(RecordError::Format(record.format.chars().take(40).collect()))
        }
    }

    /// The record's line, without the line feed.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists always serialize; floats that are not finite become null,
        // which a reader refuses.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Replays the game, checking the legality of each play, each search result and the result. A forfeited game
    /// must have a winner and be undecided on the board.
    ///
    /// # Errors
    /// The first thing that the rules do not allow.
    pub fn replay(&self) -> Result<ReplayedGame, RecordError> {
        let rules: Rules =
            self.rules.parse().map_err(|error| RecordError::Head(format!("{error}")))?;
        let worker = &self.id.worker;
        if worker.len() != 32 || !worker.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(RecordError::Head("worker nonce is not 32 hexadecimal digits".to_owned()));
        }
        let mut position = match &self.start {
            None => rules.start(),
            Some(text) => Position::parse(&rules, text)
                .map_err(|error| RecordError::Head(format!("start: {error}")))?,
        };
        let mut game = ReplayedGame {
            rules,
            plays: Vec::with_capacity(self.plays.len()),
            positions: vec![position],
        };
        for (at, recorded) in self.plays.iter().enumerate() {
            let fault = |fault: String| RecordError::Play { number: at + 1, fault };
            if at >= self.max_plays as usize {
                return Err(fault(format!("past the limit of {} plays", self.max_plays)));
            }
            let play: Play = recorded.p.parse().map_err(|error| fault(format!("{error}")))?;
            if let Some(search) = &recorded.s {
                check_search(&position, search).map_err(fault)?;
            }
            position.try_play(play).map_err(|error| fault(error.to_string()))?;
            game.plays.push(play);
            game.positions.push(position);
        }
        let on_board = GameResult::of(&position);
        let fits = match self.forfeit {
            None => on_board == self.result,
            Some(_) => self.result != GameResult::Unfinished && on_board == GameResult::Unfinished,
        };
        if !fits {
            return Err(RecordError::Result {
                told: self.result.letter(),
                found: position.to_string(),
            });
        }
        Ok(game)
    }
}

/// A search's policy must name actions of its position, each once, and sum to one unit but for
/// rounding.
fn check_search(position: &Position, search: &SearchRecord) -> Result<(), String> {
    for (name, value) in [("q", search.q), ("v", search.v)] {
        if !(-1.0..=1.0).contains(&value) {
            return Err(format!("{name} {value} is not in -1 to 1"));
        }
    }
    if let Some(kl) = search.kl
        && !(kl.is_finite() && kl >= 0.0)
    {
        return Err(format!("kl {kl} is not 0 or more"));
    }
    let (mut seen, mut sum) = (HashSet::new(), 0_u32);
    for (text, weight) in &search.pi {
        let play: Play = text.parse().map_err(|error| format!("policy: {error}"))?;
        if !position.is_legal(play) {
            return Err(format!("policy: {text} is not legal"));
        }
        if *weight == 0 {
            return Err(format!("policy: {text} has probability 0"));
        }
        if !seen.insert(position.action_for(play)) {
            return Err(format!("policy: {text} stands twice"));
        }
        sum += u32::from(*weight);
    }
    // Each probability is rounded to a unit on its own.
    let slack = search.pi.len() as u32 + 1;
    if sum.abs_diff(u32::from(POLICY_UNIT)) > slack {
        return Err(format!("policy sums to {sum} of {POLICY_UNIT}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> GameRecord {
        GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId { run: "test".to_owned(), worker: "0f".repeat(16), seq: 3 },
            rules: "standard".to_owned(),
            start: None,
            max_plays: 500,
            seed: 7,
            result: GameResult::Unfinished,
            forfeit: None,
            plays: vec![
                RecordedPlay { p: "e1-e2".to_owned(), s: None },
                RecordedPlay {
                    p: "b1-b2".to_owned(),
                    s: Some(SearchRecord {
                        n: 64,
                        pi: vec![("b1-b2".to_owned(), 40_000), ("e1-e2".to_owned(), 25_535)],
                        q: 0.25,
                        v: -0.5,
                        full: true,
                        ckpt: 12,
                        kl: Some(0.75),
                    }),
                },
            ],
        }
    }

    #[test]
    fn a_record_reads_back_and_replays() {
        let record = record();
        let again = GameRecord::from_json(&record.to_json()).unwrap();
        assert_eq!(again, record);
        assert_eq!(again.replay().unwrap().positions.len(), 3);
    }

    /// Records of older versions say nothing of the search's surprise, and what says nothing is written as they were.
    #[test]
    fn a_record_without_surprise_is_that_of_older_versions() {
        let mut old = record();
        old.plays[1].s.iter_mut().for_each(|search| search.kl = None);
        let line = old.to_json();
        assert_eq!(line, record().to_json().replace(r#","kl":0.75"#, ""));
        assert_eq!(GameRecord::from_json(&line).unwrap(), old);
        assert_eq!(old.replay().unwrap().positions.len(), 3);
    }

    #[test]
    fn a_forfeit_gives_a_result_that_the_board_does_not() {
        assert!(!record().to_json().contains("forfeit"), "old readers read games without one");
        let forfeited = GameRecord {
            forfeit: Some("out of time".to_owned()),
            result: GameResult::Black,
            ..record()
        };
        let again = GameRecord::from_json(&forfeited.to_json()).unwrap();
        assert_eq!(again, forfeited);
        assert_eq!(again.replay().unwrap().positions.len(), 3);
        let nobody = GameRecord { result: GameResult::Unfinished, ..forfeited };
        assert!(matches!(nobody.replay(), Err(RecordError::Result { told: 'U', .. })));
    }

    #[test]
    fn faults_are_named() {
        let fault = |change: fn(&mut GameRecord)| {
            let mut record = record();
            change(&mut record);
            record.replay().map(|_| ()).expect_err("a fault").to_string()
        };
        assert!(fault(|r| r.rules = "standart".to_owned()).contains("standart"));
        assert!(fault(|r| r.plays[1].p = "e1-e3".to_owned()).starts_with("play 2"));
        assert!(fault(|r| r.plays[1].p = "xe2".to_owned()).contains("not legal"));
        assert!(fault(|r| r.result = GameResult::White).contains("result W"));
        assert!(fault(|r| r.max_plays = 1).contains("limit of 1"));
        assert!(fault(|r| r.id.worker.truncate(3)).contains("nonce"));
        assert!(fault(|r| r.start = Some("x".to_owned())).contains("start"));
        let search = |change: fn(&mut SearchRecord)| {
            let mut record = record();
            record.plays[1].s.iter_mut().for_each(change);
            record.replay().map(|_| ()).expect_err("a fault").to_string()
        };
        assert!(search(|s| s.q = 1.5).contains("q 1.5"));
        assert!(search(|s| s.kl = Some(-0.1)).contains("kl -0.1"));
        assert!(search(|s| s.kl = Some(f32::NAN)).contains("kl NaN"));
        assert!(search(|s| s.pi[0].1 = 9).contains("sums to"));
        assert!(search(|s| s.pi[0].1 = 0).contains("probability 0"));
        // Two ways onto the same empty spot are one action.
        assert!(
            search(|s| s.pi = vec![("d1-d2".to_owned(), 9), ("c1-d2".to_owned(), 9)])
                .contains("stands twice")
        );
        assert!(GameRecord::from_json("{}").is_err());
        let other = record().to_json().replace(RECORD_FORMAT, "gipf-record-9");
        assert!(matches!(GameRecord::from_json(&other), Err(RecordError::Format(_))));
    }
}
