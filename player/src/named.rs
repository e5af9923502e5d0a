//! Players by name, as `gipf-player` knows them.

use std::path::Path;

use gipf_model::{Checkpoint, Evaluator, Int8Evaluator, NativeEvaluator};
use gipf_selfplay::{
    BuiltIn, Network, NetworkPlayer, Player, PlayerNameError, SearchConfig, nearest_name,
};

use crate::messages::{Usage, echo};
use crate::shipped::Shipped;

/// What the command line accepts, for messages.
pub const FORMS: &str =
    "random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], shipped:NAME or a checkpoint file";

/// The player that this text names: one without a network, `shipped:NAME`, or a file of `gipf train` or `gipf export`.
///
/// # Errors
/// [`Usage`] for a name that is none; a failure where the file is damaged or of another version.
pub fn player(text: &str) -> anyhow::Result<Box<dyn Player>> {
    match text.parse::<BuiltIn>() {
        Ok(built_in) => return Ok(built_in.player()),
        Err(PlayerNameError::Unknown { .. }) => {}
        Err(error) => return Err(Usage::error(error.to_string())),
    }
    let checkpoint = match text.strip_prefix("shipped:") {
        Some(name) => Shipped::named(name)?.checkpoint()?,
        None if Path::new(text).exists() => Checkpoint::load(Path::new(text))?,
        None => return Err(unknown(text, text, FORMS)),
    };
    Ok(Box::new(NetworkPlayer::new(network(text, &checkpoint))?))
}

/// No player is named by `text`, whose last part is `place`; `forms` says what would be one.
pub fn unknown(text: &str, place: &str, forms: &str) -> anyhow::Error {
    let hint = match nearest_name(place, &BuiltIn::NAMES) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    };
    Usage::error(format!("no player '{}'{hint} (a player is {forms})", echo(text)))
}

/// The network of a checkpoint with the search around it: in int8 where it is calibrated, which is faster and no weaker
/// (docs/METHODS.md).
fn network(name: &str, checkpoint: &Checkpoint) -> Network<Box<dyn Evaluator>> {
    let evaluator: Box<dyn Evaluator> = match &checkpoint.calibration {
        Some(calibration) => Box::new(Int8Evaluator::new(checkpoint, calibration)),
        None => Box::new(NativeEvaluator::new(checkpoint)),
    };
    Network {
        name: name.to_owned(),
        evaluator,
        search: SearchConfig::default(),
        checkpoint: checkpoint.header.step,
    }
}
