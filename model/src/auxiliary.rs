//! Heads for training alone: a network that must say more of a position learns more about it.

use serde::{Deserialize, Serialize};

/// Basic pieces per unit of the swing head: a GIPF-piece.
pub const SWING_SCALE: f32 = 2.0;

/// Heads that a network has only to be trained by what they are told (Wu 2019, sections 3.4 and 4.1): the trunk learns what they need. No
/// evaluator computes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuxiliaryHeads {
    /// The policy of the other side's next decision.
    pub reply: bool,
    /// How the balance of basic pieces changes.
    pub swing: bool,
}

impl AuxiliaryHeads {
    /// None of them.
    pub const NONE: AuxiliaryHeads = AuxiliaryHeads { reply: false, swing: false };

    /// How the names of their tensors begin, and of no others.
    pub(crate) const PREFIX: &'static str = "auxiliary.";

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        *self == AuxiliaryHeads::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;

    #[test]
    fn auxiliary_heads_stand_behind_a_network_that_is_the_same_without_them() {
        let plain = Architecture::new(2, 8);
        let with = plain.with_auxiliary(AuxiliaryHeads { reply: true, swing: true });
        let (plain_tensors, tensors) = (plain.initial_tensors(3), with.initial_tensors(3));
        assert_eq!(tensors[..plain_tensors.len()], plain_tensors);
        let added = &tensors[plain_tensors.len()..];
        assert!(added.iter().all(|(name, _)| name.starts_with(AuxiliaryHeads::PREFIX)));
        assert_eq!(added.len(), 6);
        assert!(plain_tensors.iter().all(|(name, _)| !name.starts_with(AuxiliaryHeads::PREFIX)));
        assert_eq!((with.to_string(), with != plain), (plain.to_string(), true));
        // What a plain network says of itself has not changed.
        let text = serde_json::to_string(&plain).expect("serializes");
        let old = r#"{"blocks":2,"channels":8,"global_pooling":true,"value_channels":32,"value_hidden":64}"#;
        assert_eq!(text, old);
        for architecture in [plain, with] {
            let text = serde_json::to_string(&architecture).expect("serializes");
            assert_eq!(serde_json::from_str::<Architecture>(&text).expect("parses"), architecture);
        }
    }
}
