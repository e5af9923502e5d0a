//! What a run begins with: its learner, by the configuration and the checkpoint it is given.

use anyhow::{Context, bail};
use gipf_model::{Architecture, Checkpoint};
use gipf_model_torch::{AdamWConfig, Device, Learner, LearnerConfig, LossWeights};

use super::selfplay::sampler;
use crate::config::Config;
use crate::cpu;

/// Threads of one of the learner's operations: one in a deterministic run, whose sums must come in one order; else what
/// the config says, or every core where it says nothing. (Beside self-play the run shares the cores out as it goes.)
pub(super) fn learner_threads(config: &Config) -> usize {
    match config.run.threads {
        _ if config.run.deterministic => 1,
        0 => cpu::cores(),
        threads => threads,
    }
}

/// The learner's settings of a configuration.
pub(super) fn learner_config(config: &Config) -> LearnerConfig {
    let train = &config.train;
    LearnerConfig {
        losses: LossWeights {
            value: train.value_loss_weight,
            plays_left: train.plays_left_loss_weight,
            reply: train.reply_loss_weight,
            swing: train.swing_loss_weight,
            ..LossWeights::default()
        },
        optimizer: AdamWConfig {
            weight_decay: train.weight_decay,
            clip_norm: train.gradient_clip,
            ..AdamWConfig::default()
        },
        average_decay: train.average_decay,
        threads: learner_threads(config),
        trunk: train.trunk,
    }
}

/// Checks what a start needs from its configuration and the checkpoint it begins with, before there is a folder.
///
/// # Errors
/// The rules cannot be played, the network cannot be made, or the checkpoint is another network.
pub fn check_start(config: &Config, init: Option<&Checkpoint>) -> anyhow::Result<()> {
    sampler(config)?;
    architecture(config, init)?;
    grow_to(config).map(|_| ())
}

/// The network that it grows to during the run, if it does.
pub(super) fn grow_to(config: &Config) -> anyhow::Result<Option<Architecture>> {
    let network = &config.network;
    network.grown_size().with_context(|| format!("network.grow_to {}", network.grow_to))
}

/// The network of a configuration, which is also that of the checkpoint to begin with.
fn architecture(config: &Config, init: Option<&Checkpoint>) -> anyhow::Result<Architecture> {
    let network = &config.network;
    let architecture =
        network.size().with_context(|| format!("network.architecture {}", network.architecture))?;
    let architecture = architecture.with_auxiliary(config.train.auxiliary());
    // Auxiliary heads are no part of what plays: those that the checkpoint lacks start new.
    if let Some(checkpoint) = init
        && checkpoint.header.architecture.with_auxiliary(architecture.auxiliary) != architecture
    {
        let found = checkpoint.header.architecture;
        bail!(
            "--init: the checkpoint is a {found} network, the config wants {architecture}; add {}",
            settings_of(&found)
        );
    }
    Ok(architecture)
}

/// The overrides that make a configuration's network this one.
fn settings_of(wanted: &Architecture) -> String {
    let size = wanted.to_string();
    let size = size.split('-').next().unwrap_or(&size);
    format!(
        "--set network.architecture={size} --set network.global_pooling={}",
        wanted.global_pooling
    )
}

/// A learner with the weights of `init`, or with new ones.
///
/// # Errors
/// The network cannot be made, or the checkpoint is another one.
pub(super) fn new_learner(
    config: &Config,
    init: Option<&Checkpoint>,
    device: Device,
) -> anyhow::Result<Learner> {
    let learner = learner_config(config);
    let architecture = architecture(config, init)?;
    Ok(match init {
        None => Learner::new(architecture, config.run.seed, learner, device)?,
        Some(checkpoint) => {
            let heads = architecture.auxiliary;
            let checkpoint = checkpoint.clone().with_auxiliary(heads, config.run.seed)?;
            Learner::from_checkpoint(&checkpoint, learner, device)?
        }
    })
}
