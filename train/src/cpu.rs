//! Cores and processor time.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

use rustix::time::{ClockId, clock_gettime};

/// Cores of the machine, as far as this process may use them; 1 or more.
pub fn cores() -> usize {
    // Asked once: the answer is in files of the system.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Processor time that all threads of this process have used, in seconds.
pub fn process_seconds() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

/// Processor time that the calling thread has used, in seconds: what others do on the machine does not count.
pub fn thread_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time() {
        let (process, thread) = (process_seconds(), thread_seconds());
        let mut sum = 0_u64;
        while thread_seconds() < thread + 0.02 {
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        assert!(process_seconds() - process >= 0.019, "{sum}");
        assert!(cores() >= 1);
    }
}
