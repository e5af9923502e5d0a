//! What the controller says, read on a thread of its own so that a search can be stopped.

use std::io::{self, BufRead, Read};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

/// The longest line that is read, its line feed included; a longer one is dropped.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// Lines read ahead of the engine: with [`LONGEST_LINE`] they bound its memory.
const AHEAD: usize = 8;

/// What came in.
pub(super) enum Heard {
    /// A line, its ending included. What is no UTF-8 in it stands as replacement characters.
    Line(String),
    /// A line of more than [`LONGEST_LINE`] bytes was dropped.
    TooLong,
    /// The input cannot be read on.
    Failed(io::Error),
}

/// Reads the input to its end, which closes the channel. The thread ends with the input, or after a line that is read
/// when nobody listens any more.
///
/// # Errors
/// The system starts no thread.
pub(super) fn listen(input: impl BufRead + Send + 'static) -> io::Result<Receiver<Heard>> {
    let (sender, receiver) = bounded(AHEAD);
    thread::Builder::new().name("ugi input".to_owned()).spawn(move || read_all(input, &sender))?;
    Ok(receiver)
}

fn read_all(mut input: impl BufRead, heard: &Sender<Heard>) {
    loop {
        let (last, next) = match read(&mut input) {
            Ok(Some(heard)) => (false, heard),
            Ok(None) => return,
            Err(error) => (true, Heard::Failed(error)),
        };
        if heard.send(next).is_err() || last {
            return;
        }
    }
}

/// The next line; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Heard>> {
    let mut bytes = Vec::new();
    // One byte more than a line may have shows that it has too many.
    input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.len() > LONGEST_LINE {
        if bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
        }
        return Ok(Some(Heard::TooLong));
    }
    Ok((!bytes.is_empty()).then(|| Heard::Line(String::from_utf8_lossy(&bytes).into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_up_to_the_bound_are_read_and_longer_ones_dropped_whole() {
        let mut text = vec![b'a'; LONGEST_LINE - 1];
        text.push(b'\n');
        text.extend(vec![b'b'; LONGEST_LINE]);
        text.push(b'\n');
        text.extend(vec![b'c'; 3 * LONGEST_LINE]);
        text.extend(b"\nd\xff\ne");
        let lines: Vec<String> = listen(io::Cursor::new(text))
            .expect("a thread")
            .iter()
            .map(|heard| match heard {
                Heard::Line(line) if line.len() > 9 => line.len().to_string(),
                Heard::Line(line) => line,
                Heard::TooLong => "dropped".to_owned(),
                Heard::Failed(error) => error.to_string(),
            })
            .collect();
        let whole = LONGEST_LINE.to_string();
        assert_eq!(lines, [&whole, "dropped", "dropped", "d\u{fffd}\n", "e"]);
    }
}
