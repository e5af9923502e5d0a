//! Who plays and how: what makes games belong together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gipf_core::Rules;
use gipf_selfplay::{Limit, ListedGame, OpeningConfig, SpecError, WorkerIdentity};
use serde::{Deserialize, Serialize};

use crate::config::CpuPrecision;
use crate::identity::{difference, nonce, seed};

const FORMAT: &str = "gipf-mixes-1";
/// The name of the run in the games' records.
const RUN: &str = "mixes";

/// What each decision may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Simulations of a network, playouts of MCTS; alpha-beta looks 4 plays ahead. 1 or more.
    Nodes(u32),
    /// Milliseconds, 1 or more.
    Movetime(u32),
}

impl Strength {
    /// As a limit of a match.
    pub fn limit(self) -> Limit {
        match self {
            Strength::Nodes(nodes) => Limit::nodes(nodes),
            Strength::Movetime(time) => Limit::time(Duration::from_millis(u64::from(time))),
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strength::Nodes(nodes) => write!(f, "{nodes} nodes a decision"),
            Strength::Movetime(time) => write!(f, "{time} ms a decision"),
        }
    }
}

/// How games are played: with all of it equal, the game of a rules string and a number is the same game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    format: String,
    /// The player as it was named first. A network is known by its weights, whatever it is called.
    pub player: String,
    /// The SHA-256 of its network's weights.
    pub network: Option<String>,
    /// How the network is searched, in words; empty without one.
    pub search: String,
    /// The numbers that it computes with on the CPU.
    pub precision: Option<CpuPrecision>,
    /// What each decision may cost.
    pub strength: Strength,
    /// The first plays, which are drawn from the policy of the player's search; evenly where it has none.
    pub opening_plays: u32,
    /// Chances are the policy's to the power 1/temperature; above 0.
    pub temperature: f32,
    /// Plays after which a game is unfinished.
    pub max_plays: u32,
    /// Everything random follows from it.
    pub seed: u64,
}

impl Setup {
    /// A player without a network, with 10 plays drawn at temperature 1 and at most 500 plays, seed 1.
    pub fn new(player: String, strength: Strength) -> Self {
        Setup {
            format: FORMAT.to_owned(),
            player,
            network: None,
            search: String::new(),
            precision: None,
            strength,
            opening_plays: 10,
            temperature: 1.0,
            max_plays: gipf_core::DEFAULT_MAX_PLAYS,
            seed: 1,
        }
    }

    /// The name of the folder of its games.
    pub fn folder_name(&self) -> String {
        let strength = match self.strength {
            Strength::Nodes(nodes) => format!("{nodes}-nodes"),
            Strength::Movetime(time) => format!("{time}-ms"),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || "+.-=".contains(c) { c } else { '_' };
        format!("{}-{strength}", self.player).chars().map(plain).collect()
    }

    /// The first setting in which the games that were found differ from those wanted.
    pub(super) fn difference(&self, found: &Setup) -> Option<String> {
        difference(&self.essence(), &found.essence())
    }

    /// How games begin.
    pub(super) fn opening(&self) -> OpeningConfig {
        OpeningConfig {
            random_plays: 0,
            sampled_plays: self.opening_plays,
            temperature: self.temperature,
        }
    }

    /// What the records of a rules string's games say of their origin; no two rules strings share their random numbers.
    pub(super) fn identity(&self, rules: &Rules) -> Arc<WorkerIdentity> {
        let seed = seed(&format!("{} {rules}", self.seed));
        let worker = self.worker(&rules.to_string());
        Arc::new(WorkerIdentity { run: RUN.to_owned(), worker, seed })
    }

    /// The nonce of games: of a rules string's against itself, or of those against a rival.
    pub(super) fn worker(&self, games: &str) -> String {
        // Numbers and texts always serialize.
        let essence = serde_json::to_string(&self.essence()).unwrap_or_default();
        nonce(&format!("{essence} {games}"))
    }

    /// A game of its own.
    pub(super) fn game(
        rules: &Rules,
        identity: &Arc<WorkerIdentity>,
        number: u64,
    ) -> Result<ListedGame, SpecError> {
        ListedGame::new(*rules, Arc::clone(identity), number)
    }

    /// What decides the games: the name of a network does not.
    fn essence(&self) -> Setup {
        let player = match self.network {
            Some(_) => String::new(),
            None => self.player.clone(),
        };
        Setup { player, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_known_by_its_weights_and_other_players_by_their_names() {
        let plain = Setup::new("greedy".to_owned(), Strength::Nodes(16));
        let named = |name: &str, network: Option<&str>| Setup {
            player: name.to_owned(),
            network: network.map(str::to_owned),
            ..plain.clone()
        };
        let difference = |a: &Setup, b: &Setup| a.difference(b);
        assert_eq!(difference(&named("a", Some("1")), &named("b", Some("1"))), None);
        let other = difference(&named("a", Some("1")), &named("a", Some("2")));
        assert_eq!(other.as_deref(), Some("its network is \"2\", not \"1\""));
        let other = difference(&plain, &named("random", None));
        assert_eq!(other.as_deref(), Some("its player is \"random\", not \"greedy\""));
        let slow = Setup { strength: Strength::Movetime(5), ..plain.clone() };
        assert_eq!(
            difference(&plain, &slow).as_deref(),
            Some("its strength is {\"movetime\":5}, not {\"nodes\":16}")
        );
        assert_eq!(named("run:a/b@latest", None).folder_name(), "run_a_b_latest-16-nodes");
        let rules = |text: &str| text.parse::<Rules>().expect("rules");
        let [one, two] = ["basic", "standard"].map(|text| plain.identity(&rules(text)));
        assert!(one.worker != two.worker && one.seed != two.seed);
    }
}
