//! `gipf train`, `gipf match` and `gipf doctor` as a user runs them: a small run from start to report, and what can go wrong.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{config, records, refused_at_last, state, succeed, train};

fn gipf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(succeed(command).stdout).unwrap()
}

/// A finished run of 30 steps in `folder/run`.
fn small_run(folder: &Path) -> std::path::PathBuf {
    let config = config(folder, &["run.steps=30", "checkpoints.every_steps=10"]);
    let run = folder.join("run");
    succeed(&mut train(&config, &run));
    run
}

#[test]
fn a_run_from_start_to_report() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(
        folder.path(),
        &["run.steps=30", "checkpoints.every_steps=10", "report.games=4", "report.simulations=4"],
    );
    let run = folder.path().join("run");
    let output = succeed(&mut train(&config, &run));
    let (report, progress) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for words in [
        "step 30",
        "against",
        "random ",
        "greedy ",
        "its step-0 checkpoint",
        "shipped:standard",
        "Elo",
        "run folder",
        "next:",
        "gipf match run:",
    ] {
        assert!(report.contains(words), "'{words}' is not in: {report}");
    }
    for words in ["a new run in", "filling the window", "self-play and training", "matches"] {
        assert!(progress.contains(words), "'{words}' is not in: {progress}");
    }
    assert_eq!(state(&run)["step"], 30);
    assert_eq!(state(&run)["games"].as_u64(), Some(records(&run).len() as u64));
    let shards: Vec<_> =
        fs::read_dir(run.join("games")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let shards: Vec<_> =
        shards.iter().filter(|path| path.extension().is_some_and(|end| end == "zst")).collect();
    let checked = stdout(gipf(&["check"]).args(&shards));
    assert_eq!(
        checked,
        format!("ok {} games\n", records(&run).len()),
        "the run's records pass gipf check"
    );
    let events: Vec<_> = fs::read_dir(run.join("events")).unwrap().collect();
    assert_eq!(events.len(), 1, "one event file a start");

    let latest = format!("run:{}@latest", run.display());
    let json =
        stdout(&mut gipf(&["match", &latest, "random", "--games", "4", "--nodes", "4", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["games"], 4);
    assert_eq!(json["rules"], "standard");
    let games = folder.path().join("match.jsonl");
    let step = format!("puct:run:{}@10", run.display());
    let text = stdout(
        gipf(&["match", &step, &latest, "--games", "2", "--nodes", "4", "--records"]).arg(&games),
    );
    assert!(text.contains("2 of 2 games") && text.contains("Elo"), "{text}");
    assert_eq!(stdout(gipf(&["check"]).arg(&games)), "ok 2 games\n");
}

#[test]
fn a_run_goes_on_and_ends_sooner_on_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &["run.steps=1000000", "checkpoints.every_steps=1000"]);
    let run = folder.path().join("run");
    for start in 1..=2 {
        let mut child =
            train(&config, &run).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let before = run.join("state.json").exists().then(|| state(&run)["step"].as_u64().unwrap());
        std::thread::sleep(Duration::from_millis(2500));
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        assert!(child.wait().unwrap().success(), "a stopped run ends well");
        let said = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert!(said.contains("stopped at step") && said.contains("gipf train"), "{said}");
        assert_eq!(state(&run)["starts"], start);
        assert!(state(&run)["step"].as_u64() >= before, "it went on from where it was");
        assert_eq!(state(&run)["games"].as_u64(), Some(records(&run).len() as u64));
    }
    let step = state(&run)["step"].as_u64().unwrap();
    assert!(step > 0, "two starts of 2.5 seconds made no step");
}

#[test]
fn two_processes_cannot_share_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &["run.steps=1000000"]);
    let run = folder.path().join("run");
    let mut child =
        train(&config, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !run.join("state.json").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    refused_at_last(&mut train(&config, &run), 1, &["in use", &child.id().to_string()]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn bad_configs_are_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &["run.steps=5"]);
    let run = folder.path().join("run");
    refused_at_last(
        train(&config, &run).args(["--set", "train.batch_sise=3"]),
        2,
        &["train.batch_sise", "batch_size"],
    );
    refused_at_last(
        train(&config, &run).args(["--set", "train.batch_size=many"]),
        2,
        &["train.batch_size", "many"],
    );
    refused_at_last(train(&config, &run).args(["--set", "train.batch_size"]), 2, &["KEY=VALUE"]);
    refused_at_last(
        train(&config, &run).args(["--set", "run.deterministic=true", "--set", "run.minutes=1"]),
        2,
        &["deterministic"],
    );
    refused_at_last(train(&config, &run).args(["--set", "rules.rules=standrad"]), 2, &["standrad"]);
    refused_at_last(&mut train(&folder.path().join("missing.toml"), &run), 1, &["missing.toml"]);
    refused_at_last(train(&config, &run).args(["--set", "run.device=cuda:99"]), 1, &["cuda:99"]);
    refused_at_last(train(&config, &run).env("GIPF_FAULT", "no.such:1"), 2, &["no.such"]);
    refused_at_last(train(&config, &run).args(["--init", "no/such/file"]), 1, &["no/such/file"]);
    refused_at_last(
        train(&config, &run).args(["--from-records", "no/such/folder"]),
        1,
        &["no/such/folder"],
    );
}

#[test]
fn a_changed_config_is_named_key_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let changed = config(
        folder.path(),
        &["run.steps=30", "checkpoints.every_steps=10", "train.batch_size=48", "run.seed=12"],
    );
    refused_at_last(&mut train(&changed, &run), 2, &["train.batch_size", "run.seed", "32", "48"]);
    let same = config(folder.path(), &["run.steps=30", "checkpoints.every_steps=10"]);
    succeed(train(&same, &run).args(["--set", "run.steps=40"]));
    assert_eq!(state(&run)["step"], 40, "an override is taken, and kept");
    let log = fs::read_to_string(run.join("settings.jsonl")).unwrap();
    assert!(
        log.contains("run.steps") && log.contains("\"step\":30"),
        "it is logged with its step: {log}"
    );
    succeed(&mut train(&same, &run));
}

#[test]
fn damaged_checkpoints_and_records_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let same = folder.path().join("config.toml");
    let path = run.join("checkpoints/step-00000030.safetensors");
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let copy = folder.path().join("damaged.safetensors");
    fs::write(&copy, &damaged).unwrap();
    let name = copy.display().to_string();
    refused_at_last(
        &mut gipf(&["match", &name, "random", "--games", "2"]),
        1,
        &["damaged.safetensors"],
    );
    fs::write(&copy, &whole[..whole.len() / 3]).unwrap();
    refused_at_last(
        &mut gipf(&["match", &name, "random", "--games", "2"]),
        1,
        &["damaged.safetensors"],
    );
    fs::write(&copy, "no checkpoint").unwrap();
    refused_at_last(
        train(&same, &folder.path().join("other")).args(["--init"]).arg(&copy),
        1,
        &["damaged.safetensors"],
    );
    // A torn tail is cut, and the run goes on; a learner's state that is gone is named.
    let shard = run.join("games/000001.jsonl.zst");
    let mut bytes = fs::read(&shard).unwrap();
    bytes.extend_from_slice(&[0x28, 0xb5, 0x2f, 0xfd, 1, 2]);
    fs::write(&shard, bytes).unwrap();
    let before = records_up_to_tear(&run);
    succeed(train(&same, &run).args(["--set", "run.steps=32"]));
    assert!(records(&run).len() as u64 >= before, "nothing counted is lost");
    fs::remove_file(run.join("learner/step-00000032.safetensors")).unwrap();
    refused_at_last(&mut train(&same, &run), 1, &["step-00000032", "missing"]);
}

fn records_up_to_tear(run: &Path) -> u64 {
    state(run)["games"].as_u64().unwrap()
}

#[test]
fn init_and_from_records_start_new_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let config = config(
        folder.path(),
        &["run.steps=1000", "checkpoints.every_steps=10", "train.sample_reuse=1.0"],
    );
    let learned = folder.path().join("learned");
    succeed(train(&config, &learned).arg("--from-records").arg(&run));
    let (given, steps) = (state(&run)["games"].clone(), state(&learned)["step"].as_u64().unwrap());
    assert_eq!(state(&learned)["games"], given, "every game is taken in once");
    assert!(steps > 0 && steps < 1000, "training ends with the records: {steps} steps");
    // Once more: there is nothing new to learn.
    succeed(train(&config, &learned).arg("--from-records").arg(&run));
    assert_eq!(state(&learned)["step"].as_u64(), Some(steps));

    let other = folder.path().join("other");
    let first = run.join("checkpoints/step-00000030.safetensors");
    succeed(train(&config, &other).arg("--init").arg(&first).args(["--set", "run.steps=3"]));
    assert_eq!(state(&other)["step"], 3, "a new run counts its own steps");
    refused_at_last(
        train(&config, &folder.path().join("wider"))
            .arg("--init")
            .arg(&first)
            .args(["--set", "network.architecture=2x8"]),
        1,
        &["--init", "1x8"],
    );
    assert!(!folder.path().join("wider").exists(), "a refused start makes no folder");
}

#[test]
fn records_without_searches_are_refused_and_others_named_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let new = folder.path().join("new");
    let config = config(folder.path(), &["run.steps=5"]);
    let games = folder.path().join("match.jsonl");
    succeed(gipf(&["match", "random", "greedy", "--games", "4", "--records"]).arg(&games));
    let learn = |records: &Path| {
        let mut command = train(&config, &new);
        command.arg("--from-records").arg(records);
        command
    };
    refused_at_last(&mut learn(&games), 1, &["no trainable samples in", "match.jsonl"]);
    fs::write(&games, "nonsense\n").unwrap();
    refused_at_last(&mut learn(&games), 1, &["match.jsonl, line 1: not a game record"]);
    refused_at_last(&mut train(&config, &games), 2, &["is a file, not a folder"]);
    assert!(!new.exists(), "a refused start makes no folder");
    let report = stdout(&mut learn(&run));
    assert!(!report.contains("self-play"), "{report}");
    let go_on = format!("--run {} --from-records {} --set", new.display(), run.display());
    assert!(report.contains(&go_on), "{report}");
    let output = succeed(&mut train(&config, &new));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("now self-play adds to them"), "{said}");
    // Without its state the run is not begun anew over what is left of it.
    fs::remove_file(new.join("state.json")).unwrap();
    refused_at_last(&mut train(&config, &new), 1, &["no state.json", "--init", "--from-records"]);
}

#[test]
fn wrong_players_are_named() {
    refused_at_last(&mut gipf(&["match", "randon", "greedy"]), 2, &["randon", "random"]);
    refused_at_last(&mut gipf(&["match", "random", "greedy", "--games", "3"]), 2, &["3"]);
    refused_at_last(&mut gipf(&["match", "run:/no/such@latest", "greedy"]), 2, &["/no/such"]);
    refused_at_last(&mut gipf(&["match", "random", "greedy", "--device", "gpu"]), 2, &["gpu"]);
    refused_at_last(
        &mut gipf(&["match", "random", "greedy", "--rules", "standard;challenge=recorded"]),
        2,
        &["recorded"],
    );
    let text = stdout(&mut gipf(&["match", "greedy", "random", "--games", "20"]));
    assert!(text.starts_with("greedy against random, 20 of 20 games, rules standard"), "{text}");
}

#[test]
fn doctor_tries_every_part() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout(gipf(&["doctor", "--device", "cpu", "--run"]).arg(folder.path()));
    for part in ["libtorch", "network", "checkpoint", "disk", "space"] {
        assert!(text.contains(&format!("ok     {part}")), "{text}");
    }
    let json = stdout(gipf(&["doctor", "--device", "cpu", "--json", "--run"]).arg(folder.path()));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["ok"], true);
    refused_at_last(
        gipf(&["doctor", "--device", "cuda:99", "--run"]).arg(folder.path()),
        1,
        &["device"],
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing behind");
}

#[test]
fn a_window_that_does_not_grow_is_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        ["run.steps=30", "run.games=200", "window.minimum=300", "window.growth_scale=0.0"];
    let (config, run) = (config(folder.path(), &settings), folder.path().join("run"));
    succeed(&mut train(&config, &run));
    assert_eq!(state(&run)["step"], 30);
}
