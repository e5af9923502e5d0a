//! What a page asks: every vector game seen, played and told through the questions, and what is wrong refused.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use gipf_core::{Play, Position, Rules};
use gipf_player::desk::view::{End, View};
use gipf_player::desk::{self, QUESTIONS, Replay};
use serde_json::{Value, json};

fn games_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/vectors/games")
}

/// The first games of every file of vector games.
fn vector_games(of_each: usize) -> Vec<Value> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(games_folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let games = |path: &PathBuf| {
        let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
        lines.take(of_each).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
    };
    let all: Vec<Vec<Value>> = files.iter().map(games).collect();
    assert_eq!(all.len(), 18);
    all.concat()
}

fn ask(question: &str, body: &Value) -> Value {
    let answer = desk::answer(question, body.to_string().as_bytes());
    serde_json::from_str(&answer.unwrap_or_else(|fault| panic!("{question} {body}: {fault}")))
        .unwrap()
}

fn fault(question: &str, body: &str) -> String {
    let fault = desk::answer(question, body.as_bytes()).expect_err(body);
    assert!(fault.error.chars().count() <= 601 && !fault.error.contains('\n'), "{fault}");
    fault.error
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Every play of games by all rules, made by what the groups of options say: each legal play is in its group, and each group's
/// plays are legal.
#[test]
fn the_groups_of_options_are_the_legal_plays() {
    let mut phases = std::collections::BTreeSet::new();
    for game in vector_games(2) {
        let rules: Rules = game["rules"].as_str().unwrap().parse().unwrap();
        let mut position = rules.start();
        let mut made: Vec<&str> = Vec::new();
        for play in texts(&game["plays"]) {
            let view = ask("position", &json!({ "rules": game["rules"], "plays": made }));
            check(&view, &position);
            phases.insert(view["phase"].as_str().unwrap().to_owned());
            let after = ask(
                "apply",
                &json!({ "game": { "rules": game["rules"], "plays": made }, "play": play }),
            );
            position.try_play(play.parse().unwrap()).unwrap();
            assert_eq!(after["position"], position.to_string());
            assert_eq!(after["last"]["play"], play);
            made.push(play);
        }
        let end = ask("position", &json!({ "rules": game["rules"], "plays": made }));
        assert_eq!(end["position"], game["final"]);
        assert_eq!(end["end"].is_null(), game["result"] == "U" && made.len() < 500);
    }
    let all = ["challenge", "earned", "owed", "regular", "removal", "side_game"];
    assert_eq!(phases.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

fn check(view: &Value, position: &Position) {
    let mut legal = Vec::new();
    position.legal_plays(&mut legal);
    let mut legal: Vec<String> = legal.iter().map(ToString::to_string).collect();
    legal.sort();
    let options = &view["options"];
    assert_eq!(texts(&options["plays"]), legal);
    // What the page puts together from the groups.
    let mut grouped: Vec<String> = Vec::new();
    let ways: Vec<String> = options["ways"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| format!("{}-{}", way["dot"].as_str().unwrap(), way["path"][0].as_str().unwrap()))
        .collect();
    let extra = ["owed", "earned"].contains(&view["phase"].as_str().unwrap());
    for kind in texts(&options["kinds"]) {
        grouped
            .extend(ways.iter().map(|way| format!("{}{way}", if kind == "S" { "" } else { kind })));
    }
    if extra {
        grouped.extend(ways.iter().map(|way| format!("+{way}")));
        grouped.push("+-".to_owned());
    }
    for group in ["moves", "outcomes"] {
        grouped.extend(
            options[group]
                .as_array()
                .unwrap()
                .iter()
                .map(|play| play["play"].as_str().unwrap().to_owned()),
        );
    }
    if !options["announced"].is_null() {
        grouped.extend(["?".to_owned(), ".".to_owned()]);
    }
    if view["phase"] == "removal" {
        // Every legal removal takes what its row must lose and nothing that is neither that nor left to choose.
        for play in legal.iter().filter(|play| *play != "x-") {
            let taken: Vec<&str> = play[1..].split(',').collect();
            let fits = options["rows"].as_array().unwrap().iter().any(|row| {
                let (must, optional) = (texts(&row["must"]), texts(&row["optional"]));
                must.iter().all(|spot| taken.contains(spot))
                    && taken.iter().all(|spot| must.contains(spot) || optional.contains(spot))
            });
            assert!(fits, "{play}: {options}");
        }
        return;
    }
    grouped.sort();
    assert_eq!(grouped, legal, "{}", view["position"]);
    // The board as it is told is that of the position's text.
    for (spot, stack) in view["stacks"].as_object().unwrap() {
        let spot: gipf_core::Spot = spot.parse().unwrap();
        let owner = position.owner(spot).unwrap();
        let top = stack.as_str().unwrap().chars().next_back().unwrap();
        assert_eq!(top.is_ascii_uppercase(), owner == gipf_core::Color::White);
    }
    assert_eq!(view["stacks"].as_object().unwrap().len() as u32, position.occupied().len());
}

/// What `write` tells is what `read` understands, at any moment of a game.
#[test]
fn games_are_read_back_as_they_were_written() {
    let (mut official, mut plain) = (0, 0);
    for game in vector_games(4) {
        let plays = texts(&game["plays"]);
        for length in [0, 1, plays.len() / 3, plays.len() / 2, plays.len()] {
            let body = json!({ "rules": game["rules"], "plays": plays[..length] });
            let text = ask("write", &body)["text"].as_str().unwrap().to_owned();
            let read = ask("read", &json!({ "text": text }));
            let [before, after] =
                [&body, &read].map(|game| ask("position", game)["position"].clone());
            assert_eq!(before, after, "{text}");
            assert_eq!(read["plays"].as_array().unwrap().len(), length, "{text}");
            *(if text.contains("\n1. ") { &mut official } else { &mut plain }) += 1;
        }
        // The game's own line, and a game that was set up in its middle.
        assert_eq!(ask("read", &json!({ "text": game.to_string() }))["plays"], game["plays"]);
        let middle =
            ask("position", &json!({ "rules": game["rules"], "plays": plays[..plays.len() / 2] }));
        let set_up = json!({ "rules": game["rules"], "start": middle["position"], "plays": plays[plays.len() / 2..] });
        let text = ask("write", &set_up)["text"].as_str().unwrap().to_owned();
        assert_eq!(ask("read", &json!({ "text": text })), set_up, "{text}");
    }
    assert!(official > 200 && plain > 10, "{official} in official notation, {plain} as plays");
}

/// After 500 plays a game without a winner is over, whatever could still be played.
#[test]
fn a_game_ends_at_the_limit_of_plays() {
    let rules: Rules = "standard".parse().unwrap();
    let mut replay = Replay::start(rules);
    let play: Play = "e1-e2".parse().unwrap();
    replay.plays = vec![play; 499];
    replay.positions = vec![rules.start(); 500];
    assert!(View::of(&replay).end.is_none());
    replay.make(play).unwrap();
    let view = View::of(&replay);
    assert_eq!(view.end, Some(End { winner: None, reason: "limit".to_owned() }));
    assert!(view.options.plays.is_empty() && view.decider.is_none());
    let refused = replay.apply("e9-e8").unwrap_err();
    assert_eq!(refused.error, "play 501: the game ended unfinished after play 500");
}

#[test]
fn what_is_wrong_is_named() {
    let long = "e1-e2,".repeat(20_000);
    for (question, body, said) in [
        ("position", "", "bad request: EOF"),
        ("position", "[]", "bad request"),
        ("position", r#" ["standard", []]"#, "bad request: a list, where an object is expected"),
        ("position", r#"{"rules":"standard","moves":[]}"#, "unknown field `moves`"),
        ("position", r#"{"rules":"standart"}"#, "rules 'standart'"),
        ("position", r#"{"rules":"standard","start":"x"}"#, "position 'x'"),
        (
            "position",
            r#"{"rules":"standard","plays":["e1-e2","e1-e9"]}"#,
            "play 2: \"e1-e9\" is not a play",
        ),
        ("position", r#"{"rules":"standard","plays":["Ge1-e2"]}"#, "tournament games only"),
        (
            "position",
            r#"{"rules":"standard","plays":["xe2"]}"#,
            "play 1 ('xe2'): no removal is due",
        ),
        ("apply", r#"{"game":{"rules":"basic"},"play":"\u0000"}"#, "is not a play"),
        ("read", r#"{"text":" \n# a comment"}"#, "no game"),
        ("read", r#"{"text":"{\"rules\":\"basic\"}"}"#, "missing field `plays`"),
        ("read", r#"{"text":"{"}"#, "no JSON object"),
        ("read", r#"{"text":"1. e1-e3 / b1-b9"}"#, "move 1, Black, \"b1-b9\""),
        ("read", r#"{"text":"hello"}"#, "play 1: \"hello\" is not a play"),
        ("read", &json!({ "text": long }).to_string(), "bytes, a game has 65536 at most"),
        ("write", r#"{"rules":"basic","plays":[1]}"#, "bad request"),
        ("delete", "{}", "no question 'delete'"),
    ] {
        let told = fault(question, body);
        assert!(told.contains(said), "{question} {body}: {told}");
    }
    assert_eq!(QUESTIONS, ["position", "apply", "read", "write"]);
}
