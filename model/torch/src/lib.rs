//! The network of `gipf-model` in libtorch: training on any device, and fast evaluation.
//!
//! - [`TrainSample`], [`TrainBatch`]: what is learned from, packed for the network.
//! - [`Learner`]: network, optimizer and averaged weights; [`Learner::train_step`], [`Learner::evaluate`], and a state that
//!   goes on bit for bit where it was saved.
//! - [`TorchNet`]: the network's tensors and its forward pass; to and from checkpoints.
//! - [`Teacher`]: what a larger network learns from a smaller one.
//! - [`TorchEvaluator`]: an evaluator with batch normalisation folded into the weights.
//!
//! With one thread on a CPU all of it is deterministic: equal input gives equal bits.
#![forbid(unsafe_code)]

mod actions;
mod adamw;
mod batch;
mod device;
mod distill;
mod error;
mod evaluator;
mod folded;
mod grid;
mod hexagon;
mod learner;
mod loss;
mod metrics;
mod net;
mod parameters;
mod script;
mod state;
mod trunk;

pub use actions::ActionGroups;
pub use adamw::{AdamW, AdamWConfig};
pub use batch::{AuxiliaryTargets, Reply, ReplyBatch, TrainBatch, TrainSample};
pub use device::{device_from_name, device_name, set_threads};
pub use distill::Teacher;
pub use error::TorchError;
pub use evaluator::{Precision, TorchEvaluator};
pub use grid::{GridEvaluator, GridForm};
pub use learner::{Learner, LearnerConfig, WeightSet};
pub use loss::{LossWeights, Losses};
pub use metrics::{CALIBRATION_BINS, CalibrationBin, Metrics};
pub use net::{Forward, NormMode, TorchNet};
pub use script::save_script;
pub use state::LEARNER_FORMAT;
pub use tch::Device;
pub use trunk::Trunk;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
