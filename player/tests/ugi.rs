//! The program as an engine: a controller talks to it line by line.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Engine, RULES, check_info};

use gipf_core::{Color, Play, Position, Rules};
use gipf_selfplay::{Budget, GameState, OutsideConfig, OutsidePlayer, Player, RandomKey};

fn standard() -> Position {
    "standard".parse::<Rules>().unwrap().start()
}

fn is_legal_start(line: &str) -> bool {
    let play: Play = line.strip_prefix("bestmove ").unwrap().parse().unwrap();
    standard().is_legal(play)
}

#[test]
fn every_form_of_go_is_answered() {
    for player in ["alphabeta", "mcts", "alphabeta:2", "mcts:50", "greedy", "random"] {
        let mut engine = Engine::start(player);
        for go in [
            "go nodes 300",
            "go depth 2",
            "go movetime 60",
            "go p1time 900 p2time 5",
            "go p1time 900 p2time 900 p1inc 20 p2inc 20",
            "go p1time 3",
            "go p1time -5 p2time -5",
            "go nodes 1",
            "go movetime 0",
            "go nodes 200 movetime 5000 depth 3",
        ] {
            let (lines, took) = engine.go(go);
            assert!(is_legal_start(lines.last().unwrap()), "{player}, {go}: {lines:?}");
            assert!(took < Duration::from_secs(4), "{player}, {go}: {took:?}");
            for line in &lines[..lines.len() - 1] {
                check_info(line, &standard());
            }
        }
        assert!(engine.end(true).is_empty());
    }
}

#[test]
fn a_search_by_time_tells_what_it_thinks_and_keeps_to_its_time() {
    for player in ["alphabeta", "mcts"] {
        let mut engine = Engine::start(player);
        let (lines, took) = engine.go("go movetime 400");
        assert!(lines.len() >= 3, "{player}: {lines:?}");
        lines[..lines.len() - 1].iter().for_each(|line| check_info(line, &standard()));
        assert!(took >= Duration::from_millis(350), "{player} answers after {took:?}");
        // A lone second of grace for a machine with other work.
        assert!(took < Duration::from_millis(1_400), "{player} answers after {took:?}");
    }
}

#[test]
fn it_is_stopped_and_asked_while_it_thinks() {
    for player in ["alphabeta", "mcts"] {
        let mut engine = Engine::start(player);
        engine.say("go infinite");
        engine.until("info depth");
        engine.say("isready");
        engine.say("query p1turn");
        let lines = engine.until("response true");
        assert!(lines.contains(&"readyok".to_owned()), "{player}: {lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{player}: {lines:?}");
        let asked = Instant::now();
        engine.say("stop");
        let last = engine.until("bestmove ").pop().unwrap();
        assert!(is_legal_start(&last));
        assert!(asked.elapsed() < Duration::from_secs(1), "{player}: {:?}", asked.elapsed());
        for quit in [true, false] {
            let mut other = Engine::start(player);
            other.say("go infinite");
            other.until("info depth");
            let asked = Instant::now();
            let lines = other.end(quit);
            assert!(lines.iter().any(|line| line.starts_with("bestmove ")), "{player}: {lines:?}");
            assert!(asked.elapsed() < Duration::from_secs(2), "{player}: {:?}", asked.elapsed());
        }
    }
}

#[test]
fn no_line_ends_or_silences_it() {
    let mut engine = Engine::start("alphabeta:1");
    let huge = "x".repeat(3 << 20);
    let plays = "position startpos moves".to_owned() + &" e1-e2".repeat(200_000);
    let garbage = [
        "",
        " ",
        "\0",
        "go nodes",
        "go nodes -1",
        "go nodes 1.5",
        "go depth 0",
        "go movetime soon",
        "go nodes 99999999999999999999999",
        "position",
        "position fen",
        "position fen x y z",
        "position startpos moves e1",
        "position startpos moves e1-e2 e1-e2-e3",
        "setoption",
        "setoption name",
        "setoption name Nothing value 1",
        "setoption name Seed value -1",
        "setoption name MaxPlays value 0",
        "setoption name Rules value standard:99",
        "query",
        "query everything",
        "bestmove e1-e2",
        "ugiok",
        "\u{1b}[2J",
        "стоп",
        "stop",
        "go searchmoves",
        "setoption name Hash value 16",
        "setoption name MultiPV value 3",
    ];
    for line in garbage.into_iter().chain([huge.as_str(), plays.as_str()]) {
        engine.say(line);
    }
    engine.input.as_mut().unwrap().write_all(b"\xff\xfe\x80\n").unwrap();
    engine.say("isready");
    let lines = engine.until("readyok");
    let dropped = lines.iter().filter(|line| line.contains("1048576 bytes is dropped")).count();
    assert_eq!(dropped, 2, "{lines:?}");
    assert!(
        lines[..lines.len() - 1]
            .iter()
            .all(|line| line.starts_with("info ") || line.starts_with("bestmove ")),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| line.chars().count() < 700), "{lines:?}");
    let (lines, _) = engine.go("go nodes 10");
    assert!(is_legal_start(lines.last().unwrap()));
    assert!(engine.end(false).is_empty());
}

#[test]
fn the_same_seed_and_nodes_give_the_same_game() {
    let game = |seed: u32| {
        let mut engine = Engine::start("mcts");
        engine.say("setoption name Rules value tournament+Z6");
        engine.say(&format!("setoption name Seed value {seed}"));
        engine.say("uginewgame");
        let mut plays = String::new();
        for _ in 0..12 {
            engine.say(&format!("position startpos moves{plays}"));
            let (lines, _) = engine.go("go nodes 40");
            plays += &format!(" {}", lines.last().unwrap().strip_prefix("bestmove ").unwrap());
        }
        plays
    };
    assert_eq!(game(5), game(5));
    assert_ne!(game(5), game(6));
}

/// A whole game of two engines: who won, or `None` where it reached the limit.
fn play(players: &mut [OutsidePlayer; 2], rules: &Rules, max_plays: u32) -> Option<Color> {
    let mut position: Position = rules.start();
    let mut plays = Vec::new();
    let key = RandomKey { seed: 3, game: 1 };
    let mut outcomes = Vec::new();
    while !position.is_over() && plays.len() < max_plays as usize {
        position.outcomes(&mut outcomes);
        let play = match (position.decider(), outcomes.first()) {
            (Some(color), _) => {
                let game = GameState { position: &position, plays: &plays, max_plays, key };
                players[color.index()].choose(&game, &Budget::nodes(60)).unwrap().play
            }
            // Any outcome does: the controller draws it.
            (None, Some(&(play, _))) => play,
            (None, None) => panic!("nobody decides in {position}"),
        };
        position.try_play(play).unwrap();
        plays.push(play);
    }
    position.winner()
}

#[test]
fn engines_play_whole_games_by_many_rules() {
    let mut finished = 0;
    for text in RULES {
        let rules: Rules = text.parse().unwrap();
        let program = env!("CARGO_BIN_EXE_gipf-player");
        let start = |player: &str| {
            let command = format!("'{program}' ugi --player {player}");
            OutsidePlayer::start(&command, OutsideConfig::new(rules)).unwrap()
        };
        let mut players = [start("alphabeta:1"), start("greedy")];
        assert!(players[0].name().contains("alphabeta:1"), "{}", players[0].name());
        finished += u32::from(play(&mut players, &rules, 300).is_some());
    }
    assert!(finished >= 6, "{finished} of 8 games were finished");
}
