//! What was trained, in a few facts.

use gipf_model::Architecture;
use gipf_selfplay::RulesEntry;

use super::html::{escape, grouped};
use crate::config::Config;
use crate::progress::human_time;
use crate::run::RunView;

/// The facts as the items of a description list.
pub(super) fn list(run: &RunView) -> String {
    let (state, config) = (&run.state, &run.config);
    let time =
        if state.seconds > 0.0 { human_time(state.seconds) } else { "not measured".to_owned() };
    let mut facts = vec![
        ("Rules", rules(config)),
        ("Network", network(config)),
        ("Training time", time),
        ("Games", grouped(state.games)),
        ("Positions", grouped(state.positions)),
        ("Training steps", grouped(state.step)),
        ("Simulations", format!("{} a full search", grouped(config.self_play.simulations))),
        ("Device", config.run.device.clone()),
        ("Starts", grouped(state.starts)),
    ];
    facts.extend(state.records.iter().map(|records| ("Trained on the games of", records.clone())));
    let item = |(name, value): &(&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
    };
    facts.iter().map(item).collect()
}

/// Every rules string of the configuration; drawn mixes by the word.
fn rules(config: &Config) -> String {
    let name = |entry: &RulesEntry| match entry {
        RulesEntry::Fixed(fixed) => fixed.rules.clone(),
        RulesEntry::Drawn(_) => "mixes drawn game by game".to_owned(),
    };
    config.rules.rules.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Blocks and channels with the number of weights.
fn network(config: &Config) -> String {
    let network = &config.network;
    let told =
        |text: &str, size: Architecture| format!("{text}, {} weights", grouped(size.parameters()));
    let Ok(size) = network.size() else { return network.architecture.clone() };
    let first = told(&network.architecture, size);
    match network.grown_size() {
        Ok(Some(size)) => format!("{first}; grows to {}", told(&network.grow_to, size)),
        _ => first,
    }
}
