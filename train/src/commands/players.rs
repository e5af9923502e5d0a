//! Players by name, as `gipf match` and the report of a run know them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::Device;
use gipf_player::messages::echo;
use gipf_player::named::unknown;
use gipf_player::shipped::Shipped;
use gipf_selfplay::{
    BuiltIn, Contestant, Judge, Limit, Method, OutsideConfig, OutsidePlayer, PlayerNameError,
};

use super::Usage;
use crate::config::CpuPrecision;
use crate::evaluators::{network, network_with};
use crate::run::{RunFolder, RunView, checkpoint_name};

/// What the command line accepts, for messages.
pub(super) const FORMS: &str = "random, greedy, alphabeta[:DEPTH], mcts[:PLAYOUTS], shipped:NAME, a \
     checkpoint file, run:DIR@latest|best|STEP, puct: or sym: before one of these three, or ugi:COMMAND";

/// Plays that alpha-beta looks ahead where the others have a number of simulations.
const DEPTH: u32 = 4;

/// Who plays.
#[derive(Debug)]
pub(super) enum PlayerSpec {
    /// A player without a network.
    BuiltIn(BuiltIn),
    /// A network with the search around it.
    Network {
        /// As the user named it.
        name: String,
        /// Gumbel or PUCT (`puct:`).
        method: Method,
        /// Whether each position is seen on one of its symmetric boards (`sym:`).
        symmetry: bool,
        /// The loaded network.
        checkpoint: Box<Checkpoint>,
    },
    /// A program that speaks UGI.
    Outside {
        /// Its command line.
        command: String,
    },
}

/// How long a program from outside may be silent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Beyond the time of a decision.
    pub(super) grace: Duration,
    /// For a decision without a limit of time.
    pub(super) hang: Duration,
}

impl Default for Patience {
    /// A second of grace, a minute where nothing limits.
    fn default() -> Self {
        Patience { grace: Duration::from_secs(1), hang: Duration::from_secs(60) }
    }
}

/// What players meet under.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    /// The rules of the games; a program from outside is asked at once whether it knows them.
    pub(super) rules: &'a Rules,
    /// What a decision may cost, unless the player's name says so itself.
    pub(super) limit: Limit,
    /// Where networks are evaluated.
    pub(super) device: Device,
    /// With which numbers, on the CPU; see [`PlayerSpec::precision`].
    pub(super) precision: Option<CpuPrecision>,
    /// For programs from outside.
    pub(super) patience: Patience,
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
        if let Some(command) = text.strip_prefix("ugi:") {
            return Ok(PlayerSpec::Outside { command: command.to_owned() });
        }
        let (method, symmetry, place) = options(text);
        if let Some(shipped) = place.strip_prefix("shipped:") {
            let checkpoint = Box::new(Shipped::named(shipped)?.checkpoint()?);
            return Ok(PlayerSpec::Network { name: text.to_owned(), method, symmetry, checkpoint });
        }
        let path = match place.strip_prefix("run:") {
            Some(run) => checkpoint_of_run(run)?,
            None => PathBuf::from(place),
        };
        if !path.exists() {
            return Err(unknown(text, place, FORMS));
        }
        let checkpoint = Checkpoint::load(&path)?;
        let (name, checkpoint) = (text.to_owned(), Box::new(checkpoint));
        Ok(PlayerSpec::Network { name, method, symmetry, checkpoint })
    }

    /// As the user named it.
    pub(super) fn name(&self) -> String {
        match self {
            PlayerSpec::BuiltIn(built_in) => built_in.to_string(),
            PlayerSpec::Network { name, .. } => name.clone(),
            PlayerSpec::Outside { command } => format!("ugi:{command}"),
        }
    }

    /// The checkpoint, for a network.
    pub(super) fn checkpoint(&self) -> Option<&Checkpoint> {
        match self {
            PlayerSpec::Network { checkpoint, .. } => Some(checkpoint),
            PlayerSpec::BuiltIn(_) | PlayerSpec::Outside { .. } => None,
        }
    }

    /// The numbers that its network computes with on the CPU where these are asked for: int8 where none are and the checkpoint
    /// is calibrated for it, because int8 is faster and no weaker (docs/METHODS.md). `None` without a network.
    pub(super) fn precision(&self, asked: Option<CpuPrecision>) -> Option<CpuPrecision> {
        self.checkpoint().map(|checkpoint| precision_of(checkpoint, asked))
    }

    /// How a network is searched, in words; empty without one.
    pub(super) fn search(&self) -> String {
        match self {
            PlayerSpec::Network { method, symmetry, .. } => {
                let method = match method {
                    Method::Gumbel => "gumbel",
                    Method::Puct => "puct",
                };
                format!("{method}{}", if *symmetry { ", symmetric boards" } else { "" })
            }
            PlayerSpec::BuiltIn(_) | PlayerSpec::Outside { .. } => String::new(),
        }
    }

    /// The first of the rules that the network was trained on.
    pub(super) fn rules(&self) -> Option<&str> {
        self.checkpoint()?.header.rules.first().map(String::as_str)
    }

    /// Warns of rules that its network was not trained on: it plays by them, as badly as may be.
    pub(super) fn warn_of_unknown<'a>(&self, rules: impl IntoIterator<Item = &'a Rules>) {
        let Some(Checkpoint { header, .. }) = self.checkpoint() else { return };
        let mut unknown = rules.into_iter().filter(|rules| !header.knows(rules));
        if let Some(first) = unknown.next() {
            let more = match unknown.count() {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            let (name, known) = (self.name(), header.known_rules());
            tracing::warn!("{name} was not trained on {first}{more}, only on {known}");
        }
    }

    /// This player, ready for a match; a program from outside is started.
    ///
    /// # Errors
    /// The device refuses the network; a program cannot be started, or does not speak UGI or know the rules.
    pub(super) fn contestant(&self, terms: Terms) -> anyhow::Result<Contestant> {
        Ok(match self {
            PlayerSpec::BuiltIn(BuiltIn::AlphaBeta { depth: None })
                if terms.limit.time.is_none() =>
            {
                let depth = Some(terms.limit.depth.unwrap_or(DEPTH));
                Contestant::built_in(BuiltIn::AlphaBeta { depth }, terms.limit)
            }
            PlayerSpec::BuiltIn(built_in) => Contestant::built_in(*built_in, terms.limit),
            PlayerSpec::Network { name, method, symmetry, checkpoint } => {
                let precision = precision_of(checkpoint, terms.precision);
                let mut network = network_with(name, *method, checkpoint, terms.device, precision)?;
                network.search.symmetry = *symmetry;
                Contestant::network(network, terms.limit)?
            }
            PlayerSpec::Outside { command } => {
                let Patience { grace, hang } = terms.patience;
                let config = OutsideConfig { grace, hang, ..OutsideConfig::new(*terms.rules) };
                let player =
                    OutsidePlayer::start(command, config).map_err(|error| anyhow!(error))?;
                Contestant::player(Box::new(player), terms.limit)
            }
        })
    }

    /// This player's network as the judge of openings, if it has one.
    ///
    /// # Errors
    /// The device refuses the network.
    pub(super) fn judge(&self, device: Device) -> anyhow::Result<Option<Judge>> {
        let judge = |checkpoint| network(&self.name(), Method::Gumbel, checkpoint, device);
        self.checkpoint().map(judge).transpose()
    }
}

/// How many threads play: those asked for, else one on a GPU, half of the physical cores by time and all cores otherwise.
///
/// # Errors
/// [`Usage`] for more threads than physical cores where time is limited: a game that waits for a core would lose time.
pub(super) fn threads(asked: Option<u32>, timed: bool, on_gpu: bool) -> anyhow::Result<u32> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let physical = (num_cpus::get_physical() as u32).clamp(1, cores);
    match asked {
        Some(threads) if timed && threads > physical => Err(Usage::error(format!(
            "--threads {threads}: with --movetime at most {physical}, one for each physical core"
        ))),
        Some(threads) => Ok(threads),
        None if on_gpu => Ok(1),
        None if timed => Ok((physical / 2).max(1)),
        None => Ok(cores),
    }
}

fn precision_of(checkpoint: &Checkpoint, asked: Option<CpuPrecision>) -> CpuPrecision {
    asked.unwrap_or(match checkpoint.calibration {
        Some(_) => CpuPrecision::Int8,
        None => CpuPrecision::F32,
    })
}

/// How a network is searched, by the words before its place: each once at most, in any order (`puct:sym:FILE`).
fn options(text: &str) -> (Method, bool, &str) {
    let (mut method, mut symmetry, mut place) = (Method::Gumbel, false, text);
    loop {
        if let Some(rest) = place.strip_prefix("puct:").filter(|_| method != Method::Puct) {
            (method, place) = (Method::Puct, rest);
        } else if let Some(rest) = place.strip_prefix("sym:").filter(|_| !symmetry) {
            (symmetry, place) = (true, rest);
        } else {
            return (method, symmetry, place);
        }
    }
}

/// The folder of the run that this text names a player of: `run:DIR…`, or a checkpoint's file where it lies in one.
pub(super) fn run_of(text: &str) -> Option<PathBuf> {
    let (_, _, place) = options(text);
    let folder = match place.strip_prefix("run:") {
        Some(run) => PathBuf::from(run.rsplit_once('@').map_or(run, |(folder, _)| folder)),
        None => Path::new(place).parent()?.parent()?.to_owned(),
    };
    RunFolder::holds_run(&folder).then_some(folder)
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
        "best" => run.best_step()?,
        step => step.parse().map_err(|_| {
            Usage::error(format!("run:{text}: after @ comes latest, best or a step"))
        })?,
    };
    let path = folder.join("checkpoints").join(checkpoint_name(step));
    path.exists()
        .then_some(path)
        .with_context(|| format!("{} has no checkpoint of step {step}", folder.display()))
}
