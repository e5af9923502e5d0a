//! The transposition table: what was found out about positions met before in the same decision.

use gipf_core::Play;

/// How a stored value relates to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// It is the value.
    Exact,
    /// The value is this or more.
    Lower,
    /// The value is this or less.
    Upper,
}

/// What is known about a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    key: u64,
    /// The best play, or the one that refuted the position.
    pub(super) play: Play,
    /// Counted from the position, see [`to_table`](super::value::to_table).
    pub(super) value: i32,
    /// The decision it was stored in; 0 for no entry.
    decision: u16,
    /// Plays looked ahead.
    pub(super) depth: u8,
    pub(super) bound: Bound,
}

/// A fixed number of entries, two to a bucket: one for the deepest search, one for the latest.
///
/// Entries of earlier decisions do not count, so a decision depends on nothing but its game, its budget and its key.
#[derive(Clone, Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    decision: u16,
}

/// 2^18 entries of 24 bytes: 6 MiB.
const BITS: u32 = 18;

impl Table {
    /// A table that takes its memory at the first decision.
    pub(super) fn new() -> Table {
        Table { entries: Vec::new(), decision: 0 }
    }

    /// Forgets everything.
    pub(super) fn begin_decision(&mut self) {
        self.decision = self.decision.wrapping_add(1);
        if self.entries.is_empty() || self.decision == 0 {
            let none = Entry {
                key: 0,
                play: Play::PASS,
                value: 0,
                decision: 0,
                depth: 0,
                bound: Bound::Exact,
            };
            self.entries.clear();
            self.entries.resize(1 << BITS, none);
            self.decision = 1;
        }
    }

    /// What is known of the position with this key.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<Entry> {
        let at = Table::bucket(key);
        let bucket = self.entries.get(at..at + 2)?;
        bucket.iter().find(|entry| entry.key == key && entry.decision == self.decision).copied()
    }

    /// Stores what was found out about a position.
    #[inline]
    pub(super) fn store(&mut self, key: u64, play: Play, value: i32, depth: u8, bound: Bound) {
        let entry = Entry { key, play, value, decision: self.decision, depth, bound };
        let at = Table::bucket(key);
        let Some([deepest, latest]) = self.entries.get_mut(at..at + 2) else { return };
        let fresh = deepest.decision != self.decision;
        if fresh || deepest.key == key || deepest.depth <= depth {
            if !fresh && deepest.key != key {
                *latest = *deepest;
            }
            *deepest = entry;
        } else {
            *latest = entry;
        }
    }

    /// The first entry of a key's bucket.
    #[inline]
    fn bucket(key: u64) -> usize {
        (key >> (64 - BITS)) as usize & !1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_until_the_next_decision() {
        let mut table = Table::new();
        table.begin_decision();
        assert!(table.find(7).is_none());
        table.store(7, Play::PASS, 12, 3, Bound::Lower);
        let entry = table.find(7).expect("stored");
        assert_eq!((entry.value, entry.depth, entry.bound), (12, 3, Bound::Lower));
        table.begin_decision();
        assert!(table.find(7).is_none());
    }

    /// Keys 1 and 2 share a bucket, like all keys that differ in their low bits only.
    #[test]
    fn the_deepest_entry_of_a_bucket_outlives_later_ones() {
        let mut table = Table::new();
        table.begin_decision();
        table.store(1, Play::PASS, 1, 6, Bound::Exact);
        for key in 2..5 {
            table.store(key, Play::PASS, 2, 1, Bound::Exact);
            assert!(table.find(key).is_some());
        }
        assert!(table.find(1).is_some() && table.find(2).is_none() && table.find(3).is_none());
        table.store(5, Play::PASS, 2, 7, Bound::Exact);
        assert!(table.find(1).is_some() && table.find(5).is_some());
    }

    #[test]
    fn a_wrapped_decision_number_finds_nothing_old() {
        let mut table = Table::new();
        table.begin_decision();
        table.store(9, Play::PASS, 1, 6, Bound::Exact);
        for _ in 0..u16::MAX {
            table.begin_decision();
        }
        assert!(table.find(9).is_none());
    }
}
