//! The program as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use assert_cmd::Command;

fn player() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gipf-player"))
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn shows_positions_and_games() {
    let text = stdout(player().args(["show", "--plays", "e1-e2;i4-h5"]));
    assert!(text.contains("after 2 of 2 plays, the last one i4-h5"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.jsonl");
    fs::write(&file, "{\"rules\":\"standard\",\"plays\":[\"e1-e2\"]}\n{\"rules\":\"basic\",\"plays\":[{\"p\":\"e1-e2\"},{\"p\":\"e9-e8\"}]}\n").unwrap();
    let text = stdout(player().arg("show").arg(&file).args(["--game", "2", "--at", "1"]));
    assert!(text.contains("after 1 of 2 plays") && text.contains("black to decide"), "{text}");
    for (arguments, words) in
        [(["--game", "3"], "no game 3"), (["--at", "9"], "the game has 1 play")]
    {
        let assert = player().arg("show").arg(&file).args(arguments).assert().code(2);
        let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(
            error.starts_with("error: ") && error.contains(words) && error.lines().count() == 1,
            "{error}"
        );
    }
    player().args(["show", "--rules", "standrad"]).assert().code(2);
    player().args(["show", "--plays", "e1-e9"]).assert().code(2);
    player().args(["show", "--plays", "e1-e2;;i4-h5"]).assert().code(2);
    player().arg("show").arg(&file).args(["--game", "0"]).assert().code(2);
    fs::write(&file, [0x28, 0xb5, 0x2f, 0xfd, 0]).unwrap();
    let assert = player().arg("show").arg(&file).assert().code(1);
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("cannot read"));
}

#[test]
fn judges_games_play_by_play() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    fs::create_dir(&games).unwrap();
    let line = r#"{"rules":"standard","plays":["e1-e2","i4-h5","c1-c2","g1-f2","h1-g2","i3-h3","a4-b4","c7-d7"]}"#;
    fs::write(games.join("a.jsonl"), format!("{line}\n\n{line}\n")).unwrap();
    fs::write(games.join("b.jsonl"), line).unwrap();
    fs::write(games.join(".hidden"), "no game").unwrap();
    let folder_name = games.to_str().unwrap();
    let judged = stdout(player().args(["analyse", folder_name, "--nodes", "30", "--json"]));
    let games: Vec<serde_json::Value> =
        judged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(games.len(), 3);
    assert_eq!(games[0]["plays"], games[1]["plays"], "games are judged each for itself");
    assert_eq!((&games[1]["game"], &games[2]["game"]), (&2.into(), &1.into()));
    let plays = games[0]["plays"].as_array().unwrap();
    assert_eq!(plays.len(), 8);
    let mut best = 0;
    for play in plays {
        let (value, lost) = (play["value"].as_f64().unwrap(), play["lost"].as_f64().unwrap());
        assert!((0.0..=1.0).contains(&value) && (0.0..=value).contains(&lost), "{play}");
        assert_eq!(play["line"][0], play["best"]);
        if play["play"] == play["best"] {
            assert_eq!(lost, 0.0);
            best += 1;
        }
    }
    let counted =
        games[0]["white"]["best"].as_u64().unwrap() + games[0]["black"]["best"].as_u64().unwrap();
    assert!(counted >= best);

    let text = stdout(player().args(["analyse", folder_name, "--nodes", "10", "--game", "1"]));
    assert!(text.contains("b.jsonl, game 1: standard, 8 plays, unfinished"), "{text}");
    assert!(text.contains("2 games\nWhite: "), "{text}");
    let by_time = ["--movetime", "5", "--player", "mcts"];
    let text = stdout(player().args(["analyse", folder_name, "--game", "1"]).args(by_time));
    assert!(text.lines().count() > 20, "{text}");

    let official = folder.path().join("official.txt");
    fs::write(&official, "1. e1-e2 / i4-h5\n2. c1-c2 /\n").unwrap();
    let official = official.to_str().unwrap();
    let text = stdout(player().args(["analyse", official, "--notation", "official"]));
    assert!(text.contains("game 1: standard, 3 plays"), "{text}");
    let other = folder.path().join("other.jsonl");
    fs::write(&other, r#"{"rules":"ultimate","plays":["Ge1-e2"]}"#).unwrap();
    let other = other.to_str().unwrap();
    for (arguments, code, words) in [
        (&[other][..], 2, "game 1: rules 'ultimate': shipped:standard knows standard"),
        (&[official], 1, "game 1: no JSON object"),
        (&["missing"], 1, "cannot open missing"),
        (&[folder_name, "--game", "2"], 2, "b.jsonl has no game 2"),
        (&[folder_name, "--player", "greedy"], 2, "greedy does not weigh results"),
        (&[folder_name, "--rules", "standard"], 2, "--notation official"),
        (&[official, "--notation", "official", "--rules", "x"], 2, "unknown variant"),
    ] {
        let assert = player().arg("analyse").args(arguments).assert().code(code);
        let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(error.contains(words) && error.trim_end().lines().count() == 1, "{error}");
    }
}

#[test]
fn speaks_ugi() {
    let text = stdout(
        player()
            .args(["ugi", "--player", "greedy"])
            .write_stdin("ugi\nisready\nposition startpos\ngo nodes 10\nquit\n"),
    );
    assert!(text.contains("ugiok\nreadyok\nbestmove "), "{text}");
    player().args(["ugi", "--player", "greedi"]).assert().code(2);
}

#[test]
fn a_trained_player_needs_no_libtorch() {
    let file = "../tests/data/checkpoints/standard-4x32.safetensors";
    for name in ["shipped:standard", file] {
        let text = stdout(
            player()
                .args(["ugi", "--player", name])
                .write_stdin("ugi\nposition startpos\ngo nodes 64\nquit\n"),
        );
        assert!(text.contains(name), "its id has its name: {text}");
        assert!(text.contains("score wdl "), "a network weighs results: {text}");
        assert!(text.contains("bestmove "), "{text}");
    }
    let refused = |name: &str, code: i32, words: &str| {
        let assert = player().args(["ugi", "--player", name]).write_stdin("").assert().code(code);
        let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(error.contains(words) && error.trim_end().lines().count() == 1, "{error}");
    };
    refused("shipped:standrad", 2, "did you mean shipped:standard?");
    refused("missing.safetensors", 2, "no player 'missing.safetensors'");
    refused("Cargo.toml", 1, "Cargo.toml: not a safetensors file");
}

#[test]
fn does_not_link_libtorch() {
    let program = env!("CARGO_BIN_EXE_gipf-player");
    let Ok(output) = std::process::Command::new("ldd").arg(program).output() else {
        eprintln!("skipped: there is no ldd here");
        return;
    };
    let libraries = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!libraries.contains("torch"), "{libraries}");
}
