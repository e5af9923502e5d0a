//! `gipf export`: what comes out of it, as its users read it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use gipf_model::Checkpoint;
use serde_json::{Value, json};

/// A trained network of an older version, without a calibration.
const TRAINED: &str = "../tests/data/checkpoints/standard-4x32.safetensors";

fn run(arguments: &[&str]) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_gipf")).args(arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Fails with this code and one line that holds these words.
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let assert = run(arguments).code(code);
    let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert_eq!(error.trim_end().lines().count(), 1, "one line: {error}");
    for word in words {
        assert!(error.contains(word), "'{word}' is not in: {error}");
    }
}

#[test]
fn an_exported_player_is_small_and_plays() {
    let folder = tempfile::tempdir().unwrap();
    let trained = TRAINED;
    let exported = folder.path().join("player.safetensors");
    let exported = exported.to_str().unwrap();
    let told = stdout(run(&["export", trained, "--out", exported]).success());
    assert!(told.contains("4x32") && told.contains("standard"), "{told}");
    let size = |path: &str| fs::metadata(path).unwrap().len();
    assert!(size(exported) < size(trained) * 11 / 20, "{} bytes", size(exported));
    refused(&["export", trained, "--out", exported], 2, &["exists already", "--overwrite"]);
    refused(&["export", "random", "--out", exported, "--overwrite"], 2, &["random", "network"]);
    refused(&["export", "run:nowhere", "--out", "x"], 2, &["nowhere"]);
    refused(&["export", trained, "--out", "missing/x"], 1, &["missing"]);

    // In 32 bits again it holds the same rounded numbers, and both play the same games against themselves.
    let again = folder.path().join("again.safetensors");
    let again = again.to_str().unwrap();
    run(&["export", exported, "--weights", "f32", "--out", again]).success();
    assert!(size(again) > size(trained) * 9 / 10);
    let game = |player: &str| {
        let records = format!("{player}.jsonl");
        let limits = ["--games", "2", "--nodes", "8", "--seed", "3", "--records", &records];
        let arguments = [&["match", player, "greedy", "--json"][..], &limits].concat();
        let result: Value = serde_json::from_str(&stdout(run(&arguments).success())).unwrap();
        assert_eq!(result["match"]["a_precision"], "int8", "it is still calibrated");
        let text = fs::read_to_string(&records).unwrap();
        let plays = |line: &str| serde_json::from_str::<Value>(line).unwrap()["plays"].clone();
        // The two games may end in either order.
        text.lines().map(|line| plays(line).to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(game(exported), game(again));

    // It says who it is, and goes on saying so; in int8 it is smaller still.
    let named = ["--name", "the player", "--licence", "CC0-1.0", "--weights", "int8"];
    let small = folder.path().join("small.safetensors");
    let small = small.to_str().unwrap();
    run(&[&["export", trained, "--out", small][..], &named].concat()).success();
    assert!(size(small) < size(trained) * 2 / 5, "{} bytes", size(small));
    let card = |path: &str| Checkpoint::load_header(path.as_ref()).unwrap().card.unwrap();
    assert_eq!((card(small).name, card(small).licence), ("the player".into(), "CC0-1.0".into()));
    let other = folder.path().join("other.gipf");
    run(&["export", small, "--to", "player", "--out", other.to_str().unwrap()]).success();
    let other = card(other.to_str().unwrap());
    assert_eq!((other.name.as_str(), other.licence.as_str()), ("other", "CC0-1.0"));
    refused(&["export", trained, "--out", "x", "--name", "a\nb"], 2, &["--name 'a\\nb'"]);
    refused(&["export", trained, "--out", "x", "--licence", ""], 2, &["--licence ''"]);
}

#[test]
fn an_exported_player_has_its_runs_rating_and_mixes() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"rules.rules=[{ mixes = { variant = "tournament", punct = "convert" } }, { rules = "standard" }]"#;
    let config = common::config(folder.path(), &["run.games=6", rules, "rules.max_plays=30"]);
    let folder_of_run = folder.path().join("run");
    let run_folder = folder_of_run.to_str().unwrap();
    run(&["train", config.to_str().unwrap(), "--run", run_folder]).success();
    let state: Value =
        serde_json::from_slice(&fs::read(folder_of_run.join("state.json")).unwrap()).unwrap();
    let rated = json!({
        "name": "a step", "player": "x", "step": state["step"], "seconds": null, "games_made": null,
        "elo": 123.4, "low": -10.2, "high": 250.0, "games": 8, "score": 0.5,
    });
    let ratings = json!({
        "format": "gipf-ratings-1", "rules": "standard", "limit": { "nodes": 16 }, "seed": 1,
        "anchor": "greedy", "white_advantage": { "elo": 0.0, "low": 0.0, "high": 0.0 },
        "players": [rated], "pairings": [], "games": 8,
    });
    fs::write(folder_of_run.join("ratings.json"), ratings.to_string()).unwrap();
    let exported = folder.path().join("me.safetensors");
    let exported = exported.to_str().unwrap();
    let player = format!("run:{run_folder}@latest");
    let told = stdout(run(&["export", &player, "--out", exported]).success());
    assert!(told.contains("standard, tournament with any mix and punct=convert"), "{told}");
    let rating = "rated +123 Elo (-10 to +250) above greedy, standard, 16 nodes a decision";
    assert!(told.contains(rating), "{told}");
    let header = Checkpoint::load_header(Path::new(exported)).unwrap();
    assert!(header.knows(&"tournament+Z4P4;punct=convert".parse().unwrap()));
    assert!(!header.knows(&"standard+Z4".parse().unwrap()));
}
