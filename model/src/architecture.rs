//! The shape of a network: how many blocks and channels, and from them every tensor's name and shape.
//!
//! The network is residual on the hexagon of 37 spots. `conv7` is a convolution over a spot and its six neighbours (a spot
//! outside the board reads as zero), `bn` a batch normalisation over batch and spots, `mean`/`max` pool over the 37 spots:
//!
//! ```text
//! stem     x = relu(bn(conv7(planes) + linear(globals)))
//! block i  h = relu(bn1(conv7(x)))
//!          x = relu(x + bn2(conv7(h)) + linear([mean(h), max(h)]))            the last term with global pooling only
//! policy   p = relu(bn(linear(x)));  g = [mean(p), max(p)];  p = relu(p + linear(g) + bias)
//!          planes = linear(p) + bias, one logit a plane and spot;  globals = linear(g) + bias
//! value    v = relu(bn(linear(x)));  h = relu(linear([mean(v), max(v), globals]) + bias)
//!          outcome = softmax(linear(h) + bias) over win, loss, unfinished;  plays left = softplus(linear(h) + bias) * 32
//! reply    planes = linear(p) + bias;  globals = linear(g) + bias            auxiliary heads, where there are any: p and g of
//! swing    linear(h) + bias, in units of 2 basic pieces                      the policy, h of the value
//! ```
//!
//! This is the plan of AlphaZero's network (Silver et al. 2018) with KataGo's global pooling (Wu 2019, section 3.3).

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::auxiliary::AuxiliaryHeads;
use crate::features::{GLOBALS, PLANES};
use crate::policy::{POLICY_GLOBALS, POLICY_PLANES};
use crate::tensor_file::Tensor;

/// Taps of a `conv7` weight, `[out, in, TAPS]`, in this order: the spot itself, then its neighbours N, NE, SE, S, SW, NW.
pub const TAPS: usize = 7;
/// Added to a variance before its square root is taken, in every batch normalisation.
pub const BATCH_NORM_EPSILON: f64 = 1e-5;
/// How much of a batch's statistics enters the running ones of batch normalisation at each step: libtorch's default.
pub const BATCH_NORM_MOMENTUM: f64 = 0.1;
/// Plays per unit of the plays-left head.
pub const PLAYS_LEFT_SCALE: f32 = 32.0;

const MAX_BLOCKS: usize = 64;
const MAX_CHANNELS: usize = 1024;
const MAX_PARAMETERS: usize = 1 << 28;

/// The size of a network. Text form: `BLOCKSxCHANNELS`, followed by `-nopool` when the blocks have no global pooling: `4x32`. It
/// says nothing of the auxiliary heads, which make no other player of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Residual blocks, 1 to 64.
    pub blocks: usize,
    /// Channels of the trunk and of the policy head, 1 to 1024.
    pub channels: usize,
    /// Whether each block adds a bias that is read off its pooled first half.
    pub global_pooling: bool,
    /// Channels of the value head, 1 to 1024.
    pub value_channels: usize,
    /// Width of the value head's hidden layer, 1 to 1024.
    pub value_hidden: usize,
    /// Heads for training alone. A header that says nothing of them has none, as those of older versions.
    #[serde(default, skip_serializing_if = "AuxiliaryHeads::is_none")]
    pub auxiliary: AuxiliaryHeads,
}

/// What a tensor is to the network: it decides how the tensor starts and whether it is trained and decayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorKind {
    /// Weights of a linear map or a convolution, followed by a rectifier: start at He's scale, decay.
    Weight,
    /// Weights that add to a sum or end a head: start small, decay.
    SmallWeight,
    /// A bias: starts at 0, no decay.
    Bias,
    /// A batch normalisation's factor: starts at 1, no decay.
    NormScale,
    /// A batch normalisation's factor at the end of a residual branch: starts at 0, so that the block starts as identity.
    NormScaleZero,
    /// A batch normalisation's running mean: starts at 0, not trained but tracked.
    RunningMean,
    /// A batch normalisation's running variance: starts at 1, not trained but tracked.
    RunningVar,
}

impl TensorKind {
    /// Whether an optimizer changes it (the running statistics are tracked, not trained).
    pub fn is_trained(self) -> bool {
        !matches!(self, TensorKind::RunningMean | TensorKind::RunningVar)
    }

    /// Whether weight decay applies to it.
    pub fn decays(self) -> bool {
        matches!(self, TensorKind::Weight | TensorKind::SmallWeight)
    }
}

/// A tensor of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// Its name in a checkpoint, such as `blocks.0.conv1.weight`.
    pub name: String,
    /// Its dimensions, outermost first: `[out, in, TAPS]` for `conv7`, `[out, in]` for a linear map, `[channels]` else.
    pub shape: Vec<usize>,
    /// What it is.
    pub kind: TensorKind,
}

impl TensorSpec {
    /// The number of its elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no element (no network has such a tensor).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is wrong with an architecture or its text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArchitectureError {
    /// The text is not `BLOCKSxCHANNELS` or `BLOCKSxCHANNELS-nopool`.
    #[error("network size '{0}' is not BLOCKSxCHANNELS, such as 4x32")]
    Text(String),
    /// A number is out of its range.
    #[error("network {what} is {found}, not 1 to {most}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What it is.
        found: usize,
        /// The most it may be.
        most: usize,
    },
    /// The numbers are fine one by one but the network is too large.
    #[error("network {0} has more than 268 million parameters")]
    TooLarge(String),
}

impl Architecture {
    /// A network of `blocks` blocks and `channels` channels, with global pooling and a value head of 32 channels and 64 hidden
    /// units.
    pub const fn new(blocks: usize, channels: usize) -> Self {
        Self {
            blocks,
            channels,
            global_pooling: true,
            value_channels: 32,
            value_hidden: 64,
            auxiliary: AuxiliaryHeads::NONE,
        }
    }

    /// The same network with these auxiliary heads.
    #[must_use]
    pub const fn with_auxiliary(self, auxiliary: AuxiliaryHeads) -> Self {
        Self { auxiliary, ..self }
    }

    /// Checks every number against its range, and the size of the whole.
    pub fn validate(&self) -> Result<(), ArchitectureError> {
        for (what, found, most) in [
            ("blocks", self.blocks, MAX_BLOCKS),
            ("channels", self.channels, MAX_CHANNELS),
            ("value channels", self.value_channels, MAX_CHANNELS),
            ("value hidden units", self.value_hidden, MAX_CHANNELS),
        ] {
            if !(1..=most).contains(&found) {
                return Err(ArchitectureError::Range { what, found, most });
            }
        }
        if self.elements() > MAX_PARAMETERS {
            return Err(ArchitectureError::TooLarge(self.to_string()));
        }
        Ok(())
    }

    /// Every tensor of the network, in a fixed order (that of the module's formulas).
    pub fn tensors(&self) -> Vec<TensorSpec> {
        let (c, v, h) = (self.channels, self.value_channels, self.value_hidden);
        let mut list = List(Vec::new());
        list.add("stem.conv.weight", &[c, PLANES, TAPS], TensorKind::Weight);
        list.add("stem.globals.weight", &[c, GLOBALS], TensorKind::SmallWeight);
        list.norm("stem.bn", c, TensorKind::NormScale);
        for i in 0..self.blocks {
            list.add(&format!("blocks.{i}.conv1.weight"), &[c, c, TAPS], TensorKind::Weight);
            list.norm(&format!("blocks.{i}.bn1"), c, TensorKind::NormScale);
            list.add(&format!("blocks.{i}.conv2.weight"), &[c, c, TAPS], TensorKind::Weight);
            list.norm(&format!("blocks.{i}.bn2"), c, TensorKind::NormScaleZero);
            if self.global_pooling {
                list.add(&format!("blocks.{i}.pool.weight"), &[c, 2 * c], TensorKind::SmallWeight);
            }
        }
        list.add("policy.conv.weight", &[c, c], TensorKind::Weight);
        list.norm("policy.bn", c, TensorKind::NormScale);
        list.linear("policy.pool", &[c, 2 * c], TensorKind::SmallWeight);
        list.linear("policy.planes", &[POLICY_PLANES, c], TensorKind::SmallWeight);
        list.linear("policy.globals", &[POLICY_GLOBALS, 2 * c], TensorKind::SmallWeight);
        list.add("value.conv.weight", &[v, c], TensorKind::Weight);
        list.norm("value.bn", v, TensorKind::NormScale);
        list.linear("value.hidden", &[h, 2 * v + GLOBALS], TensorKind::Weight);
        list.linear("value.outcome", &[3, h], TensorKind::SmallWeight);
        list.linear("value.plays_left", &[1, h], TensorKind::SmallWeight);
        // Last, so that they change nothing in how the others start.
        if self.auxiliary.reply {
            list.linear("auxiliary.reply_planes", &[POLICY_PLANES, c], TensorKind::SmallWeight);
            list.linear(
                "auxiliary.reply_globals",
                &[POLICY_GLOBALS, 2 * c],
                TensorKind::SmallWeight,
            );
        }
        if self.auxiliary.swing {
            list.linear("auxiliary.swing", &[1, h], TensorKind::SmallWeight);
        }
        list.0
    }

    /// The number of trained parameters.
    pub fn parameters(&self) -> usize {
        self.tensors().iter().filter(|t| t.kind.is_trained()).map(TensorSpec::len).sum()
    }

    /// The tensors of an untrained network, in the order of [`Self::tensors`]: He's uniform scale for weights, a tenth of it for
    /// those that end a head or add to a sum. The same seed gives the same numbers everywhere.
    pub fn initial_tensors(&self, seed: u64) -> Vec<(String, Tensor)> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform =
            |bound: f32| bound * ((rng.next_u32() >> 8) as f32 / (1u32 << 23) as f32 - 1.0);
        self.tensors()
            .into_iter()
            .map(|spec| {
                let fan_in: usize = spec.shape.iter().skip(1).product();
                let he = (6.0 / fan_in.max(1) as f32).sqrt();
                let data = (0..spec.len())
                    .map(|_| match spec.kind {
                        TensorKind::Weight => uniform(he),
                        TensorKind::SmallWeight => uniform(he * 0.1),
                        TensorKind::NormScale | TensorKind::RunningVar => 1.0,
                        TensorKind::Bias | TensorKind::NormScaleZero | TensorKind::RunningMean => {
                            0.0
                        }
                    })
                    .collect();
                (spec.name, Tensor { shape: spec.shape, data })
            })
            .collect()
    }

    /// The number of elements of all tensors, without building their list: a header's numbers may be absurd.
    fn elements(&self) -> usize {
        let (c, v, h) = (self.channels, self.value_channels, self.value_hidden);
        let norm = 4;
        let block =
            2 * c * c * TAPS + 2 * norm * c + if self.global_pooling { 2 * c * c } else { 0 };
        let stem = c * (PLANES * TAPS + GLOBALS + norm);
        let logits = POLICY_PLANES * (c + 1) + POLICY_GLOBALS * (2 * c + 1);
        let policy = c * c + norm * c + 2 * c * c + c + logits;
        let value = v * (c + norm) + h * (2 * v + GLOBALS + 1) + 4 * (h + 1);
        let AuxiliaryHeads { reply, swing } = self.auxiliary;
        let auxiliary = usize::from(reply) * logits + usize::from(swing) * (h + 1);
        stem + self.blocks * block + policy + value + auxiliary
    }
}

struct List(Vec<TensorSpec>);

impl List {
    fn add(&mut self, name: &str, shape: &[usize], kind: TensorKind) {
        self.0.push(TensorSpec { name: name.to_owned(), shape: shape.to_vec(), kind });
    }

    fn linear(&mut self, name: &str, shape: &[usize; 2], kind: TensorKind) {
        self.add(&format!("{name}.weight"), shape, kind);
        self.add(&format!("{name}.bias"), &shape[..1], TensorKind::Bias);
    }

    fn norm(&mut self, name: &str, channels: usize, scale: TensorKind) {
        self.add(&format!("{name}.weight"), &[channels], scale);
        self.add(&format!("{name}.bias"), &[channels], TensorKind::Bias);
        self.add(&format!("{name}.mean"), &[channels], TensorKind::RunningMean);
        self.add(&format!("{name}.var"), &[channels], TensorKind::RunningVar);
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}x{}{}",
            self.blocks,
            self.channels,
            if self.global_pooling { "" } else { "-nopool" }
        )
    }
}

impl FromStr for Architecture {
    type Err = ArchitectureError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ArchitectureError::Text(text.chars().take(40).collect());
        let (size, global_pooling) = match text.strip_suffix("-nopool") {
            Some(size) => (size, false),
            None => (text, true),
        };
        let (blocks, channels) = size.split_once('x').ok_or_else(wrong)?;
        let number = |digits: &str| -> Result<usize, ArchitectureError> {
            if digits.is_empty()
                || digits.starts_with('0')
                || !digits.bytes().all(|b| b.is_ascii_digit())
            {
                return Err(wrong());
            }
            digits.parse().map_err(|_| wrong())
        };
        let found = Self { global_pooling, ..Self::new(number(blocks)?, number(channels)?) };
        found.validate()?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip_and_errors() {
        for text in ["1x1", "4x32", "6x64", "10x128", "4x32-nopool", "64x64"] {
            assert_eq!(text.parse::<Architecture>().map(|a| a.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "4",
            "x",
            "4x",
            "x32",
            "04x32",
            "4x32x1",
            "-4x32",
            "4X32",
            "4x32-pool",
            "99999999999999999999x1",
        ] {
            assert!(
                matches!(text.parse::<Architecture>(), Err(ArchitectureError::Text(_))),
                "{text}"
            );
        }
        assert!(matches!(
            "65x32".parse::<Architecture>(),
            Err(ArchitectureError::Range { what: "blocks", .. })
        ));
        assert!(matches!(
            "4x1025".parse::<Architecture>(),
            Err(ArchitectureError::Range { what: "channels", .. })
        ));
        assert!(matches!("64x1024".parse::<Architecture>(), Err(ArchitectureError::TooLarge(_))));
    }

    #[test]
    fn elements_agree_with_the_list() {
        for text in ["1x1", "4x32", "4x32-nopool", "10x128"] {
            let a: Architecture = text.parse().expect("a size");
            for (reply, swing) in [(false, false), (true, false), (false, true), (true, true)] {
                let a = a.with_auxiliary(AuxiliaryHeads { reply, swing });
                assert_eq!(
                    a.elements(),
                    a.tensors().iter().map(TensorSpec::len).sum::<usize>(),
                    "{text} {reply} {swing}"
                );
            }
        }
    }

    #[test]
    fn initial_tensors_are_a_function_of_the_seed() {
        let a = Architecture::new(2, 8);
        assert_eq!(a.initial_tensors(1), a.initial_tensors(1));
        assert_ne!(a.initial_tensors(1), a.initial_tensors(2));
        let specs = a.tensors();
        for (spec, (name, tensor)) in specs.iter().zip(a.initial_tensors(1)) {
            assert_eq!(
                (&spec.name, &spec.shape, spec.len()),
                (&name, &tensor.shape, tensor.data.len())
            );
            let largest = tensor.data.iter().fold(0f32, |m, v| m.max(v.abs()));
            assert!(largest <= 6f32.sqrt(), "{name} {largest}");
        }
    }
}
