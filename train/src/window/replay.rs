//! The two windows of a run: the one it trains on and the one it measures itself with.

use super::error::WindowError;
use super::growth::Growth;
use super::label::{Labelled, ValueMix};
use super::sample::GameSamples;
use super::single::{Window, WindowState};
use crate::config::WindowSection;
use crate::store::{Store, is_held_out};
use gipf_core::record::GameRecord;
use gipf_model::AuxiliaryHeads;
use serde::{Deserialize, Serialize};

/// What is saved of both windows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayState {
    /// Games seen: the ordinal of the next one.
    pub games: u64,
    /// The window of training samples.
    pub train: WindowState,
    /// The window of held-out samples.
    pub held_out: WindowState,
}

/// What a game brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// Games.
    pub games: u64,
    /// Samples of games to train on.
    pub samples: u64,
    /// Samples of held-out games.
    pub held_out: u64,
    /// Plays, forced ones included.
    pub plays: u64,
}

impl std::ops::AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.games += other.games;
        self.samples += other.samples;
        self.held_out += other.held_out;
        self.plays += other.plays;
    }
}

/// What draws do beside the usual: by default nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Drawing {
    /// The heads whose targets they give.
    pub auxiliary: AuxiliaryHeads,
    /// The share of the training draws, 0 to 1, that goes by surprise: of a game's samples that have one, each comes
    /// `(1 - w) + w * n * k / sum(k)` times as often as without, where `k` is its surprise and `n` their number. Held-out samples are
    /// drawn uniformly in any case, so that what they measure does not change its meaning.
    pub surprise: f64,
}

/// The replay windows of a run.
#[derive(Debug)]
pub struct Replay {
    train: Window,
    held_out: Window,
    share: f64,
    drawing: Drawing,
    games: u64,
    scratch: GameSamples,
}

impl Replay {
    /// Empty windows; `share` (0 to 1) of the games is held out.
    pub fn new(section: &WindowSection, share: f64, seed: u64) -> Self {
        Self {
            train: Window::new("training", Growth::new(section, 1.0), seed, 1),
            // In proportion, so that both reach equally far back.
            held_out: Window::new("held-out", Growth::new(section, share), seed, 2),
            share,
            drawing: Drawing::default(),
            games: 0,
            scratch: GameSamples::default(),
        }
    }

    /// Draws in this way from now on. It is no part of what is saved, and changes nothing in what the windows hold.
    #[must_use]
    pub fn drawing(self, drawing: Drawing) -> Self {
        Self { drawing, ..self }
    }

    /// The window of training samples.
    pub const fn train(&self) -> &Window {
        &self.train
    }

    #[cfg(test)]
    pub(super) const fn train_mut(&mut self) -> &mut Window {
        &mut self.train
    }

    /// The window of held-out samples.
    pub const fn held_out(&self) -> &Window {
        &self.held_out
    }

    /// Games seen: the ordinal of the next one.
    pub const fn games(&self) -> u64 {
        self.games
    }

    /// Ordinal of the oldest game that either window holds: older ones may be pruned.
    pub fn oldest_game(&self) -> u64 {
        let first = |window: &Window| window.first_game().unwrap_or(self.games);
        first(&self.train).min(first(&self.held_out))
    }

    /// Adds the game of an ordinal, the next in order.
    ///
    /// # Errors
    /// The rules do not allow the game; nothing is added then.
    pub fn add(&mut self, ordinal: u64, record: &GameRecord) -> Result<Added, WindowError> {
        self.scratch.fill(record).map_err(|source| WindowError::Game { game: ordinal, source })?;
        let samples = self.scratch.samples.len() as u64;
        let mut added = Added { games: 1, plays: record.plays.len() as u64, ..Added::default() };
        if is_held_out(&record.id, self.share) {
            self.held_out.add(ordinal, &self.scratch);
            added.held_out = samples;
        } else {
            self.train.add(ordinal, &self.scratch);
            added.samples = samples;
        }
        self.games = ordinal + 1;
        Ok(added)
    }

    /// Draws `count` training samples into `out`, each on one of the 12 symmetric boards. `out` is left empty if there is none.
    pub fn draw(&mut self, count: usize, mix: ValueMix, out: &mut Vec<Labelled>) {
        draw(&mut self.train, count, mix, self.drawing, out);
    }

    /// The same from the held-out games.
    pub fn draw_held_out(&mut self, count: usize, mix: ValueMix, out: &mut Vec<Labelled>) {
        let drawing = Drawing { surprise: 0.0, ..self.drawing };
        draw(&mut self.held_out, count, mix, drawing, out);
    }

    /// What [`Replay::rebuild`] needs, beside the stored games.
    pub fn state(&self) -> ReplayState {
        ReplayState {
            games: self.games,
            train: self.train.state(self.games),
            held_out: self.held_out.state(self.games),
        }
    }

    /// The windows as they were saved, sample by sample, with their random streams; games stored later are left to
    /// [`Replay::catch_up`].
    ///
    /// # Errors
    /// The store cannot be read, or does not hold the games that were saved.
    pub fn rebuild(
        section: &WindowSection,
        share: f64,
        seed: u64,
        state: &ReplayState,
        store: &Store,
    ) -> Result<Self, WindowError> {
        let mut replay = Self::new(section, share, seed);
        replay.train.restore(&state.train)?;
        replay.held_out.restore(&state.held_out)?;
        let from = state.train.first_game.min(state.held_out.first_game);
        for item in store.records(from) {
            let (ordinal, record) = item?;
            if ordinal >= state.games {
                break;
            }
            let (window, saved) = if is_held_out(&record.id, share) {
                (&mut replay.held_out, &state.held_out)
            } else {
                (&mut replay.train, &state.train)
            };
            if ordinal >= saved.first_game {
                replay
                    .scratch
                    .fill(&record)
                    .map_err(|source| WindowError::Game { game: ordinal, source })?;
                window.put(ordinal, &replay.scratch);
            }
        }
        replay.games = state.games;
        replay.train.check(&state.train, state.games)?;
        replay.held_out.check(&state.held_out, state.games)?;
        Ok(replay)
    }

    /// Adds the games that were stored after the windows were saved. A deterministic run does not: it plays them
    /// again, and the store knows them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn catch_up(&mut self, store: &Store) -> Result<Added, WindowError> {
        let mut added = Added::default();
        for item in store.records(self.games) {
            let (ordinal, record) = item?;
            added += self.add(ordinal, &record)?;
        }
        Ok(added)
    }
}

fn draw(
    window: &mut Window,
    count: usize,
    mix: ValueMix,
    drawing: Drawing,
    out: &mut Vec<Labelled>,
) {
    if window.is_empty() {
        out.clear();
        return;
    }
    out.resize_with(count, Labelled::default);
    for labelled in out {
        let Some((place, side)) = window.draw(12, drawing.surprise) else { continue };
        if let Some((sample, policy)) = window.get(place) {
            labelled.fill(sample, policy, side, mix);
            // Games are in the window as a whole, so a reply is as long as its sample is.
            let reply = usize::from(sample.reply);
            let reply = (reply > 0).then(|| window.get(place + reply)).flatten();
            labelled.fill_auxiliary(drawing.auxiliary, sample, reply, side);
        }
    }
}
