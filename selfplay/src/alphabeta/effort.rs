//! What a decision may cost, and what it has cost so far.

use crate::budget::Clock;

/// The clock is read once in so many positions, some 100 microseconds.
const BETWEEN_LOOKS: u64 = 128;

/// Positions searched, and when to stop.
pub(super) struct Effort<'a> {
    pub(super) nodes: u64,
    most: u64,
    clock: Option<&'a dyn Clock>,
    /// Whether the clock's limit counts, not only its wish to stop.
    timed: bool,
    over: bool,
}

impl<'a> Effort<'a> {
    /// At most so many positions, 1 or more, until the clock ends the thinking; `timed`: by its limit too.
    pub(super) fn new(most: u64, clock: Option<&'a dyn Clock>, timed: bool) -> Effort<'a> {
        Effort { nodes: 0, most, clock, timed, over: false }
    }

    /// Whether the search has to stop.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Counts one more position; false: it is not to be searched any more.
    #[inline]
    pub(super) fn spend(&mut self) -> bool {
        if self.over {
            return false;
        }
        if self.nodes >= self.most || self.nodes.is_multiple_of(BETWEEN_LOOKS) && self.look() {
            self.over = true;
            return false;
        }
        self.nodes += 1;
        true
    }

    #[cold]
    fn look(&self) -> bool {
        self.clock
            .is_some_and(|clock| if self.timed { clock.is_over() } else { clock.is_stopped() })
    }
}
