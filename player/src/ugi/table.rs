//! The game on the table: what options, `position` and `query` are about.

use std::fmt;
use std::str::FromStr;

use crate::file::PlayerFile;
use crate::messages::echo;
use crate::strength::Strength;
use gipf_core::{Color, DEFAULT_MAX_PLAYS, Play, Position, Rules};
use gipf_selfplay::Player;

/// The largest limit of plays.
const MOST_PLAYS: u32 = 100_000;

/// The most lines of a search that are told.
const MOST_LINES: usize = 200;
/// The most threads of a search: half of it has no more than two positions at a time.
const MOST_THREADS: usize = 16;

/// Rules, options and the position to play in.
pub(super) struct Table {
    rules: Rules,
    /// The rules before anybody has set others.
    default_rules: Rules,
    /// The player's file, for a trained player: it has options of its own, and rules that it knows.
    trained: Option<Box<PlayerFile>>,
    /// How strong a trained player plays.
    pub(super) strength: Strength,
    /// Lines of a trained player's search that are told, 1 to [`MOST_LINES`].
    pub(super) lines: usize,
    /// Threads of a trained player's search, 1 to [`MOST_THREADS`].
    threads: usize,
    /// The limit of plays, 1 to [`MOST_PLAYS`].
    pub(super) max_plays: u32,
    /// The seed of everything random; 0: by the clock.
    pub(super) seed: u64,
    /// Games since the seed was set.
    pub(super) game: u64,
    pub(super) position: Position,
    /// The plays that the position was told with.
    pub(super) plays: Vec<Play>,
}

impl Table {
    /// The start of a game.
    pub(super) fn new(rules: Rules, trained: Option<Box<PlayerFile>>) -> Table {
        Table {
            rules,
            default_rules: rules,
            trained,
            strength: Strength::FULL,
            lines: 1,
            threads: 1,
            max_plays: DEFAULT_MAX_PLAYS,
            seed: 0,
            game: 0,
            position: rules.start(),
            plays: Vec::new(),
        }
    }

    /// The options as `ugi` lists them.
    pub(super) fn options(&self) -> Vec<String> {
        let spin = |name: &str, default: u64, min: u64, max: u64| {
            format!("option name {name} type spin default {default} min {min} max {max}")
        };
        let mut options = vec![
            format!("option name Rules type string default {}", self.default_rules),
            spin("MaxPlays", DEFAULT_MAX_PLAYS.into(), 1, MOST_PLAYS.into()),
            spin("Seed", 0, 0, u64::MAX),
        ];
        if self.trained.is_some() {
            let [weakest, full] = [Strength::LEAST, Strength::FULL].map(|s| s.number().into());
            options.push(spin("Strength", full, weakest, full));
            options.push(spin("MultiPV", 1, 1, MOST_LINES as u64));
            options.push(spin("Threads", 1, 1, MOST_THREADS as u64));
        }
        options
    }

    /// Sets an option; letter case does not count, unknown names are ignored. New rules set up their start, a seed begins
    /// to count games anew.
    ///
    /// Another number of threads makes another player, which is returned.
    ///
    /// # Errors
    /// Says what is wrong with the value; the old one stays.
    pub(super) fn set_option(
        &mut self,
        name: &str,
        value: &str,
    ) -> Result<Option<Box<dyn Player>>, String> {
        match (name.to_ascii_lowercase().as_str(), &self.trained) {
            ("rules", trained) => {
                let rules: Rules =
                    value.parse().map_err(|error| format!("rules '{}': {error}", echo(value)))?;
                if let Some(file) = trained {
                    file.check_rules(&rules).map_err(|error| error.to_string())?;
                }
                self.rules = rules;
                self.position = rules.start();
                self.plays.clear();
            }
            ("maxplays", _) => self.max_plays = number("MaxPlays", value, 1, MOST_PLAYS)?,
            ("seed", _) => {
                self.seed = number("Seed", value, 0, u64::MAX)?;
                self.game = 0;
            }
            ("strength", Some(_)) => {
                let number =
                    number("Strength", value, Strength::LEAST.number(), Strength::FULL.number())?;
                self.strength = Strength::new(number).map_err(|error| error.to_string())?;
            }
            ("multipv", Some(_)) => self.lines = number("MultiPV", value, 1, MOST_LINES)?,
            ("threads", Some(file)) => {
                let threads = number("Threads", value, 1, MOST_THREADS)?;
                if threads != self.threads {
                    let failed = |error| format!("Threads {threads}: {error}");
                    let player = file.threaded(threads).map_err(failed)?;
                    self.threads = threads;
                    return Ok(Some(Box::new(player)));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// Sets up what the words after `position` say: `startpos [moves …]` or `fen TEXT [moves …]`.
    ///
    /// # Errors
    /// Says what is wrong; the position stays.
    pub(super) fn set_position(&mut self, words: &[&str]) -> Result<(), String> {
        let moves_at = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let (place, moves) = words.split_at(moves_at);
        let mut position = match place {
            ["startpos"] => self.rules.start(),
            ["fen", text @ ..] => Position::parse(&self.rules, &text.join(" "))
                .map_err(|error| format!("position: {error}"))?,
            _ => return Err("position: expected startpos or fen".to_owned()),
        };
        let mut plays = Vec::with_capacity(moves.len());
        for text in moves.iter().skip(1) {
            let play: Play =
                text.parse().map_err(|error| format!("play '{}': {error}", echo(text)))?;
            position.try_play(play).map_err(|error| format!("play '{}': {error}", echo(text)))?;
            plays.push(play);
        }
        (self.position, self.plays) = (position, plays);
        Ok(())
    }

    /// Plays left to the limit.
    pub(super) fn plays_left(&self) -> u32 {
        self.max_plays.saturating_sub(self.plays.len() as u32)
    }

    fn is_over(&self) -> bool {
        self.position.is_over() || self.plays_left() == 0
    }

    /// Who has to decide.
    ///
    /// # Errors
    /// Says why nobody has.
    pub(super) fn decider(&self) -> Result<Color, String> {
        match self.position.decider() {
            Some(color) if self.plays_left() > 0 => Ok(color),
            None if !self.is_over() => {
                Err("a side game's outcome is the controller's to draw".to_owned())
            }
            _ => Err("the game is over".to_owned()),
        }
    }

    /// The response to `query WHAT`; `None` for what is unknown.
    pub(super) fn response(&self, what: &str) -> Option<&'static str> {
        let truth = |is: bool| if is { "true" } else { "false" };
        Some(match what {
            "p1turn" => truth(self.position.decider() == Some(Color::White)),
            "gameover" => truth(self.is_over()),
            "result" => match self.position.winner() {
                Some(Color::White) => "p1win",
                Some(Color::Black) => "p2win",
                None if self.is_over() => "draw",
                None => "none",
            },
            _ => return None,
        })
    }
}

/// The number of an option.
///
/// # Errors
/// It is none, or out of its range.
fn number<N>(name: &str, value: &str, least: N, most: N) -> Result<N, String>
where
    N: FromStr + PartialOrd + fmt::Display,
{
    let found = value.parse().ok().filter(|number| (&least..=&most).contains(&number));
    found.ok_or_else(|| format!("{name} '{}' is no number from {least} to {most}", echo(value)))
}
