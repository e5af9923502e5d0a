//! A run that is killed again and again loses nothing that it counted, and goes on as if nothing had been.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{assert_same, config, fingerprint, records, state, succeed, train};

/// Fault points at which the program kills itself: after an append, before its fsync, around renames.
const POINTS: [&str; 10] = [
    "append.half_frame:1",
    "append.after_write:1",
    "checkpoint.before_rename:1",
    "append.before_fsync:2",
    "learner.half_written:1",
    "learner.after_rename:1",
    "append.after_fsync:1",
    "state.before_fsync:1",
    "state.before_rename:1",
    "checkpoint.after_rename:1",
];

/// Moments, in milliseconds after a run has begun to work, at which it is killed from outside.
const MOMENTS: [u64; 10] = [0, 30, 60, 90, 130, 170, 220, 280, 350, 430];

#[test]
fn twenty_kills_leave_the_run_that_was_never_killed() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "run.deterministic=true",
        "run.steps=900",
        "checkpoints.every_steps=8",
        "checkpoints.keep=100",
    ];
    let config = config(folder.path(), &settings);
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    succeed(&mut train(&config, &whole));
    for (point, moment) in POINTS.into_iter().zip(MOMENTS) {
        kill_at_point(&config, &killed, point);
        check_counted(&killed);
        kill_at_moment(&config, &killed, moment);
        check_counted(&killed);
    }
    let before = state(&killed)["step"].as_u64().unwrap();
    assert!(before < 900, "the run was to be killed before its end, it is at step {before}");
    succeed(&mut train(&config, &killed));
    assert_same(&fingerprint(&whole), &fingerprint(&killed));
}

#[test]
fn kills_beside_self_play_lose_no_counted_game() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["run.steps=100000", "checkpoints.every_steps=10", "self_play.lanes=4"];
    let config = config(folder.path(), &settings);
    let run = folder.path().join("run");
    for (point, moment) in POINTS.into_iter().zip(MOMENTS).skip(3).step_by(2) {
        kill_at_point(&config, &run, point);
        check_counted(&run);
        let counted = records(&run).len();
        kill_at_moment(&config, &run, moment);
        check_counted(&run);
        assert!(records(&run).len() >= counted, "a stored game is gone");
    }
    let stored = records(&run).len() as u64;
    let step = state(&run)["step"].as_u64().unwrap();
    succeed(train(&config, &run).args(["--set", &format!("run.steps={}", step + 20)]));
    assert!(
        state(&run)["games"].as_u64().unwrap() >= stored,
        "the games stored after the last save point count"
    );
    assert_eq!(state(&run)["games"].as_u64().unwrap(), records(&run).len() as u64);
    check_counted(&run);
}

/// Starts the run with an armed fault: it must die of it.
fn kill_at_point(config: &Path, run: &Path, point: &str) {
    let status = train(config, run)
        .env("GIPF_FAULT", point)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(
        status.signal(),
        Some(9),
        "{point}: the run was to kill itself, it ended with {status}"
    );
}

/// Starts the run and kills it some time after it has taken its folder.
fn kill_at_moment(config: &Path, run: &Path, moment: u64) {
    let mut child = train(config, run).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_for_work(&mut child, run);
    std::thread::sleep(Duration::from_millis(moment));
    child.kill().unwrap();
    assert_eq!(
        child.wait().unwrap().signal(),
        Some(9),
        "the run ended by itself within {moment} ms"
    );
}

/// Waits until the process holds the run's lock, which has its id.
fn wait_for_work(child: &mut Child, run: &Path) {
    let began = Instant::now();
    let id = child.id().to_string();
    while !std::fs::read_to_string(run.join("lock")).is_ok_and(|text| text.trim() == id) {
        assert!(began.elapsed() < Duration::from_secs(60), "the run does not begin");
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Every game that `state.json` counts is stored, and none twice. A torn frame at the end is not counted, so it is left out.
fn check_counted(run: &Path) {
    if !run.join("state.json").exists() {
        return;
    }
    let counted = state(run)["games"].as_u64().unwrap();
    let lines = whole_records(run);
    assert!(
        lines.len() as u64 >= counted,
        "{counted} games were counted, {} are stored",
        lines.len()
    );
    let ids: BTreeSet<String> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string())
        .collect();
    assert_eq!(ids.len(), lines.len(), "a game is stored twice");
}

/// The records up to a torn tail.
fn whole_records(run: &Path) -> Vec<String> {
    use std::io::{BufRead, BufReader};
    let mut files: Vec<_> =
        std::fs::read_dir(run.join("games")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".jsonl.zst"));
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let file = std::fs::File::open(file).unwrap();
        if file.metadata().unwrap().len() == 0 {
            continue;
        }
        let reader = BufReader::new(zstd::Decoder::new(file).unwrap());
        lines.extend(reader.lines().map_while(Result::ok).filter(|line| line.ends_with('}')));
    }
    lines
}
