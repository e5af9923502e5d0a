//! Which rules a game is played by: drawn from a run's weighted list.

use gipf_core::{Rules, RulesError};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::mixes::{MixDraw, MixError};
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

/// An entry that draws a mix anew for each game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixesWeight {
    /// From which mixes.
    pub mixes: MixDraw,
    /// How often, against the others: 0 or more, finite; 1 unless given.
    #[serde(default = "one")]
    pub weight: f64,
}

/// One entry of a list in which fixed rules and drawn mixes stand side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RulesEntry {
    /// One rules string.
    Fixed(RulesWeight),
    /// A new mix each game.
    Drawn(MixesWeight),
}

impl RulesEntry {
    /// A rules string of weight 1.
    pub fn fixed(rules: impl Into<String>) -> RulesEntry {
        RulesEntry::Fixed(RulesWeight { rules: rules.into(), weight: 1.0 })
    }

    /// How often, against the others.
    pub fn weight(&self) -> f64 {
        match self {
            RulesEntry::Fixed(entry) => entry.weight,
            RulesEntry::Drawn(entry) => entry.weight,
        }
    }
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
    /// Ranges that no mix can meet.
    #[error("mixes: {0}")]
    Mixes(#[from] MixError),
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
    entries: Vec<(Games, f64)>,
    /// Rules that stand for all games, in the order of [`RulesSampler::rules`].
    rules: Vec<Rules>,
}

/// What an entry plays.
#[derive(Clone, Debug)]
enum Games {
    Fixed(Rules),
    Drawn(Box<MixDraw>),
}

impl RulesSampler {
    /// Checks a config's list of fixed rules.
    pub fn new(list: &[RulesWeight]) -> Result<RulesSampler, SpecError> {
        RulesSampler::mixed(&list.iter().cloned().map(RulesEntry::Fixed).collect::<Vec<_>>())
    }

    /// Checks a config's list of fixed rules and drawn mixes.
    pub fn mixed(list: &[RulesEntry]) -> Result<RulesSampler, SpecError> {
        let mut entries = Vec::with_capacity(list.len());
        for entry in list {
            let (games, text) = match entry {
                RulesEntry::Fixed(RulesWeight { rules: text, .. }) => {
                    let rules = text
                        .parse()
                        .map_err(|error| SpecError::Rules { rules: text.clone(), error })?;
                    (Games::Fixed(searchable(rules)?), text.as_str())
                }
                RulesEntry::Drawn(MixesWeight { mixes, .. }) => {
                    mixes.validate()?;
                    (Games::Drawn(Box::new(mixes.clone())), "mixes")
                }
            };
            let weight = entry.weight();
            if !weight.is_finite() || weight < 0.0 {
                return Err(SpecError::Weight { rules: text.to_owned(), weight });
            }
            entries.push((games, weight));
        }
        if entries.iter().all(|&(_, weight)| weight == 0.0) {
            return Err(SpecError::Empty);
        }
        Ok(RulesSampler::of(entries))
    }

    /// Every game by the same rules.
    pub fn single(rules: Rules) -> Result<RulesSampler, SpecError> {
        Ok(RulesSampler::of(vec![(Games::Fixed(searchable(rules)?), 1.0)]))
    }

    fn of(entries: Vec<(Games, f64)>) -> RulesSampler {
        let fixed = entries.iter().filter_map(|(games, _)| match games {
            Games::Fixed(rules) => Some(*rules),
            Games::Drawn(_) => None,
        });
        let drawn = entries.iter().filter_map(|(games, _)| match games {
            Games::Fixed(_) => None,
            Games::Drawn(mixes) => Some(mixes.representatives()),
        });
        let mut rules: Vec<Rules> = fixed.collect();
        for rule in drawn.flatten() {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        RulesSampler { entries, rules }
    }

    /// The fixed rules of the list, in its order, then for drawn mixes some that stand for all of them: an evaluator that
    /// serves these rules serves every game ([`MixDraw::representatives`]).
    pub fn rules(&self) -> impl Iterator<Item = &Rules> {
        self.rules.iter()
    }

    /// Whether a game by these rules is one that can be drawn.
    pub fn allows(&self, rules: &Rules) -> bool {
        self.entries.iter().filter(|(_, weight)| *weight > 0.0).any(|(games, _)| match games {
            Games::Fixed(fixed) => fixed == rules,
            Games::Drawn(mixes) => mixes.allows(rules),
        })
    }

    /// Draws one.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> GameSpec {
        let index = weighted(rng, self.entries.iter().map(|&(_, weight)| weight));
        let rules = match &self.entries[index].0 {
            Games::Fixed(rules) => *rules,
            // Checked ranges always give rules.
            Games::Drawn(mixes) => mixes.draw(rng).unwrap_or(self.rules[0]),
        };
        GameSpec { rules }
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
    fn fixed_rules_and_mixes_stand_side_by_side() {
        let list = [
            RulesEntry::Drawn(MixesWeight {
                mixes: MixDraw { variant: "tournament".to_owned(), ..MixDraw::default() },
                weight: 1.0,
            }),
            RulesEntry::fixed("standard"),
        ];
        let sampler = RulesSampler::mixed(&list).unwrap();
        let listed: Vec<String> = sampler.rules().map(ToString::to_string).collect();
        assert_eq!(listed, ["standard", "tournament+T3Z3D2", "tournament+T2Y3P3"]);
        let draws: Vec<Rules> = (0..2000)
            .map(|game| sampler.draw(&mut RandomKey { seed: 1, game }.stream(0, Purpose::Rules)))
            .map(|spec| spec.rules)
            .collect();
        let standard = draws.iter().filter(|rules| rules.to_string() == "standard").count();
        assert!((900..1100).contains(&standard), "{standard}");
        assert!(draws.iter().all(|rules| sampler.allows(rules)), "what is drawn is allowed");
        for foreign in ["basic", "tournament", "standard+T6", "tournament+T3Z3|T4Z3", "ultimate"] {
            let rules: Rules = foreign.parse().unwrap();
            assert!(!sampler.allows(&rules), "{foreign} is never drawn");
        }
        let mut others: Vec<String> = draws.iter().map(ToString::to_string).collect();
        others.sort();
        others.dedup();
        assert!(others.len() > 300, "{} different games", others.len());
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
