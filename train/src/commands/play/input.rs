//! Lines from standard input that a signal can break off, so that the game is not lost.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// The exit code when a second signal ends the process at once.
const QUIT: i32 = 130;

/// What arrives while the table waits; nothing at all is the end of the input, or a signal.
type Arrival = io::Result<Vec<u8>>;

/// Standard input, read by a thread of its own. Its end comes early when SIGINT, SIGTERM or SIGHUP arrives; a second signal
/// ends the process.
pub(super) struct StoppableInput {
    arrivals: Receiver<Arrival>,
    stop: Arc<AtomicBool>,
    bytes: Vec<u8>,
    /// Bytes of `bytes` already taken.
    taken: usize,
    ended: bool,
}

impl StoppableInput {
    /// Catches the signals and reads from now on.
    ///
    /// # Errors
    /// The system refuses a handler or a thread.
    pub(super) fn start() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, arrivals) = channel();
        let handled = [SIGINT, SIGTERM, SIGHUP];
        for signal in handled {
            // In this order: the first signal finds the flag unset and only sets it, the second one quits.
            flag::register_conditional_shutdown(signal, QUIT, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        let mut signals = Signals::new(handled)?;
        let on_signal = send.clone();
        thread::Builder::new().spawn(move || {
            if signals.forever().next().is_some() {
                // Nobody waits any more where this fails.
                let _ = on_signal.send(Ok(Vec::new()));
            }
        })?;
        thread::Builder::new().spawn(move || read_all(&send))?;
        Ok(StoppableInput { arrivals, stop, bytes: Vec::new(), taken: 0, ended: false })
    }

    /// Set by the first signal.
    pub(super) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}

/// Sends what standard input brings, at last an empty piece.
fn read_all(send: &Sender<Arrival>) {
    let mut input = io::stdin().lock();
    let mut bytes = vec![0; 8192];
    loop {
        let arrival = match input.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result.map(|count| bytes[..count].to_vec()),
        };
        let more = matches!(&arrival, Ok(bytes) if !bytes.is_empty());
        if send.send(arrival).is_err() || !more {
            return;
        }
    }
}

impl Read for StoppableInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for StoppableInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.stop.load(Ordering::Relaxed) {
            self.ended = true;
        }
        if !self.ended && self.taken == self.bytes.len() {
            self.taken = 0;
            self.bytes = self.arrivals.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            self.ended = self.bytes.is_empty();
        }
        Ok(if self.ended { &[] } else { &self.bytes[self.taken..] })
    }

    fn consume(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.bytes.len());
    }
}
