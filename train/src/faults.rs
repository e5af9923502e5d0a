//! Named fault points: places where a test lets the process die.
//!
//! A crash test sets `GIPF_FAULT=name:count`; the process then kills itself with SIGKILL, as a power cut
//! would, when it passes the point of that name for the `count`-th time. Without the variable a point costs one atomic load.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that arms a fault point, as `name:count`.
pub const VARIABLE: &str = "GIPF_FAULT";

/// Every fault point: of the games on disk, of a save point in the order in which it passes them, of pruning, and of a run over
/// many machines.
pub const POINTS: &[&str] = &[
    "append.half_frame",
    "append.after_write",
    "append.before_fsync",
    "append.after_fsync",
    "segment.after_create",
    "checkpoint.half_written",
    "checkpoint.before_fsync",
    "checkpoint.before_rename",
    "checkpoint.after_rename",
    "learner.half_written",
    "learner.before_fsync",
    "learner.before_rename",
    "learner.after_rename",
    "state.half_written",
    "state.before_fsync",
    "state.before_rename",
    "state.after_rename",
    "prune.after_mark",
    "prune.after_first",
    "spool.half_written",
    "spool.before_fsync",
    "spool.before_rename",
    "spool.after_rename",
    "send.before_publish",
    "send.after_ack",
    "intake.before_store",
    "intake.after_store",
    "intake.after_ack",
    "announce.before_key",
];

/// Why `GIPF_FAULT` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The text before the colon names no point.
    #[error("{VARIABLE}: no fault point is called {name:?}; there are {}", POINTS.join(", "))]
    UnknownPoint {
        /// What stands before the colon.
        name: String,
    },
    /// The text after the colon is no count.
    #[error("{VARIABLE}={text}: expected NAME:COUNT with a count of 1 or more")]
    BadCount {
        /// The whole value.
        text: String,
    },
}

/// An armed point and how many hits it still lets pass.
struct Armed {
    name: &'static str,
    left: AtomicU64,
}

static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

fn read(text: &str) -> Result<(&'static str, u64), FaultError> {
    let (name, count) = text.rsplit_once(':').unwrap_or((text, "1"));
    let Some(name) = POINTS.iter().find(|point| **point == name) else {
        return Err(FaultError::UnknownPoint { name: name.to_owned() });
    };
    match count.parse() {
        Ok(count) if count > 0 => Ok((name, count)),
        _ => Err(FaultError::BadCount { text: text.to_owned() }),
    }
}

fn armed() -> Option<&'static Armed> {
    ARMED
        .get_or_init(|| {
            let text = std::env::var(VARIABLE).ok()?;
            let (name, count) = read(&text).ok()?;
            Some(Armed { name, left: AtomicU64::new(count) })
        })
        .as_ref()
}

/// Checks `GIPF_FAULT`, so that a misspelt point cannot make a crash test pass. Call it once at the start.
///
/// # Errors
/// The variable is set and names no point, or its count is not a whole number of 1 or more.
pub fn check_env() -> Result<(), FaultError> {
    std::env::var(VARIABLE).map_or(Ok(()), |text| read(&text).map(|_| ()))
}

/// Whether a fault is armed at `name`: a writer then stops halfway on purpose before it reaches the point.
pub fn is_armed(name: &'static str) -> bool {
    armed().is_some_and(|armed| armed.name == name)
}

/// Passes the point `name`: kills this process when that fault is due, else does nothing.
pub fn point(name: &'static str) {
    debug_assert!(POINTS.contains(&name), "fault point {name} is not in the table");
    let Some(armed) = armed() else { return };
    if armed.name == name && armed.left.fetch_sub(1, Ordering::SeqCst) == 1 {
        // SIGKILL to ourselves: no destructor, no flush, nothing that a power cut would not leave.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_counts() {
        assert_eq!(read("append.before_fsync:3"), Ok(("append.before_fsync", 3)));
        assert_eq!(read("state.after_rename"), Ok(("state.after_rename", 1)));
        assert!(matches!(read("append.fsync:1"), Err(FaultError::UnknownPoint { .. })));
        assert!(matches!(read("append.before_fsync:0"), Err(FaultError::BadCount { .. })));
    }

    #[test]
    fn the_table_holds_each_point_once() {
        let mut names = POINTS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), POINTS.len());
    }
}
