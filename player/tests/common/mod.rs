//! A running engine that a test talks to, and what its lines must be.
#![allow(dead_code, reason = "each test program uses its own part")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use gipf_core::Position;

/// How long an answer may take on a machine with other work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Rules strings with every part that a game can have.
pub(crate) const RULES: [&str; 8] = [
    "basic",
    "standard",
    "tournament",
    "standard+T4Z4D4",
    "tournament+Z6|D6",
    "tournament+Y4P4;punct=convert",
    "ultimate",
    "standard+Z6;challenge=coin;limit=2",
];

/// A running engine.
pub(crate) struct Engine {
    child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    pub(crate) fn start(player: &str) -> Engine {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gipf-player"))
            .args(["ugi", "--player", player])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Engine { input: child.stdin.take(), child, lines }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// The lines up to one that begins so, which is the last of them.
    pub(crate) fn until(&mut self, start: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            lines.push(self.line());
            if lines.last().unwrap().starts_with(start) {
                return lines;
            }
        }
    }

    /// The answer to a `go`, and the time it took.
    pub(crate) fn go(&mut self, line: &str) -> (Vec<String>, Duration) {
        let asked = Instant::now();
        self.say(line);
        (self.until("bestmove "), asked.elapsed())
    }

    /// Says `quit`, or closes the input, and waits for a clean end.
    pub(crate) fn end(mut self, quit: bool) -> Vec<String> {
        if quit {
            self.say("quit");
        }
        let input = self.input.take();
        if !quit {
            drop(input);
        }
        let mut lines = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            lines.push(line);
        }
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

/// An `info` line of a search in this position has its fields in the protocol's order, each well-formed, and its plays are legal.
pub(crate) fn check_info(line: &str, position: &Position) {
    let words: Vec<&str> = line.split(' ').collect();
    let place = |word: &str| words.iter().position(|&other| other == word);
    let places: Vec<usize> = ["depth", "multipv", "nodes", "nps", "time", "score", "pv"]
        .into_iter()
        .filter_map(place)
        .collect();
    assert!(words[0] == "info" && places[0] == 1 && places.is_sorted(), "{line}");
    for name in ["depth", "nodes", "time"] {
        words[place(name).unwrap() + 1].parse::<u64>().unwrap();
    }
    // A search that was over before it began has no score.
    match place("score").map(|at| &words[at + 1..]) {
        None => {}
        Some(["cp", value, ..]) => assert!(value.parse::<i32>().unwrap().abs() <= 30_000, "{line}"),
        Some(["wdl", shares @ ..]) => {
            let sum: u32 = shares[..3].iter().map(|word| word.parse::<u32>().unwrap()).sum();
            assert_eq!(sum, 1000, "{line}");
        }
        Some(other) => panic!("score {other:?}"),
    }
    let plays = &words[place("pv").unwrap() + 1..];
    assert!(!plays.is_empty());
    let mut position = *position;
    for play in plays {
        position.try_play(play.parse().unwrap()).unwrap();
    }
}
