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
    /// The number of its first sample among all that ever came.
    first: u64,
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
            let (first, samples) = (self.made, game.samples.len() as u32);
            self.games.push_back(Game { ordinal, first, samples });
            self.made += game.samples.len() as u64;
        }
    }

    /// Draws the place of a sample and a number below `sides`; none from an empty window. Each sample is equally likely, but for a
    /// share `surprise` (0 to 1) of the draws: see [`Window::surprising`].
    pub(super) fn draw(&mut self, sides: usize, surprise: f64) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        // Fixed widths: the stream must not depend on the machine's.
        let place = self.rng.random_range(0..self.chunks.len() as u64) as usize;
        let side = self.rng.random_range(0..sides as u32) as usize;
        Some((self.surprising(place, surprise), side))
    }

    /// The sample at a place and its policy.
    pub(super) fn get(&self, place: usize) -> Option<(&Sample, &[u16])> {
        self.chunks.get(place)
    }

    /// With probability `share`, in place of a drawn sample whose surprise is known another one of its game, in proportion to their
    /// surprises `k`. Of a game's `n` samples that have one, each is drawn uniformly before, so afterwards each comes
    /// `(1 - share) + share * n * k / sum(k)` times as often as before; all others come as often as before.
    fn surprising(&mut self, place: usize, share: f64) -> usize {
        // Without a share no random number is drawn: the stream is that of a window that knows no surprise.
        let known = |place: usize| self.chunks.get(place)?.0.surprise.map(f64::from);
        if share <= 0.0 || known(place).is_none() || self.rng.random::<f64>() >= share {
            return place;
        }
        let gone = self.made - self.len() as u64;
        let number = gone + place as u64;
        let after = self.games.partition_point(|game| game.first <= number);
        let Some(game) = after.checked_sub(1).and_then(|at| self.games.get(at)) else {
            return place;
        };
        let first = (game.first - gone) as usize;
        let places = first..first + game.samples as usize;
        let surprises = || places.clone().filter_map(|place| Some((place, known(place)?)));
        let point = self.rng.random::<f64>() * surprises().map(|(_, k)| k).sum::<f64>();
        let mut sum = 0.0;
        let mut reached = surprises().skip_while(|(_, k)| {
            sum += k;
            sum <= point
        });
        // Nothing is reached where nothing surprised.
        reached.next().map_or(place, |(place, _)| place)
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
