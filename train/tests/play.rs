//! `gipf play` as a user runs it, with a scripted person on standard input.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{self, Stdio};

use assert_cmd::Command;

/// Runs `gipf play` with this input; standard output.
fn play(arguments: &[&str], script: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    let assert =
        command.arg("play").args(arguments).write_stdin(script.to_owned()).assert().success();
    assert!(assert.get_output().stderr.is_empty());
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// Fails with this code and one line that holds these words.
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let mut command = process::Command::new(env!("CARGO_BIN_EXE_gipf"));
    common::refused(command.arg("play").args(arguments), code, words);
}

#[test]
fn a_game_is_played_saved_checked_and_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.jsonl");
    let file = path.display().to_string();
    let text = play(&["--seed", "3", "--save", &file], "e1-e2\n1\n");
    assert!(text.starts_with("White: human, Black: greedy; rules standard\n"), "{text}");
    assert!(text.ends_with(&format!("\nthe game stops after 4 plays\nsaved {file}\n")), "{text}");
    assert!(!text.contains('\x1b'), "no colours in a pipe");
    assert_eq!(
        text,
        play(&["--seed", "3", "--save", &file, "--overwrite"], "e1-e2\n1\n"),
        "the seed decides"
    );
    let mut check = Command::new(env!("CARGO_BIN_EXE_gipf"));
    check.args(["check", &file]).assert().success().stdout("ok 1 games\n");
    let text = play(
        &["human", "random", "--load", &file, "--save", &file, "--overwrite"],
        "moves\n1\nquit\n",
    );
    assert!(text.contains("  1 White e1-e2\n") && text.contains("stops after 6 plays"), "{text}");
    let record = fs::read_to_string(&path).expect("the saved game");
    assert!(record.starts_with(r#"{"format":"gipf-record-1""#), "{record}");
    refused(&["--save", &file], 2, &["exists already", "--overwrite"]);
    assert_eq!(record, fs::read_to_string(&path).expect("the saved game"), "still there");
    refused(&["--load", &file, "--max-plays", "3"], 2, &["--max-plays 3", "6 plays"]);
    let text = play(&["random", "random", "--load", &file, "--max-plays", "8"], "");
    assert!(text.ends_with("unfinished: the limit of 8 plays is reached (8 plays)\n"), "{text}");
}

/// A signal at the prompt stops the game, and what was played is there.
#[test]
fn a_signal_saves_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["INT", "TERM", "HUP"] {
        let path = folder.path().join(signal);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_gipf"))
            .args(["play", "human", "human", "--save"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"e1-e2\n").expect("writes");
        let mut seen = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut bytes = Vec::new();
        while !String::from_utf8_lossy(&bytes).contains("Black> ") {
            assert_ne!(seen.read_until(b'>', &mut bytes).expect("reads"), 0);
            let mut blank = [0];
            seen.read_exact(&mut blank).expect("reads");
            bytes.push(blank[0]);
        }
        let kill = std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(kill.expect("kill").success());
        let mut rest = String::new();
        seen.read_to_string(&mut rest).expect("reads");
        assert!(rest.contains("stops after 1 play\nsaved "), "{signal}: {rest}");
        assert!(child.wait().expect("ends").success());
        assert!(fs::read_to_string(&path).expect("saved").contains(r#"{"p":"e1-e2"#));
        assert!(fs::read_dir(folder.path()).expect("a folder").all(|entry| {
            !entry.expect("an entry").file_name().to_string_lossy().ends_with(".tmp")
        }));
    }
}

#[test]
fn vector_games_go_on_from_their_end() {
    let games = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/data/vectors/games/games-standard_T6.jsonl.gz"
    );
    let text = play(&["--load", games], "");
    assert!(text.contains("rules standard+T6\n") && text.contains(" has won: "), "{text}");
}

#[test]
fn positions_rules_and_side_games() {
    let start = ["--rules", "standard+Z6;challenge=rps", "--position"];
    let start: Vec<&str> = ["human", "human"]
        .into_iter()
        .chain(start)
        .chain(["1g2/5/6/(SZ)s5/6/5/2G1 5,5 BB w m", "--plain"])
        .collect();
    let text = play(&start, "Ze2:e4\n?\n=w\n");
    for part in ["does White win (=w), tie (=t) or lose (=l) rock-paper-scissors?", "[S]", "[Z]"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = play(&["greedy", "random", "--rules", "tournament+D4P4", "--seed", "2"], "");
    assert!(text.lines().last().is_some_and(|line| line.contains(" has won: ")), "{text}");
}

#[test]
fn a_network_plays_and_gives_hints() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new.safetensors");
    let file = path.display().to_string();
    let architecture = "1x8".parse().expect("an architecture");
    let rules = vec!["tournament+T4Z4".to_owned()];
    gipf_model::Checkpoint::initial(architecture, rules, "test", 1)
        .and_then(|checkpoint| checkpoint.save(&path))
        .expect("a checkpoint");
    let arguments = ["human", &file, "--nodes", "16", "--seed", "1", "--device", "cpu"];
    let text = play(&arguments, "hint\nGe1-e2\nhint\n");
    assert!(text.contains("rules tournament+T4Z4\n"), "the network's own rules: {text}");
    for part in [" would play G", "Black plays G", "(White's value ", " after 16 visits)"] {
        assert!(text.contains(part), "'{part}' in {text}");
    }
    assert_eq!(text, play(&arguments, "hint\nGe1-e2\nhint\n"), "the seed decides");
    let mut foreign = Command::new(env!("CARGO_BIN_EXE_gipf"));
    foreign.args(["play", "human", &file, "--rules", "basic"]).write_stdin("quit\n");
    let warned =
        String::from_utf8_lossy(&foreign.assert().success().get_output().stderr).into_owned();
    assert!(warned.contains("was not trained on basic, only on tournament+T4Z4"), "{warned}");
    let recorded = ["--rules", "standard+Z6;challenge=recorded"];
    refused(&[&["human", &file][..], &recorded].concat(), 2, &["side games are recorded"]);
}

#[test]
fn wrong_use_is_one_line() {
    let mut help = Command::new(env!("CARGO_BIN_EXE_gipf"));
    let help = help.args(["play", "--help"]).assert().success();
    assert!(String::from_utf8_lossy(&help.get_output().stdout).contains("Example: gipf play "));
    refused(&["humna"], 2, &["humna", "did you mean human?"]);
    refused(&["human", "gredy"], 2, &["gredy", "did you mean greedy?"]);
    refused(&["--rules", "standrad"], 2, &["standrad"]);
    refused(&["--position", "g2G/5"], 2, &["position"]);
    refused(&["--load", "no/such/file"], 1, &["no/such/file"]);
    refused(&["--save", "no/such/folder/game"], 1, &["no/such/folder"]);
    refused(&["--save", "/dev/null", "--overwrite"], 2, &["no regular file"]);
    let mut both = Command::new(env!("CARGO_BIN_EXE_gipf"));
    both.args(["play", "--load", "a", "--rules", "basic"]).assert().code(2);
}
