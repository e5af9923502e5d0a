//! The report in a real browser: Debian's chromium, headless, led by `tests/browser/report.spec.js`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::browser::{is_ready, script, tests};
use common::{config, succeed, train};
use flate2::read::GzDecoder;
use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Color, Position, Potential, Rules, Spot};
use gipf_train::store::{DiskWait, Store, StoreOptions};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The vector games of Ultimate GIPF that are over, as records without searches.
fn vector_games() -> Vec<GameRecord> {
    let path = tests().join("data/vectors/games/games-ultimate.jsonl.gz");
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let records = lines.enumerate().map(|(seq, line)| {
        let game: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let play = |play: &Value| RecordedPlay { p: play.as_str().unwrap().to_owned(), s: None };
        GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId { run: "vectors".to_owned(), worker: "0".repeat(32), seq: seq as u64 },
            rules: game["rules"].as_str().unwrap().to_owned(),
            start: None,
            max_plays: 500,
            seed: 0,
            result: serde_json::from_value::<GameResult>(game["result"].clone()).unwrap(),
            forfeit: None,
            plays: game["plays"].as_array().unwrap().iter().map(play).collect(),
        }
    });
    records.filter(|record| record.result != GameResult::Unfinished).collect()
}

/// All stacks that stand on a spot in any position of a game.
fn stacks(record: &GameRecord) -> BTreeSet<String> {
    let positions = record.replay().unwrap().positions;
    positions.iter().flat_map(|position| Spot::ALL.map(|spot| stack(position, spot))).collect()
}

/// The kinds of pieces in stacks.
fn letters(stacks: &BTreeSet<String>) -> BTreeSet<char> {
    stacks.iter().flat_map(|stack| stack.chars()).collect()
}

/// The letters of a spot's stack from bottom to top, from the position itself, not from its text.
fn stack(position: &Position, spot: Spot) -> String {
    let Some(stack) = position.stack(spot) else { return String::new() };
    let letter = |letter: char, color: Color| match color {
        Color::White => letter,
        Color::Black => letter.to_ascii_lowercase(),
    };
    let base = stack.base.map(|(color, gipf)| letter(if gipf { 'G' } else { 'S' }, color));
    let potentials = (0..stack.count).map(|level| {
        let color = if level % 2 == 0 { stack.first } else { stack.first.other() };
        letter(stack.potential.map_or('?', Potential::letter), color)
    });
    base.into_iter().chain(potentials).collect()
}

/// What each game of a page must look like, from its rules and plays alone.
fn expected(page: &str) -> Vec<Value> {
    let (_, rest) = page.split_once("id=\"game-data\">").unwrap();
    let games: Vec<Value> = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let expect = |game: &Value| {
        let rules: Rules = game["rules"].as_str().unwrap().parse().unwrap();
        let mut position = rules.start();
        let mut boards = Vec::new();
        let mut board = |position: &Position| {
            let stacks = Spot::ALL.iter().map(|spot| (spot.to_string(), stack(position, *spot)));
            let there = stacks.filter(|(_, stack)| !stack.is_empty());
            boards.push(Value::from(
                there.map(|(spot, stack)| (spot, stack.into())).collect::<Map<_, _>>(),
            ));
        };
        let plays: Vec<&str> = game["plays"]
            .as_array()
            .unwrap()
            .iter()
            .map(|play| play["text"].as_str().unwrap())
            .collect();
        for play in &plays {
            board(&position);
            position.try_play(play.parse().unwrap()).unwrap();
        }
        board(&position);
        json!({ "plays": plays, "boards": boards })
    };
    games.iter().map(expect).collect()
}

#[test]
fn a_browser_draws_every_position() {
    if !is_ready("the browser test of the report", &[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rules =
        "rules.rules=[{rules=\"standard+T4Z4D4\"},{rules=\"standard\"},{rules=\"tournament+P6\"}]";
    let config = config(folder.path(), &[rules, "run.deterministic=true", "run.steps=60"]);
    let run = folder.path().join("run");
    succeed(&mut train(&config, &run));
    let mut rated =
        Store::open(&run.join("ratings/vectors"), StoreOptions::default(), DiskWait::default())
            .unwrap();
    // One game with as many kinds of pieces, one with as high a stack as there is.
    let games = vector_games();
    let all = games.iter().max_by_key(|game| letters(&stacks(game)).len()).unwrap();
    let height = |game: &&GameRecord| stacks(game).iter().map(String::len).max();
    let highest = games.iter().filter(|game| game.id != all.id).max_by_key(height).unwrap();
    rated.append(&[all.clone(), highest.clone()]).unwrap();
    let mut report = Command::new(env!("CARGO_BIN_EXE_gipf"));
    succeed(report.arg("report").arg(&run).args(["--games", "4"]).stdin(Stdio::null()));

    let expected = expected(&fs::read_to_string(run.join("report.html")).unwrap());
    assert_eq!(expected.len(), 4);
    let drawn: BTreeSet<String> = expected
        .iter()
        .flat_map(|game| game["boards"].as_array().unwrap())
        .flat_map(|board| board.as_object().unwrap().values())
        .map(|stack| stack.as_str().unwrap().to_owned())
        .collect();
    let kinds = letters(&drawn);
    assert!("SsGgTtZzDdYyPp".chars().all(|kind| kinds.contains(&kind)), "{kinds:?}");
    assert!(drawn.iter().any(|stack| stack.len() > 2), "a cover: {drawn:?}");
    let file = folder.path().join("expected.json");
    fs::write(&file, serde_json::to_string(&expected).unwrap()).unwrap();

    succeed(&mut script("report.spec.js", &[run.join("report.html"), file]));
}
