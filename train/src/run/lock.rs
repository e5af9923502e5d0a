//! One process at a time works in a run folder.

use super::error::RunError;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Name of the lock file; it stays, only its lock comes and goes.
const NAME: &str = "lock";

/// Holds a run folder for this process until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock of a folder and writes this process's id into it.
    ///
    /// # Errors
    /// [`RunError::InUse`] with the other process's id, or an I/O error.
    pub fn take(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(NAME);
        let failed = |error| RunError::io(&path, error);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // A process that has just taken the lock may not have written its id yet.
                let _ = file.read_to_string(&mut text);
                return Err(RunError::InUse {
                    folder: folder.to_owned(),
                    process: text.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The id only serves the message: a full disk must not keep a run from starting.
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0));
        let _ = writeln!(file, "{}", std::process::id());
        Ok(Self { _file: file })
    }
}
