//! Runs whose network grows, and runs by the other settings of self-play's search.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{assert_same, config, fingerprint, records, state, succeed, train};
use gipf_model::Checkpoint;

/// 1x8 becomes 2x12 at half of 48 steps, then learns from what it was for 12.
const GROWING: [&str; 7] = [
    "run.deterministic=true",
    "run.steps=48",
    "checkpoints.every_steps=10",
    "checkpoints.keep=100",
    "network.grow_to=\"2x12\"",
    "network.grow_at=0.5",
    "network.grow_steps=12",
];

/// The sizes of a run's checkpoints by step.
fn sizes(run: &Path) -> Vec<(u64, String)> {
    let mut found: Vec<_> = std::fs::read_dir(run.join("checkpoints"))
        .unwrap()
        .map(|entry| Checkpoint::load(&entry.unwrap().path()).unwrap().header)
        .map(|header| (header.step, header.architecture.to_string()))
        .collect();
    found.sort();
    found
}

fn gipf(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.args(words).stdin(Stdio::null());
    command
}

/// It is killed at the save point where the network grows, at the first one of the larger network, which lies within the
/// distillation, and after that: what comes out is the run that nobody killed.
#[test]
fn a_growing_run_is_bit_equal_however_often_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &GROWING);
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    succeed(&mut train(&config, &whole));
    let small = [0, 10, 20, 24].map(|step| (step, "1x8".to_owned()));
    let large = [30, 40, 48].map(|step| (step, "2x12".to_owned()));
    assert_eq!(sizes(&whole), [small.as_slice(), &large].concat());
    assert_eq!(state(&whole)["grown_at"], 24);
    // The games of the distillation were played by the small network: no record names a step within it.
    let played: Vec<u64> = records(&whole)
        .iter()
        .flat_map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let plays = record["plays"].as_array().unwrap().clone();
            plays.into_iter().filter_map(|play| play["s"]["ckpt"].as_u64()).collect::<Vec<_>>()
        })
        .collect();
    assert!(!played.iter().any(|step| (25..36).contains(step)), "{played:?}");

    // The folder is made, then steps 0, 10, 20 and 24 are saved. It dies before the state of the last one is written, and after
    // that before the next save point's is: there it dies again, and at the one after.
    for (point, step) in [
        ("state.before_rename:5", 20),
        ("checkpoint.after_rename:2", 24),
        ("state.before_rename:1", 24),
        ("checkpoint.before_rename:2", 30),
    ] {
        let status = train(&config, &killed)
            .env("GIPF_FAULT", point)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(9), "{point}: it ended with {status}");
        assert_eq!(state(&killed)["step"], step, "{point}");
        let grown = state(&killed)["grown_at"].as_u64();
        assert_eq!(grown, (step > 24).then_some(24), "{point}");
    }
    succeed(&mut train(&config, &killed));
    assert_same(&fingerprint(&whole), &fingerprint(&killed));
}

/// Beside self-play too; ratings and report read a run of two sizes, and another run can begin with the larger one.
#[test]
fn a_grown_run_is_rated_reported_and_begun_from() {
    let folder = tempfile::tempdir().unwrap();
    let growing: Vec<&str> =
        GROWING.into_iter().filter(|set| !set.starts_with("run.deterministic")).collect();
    let plain = config(folder.path(), &growing);
    let run = folder.path().join("run");
    succeed(&mut train(&plain, &run));
    let sizes = sizes(&run);
    let grown_at = state(&run)["grown_at"].as_u64().unwrap();
    assert!(grown_at >= 24, "half of the run was over: {grown_at}");
    for (step, size) in &sizes {
        assert_eq!(size, if *step <= grown_at { "1x8" } else { "2x12" }, "{sizes:?}");
    }
    assert!(sizes.iter().any(|(step, _)| *step > grown_at), "{sizes:?}");

    let text = run.display().to_string();
    succeed(&mut gipf(&[
        "rate",
        &text,
        "--players",
        "0,latest,random",
        "--games",
        "16",
        "--nodes",
        "4",
    ]));
    assert!(run.join("ratings.json").exists());
    succeed(&mut gipf(&["report", &text]));
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("grows to 2x12"), "the page says what the network became");

    let last = sizes.last().unwrap().0;
    let checkpoint = run.join(format!("checkpoints/step-{last:08}.safetensors"));
    let next = folder.path().join("next");
    let refused = train(&plain, &next).arg("--init").arg(&checkpoint).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("network.architecture=2x12"), "{said}");
    let sets = ["--set", "network.architecture=2x12", "--set", "network.grow_to=", "--init"];
    succeed(train(&plain, &next).args(sets).arg(&checkpoint));
    assert!(state(&next)["grown_at"].is_null());
}

/// PUCT, symmetric boards and playout-cap randomization together: a run like any other, and repeatable.
#[test]
fn a_run_by_puct_on_symmetric_boards_is_bit_equal() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |search: &'static str, symmetry: &'static str| {
        [
            "run.deterministic=true",
            "run.steps=20",
            "self_play.full_search_probability=0.5",
            search,
            symmetry,
        ]
    };
    let run = |name: &str, settings: &[&str]| {
        let config = config(folder.path(), settings);
        let path = folder.path().join(name);
        succeed(&mut train(&config, &path));
        path
    };
    let both = settings("self_play.search=\"puct\"", "self_play.symmetry=true");
    let (one, two) = (run("one", &both), run("two", &both));
    assert_same(&fingerprint(&one), &fingerprint(&two));
    let gumbel = run("gumbel", &settings("self_play.search=\"gumbel\"", "self_play.symmetry=true"));
    let upright =
        run("upright", &settings("self_play.search=\"puct\"", "self_play.symmetry=false"));
    assert_ne!(records(&one), records(&gumbel));
    assert_ne!(records(&one), records(&upright));
    // The players of that run, with and without what the settings stand for.
    let place = format!("run:{}@latest", one.display());
    for name in ["sym:", "puct:sym:", "sym:puct:"] {
        let name = format!("{name}{place}");
        succeed(&mut gipf(&["match", &name, &place, "--games", "2", "--nodes", "4"]));
    }
    let twice = gipf(&["match", &format!("sym:sym:{place}"), "random"]).output().unwrap();
    assert_eq!(twice.status.code(), Some(2));
}
