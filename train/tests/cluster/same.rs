//! The way by which games come makes no difference to what is learned from them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gipf_core::record::GameRecord;
use gipf_train::cluster::{Connection, Link, Outbox, Place, Role, RunNames};
use gipf_train::store::{DiskWait, RecordReader};
use gipf_train::transport::Transport;

use super::common::{assert_same, config, fingerprint, records, state, succeed, train};
use super::programs::{Program, With, wait_until};
use super::server::Server;

#[test]
fn local_and_nats_transport_train_alike() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = Server::start(folder.path(), "") else { return };
    let settings = ["run.deterministic=true", "run.games=60", "checkpoints.every_steps=8"];
    let config = config(folder.path(), &settings);
    let [played, local, remote] = ["played", "local", "remote"].map(|n| folder.path().join(n));
    // Games with the id of these runs, which deterministic runs of one seed have in common.
    succeed(&mut train(&config, &played));
    let games: Vec<GameRecord> =
        RecordReader::open(&played).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(games.len(), 60);

    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.arg("learn").arg(&config).arg("--run").arg(&local).arg("--from-records").arg(&played);
    succeed(&mut command);

    // The learner is killed once on the way; the games come in an odd number of messages, some of them twice.
    let mut learner = Program::learner(&config, &remote, &server.url(), &With::default());
    wait_until("the run", Duration::from_secs(60), || {
        remote.join("state.json").exists() && learner.said().contains("filling the window")
    });
    let run_id = state(&remote)["run_id"].as_str().unwrap().to_owned();
    let connection = Connection { url: server.url(), ..Connection::default() };
    let names = RunNames::new("tiny").unwrap();
    let link = Arc::new(Link::connect(&connection, Role::Worker, None).unwrap());
    let place = Place {
        folder: folder.path().join("w"),
        nonce: "ef".repeat(16),
        messages: Arc::default(),
        limit: 1 << 30,
        wait: DiskWait::default(),
    };
    let mut outbox = Outbox::open(link, &names, &run_id, &place).unwrap();
    let mut send = |games: &[GameRecord]| {
        outbox.publish(games).unwrap();
        wait_until("the server", Duration::from_secs(30), || outbox.waiting().games == 0);
    };
    for part in games[..35].chunks(7) {
        send(part);
    }
    wait_until("35 games", Duration::from_secs(60), || stored_lines(&remote) >= 35);
    learner.kill();
    send(&games[21..35]);
    let mut learner = Program::learner(&config, &remote, &server.url(), &With::default());
    for part in games[35..].chunks(11) {
        send(part);
    }
    let status = learner.wait(Duration::from_secs(120));
    assert!(status.success(), "{}", learner.said());
    assert_eq!(records(&remote), records(&local), "the same games in the same order");
    assert_same(&result(&local), &result(&remote));
    assert!(state(&remote)["step"].as_u64().unwrap() > 20);
}

/// Games in a store that is being written.
fn stored_lines(run: &Path) -> usize {
    let file = run.join("games/000001.jsonl.zst");
    let Ok(bytes) = fs::read(file) else { return 0 };
    zstd::decode_all(&bytes[..]).map_or(0, |text| text.iter().filter(|b| **b == b'\n').count())
}

/// What training came to; where the games came from is written down by the local one only.
fn result(run: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut files = fingerprint(run);
    let mut state: serde_json::Value = serde_json::from_slice(&files["state.json"]).unwrap();
    state.as_object_mut().unwrap().remove("records");
    files.insert("state.json".to_owned(), state.to_string().into_bytes());
    files
}
