//! A running program: lines in, lines out, and an end that leaves nothing behind.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The longest line that a program may write.
pub(super) const LONGEST_LINE: usize = 64 << 10;
/// Lines read ahead; a program that writes more waits until somebody listens.
const AHEAD: usize = 64;
/// How long a program that has closed its output, or was told to quit, may take to exit.
const EXIT: Duration = Duration::from_millis(300);

/// Why no line came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// Its time is over.
    Late,
    /// It has ended, and how: `exited with status 1`.
    Ended(String),
    /// It wrote more than [`LONGEST_LINE`] bytes without the end of a line.
    Flood,
}

/// A program in a process group of its own, killed with all its children when it is dropped.
pub(super) struct Process {
    child: Child,
    pid: Pid,
    /// `None` once its input is closed.
    input: Option<Sender<String>>,
    output: Receiver<Result<String, Silence>>,
}

impl Process {
    /// Starts a program by its words, the first of which names it. Its standard error is this process's own or nothing.
    pub(super) fn start(words: &[String], show_errors: bool) -> io::Result<Process> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if show_errors { Stdio::inherit() } else { Stdio::null() })
            // A signal from the terminal is this process's affair, and the group can be killed as a whole.
            .process_group(0)
            .spawn()?;
        let pid = Pid::from_child(&child);
        let (input, to_write) = channel();
        let (read, output) = sync_channel(AHEAD);
        let pipes = (child.stdin.take(), child.stdout.take());
        let process = Process { child, pid, input: Some(input), output };
        let (Some(stdin), Some(stdout)) = pipes else {
            return Err(io::Error::other("no pipes to the program"));
        };
        // The threads end with their pipe, at the latest when the program is killed.
        let thread = || thread::Builder::new().name("outside player".to_owned());
        thread()
            .spawn(move || write_lines(stdin, &to_write))
            .and_then(|_| thread().spawn(move || read_lines(stdout, &read)))?;
        Ok(process)
    }

    /// Says one line. One that a program which has ended does not hear shows when an answer is wanted.
    pub(super) fn say(&self, line: &str) {
        if let Some(input) = &self.input {
            // The writing thread is gone when the program has closed its input.
            let _ = input.send(format!("{line}\n"));
        }
    }

    /// The next line that it writes, without its end.
    pub(super) fn line(&mut self, deadline: Instant) -> Result<String, Silence> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Silence::Late);
        }
        match self.output.recv_timeout(left) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
            Err(RecvTimeoutError::Disconnected) => Err(Silence::Ended(self.ending())),
        }
    }

    /// How it ended, as far as that shows soon after the end of its output.
    fn ending(&self) -> String {
        match self.exit_within(EXIT) {
            Some(Exit { status: Some(status), .. }) => format!("exited with status {status}"),
            Some(Exit { signal: Some(signal), .. }) => format!("was ended by signal {signal}"),
            _ => "closed its output".to_owned(),
        }
    }

    /// Its exit, looked at without taking note of it: until the program is waited for, nobody else gets its number.
    fn exit_within(&self, time: Duration) -> Option<Exit> {
        let deadline = Instant::now() + time;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.pid), options) {
                Ok(Some(status)) => {
                    return Some(Exit {
                        status: status.exit_status(),
                        signal: status.terminating_signal(),
                    });
                }
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    /// Tells it to quit and gives it a moment before it is killed.
    pub(super) fn dismiss(mut self) {
        self.say("quit");
        self.input = None;
        self.exit_within(EXIT);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child has not been waited for, so the group is still its own, even where it has exited.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.child.wait();
    }
}

struct Exit {
    status: Option<i32>,
    signal: Option<i32>,
}

fn write_lines(mut input: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(output: ChildStdout, lines: &SyncSender<Result<String, Silence>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut bytes = Vec::new();
        let limit = LONGEST_LINE as u64 + 1;
        match output.by_ref().take(limit).read_until(b'\n', &mut bytes) {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let flood = bytes.len() > LONGEST_LINE;
        let line = match flood {
            true => Err(Silence::Flood),
            false => Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
        };
        if lines.send(line).is_err() || flood {
            return;
        }
    }
}
