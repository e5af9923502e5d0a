//! Games that were played, from the texts they are kept in.

#[cfg(feature = "program")]
pub mod files;

use gipf_core::record::{GameRecord, RECORD_FORMAT};
use gipf_core::{DEFAULT_MAX_PLAYS, IllegalPlay, Play, Position, Rules, notation};
use serde::Deserialize;

use crate::messages::echo;

/// A game that was played; every play of it is legal.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// The first position, then one after each play.
    pub positions: Vec<Position>,
    /// The plays, side games' outcomes among them.
    pub plays: Vec<Play>,
    /// The limit of plays after which it was unfinished.
    pub max_plays: u32,
    /// The seed it was played with; 0 where nobody knows.
    pub seed: u64,
}

/// Why a text is no game; one line that names the part at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GameError(String);

/// A game line: what the test vectors have beside rules and plays says nothing more about the game.
#[derive(Deserialize)]
struct Line {
    rules: String,
    start: Option<String>,
    plays: Vec<LinePlay>,
}

/// A play of a game line.
#[derive(Deserialize)]
#[serde(untagged)]
enum LinePlay {
    Text(String),
    Object { p: String },
}

impl LinePlay {
    fn text(&self) -> &str {
        match self {
            LinePlay::Text(text) | LinePlay::Object { p: text } => text,
        }
    }
}

impl PlayedGame {
    /// A game of which nothing has been played.
    pub fn new(start: Position) -> PlayedGame {
        PlayedGame {
            positions: vec![start],
            plays: Vec::new(),
            max_plays: DEFAULT_MAX_PLAYS,
            seed: 0,
        }
    }

    /// Reads a line of JSON: a record of this project, or a game line, which has `rules`, `plays` and, where the game begins elsewhere
    /// than at the start, the position text `start`.
    ///
    /// # Errors
    /// The line is neither, or a play is not legal.
    pub fn from_line(line: &str) -> Result<PlayedGame, GameError> {
        let json = |error: serde_json::Error| GameError(format!("no game line: {error}"));
        let value: serde_json::Value = serde_json::from_str(line)
            .map_err(|error| GameError(format!("no JSON object: {error}")))?;
        if let Some(format) = value.get("format") {
            if format != RECORD_FORMAT {
                let shown = echo(&format.to_string());
                let text = format!("unknown format {shown} (this build reads {RECORD_FORMAT})");
                return Err(GameError(text));
            }
            let record =
                GameRecord::from_json(line).map_err(|error| GameError(error.to_string()))?;
            let game = record.replay().map_err(|error| GameError(error.to_string()))?;
            return Ok(PlayedGame {
                positions: game.positions,
                plays: game.plays,
                max_plays: record.max_plays,
                seed: record.seed,
            });
        }
        let line: Line = serde_json::from_value(value).map_err(json)?;
        let rules: Rules = line.rules.parse().map_err(|error| GameError(format!("{error}")))?;
        let start = match &line.start {
            Some(text) => Position::parse(&rules, text)
                .map_err(|error| GameError(format!("position '{}': {error}", echo(text))))?,
            None => rules.start(),
        };
        let mut game = PlayedGame::new(start);
        for (text, number) in line.plays.iter().map(LinePlay::text).zip(1..) {
            let fault = |error: &dyn std::fmt::Display| {
                GameError(format!("play {number} ('{}'): {error}", echo(text)))
            };
            let play: Play = text.parse().map_err(|error| fault(&error))?;
            game.play(play).map_err(|error| fault(&error))?;
        }
        Ok(game)
    }

    /// Reads a game in official notation ([`gipf_core::notation`]); without rules they are guessed.
    ///
    /// # Errors
    /// Names the first move at fault; a text without moves is no game.
    pub fn from_official(text: &str, rules: Option<&Rules>) -> Result<PlayedGame, GameError> {
        let fault = |error: &dyn std::fmt::Display| GameError(error.to_string());
        let rules = match rules {
            Some(rules) => *rules,
            None => notation::guess_rules(text).parse().map_err(|error| fault(&error))?,
        };
        let read = notation::read_official(&rules, text).map_err(|error| fault(&error))?;
        if read.plays.is_empty() {
            return Err(GameError("no moves".to_owned()));
        }
        let mut game = PlayedGame::new(rules.start());
        for play in read.plays {
            game.play(play).map_err(|error| fault(&error))?;
        }
        Ok(game)
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        self.last().rules()
    }

    /// The position after the last play.
    pub fn last(&self) -> &Position {
        &self.positions[self.plays.len()]
    }

    /// Makes a play.
    ///
    /// # Errors
    /// It is not legal; nothing changes.
    pub fn play(&mut self, play: Play) -> Result<(), IllegalPlay> {
        let mut position = *self.last();
        position.try_play(play)?;
        self.plays.push(play);
        self.positions.push(position);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_form_are_read_and_bad_ones_named() {
        let game = PlayedGame::from_line(r#"{"rules":"standard","plays":["e1-e2","i4-h5"]}"#);
        assert_eq!(game.map(|game| game.plays.len()), Ok(2));
        let game = PlayedGame::from_line(r#"{"rules":"basic","seed":3,"plays":[{"p":"e1-e2"}]}"#);
        assert_eq!(game.map(|game| game.rules().to_string()), Ok("basic".to_owned()));
        for (line, words) in [
            ("[1", "no JSON object"),
            ("[1]", "no game line"),
            (r#"{"plays":[]}"#, "rules"),
            (r#"{"format":"gipf-record-9"}"#, "unknown format \"gipf-record-9\""),
            (r#"{"rules":"standrad","plays":[]}"#, "standrad"),
            (r#"{"rules":"standard","start":"x","plays":[]}"#, "position 'x'"),
            (r#"{"rules":"standard","plays":["e1-e2","e1"]}"#, "play 2 ('e1')"),
            (r#"{"rules":"standard","plays":["Ze1-e2"]}"#, "play 1 ('Ze1-e2')"),
        ] {
            let error = PlayedGame::from_line(line).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|text| text.contains(words)), "{line}: {error:?}");
        }
        let official = PlayedGame::from_official("1. e1-e2 / i4-h5\n", None);
        assert!(official.is_ok_and(|game| game.plays.len() == 2));
        let empty = PlayedGame::from_official("# nothing\n", None).map_err(|e| e.to_string());
        assert_eq!(empty.map(|game| game.plays), Err("no moves".to_owned()));
    }
}
