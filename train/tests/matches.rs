//! `gipf match` as a user runs it: its file of games through cuts and kills, its tests, its time, and what it refuses.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{refused, succeed};
use gipf_core::record::GameRecord;
use serde_json::Value;

fn gipf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `gipf match` on a small board, with `--json`.
fn contest(players: [&str; 2], games: u32, file: &Path, more: &[&str]) -> Command {
    let games = games.to_string();
    let mut command = gipf(&["match", players[0], players[1], "--rules", "basic"]);
    command.args(["--max-plays", "60", "--games", &games, "--threads", "2", "--json", "--records"]);
    command.arg(file).args(more);
    command
}

/// The same with players that need no time.
fn fast(games: u32, file: &Path, more: &[&str]) -> Command {
    contest(["greedy", "random"], games, file, more)
}

/// The JSON of a match that is played to its end.
fn outcome(command: &mut Command) -> Value {
    serde_json::from_slice(&succeed(command).stdout).unwrap()
}

/// The games of a file; every line is a legal game and none stands twice.
fn games(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), text.lines().count(), "a game stands twice");
    for line in &lines {
        GameRecord::from_json(line).unwrap().replay().unwrap();
    }
    lines
}

fn beside(file: &Path) -> PathBuf {
    PathBuf::from(format!("{}.match", file.display()))
}

/// What of a result depends on the games alone.
fn counts(result: &Value) -> Vec<Value> {
    ["games", "a_wins_by_color", "b_wins_by_color", "unfinished", "pairs", "mean_length"]
        .map(|key| result[key].clone())
        .into_iter()
        .chain([0, 1].map(|side| result["sides"][side]["decisions"].clone()))
        .collect()
}

#[test]
fn a_file_that_is_cut_anywhere_is_played_to_the_same_games() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, cut] = ["whole.jsonl", "cut.jsonl"].map(|name| folder.path().join(name));
    let result = outcome(&mut fast(10, &whole, &[]));
    let wanted = games(&whole);
    assert_eq!(wanted.len(), 10);
    let (text, costs) = (fs::read(&whole).unwrap(), fs::read(beside(&whole)).unwrap());
    let first_cost = costs.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let line = text.iter().position(|byte| *byte == b'\n').unwrap();
    let places = [0, 1, line - 1, line, line + 1, text.len() - 1, text.len()]
        .into_iter()
        .chain((1..7).map(|part| part * text.len() / 7));
    for place in places {
        fs::write(&cut, &text[..place]).unwrap();
        // The costs reach at least as far as the games, by a torn line further or not.
        let kept = text[..place].iter().filter(|byte| **byte == b'\n').count();
        let mut ends =
            costs.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let end = ends.nth(kept).unwrap().max(first_cost);
        let end = if place % 2 == 0 { (end + 7).min(costs.len()) } else { end };
        fs::write(beside(&cut), &costs[..end]).unwrap();
        let again = outcome(&mut fast(10, &cut, &[]));
        assert_eq!(games(&cut), wanted, "cut at {place}");
        assert_eq!(counts(&again), counts(&result), "cut at {place}");
    }
    // A finished match is told again, and nothing is played or written.
    let before = fs::read(&cut).unwrap();
    assert_eq!(counts(&outcome(&mut fast(10, &cut, &[]))), counts(&result));
    assert_eq!(fs::read(&cut).unwrap(), before);
    // With more games it goes on; the first ones stay.
    outcome(&mut fast(14, &cut, &[]));
    assert!(games(&cut).is_superset(&wanted) && games(&cut).len() == 14);
    refused(&mut fast(10, &cut, &[]), 1, &["cut.jsonl", "beyond the match's 10 games"]);
    let checked = gipf(&["check"]).arg(&cut).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&checked.stdout), "ok 14 games\n");
}

#[test]
fn a_killed_match_goes_on_and_loses_no_game_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, killed] = ["whole.jsonl", "killed.jsonl"].map(|name| folder.path().join(name));
    let slow = |file: &Path| contest(["alphabeta:3", "greedy"], 100, file, &[]);
    let result = outcome(&mut slow(&whole));
    let lines = |file: &Path| {
        fs::read_to_string(file)
            .map_or(0, |text| text.bytes().filter(|byte| *byte == b'\n').count())
    };
    let mut kills = 0;
    for _ in 0..5 {
        let before = lines(&killed);
        let mut child = slow(&killed).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while lines(&killed) < before + 5 && child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(60), "no game is written");
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some() {
            break;
        }
        // It may just have ended by itself.
        let _ = child.kill();
        kills += u32::from(child.wait().unwrap().signal() == Some(9));
        assert!(lines(&killed) >= before + 5, "a game that was written is gone");
    }
    assert!(kills >= 2, "the match was over too soon");
    let again = outcome(&mut slow(&killed));
    assert_eq!(games(&killed), games(&whole));
    assert_eq!(counts(&again), counts(&result));
}

#[test]
fn another_matchs_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.jsonl");
    outcome(&mut fast(4, &file, &[]));
    let before = (fs::read(&file).unwrap(), fs::read(beside(&file)).unwrap());
    for (more, words) in [
        (&["--seed", "2"][..], "its seed is 1, not 2"),
        (&["--nodes", "65"], "its nodes is 64, not 65"),
        (&["--movetime", "5"], "movetime"),
    ] {
        refused(&mut fast(4, &file, more), 2, &["games.jsonl belongs to another match", words]);
    }
    let other = ["match", "random", "greedy", "--rules", "basic", "--max-plays", "60", "--records"];
    refused(gipf(&other).arg(&file), 2, &["its a is \"greedy\", not \"random\""]);
    // A game of another match, a damaged line, and a file of no match.
    let text = String::from_utf8(before.0.clone()).unwrap();
    let mut stranger = GameRecord::from_json(text.lines().next().unwrap()).unwrap();
    stranger.id.worker = "0".repeat(32);
    fs::write(&file, format!("{text}{}\n", stranger.to_json())).unwrap();
    refused(&mut fast(4, &file, &[]), 1, &["games.jsonl, line 5", "a game of another match"]);
    fs::write(&file, format!("hello\n{text}")).unwrap();
    refused(&mut fast(4, &file, &[]), 1, &["games.jsonl, line 1"]);
    fs::write(&file, &before.0).unwrap();
    // Somebody else is at it.
    let held = fs::File::open(&file).unwrap();
    held.lock().unwrap();
    refused(&mut fast(4, &file, &[]), 1, &["another process is playing the match"]);
    drop(held);
    assert_eq!(fs::read(beside(&file)).unwrap(), before.1, "nothing was changed");
    fs::remove_file(beside(&file)).unwrap();
    refused(&mut fast(4, &file, &[]), 2, &["exists already", "games.jsonl.match"]);
    assert_eq!(fs::read(&file).unwrap(), before.0);
    refused(&mut fast(4, &folder.path().join("no/folder"), &[]), 1, &["no folder"]);
}

#[test]
fn a_test_ends_the_match_and_says_how() {
    let arguments = ["match", "greedy", "random", "--sprt", "0,200", "--seed", "4"];
    let result = outcome(gipf(&arguments).args(["--json"]));
    let sprt = &result["sprt"];
    assert_eq!(sprt["decision"], "accept1", "{result}");
    assert!(sprt["llr"].as_f64().unwrap() >= sprt["upper"].as_f64().unwrap());
    assert!(result["games"].as_u64().unwrap() < 200, "of 20000");
    let text = gipf(&arguments).args(["--alpha", "0.01", "--beta", "0.1"]).output().unwrap();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("accepted: A leads by 200 Elo rather than 0; LLR"), "{text}");
    let few =
        gipf(&["match", "random", "random", "--sprt", "-5,5", "--games", "2"]).output().unwrap();
    let few = String::from_utf8_lossy(&few.stdout).into_owned();
    assert!(few.contains("undecided between -5 and 5 Elo"), "{few}");
}

#[test]
fn a_match_by_time_tells_what_both_used() {
    let arguments = ["match", "alphabeta", "mcts", "--movetime", "2", "--games", "2", "--json"];
    let result = outcome(gipf(&arguments).args(["--rules", "basic", "--max-plays", "30"]));
    for side in [0, 1] {
        let side = &result["sides"][side];
        assert!(side["decisions"].as_u64().unwrap() > 5, "{result}");
        assert!(side["ms_a_decision"].as_f64().unwrap() > 0.5, "{result}");
        assert!(side["nodes_a_decision"].as_f64().unwrap() > 5.0, "{result}");
    }
    assert_eq!(result["limit"]["movetime"], 2);
}

/// Programs that die, answer nonsense or hang: they lose their games, with the reason, and the match ends as usual.
#[test]
fn broken_programs_lose_their_games_only() {
    let folder = tempfile::tempdir().unwrap();
    let engine = |name: &str, answer: &str| {
        let path = folder.path().join(name);
        let script = format!(
            "while read -r line; do case \"$line\" in ugi) echo 'option name Rules type string'; \
             echo ugiok;; isready) echo readyok;; \
             go*) {answer};; quit) exit;; esac; done\n"
        );
        fs::write(&path, script).unwrap();
        format!("ugi:sh {}", path.display())
    };
    for (name, answer, word) in [
        ("dies", "exit 3", "status 3"),
        ("nonsense", "echo bestmove a9-b7", "a9-b7"),
        ("hangs", "sleep 60", "gave no bestmove"),
    ] {
        let file = folder.path().join(format!("{name}.jsonl"));
        let program = engine(name, answer);
        let mut command = gipf(&["match", &program, "random", "--games", "4", "--rules", "basic"]);
        command.args(["--movetime", "20", "--grace", "200", "--json", "--records"]).arg(&file);
        let began = Instant::now();
        let result = outcome(&mut command);
        assert!(began.elapsed() < Duration::from_secs(45), "{name}");
        assert_eq!((&result["games"], &result["b_wins"]), (&4.into(), &4.into()), "{result}");
        assert_eq!(result["sides"][0]["forfeits"], 4);
        assert_eq!(result["sides"][1]["forfeits"], 0);
        let reason = result["sides"][0]["last_forfeit"].as_str().unwrap();
        assert!(reason.contains(word), "{reason}");
        for line in games(&file) {
            assert!(GameRecord::from_json(&line).unwrap().forfeit.is_some());
        }
    }
}

#[test]
fn wrong_use_is_one_line() {
    let with = |more: &[&str]| gipf(&[&["match", "random", "greedy"], more].concat());
    for (more, words) in [
        (&["--games", "7"][..], &["--games 7", "even"][..]),
        (&["--sprt", "30,0"], &["30,0", "E0 below E1"]),
        (&["--sprt", "x"], &["'x'", "E0,E1"]),
        (&["--sprt", "0,inf"], &["0,inf"]),
        (&["--sprt", "0,5000"], &["5000", "within -1000 to 1000"]),
        (&["--sprt", "0,5", "--alpha", "0.5"], &["0.5", "below 0.5"]),
        (&["--sprt", "0,5", "--beta", "nan"], &["nan"]),
        (&["--alpha", "0.1"], &["--sprt"]),
        (&["--nodes", "10", "--movetime", "10"], &["--nodes", "--movetime"]),
        (&["--movetime", "0"], &["0"]),
        (&["--threads", "0"], &["0"]),
        (&["--threads", "1024", "--movetime", "5"], &["physical core"]),
    ] {
        refused(&mut with(more), 2, words);
    }
    for (player, words) in [
        ("alphabeta:0", &["alphabeta:0", "depth"][..]),
        ("mcts:many", &["mcts:many", "playouts"]),
        ("gredy", &["did you mean greedy"]),
        ("run:", &["run:"]),
    ] {
        refused(&mut gipf(&["match", player, "random"]), 2, words);
    }
    refused(&mut gipf(&["match", "ugi:/no/such/program", "random"]), 1, &["/no/such/program"]);
}
