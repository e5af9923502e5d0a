//! The program `gipf`, as studies run it: beside their own, and stopped when their time is up.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

/// The program, and until when it may run.
pub(crate) struct Gipf {
    program: PathBuf,
    until: Instant,
}

impl Gipf {
    /// The program in the folder above this one's, for so many minutes from now.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn for_minutes(minutes: f64) -> anyhow::Result<Self> {
        let examples = std::env::current_exe()?;
        let folder = examples.parent().and_then(Path::parent);
        let program = folder.context("this program lies in no folder")?.join("gipf");
        if !program.is_file() {
            bail!("{} is missing: cargo build --release -p gipf-train", program.display());
        }
        let until = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
        Ok(Gipf { program, until })
    }

    /// A call of it, to be filled.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Waits for a process, and asks it to stop when the time is up; whether it ended by itself.
    pub(crate) fn wait(&self, mut child: Child) -> anyhow::Result<bool> {
        let mut asked = false;
        loop {
            if child.try_wait()?.is_some() {
                return Ok(!asked);
            }
            if !asked && self.is_over() {
                // It saves what it has done.
                let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                kill_process(id.context("a process without a number")?, Signal::TERM)?;
                asked = true;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}
