//! How games are made.

use gipf_selfplay::{GumbelConfig, Method, PuctConfig, SearchConfig};
use serde::{Deserialize, Serialize};

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

impl SelfPlaySection {
    /// The search of a game's decisions.
    pub fn search_config(&self) -> SearchConfig {
        SearchConfig {
            method: self.search,
            gumbel: GumbelConfig {
                considered: self.considered,
                c_visit: self.c_visit as f32,
                c_scale: self.c_scale as f32,
                puct_from: self.puct_from,
            },
            puct: PuctConfig {
                c_puct: self.c_puct as f32,
                fpu_reduction: self.fpu_reduction as f32,
                noise_fraction: self.noise_fraction as f32,
                noise_alpha: self.noise_alpha as f32,
                ..PuctConfig::default()
            },
            tree_reuse: self.tree_reuse,
            symmetry: self.symmetry,
            ..SearchConfig::default()
        }
    }
}
