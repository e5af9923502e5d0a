//! What both programs say when something goes wrong: one line, without raw control characters.

use std::fmt;
use std::io::{self, Write};
#[cfg(feature = "program")]
use std::process::ExitCode;

#[cfg(feature = "program")]
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What the user asked for makes no sense: the program ends with code 2 instead of 1.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Usage {
    /// An error of wrong use, ready to be returned from a command.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Usage(text.into()))
    }
}

/// The longest error line that is printed, in characters; a torch error can hold whole tensors.
const LONGEST: usize = 600;
/// The longest part of an input that a message repeats, in characters.
const LONGEST_ECHO: usize = 80;

/// `text` as a single line of at most 600 characters, its control characters escaped.
pub fn one_line(text: &str) -> String {
    let joined = text
        .split('\n')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    cut(&joined, LONGEST)
}

/// An input as a message repeats it: at most 80 characters, control characters escaped, line feeds too.
pub fn echo(text: &str) -> String {
    cut(text, LONGEST_ECHO)
}

/// The first characters of a text with control characters escaped, `…` after them where there are more.
fn cut(text: &str, longest: usize) -> String {
    let mut out = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == longest {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Says on standard error, in one line, what went wrong.
#[cfg(feature = "program")]
pub fn tell_error(text: &str) {
    write_error(&format!("error: {}", one_line(text)));
}

/// Nobody can be told that standard error cannot be written.
#[cfg(feature = "program")]
fn write_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The process's own arguments; after a mistake in them its one line is on standard error and the code to end with, 2, comes
/// back. Help and version are printed as clap does, and end the process.
#[cfg(feature = "program")]
pub fn arguments<P: clap::Parser>() -> Result<P, ExitCode> {
    let parsed = command_of::<P>().try_get_matches().and_then(|found| P::from_arg_matches(&found));
    parsed.map_err(|error| match usage_line(&error) {
        Some(line) => {
            write_error(&line);
            ExitCode::from(2)
        }
        None => error.exit(),
    })
}

/// The command line, on which a negative number is a value: what allows none says so itself, with its range.
#[cfg(feature = "program")]
fn command_of<P: clap::Parser>() -> clap::Command {
    fn with_numbers(command: clap::Command) -> clap::Command {
        let takes = |argument: clap::Arg| {
            let values = argument.get_action().takes_values();
            argument.allow_negative_numbers(values)
        };
        command.mut_args(takes).mut_subcommands(with_numbers)
    }
    with_numbers(P::command())
}

/// The one line of an error in the arguments, `error: …; see --help`; `None` where help or the version was asked for.
#[cfg(feature = "program")]
fn usage_line(error: &clap::Error) -> Option<String> {
    let help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if help || !error.use_stderr() {
        return None;
    }
    let mut text = error.render().to_string();
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand]
    {
        if let Some(ContextValue::String(value)) = error.get(kind)
            && echo(value) != *value
        {
            text = text.replace(value.as_str(), &echo(value));
        }
    }
    let mut line = String::new();
    for part in text.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if part.starts_with("Usage:") || part.starts_with("For more information") {
            break;
        }
        line += match line.chars().next_back() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        line += part;
    }
    Some(format!("{}; see --help", one_line(&line)))
}

/// The plays of a list joined by `;`; an empty text has none.
///
/// # Errors
/// Names the part that is empty, from 1.
pub fn split_plays(text: &str) -> Result<Vec<&str>, Usage> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let plays: Vec<&str> = text.split(';').map(str::trim).collect();
    match plays.iter().position(|play| play.is_empty()) {
        Some(index) => Err(Usage(format!("play {} of '{}' is empty", index + 1, echo(text)))),
        None => Ok(plays),
    }
}

/// `1 play`, `2 plays`.
pub fn count_of(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Standard output, or what stands for it: its errors say what could not be written.
#[derive(Debug)]
pub struct StandardOutput<W>(pub W);

impl<W> StandardOutput<W> {
    fn named<T>(result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| match error.kind() {
            // Who retries on an interrupt must see one.
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("cannot write to standard output: {error}")),
        })
    }
}

impl<W: Write> Write for StandardOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::named(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::named(self.0.flush())
    }
}

/// Whether the reader of standard output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_cut_and_escaped() {
        assert_eq!(one_line("a\n  b\n\n"), "a; b");
        assert_eq!(one_line(&"x".repeat(2000)).chars().count(), LONGEST + 1);
        assert_eq!(one_line("\x1b[31mred"), "\\u{1b}[31mred");
        assert_eq!(echo("a\nb"), "a\\nb");
        assert_eq!(echo(&"x".repeat(100_000)).chars().count(), LONGEST_ECHO + 1);
    }

    #[test]
    fn a_broken_pipe_is_found_under_context() {
        let error =
            anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe)).context("while writing");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&Usage::error("no")));
    }

    #[test]
    fn lists_of_plays_have_no_empty_part() {
        assert_eq!(split_plays(" ").map_err(|usage| usage.0), Ok(vec![]));
        assert_eq!(split_plays("a; b").map_err(|usage| usage.0), Ok(vec!["a", "b"]));
        for text in ["a;;b", "a;"] {
            let error = split_plays(text).map_err(|usage| usage.0);
            assert_eq!(error, Err(format!("play 2 of '{text}' is empty")));
        }
    }
}
