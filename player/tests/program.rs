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
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("packed"));
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
