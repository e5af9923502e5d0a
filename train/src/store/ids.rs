//! Which games are stored, as ranges of sequence numbers: a few bytes however many there are.

use gipf_core::record::GameId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A set of game ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdSet {
    /// By run, then by worker.
    runs: BTreeMap<String, BTreeMap<String, Ranges>>,
}

impl IdSet {
    /// Whether the game is in the set.
    pub fn contains(&self, id: &GameId) -> bool {
        self.runs
            .get(&id.run)
            .and_then(|run| run.get(&id.worker))
            .is_some_and(|worker| worker.contains(id.seq))
    }

    /// Adds a game; false if it was there.
    pub fn insert(&mut self, id: &GameId) -> bool {
        if !self.runs.contains_key(&id.run) {
            self.runs.insert(id.run.clone(), BTreeMap::new());
        }
        let Some(run) = self.runs.get_mut(&id.run) else { return false };
        if !run.contains_key(&id.worker) {
            run.insert(id.worker.clone(), Ranges::default());
        }
        run.get_mut(&id.worker).is_some_and(|worker| worker.insert(id.seq))
    }

    /// Adds all games of another set.
    pub(super) fn absorb(&mut self, other: Self) {
        for (run, workers) in other.runs {
            let mine = self.runs.entry(run).or_default();
            for (worker, ranges) in workers {
                let mine = mine.entry(worker).or_default();
                ranges.0.into_iter().for_each(|(first, end)| mine.insert_range(first, end));
            }
        }
    }

    /// The first sequence number above all of a run.
    pub(super) fn next_seq(&self, run: &str) -> u64 {
        let workers = self.runs.get(run).into_iter().flat_map(BTreeMap::values);
        workers.map(Ranges::end).max().unwrap_or(0)
    }
}

/// Disjoint ranges of numbers that do not touch: first number to one past the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    fn contains(&self, number: u64) -> bool {
        self.0.range(..=number).next_back().is_some_and(|(_, end)| number < *end)
    }

    fn insert(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        self.insert_range(number, number.saturating_add(1));
        true
    }

    /// Adds the numbers from `first` to below `end`; ranges that overlap or touch become one.
    fn insert_range(&mut self, mut first: u64, mut end: u64) {
        while let Some((&from, &to)) = self.0.range(..=end).next_back()
            && to >= first
        {
            self.0.remove(&from);
            (first, end) = (first.min(from), end.max(to));
        }
        self.0.insert(first, end);
    }

    fn end(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_agree_with_a_set() {
        let mut ranges = Ranges::default();
        let mut set = std::collections::BTreeSet::new();
        let mut number = 1u64;
        for _ in 0..2000 {
            number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let small = (number >> 33) % 600;
            assert_eq!(ranges.contains(small), set.contains(&small));
            assert_eq!(ranges.insert(small), set.insert(small));
        }
        assert_eq!(ranges.end(), set.last().expect("not empty") + 1);
        for rest in 0..600 {
            ranges.insert(rest);
        }
        assert_eq!(ranges.0.len(), 1);
    }

    #[test]
    fn sets_join_and_read_back() {
        let id = |worker: &str, seq| GameId { run: "a".into(), worker: worker.into(), seq };
        let (mut one, mut other, mut both) = (IdSet::default(), IdSet::default(), IdSet::default());
        for seq in 0..200_u64 {
            let id = id(if seq % 7 == 0 { "1" } else { "2" }, seq * seq % 97);
            let half = if seq.is_multiple_of(3) { &mut one } else { &mut other };
            half.insert(&id);
            both.insert(&id);
        }
        one.absorb(other);
        assert_eq!(one, both);
        let text = serde_json::to_string(&one).expect("serializes");
        assert_eq!(serde_json::from_str::<IdSet>(&text).expect("parses"), both);
    }

    #[test]
    fn games_of_other_runs_and_workers_are_other_games() {
        let id =
            |run: &str, worker: &str, seq| GameId { run: run.into(), worker: worker.into(), seq };
        let mut ids = IdSet::default();
        assert!(ids.insert(&id("a", "1", 4)));
        assert!(!ids.insert(&id("a", "1", 4)));
        assert!(ids.insert(&id("a", "2", 9)));
        assert!(ids.insert(&id("b", "1", 4)));
        assert!(ids.contains(&id("b", "1", 4)) && !ids.contains(&id("b", "2", 4)));
        assert_eq!((ids.next_seq("a"), ids.next_seq("b"), ids.next_seq("c")), (10, 5, 0));
    }
}
