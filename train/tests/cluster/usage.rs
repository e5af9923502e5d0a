//! Wrong use and absent servers are one clear line.

use std::process::Command;

use super::common::{config, refused_at_last};
use super::server::free_port;

/// Fails with this code and a last line that holds these words.
fn refused(words: &[&str], code: i32, told: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    refused_at_last(command.args(words), code, told);
}

#[test]
fn wrong_use_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), &[]);
    let (config, place) = (config.to_str().unwrap(), folder.path().join("w"));
    let (place, run) = (place.to_str().unwrap(), folder.path().join("run"));
    let run = run.to_str().unwrap();
    let worker = |more: &[&str], code, told: &[&str]| {
        refused(&[&["worker", "--dir", place], more].concat(), code, told);
    };
    worker(&["--nats", "http://h", "--run", "a"], 2, &["--nats", "http"]);
    worker(&["--nats", "nats://u:secret@h:x", "--run", "a"], 2, &["--nats"]);
    worker(&["--nats", "nats://h", "--run", "a.b"], 2, &["'a.b'"]);
    worker(&["--nats", "nats://h", "--run", "a", "--creds", "no/such"], 2, &["--creds", "no/such"]);
    worker(&["--nats", "nats://h", "--run", "a", "--device", "gpu"], 2, &["--device", "gpu"]);
    let learn = |more: &[&str], code, told: &[&str]| {
        refused(&[&["learn", config, "--run", run], more].concat(), code, told);
    };
    learn(&["--nats", "nats://h", "--set", "run.name=a.b"], 2, &["'a.b'"]);
    learn(&["--nats", "nats://h", "--tls-ca", "no/such"], 2, &["--tls-ca", "no/such"]);
    learn(&["--nats", "nats://h", "--from-records", "x"], 2, &["--from-records"]);
    assert!(!std::path::Path::new(run).exists(), "nothing is made of what cannot be");
    let nobody = format!("nats://127.0.0.1:{}", free_port());
    refused(&["status", "--nats", &nobody], 1, &["no NATS server answers", &nobody]);
    refused(&["bench", "intake"], 2, &["--nats"]);
}
