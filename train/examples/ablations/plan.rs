//! The plan of a study: its arms, and which of them meet.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use serde::{Deserialize, Serialize};

/// A study.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// The configuration that all arms start from.
    pub config: String,
    /// Processor time of each run in minutes, learner and self-play together, unless the arm says otherwise.
    pub cpu_minutes: f64,
    /// A run of each arm for each of them.
    pub seeds: Vec<u64>,
    /// Games of a match, unless the comparison says otherwise; it has one for each seed.
    pub games: u32,
    /// Simulations a decision in the matches, unless the comparison is by time.
    pub nodes: u32,
    /// Overrides of the configuration for all arms, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// The arms by name.
    pub arms: BTreeMap<String, Arm>,
    /// Who meets whom, in this order.
    pub comparisons: Vec<Comparison>,
    /// What is made of several comparisons.
    #[serde(default)]
    pub factors: Vec<Factor>,
}

/// A question of how much compute a way of training saves.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factor {
    /// What is compared.
    pub name: String,
    /// Arms that differ in nothing but their processor time; each has a comparison with `b`.
    pub a: Vec<String>,
    /// The arm of the other way.
    pub b: String,
}

/// One way to train.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Arm {
    /// Overrides beyond those of all arms.
    pub set: Vec<String>,
    /// Its own processor time in minutes.
    pub cpu_minutes: Option<f64>,
}

/// Two arms that meet.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comparison {
    /// What is compared.
    pub name: String,
    /// The arm whose score is told.
    pub a: String,
    /// The arm it meets.
    pub b: String,
    /// Its own number of games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u32>,
    /// Milliseconds a decision instead of simulations: for networks that differ in what they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movetime: Option<u32>,
}

impl Plan {
    /// Checks what reading cannot.
    ///
    /// # Errors
    /// A comparison names an arm that is none, two have one name, or a number is out of its range.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.seeds.is_empty(), "seeds is empty");
        for (index, comparison) in self.comparisons.iter().enumerate() {
            for arm in [&comparison.a, &comparison.b] {
                if !self.arms.contains_key(arm) {
                    bail!("comparison '{}' names an arm '{arm}' that is none", comparison.name);
                }
            }
            let games = self.games_of(comparison);
            ensure!(
                games > 0 && games.is_multiple_of(2),
                "comparison '{}' has {games} games: they must be even and above 0",
                comparison.name
            );
            if self.comparisons[..index].iter().any(|other| other.name == comparison.name) {
                bail!("two comparisons are named '{}'", comparison.name);
            }
        }
        for factor in &self.factors {
            for arm in &factor.a {
                let meets =
                    |comparison: &Comparison| (&comparison.a, &comparison.b) == (arm, &factor.b);
                ensure!(
                    self.comparisons.iter().any(meets),
                    "factor '{}' needs a comparison of '{arm}' with '{}'",
                    factor.name,
                    factor.b
                );
            }
        }
        for (name, arm) in &self.arms {
            ensure!(self.cpu_minutes_of(arm) > 0.0, "arm '{name}' has no processor time");
        }
        Ok(())
    }

    /// Games of each of a comparison's matches.
    pub(super) fn games_of(&self, comparison: &Comparison) -> u32 {
        comparison.games.unwrap_or(self.games)
    }

    /// The processor time of an arm's runs in minutes.
    pub(super) fn cpu_minutes_of(&self, arm: &Arm) -> f64 {
        arm.cpu_minutes.unwrap_or(self.cpu_minutes)
    }
}
