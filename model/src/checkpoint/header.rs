//! What a checkpoint says of itself.

use std::fmt;

use gipf_core::{Color, Potential, Rules};
use serde::{Deserialize, Serialize};

use super::{CHECKPOINT_FORMAT, WeightFormat};
use crate::architecture::Architecture;
use crate::features::FEATURES_VERSION;
use crate::policy::POLICY_VERSION;

/// What a checkpoint says of itself. A field that may be left out has its default: headers from before there was one stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointHeader {
    /// [`CHECKPOINT_FORMAT`].
    pub format: String,
    /// The network's size.
    pub architecture: Architecture,
    /// The [`FEATURES_VERSION`] it was trained on.
    pub features_version: u32,
    /// The [`POLICY_VERSION`] it was trained for.
    pub policy_version: u32,
    /// The rules strings it was trained on, canonical, with some for each entry of `mixes`; none: any.
    pub rules: Vec<String>,
    /// What it was trained on with mixes of potentials that were drawn game by game.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixes: Vec<DrawnMixes>,
    /// Training steps done.
    pub step: u64,
    /// The `sha256` of the checkpoint its training started from, if any.
    pub parent: Option<String>,
    /// The run that made it.
    pub run: String,
    /// How its weights are stored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weights: WeightFormat,
    /// What a player that is given away says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<PlayerCard>,
    /// The SHA-256 of the tensors' bytes in the order of their names, in hexadecimal; set by [`super::Checkpoint::new`].
    pub sha256: String,
}

/// Games whose mixes of potentials were drawn one by one: who was trained on them knows every mix of their kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnMixes {
    /// `basic`, `standard` or `tournament`.
    pub variant: String,
    /// Whether a PÜNCT-potential makes the GIPF-piece below it its owner's (rules, section 6).
    pub punct_convert: bool,
}

/// What a player that is given away says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerCard {
    /// What it is called.
    pub name: String,
    /// Under which licence it may be used: one line.
    pub licence: String,
    /// How strong it was found to be, if anybody measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<PlayerRating>,
}

/// A player's strength: 400 Elo are a factor of ten in the odds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerRating {
    /// Elo above the anchor.
    pub elo: i32,
    /// The ends of the 95% interval.
    pub interval: [i32; 2],
    /// The player whose Elo is 0.
    pub anchor: String,
    /// The rules of the games.
    pub rules: String,
    /// What a decision might cost, in words.
    pub limit: String,
}

impl fmt::Display for PlayerRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlayerRating { elo, interval: [low, high], anchor, rules, limit } = self;
        write!(f, "{elo:+} Elo ({low:+} to {high:+}) above {anchor}, {rules}, {limit}")
    }
}

/// Whether a field may be left out of the header.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl CheckpointHeader {
    /// The header of a network that was trained for `step` steps on `rules` by `run`; no parent.
    pub fn new(
        architecture: Architecture,
        rules: Vec<String>,
        step: u64,
        run: impl Into<String>,
    ) -> Self {
        Self {
            format: CHECKPOINT_FORMAT.to_owned(),
            architecture,
            features_version: FEATURES_VERSION,
            policy_version: POLICY_VERSION,
            rules,
            mixes: Vec::new(),
            step,
            parent: None,
            run: run.into(),
            weights: WeightFormat::default(),
            card: None,
            sha256: String::new(),
        }
    }

    /// Whether the network was trained on games by these rules: they are among its own, or theirs is a mix such as it saw drawn.
    pub fn knows(&self, rules: &Rules) -> bool {
        self.rules.is_empty()
            || self.rules.iter().any(|known| known.parse() == Ok(*rules))
            || self.mixes.iter().any(|mixes| mixes.contain(rules))
    }

    /// The rules it was trained on in words: `standard, tournament with any mix`.
    pub fn known_rules(&self) -> String {
        if self.rules.is_empty() {
            return "any rules".to_owned();
        }
        // The rules that stand for drawn mixes are said by these.
        let drawn = |text: &str| {
            let rules = text.parse::<Rules>();
            rules.is_ok_and(|rules| self.mixes.iter().any(|mixes| mixes.contain(&rules)))
        };
        let fixed = self.rules.iter().filter(|rules| !drawn(rules)).cloned();
        fixed.chain(self.mixes.iter().map(ToString::to_string)).collect::<Vec<_>>().join(", ")
    }
}

impl DrawnMixes {
    /// Whether rules are of this kind: potentials of any mix, and no challenges, which change how the game goes.
    pub fn contain(&self, rules: &Rules) -> bool {
        let has =
            |kind: Potential| Color::ALL.iter().any(|&color| rules.mix(color)[kind.index()] > 0);
        rules.variant().name() == self.variant
            && Potential::ALL.into_iter().any(has)
            && rules.challenge().is_none()
            && (!has(Potential::Punct) || rules.punct_convert() == self.punct_convert)
    }
}

impl fmt::Display for DrawnMixes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let punct = if self.punct_convert { " and punct=convert" } else { "" };
        write!(f, "{} with any mix{punct}", self.variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_what_it_was_trained_on() {
        let list = ["standard", "tournament+T3Z3D2", "ultimate"].map(str::to_owned).to_vec();
        let mut header = CheckpointHeader::new(Architecture::new(1, 8), list, 1, "a run");
        let knows =
            |header: &CheckpointHeader, text: &str| header.knows(&text.parse().expect("rules"));
        for text in ["standard", "tournament+T3Z3D2", "ultimate", "standard;challenge=rps"] {
            let own = !text.contains("challenge");
            assert_eq!(knows(&header, text), own, "{text}");
        }
        assert!(!knows(&header, "tournament+Z4"));
        assert_eq!(header.known_rules(), "standard, tournament+T3Z3D2, ultimate");
        header.mixes = vec![DrawnMixes { variant: "tournament".to_owned(), punct_convert: false }];
        // Ultimate GIPF is tournament GIPF with a mix.
        assert_eq!(header.known_rules(), "standard, tournament with any mix");
        for (text, known) in [
            ("tournament+Z4", true),
            ("tournament:20+Z4|T0", true),
            ("tournament+P4", true),
            ("tournament+P4;punct=convert", false),
            ("tournament+Z4;challenge=coin", false),
            ("tournament", false),
            ("standard+Z4", false),
        ] {
            assert_eq!(knows(&header, text), known, "{text}");
        }
        header.rules.clear();
        assert!(knows(&header, "basic"));
    }
}
