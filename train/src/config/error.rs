//! What can be wrong with a configuration; every message is one line.

/// An error in a configuration file or an override.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}{hint}")]
    Read {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
        /// Which files there are instead, if any.
        hint: String,
    },
    /// The file is not TOML.
    #[error("{place} is not valid TOML: {reason}")]
    Syntax {
        /// File and line.
        place: String,
        /// The parser's words, on one line.
        reason: String,
    },
    /// A key that no section has.
    #[error("{file}: unknown key \"{key}\" at {line}: {hint}")]
    UnknownKey {
        /// The file, or `--set`.
        file: String,
        /// The dotted key.
        key: String,
        /// `line N`, or the override itself.
        line: String,
        /// `did you mean "..."?`, or the keys there are.
        hint: String,
    },
    /// A value of the wrong type, or out of its range.
    #[error("{file}: {key} at {line} is {value}: {wanted}")]
    Value {
        /// The file, or `--set`.
        file: String,
        /// The dotted key.
        key: String,
        /// `line N`, or the override itself.
        line: String,
        /// The value as written.
        value: String,
        /// What is allowed.
        wanted: String,
    },
    /// Two keys that cannot both be so.
    #[error("{file}: {reason}")]
    Conflict {
        /// The file.
        file: String,
        /// Which keys, and the cure.
        reason: String,
    },
    /// An override that is not `key=value`.
    #[error("--set {text}: expected KEY=VALUE, for example --set train.batch_size=512")]
    Setting {
        /// The override.
        text: String,
    },
}
