//! When a run ends, and how far it is.

use crate::config::RunSection;

/// What a run may use; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Seconds of training, over all starts of the run.
    pub seconds: f64,
    /// Seconds of processor time, over all starts of the run.
    pub cpu_seconds: f64,
    /// Training steps.
    pub steps: u64,
    /// Self-play games counted.
    pub games: u64,
}

/// What a run has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// Seconds of training, over all starts of the run; 0 in a deterministic run, which has no clock.
    pub seconds: f64,
    /// Seconds of processor time, over all starts of the run; 0 in a deterministic run.
    pub cpu_seconds: f64,
    /// Training steps.
    pub steps: u64,
    /// Self-play games counted.
    pub games: u64,
}

impl Limits {
    /// A run that only its user ends.
    pub const NONE: Limits = Limits { seconds: 0.0, cpu_seconds: 0.0, steps: 0, games: 0 };

    /// The limits of a configuration.
    pub fn of(run: &RunSection) -> Self {
        Limits {
            seconds: run.minutes * 60.0,
            cpu_seconds: run.cpu_minutes * 60.0,
            steps: run.steps,
            games: run.games,
        }
    }

    /// How far the run is, from 0 to 1, by the limit it is nearest to; 0 without any limit.
    pub fn share(&self, used: &Used) -> f64 {
        let share = |used: f64, limit: f64| if limit > 0.0 { used / limit } else { 0.0 };
        share(used.seconds, self.seconds)
            .max(share(used.cpu_seconds, self.cpu_seconds))
            .max(share(used.steps as f64, self.steps as f64))
            .max(share(used.games as f64, self.games as f64))
            .clamp(0.0, 1.0)
    }

    /// Whether no more games are to be begun.
    pub fn games_reached(&self, used: &Used) -> bool {
        self.games > 0 && used.games >= self.games
    }

    /// Whether training ends whatever is still to be learned: the time or the steps are used up.
    pub fn training_reached(&self, used: &Used) -> bool {
        self.seconds > 0.0 && used.seconds >= self.seconds
            || self.cpu_seconds > 0.0 && used.cpu_seconds >= self.cpu_seconds
            || self.steps > 0 && used.steps >= self.steps
    }

    /// Seconds left until the nearest limit, at the pace since `start`; `None` where nothing can be said yet.
    pub fn seconds_left(&self, start: &Used, used: &Used, elapsed: f64) -> Option<f64> {
        let by_clock = (self.seconds > 0.0).then(|| (self.seconds - used.seconds).max(0.0));
        let by_pace = |limit: f64, from: f64, now: f64| {
            (limit > 0.0 && now > from).then(|| (limit - now).max(0.0) * elapsed / (now - from))
        };
        [
            by_clock,
            by_pace(self.cpu_seconds, start.cpu_seconds, used.cpu_seconds),
            by_pace(self.steps as f64, start.steps as f64, used.steps as f64),
            by_pace(self.games as f64, start.games as f64, used.games as f64),
        ]
        .into_iter()
        .flatten()
        .min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_limit_counts() {
        let limits = Limits { seconds: 600.0, cpu_seconds: 900.0, steps: 1000, games: 0 };
        let used = Used { seconds: 60.0, cpu_seconds: 120.0, steps: 500, games: 77 };
        assert_eq!(limits.share(&used), 0.5);
        assert!(!limits.training_reached(&used) && !limits.games_reached(&used));
        assert!(limits.training_reached(&Used { seconds: 600.0, ..used }));
        // 500 steps in 60 seconds: as long again; the clock alone would say 540 seconds.
        assert_eq!(limits.seconds_left(&Used::default(), &used, 60.0), Some(60.0));
        // Three quarters of the processor time are used: a third of the time so far is left.
        let used = Used { cpu_seconds: 675.0, ..used };
        assert_eq!(limits.share(&used), 0.75);
        assert_eq!(limits.seconds_left(&Used::default(), &used, 60.0), Some(20.0));
        assert!(limits.training_reached(&Used { cpu_seconds: 900.0, ..used }));
    }

    #[test]
    fn no_limit_never_ends() {
        let limits = Limits::NONE;
        let used = Used { seconds: 1e9, cpu_seconds: 1e9, steps: u64::MAX, games: u64::MAX };
        assert_eq!(limits.share(&used), 0.0);
        assert!(!limits.training_reached(&used) && !limits.games_reached(&used));
        assert_eq!(limits.seconds_left(&Used::default(), &used, 1.0), None);
    }
}
