//! A full disk pauses a write; it does not end a run.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How writes wait for room on a full disk.
#[derive(Debug, Clone)]
pub struct DiskWait {
    stop: Arc<AtomicBool>,
    poll: Duration,
}

impl Default for DiskWait {
    fn default() -> Self {
        Self::new(Arc::new(AtomicBool::new(false)))
    }
}

impl DiskWait {
    /// Waits until there is room or `stop` becomes true (Ctrl-C), looking every second.
    pub const fn new(stop: Arc<AtomicBool>) -> Self {
        Self { stop, poll: Duration::from_secs(1) }
    }

    /// The same with another time between two looks.
    #[must_use]
    pub fn every(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Runs `attempt` until the disk takes it, pausing with one line on the log while the disk is full.
    ///
    /// `attempt` must leave nothing half-written behind when it fails; it writes about `bytes` bytes under `folder`.
    ///
    /// # Errors
    /// The attempt's own error if it is not for lack of room; an error of kind `StorageFull` when the run was asked to stop meanwhile.
    pub fn retry<T>(
        &self,
        folder: &Path,
        bytes: u64,
        mut attempt: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        let mut told = false;
        loop {
            match attempt() {
                Ok(done) => {
                    if told {
                        tracing::info!("room again under {}: the run goes on", folder.display());
                    }
                    return Ok(done);
                }
                Err(error) if is_full(&error) => {
                    if !told {
                        told = true;
                        tracing::warn!(
                            "disk full under {}: waiting, needs {} MB; the run goes on by itself when there is room",
                            folder.display(),
                            bytes.div_ceil(1_000_000).max(1)
                        );
                    }
                    if self.stop.load(Ordering::SeqCst) {
                        return Err(io::Error::new(
                            io::ErrorKind::StorageFull,
                            format!(
                                "disk full under {}, and the run was asked to stop",
                                folder.display()
                            ),
                        ));
                    }
                    std::thread::sleep(self.poll);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a write failed for lack of room: a full disk or a used-up quota.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Wraps an error as an I/O error and keeps the kind of the I/O error at its root, so that a full disk is still seen as one.
pub fn into_io(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut kind = io::ErrorKind::Other;
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            kind = io.kind();
        }
        cause = inner.source();
    }
    io::Error::new(kind, error)
}
