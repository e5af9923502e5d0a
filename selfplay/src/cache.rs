//! Evaluations kept by position: what a network has said once it need not say again.
//!
//! Games of one run meet the same positions: openings, plays that change places, a tree that was let go. A network's
//! answer depends on its features alone, and features on the [`Position`] alone: not on the ply, the limit of plays or
//! the game. So a position found here gets the very numbers that its network would say again, and games are played the
//! same with or without a cache. That holds for evaluators whose answer does not depend on the batch; the native
//! network is one.
//!
//! A cache belongs to one worker: no lock. Its memory is taken once and never grows.

use gipf_core::Position;
use gipf_model::Evaluation;

/// Slots that a position may be in.
const WAYS: usize = 4;

/// One evaluation. Its logits lie in the cache's ring.
#[derive(Clone)]
struct Entry {
    hash: u64,
    /// The whole position, compared on every hit: equal hashes of different positions do no harm.
    position: Position,
    /// Where its logits begin, counted in logits written since the beginning.
    from: u64,
    count: u32,
    value: [f32; 3],
    plays_left: f32,
}

/// The newest evaluations of one network, as many as the memory holds.
pub(crate) struct EvaluationCache {
    /// Groups of [`WAYS`]; the hash says which group a position belongs to.
    slots: Vec<Option<Entry>>,
    /// Logits of the entries one after the other, the oldest overwritten first.
    ring: Vec<f32>,
    /// Logits written since the beginning, those left out at the ring's end included.
    written: u64,
    /// Entries that begin before this are another network's.
    floor: u64,
    /// Room for the answer.
    answer: Evaluation,
}

impl EvaluationCache {
    /// A cache of so many megabytes (2^20 bytes), half of them for positions and half for logits. None for 0.
    pub(crate) fn new(megabytes: u32) -> Option<EvaluationCache> {
        let half = (megabytes as usize) << 19;
        let groups = half / (WAYS * size_of::<Option<Entry>>());
        (groups > 0).then(|| EvaluationCache {
            slots: vec![None; groups * WAYS],
            ring: vec![0.0; half / size_of::<f32>()],
            written: 0,
            floor: 0,
            answer: Evaluation::default(),
        })
    }

    /// Forgets everything: the next answers come from another network.
    pub(crate) fn clear(&mut self) {
        self.floor = self.written;
    }

    /// What the network said of a position whose [`Position::hash64`] is `hash`.
    pub(crate) fn get(&mut self, hash: u64, position: &Position) -> Option<&Evaluation> {
        let entry = self.slots[self.group(hash)]
            .iter()
            .flatten()
            .find(|entry| entry.hash == hash && entry.position == *position)?;
        let kept = entry.from >= self.floor && entry.from + self.ring.len() as u64 >= self.written;
        if !kept {
            return None;
        }
        let start = (entry.from % self.ring.len() as u64) as usize;
        self.answer.logits.clear();
        self.answer.logits.extend_from_slice(&self.ring[start..start + entry.count as usize]);
        (self.answer.value, self.answer.plays_left) = (entry.value, entry.plays_left);
        Some(&self.answer)
    }

    /// Keeps what the network said of a position, in place of the oldest entry of its group.
    pub(crate) fn put(&mut self, hash: u64, position: &Position, evaluation: &Evaluation) {
        let Evaluation { logits, value, plays_left } = evaluation;
        let (count, length) = (logits.len(), self.ring.len());
        if count > length {
            return;
        }
        let mut start = (self.written % length as u64) as usize;
        if start + count > length {
            // An entry's logits lie in one piece.
            self.written += (length - start) as u64;
            start = 0;
        }
        self.ring[start..start + count].copy_from_slice(logits);
        let from = self.written;
        self.written += count as u64;
        let group = self.group(hash);
        // 0 for the position itself (two games asked at once), 1 for an empty slot, then by age.
        let age = |slot: &Option<Entry>| match slot {
            None => (1, 0),
            Some(entry) if entry.hash == hash && entry.position == *position => (0, 0),
            Some(entry) => (2, entry.from),
        };
        if let Some(slot) = self.slots[group].iter_mut().min_by_key(|slot| age(slot)) {
            *slot = Some(Entry {
                hash,
                position: *position,
                from,
                count: count as u32,
                value: *value,
                plays_left: *plays_left,
            });
        }
    }

    fn group(&self, hash: u64) -> std::ops::Range<usize> {
        let groups = (self.slots.len() / WAYS) as u128;
        let first = ((u128::from(hash) * groups) >> 64) as usize * WAYS;
        first..first + WAYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::{Play, Rules};

    fn evaluation(number: usize, logits: usize) -> Evaluation {
        Evaluation {
            logits: (0..logits).map(|at| (number * 1000 + at) as f32).collect(),
            value: [number as f32, 0.5, 0.25],
            plays_left: number as f32 / 7.0,
        }
    }

    /// Different positions of `standard`, by their first plays.
    fn positions(count: usize) -> Vec<Position> {
        let start = "standard".parse::<Rules>().unwrap().start();
        let (mut all, mut plays): (Vec<_>, Vec<Play>) = (vec![start], Vec::new());
        for at in 0.. {
            if all.len() >= count {
                break;
            }
            let position = all[at];
            position.actions(&mut plays);
            for &play in &plays {
                let mut next = position;
                next.play(play);
                if !all.contains(&next) {
                    all.push(next);
                }
            }
        }
        all.truncate(count);
        all
    }

    #[test]
    fn no_memory_is_no_cache() {
        assert!(EvaluationCache::new(0).is_none());
    }

    #[test]
    fn says_again_what_was_said_and_nothing_of_another_network() {
        let mut cache = EvaluationCache::new(1).unwrap();
        let positions = positions(300);
        for (number, position) in positions.iter().enumerate() {
            assert!(cache.get(position.hash64(), position).is_none());
            cache.put(position.hash64(), position, &evaluation(number, 20 + number % 50));
        }
        let mut kept = 0;
        for (number, position) in positions.iter().enumerate() {
            if let Some(found) = cache.get(position.hash64(), position) {
                assert_eq!(*found, evaluation(number, 20 + number % 50));
                kept += 1;
            }
        }
        assert!(kept > 290, "{kept} of 300 in 2340 slots");
        cache.clear();
        assert!(positions.iter().all(|p| cache.get(p.hash64(), p).is_none()));
        cache.put(7, &positions[0], &evaluation(5, 3));
        assert_eq!(cache.get(7, &positions[0]), Some(&evaluation(5, 3)));
    }

    /// Positions with one hash share a group and are told apart by themselves; the oldest gives way.
    #[test]
    fn equal_hashes_are_told_apart() {
        let mut cache = EvaluationCache::new(1).unwrap();
        let positions = positions(WAYS + 1);
        for (number, position) in positions.iter().enumerate() {
            cache.put(9, position, &evaluation(number, 4));
            cache.put(9, position, &evaluation(number, 4));
        }
        let found: Vec<_> = positions.iter().map(|p| cache.get(9, p).cloned()).collect();
        assert_eq!(found[0], None);
        for (number, found) in found.into_iter().enumerate().skip(1) {
            assert_eq!(found, Some(evaluation(number, 4)));
        }
    }

    /// The ring is overwritten again and again; an entry whose logits are gone is gone.
    #[test]
    fn never_reads_what_was_overwritten() {
        let mut cache = EvaluationCache::new(1).unwrap();
        let positions = positions(500);
        let mut hits = 0;
        for round in 0..20 {
            for (number, position) in positions.iter().enumerate() {
                let logits = 300 + (number * 37 + round) % 400;
                cache.put(position.hash64(), position, &evaluation(number, logits));
                let back = positions[(number + 499 - round) % 500];
                if let Some(found) = cache.get(back.hash64(), &back) {
                    let number = (number + 499 - round) % 500;
                    assert_eq!(found.value[0], number as f32);
                    assert!(
                        (0..found.logits.len())
                            .all(|at| found.logits[at] == (number * 1000 + at) as f32)
                    );
                    hits += 1;
                }
            }
        }
        assert!(hits > 1000 && cache.written > 10 * cache.ring.len() as u64);
    }
}
