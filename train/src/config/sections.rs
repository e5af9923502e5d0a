//! The typed sections of a configuration, with their defaults.

use gipf_model::{Architecture, ArchitectureError, AuxiliaryHeads};
use gipf_model_torch::Trunk;
use gipf_selfplay::{Method, RulesEntry, Sprt};
use serde::{Deserialize, Serialize};

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

/// Numbers that the CPU computes with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum CpuPrecision {
    /// 32 bits.
    #[default]
    F32,
    /// Products of bytes, calibrated; what adds up stays in 32 bits.
    Int8,
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

/// `[self_play]`: how games are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlaySection {
    /// Worker threads; 0: as many as the machine has cores, or twice as many where a GPU evaluates: then some wait
    /// for it while others play.
    pub workers: usize,
    /// The workers' nice value: how far they give way to the learner, which works only while it has samples to learn
    /// from. 0: not at all.
    pub niceness: u32,
    /// Numbers that the workers' network computes with on the CPU.
    pub precision: CpuPrecision,
    /// Games a worker plays at once; their leaves make one batch.
    pub lanes: u32,
    /// The search that makes the games. Gating matches and those at the end are played with Gumbel's in either case, so that
    /// what they measure is the network.
    pub search: Method,
    /// Simulations of a full search.
    pub simulations: u32,
    /// Simulations of a fast search, whose policy is not learned.
    pub fast_simulations: u32,
    /// Share of the decisions that get a full search (playout-cap randomization).
    pub full_search_probability: f64,
    /// Root candidates of a full Gumbel search.
    pub considered: u32,
    /// Root candidates of a fast Gumbel search.
    pub fast_considered: u32,
    /// Weight of the search in the improved policy: `c_visit` of Danihelka et al. 2022.
    pub c_visit: f64,
    /// Weight of the search in the improved policy: `c_scale` of Danihelka et al. 2022.
    pub c_scale: f64,
    /// Simulations of a search from which PUCT chooses the plays below a Gumbel root.
    pub puct_from: u32,
    /// Weight of PUCT's exploration term against values in [-1, 1].
    pub c_puct: f64,
    /// How much less than its node PUCT takes an unvisited play to be worth, times the root of the visited plays' share of the
    /// prior; none at a root with noise (Wu 2019).
    pub fpu_reduction: f64,
    /// Share of Dirichlet noise in the priors of the root of a full PUCT search.
    pub noise_fraction: f64,
    /// Concentration of that noise: about 10 over the number of plays to choose from (Silver et al. 2018).
    pub noise_alpha: f64,
    /// Memory of each worker's cache of evaluations in MB (2^20 bytes); 0: no cache.
    pub cache_megabytes: u32,
    /// Whether a search goes on with the tree of the one before.
    pub tree_reuse: bool,
    /// Whether each position is shown to the network on one of its 12 symmetric boards, a fixed function of the position.
    pub symmetry: bool,
    /// A game starts with 0 to this many uniformly random plays.
    pub opening_random_plays: u32,
    /// Plays before this one are sampled from the search's policy, later ones are its best.
    pub opening_sampled_plays: u32,
    /// Temperature of those sampled plays.
    pub opening_temperature: f64,
    /// A game whose search value stays beyond this is settled: only fast searches from then on.
    pub settled_value: f64,
    /// For how many searched plays in a row it must stay there; 0: games are never settled.
    pub settled_plays: u32,
    /// Steps after which the workers get the newest averaged weights.
    pub refresh_steps: u64,
}

impl Default for SelfPlaySection {
    fn default() -> Self {
        Self {
            workers: 0,
            niceness: 10,
            precision: CpuPrecision::F32,
            lanes: 64,
            search: Method::Gumbel,
            simulations: 64,
            fast_simulations: 16,
            full_search_probability: 0.25,
            considered: 16,
            fast_considered: 4,
            c_visit: 50.0,
            c_scale: 1.0,
            puct_from: 300,
            c_puct: 1.5,
            fpu_reduction: 0.2,
            noise_fraction: 0.25,
            noise_alpha: 0.3,
            cache_megabytes: 64,
            tree_reuse: true,
            symmetry: false,
            opening_random_plays: 2,
            opening_sampled_plays: 8,
            opening_temperature: 1.0,
            settled_value: 0.95,
            settled_plays: 0,
            refresh_steps: 100,
        }
    }
}

/// How the learning rate falls after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decay {
    /// It stays.
    Constant,
    /// Half a cosine wave down to the final fraction at the run's end.
    Cosine,
}

/// `[train]`: how the network learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainSection {
    /// Samples a step.
    pub batch_size: usize,
    /// Peak learning rate of AdamW.
    pub learning_rate: f64,
    /// Steps over which the rate rises from 0 to its peak.
    pub warmup_steps: u64,
    /// How it falls afterwards.
    pub decay: Decay,
    /// Rate at the end, as a fraction of the peak.
    pub final_fraction: f64,
    /// Decoupled weight decay (Loshchilov and Hutter 2019).
    pub weight_decay: f64,
    /// Largest norm of the gradient; longer ones are scaled down.
    pub gradient_clip: f64,
    /// Decay a step of the averaged weights that self-play uses.
    pub average_decay: f64,
    /// Samples trained per sample made.
    pub sample_reuse: f64,
    /// Share of the search value in the value target; the rest is the game's result.
    pub value_from_search: f64,
    /// Weight of the value loss.
    pub value_loss_weight: f64,
    /// Weight of the plays-left loss.
    pub plays_left_loss_weight: f64,
    /// Weight of the loss of the opponent's reply; 0: the network has no such head.
    pub reply_loss_weight: f64,
    /// Weight of the loss of the swing of material; 0: the network has no such head.
    pub swing_loss_weight: f64,
    /// Share of the draws of fully searched samples that goes by how much the search surprised the network.
    pub policy_surprise_weight: f64,
    /// Share of the games that are never trained on.
    pub held_out: f64,
    /// What trains the network's trunk on the CPU; on a GPU libtorch does.
    pub trunk: Trunk,
}

impl Default for TrainSection {
    fn default() -> Self {
        Self {
            batch_size: 256,
            learning_rate: 0.002,
            warmup_steps: 200,
            decay: Decay::Cosine,
            final_fraction: 0.1,
            weight_decay: 0.0001,
            gradient_clip: 1.0,
            average_decay: 0.99,
            sample_reuse: 4.0,
            value_from_search: 0.3,
            value_loss_weight: 1.0,
            plays_left_loss_weight: 0.1,
            reply_loss_weight: 0.0,
            swing_loss_weight: 0.0,
            policy_surprise_weight: 0.0,
            held_out: 0.05,
            trunk: Trunk::Native,
        }
    }
}

impl TrainSection {
    /// The auxiliary heads that the network has: those with a weight.
    pub fn auxiliary(&self) -> AuxiliaryHeads {
        AuxiliaryHeads { reply: self.reply_loss_weight > 0.0, swing: self.swing_loss_weight > 0.0 }
    }

    /// The learning rate of step `step` (from 0), `progress` (0 to 1) into the run.
    pub fn learning_rate_at(&self, step: u64, progress: f64) -> f64 {
        let warm = if step < self.warmup_steps {
            (step + 1) as f64 / self.warmup_steps as f64
        } else {
            1.0
        };
        let progress = progress.clamp(0.0, 1.0);
        let fall = match self.decay {
            Decay::Constant => 1.0,
            Decay::Cosine => {
                let wave = 0.5 * (1.0 + (std::f64::consts::PI * progress).cos());
                self.final_fraction + (1.0 - self.final_fraction) * wave
            }
        };
        self.learning_rate * warm * fall
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
