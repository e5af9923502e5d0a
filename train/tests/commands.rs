//! The commands on the game itself, as a user runs them: good and bad paths, exit codes, one line for an error.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;

fn gipf() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gipf"))
}

fn run(arguments: &[&str]) -> Assert {
    gipf().args(arguments).assert()
}

fn stdout(assert: Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Fails with this code and one line that holds these words; the line.
fn refused(arguments: &[&str], code: i32, words: &[&str]) -> String {
    common::refused(process::Command::new(env!("CARGO_BIN_EXE_gipf")).args(arguments), code, words)
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/vectors")
}

fn vector(name: &str) -> String {
    vectors().join(name).display().to_string()
}

#[test]
fn every_command_has_an_example() {
    for command in [
        "rules",
        "moves",
        "perft",
        "check",
        "positions",
        "train",
        "learn",
        "worker",
        "status",
        "match",
        "mixes",
        "tactics",
        "rate",
        "play",
        "report",
        "doctor",
        "export",
        "analyse",
        "bench",
    ] {
        let help = stdout(run(&[command, "--help"]).success());
        assert!(help.contains("Example: gipf "), "{command}: {help}");
    }
    assert!(stdout(run(&["--version"]).success()).starts_with("gipf "));
}

#[test]
fn wrong_use_ends_with_two() {
    run(&[]).code(2);
    run(&["no-such-command"]).code(2);
    refused(&["perft", "standard"], 2, &["not provided: <DEPTH>", "--help"]);
    refused(&["perft", "standard", "abc"], 2, &["invalid value 'abc' for '<DEPTH>'"]);
    refused(&["perft", "standard", &"x\n".repeat(50_000)], 2, &["…' for '<DEPTH>'"]);
    refused(&["perft", "standard", "-3"], 2, &["-3"]);
    refused(&["moves", "standard", "--no-such-option"], 2, &["--no-such-option"]);
    refused(&["bench", "nothing"], 2, &["nothing", "possible values: sim"]);
    for seconds in ["nan", "inf", "1e30", "0"] {
        refused(&["bench", "sim", "--seconds", seconds], 2, &[seconds, "0.1 to 600"]);
    }
    refused(&["bench", "sim", "--seconds", "-1"], 2, &["-1"]);
    refused(&["bench", "eval", "--architecture", "4y32"], 2, &["4y32"]);
    for command in [&["bench", "sim"][..], &["doctor"], &["match", "random", "random"]] {
        refused(&[command, &["--device", "gpu"]].concat(), 2, &["gpu"]);
    }
}

#[test]
fn a_match_refuses_before_it_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("records");
    let file = path.display().to_string();
    let with = |arguments: &[&'static str]| -> Vec<String> {
        let all =
            [&["match", "random", "random", "--games", "2", "--records"], &[file.as_str()][..]];
        all.concat().into_iter().chain(arguments.iter().copied()).map(str::to_owned).collect()
    };
    for (arguments, word) in [
        (&["--max-plays", "1"][..], "max_plays"),
        (&["--rules", "standard+Z6;challenge=recorded"], "side games"),
        (&["--rules", "standrad"], "standrad"),
    ] {
        let arguments = with(arguments);
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), 2, &[word]);
        assert!(!path.exists());
    }
    gipf().args(with(&[])).assert().success();
    let games = fs::read_to_string(&path).expect("the records");
    assert_eq!(games.lines().count(), 2);
    let other = with(&["--seed", "2"]);
    refused(&other.iter().map(String::as_str).collect::<Vec<_>>(), 2, &["another match", "seed"]);
    assert_eq!(games, fs::read_to_string(&path).expect("the records"));
    refused(&["match", "run:", "greedy"], 2, &["run:", "folder"]);
}

#[test]
fn rules_are_explained() {
    let text = stdout(run(&["rules", "standard:18"]).success());
    assert!(text.starts_with("rules      standard\n"), "{text}");
    assert!(
        text.contains("12 each") && text.contains("g2G/5/6/G5g/6/5/g2G 12,12 BB w m"),
        "{text}"
    );
    let text = stdout(run(&["rules", "tournament:21+T3Z3D3Y3P3"]).success());
    assert!(text.contains("ultimate") && text.contains("3 TAMSK, 3 ZÈRTZ"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(run(&["rules", "basic:18/15", "--json"]).success()))
            .expect("JSON");
    assert_eq!(json["white"]["basic"], 18);
    assert_eq!(json["black"]["hand"], 12);
    refused(&["rules", "standrad"], 2, &["standrad"]);
    refused(&["rules", ""], 2, &["unknown variant"]);
    refused(&["rules", "basic:99"], 2, &["99"]);
}

#[test]
fn moves_are_the_position_and_its_sorted_plays() {
    let text = stdout(run(&["moves", "standard", "--plays", "e1-e2;i4-h5"]).success());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "g2G/5/6/SG4g/6/4G/g2s 11,11 BB w m");
    assert!(lines[1..].is_sorted() && lines.len() > 40, "{text}");
    let from_text = stdout(run(&["moves", "standard", "--position", lines[0]]).success());
    assert_eq!(from_text, text, "the text is the whole state");
    refused(&["moves", "standard", "--plays", "e1-e2;e1-e9"], 2, &["play 2", "e1-e9"]);
    refused(&["moves", "standard", "--plays", "hello"], 2, &["play 1", "hello"]);
    refused(&["moves", "standard", "--plays", "e1-e2;;i4-h5"], 2, &["play 2", "empty"]);
    refused(&["moves", "standard", "--plays", "e1-e2;"], 2, &["play 2", "empty"]);
    let long = refused(&["moves", "standard", "--position", &"\x1b[31m".repeat(20_000)], 2, &[]);
    assert!(!long.contains('\x1b') && long.chars().count() < 1000, "{long}");
    refused(&["moves", "standard", "--position", "g2G/5"], 2, &["position"]);
}

#[test]
fn perft_prints_the_count_alone() {
    assert_eq!(stdout(run(&["perft", "standard", "0"]).success()), "1\n");
    assert_eq!(stdout(run(&["perft", "standard", "2"]).success()), "1764\n");
    let json = stdout(run(&["perft", "basic", "3", "--json"]).success());
    assert!(json.contains("\"nodes\":73800"), "{json}");
}

#[test]
fn vector_games_and_positions_pass() {
    let games = vector("games/games-standard.jsonl.gz");
    assert_eq!(stdout(run(&["check", &games, &games]).success()), "ok 80 games\n");
    let json = stdout(run(&["check", "--json", &games]).success());
    assert!(json.contains("\"games\":40"), "{json}");
    let published = vector("published/tournament-1.txt");
    assert_eq!(
        stdout(run(&["check", "--notation", "official", &published]).success()),
        "ok 1 games\n"
    );
    refused(
        &["check", "--notation", "official", "--rules", "basic", &published],
        1,
        &["tournament-1.txt", "move 1"],
    );
    refused(&["check", "--rules", "basic", &games], 2, &["--notation official"]);
}

#[test]
fn the_first_difference_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let good = r#"{"rules":"standard","plays":["e1-e2","i4-h5"],"final":"g2G/5/6/SG4g/6/4G/g2s 11,11 BB w m","result":"U"}"#;
    assert_eq!(stdout(run(&["check", &file("good", good)]).success()), "ok 1 games\n");
    let two = file("two", &format!("{good}\n{}\n", good.replace("i4-h5", "i4-h2")));
    refused(&["check", &two], 1, &["two, line 2", "play 2", "i4-h2"]);
    refused(
        &["check", &file("final", &good.replace("11,11", "11,12"))],
        1,
        &["line 1", "position", "11,12"],
    );
    refused(&["check", &file("result", &good.replace("\"U\"", "\"W\""))], 1, &["result U"]);
    refused(
        &["check", &file("counts", &good.replace("\"final\"", "\"counts\":[42,41],\"final\""))],
        1,
        &["play 2", "41"],
    );
    refused(
        &["check", &file("hash", &good.replace("\"final\"", "\"hash\":\"00\",\"final\""))],
        1,
        &["hash"],
    );
    refused(&["check", &file("rules", &good.replace("standard", "standrad"))], 1, &["standrad"]);
    refused(&["check", &file("text", "hello\n")], 1, &["line 1"]);
    refused(&["check", &file("format", r#"{"format":"gipf-record-99"}"#)], 1, &["gipf-record-99"]);
    refused(&["check", "no/such/file"], 1, &["no/such/file"]);
    refused(&["check", &folder.path().display().to_string()], 1, &[]);
    let cut = fs::read(vectors().join("games/games-standard.jsonl.gz")).expect("a vector file");
    let path = folder.path().join("cut.gz");
    fs::write(&path, &cut[..cut.len() / 2]).expect("a file");
    refused(&["check", &path.display().to_string()], 1, &["cut.gz, line"]);
    let packed = folder.path().join("good.zst");
    fs::write(&packed, zstd::encode_all(format!("{good}\n").as_bytes(), 1).expect("zstd"))
        .expect("a file");
    assert_eq!(stdout(run(&["check", &packed.display().to_string()]).success()), "ok 1 games\n");
}

#[test]
fn directed_positions_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<serde_json::Value> = serde_json::from_str(
        &fs::read_to_string(vectors().join("positions.json")).expect("the vectors"),
    )
    .expect("JSON");
    let path = folder.path().join("positions.json");
    let name = path.display().to_string();
    let write = |list: &serde_json::Value| fs::write(&path, list.to_string()).expect("a file");
    write(&serde_json::json!([all[0], all[1]]));
    assert_eq!(stdout(run(&["positions", &name]).success()), "ok 2 positions\n");
    let mut wrong = all[1].clone();
    wrong["legal"].as_array_mut().expect("a list").remove(0);
    write(&serde_json::json!([all[0], wrong]));
    refused(&["positions", &name], 1, &["position 2", "standard start", "a1-b2"]);
    let mut wrong = all[1].clone();
    wrong["then"][0]["position"] = "elsewhere".into();
    write(&serde_json::json!([wrong]));
    refused(&["positions", &name], 1, &["elsewhere", "f8-e8"]);
    fs::write(&path, "[1, 2").expect("a file");
    refused(&["positions", &name], 1, &["positions.json"]);
    refused(&["positions", "no/such/file"], 1, &["no/such/file"]);
}

#[test]
fn a_full_standard_output_is_named() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gipf"));
    let output = command.args(["rules", "basic"]).stdout(full).output().expect("runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.starts_with("error: cannot write to standard output"), "{error}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let program = env!("CARGO_BIN_EXE_gipf");
    let script = format!("'{program}' moves standard | head -n 1; echo \"${{PIPESTATUS[0]}}\"");
    let assert = Command::new("bash").args(["-c", &script]).assert().success();
    assert!(assert.get_output().stderr.is_empty());
    assert!(stdout(assert).ends_with("\n0\n"));
}

#[test]
fn a_number_below_a_range_is_named_with_the_range() {
    refused(&["match", "random", "greedy", "--games", "-2"], 2, &["-2 is not in 2..="]);
    refused(&["rules", "basic", "-2"], 2, &["-2"]);
}

#[test]
fn an_error_that_nobody_can_read_has_its_code() {
    let full = || fs::File::options().write(true).open("/dev/full").expect("a full device");
    for (arguments, code) in [
        (&["rules", "x"][..], 2),
        (&["positions", "no/such/file"], 1),
        (&["match", "random", "greedy", "--games", "3"], 2),
    ] {
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_gipf"));
        let status = command.args(arguments).stderr(full()).status().expect("runs");
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}
