//! How a command fails: wrong use or a failure, always one line.

use std::io;

/// What the user asked for makes no sense: the program ends with code 2 instead of 1.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl Usage {
    /// An error of wrong use, ready to be returned from a command.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Usage(text.into()))
    }
}

/// The longest error line that is printed, in characters; a torch error can hold whole tensors.
const LONGEST: usize = 600;

/// `text` as a single line of at most 600 characters.
pub fn one_line(text: &str) -> String {
    let joined = text
        .split('\n')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    if joined.chars().count() <= LONGEST {
        return joined;
    }
    joined.chars().take(LONGEST).chain("…".chars()).collect()
}

/// Whether the reader of standard output went away.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_cut() {
        assert_eq!(one_line("a\n  b\n\n"), "a; b");
        assert_eq!(one_line(&"x".repeat(2000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_broken_pipe_is_found_under_context() {
        let error =
            anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe)).context("while writing");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&Usage::error("no")));
    }
}
