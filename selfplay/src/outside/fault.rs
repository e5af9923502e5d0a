//! What can be wrong with a program from outside.

use std::io;
use std::time::Duration;

use super::process::{LONGEST_LINE, Silence};

/// The longest part of what a program said that a message repeats, in characters.
const LONGEST_ECHO: usize = 80;

/// What a program did wrong; its command comes before it in a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutsideFault {
    /// It did not answer in time.
    #[error("gave no {wanted} within {:.1} s", .limit.as_secs_f64())]
    Late {
        /// `ugiok`, `readyok` or `bestmove`.
        wanted: &'static str,
        /// The time that it had.
        limit: Duration,
    },
    /// It ended or closed its output, and how: `exited with status 1`.
    #[error("{0}")]
    Ended(String),
    /// It wrote without ever ending the line.
    #[error("wrote a line of more than {} KiB", LONGEST_LINE >> 10)]
    Flood,
    /// It answered what is no play at all.
    #[error("answered '{0}', which is no play")]
    NoPlay(String),
    /// It answered a play that the rules do not allow in the position.
    #[error("answered the illegal play '{0}'")]
    IllegalPlay(String),
    /// It does not play by the rules it was given.
    #[error("does not play by the rules {rules}: {reason}")]
    Rules {
        /// The rules string.
        rules: String,
        /// What it said.
        reason: String,
    },
}

impl OutsideFault {
    /// The fault behind a missing line.
    pub(super) fn silence(silence: Silence, wanted: &'static str, limit: Duration) -> OutsideFault {
        match silence {
            Silence::Late => OutsideFault::Late { wanted, limit },
            Silence::Ended(how) => OutsideFault::Ended(how),
            Silence::Flood => OutsideFault::Flood,
        }
    }
}

/// Why a program cannot play.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// The command line names no program, or its quotes do not close.
    #[error("'{0}' is no command line")]
    Command(String),
    /// The program cannot be started.
    #[error("cannot start '{command}': {error}")]
    Start {
        /// The command line.
        command: String,
        /// Why.
        error: io::Error,
    },
    /// It was started and does not speak the protocol, or not with these rules.
    #[error("'{command}' {fault}")]
    Fault {
        /// The command line.
        command: String,
        /// What it did wrong.
        fault: OutsideFault,
    },
}

/// A text from outside as messages repeat it: at most 80 characters, control characters escaped.
pub(super) fn echo(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars().take(LONGEST_ECHO) {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    if text.chars().nth(LONGEST_ECHO).is_some() {
        out.push('…');
    }
    out
}
