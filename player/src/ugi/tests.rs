//! The engine's talk in memory. The program itself is tested in `tests/ugi.rs`.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use gipf_selfplay::{Budget, BuiltIn, GameState};

/// Output that can be looked at afterwards.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic while writing").clone()).expect("text")
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic while writing").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Lines that are each said once the output holds the words beside them.
struct Controller {
    script: Vec<(&'static str, &'static str)>,
    paper: Paper,
}

impl Read for Controller {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.script.is_empty() {
            return Ok(0);
        }
        let (wait_for, line) = self.script.remove(0);
        for _ in 0..2_000 {
            if self.paper.text().contains(wait_for) {
                let bytes = [line.as_bytes(), b"\n"].concat();
                buffer[..bytes.len()].copy_from_slice(&bytes);
                return Ok(bytes.len());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(io::Error::other(format!("no '{wait_for}' in: {}", self.paper.text())))
    }
}

/// Thinks until its clock is over, a thought after each millisecond, then plays its first action.
struct Slow;

impl Player for Slow {
    fn name(&self) -> String {
        "slow".to_owned()
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        let mut actions = Vec::new();
        game.position.actions(&mut actions);
        let mut thought = Thought { line: vec![actions[0]], ..Thought::default() };
        while !budget.is_over() {
            thought.nodes += 1;
            thought.depth = 1;
            budget.listener.iter().for_each(|listener| listener(&thought));
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Choice { play: actions[0], search: None, thought: Some(thought) })
    }
}

fn rules() -> Rules {
    "standard".parse().expect("standard rules")
}

fn talk(lines: &[&str]) -> Vec<String> {
    let player = "greedy".parse::<BuiltIn>().expect("a built-in player").player();
    let mut out = Vec::new();
    let input = io::Cursor::new(lines.join("\n").into_bytes());
    Engine::new(player, rules(), &mut out)
        .and_then(|mut engine| engine.run(input))
        .expect("a talk in memory");
    String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
}

fn talk_while_thinking(script: &[(&'static str, &'static str)]) -> Vec<String> {
    let paper = Paper::default();
    let controller = Controller { script: script.to_vec(), paper: paper.clone() };
    Engine::new(Box::new(Slow), rules(), paper.clone())
        .and_then(|mut engine| engine.run(BufReader::new(controller)))
        .expect("a talk in memory");
    paper.text().lines().filter(|line| !line.starts_with("info depth")).map(str::to_owned).collect()
}

#[test]
fn introduces_itself_and_ignores_what_it_does_not_know() {
    let answer = talk(&["ugi", "sing", "isready", "quit", "isready"]);
    assert!(answer[0].starts_with("id name gipf-player"));
    assert_eq!(answer[answer.len() - 2..], ["ugiok", "readyok"]);
}

#[test]
fn a_wrong_play_leaves_the_position() {
    let answer =
        talk(&["position startpos moves e1-e2", "position startpos moves e1-e3", "query p1turn"]);
    assert!(answer[0].starts_with("info string error play 'e1-e3'"), "{answer:?}");
    assert_eq!(answer[1], "response false", "Black is to play after e1-e2");
}

#[test]
fn every_go_has_one_answer_in_order() {
    let answer = talk(&["go nodes 10", "go infinite", "go nodes x", "go", "quit"]);
    assert_eq!(answer.len(), 4, "{answer:?}");
    assert_eq!(answer[2], "info string error go: nodes 'x' is no whole number of 1 or more");
    assert!([0, 1, 3].iter().all(|&at| answer[at].starts_with("bestmove ")), "{answer:?}");
}

#[test]
fn lines_are_answered_while_it_thinks() {
    let answer = talk_while_thinking(&[
        ("", "go infinite"),
        ("pv ", "isready"),
        ("readyok", "query p1turn"),
        ("response true", "stop"),
        ("bestmove ", "query result"),
        ("response none", "stop"),
        ("", "isready"),
    ]);
    assert_eq!(answer[..2], ["readyok", "response true"]);
    assert!(answer[2].starts_with("bestmove "), "{answer:?}");
    assert_eq!(answer[3..], ["response none", "readyok"]);
}

#[test]
fn what_changes_the_game_ends_the_search_first() {
    for line in ["position startpos moves e1-e2", "setoption name Seed value 3", "uginewgame"] {
        let answer =
            talk_while_thinking(&[("", "go nodes 7"), ("pv ", line), ("bestmove ", "isready")]);
        assert!(answer[0].starts_with("bestmove "), "{line}: {answer:?}");
        assert_eq!(answer[1..], ["readyok"], "{line}");
    }
    let answer =
        talk_while_thinking(&[("", "go infinite"), ("pv ", "go movetime 20"), ("bestmove ", "")]);
    assert_eq!(answer.len(), 2, "{answer:?}");
    for last in ["quit", ""] {
        let answer = talk_while_thinking(&[("", "go infinite"), ("pv ", last)]);
        assert!(answer[0].starts_with("bestmove ") && answer.len() == 1, "{answer:?}");
    }
}

#[test]
fn an_answer_found_early_is_held_until_stop() {
    let answer = talk(&["go infinite", "isready", "query p1turn", "stop", "stop", "isready"]);
    assert_eq!(answer[..2], ["readyok", "response true"]);
    // What is said after `stop` may be answered before the player has ended.
    let count = |word: &str| answer.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!([count("bestmove "), count("readyok"), answer.len()], [1, 2, 4], "{answer:?}");
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
    assert_eq!(answer[2..], ["info string error the game is over"]);
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
fn a_side_games_outcome_is_not_the_engines() {
    let answer = talk(&[
        "setoption name Rules value standard+Z6;challenge=coin",
        "position startpos moves Ze1-e2 i4-h5 Ze2:e4",
        "query p1turn",
        "position startpos moves Ze1-e2 i4-h5 Ze2:e4 ?",
        "query gameover",
        "go",
    ]);
    let due = "info string error a side game's outcome is the controller's to draw";
    assert_eq!(answer, ["response false", "response false", due]);
}

#[test]
fn a_line_that_is_no_utf_8_is_ignored() {
    let mut out = Vec::new();
    let input = io::Cursor::new(b"\xff\xfe\nisready\n".to_vec());
    Engine::new(Box::new(Slow), rules(), &mut out)
        .and_then(|mut engine| engine.run(input))
        .expect("a talk");
    assert_eq!(out, b"readyok\n");
}
