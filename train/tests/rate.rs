//! `gipf rate` as a user runs it: ratings that go on where they stopped, beside training and after a kill.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{config, state, succeed, train};

fn rate(run: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.arg("rate").arg(run).args(["--nodes", "4", "--threads", "2"]).args(arguments);
    command.stdin(Stdio::null());
    command
}

fn ratings(run: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(run.join("ratings.json")).unwrap()).unwrap()
}

/// A run of 20 steps with checkpoints 0, 10 and 20.
fn small_run(folder: &Path) -> PathBuf {
    let config = config(folder, &["run.steps=20", "checkpoints.every_steps=10"]);
    let run = folder.join("run");
    succeed(&mut train(&config, &run));
    run
}

/// The records of all rated games.
fn rated_games(run: &Path) -> Vec<serde_json::Value> {
    let file = run.join("ratings/standard-4-nodes/000001.jsonl.zst");
    let text = zstd::decode_all(fs::File::open(file).unwrap()).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ratings_go_on_where_they_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let players = "0,latest,random,greedy";
    let output = succeed(&mut rate(&run, &["--games", "40", "--players", players]));
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in ["Elo 0 is step 0", "White's advantage", "step 20", "greedy", "ratings.svg"] {
        assert!(list.contains(words), "'{words}' is not in: {list}");
    }
    let first = ratings(&run);
    assert_eq!((&first["format"], &first["games"]), (&"gipf-ratings-1".into(), &40.into()));
    assert_eq!(first["limit"], serde_json::json!({"nodes": 4}));
    let find = |file: &serde_json::Value, name: &str| {
        let players = file["players"].as_array().unwrap();
        players.iter().find(|player| player["name"] == name).unwrap().clone()
    };
    assert_eq!(find(&first, "step 0")["elo"], 0.0);
    let latest = find(&first, "step 20");
    assert_eq!(latest["player"], format!("run:{}@20", run.display()));
    assert_eq!(latest["games_made"], state(&run)["games"]);
    assert_eq!(latest["seconds"], state(&run)["seconds"]);
    let (greedy, random) = (find(&first, "greedy"), find(&first, "random"));
    assert!(greedy["elo"].as_f64() > random["elo"].as_f64(), "{greedy} {random}");
    let svg = fs::read_to_string(run.join("ratings.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("games of self-play"), "{}", &svg[..200]);
    assert_eq!(fs::read_dir(run.join("events/ratings")).unwrap().count(), 1);

    // Killed after the third of its games is durable: two whole games before it, or three, are there.
    let status = rate(&run, &["--games", "40", "--players", players])
        .env("GIPF_FAULT", "append.after_fsync:3")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
    let stored = rated_games(&run).len();
    assert!(stored >= 42, "{stored} games are stored");
    // A new player enters, the old games count.
    let more = format!("{players},10");
    let output = succeed(&mut rate(&run, &["--games", "24", "--players", &more, "--json"]));
    let second: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(second, ratings(&run));
    assert!(second["games"].as_u64().unwrap() >= 64, "{}", second["games"]);
    assert!(find(&second, "step 10")["games"].as_u64().unwrap() >= 8);
    // The same games, seen from another player.
    let third = succeed(&mut rate(
        &run,
        &["--games", "2", "--players", &more, "--anchor", "greedy", "--json"],
    ));
    let third: serde_json::Value = serde_json::from_slice(&third.stdout).unwrap();
    let greedy = find(&third, "greedy");
    assert_eq!((&third["anchor"], &greedy["elo"]), (&"greedy".into(), &0.0.into()));
    assert_eq!(greedy["low"], greedy["high"]);
    let games = rated_games(&run);
    let mut ids: Vec<_> = games.iter().map(|game| game["id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), games.len(), "no game is there twice");
    // All pairings play one list of openings.
    let list = fs::read_to_string(run.join("ratings/standard-4-nodes/openings.jsonl")).unwrap();
    for opening in list.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
    {
        let pair = opening["pair"].as_u64().unwrap();
        for game in games.iter().filter(|game| game["id"]["seq"].as_u64().unwrap() / 2 == pair) {
            let begun = game["plays"].as_array().unwrap().iter().map(|play| play["p"].clone());
            let begun: Vec<_> = begun.take(4).collect();
            assert_eq!(opening["plays"], serde_json::Value::from(begun), "pair {pair}");
        }
    }
}

#[test]
fn a_run_can_be_rated_while_it_trains() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(
        folder.path(),
        &["run.steps=1000000", "checkpoints.every_steps=5", "checkpoints.keep=2"],
    );
    let run = folder.path().join("run");
    let mut child =
        train(&config, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !run.join("state.json").exists() || state(&run)["step"].as_u64() < Some(10) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for _ in 0..2 {
        succeed(&mut rate(&run, &["--games", "16"]));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ratings(&run)["games"].as_u64().unwrap() >= 32);
    // The rated folder is still a run's: it goes on.
    let limit = format!("run.steps={}", state(&run)["step"].as_u64().unwrap() + 5);
    succeed(train(&config, &run).args(["--set", &limit]));
}

#[test]
fn wrong_use_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let before = fs::read_dir(&run).unwrap().count();
    let cases: [(&[&str], &str); 7] = [
        (&["--players", "0,gredy"], "did you mean greedy"),
        (&["--players", "0,15"], "no checkpoint of step 15"),
        (&["--players", "greedy"], "two players"),
        (&["--rules", "standrad"], "standrad"),
        (&["--minutes", "0"], "not a number above 0"),
        (&["--anchor", "15"], "--anchor 15: neither a step nor a player"),
        (&["--players", "0,greedy", "--anchor", "20"], "--anchor 20: neither a step nor a player"),
    ];
    for (arguments, words) in cases {
        let output = rate(&run, arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "'{words}' is not in: {error}");
    }
    let output = rate(folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(&run).unwrap().count(), before, "nothing was written");
}
