//! Who plays GIPF: search, players, batched self-play workers, matches.
//!
//! - [`Search`]: the search of one game's decisions, Gumbel or PUCT. It holds a tree and asks for evaluations.
//! - [`Worker`]: self-play of many games on one thread, their leaves evaluated together; `Pool` (feature `threads`)
//!   runs several on rayon's threads.
//! - [`Player`]: random, greedy and network players behind one trait.
//! - [`Match`]: two players, each opening played twice with the colours swapped; Elo with its 95% interval.
//! - [`study`]: which mixes of potentials favour White.
//!
//! Values are White's throughout: +1 a win for White, -1 one for Black, 0 an unfinished game.
//!
//! The crate links no libtorch and, without the feature `threads`, starts no thread and reads no clock. Programs
//! from outside are run on Unix alone.
#![forbid(unsafe_code)]

mod alphabeta;
mod budget;
mod cache;
mod config;
mod contestant;
mod counter;
mod desk;
mod elo;
#[cfg(feature = "threads")]
mod executor;
mod factor;
mod given;
mod greedy;
mod halving;
#[cfg(feature = "threads")]
mod helpers;
mod improve;
mod lane;
mod matches;
mod mcts;
mod mixes;
mod network;
mod openings;
#[cfg(all(feature = "threads", unix))]
mod outside;
mod player;
#[cfg(feature = "threads")]
mod pool;
mod random;
mod ratings;
mod record;
mod root;
mod search;
mod select;
#[cfg(feature = "threads")]
mod solo;
mod source;
mod spec;
mod sprt;
pub mod study;
pub mod tactics;
mod tree;
mod worker;

pub use alphabeta::AlphaBetaPlayer;
#[cfg(feature = "threads")]
pub use budget::Timer;
pub use budget::{Budget, Candidate, Clock, Score, Thought};
pub use config::{
    ConfigError, GumbelConfig, Method, OpeningConfig, PuctConfig, SearchConfig, SelfPlayConfig,
    SettledConfig,
};
pub use contestant::{Contestant, Limit};
pub use counter::GameCounter;
pub use elo::{Elo, PairCounts, elo_of, score_of};
#[cfg(feature = "threads")]
pub use executor::{ExecutorMeter, RemoteEvaluator};
pub use factor::{ComputeFactor, compute_factor};
pub use greedy::GreedyPlayer;
pub use halving::HalvingSchedule;
pub use matches::{Match, MatchConfig, MatchError, MatchGame, MatchResult, SideCost, SideResult};
pub use mcts::MctsPlayer;
pub use mixes::{MixDraw, MixError};
pub use network::{Network, NetworkPlayer};
pub use openings::{Judge, OpeningRule};
#[cfg(all(feature = "threads", unix))]
pub use outside::{OutsideConfig, OutsideError, OutsideFault, OutsidePlayer};
pub use player::{
    BuiltIn, Choice, GameState, Player, PlayerError, PlayerNameError, RandomPlayer, nearest_name,
};
#[cfg(feature = "threads")]
pub use pool::{Pool, PoolControl, PoolEnd, PoolError};
pub use random::{Purpose, RandomKey};
pub use ratings::{ColorPairs, Encounter, Estimate, Pairing, Planner, RatingError, Ratings};
pub use search::{Search, SearchBudget, SearchResult, Step};
#[cfg(feature = "threads")]
pub use solo::SoloPlayer;
pub use source::{GameList, ListedGame};
pub use spec::{GameSpec, MixesWeight, RulesEntry, RulesSampler, RulesWeight, SpecError};
pub use sprt::{Decision, Sprt, SprtError, SprtState};
pub use worker::{Round, Worker, WorkerIdentity, WorkerStats};
