//! What can go wrong between machines.

use gipf_core::record::RECORD_FORMAT;

/// An error of a run over many machines. Its text is whole: no error has a source, which would be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A run whose name no subject can hold.
    #[error(
        "a run named '{0}' cannot go over NATS: its name may have letters, digits, '-' and '_', up to 64 of them"
    )]
    Name(String),
    /// Wrong use of the connection's options: an address, a key or a certificate.
    #[error("{option}: {reason}")]
    Option {
        /// The option of the command line.
        option: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// No server answers there now; it may later.
    #[error("no NATS server answers at {url}: {reason}")]
    Unreachable {
        /// The server's address, without a password.
        url: String,
        /// The client's words.
        reason: String,
    },
    /// The server is there and will not have us.
    #[error("the NATS server at {url} refuses the connection: {reason}")]
    Refused {
        /// The server's address, without a password.
        url: String,
        /// Its words.
        reason: String,
    },
    /// A request failed: the connection is lost, or the account may not do this.
    #[error("NATS, {what}: {reason}")]
    Request {
        /// What was asked.
        what: String,
        /// The client's words.
        reason: String,
    },
    /// The server has no run of that name.
    #[error(
        "{url} has no run named '{run}': start its learner with gipf learn CONFIG --nats {url}"
    )]
    NoRun {
        /// The server's address.
        url: String,
        /// The name.
        run: String,
    },
    /// Another run of the same name has a learner at work.
    #[error(
        "run '{run}' at {url} has a learner at work: {other}, on {host}; give this one another run.name"
    )]
    Busy {
        /// The server's address.
        url: String,
        /// The name.
        run: String,
        /// The other run's id.
        other: String,
        /// Where its learner is.
        host: String,
    },
    /// The run is of another version of the program.
    #[error(
        "run '{run}' speaks {found}, this program speaks {expected} and {RECORD_FORMAT}: use the learner's version of gipf"
    )]
    Version {
        /// The run's name.
        run: String,
        /// What it speaks.
        found: String,
        /// What this program speaks.
        expected: &'static str,
    },
    /// An entry of the run that cannot be understood.
    #[error("{entry} of run '{run}': {reason}")]
    Entry {
        /// Its key.
        entry: &'static str,
        /// The run's name.
        run: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A checkpoint that is not the one announced, or is none.
    #[error("checkpoint {name}: {reason}")]
    Checkpoint {
        /// Its name in the object store.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A game that no message can hold.
    #[error("game {id}: {reason}")]
    Game {
        /// The game.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The worker's folder.
    #[error("{path}: {reason}")]
    Disk {
        /// The file or folder.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// The user stopped the program while it waited.
    #[error("stopped while waiting for {0}")]
    Stopped(&'static str),
}

impl ClusterError {
    /// Whether waiting may help: the server is away, or a request got lost.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Request { .. })
    }
}
