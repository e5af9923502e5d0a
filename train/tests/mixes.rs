//! `gipf mixes` as a user runs it: its tables whatever the threads, kills and sittings; its files; and what it refuses.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{refused, succeed};
use gipf_model::{Checkpoint, CheckpointHeader};
use serde_json::Value;

/// `gipf mixes` with games that need little time, below a folder.
fn mixes(player: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.args(["mixes", player, "--dir"]).arg(folder.join("mixes")).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same without rivals, with its JSON.
fn table(player: &str, folder: &Path, more: &[&str]) -> Value {
    let mut command = mixes(player, folder, &["--max-plays", "60", "--competence", "0", "--json"]);
    serde_json::from_slice(&succeed(command.args(more)).stdout).unwrap()
}

fn text(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).unwrap()
}

/// A network that nobody trained: it plays every rules string.
fn network(folder: &Path, seed: u64) -> String {
    let architecture = "1x8".parse().unwrap();
    let header = CheckpointHeader::new(architecture, Vec::new(), seed, "test");
    let tensors = architecture.initial_tensors(seed).into_iter().collect();
    let path = folder.join(format!("network-{seed}.safetensors"));
    Checkpoint::new(header, tensors).unwrap().save(&path).unwrap();
    path.display().to_string()
}

fn lines(result: &Value) -> &Vec<Value> {
    result["tables"][0]["lines"].as_array().unwrap()
}

fn games(result: &Value) -> u64 {
    result["tables"][0]["games"].as_u64().unwrap()
}

/// The bytes of games that a folder of games holds.
fn stored(folder: &Path, setup: &str) -> u64 {
    let games = folder.join("mixes").join(setup).join("games");
    let Ok(entries) = fs::read_dir(games) else { return 0 };
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn a_table_is_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let player = network(folder.path(), 3);
    let play = |name: &str, more: &[&str]| {
        let space = ["--space", "singles:3,basic+Z2|D3", "--on", "basic", "--nodes", "6"];
        let folder = folder.path().join(name);
        table(&player, &folder, &[&space, &["--games", "120"][..], more].concat())
    };
    let one = play("one", &["--threads", "1"]);
    assert_eq!(play("three", &["--threads", "3"]), one);
    assert_ne!(lines(&play("other", &["--seed", "2"])), lines(&one));
    assert_eq!(games(&one), 120);
    assert_eq!(lines(&one).len(), 6);
    for line in lines(&one) {
        let number = |key: &str| line[key].as_u64().unwrap();
        assert_eq!(number("games") + number("repeated"), 20, "{line}");
        assert!(number("openings") <= number("games"));
        let [white, low, high] =
            [&line["white"], &line["interval"]["low"], &line["interval"]["high"]]
                .map(|value| value.as_f64().unwrap());
        assert!(low <= white && white <= high, "{line}");
        assert!(line["swing"].as_f64().unwrap() > 0.0 && line["length"].as_f64().unwrap() > 20.0);
        for it in line["potentials"].as_array().unwrap() {
            let shares = ["used", "kept", "lost", "wasted"].map(|key| it[key].as_f64().unwrap());
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{it}");
        }
    }
    let kinds = |line: &Value| {
        let potentials = line["potentials"].as_array().unwrap();
        potentials.iter().map(|it| format!("{}{}", it["color"], it["kind"])).collect::<String>()
    };
    assert_eq!(kinds(&lines(&one)[5]), "\"w\"\"Z\"\"b\"\"D\"");
    // The same command again plays nothing and says the same.
    let before = stored(&folder.path().join("one"), "..");
    assert_eq!(play("one", &["--threads", "2"]), one);
    assert_eq!(stored(&folder.path().join("one"), ".."), before);
}

#[test]
fn a_killed_study_goes_on_and_loses_no_game_that_ended() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let space = ["--space", "singles:4", "--games", "400", "--threads", "2", "--even"];
    let wanted = table("alphabeta:1", &whole, &space);
    assert_eq!(games(&wanted), 400);
    let setup = "alphabeta_1-16-nodes";
    let mut kills = 0;
    for _ in 0..5 {
        let before = stored(&killed, setup);
        let mut child = mixes("alphabeta:1", &killed, &["--max-plays", "60", "--competence", "0"])
            .args(space)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while stored(&killed, setup) < before + 20_000 && child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(120), "no game is stored");
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some() {
            break;
        }
        let reached = stored(&killed, setup);
        // It may just have ended by itself.
        let _ = child.kill();
        kills += u32::from(child.wait().unwrap().signal() == Some(9));
        assert!(stored(&killed, setup) >= reached, "a stored game is gone");
    }
    assert!(kills >= 2, "the study was over too soon");
    assert_eq!(table("alphabeta:1", &killed, &space), wanted);
    let files = |folder: &Path| {
        let games = folder.join("mixes").join(setup).join("games/000001.jsonl.zst");
        let output = Command::new(env!("CARGO_BIN_EXE_gipf")).arg("check").arg(games).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(files(&killed), files(&whole), "every game once, by the rules");
    assert_eq!(files(&whole), "ok 400 games\n");
}

#[test]
fn more_games_add_to_those_that_are_there_and_other_spaces_use_them_again() {
    let folder = tempfile::tempdir().unwrap();
    let play = |more: &[&str]| table("greedy", folder.path(), &[more, &["--even"]].concat());
    let few = play(&["--space", "standard+T4,standard+Y4", "--games", "60"]);
    let more = play(&["--space", "standard+T4,standard+Y4", "--games", "200"]);
    assert_eq!((games(&few), games(&more)), (60, 200));
    assert!(more["tables"][0]["rounds"].as_u64().unwrap() >= 2);
    // Another space with one of the rules strings finds its games played.
    let before = stored(folder.path(), "greedy-16-nodes");
    let other = play(&["--space", "standard+T4", "--games", "60"]);
    assert_eq!(games(&other), 60);
    assert_eq!(stored(folder.path(), "greedy-16-nodes"), before, "nothing was played");
    let setup = folder.path().join("mixes/greedy-16-nodes/setup.json");
    let bytes = fs::read(&setup).unwrap();
    let with = |player: &str, more: &[&str]| {
        let space = ["--space", "standard+T4", "--even", "--max-plays", "60"];
        mixes(player, folder.path(), &[&space[..], more].concat())
    };
    for (more, words) in [
        (&["--seed", "2"][..], "its seed is 1, not 2"),
        (&["--opening-plays", "5"], "its opening_plays is 4, not 5"),
        (&["--temperature", "2"], "its temperature is 1.5, not 2.0"),
    ] {
        let holds = "holds games of another player or other settings";
        refused(&mut with("greedy", more), 2, &[holds, words, "--dir names another folder"]);
    }
    let first = network(folder.path(), 1);
    let same = folder.path().join("same.safetensors");
    fs::copy(&first, &same).unwrap();
    let tiny = ["--space", "basic+T4", "--games", "2", "--nodes", "2"];
    let same = same.display().to_string();
    assert_eq!(games(&table(&same, folder.path(), &tiny)), 2);
    // The same file with other weights is another player.
    fs::copy(network(folder.path(), 2), &same).unwrap();
    refused(
        mixes(&same, folder.path(), &["--max-plays", "60"]).args(tiny),
        2,
        &["same.safetensors", "its network is"],
    );
    // Somebody else is at it; and a damaged study.
    let held = fs::File::open(folder.path().join("mixes/greedy-16-nodes/lock")).unwrap();
    held.lock().unwrap();
    refused(&mut with("greedy", &[]), 1, &["greedy-16-nodes is in use"]);
    drop(held);
    assert_eq!(fs::read(&setup).unwrap(), bytes, "nothing was changed");
    let studies: Vec<PathBuf> = fs::read_dir(folder.path().join("mixes/greedy-16-nodes/studies"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(studies.len(), 2);
    for study in studies {
        fs::write(study, "{}").unwrap();
    }
    let damaged = ["--games", "60", "--competence", "0"];
    refused(&mut with("greedy", &damaged), 1, &["studies", "is damaged: missing field"]);
}

#[test]
fn games_that_are_gone_are_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let space = ["--space", "basic+T4,basic+Z4", "--even", "--games", "40"];
    let before = table("greedy", folder.path(), &space);
    let games = folder.path().join("mixes/greedy-16-nodes/games/000001.jsonl.zst");
    let file = fs::File::options().write(true).open(&games).unwrap();
    file.set_len(file.metadata().unwrap().len() - 20).unwrap();
    assert_eq!(table("greedy", folder.path(), &space), before);
    // What is no file of games is somebody's, and stays.
    fs::write(&games, "notes").unwrap();
    let mut command = mixes("greedy", folder.path(), &["--max-plays", "60"]);
    refused(command.args(space), 1, &["000001.jsonl.zst", "no file of games"]);
    assert_eq!(fs::read_to_string(&games).unwrap(), "notes");
}

#[test]
fn one_table_is_not_told_twice_and_files_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let space = ["--space", "basic+T4"];
    let mut twice = mixes("alphabeta:1", folder.path(), &space);
    refused(twice.args(["--nodes", "2,3"]), 2, &["alphabeta:1 has a strength of its own"]);
    let mut same = mixes("greedy", folder.path(), &space);
    refused(same.args(["--csv", "same", "--html", "same"]), 2, &["--csv and --html are one file"]);
    let forms = folder.path().join("forms.txt");
    fs::write(&forms, "singles:6\nfoo bar\n").unwrap();
    let mut command = mixes("greedy", folder.path(), &[]);
    refused(command.arg("--space-file").arg(&forms), 2, &["forms.txt", "foo bar"]);
}

#[test]
fn tables_stand_beside_each_other_with_grids_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let [csv, html] = ["out.csv", "out.html"].map(|name| folder.path().join(name));
    let player = network(folder.path(), 5);
    let arguments = ["--space", "grid:T3,Z3", "--on", "basic", "--games", "48", "--nodes", "2,8"];
    let mut command = mixes(&player, folder.path(), &arguments);
    command
        .args(["--max-plays", "60", "--competence", "2", "--rivals", "random", "--csv"])
        .arg(&csv);
    command.arg("--html").arg(&html);
    let shown = text(&mut command);
    for words in [
        "2 nodes a decision, first 10 plays drawn, seed 1: 48 games by 4 rules strings",
        "8 nodes a decision",
        "White's score, at 95% for all of the table at once:",
        "basic: White's mix (lines) against Black's",
        "equilibrium: White ",
        "verdicts change",
        "out.csv",
        "random",
    ] {
        assert!(shown.contains(words), "'{words}' is not in: {shown}");
    }
    let lines = fs::read_to_string(&csv).unwrap();
    assert_eq!(lines.lines().count(), 9);
    let cells = lines.lines().next().unwrap().split(',').count();
    assert!(lines.lines().all(|line| line.split(',').count() == cells), "{lines}");
    assert!(lines.contains("basic+T3|Z3") && lines.contains("w T3 used "), "{lines}");
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("<svg class=\"forest\"") && page.contains("<table class=\"heat\">"));
    assert!(page.contains("basic+T3|Z3") && page.contains("id=\"viewer\""));
    assert!(!page.contains(" src=") && !page.contains("<link") && !page.contains("{{"));
    let data = page.split("id=\"game-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let shown: Value = serde_json::from_str(data).unwrap();
    let shown = shown.as_array().unwrap();
    assert!((2..=10).contains(&shown.len()), "{} games", shown.len());
    for game in shown {
        let plays = game["plays"].as_array().unwrap();
        assert_eq!(game["positions"].as_array().unwrap().len(), plays.len() + 1);
        assert!(plays.iter().any(|play| play["search"]["visits"].as_u64() >= Some(2)));
        assert!(game["title"].as_str().unwrap().starts_with("basic+"));
    }
    // Files that are there are replaced on request only.
    refused(&mut command, 2, &["out.csv exists already", "--overwrite"]);
    text(command.arg("--overwrite"));
    let json = table(&player, folder.path(), &arguments);
    let grid = &json["tables"][1]["grids"][0];
    assert_eq!(grid["cells"], serde_json::json!([[0, 1], [2, 3]]));
    let shares: Vec<f64> = ["white", "black"]
        .iter()
        .map(|side| {
            let shares = grid["equilibrium"][side].as_array().unwrap();
            shares.iter().map(|share| share.as_f64().unwrap()).sum()
        })
        .collect();
    assert!(shares.iter().all(|sum| (sum - 1.0).abs() < 1e-9), "{grid}");
    let bounds = &grid["value_bounds"];
    assert!(bounds["low"].as_f64().unwrap() <= grid["equilibrium"]["value"].as_f64().unwrap());
    assert_eq!(json["changes"].as_array().unwrap().len(), 0, "a few games decide nothing");
}

/// A player that beats its rivals is trusted, one that does not is not; the games are kept and go on after a stop.
#[test]
fn a_weak_player_is_not_to_be_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let play = |player: &str, rival: &str, games: &str| {
        let rivals = ["--space", "standard+T4", "--games", "2", "--rivals", rival];
        let mut command = mixes(player, folder.path(), &rivals);
        let shown = text(command.args(["--max-plays", "300", "--competence", games, "--json"]));
        let json: Value = serde_json::from_str(&shown).unwrap();
        lines(&json)[0].clone()
    };
    let strong = play("alphabeta:2", "random", "16");
    assert_eq!(strong["trusted"], true, "{strong}");
    assert_eq!(strong["rivals"][0]["games"], 16);
    assert!(strong["rivals"][0]["interval"]["low"].as_f64().unwrap() > 0.5);
    let weak = play("random", "alphabeta:2", "16");
    assert_eq!(weak["trusted"], false, "{weak}");
    assert!(weak["rivals"][0]["score"].as_f64().unwrap() < 0.2);
    let rivals = folder.path().join("mixes/random-16-nodes/rivals/000001.jsonl.zst");
    let size = fs::metadata(&rivals).unwrap().len();
    assert_eq!(play("random", "alphabeta:2", "16"), weak);
    assert_eq!(fs::metadata(&rivals).unwrap().len(), size, "nothing was played again");
    assert_eq!(play("random", "alphabeta:2", "18")["rivals"][0]["games"], 18);
    assert!(fs::metadata(&rivals).unwrap().len() > size);
    let shown = text(&mut mixes(
        "random",
        folder.path(),
        &[
            "--max-plays",
            "300",
            "--space",
            "standard+T4",
            "--games",
            "2",
            "--rivals",
            "alphabeta:2",
        ],
    ));
    assert!(shown.contains("not to be trusted: 1 of 1"), "{shown}");
}

#[test]
fn time_and_width_end_a_study_too() {
    let folder = tempfile::tempdir().unwrap();
    let space = ["--space", "standard+T4", "--seed", "3"];
    let began = Instant::now();
    let timed = table("random", folder.path(), &[&space[..], &["--minutes", "0.02"]].concat());
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(games(&timed) >= 32, "{timed}");
    // By time there is no end to be told of, unless a verdict came.
    let wide = table("random", folder.path(), &[&space[..], &["--until-width", "40"]].concat());
    assert_eq!(wide["tables"][0]["end"], "narrow");
    let bounds = &lines(&wide)[0]["bounds"];
    assert!(bounds["high"].as_f64().unwrap() - bounds["low"].as_f64().unwrap() < 0.4);
    let slow =
        ["--space", "standard+T4", "--movetime", "1", "--games", "1", "--opening-plays", "2"];
    let slow = table("mcts", folder.path(), &slow);
    assert_eq!(slow["tables"][0]["setup"]["strength"]["movetime"], 1);
    assert_eq!(games(&slow), 1);
}

#[test]
fn a_space_can_be_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("space.txt");
    fs::write(&file, "# two at once\nsingles:6, basic+Z3\n\nstandard+?4|T0 # on one side\n")
        .unwrap();
    let path = file.display().to_string();
    let found = table("random", folder.path(), &["--space-file", &path, "--games", "11"]);
    let rules: Vec<&str> =
        lines(&found).iter().map(|line| line["rules"].as_str().unwrap()).collect();
    assert_eq!(rules.len(), 11);
    assert_eq!((rules[0], rules[5], rules[10]), ("standard+T6", "basic+Z3", "standard+P4|T0"));
}

#[test]
fn wrong_use_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |player: &str, more: &[&str], code: i32, words: &[&str]| {
        refused(&mut mixes(player, folder.path(), more), code, words);
        assert!(!folder.path().join("mixes").exists(), "{more:?}: nothing is made");
    };
    let space = ["--space", "singles:6"];
    let with = |more: &[&'static str]| [&space[..], more].concat();
    refuse("greedy", &[], 2, &["--space"]);
    refuse("gredy", &space, 2, &["gredy", "greedy"]);
    refuse("ugi:cat", &space, 2, &["ugi:cat", "one rules string at a time"]);
    refuse("missing.safetensors", &space, 2, &["missing.safetensors"]);
    refuse("greedy", &["--space", "singels:6"], 2, &["singels:6", "singles:6"]);
    refuse("greedy", &["--space", "pairs:4+9"], 2, &["pairs:4+9", "\"9\" is not 1 to 6"]);
    refuse("greedy", &["--space", "standard+Z6;challenge=recorded"], 2, &["recorded"]);
    refuse("greedy", &with(&["--on", "ultimate"]), 2, &["variant \"ultimate\""]);
    refuse("greedy", &["--space-file", "no-such-file"], 1, &["cannot read no-such-file"]);
    refuse("greedy", &with(&["--games", "0"]), 2, &["--games", "0"]);
    refuse("greedy", &with(&["--games", "9", "--until-width", "3"]), 2, &["cannot be used with"]);
    refuse("greedy", &with(&["--until-width", "0"]), 2, &["--until-width", "above 0"]);
    refuse("greedy", &with(&["--minutes", "nan"]), 2, &["--minutes", "nan"]);
    refuse("greedy", &with(&["--temperature", "0"]), 2, &["--temperature", "0.01 to 100"]);
    refuse("greedy", &with(&["--nodes", "1,2,3"]), 2, &["--nodes: one or two numbers"]);
    refuse("greedy", &with(&["--nodes", "1,2", "--against", "mcts"]), 2, &["without --against"]);
    refuse("greedy", &with(&["--against", "greedy"]), 2, &["twice the same player"]);
    refuse("greedy", &with(&["--competence", "3"]), 2, &["--competence 3", "even"]);
    refuse("greedy", &with(&["--rivals", "shipped:standard"]), 2, &["--rivals shipped:standard"]);
    refuse("greedy", &with(&["--device", "gpu"]), 2, &["gpu"]);
    refuse("greedy", &with(&["--csv", "no/such/folder.csv"]), 1, &["no folder no/such"]);
}
