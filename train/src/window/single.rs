//! One window: whole games in order, the oldest leaving, samples drawn at random.

use super::chunks::Chunks;
use super::error::WindowError;
use super::growth::Growth;
use super::sample::{GameSamples, Sample};
use crate::run::StreamState;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What is saved of a window; its samples are made anew from the stored games.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowState {
    /// Ordinal of the oldest game held.
    pub first_game: u64,
    /// Samples that have left.
    pub gone: u64,
    /// Samples that ever came.
    pub made: u64,
    /// Where the drawing stands; none before the first save.
    pub stream: Option<StreamState>,
}

/// A game in the window.
#[derive(Debug, Clone, Copy)]
struct Game {
    ordinal: u64,
    samples: u32,
}

/// A window over the samples of whole games.
///
/// Its content is a function of the games that came, of their order and of the [`Growth`]; it is never larger than that allows, unless by
/// a single game that is larger.
#[derive(Debug)]
pub struct Window {
    name: &'static str,
    growth: Growth,
    chunks: Chunks,
    games: VecDeque<Game>,
    made: u64,
    rng: ChaCha8Rng,
}

impl Window {
    pub(super) fn new(name: &'static str, growth: Growth, seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self { name, growth, chunks: Chunks::default(), games: VecDeque::new(), made: 0, rng }
    }

    /// Samples held.
    pub const fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Whether it holds none.
    pub const fn is_empty(&self) -> bool {
        self.chunks.len() == 0
    }

    /// Games held.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Samples that ever came.
    pub const fn made(&self) -> u64 {
        self.made
    }

    /// Samples it may hold now.
    pub fn limit(&self) -> u64 {
        self.growth.limit(self.made)
    }

    /// Memory in bytes: per sample `size_of::<Sample>()` and 2 for each action of a full search.
    pub fn bytes(&self) -> usize {
        self.chunks.bytes() + self.games.capacity() * size_of::<Game>()
    }

    /// Ordinal of the oldest game held.
    pub fn first_game(&self) -> Option<u64> {
        self.games.front().map(|game| game.ordinal)
    }

    /// The samples in order, oldest first, with their policies.
    pub fn samples(&self) -> impl Iterator<Item = (&Sample, &[u16])> {
        (0..self.len()).filter_map(|place| self.chunks.get(place))
    }

    /// Adds a game; the oldest leave first, so that the bound holds at every moment.
    pub(super) fn add(&mut self, ordinal: u64, game: &GameSamples) {
        let count = game.samples.len();
        let limit = self.growth.limit(self.made + count as u64);
        while (self.len() + count) as u64 > limit {
            let Some(oldest) = self.games.pop_front() else { break };
            self.chunks.pop_front(oldest.samples as usize);
        }
        self.put(ordinal, game);
    }

    /// Adds a game and lets none go.
    pub(super) fn put(&mut self, ordinal: u64, game: &GameSamples) {
        for sample in &game.samples {
            let start = sample.policy_start as usize;
            self.chunks
                .push(sample, &game.policies[start..start + usize::from(sample.policy_length)]);
        }
        if !game.samples.is_empty() {
            self.games.push_back(Game { ordinal, samples: game.samples.len() as u32 });
            self.made += game.samples.len() as u64;
        }
    }

    /// Draws a sample, each equally likely; none from an empty window. Also a random number below `sides`.
    pub(super) fn draw(&mut self, sides: usize) -> Option<(&Sample, &[u16], usize)> {
        if self.is_empty() {
            return None;
        }
        // Fixed widths: the stream must not depend on the machine's.
        let place = self.rng.random_range(0..self.chunks.len() as u64) as usize;
        let side = self.rng.random_range(0..sides as u32) as usize;
        self.chunks.get(place).map(|(sample, policy)| (sample, policy, side))
    }

    /// What [`Window::restore`] needs, beside the games; `next_game` is the ordinal after the newest game seen.
    pub(super) fn state(&self, next_game: u64) -> WindowState {
        WindowState {
            first_game: self.first_game().unwrap_or(next_game),
            gone: self.made - self.len() as u64,
            made: self.made,
            stream: Some(StreamState::of(&self.rng)),
        }
    }

    /// Takes up a saved window, before its games are [`put`](Window::put).
    pub(super) fn restore(&mut self, state: &WindowState) -> Result<(), WindowError> {
        self.made = state.gone;
        if let Some(stream) = &state.stream {
            self.rng = stream.restore().ok_or(WindowError::Stream { window: self.name })?;
        }
        Ok(())
    }

    /// Checks that the games gave what was saved.
    pub(super) fn check(&self, state: &WindowState, games: u64) -> Result<(), WindowError> {
        if self.made == state.made {
            return Ok(());
        }
        Err(WindowError::Differs {
            window: self.name,
            games,
            found: self.made,
            counted: state.made,
        })
    }
}
