//! Training on games that exist already, without self-play.

use std::path::Path;

use anyhow::{Context, bail};
use gipf_core::record::GameRecord;

use super::session::{Ending, Session};
use crate::config::Config;
use crate::store::{RecordReader, is_held_out};

/// Games that are taken in between two stretches of training.
const GAMES_AT_ONCE: usize = 64;

/// Checks that a folder or file of records holds a game to train on, reading up to the first one.
///
/// # Errors
/// The records cannot be read, or no game holds a search and is to be trained on.
pub fn check_records(records: &Path, config: &Config) -> anyhow::Result<()> {
    for record in RecordReader::open(records).context("--from-records")? {
        let record = record.context("--from-records")?;
        let searched = record.plays.iter().any(|play| play.s.is_some());
        if searched && !is_held_out(&record.id, config.train.held_out) {
            return Ok(());
        }
    }
    bail!(
        "no trainable samples in {}: its games hold no searches, or train.held_out keeps all of them back",
        records.display()
    )
}

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
        let mut ending = self.take_up_stored()?;
        loop {
            self.progress.stage("training on records");
            if ending.is_none() {
                let games: Vec<GameRecord> =
                    reader.by_ref().take(GAMES_AT_ONCE).collect::<Result<_, _>>()?;
                self.take_in(&games)?;
                ending = self.learn_what_is_due()?;
                let over = games.is_empty() || self.limits.games_reached(&self.used());
                ending = ending.or(over.then_some(Ending::Done));
            }
            self.show();
            if let Some(ending) = ending {
                self.progress.stage("saving the run");
                self.save()?;
                if ending == Ending::Done && self.folder.state.step == 0 {
                    bail!(
                        "too few samples to train on in {}: they are {}, window.minimum is {} and train.batch_size is {}",
                        records.display(),
                        self.folder.state.samples_made,
                        self.config.window.minimum,
                        self.config.train.batch_size
                    );
                }
                return Ok(ending);
            }
        }
    }
}
