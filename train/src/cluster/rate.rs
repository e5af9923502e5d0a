//! How many a second, lately.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Over how long a rate is taken.
const SPAN: Duration = Duration::from_secs(60);

/// A count that grows, and its growth a second over the last minute.
#[derive(Debug)]
pub(super) struct Rate {
    points: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// A count that begins now.
    pub(super) fn new(now: Instant, count: u64) -> Self {
        Self { points: VecDeque::from([(now, count)]) }
    }

    /// The count as it is now; its growth a second over the last minute, or since the beginning.
    pub(super) fn at(&mut self, now: Instant, count: u64) -> f64 {
        self.points.push_back((now, count));
        while self.points.len() > 2 && now.duration_since(self.points[1].0) >= SPAN {
            self.points.pop_front();
        }
        let (since, before) = self.points[0];
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds > 0.0 { count.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_last_minute() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut rate = Rate::new(begun, 100);
        assert_eq!(rate.at(begun, 100), 0.0);
        assert_eq!(rate.at(after(10), 120), 2.0);
        for second in (15..=70).step_by(5) {
            rate.at(after(second), 120);
        }
        assert_eq!(rate.at(after(75), 120), 0.0, "what is older than a minute no longer counts");
        assert_eq!(rate.at(after(80), 150), 0.5);
    }
}
