//! Games that others made: records that exist, or what workers elsewhere send.
//!
//! In a deterministic run the learner makes every step that a game allows before it counts the next one. So what it becomes
//! depends on the games and their order alone, not on how many came at a time, by which way, or whether it was stopped in between.

use gipf_core::record::GameRecord;

use super::session::{Ending, Session};
use crate::transport::Transport;

impl Session {
    /// Stores games, then counts those that are new; how many were not. In a deterministic run, learns between them.
    pub(super) fn take_in(&mut self, games: &[GameRecord]) -> anyhow::Result<usize> {
        let new = self.transport.publish(games)?;
        for (record, _) in games.iter().zip(&new).filter(|(_, new)| **new) {
            self.add(record)?;
            if self.config.run.deterministic && self.learn_what_is_due()?.is_some() {
                // The rest is stored; whoever goes on with the run counts it.
                break;
            }
        }
        Ok(new.iter().filter(|new| !**new).count())
    }

    /// In a deterministic run, makes the steps that were due at the save point, then counts the games that were stored after it and
    /// learns between them, as it would have done then. (Any other run has counted them when it was taken up.)
    pub(super) fn take_up_stored(&mut self) -> anyhow::Result<Option<Ending>> {
        if self.config.run.deterministic {
            // A save point lies between two steps that the games before it allow.
            if let Some(ending) = self.learn_what_is_due()? {
                return Ok(Some(ending));
            }
            for item in self.transport.store().records(self.replay.games()) {
                let (_, record) = item?;
                self.add(&record)?;
                if let Some(ending) = self.learn_what_is_due()? {
                    return Ok(Some(ending));
                }
            }
        }
        Ok(None)
    }

    /// Makes the steps that are due, and the save points that fall between them; how training ends, if it does.
    pub(super) fn learn_what_is_due(&mut self) -> anyhow::Result<Option<Ending>> {
        loop {
            if self.stop.is_set() {
                return Ok(Some(Ending::Stopped));
            }
            if self.limits.training_reached(&self.used()) {
                return Ok(Some(Ending::Done));
            }
            if !self.step_if_due()? {
                return Ok(None);
            }
            if self.save_is_due() {
                self.save()?;
            }
            self.show();
        }
    }
}
