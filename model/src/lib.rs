//! What a network sees and says: features, policy map, evaluators, checkpoints.
//!
//! - [`Features`]: a position as binary planes over the 37 spots and a vector of globals, from the view of the side that decides.
//! - [`PolicyIndex`]: which policy logits make up the logit of each action.
//! - [`Evaluator`]: a batch of features in, a batch of [`Evaluation`]s out; [`fake`] has the ones for tests.
//! - [`Architecture`], [`Checkpoint`]: the network's tensors by name and shape, and the file that holds them.
//! - [`NativeEvaluator`], [`Int8Evaluator`]: the network on the CPU, in f32 and in int8.
//! - [`training`]: the trunk's forward and backward pass on the CPU, for a learner.
//!
//! The crate knows no libtorch; it starts no thread and reads no clock.
#![deny(unsafe_code)]

mod architecture;
mod auxiliary;
mod checkpoint;
mod evaluator;
pub mod fake;
mod features;
mod grow;
mod hash;
#[allow(unsafe_code, reason = "the kernel: see native/kernel/mod.rs")]
mod native;
mod policy;
mod tensor_file;
mod threats;

pub use architecture::{
    Architecture, ArchitectureError, BATCH_NORM_EPSILON, BATCH_NORM_MOMENTUM, PLAYS_LEFT_SCALE,
    TAPS, TensorKind, TensorSpec,
};
pub use auxiliary::{AuxiliaryHeads, SWING_SCALE};
pub use checkpoint::{
    CHECKPOINT_FORMAT, Checkpoint, CheckpointError, CheckpointHeader, CheckpointProblem,
    DrawnMixes, PlayerCard, PlayerRating, WeightFormat,
};
pub use evaluator::{EvalError, Evaluation, Evaluator, check_lengths};
pub use features::{
    FEATURES_VERSION, Features, GLOBALS, PLANES, global_names, plane_names, plane_permutation,
};
pub use grow::{GrowError, can_grow, grown};
pub use native::{
    Calibration, CalibrationError, Int8Evaluator, Int8Kernel, Kernel, NativeEvaluator, calibrate,
    training,
};
pub use policy::{
    PLANE_SPOTS, POLICY_GLOBALS, POLICY_PLANES, POLICY_SIZE, POLICY_VERSION, PlaneMask,
    PolicyIndex, plane_mask, plane_name, symmetry_permutation,
};
pub use tensor_file::{NumberFormat, Tensor, TensorFile, TensorFileError, TensorFileProblem};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
