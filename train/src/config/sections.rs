//! The typed sections of a configuration, with their defaults.

mod self_play;
mod train;

use gipf_model::{Architecture, ArchitectureError};
use gipf_selfplay::{RulesEntry, Sprt};
use serde::{Deserialize, Serialize};

pub use self_play::{CpuPrecision, SelfPlaySection};
pub use train::{Decay, TrainSection};

/// A whole configuration. Every key has a default, so that a file states only what differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What the run is and when it ends.
    pub run: RunSection,
    /// Which games are played.
    pub rules: RulesSection,
    /// The network.
    pub network: NetworkSection,
    /// How games are made.
    pub self_play: SelfPlaySection,
    /// How the network learns.
    pub train: TrainSection,
    /// The replay window.
    pub window: WindowSection,
    /// When the run saves itself.
    pub checkpoints: CheckpointsSection,
    /// Which weights self-play uses.
    pub gating: GatingSection,
    /// The matches at the end.
    pub report: ReportSection,
    /// The games on disk.
    pub store: StoreSection,
}

/// `[run]`: name, limits, machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// Name of the run; its folder is `runs/NAME` unless the command line says otherwise.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Training time in minutes, all starts together; 0: no limit.
    pub minutes: f64,
    /// Processor time of all the program's threads in minutes, all starts together; 0: no limit. On a machine that does
    /// other work too, it is what a run's strength can be held against.
    pub cpu_minutes: f64,
    /// Training steps; 0: no limit.
    pub steps: u64,
    /// Self-play games; 0: no limit.
    pub games: u64,
    /// Learner and self-play alternate, and two runs are bit-equal.
    pub deterministic: bool,
    /// Device of learner and self-play: `cpu`, `cuda`, `cuda:N` or `auto`.
    pub device: String,
    /// Numbers that self-play's network computes with on a GPU.
    pub gpu_precision: GpuPrecision,
    /// Threads of one of the learner's operations, beside the self-play workers; 0: one while it keeps up with
    /// self-play, as many as the machine has cores while it is behind. A deterministic run has one.
    pub threads: usize,
}

impl Default for RunSection {
    fn default() -> Self {
        Self {
            name: "run".to_owned(),
            seed: 1,
            minutes: 0.0,
            cpu_minutes: 0.0,
            steps: 0,
            games: 0,
            deterministic: false,
            device: "auto".to_owned(),
            gpu_precision: GpuPrecision::F32,
            threads: 0,
        }
    }
}

/// Numbers that a GPU computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GpuPrecision {
    /// 32 bits.
    F32,
    /// 16 bits with the exponent of 32.
    Bf16,
}

/// `[rules]`: which games are played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RulesSection {
    /// Rules strings and ranges of mixes, with weights; a file may write a plain string for one.
    #[serde(with = "weighted")]
    pub rules: Vec<RulesEntry>,
    /// Plays after which a game stops unfinished (rules, section 8).
    pub max_plays: u32,
}

impl Default for RulesSection {
    fn default() -> Self {
        Self { rules: vec![RulesEntry::fixed("standard")], max_plays: 500 }
    }
}

/// A single string stands for a list of one.
mod weighted {
    use super::RulesEntry;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(String),
        Many(Vec<RulesEntry>),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<RulesEntry>, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::One(rules) => vec![RulesEntry::fixed(rules)],
            Written::Many(list) => list,
        })
    }

    pub(super) fn serialize<S: Serializer>(
        list: &[RulesEntry],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match list {
            [RulesEntry::Fixed(only)] if only.weight == 1.0 => only.rules.serialize(serializer),
            list => list.serialize(serializer),
        }
    }
}

/// `[network]`: the architecture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkSection {
    /// Residual blocks and channels, as `BLOCKSxCHANNELS`.
    pub architecture: String,
    /// Whether every block also sees the mean and the maximum over the board.
    pub global_pooling: bool,
    /// The size that the network grows to during the run, as [`NetworkSection::architecture`]; empty: it stays as it is.
    pub grow_to: String,
    /// When it grows, as a share of the run's limit.
    pub grow_at: f64,
    /// Steps for which it then learns half from the small network; self-play goes on with that one until they are over.
    pub grow_steps: u64,
}

impl Default for NetworkSection {
    fn default() -> Self {
        Self {
            architecture: "4x32".to_owned(),
            global_pooling: true,
            grow_to: String::new(),
            grow_at: 0.5,
            grow_steps: 200,
        }
    }
}

impl NetworkSection {
    /// The network that the run begins with.
    ///
    /// # Errors
    /// The text is no size, or too large a one.
    pub fn size(&self) -> Result<Architecture, ArchitectureError> {
        self.sized(&self.architecture)
    }

    /// The network that it grows to, if it does.
    ///
    /// # Errors
    /// As [`NetworkSection::size`].
    pub fn grown_size(&self) -> Result<Option<Architecture>, ArchitectureError> {
        (!self.grow_to.is_empty()).then(|| self.sized(&self.grow_to)).transpose()
    }

    fn sized(&self, text: &str) -> Result<Architecture, ArchitectureError> {
        Ok(Architecture { global_pooling: self.global_pooling, ..text.parse()? })
    }
}

/// `[window]`: the replay window, which grows with the run.
///
/// Its size after N samples made is `c (1 + β ((N/c)^α - 1) / α)` for N beyond `c`, and everything before
/// (KataGo, Wu 2019, appendix C), but never more than the maximum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowSection {
    /// Samples before training starts, and `c` of the growth.
    pub minimum: u64,
    /// `β`: growth per sample made at the start.
    pub growth_scale: f64,
    /// `α`: how fast that growth fades.
    pub growth_exponent: f64,
    /// The window's bound in samples, and so the bound of its memory.
    pub maximum: u64,
}

impl Default for WindowSection {
    fn default() -> Self {
        Self { minimum: 5_000, growth_scale: 0.4, growth_exponent: 0.75, maximum: 500_000 }
    }
}

/// `[checkpoints]`: when the run saves itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointsSection {
    /// Steps between two checkpoints; 0: off.
    pub every_steps: u64,
    /// Games between two checkpoints; 0: off.
    pub every_games: u64,
    /// Newest checkpoints to keep; step 0 and the best always stay.
    pub keep: usize,
}

impl Default for CheckpointsSection {
    fn default() -> Self {
        Self { every_steps: 500, every_games: 0, keep: 10 }
    }
}

/// Which weights self-play uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GatingMode {
    /// The newest ones.
    Off,
    /// The best checkpoint's: a new one must first win a sequential test against it.
    Sprt,
}

/// `[gating]`: what a new checkpoint must show before self-play uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatingSection {
    /// Whether there is a gate.
    pub mode: GatingMode,
    /// The test's null hypothesis: the new checkpoint leads by so many Elo points only.
    pub elo0: f64,
    /// Its alternative: it leads by so many.
    pub elo1: f64,
    /// The chance that a checkpoint with a lead of `elo0` is accepted.
    pub alpha: f64,
    /// The chance that one with a lead of `elo1` is rejected.
    pub beta: f64,
    /// Most games of a test, an even number; if they decide nothing, the best checkpoint stays.
    pub games: u32,
    /// Simulations a decision in them.
    pub simulations: u32,
}

impl Default for GatingSection {
    fn default() -> Self {
        Self {
            mode: GatingMode::Off,
            elo0: 0.0,
            elo1: 30.0,
            alpha: 0.05,
            beta: 0.05,
            games: 400,
            simulations: 32,
        }
    }
}

impl GatingSection {
    /// The test, where there is a gate.
    pub fn test(&self) -> Option<Sprt> {
        let Self { elo0, elo1, alpha, beta, .. } = *self;
        (self.mode == GatingMode::Sprt).then_some(Sprt { elo0, elo1, alpha, beta })
    }
}

/// `[report]`: the matches at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReportSection {
    /// Games against each opponent, an even number; 0: no matches.
    pub games: u32,
    /// Simulations a decision in them.
    pub simulations: u32,
}

impl Default for ReportSection {
    fn default() -> Self {
        Self { games: 200, simulations: 64 }
    }
}

/// `[store]`: the games on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSection {
    /// Size at which a new file of games is begun, in MB.
    pub segment_megabytes: u64,
    /// Newest games to keep, whole files only and never less than the window holds; 0: all.
    pub keep_games: u64,
}

impl Default for StoreSection {
    fn default() -> Self {
        Self { segment_megabytes: 64, keep_games: 0 }
    }
}
