//! A worker's games between their end and their way.

use super::settings::Batching;
use crate::learner::selfplay::SelfPlay;
use gipf_core::record::GameRecord;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long to wait for a finished game.
const PATIENCE: Duration = Duration::from_millis(100);

/// Self-play under way and the games it has finished.
pub(super) struct Table {
    pub(super) self_play: SelfPlay,
    /// Finished and not yet handed on.
    pub(super) waiting: Vec<GameRecord>,
    /// Since when the oldest of them waits.
    since: Instant,
    batching: Batching,
    /// The step of the checkpoint in use.
    pub(super) step: u64,
    /// Threads that play.
    pub(super) threads: usize,
}

impl Table {
    pub(super) fn new(self_play: SelfPlay, batching: Batching, step: u64, threads: usize) -> Self {
        Self { self_play, waiting: Vec::new(), since: Instant::now(), batching, step, threads }
    }

    /// Takes the games that are finished, waiting a moment for the first. Without room it takes none: then the players wait, too.
    pub(super) fn receive(&mut self, has_room: bool) -> anyhow::Result<()> {
        if !has_room || self.waiting.len() >= self.batching.games {
            std::thread::sleep(PATIENCE);
            return Ok(());
        }
        match self.self_play.games().recv_timeout(PATIENCE) {
            Ok(game) => self.add(game),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                self.self_play.join()?;
                anyhow::bail!("self-play ended by itself (a bug)");
            }
        }
        while self.waiting.len() < self.batching.games {
            let Ok(game) = self.self_play.games().try_recv() else { break };
            self.add(game);
        }
        Ok(())
    }

    fn add(&mut self, game: GameRecord) {
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        self.waiting.push(game);
    }

    /// Whether the games that wait are to be handed on.
    pub(super) fn is_due(&self) -> bool {
        self.waiting.len() >= self.batching.games
            || !self.waiting.is_empty()
                && self.since.elapsed().as_secs_f64() >= self.batching.seconds
    }
}
