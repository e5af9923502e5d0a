//! Samples in a queue of equal chunks, which are used again: memory stays flat however many samples pass through.

use super::sample::Sample;
use std::collections::VecDeque;

/// Samples of a chunk.
pub(super) const CHUNK: usize = 1024;

/// Steps, in values, by which a chunk's room for policies grows: small, so that old chunks do not swell.
const POLICY_STEP: usize = 1024;

#[derive(Debug, Default)]
struct Chunk {
    samples: Vec<Sample>,
    policies: Vec<u16>,
}

impl Chunk {
    const fn bytes(&self) -> usize {
        self.samples.capacity() * size_of::<Sample>() + self.policies.capacity() * size_of::<u16>()
    }
}

/// A queue of samples: the newest go in behind, the oldest leave in front.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    chunks: VecDeque<Chunk>,
    spare: Vec<Chunk>,
    /// Samples of the first chunk that have left.
    gone: usize,
    length: usize,
}

impl Chunks {
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Memory of all chunks in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().chain(&self.spare).map(Chunk::bytes).sum()
    }

    /// The sample at a place from the front, with its policy.
    pub(super) fn get(&self, place: usize) -> Option<(&Sample, &[u16])> {
        if place >= self.length {
            return None;
        }
        let place = place + self.gone;
        let chunk = self.chunks.get(place / CHUNK)?;
        let sample = chunk.samples.get(place % CHUNK)?;
        let start = sample.policy_start as usize;
        Some((sample, chunk.policies.get(start..start + usize::from(sample.policy_length))?))
    }

    pub(super) fn push(&mut self, sample: &Sample, policy: &[u16]) {
        if self.chunks.back().is_none_or(|chunk| chunk.samples.len() == CHUNK) {
            let room = self.chunks.back().map_or(POLICY_STEP, |chunk| chunk.policies.len());
            let chunk = self.spare.pop().unwrap_or_else(|| Chunk {
                samples: Vec::with_capacity(CHUNK),
                policies: Vec::with_capacity(room),
            });
            self.chunks.push_back(chunk);
        }
        let Some(chunk) = self.chunks.back_mut() else { return };
        let start = chunk.policies.len();
        if chunk.policies.capacity() - start < policy.len() {
            chunk.policies.reserve_exact(policy.len().max(POLICY_STEP));
        }
        chunk.policies.extend_from_slice(policy);
        chunk.samples.push(Sample {
            policy_start: start as u32,
            policy_length: policy.len() as u16,
            ..*sample
        });
        self.length += 1;
    }

    /// Lets the oldest samples go.
    pub(super) fn pop_front(&mut self, count: usize) {
        let count = count.min(self.length);
        self.gone += count;
        self.length -= count;
        while self.gone >= CHUNK {
            self.gone -= CHUNK;
            if let Some(mut chunk) = self.chunks.pop_front() {
                chunk.samples.clear();
                chunk.policies.clear();
                self.spare.push(chunk);
            }
        }
    }
}
