//! The Universal Game Interface: lines in, lines out, nothing but protocol on the output.
//!
//! One *move* of the protocol is one play of the rules (section 10), so a turn is often several moves of one side.

use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::messages::{echo, one_line};
use gipf_core::{Color, DEFAULT_MAX_PLAYS, Play, Position, Rules};
use gipf_selfplay::{Budget, GameState, Player, RandomKey};

/// Simulations where `go` names no number of nodes.
const SIMULATIONS: u32 = 200;

/// An engine around one player.
pub struct Engine<W> {
    player: Box<dyn Player>,
    out: W,
    rules: Rules,
    max_plays: u32,
    seed: u64,
    game: u64,
    position: Position,
    plays: Vec<Play>,
    /// The answer of a `go infinite`, held back until `stop`.
    held: Option<Play>,
}

impl<W: Write> Engine<W> {
    /// An engine at the start of a standard game.
    pub fn new(player: Box<dyn Player>, rules: Rules, out: W) -> Self {
        let position = rules.start();
        Engine {
            player,
            out,
            rules,
            max_plays: DEFAULT_MAX_PLAYS,
            seed: 0,
            game: 0,
            position,
            plays: Vec::new(),
            held: None,
        }
    }

    /// Answers lines until `quit` or the end of the input.
    ///
    /// # Errors
    /// The input cannot be read or the output not be written.
    pub fn run(&mut self, mut input: impl BufRead) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            // A line that is no UTF-8 is an unknown line like others.
            let end = input.read_until(b'\n', &mut bytes)? == 0;
            if end || !self.line(&String::from_utf8_lossy(&bytes))? {
                return Ok(());
            }
        }
    }

    /// Answers one line; `false` after `quit`. Unknown lines are ignored.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn line(&mut self, line: &str) -> io::Result<bool> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["ugi"] => self.introduce()?,
            ["isready"] => writeln!(self.out, "readyok")?,
            ["setoption", "name", name, "value", value @ ..] => {
                self.set_option(name, &value.join(" "))?;
            }
            ["setoption", "name", name] => self.set_option(name, "")?,
            ["uginewgame"] => {
                self.game += 1;
                self.player.new_game();
            }
            ["position", rest @ ..] => self.set_position(rest)?,
            ["go", rest @ ..] => self.go(rest)?,
            ["stop"] => {
                if let Some(play) = self.held.take() {
                    writeln!(self.out, "bestmove {play}")?;
                }
            }
            ["query", what] => self.query(what)?,
            ["quit"] => return Ok(false),
            _ => {}
        }
        self.out.flush()?;
        Ok(true)
    }

    fn introduce(&mut self) -> io::Result<()> {
        writeln!(
            self.out,
            "id name gipf-player {} ({})",
            env!("CARGO_PKG_VERSION"),
            self.player.name()
        )?;
        writeln!(self.out, "id author the authors of gipf-player")?;
        writeln!(self.out, "option name Rules type string default standard")?;
        writeln!(
            self.out,
            "option name MaxPlays type spin default {DEFAULT_MAX_PLAYS} min 1 max 100000"
        )?;
        writeln!(self.out, "option name Seed type spin default 0 min 0 max {}", u64::MAX)?;
        writeln!(self.out, "ugiok")
    }

    fn error(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "info string error {}", one_line(text))
    }

    fn set_option(&mut self, name: &str, value: &str) -> io::Result<()> {
        match name.to_ascii_lowercase().as_str() {
            "rules" => match value.parse::<Rules>() {
                Ok(rules) => {
                    self.rules = rules;
                    self.position = rules.start();
                    self.plays.clear();
                }
                Err(error) => self.error(&format!("rules '{}': {error}", echo(value)))?,
            },
            "maxplays" => match value.parse() {
                Ok(plays @ 1..=100_000) => self.max_plays = plays,
                _ => self
                    .error(&format!("MaxPlays '{}' is no number from 1 to 100000", echo(value)))?,
            },
            "seed" => match value.parse() {
                Ok(seed) => self.seed = seed,
                Err(_) => self.error(&format!(
                    "Seed '{}' is no number from 0 to {}",
                    echo(value),
                    u64::MAX
                ))?,
            },
            _ => {}
        }
        Ok(())
    }

    /// `startpos [moves …]` or `fen TEXT [moves …]`; the position stays where anything is wrong.
    fn set_position(&mut self, words: &[&str]) -> io::Result<()> {
        let moves_at = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let (place, moves) = words.split_at(moves_at);
        let start = match place {
            ["startpos"] => Ok(self.rules.start()),
            ["fen", text @ ..] => Position::parse(&self.rules, &text.join(" "))
                .map_err(|error| format!("position: {error}")),
            _ => Err("position: expected startpos or fen".to_owned()),
        };
        let result = start.and_then(|mut position| {
            let mut plays = Vec::new();
            for text in moves.iter().skip(1) {
                let play: Play =
                    text.parse().map_err(|error| format!("play '{}': {error}", echo(text)))?;
                position
                    .try_play(play)
                    .map_err(|error| format!("play '{}': {error}", echo(text)))?;
                plays.push(play);
            }
            Ok((position, plays))
        });
        match result {
            Ok((position, plays)) => {
                self.position = position;
                self.plays = plays;
                Ok(())
            }
            Err(text) => self.error(&text),
        }
    }

    fn go(&mut self, words: &[&str]) -> io::Result<()> {
        if self.is_over() {
            return self.error("the game is over");
        }
        if self.position.decider().is_none() {
            return self.error("a side game's outcome is the controller's to draw");
        }
        let simulations = words
            .iter()
            .position(|&word| word == "nodes")
            .and_then(|at| words.get(at + 1)?.parse().ok())
            .unwrap_or(SIMULATIONS);
        let seed = if self.seed == 0 { clock_seed() } else { self.seed };
        let state = GameState {
            position: &self.position,
            plays: &self.plays,
            max_plays: self.max_plays,
            key: RandomKey { seed, game: self.game },
        };
        match self.player.choose(&state, &Budget::nodes(simulations)) {
            Ok(choice) if words.contains(&"infinite") => self.held = Some(choice.play),
            Ok(choice) => writeln!(self.out, "bestmove {}", choice.play)?,
            Err(error) => self.error(&error.to_string())?,
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.position.is_over() || self.plays.len() >= self.max_plays as usize
    }

    fn query(&mut self, what: &str) -> io::Result<()> {
        let answer = match what {
            "p1turn" => (self.position.decider() == Some(Color::White)).to_string(),
            "gameover" => self.is_over().to_string(),
            "result" => match self.position.winner() {
                Some(Color::White) => "p1win",
                Some(Color::Black) => "p2win",
                None if self.is_over() => "draw",
                None => "none",
            }
            .to_owned(),
            _ => return Ok(()),
        };
        writeln!(self.out, "response {answer}")
    }
}

fn clock_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_selfplay::BuiltIn;

    fn talk(lines: &[&str]) -> Vec<String> {
        let rules: Rules = "standard".parse().expect("standard rules");
        let player = "greedy".parse::<BuiltIn>().expect("a built-in player").player();
        let mut out = Vec::new();
        Engine::new(player, rules, &mut out)
            .run(lines.join("\n").as_bytes())
            .expect("a game in memory");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn introduces_itself_and_ignores_what_it_does_not_know() {
        let answer = talk(&["ugi", "sing", "isready", "quit", "isready"]);
        assert!(answer[0].starts_with("id name gipf-player"));
        assert_eq!(answer[answer.len() - 2..], ["ugiok", "readyok"]);
    }

    #[test]
    fn a_wrong_play_leaves_the_position() {
        let answer = talk(&[
            "position startpos moves e1-e2",
            "position startpos moves e1-e3",
            "query p1turn",
        ]);
        assert!(answer[0].starts_with("info string error play 'e1-e3'"), "{answer:?}");
        assert_eq!(answer[1], "response false", "Black is to play after e1-e2");
    }

    #[test]
    fn plays_legal_plays_and_holds_them_until_stop() {
        let answer = talk(&[
            "position startpos",
            "go nodes 10",
            "go infinite",
            "isready",
            "stop",
            "query result",
        ]);
        assert!(answer[0].starts_with("bestmove "));
        assert_eq!(answer[1], "readyok");
        assert!(answer[2].starts_with("bestmove "));
        assert_eq!(answer[3], "response none");
    }

    #[test]
    fn the_limit_makes_a_draw() {
        let answer = talk(&[
            "setoption name MaxPlays value 1",
            "position startpos moves e1-e2",
            "query gameover",
            "query result",
            "go",
        ]);
        assert_eq!(answer[..2], ["response true", "response draw"]);
        assert!(answer[2].starts_with("info string error"));
    }

    #[test]
    fn bad_rules_leave_the_old_ones() {
        let answer = talk(&[
            "setoption name Rules value nonsense",
            "position startpos moves e1-e2",
            "query gameover",
        ]);
        assert!(answer[0].starts_with("info string error rules 'nonsense'"));
        assert_eq!(answer[1], "response false");
        let answer = talk(&["setoption name Rules value", "setoption name Other value", "isready"]);
        assert!(answer[0].starts_with("info string error rules ''"), "{answer:?}");
        assert_eq!(answer[1..], ["readyok"], "unknown options are ignored");
    }

    #[test]
    fn a_line_that_is_no_utf_8_is_ignored() {
        let rules: Rules = "standard".parse().expect("standard rules");
        let player = "greedy".parse::<BuiltIn>().expect("a built-in player").player();
        let mut out = Vec::new();
        Engine::new(player, rules, &mut out).run(&b"\xff\xfe\nisready\n"[..]).expect("a talk");
        assert_eq!(out, b"readyok\n");
    }
}
