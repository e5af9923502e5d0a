//! What time a run has used: of the wall and of the processor.

use std::time::Instant;

use crate::cpu;

/// Training time, over all starts of a run; a deterministic run has none.
pub(super) struct Clock {
    /// Seconds of the starts before this one.
    pub(super) before: f64,
    /// When this one began to count; `None`: it does not.
    pub(super) started: Option<Instant>,
}

impl Clock {
    /// Seconds of training so far.
    pub(super) fn seconds(&self) -> f64 {
        self.before + self.started.map_or(0.0, |started| started.elapsed().as_secs_f64())
    }
}

/// Processor time of all the program's threads, over all starts of a run.
pub(super) struct ProcessorTime {
    /// Seconds of the starts before this one.
    pub(super) before: f64,
    at_start: f64,
}

impl ProcessorTime {
    /// Counts on from so many seconds.
    pub(super) fn after(before: f64) -> Self {
        ProcessorTime { before, at_start: cpu::process_seconds() }
    }

    /// Seconds of processor time so far.
    pub(super) fn seconds(&self) -> f64 {
        self.before + cpu::process_seconds() - self.at_start
    }
}
