//! The Universal Game Interface: lines in, lines out, nothing but protocol on the output.
//!
//! One *move* of the protocol is one play of the rules (section 10), so a turn is often several moves of one side.
//!
//! The player thinks on a thread of its own, and the input is read on another one, so `stop`, `isready`, `query` and `quit`
//! are answered while it thinks. What would change the game meanwhile (`position`, `setoption`, `uginewgame`, another `go`)
//! ends the search first, as `stop` does, and so do `quit` and the end of the input: each `go` has exactly one answer, a
//! `bestmove` or an `info string error`, in the order in which they came.

mod info;
mod limits;
mod lines;
mod table;
mod thinker;

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender, select};

use crate::file::PlayerFile;
use crate::messages::one_line;
use gipf_core::{Play, Rules};
use gipf_selfplay::{Choice, Player, PlayerError, RandomKey, Thought};

use limits::Limits;
use lines::{Heard, LONGEST_LINE};
use table::Table;
use thinker::{Question, Task, Word};

/// An engine around one player.
pub struct Engine<W> {
    name: String,
    out: W,
    table: Table,
    tasks: Sender<Task>,
    words: Receiver<Word>,
    search: Option<Running>,
}

/// A `go` that has not been answered.
struct Running {
    /// Ends the search once it is set.
    stop: Arc<AtomicBool>,
    /// The answer waits for `stop`.
    infinite: bool,
    /// The last thought that was printed.
    printed: Option<Thought>,
    /// The answer to a `go infinite` that was found before its `stop`.
    held: Option<Play>,
}

impl<W: Write> Engine<W> {
    /// An engine at the start of a game by these rules, its player on a thread of its own.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn new(player: Box<dyn Player>, rules: Rules, out: W) -> io::Result<Self> {
        Self::start(player, Table::new(rules, None), out)
    }

    /// The engine of a trained player, which has more options and refuses rules that the player does not know.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn trained(file: Box<PlayerFile>, rules: Rules, out: W) -> io::Result<Self> {
        Self::start(Box::new(file.player()), Table::new(rules, Some(file)), out)
    }

    fn start(player: Box<dyn Player>, table: Table, out: W) -> io::Result<Self> {
        let name = player.name();
        let (tasks, words) = thinker::start(player)?;
        Ok(Engine { name, out, table, tasks, words, search: None })
    }

    /// Answers lines until `quit` or the end of the input. Lines of more than 1 MiB are dropped with an error line.
    ///
    /// # Errors
    /// The input cannot be read or the output not be written, or the player's thread has ended by a fault of its own.
    pub fn run(&mut self, input: impl BufRead + Send + 'static) -> io::Result<()> {
        let input = lines::listen(input)?;
        let words = self.words.clone();
        loop {
            select! {
                recv(input) -> heard => match heard {
                    Ok(Heard::Line(line)) => if !self.line(&line)? { break },
                    Ok(Heard::TooLong) => {
                        self.error(&format!("a line of more than {LONGEST_LINE} bytes is dropped"))?;
                    }
                    Ok(Heard::Failed(error)) => return Err(error),
                    Err(_) => break,
                },
                recv(words) -> word => self.hear(word.map_err(|_| player_ended())?)?,
            }
            self.out.flush()?;
        }
        self.end_search()?;
        self.out.flush()
    }

    /// Answers one line; `false` after `quit`. Unknown lines are ignored.
    fn line(&mut self, line: &str) -> io::Result<bool> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["ugi"] => self.introduce()?,
            ["isready"] => writeln!(self.out, "readyok")?,
            ["setoption", "name", name, "value", value @ ..] => {
                self.set_option(name, &value.join(" "))?;
            }
            ["setoption", "name", name] => self.set_option(name, "")?,
            ["uginewgame"] => {
                self.end_search()?;
                self.table.game += 1;
                self.task(Task::NewGame)?;
            }
            ["position", rest @ ..] => {
                self.end_search()?;
                let set = self.table.set_position(rest);
                self.told(set)?;
            }
            ["go", rest @ ..] => self.go(rest)?,
            ["stop"] => self.stop()?,
            ["query", what] => {
                if let Some(response) = self.table.response(what) {
                    writeln!(self.out, "response {response}")?;
                }
            }
            ["quit"] => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn introduce(&mut self) -> io::Result<()> {
        writeln!(self.out, "id name gipf-player {} ({})", env!("CARGO_PKG_VERSION"), self.name)?;
        writeln!(self.out, "id author the authors of gipf-player")?;
        for option in self.table.options() {
            writeln!(self.out, "{option}")?;
        }
        writeln!(self.out, "ugiok")
    }

    fn error(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "info string error {}", one_line(text))
    }

    /// Prints what went wrong, if anything did.
    fn told(&mut self, result: Result<(), String>) -> io::Result<()> {
        result.or_else(|text| self.error(&text))
    }

    fn set_option(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.end_search()?;
        match self.table.set_option(name, value) {
            Ok(Some(player)) => self.task(Task::Player(player)),
            set => self.told(set.map(|_| ())),
        }
    }

    fn task(&mut self, task: Task) -> io::Result<()> {
        self.tasks.send(task).map_err(|_| player_ended())
    }

    fn go(&mut self, words: &[&str]) -> io::Result<()> {
        let asked = Instant::now();
        self.end_search()?;
        let table = &self.table;
        let limits = Limits::parse(words).and_then(|limits| Ok((limits, table.decider()?)));
        let (limits, side) = match limits {
            Ok(found) => found,
            Err(text) => return self.error(&text),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let seed = if table.seed == 0 { clock_seed() } else { table.seed };
        let question = Question {
            position: table.position,
            plays: table.plays.clone(),
            max_plays: table.max_plays,
            key: RandomKey { seed, game: table.game },
            nodes: limits.nodes,
            depth: limits.depth,
            strength: table.strength,
            lines: table.lines,
            time: limits.time(side, table.plays_left()),
            asked,
            stop: Arc::clone(&stop),
        };
        self.search = Some(Running { stop, infinite: limits.infinite, printed: None, held: None });
        self.task(Task::Think(Box::new(question)))
    }

    /// Ends the search; its answer comes as soon as the player has it.
    fn stop(&mut self) -> io::Result<()> {
        let Some(search) = &mut self.search else { return Ok(()) };
        search.infinite = false;
        search.stop.store(true, Ordering::Relaxed);
        match search.held {
            Some(play) => {
                self.search = None;
                writeln!(self.out, "bestmove {play}")
            }
            None => Ok(()),
        }
    }

    /// Ends the search and waits for its answer.
    fn end_search(&mut self) -> io::Result<()> {
        self.stop()?;
        while self.search.is_some() {
            let word = self.words.recv().map_err(|_| player_ended())?;
            self.hear(word)?;
        }
        Ok(())
    }

    /// Prints what the player says.
    fn hear(&mut self, word: Word) -> io::Result<()> {
        // Every word belongs to the one question that is open.
        let Some(search) = &mut self.search else { return Ok(()) };
        let (thought, elapsed, choice) = match word {
            Word::Thought(thought, elapsed) => (Some(thought), elapsed, None),
            Word::Choice(choice, elapsed) => {
                let thought = choice.as_ref().ok().and_then(|choice| choice.thought.clone());
                (thought, elapsed, Some(choice))
            }
        };
        // A search that was over before it began has no line and says nothing; the last thought is often told twice.
        let is_news = |thought: &Thought| {
            !thought.line.is_empty() && Some(thought) != search.printed.as_ref()
        };
        if let Some(thought) = thought.filter(is_news) {
            for line in info::lines(&thought, elapsed) {
                writeln!(self.out, "{line}")?;
            }
            search.printed = Some(thought);
        }
        choice.map_or(Ok(()), |choice| self.answer(choice))
    }

    fn answer(&mut self, choice: Result<Choice, PlayerError>) -> io::Result<()> {
        match (choice, &mut self.search) {
            (Ok(choice), Some(search)) if search.infinite => {
                search.held = Some(choice.play);
                Ok(())
            }
            (Ok(choice), _) => {
                self.search = None;
                writeln!(self.out, "bestmove {}", choice.play)
            }
            (Err(error), _) => {
                self.search = None;
                self.error(&error.to_string())
            }
        }
    }
}

/// The player's thread is gone, which only a fault in the player brings about.
fn player_ended() -> io::Error {
    io::Error::other("the player broke down")
}

fn clock_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests;
