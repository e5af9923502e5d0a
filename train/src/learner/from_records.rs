//! Training on games that exist already, without self-play.

use std::path::Path;

use gipf_core::record::GameRecord;

use super::session::{Ending, Session};
use crate::store::RecordReader;

/// Games that are taken in between two stretches of training.
const GAMES_AT_ONCE: usize = 64;

impl Session {
    /// Trains on the records of a folder or file until they are used up by the sample-reuse ratio, a limit is reached
    /// or the user stops the run, then saves it.
    ///
    /// The records become games of this run, so that it can be gone on with when they are gone; those it has already
    /// are not taken in again.
    ///
    /// # Errors
    /// The records cannot be read, or the learner or the run's folder fails; the last save point stands.
    pub fn train_from_records(&mut self, records: &Path) -> anyhow::Result<Ending> {
        let mut reader = RecordReader::open(records)?;
        loop {
            self.progress.stage("training on records");
            let games: Vec<GameRecord> =
                reader.by_ref().take(GAMES_AT_ONCE).collect::<Result<_, _>>()?;
            let end = games.is_empty();
            self.collect(&games)?;
            let ending = loop {
                if self.stop.is_set() {
                    break Some(Ending::Stopped);
                }
                let used = self.used();
                if self.limits.training_reached(&used) {
                    break Some(Ending::Done);
                }
                if !self.step_if_due()? {
                    break (end || self.limits.games_reached(&used)).then_some(Ending::Done);
                }
                if self.save_is_due() {
                    self.save()?;
                }
                self.show();
            };
            self.show();
            if let Some(ending) = ending {
                self.progress.stage("saving the run");
                self.save()?;
                return Ok(ending);
            }
        }
    }
}
