//! Players by name, as `gipf-player` knows them.

use std::path::Path;

use gipf_core::Rules;
use gipf_selfplay::{BuiltIn, Player, PlayerNameError, nearest_name};

use crate::file::PlayerFile;
use crate::messages::{Usage, echo};
use crate::shipped::Shipped;

/// What the command line accepts, for messages.
pub const FORMS: &str =
    "random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], shipped:NAME or a player's file";

/// Who plays.
pub enum Named {
    /// A player without a network.
    BuiltIn(BuiltIn),
    /// A trained player.
    Trained(Box<PlayerFile>),
}

impl Named {
    /// The player that this text names: one without a network, `shipped:NAME`, or a file of `gipf train` or `gipf export`, which is
    /// called by this name.
    ///
    /// # Errors
    /// [`Usage`] for a name that is none; a failure where the file is damaged or of another version.
    pub fn parse(text: &str) -> anyhow::Result<Named> {
        match text.parse::<BuiltIn>() {
            Ok(built_in) => return Ok(Named::BuiltIn(built_in)),
            Err(PlayerNameError::Unknown { .. }) => {}
            Err(error) => return Err(Usage::error(error.to_string())),
        }
        let file = match text.strip_prefix("shipped:") {
            Some(name) => Shipped::named(name)?.player()?,
            None if Path::new(text).exists() => PlayerFile::read(Path::new(text))?.called(text),
            None => return Err(unknown(text, text, FORMS)),
        };
        Ok(Named::Trained(Box::new(file)))
    }

    /// The player.
    pub fn player(&self) -> Box<dyn Player> {
        match self {
            Named::BuiltIn(built_in) => built_in.player(),
            Named::Trained(file) => Box::new(file.player()),
        }
    }

    /// The rules that it plays by if nobody says which.
    ///
    /// # Errors
    /// [`Usage`]: those of its file are none that this version can read.
    pub fn rules(&self) -> anyhow::Result<Rules> {
        let rules = match self {
            Named::BuiltIn(_) => "standard".parse(),
            Named::Trained(file) => file.rules(),
        };
        rules.map_err(|error| Usage::error(error.to_string()))
    }
}

/// No player is named by `text`, whose last part is `place`; `forms` says what would be one.
pub fn unknown(text: &str, place: &str, forms: &str) -> anyhow::Error {
    let hint = match nearest_name(place, &BuiltIn::NAMES) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    };
    Usage::error(format!("no player '{}'{hint} (a player is {forms})", echo(text)))
}
