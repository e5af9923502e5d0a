//! How a run is told to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of a run that a second signal ends at once.
const QUIT: i32 = 130;

/// Set by Ctrl-C (SIGINT), SIGTERM or a terminal that is closed (SIGHUP); a second signal ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that the process's signals set from now on.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub fn on_signals() -> io::Result<Self> {
        let stop = StopFlag::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag unset and only sets it, the second one quits.
            flag::register_conditional_shutdown(signal, QUIT, Arc::clone(&stop.0))?;
            flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    /// Whether the run is to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for those that wait.
    pub fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
