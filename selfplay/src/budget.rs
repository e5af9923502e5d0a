//! How much a player may think about one decision, and what it tells about its thinking.

use std::time::Duration;

use gipf_core::Play;

/// The time of one decision, told by whoever has a clock: this crate reads none unless it is built with `threads`.
pub trait Clock {
    /// Since the decision began.
    fn elapsed(&self) -> Duration;

    /// When the play is due, counted from the decision's beginning; `None`: no limit.
    fn limit(&self) -> Option<Duration>;

    /// Somebody wants the play at once.
    fn is_stopped(&self) -> bool {
        false
    }

    /// The play is due: the time is up or somebody wants it.
    fn is_over(&self) -> bool {
        self.is_stopped() || self.limit().is_some_and(|limit| self.elapsed() >= limit)
    }
}

/// How much a player may think about one decision. What is `None` does not bound; where nothing does, a player takes its
/// own default. Players without a search pay no attention to it.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    /// New root visits of a tree search, playouts of MCTS, positions of alpha-beta; 1 or more.
    pub nodes: Option<u32>,
    /// Plays that alpha-beta looks ahead, 1 or more; the other searches know no depth.
    pub depth: Option<u32>,
    /// The time.
    pub clock: Option<&'a dyn Clock>,
    /// Hears of the search while it goes on: after each depth, or from time to time.
    pub listener: Option<&'a dyn Fn(&Thought)>,
    /// Goes on with the search of the same decision that its clock has stopped, with the same budget, in place of beginning another
    /// one: the result is that of a search that nobody stopped. Players that search no tree of a network begin anew.
    pub resume: bool,
    /// The most plays that a tree search tells of in [`Thought::candidates`]; 0: none.
    pub candidates: usize,
}

impl Budget<'static> {
    /// A number of nodes and no deadline.
    pub fn nodes(nodes: u32) -> Budget<'static> {
        Budget { nodes: Some(nodes), ..Budget::default() }
    }

    /// A number of plays to look ahead and no deadline.
    pub fn depth(depth: u32) -> Budget<'static> {
        Budget { depth: Some(depth), ..Budget::default() }
    }
}

impl<'a> Budget<'a> {
    /// As long as this clock runs.
    pub fn time(clock: &'a dyn Clock) -> Budget<'a> {
        Budget { clock: Some(clock), ..Budget::default() }
    }

    /// Whether the play is due by the clock.
    pub fn is_over(&self) -> bool {
        self.clock.is_some_and(Clock::is_over)
    }
}

/// What a decision is worth, from the side that decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// Hundredths of a basic piece.
    Material(i32),
    /// Probabilities of a win, an unfinished game and a loss; they sum to 1.
    Outcomes([f32; 3]),
    /// Won in so many plays of either side; negative: lost in so many.
    Proven(i32),
}

/// Where a search stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thought {
    /// Plays looked ahead; the length of the longest line for a tree search.
    pub depth: u32,
    /// What [`Budget::nodes`] counts.
    pub nodes: u64,
    /// The value of the decision.
    pub score: Option<Score>,
    /// The expected plays, the search's choice first.
    pub line: Vec<Play>,
    /// The plays that a tree search has looked at, its choice first, the others by falling visits; as many as were asked for.
    pub candidates: Vec<Candidate>,
}

/// One play of a decision as a tree search sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its visits, those of earlier searches of the same tree included; 1 or more.
    pub visits: u32,
    /// Its share of the search's policy, 0 to 1.
    pub share: f32,
    /// Its value, from the side that decides.
    pub score: Score,
    /// The expected plays, this one first.
    pub line: Vec<Play>,
}

#[cfg(feature = "threads")]
mod timer {
    use super::Clock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// The machine's clock, and a flag that ends the thinking.
    #[derive(Clone, Copy, Debug)]
    pub struct Timer<'a> {
        started: Instant,
        limit: Option<Duration>,
        stop: Option<&'a AtomicBool>,
    }

    impl<'a> Timer<'a> {
        /// A decision that begins now.
        pub fn new(limit: Option<Duration>) -> Timer<'a> {
            Timer { started: Instant::now(), limit, stop: None }
        }

        /// The same, ended early once the flag is set.
        pub fn stopped_by(self, stop: &'a AtomicBool) -> Timer<'a> {
            Timer { stop: Some(stop), ..self }
        }
    }

    impl Clock for Timer<'_> {
        fn elapsed(&self) -> Duration {
            self.started.elapsed()
        }

        fn limit(&self) -> Option<Duration> {
            self.limit
        }

        fn is_stopped(&self) -> bool {
            self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
        }
    }
}

#[cfg(feature = "threads")]
pub use timer::Timer;
