//! A trained player from its file.

use std::path::Path;

use gipf_core::{Rules, RulesError};
use gipf_model::{
    Checkpoint, CheckpointError, CheckpointHeader, Evaluator, Int8Evaluator, NativeEvaluator,
};
use gipf_selfplay::NetworkPlayer;

use crate::messages::echo;

/// A trained player: what `gipf export --to player` writes, or any checkpoint of a run.
///
/// The file is checked from end to end when it is read; what is damaged, of another version or no player's file at all is an
/// error of one line.
#[derive(Clone, Debug)]
pub struct PlayerFile {
    name: String,
    checkpoint: Checkpoint,
}

/// Rules that a player was not trained on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rules '{rules}': {player} knows {known}")]
pub struct UnknownRules {
    /// The rules.
    pub rules: Rules,
    /// Who does not know them.
    pub player: String,
    /// What that player knows, in words.
    pub known: String,
}

impl PlayerFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is damaged, of another version, or none of this project.
    pub fn read(path: &Path) -> Result<PlayerFile, CheckpointError> {
        Ok(PlayerFile::new(&path.display().to_string(), Checkpoint::load(path)?))
    }

    /// Reads a file's bytes; `name` stands for the path in errors and is what the player is called where its file does not say.
    ///
    /// # Errors
    /// As those of [`PlayerFile::read`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<PlayerFile, CheckpointError> {
        Ok(PlayerFile::new(name, Checkpoint::from_bytes(name, bytes)?))
    }

    /// The player of a checkpoint that has been read; `name` is what it is called where its header does not say.
    pub fn new(name: &str, checkpoint: Checkpoint) -> PlayerFile {
        let card = checkpoint.header.card.as_ref();
        let name = card.map_or_else(|| echo(name), |card| echo(&card.name));
        PlayerFile { name, checkpoint }
    }

    /// The same player under another name.
    #[must_use]
    pub fn called(self, name: &str) -> PlayerFile {
        PlayerFile { name: name.to_owned(), ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file says of itself: size, versions, rules, training, licence, rating, hash.
    pub fn header(&self) -> &CheckpointHeader {
        &self.checkpoint.header
    }

    /// The network.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The rules that it plays by if nobody says which: the first it was trained on, `standard` if it knows any.
    ///
    /// # Errors
    /// The file's first rules are none that this version can read.
    pub fn rules(&self) -> Result<Rules, RulesError> {
        self.header().rules.first().map_or("standard", String::as_str).parse()
    }

    /// Refuses rules that the player was not trained on.
    ///
    /// # Errors
    /// Says which rules it knows.
    pub fn check_rules(&self, rules: &Rules) -> Result<(), UnknownRules> {
        if self.header().knows(rules) {
            return Ok(());
        }
        let known = self.header().known_rules();
        Err(UnknownRules { rules: *rules, player: self.name.clone(), known })
    }

    /// The network's evaluator: in int8 where it is calibrated, which is faster and no weaker (docs/METHODS.md).
    pub fn evaluator(&self) -> Box<dyn Evaluator> {
        match &self.checkpoint.calibration {
            Some(calibration) => Box::new(Int8Evaluator::new(&self.checkpoint, calibration)),
            None => Box::new(NativeEvaluator::new(&self.checkpoint)),
        }
    }

    /// The player.
    pub fn player(&self) -> NetworkPlayer<Box<dyn Evaluator>> {
        NetworkPlayer::with_default_search(self.name.clone(), self.evaluator(), self.header().step)
    }

    /// The player with so many threads for its search, 1 or more.
    ///
    /// # Errors
    /// The system starts no thread.
    #[cfg(feature = "program")]
    pub fn threaded(&self, threads: usize) -> std::io::Result<NetworkPlayer<Box<dyn Evaluator>>> {
        self.player().with_helpers((1..threads).map(|_| self.evaluator()).collect())
    }
}
