//! The time of a match, where this crate is built to read a clock.

use super::hall::Floor;
use crate::budget::Budget;
use crate::contestant::Limit;
use crate::player::{Choice, GameState, Player, PlayerError};

#[cfg(feature = "threads")]
mod watched {
    use std::time::{Duration, Instant};

    use super::{Budget, Choice, Floor, GameState, Limit, Player, PlayerError};
    use crate::budget::{Clock, Timer};

    /// A decision's time; whoever stops the match ends it at once.
    struct MatchClock<'a, 'f> {
        timer: Timer<'static>,
        floor: &'a Floor<'f>,
    }

    impl Clock for MatchClock<'_, '_> {
        fn elapsed(&self) -> Duration {
            self.timer.elapsed()
        }

        fn limit(&self) -> Option<Duration> {
            self.timer.limit()
        }

        fn is_stopped(&self) -> bool {
            self.floor.is_over()
        }
    }

    /// Tells how long something took.
    pub(in crate::matches) struct Stopwatch(Instant);

    impl Stopwatch {
        pub(in crate::matches) fn start() -> Stopwatch {
            Stopwatch(Instant::now())
        }

        pub(in crate::matches) fn seconds(&self) -> f64 {
            self.0.elapsed().as_secs_f64()
        }
    }

    pub(in crate::matches) fn ask(
        player: &mut dyn Player,
        game: &GameState<'_>,
        limit: Limit,
        floor: &Floor<'_>,
    ) -> Result<Choice, PlayerError> {
        let clock = MatchClock { timer: Timer::new(limit.time), floor };
        let Limit { nodes, depth, .. } = limit;
        player.choose(game, &Budget { nodes, depth, clock: Some(&clock), ..Budget::default() })
    }
}

#[cfg(not(feature = "threads"))]
mod watched {
    use super::{Budget, Choice, Floor, GameState, Limit, Player, PlayerError};

    /// There is no clock: everything takes no time.
    pub(in crate::matches) struct Stopwatch;

    impl Stopwatch {
        pub(in crate::matches) fn start() -> Stopwatch {
            Stopwatch
        }

        pub(in crate::matches) fn seconds(&self) -> f64 {
            0.0
        }
    }

    pub(in crate::matches) fn ask(
        player: &mut dyn Player,
        game: &GameState<'_>,
        limit: Limit,
        _floor: &Floor<'_>,
    ) -> Result<Choice, PlayerError> {
        let Limit { nodes, depth, .. } = limit;
        player.choose(game, &Budget { nodes, depth, ..Budget::default() })
    }
}

pub(super) use watched::{Stopwatch, ask};
