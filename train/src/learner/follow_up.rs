//! The commands that come after a training run, as a shell takes them.

use std::path::PathBuf;

/// The commands that come after this one, as the user would type them.
#[derive(Debug, Clone)]
pub struct FollowUp {
    /// The program as it was called.
    pub program: String,
    /// Its command: `train` or `learn`.
    pub command: &'static str,
    /// The configuration's file.
    pub config: PathBuf,
    /// The run's folder.
    pub run: PathBuf,
    /// The records that the run is trained on instead of self-play.
    pub records: Option<PathBuf>,
    /// Further options, each a word.
    pub options: Vec<String>,
}

impl FollowUp {
    /// The command that goes on with the run.
    pub fn go_on(&self) -> String {
        let mut command = format!(
            "{} {} {} --run {}",
            quoted(&self.program),
            self.command,
            quoted(&self.config.to_string_lossy()),
            quoted(&self.run.to_string_lossy())
        );
        if let Some(records) = &self.records {
            command += &format!(" --from-records {}", quoted(&records.to_string_lossy()));
        }
        for option in &self.options {
            command += &format!(" {}", quoted(option));
        }
        command
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_for_a_shell() {
        let next = FollowUp {
            program: "./gipf".to_owned(),
            command: "train",
            config: "a b.toml".into(),
            run: "runs/x-1".into(),
            records: Some("it's".into()),
            options: Vec::new(),
        };
        let command = "./gipf train 'a b.toml' --run runs/x-1 --from-records 'it'\\''s'";
        assert_eq!(next.go_on(), command);
        let options = ["--nats", "nats://h"].map(str::to_owned).into();
        let next = FollowUp { command: "learn", records: None, options, ..next };
        assert_eq!(next.go_on(), "./gipf learn 'a b.toml' --run runs/x-1 --nats nats://h");
    }
}
