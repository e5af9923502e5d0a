//! A worker that is cut off goes on playing, keeps its games and delivers all of them afterwards.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::common::config;
use super::programs::{Program, With, counted, stored, wait_until};
use super::proxy::{ENDS, Namespaces, Proxy};
use super::server::{Server, is_soak};

/// Longer than the client needs to see that nobody answers (15 s), or a minute.
fn cut_time() -> Duration {
    Duration::from_secs(if is_soak() { 60 } else { 20 })
}

#[test]
fn a_worker_behind_a_cut_line_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path(), "") else { return };
    let proxy = Proxy::to(server.port());
    cut_off(folder.path(), &server.url(), &proxy.url(), [&[], &[]], &|cut| proxy.cut(cut));
}

#[test]
fn a_worker_in_a_network_of_its_own_loses_nothing() {
    if !is_soak() {
        eprintln!(
            "SKIPPED: the network namespaces are for make soak; the cut line above is the short form"
        );
        return;
    }
    let Some(networks) = Namespaces::new() else {
        eprintln!("SKIPPED: this machine lets us make no network namespaces (ip netns)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = [networks.inside(0), networks.inside(1)];
    let Some(server) = Server::start_at(folder.path(), ENDS[0], &here, "") else { return };
    let url = server.url();
    cut_off(folder.path(), &url, &url, [&here, &there], &|cut| networks.cut(cut));
}

/// A learner at `near` and a worker at `far`, each run inside something, between which `cut` cuts the line.
fn cut_off(folder: &Path, near: &str, far: &str, inside: [&[&str]; 2], cut: &dyn Fn(bool)) {
    let with = |end: usize, options: &[&str]| With {
        inside: inside[end].iter().map(ToString::to_string).collect(),
        ..With::options(options)
    };
    let config =
        config(folder, &["run.threads=1", "train.sample_reuse=0.01", "self_play.workers=1"]);
    let (run, worker_folder) = (folder.join("run"), folder.join("w"));
    let learner = Program::learner(&config, &run, near, &with(0, &[]));
    let worker = Program::worker(&worker_folder, far, &with(1, &[]));
    let logs = [worker_folder.with_extension("log")];
    let count = || counted(&logs).len();
    wait_until("the first games", Duration::from_secs(60), || count() >= 10);
    cut(true);
    let began = Instant::now();
    // What was under way when the line was cut may still arrive, and the learner tells of itself every 5 s.
    std::thread::sleep(Duration::from_secs(8));
    let before = (count(), backlog_and_games(near, inside[0]));
    while began.elapsed() < cut_time() {
        std::thread::sleep(Duration::from_millis(200));
    }
    let after = (count(), backlog_and_games(near, inside[0]));
    assert!(after.0 > before.0 + 10, "it goes on playing: {before:?}, then {after:?}");
    assert_eq!(after.1, before.1, "and nothing comes through");
    cut(false);
    worker.stop();
    wait_until("the learner to take all games in", Duration::from_secs(60), || {
        status(near, inside[0])["backlog_messages"] == 0
    });
    learner.stop();
    let (counted, stored) = (counted(&logs), stored(&run));
    assert_eq!(counted, stored, "every game is delivered, and none is left over");
    println!("{} games, {} of them while the line was cut", counted.len(), after.0 - before.0);
}

fn status(url: &str, inside: &[&str]) -> serde_json::Value {
    let mut words: Vec<&str> = inside.to_vec();
    words.extend([env!("CARGO_BIN_EXE_gipf"), "status", "--nats", url, "--run", "tiny", "--json"]);
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["runs"][0].clone()
}

/// What has come through: messages that wait, and games the learner counts.
fn backlog_and_games(url: &str, inside: &[&str]) -> (u64, u64) {
    let found = status(url, inside);
    let games = found["learner"]["games"].as_u64().unwrap_or(0);
    (found["backlog_messages"].as_u64().unwrap(), games)
}
