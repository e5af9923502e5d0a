//! Who may start which game.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Hands out the games' sequence numbers to the workers of one process. Clones share one count.
#[derive(Clone, Debug)]
pub struct GameCounter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    end: AtomicU64,
}

impl GameCounter {
    /// Numbers from `next` up to, not including, `end`.
    pub fn new(next: u64, end: u64) -> GameCounter {
        GameCounter {
            shared: Arc::new(Shared { next: AtomicU64::new(next), end: AtomicU64::new(end) }),
        }
    }

    /// Numbers from `next` on.
    pub fn unlimited(next: u64) -> GameCounter {
        GameCounter::new(next, u64::MAX)
    }

    /// The next number, or `None` when there is none (left).
    pub fn take(&self) -> Option<u64> {
        // A number is only ever compared with the end; no other memory hangs on the order.
        let step = |next| (next < self.shared.end.load(Ordering::Relaxed)).then_some(next + 1);
        self.shared.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).ok()
    }

    /// Allows `games` more than have been started.
    pub fn allow(&self, games: u64) {
        self.shared.end.store(self.next_seq().saturating_add(games), Ordering::Relaxed);
    }

    /// Starts no further game: running ones are played to their ends.
    pub fn close(&self) {
        self.shared.end.store(0, Ordering::Relaxed);
    }

    /// The number that the next game gets: one above those of all games started.
    pub fn next_seq(&self) -> u64 {
        self.shared.next.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_its_end() {
        let counter = GameCounter::new(5, 7);
        let other = counter.clone();
        assert_eq!([counter.take(), other.take(), counter.take()], [Some(5), Some(6), None]);
        counter.allow(1);
        assert_eq!([other.take(), counter.take()], [Some(7), None]);
        assert_eq!(counter.next_seq(), 8);
        let open = GameCounter::unlimited(0);
        assert_eq!(open.take(), Some(0));
        open.close();
        assert_eq!(open.take(), None);
    }
}
