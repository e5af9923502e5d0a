//! Keys that are right one by one but cannot stand together.

use super::error::ConfigError;
use super::sections::{Config, NetworkSection, RunSection};
use gipf_model::can_grow;

/// Checks that the keys agree.
pub(super) fn check(config: &Config, file: &str) -> Result<(), ConfigError> {
    reason(config)
        .map_or(Ok(()), |reason| Err(ConfigError::Conflict { file: file.to_owned(), reason }))
}

/// What is wrong with the size that the network is to grow to.
fn growth(network: &NetworkSection, run: &RunSection) -> Option<String> {
    let NetworkSection { architecture, grow_to, grow_at, .. } = network;
    // A size that is too large is told where the network is made.
    let (Ok(from), Ok(Some(to))) = (network.size(), network.grown_size()) else { return None };
    if !can_grow(&from, &to) {
        return Some(format!(
            "network.grow_to is \"{grow_to}\", which is not larger than network.architecture = \"{architecture}\": a network may gain blocks and channels and lose neither"
        ));
    }
    let has_limit = run.minutes > 0.0 || run.cpu_minutes > 0.0 || run.steps > 0 || run.games > 0;
    (!has_limit && *grow_at > 0.0).then(|| {
        format!(
            "network.grow_to is \"{grow_to}\" and network.grow_at is {grow_at} of the run's limit, but the run has none: set run.minutes, run.cpu_minutes, run.steps or run.games"
        )
    })
}

fn reason(config: &Config) -> Option<String> {
    if let Some(reason) = growth(&config.network, &config.run) {
        return Some(reason);
    }
    let Config { run, self_play, window, gating, report, train, checkpoints, .. } = config;
    if self_play.fast_simulations > self_play.simulations {
        return Some(format!(
            "self_play.fast_simulations is {}, more than self_play.simulations = {}: a fast search is the smaller one",
            self_play.fast_simulations, self_play.simulations
        ));
    }
    if window.minimum > window.maximum {
        return Some(format!(
            "window.minimum is {}, more than window.maximum = {}: training would never start",
            window.minimum, window.maximum
        ));
    }
    if gating.elo0 >= gating.elo1 {
        return Some(format!(
            "gating.elo0 is {}, not less than gating.elo1 = {}: the test is between the two",
            gating.elo0, gating.elo1
        ));
    }
    if gating.games % 2 == 1 {
        return Some(format!(
            "gating.games is {}: it must be even, for each opening is played twice, colours swapped",
            gating.games
        ));
    }
    if report.games % 2 == 1 {
        return Some(format!(
            "report.games is {}: it must be even, for each opening is played twice, colours swapped",
            report.games
        ));
    }
    for (key, minutes) in [("run.minutes", run.minutes), ("run.cpu_minutes", run.cpu_minutes)] {
        if run.deterministic && minutes > 0.0 {
            return Some(format!(
                "run.deterministic is true and {key} is {minutes}: a run that ends by the clock cannot be repeated; set {key} = 0 and run.steps or run.games",
            ));
        }
    }
    if run.deterministic && run.steps == 0 && run.games == 0 {
        return Some(
            "run.deterministic is true without a limit: set run.steps or run.games".to_owned(),
        );
    }
    if checkpoints.every_steps == 0 && checkpoints.every_games == 0 {
        return Some("checkpoints.every_steps and checkpoints.every_games are both 0: the run would save only its end; set one".to_owned());
    }
    if (train.batch_size as u64) > window.maximum {
        return Some(format!(
            "train.batch_size is {}, more than window.maximum = {}: a batch would repeat samples",
            train.batch_size, window.maximum
        ));
    }
    None
}
