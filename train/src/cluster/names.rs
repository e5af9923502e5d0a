//! What a run is called on a server: its streams, buckets and subjects.

use super::error::ClusterError;
use gipf_player::messages::echo;

/// The key of a run's settings in its bucket.
pub(super) const SETTINGS: &str = "settings";

/// The key that announces the newest checkpoint.
pub(super) const CHECKPOINT: &str = "checkpoint";

/// The key of the learner's beat in the bucket of beats.
pub(super) const LEARNER: &str = "learner";

/// What the keys of the workers' beats begin with.
pub(super) const WORKER: &str = "worker.";

/// The durable consumer through which the learner takes the games.
pub(super) const CONSUMER: &str = "learner";

/// What the names of the streams of games begin with.
const GAMES: &str = "gipf-games-";

/// The names of one run. Each begins with what it is, so that no run's name can make it another run's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunNames {
    run: String,
}

impl RunNames {
    /// The names of the run of that name (`run.name` of its configuration).
    ///
    /// # Errors
    /// A name that no subject can hold: only letters, digits, `-` and `_` may be in it, up to 64.
    pub fn new(run: &str) -> Result<Self, ClusterError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(1..=64).contains(&run.len()) || !run.chars().all(plain) {
            return Err(ClusterError::Name(echo(run)));
        }
        Ok(Self { run: run.to_owned() })
    }

    /// The run's name.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The run whose stream of games this is.
    pub fn of_stream(stream: &str) -> Option<Self> {
        Self::new(stream.strip_prefix(GAMES)?).ok()
    }

    /// The work queue of finished games.
    pub fn games_stream(&self) -> String {
        format!("{GAMES}{}", self.run)
    }

    /// Its one subject.
    pub fn games_subject(&self) -> String {
        format!("gipf.games.{}", self.run)
    }

    /// The stream of messages that were set aside.
    pub fn dead_stream(&self) -> String {
        format!("gipf-dead-{}", self.run)
    }

    /// Its one subject.
    pub fn dead_subject(&self) -> String {
        format!("gipf.dead.{}", self.run)
    }

    /// The bucket of the run's settings and of the announced checkpoint: the learner writes, the workers read.
    pub fn run_bucket(&self) -> String {
        format!("gipf-run-{}", self.run)
    }

    /// The bucket of beats: who is at work, and how far. Its entries vanish by themselves.
    pub fn beats_bucket(&self) -> String {
        format!("gipf-beats-{}", self.run)
    }

    /// The subject of a key of that bucket, for one who writes without waiting for an answer.
    pub fn beat_subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.beats_bucket())
    }

    /// The object store of checkpoints.
    pub fn checkpoints(&self) -> String {
        format!("gipf-checkpoints-{}", self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_tokens_of_a_subject() {
        let names = RunNames::new("standard-2_b").expect("a name");
        assert_eq!(names.games_subject(), "gipf.games.standard-2_b");
        assert_eq!(RunNames::of_stream(&names.games_stream()), Some(names));
        assert_eq!(RunNames::of_stream("gipf-dead-a"), None);
        for bad in ["", "a.b", "a b", "a>", "*", "ü", &"x".repeat(65)] {
            assert!(matches!(RunNames::new(bad), Err(ClusterError::Name(_))), "{bad}");
        }
    }
}
