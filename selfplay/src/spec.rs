//! Which rules a game is played by: drawn from a run's weighted list.

use gipf_core::{Rules, RulesError};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::random::weighted;

/// One entry of a config's list of rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesWeight {
    /// A rules string (rules, section 3).
    pub rules: String,
    /// How often, against the others: 0 or more, finite; 1 unless given.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

/// Why a list of rules cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No rules, or all weights are 0.
    #[error("no rules to play: the list is empty or every weight is 0")]
    Empty,
    /// Not a rules string.
    #[error("rules \"{rules}\": {error}")]
    Rules {
        /// The text.
        rules: String,
        /// What is wrong with it.
        error: RulesError,
    },
    /// A weight that is negative or not a number.
    #[error("rules \"{rules}\": weight {weight} is not a number of 0 or more")]
    Weight {
        /// The rules.
        rules: String,
        /// The weight.
        weight: f64,
    },
    /// Side games that are played elsewhere.
    #[error(
        "rules \"{0}\": the outcomes of recorded side games have no probabilities; use rps, coin or chance"
    )]
    RecordedSideGames(String),
}

/// The rules of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameSpec {
    /// The rules; the game begins at their start.
    pub rules: Rules,
}

/// Draws the rules of each game.
#[derive(Clone, Debug)]
pub struct RulesSampler {
    entries: Vec<(Rules, f64)>,
}

impl RulesSampler {
    /// Checks a config's list.
    pub fn new(list: &[RulesWeight]) -> Result<RulesSampler, SpecError> {
        let mut entries = Vec::with_capacity(list.len());
        for RulesWeight { rules: text, weight } in list {
            let rules =
                text.parse().map_err(|error| SpecError::Rules { rules: text.clone(), error })?;
            if !weight.is_finite() || *weight < 0.0 {
                return Err(SpecError::Weight { rules: text.clone(), weight: *weight });
            }
            entries.push((searchable(rules)?, *weight));
        }
        if entries.iter().all(|&(_, weight)| weight == 0.0) {
            return Err(SpecError::Empty);
        }
        Ok(RulesSampler { entries })
    }

    /// Every game by the same rules.
    pub fn single(rules: Rules) -> Result<RulesSampler, SpecError> {
        Ok(RulesSampler { entries: vec![(searchable(rules)?, 1.0)] })
    }

    /// The rules in the list.
    pub fn rules(&self) -> impl Iterator<Item = &Rules> {
        self.entries.iter().map(|(rules, _)| rules)
    }

    /// Draws one.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> GameSpec {
        let index = weighted(rng, self.entries.iter().map(|&(_, weight)| weight));
        GameSpec { rules: self.entries[index].0 }
    }
}

/// Rules whose every step has known chances.
pub(crate) fn searchable(rules: Rules) -> Result<Rules, SpecError> {
    if rules.challenge().is_some() && rules.side_game_probabilities().is_none() {
        return Err(SpecError::RecordedSideGames(rules.to_string()));
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, RandomKey};

    fn entry(rules: &str, weight: f64) -> RulesWeight {
        RulesWeight { rules: rules.to_owned(), weight }
    }

    #[test]
    fn draws_in_proportion() {
        let sampler = RulesSampler::new(&[
            entry("basic", 1.0),
            entry("standard", 3.0),
            entry("tournament", 0.0),
        ])
        .unwrap();
        let mut counts = [0; 3];
        for game in 0..4000 {
            let spec = sampler.draw(&mut RandomKey { seed: 1, game }.stream(0, Purpose::Rules));
            counts[sampler.rules().position(|&rules| rules == spec.rules).unwrap()] += 1;
        }
        assert_eq!(counts[2], 0);
        assert!((950..1050).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn errors_name_the_rules() {
        let message = |list: &[RulesWeight]| RulesSampler::new(list).unwrap_err().to_string();
        assert!(message(&[]).contains("no rules"));
        assert!(message(&[entry("standart", 1.0)]).contains("standart"));
        assert!(message(&[entry("basic", f64::NAN)]).contains("basic"));
        assert!(message(&[entry("standard+T6;challenge=recorded", 1.0)]).contains("recorded"));
    }
}
