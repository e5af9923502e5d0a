//! What the tests of whole runs share: tiny configs, the program, and a run's files read back.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub(crate) mod browser;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A run so small that a test can afford several: a 1x8 network, few simulations.
pub(crate) const TINY: &str = r#"
[run]
name = "tiny"
seed = 11
device = "cpu"
[rules]
max_plays = 80
[network]
architecture = "1x8"
[self_play]
workers = 2
lanes = 8
simulations = 8
fast_simulations = 4
considered = 4
fast_considered = 2
refresh_steps = 5
[train]
batch_size = 32
warmup_steps = 4
[window]
minimum = 100
maximum = 2000
[report]
games = 0
"#;

/// A config file in `folder`: the tiny one, changed by `set` (`section.key=value`).
pub(crate) fn config(folder: &Path, set: &[&str]) -> PathBuf {
    let path = folder.join("config.toml");
    let mut table: toml::Table = TINY.parse().unwrap();
    for setting in set {
        let (key, value) = setting.split_once('=').unwrap();
        let (section, leaf) = key.split_once('.').unwrap();
        let value: toml::Table = format!("v = {value}").parse().unwrap();
        let section =
            table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        section.as_table_mut().unwrap().insert(leaf.to_owned(), value["v"].clone());
    }
    fs::write(&path, toml::to_string(&table).unwrap()).unwrap();
    path
}

/// `gipf train CONFIG --run RUN`, not yet started.
pub(crate) fn train(config: &Path, run: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gipf"));
    command.arg("train").arg(config).arg("--run").arg(run).stdin(Stdio::null());
    command
}

/// Runs a command to its end, which must be a success.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs a command that must fail with this code and one line, which holds these words; the line.
pub(crate) fn refused(command: &mut Command, code: i32, words: &[&str]) -> String {
    let error = failed(command, code);
    assert_eq!(error.lines().count(), 1, "one line: {error}");
    check_error(&error, words);
    error
}

/// The same, after what it may have said before.
pub(crate) fn refused_at_last(command: &mut Command, code: i32, words: &[&str]) {
    let error = failed(command, code);
    assert!(!error.contains("panicked"), "{error}");
    check_error(error.lines().last().unwrap_or_default(), words);
}

/// What a command says that fails with this code.
fn failed(command: &mut Command, code: i32) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}: {error}");
    error
}

fn check_error(line: &str, words: &[&str]) {
    assert!(line.starts_with("error: "), "{line}");
    for word in words {
        assert!(line.contains(word), "'{word}' is not in: {line}");
    }
}

/// `state.json`.
pub(crate) fn state(run: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(run.join("state.json")).unwrap()).unwrap()
}

/// The lines of a run's records, in the order they were counted.
pub(crate) fn records(run: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(run.join("games")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".jsonl.zst"));
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let text = zstd::decode_all(fs::File::open(file).unwrap()).unwrap();
        lines.extend(String::from_utf8(text).unwrap().lines().map(str::to_owned));
    }
    lines
}

/// Everything of a run that a deterministic one must have bit for bit: checkpoints, learner's state, records, state.
pub(crate) fn fingerprint(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["checkpoints", "learner"] {
        for entry in fs::read_dir(run.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files.insert("records".to_owned(), records(run).join("\n").into_bytes());
    let mut state = state(run);
    // How often the run was started is the one thing that may differ.
    state.as_object_mut().unwrap().remove("starts");
    files.insert("state.json".to_owned(), state.to_string().into_bytes());
    files
}

/// Compares two fingerprints by name, so that a failure does not print their bytes.
pub(crate) fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "the same files");
    let differing: Vec<&String> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differing.is_empty(), "these differ: {differing:?}");
}
