//! Whole games of two engines, every line of theirs checked, by eight rules strings; `GIPF_SOAK_UGI=20` plays so many by each.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::path::Path;

use common::{Engine, RULES, check_info};
use gipf_core::{Color, Play, Position, Rules};
use gipf_model::{Architecture, Checkpoint};

/// Plays after which a game is unfinished.
const MAX_PLAYS: usize = 160;

/// Lines that are none of the protocol's, or wrong: each is answered by one line of an error, or by none.
const GARBAGE: [(&str, bool); 9] = [
    ("", false),
    ("sing", false),
    ("\0\u{1b}[31m", false),
    ("setoption name Nothing value 3", false),
    ("setoption name Strength value 11", true),
    ("setoption name MultiPV value many", true),
    ("position startpos moves e1-e9", true),
    ("position fen nothing", true),
    ("go nodes none", true),
];

/// An untrained network that says it knows any rules.
fn network(folder: &Path) -> String {
    let path = folder.join("any.safetensors");
    let checkpoint = Checkpoint::initial(Architecture::new(1, 8), Vec::new(), "a test", 5).unwrap();
    checkpoint.save(&path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// An engine with its own options for this game.
fn begin(engine: &mut Engine, rules: &Rules, seed: usize, trained: bool) {
    engine.say("uginewgame");
    engine.say(&format!("setoption name Rules value {rules}"));
    engine.say(&format!("setoption name MaxPlays value {MAX_PLAYS}"));
    engine.say(&format!("setoption name Seed value {}", seed + 1));
    if trained {
        engine.say(&format!("setoption name Strength value {}", 1 + seed % 10));
        engine.say(&format!("setoption name MultiPV value {}", 1 + seed % 3));
        engine.say(&format!("setoption name Threads value {}", 1 + seed % 2));
    }
    engine.say("isready");
    assert_eq!(engine.line(), "readyok");
}

/// Asks an engine about the position behind these plays, and for its play.
fn choose(
    engine: &mut Engine,
    position: &Position,
    plays: &str,
    turn: usize,
    lines: usize,
) -> Play {
    let (garbage, is_error) = GARBAGE[turn % GARBAGE.len()];
    engine.say(garbage);
    if is_error {
        let answer = engine.line();
        assert!(answer.starts_with("info string error "), "{garbage:?}: {answer:?}");
    }
    engine.say(&format!("position startpos moves{plays}"));
    engine.say("query p1turn");
    engine.say("query gameover");
    engine.say("query result");
    let white = position.decider() == Some(Color::White);
    assert_eq!(engine.line(), format!("response {white}"));
    assert_eq!(engine.line(), "response false");
    assert_eq!(engine.line(), "response none");
    let answer = if turn % 7 == 3 {
        // A search that is stopped before it has begun, and one in the middle.
        engine.say("go infinite");
        engine.say("stop");
        engine.until("bestmove ")
    } else {
        engine.go(["go nodes 12", "go movetime 3", "go p1time 90 p2time 90"][turn % 3]).0
    };
    let (best, infos) = answer.split_last().unwrap();
    infos.iter().for_each(|line| check_info(line, position));
    let of_place = |place: &str| infos.iter().filter(|line| line.contains(place)).count();
    assert!(lines < 2 || of_place(" multipv 2 ") <= of_place(" multipv 1 "), "{infos:?}");
    let play: Play = best.strip_prefix("bestmove ").unwrap().parse().unwrap();
    assert!(position.is_legal(play), "{play} in {position}");
    play
}

/// A whole game; whether it was finished.
fn play(engines: &mut [Engine; 2], rules: &Rules, seed: usize) -> bool {
    begin(&mut engines[0], rules, seed, true);
    begin(&mut engines[1], rules, seed, false);
    let (mut position, mut plays, mut outcomes) = (rules.start(), String::new(), Vec::new());
    let mut count = 0;
    while !position.is_over() && count < MAX_PLAYS {
        position.outcomes(&mut outcomes);
        let play = match position.decider() {
            Some(color) => {
                // Every other game with the colours swapped.
                let at = (color.index() + seed) % 2;
                // A player without the trained ones' options ignores them: no error answers those lines.
                let turn = if at == 0 { count + seed } else { [0, 1, 2, 3, 6, 7, 8][count % 7] };
                choose(&mut engines[at], &position, &plays, turn, 1 + seed % 3)
            }
            // The controller draws the outcome of a side game.
            None => outcomes[(count + seed) % outcomes.len()].0,
        };
        position.try_play(play).unwrap();
        plays += &format!(" {play}");
        count += 1;
    }
    let result = match position.winner() {
        Some(Color::White) => "p1win",
        Some(Color::Black) => "p2win",
        None => "draw",
    };
    for engine in engines {
        engine.say(&format!("position startpos moves{plays}"));
        engine.say("query gameover");
        engine.say("query result");
        engine.say("go nodes 3");
        assert_eq!(engine.line(), "response true");
        assert_eq!(engine.line(), format!("response {result}"));
        assert_eq!(engine.line(), "info string error the game is over");
    }
    position.winner().is_some()
}

#[test]
fn engines_play_whole_games_line_by_line() {
    let games: usize = std::env::var("GIPF_SOAK_UGI").map_or(2, |games| games.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let trained = network(folder.path());
    let mut finished = 0;
    for text in RULES {
        let rules: Rules = text.parse().unwrap();
        let mut engines = [Engine::start(&trained), Engine::start("alphabeta:1")];
        for seed in 0..games {
            finished += usize::from(play(&mut engines, &rules, seed));
        }
        for engine in engines {
            assert!(engine.end(true).is_empty());
        }
    }
    assert!(finished * 2 > games, "{finished} of {} games were finished", 8 * games);
}
