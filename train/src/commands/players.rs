//! Players by name, as `gipf match` and the report of a run know them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_player::messages::echo;
use gipf_selfplay::{
    BuiltIn, Contestant, Judge, Limit, Method, PlayerNameError, nearest_name,
};

use super::Usage;
use crate::evaluators::network;
use crate::run::{RunFolder, RunView, checkpoint_name};

/// What the command line accepts, for messages.
pub(super) const FORMS: &str = "random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], a checkpoint file, \
     puct:CHECKPOINT or run:DIR@latest|best|STEP";

/// Who plays.
#[derive(Debug)]
pub(super) enum PlayerSpec {
    /// A player without a network.
    BuiltIn(BuiltIn),
    /// A network with the search around it.
    Network {
        /// As the user named it.
        name: String,
        /// Gumbel or PUCT.
        method: Method,
        /// The loaded network.
        checkpoint: Box<Checkpoint>,
    },
}

impl PlayerSpec {
    /// The player that this text names; a checkpoint is loaded and checked.
    ///
    /// # Errors
    /// [`Usage`] for a name that is none; a failure where a checkpoint or run is missing or damaged.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        match text.parse::<BuiltIn>() {
            Ok(built_in) => return Ok(PlayerSpec::BuiltIn(built_in)),
            Err(PlayerNameError::Unknown { .. }) => {}
            Err(error) => return Err(Usage::error(error.to_string())),
        }
        let (method, place) = match text.strip_prefix("puct:") {
            Some(place) => (Method::Puct, place),
            None => (Method::Gumbel, text),
        };
        let path = match place.strip_prefix("run:") {
            Some(run) => checkpoint_of_run(run)?,
            None => PathBuf::from(place),
        };
        if !path.exists() {
            let hint = match nearest_name(place, &BuiltIn::NAMES) {
                Some(name) => format!("; did you mean {name}?"),
                None => String::new(),
            };
            return Err(Usage::error(format!(
                "no player '{}'{hint} (a player is {FORMS})",
                echo(text)
            )));
        }
        let checkpoint = Checkpoint::load(&path)?;
        Ok(PlayerSpec::Network { name: text.to_owned(), method, checkpoint: Box::new(checkpoint) })
    }

    /// The first of the rules that the network was trained on.
    pub(super) fn rules(&self) -> Option<&str> {
        match self {
            PlayerSpec::BuiltIn(_) => None,
            PlayerSpec::Network { checkpoint, .. } => {
                checkpoint.header.rules.first().map(String::as_str)
            }
        }
    }

    /// This player, ready for a match.
    ///
    /// # Errors
    /// The device refuses the network.
    pub(super) fn contestant(
        &self,
        limit: Limit,
        device: Device,
    ) -> anyhow::Result<Contestant> {
        Ok(match self {
            PlayerSpec::BuiltIn(built_in) => Contestant::built_in(*built_in, limit),
            PlayerSpec::Network { name, method, checkpoint } => {
                Contestant::network(network(name, *method, checkpoint, device)?, limit)?
            }
        })
    }

    /// This player's network as the judge of openings, if it has one.
    ///
    /// # Errors
    /// The device refuses the network.
    pub(super) fn judge(&self, device: Device) -> anyhow::Result<Option<Judge>> {
        Ok(match self {
            PlayerSpec::BuiltIn(_) => None,
            PlayerSpec::Network { name, checkpoint, .. } => {
                Some(network(name, Method::Gumbel, checkpoint, device)?)
            }
        })
    }
}

/// `DIR@latest`, `DIR@best` or `DIR@STEP`; without `@`, the latest.
fn checkpoint_of_run(text: &str) -> anyhow::Result<PathBuf> {
    let (folder, which) = text.rsplit_once('@').unwrap_or((text, "latest"));
    if folder.is_empty() {
        return Err(Usage::error(format!(
            "run:{}: names no folder (run:DIR@latest|best|STEP)",
            echo(text)
        )));
    }
    let folder = Path::new(folder);
    if !RunFolder::holds_run(folder) {
        return Err(Usage::error(format!("there is no run in {}", folder.display())));
    }
    let run = RunView::open(folder)?;
    let step = match which {
        "latest" => run.state.step,
        "best" => run.state.best.unwrap_or(run.state.step),
        step => step.parse().map_err(|_| {
            Usage::error(format!("run:{text}: after @ comes latest, best or a step"))
        })?,
    };
    let path = folder.join("checkpoints").join(checkpoint_name(step));
    path.exists()
        .then_some(path)
        .with_context(|| format!("{} has no checkpoint of step {step}", folder.display()))
}
