//! Gating as a user runs it: a best checkpoint that self-play uses, through kills and stops, bit for bit.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{assert_same, config, fingerprint, records, state, succeed, train};

/// Tests that are decided after some games: the hypotheses are so far off that almost any score accepts the second one.
const LENIENT: [&str; 5] = [
    "gating.mode=\"sprt\"",
    "gating.elo0=-500.0",
    "gating.elo1=-300.0",
    "gating.games=60",
    "gating.simulations=2",
];

/// The same where almost any score accepts the first one.
const STRICT: [&str; 5] = [
    "gating.mode=\"sprt\"",
    "gating.elo0=300.0",
    "gating.elo1=500.0",
    "gating.games=60",
    "gating.simulations=2",
];

const DETERMINISTIC: [&str; 4] = [
    "run.deterministic=true",
    "run.steps=40",
    "checkpoints.every_steps=10",
    "checkpoints.keep=100",
];

fn gates(run: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(run.join("gates.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The checkpoints that self-play's searches used, by step.
fn played_with(run: &Path) -> BTreeSet<u64> {
    let steps = |line: &String| {
        let game: serde_json::Value = serde_json::from_str(line).unwrap();
        let plays = game["plays"].as_array().unwrap().clone();
        plays.into_iter().filter_map(|play| play["s"]["ckpt"].as_u64())
    };
    records(run).iter().flat_map(steps).collect()
}

#[test]
fn what_is_accepted_plays_and_what_is_rejected_does_not() {
    let folder = tempfile::tempdir().unwrap();
    for (name, test) in [("lenient", LENIENT), ("strict", STRICT)] {
        let config = config(folder.path(), &[&DETERMINISTIC[..], &test].concat());
        let run = folder.path().join(name);
        let output = succeed(&mut train(&config, &run));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let outcomes = gates(&run);
        let tested: Vec<_> = outcomes.iter().map(|gate| gate["step"].as_u64().unwrap()).collect();
        assert_eq!(tested, [10, 20, 30, 40], "every save point is tested");
        let (decision, best) = if name == "lenient" { ("accepted", 40) } else { ("rejected", 0) };
        let decided = outcomes.iter().filter(|gate| gate["decision"] == decision).count();
        let accepted = outcomes.iter().filter(|gate| gate["decision"] == "accepted").count();
        assert!(decided > 2 && accepted % 4 == 0, "{outcomes:?}");
        assert!(said.contains("gate: step 10 against the best, step 0"), "{said}");
        assert_eq!(state(&run)["best"], best);
        assert_eq!(state(&run)["judged"], 40);
        let steps = played_with(&run);
        let allowed: BTreeSet<u64> =
            if name == "lenient" { [0, 10, 20, 30].into() } else { [0].into() };
        assert!(steps.is_subset(&allowed), "self-play used {steps:?}");
        assert!(name == "strict" || steps.len() > 1, "self-play used {steps:?}");
    }
}

#[test]
fn a_gated_run_is_bit_equal_killed_in_a_test_and_stopped_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &[&DETERMINISTIC[..], &LENIENT].concat());
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    succeed(&mut train(&config, &whole));
    // state.json is written when the run is made, at each save point, and after each test: the second time after a test is
    // with the best settled, so these counts fall on both sides of a test's end.
    for count in 2..=7 {
        let status = train(&config, &killed)
            .env("GIPF_FAULT", format!("state.before_rename:{count}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.signal() == Some(9) || status.success(), "{status}");
    }
    succeed(&mut train(&config, &killed));
    assert_same(&fingerprint(&whole), &fingerprint(&killed));
    let told = |run: &Path| -> Vec<(u64, String)> {
        let line = |gate: &serde_json::Value| (gate["step"].as_u64().unwrap(), gate.to_string());
        // A test that was killed between its line and the state is played, and told, again.
        let mut lines: Vec<_> = gates(run).iter().map(line).collect();
        lines.dedup();
        lines
    };
    assert_eq!(told(&whole), told(&killed));
}

#[test]
fn gating_beside_self_play_keeps_its_best_through_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["run.steps=1000000", "checkpoints.every_steps=5", "checkpoints.keep=1"];
    let config = config(folder.path(), &[&settings[..], &LENIENT].concat());
    let run = folder.path().join("run");
    let mut child =
        train(&config, &run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let accepted = || gates(&run).iter().filter(|gate| gate["decision"] == "accepted").count();
    for _ in 0..600 {
        // The last line may be half written at this moment.
        let whole = fs::read_to_string(run.join("gates.jsonl")).unwrap_or_default();
        if whole.lines().count() > 1 && whole.ends_with('\n') && accepted() > 0 {
            break;
        }
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let best = state(&run)["best"].as_u64().unwrap();
    assert!(run.join(format!("checkpoints/step-{best:08}.safetensors")).exists());
    let step = state(&run)["step"].as_u64().unwrap();
    let limit = format!("run.steps={}", step + 10);
    succeed(train(&config, &run).args(["--set", &limit]));
    let best = state(&run)["best"].as_u64().unwrap();
    assert!(best > 0, "two accepted checkpoints and the first is still the best");
    assert!(run.join(format!("checkpoints/step-{best:08}.safetensors")).exists());
    assert_eq!(state(&run)["judged"], state(&run)["step"], "the last checkpoint was tested too");
    let player = format!("run:{}@best", run.display());
    succeed(
        Command::new(env!("CARGO_BIN_EXE_gipf"))
            .args(["match", &player, "random", "--games", "2", "--nodes", "2"]),
    );
    // Without gating there is no best but the newest.
    let limit = format!("run.steps={}", step + 12);
    succeed(train(&config, &run).args(["--set", &limit, "--set", "gating.mode=off"]));
    assert_eq!(state(&run)["best"], serde_json::Value::Null);
}
