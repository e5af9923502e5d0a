//! What a learner tells its workers, and what both tell of themselves: JSON, small, and strict about what it may hold.

use super::error::ClusterError;
use super::names::RunNames;
use crate::config::{self, Config};
use gipf_core::record::RECORD_FORMAT;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The language of learner and workers: these entries, the messages' headers and what is in them.
pub const CLUSTER_FORMAT: &str = "gipf-cluster-1";

/// The longest entry that is read, in bytes.
pub const MAX_ENTRY: usize = 256 << 10;

/// How games travel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batching {
    /// Games that make a message, 1 to [`super::MAX_GAMES`].
    pub games: usize,
    /// Seconds that a finished game waits for others at most.
    pub seconds: f64,
}

/// A run's settings, as its workers need them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`CLUSTER_FORMAT`].
    pub format: String,
    /// The format of the records ([`RECORD_FORMAT`]).
    pub records: String,
    /// The run's identity, which is in its games' ids.
    pub run_id: String,
    /// The configuration in force, as TOML.
    pub config: String,
    /// How games travel.
    pub batching: Batching,
    /// Whether the run has reached its end: workers stop.
    pub done: bool,
}

impl Settings {
    /// The settings of a run.
    ///
    /// # Errors
    /// A configuration that cannot be written as TOML.
    pub fn new(run_id: &str, config: &Config, batching: Batching) -> Result<Self, ClusterError> {
        Ok(Self {
            format: CLUSTER_FORMAT.to_owned(),
            records: RECORD_FORMAT.to_owned(),
            run_id: run_id.to_owned(),
            config: toml::to_string(config).map_err(|error| ClusterError::Entry {
                entry: "settings",
                run: config.run.name.clone(),
                reason: error.to_string(),
            })?,
            batching,
            done: false,
        })
    }

    /// Reads settings; those of another version are an error of their own, whatever else is in them.
    ///
    /// # Errors
    /// Bytes that are no settings, or settings of another version.
    pub fn read(names: &RunNames, bytes: &[u8]) -> Result<Self, ClusterError> {
        let value: serde_json::Value = read_entry("settings", names, bytes)?;
        let format = value.get("format").and_then(serde_json::Value::as_str).unwrap_or("");
        let records = value.get("records").and_then(serde_json::Value::as_str).unwrap_or("");
        if (format, records) != (CLUSTER_FORMAT, RECORD_FORMAT) {
            return Err(ClusterError::Version {
                run: names.run().to_owned(),
                found: format!("'{format}' with records '{records}'"),
                expected: CLUSTER_FORMAT,
            });
        }
        let settings: Self = read_entry("settings", names, bytes)?;
        // It becomes the name of a folder.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if !settings.run_id.chars().all(plain) || !(1..=128).contains(&settings.run_id.len()) {
            return Err(wrong_entry("settings", names, "its run id is no name"));
        }
        Ok(settings)
    }

    /// The configuration in force.
    ///
    /// # Errors
    /// It is none that this version knows.
    pub fn config(&self, names: &RunNames) -> Result<Config, ClusterError> {
        config::parse(&self.config, "the run's configuration", &[])
            .map_err(|error| wrong_entry("settings", names, &error.to_string()))
    }
}

/// The checkpoint that workers are to play with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// The training step of its weights: what the records name it by.
    pub step: u64,
    /// Its name in the object store.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
}

impl Announcement {
    /// Reads an announcement.
    ///
    /// # Errors
    /// Bytes that are none.
    pub fn read(names: &RunNames, bytes: &[u8]) -> Result<Self, ClusterError> {
        read_entry("checkpoint", names, bytes)
    }
}

/// What a worker tells of itself every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerBeat {
    /// The run it plays for.
    pub run_id: String,
    /// The machine.
    pub host: String,
    /// Its process there.
    pub process: u32,
    /// Threads that play.
    pub threads: usize,
    /// Games on its disk or beyond since its start: what it counts.
    pub games: u64,
    /// Positions decided in them.
    pub positions: u64,
    /// Games a second over the last minute.
    pub games_per_second: f64,
    /// Games that wait on its disk for the server.
    pub waiting_games: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Games too long for any message of this server, kept on its disk.
    pub oversized: u64,
    /// The step of the checkpoint it plays with.
    pub checkpoint: u64,
    /// Whether it has stopped playing because its disk may hold no more.
    pub full: bool,
}

/// What the learner tells of itself every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerBeat {
    /// The run.
    pub run_id: String,
    /// The machine.
    pub host: String,
    /// Its process there.
    pub process: u32,
    /// Training steps done.
    pub step: u64,
    /// Games counted.
    pub games: u64,
    /// Positions decided in them.
    pub positions: u64,
    /// Games taken in a second, over the last minute.
    pub games_per_second: f64,
    /// Games that came again and were not counted twice, since its start.
    pub repeated: u64,
    /// The step of the checkpoint that it announced last.
    pub checkpoint: u64,
    /// Whether it has stopped taking games, because it is behind with learning.
    pub full: bool,
}

/// Reads the JSON of an entry, within bounds.
///
/// # Errors
/// Too long, or not what it should be.
pub(super) fn read_entry<T: DeserializeOwned>(
    entry: &'static str,
    names: &RunNames,
    bytes: &[u8],
) -> Result<T, ClusterError> {
    if bytes.len() > MAX_ENTRY {
        return Err(wrong_entry(entry, names, &format!("longer than {MAX_ENTRY} bytes")));
    }
    serde_json::from_slice(bytes).map_err(|error| wrong_entry(entry, names, &error.to_string()))
}

fn wrong_entry(entry: &'static str, names: &RunNames, reason: &str) -> ClusterError {
    ClusterError::Entry { entry, run: names.run().to_owned(), reason: reason.to_owned() }
}

/// The name of this machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> RunNames {
        RunNames::new("a").expect("a name")
    }

    #[test]
    fn settings_read_back_and_other_versions_are_told() {
        let batching = Batching { games: 16, seconds: 5.0 };
        let settings =
            Settings::new("a-0123456789abcdef", &Config::default(), batching).expect("settings");
        let bytes = serde_json::to_vec(&settings).expect("serializes");
        let again = Settings::read(&names(), &bytes).expect("reads");
        assert_eq!(again, settings);
        assert_eq!(again.config(&names()).expect("a configuration"), Config::default());
        let other = String::from_utf8_lossy(&bytes).replace(CLUSTER_FORMAT, "gipf-cluster-9");
        let error = Settings::read(&names(), other.as_bytes()).expect_err("another version");
        assert!(matches!(&error, ClusterError::Version { .. }), "{error}");
        assert!(error.to_string().contains("gipf-cluster-9"), "{error}");
        let other = String::from_utf8_lossy(&bytes).replace("a-0123456789abcdef", "../x");
        assert!(Settings::read(&names(), other.as_bytes()).is_err(), "no way out of a folder");
        assert!(Settings::read(&names(), b"{}").is_err());
        assert!(Settings::read(&names(), &vec![b' '; MAX_ENTRY + 1]).is_err());
    }

    #[test]
    fn an_announcement_holds_nothing_else() {
        let text = r#"{"step":3,"name":"x","bytes":9,"sha256":"ab"}"#;
        assert_eq!(Announcement::read(&names(), text.as_bytes()).expect("reads").step, 3);
        let more = text.replace("\"step\"", "\"other\":1,\"step\"");
        assert!(Announcement::read(&names(), more.as_bytes()).is_err());
    }
}
