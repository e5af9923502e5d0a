//! With `deterministic = true` a run is bit for bit the same every time, stopped at a save point and gone on with or not.

mod common;

use common::{assert_same, config, fingerprint, records, state, succeed, train};

/// Quickstart's own lanes, tree reuse and playout cap, on a network and simulations that a test can afford.
const SETTINGS: [&str; 8] = [
    "run.deterministic=true",
    "run.steps=60",
    "self_play.lanes=64",
    "self_play.tree_reuse=true",
    "self_play.full_search_probability=0.25",
    "checkpoints.every_steps=20",
    "train.sample_reuse=1.0",
    "window.minimum=600",
];

#[test]
fn two_runs_are_bit_equal_and_so_is_one_that_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &SETTINGS);
    let [one, two, stopped] = ["one", "two", "stopped"].map(|name| folder.path().join(name));
    succeed(&mut train(&config, &one));
    let expected = fingerprint(&one);
    assert_eq!(state(&one)["step"], 60);
    assert!(records(&one).len() >= 64);

    succeed(&mut train(&config, &two));
    assert_same(&expected, &fingerprint(&two));

    // That it is deterministic is said at its beginning alone, and not in the file: the run knows.
    let place = folder.path().join("other");
    std::fs::create_dir(&place).unwrap();
    let config = common::config(&place, &SETTINGS[1..]);
    // The limits are no part of a constant learning rate, but this one falls with the run: the stop is a signal.
    let mut child = train(&config, &stopped)
        .args(["--set", SETTINGS[0]])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !stopped.join("state.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "the run ended early");
    }
    let id = rustix::process::Pid::from_child(&child);
    std::thread::sleep(std::time::Duration::from_millis(100));
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(child.wait().unwrap().success(), "a stopped run ends well");
    let step = state(&stopped)["step"].as_u64().unwrap();
    assert!(
        step.is_multiple_of(20) && step < 60,
        "it stopped at a save point before the end: step {step}"
    );
    succeed(&mut train(&config, &stopped));
    assert_eq!(state(&stopped)["starts"], 2);
    assert_same(&expected, &fingerprint(&stopped));
}
