//! How large the activations of a network become: what int8 needs to know beside the weights.

use super::NativeEvaluator;
use crate::architecture::Architecture;
use crate::checkpoint::Checkpoint;
use crate::evaluator::Evaluation;
use crate::features::Features;
use crate::tensor_file::Tensor;
use thiserror::Error;

/// No channel's range is less than this part of its place's: a channel that was silent in the calibration may still speak.
const LEAST_RANGE: f32 = 1.0 / 64.0;

/// The largest activation of every channel, at every place of the trunk that int8 reads from, over some positions.
///
/// There are `2 * blocks + 1` places: before each block, within it after its first rectifier, and the trunk's end. All numbers are
/// finite and 0 or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// `[place][channel]`.
    largest: Tensor,
}

/// What is wrong with a calibration's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CalibrationError {
    /// It is that of another network.
    #[error("the calibration has shape {found:?} where a {architecture} network has {expected:?}")]
    Shape {
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        expected: Vec<usize>,
        /// The network's size.
        architecture: String,
    },
    /// An activation after a rectifier cannot be negative, infinite or no number.
    #[error("the calibration holds a number that is negative or not finite")]
    Number,
}

impl Calibration {
    /// The shape of a calibration: places and channels.
    pub(crate) fn shape(architecture: &Architecture) -> [usize; 2] {
        [2 * architecture.blocks + 1, architecture.channels]
    }

    /// Checks numbers that were written as a tensor.
    pub(crate) fn from_tensor(
        architecture: &Architecture,
        tensor: Tensor,
    ) -> Result<Self, CalibrationError> {
        let expected = Self::shape(architecture);
        if tensor.shape != expected || tensor.data.len() != expected[0] * expected[1] {
            return Err(CalibrationError::Shape {
                found: tensor.shape,
                expected: expected.to_vec(),
                architecture: architecture.to_string(),
            });
        }
        if !tensor.data.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Err(CalibrationError::Number);
        }
        Ok(Self { largest: tensor })
    }

    /// The numbers as a tensor: `[2 * blocks + 1, channels]`.
    pub fn as_tensor(&self) -> &Tensor {
        &self.largest
    }

    pub(crate) fn into_tensor(self) -> Tensor {
        self.largest
    }

    /// What the largest cell stands for in each channel of a place, padded to `width` channels: the largest activation, or a part of
    /// the place's largest. All are above 0.
    pub(crate) fn ranges(&self, place: usize, width: usize) -> Vec<f32> {
        let channels = self.largest.shape[1];
        let largest = &self.largest.data[place * channels..][..channels];
        let most = largest.iter().copied().fold(0.0, f32::max);
        // A place where nothing was ever active reads as 0 whatever its range.
        let least = if most > 0.0 { most * LEAST_RANGE } else { 1.0 };
        let range = |channel: usize| largest.get(channel).map_or(least, |range| range.max(least));
        (0..width).map(range).collect()
    }
}

/// Evaluates positions in f32 and notes how large each channel becomes. The positions should be such as will be evaluated; a few
/// hundred are enough. Without any, every number is 0, and int8 knows nothing.
pub fn calibrate(checkpoint: &Checkpoint, positions: &[Features]) -> Calibration {
    let [places, channels] = Calibration::shape(&checkpoint.header.architecture);
    let mut largest = vec![0.0_f32; places * channels];
    let mut evaluator = NativeEvaluator::new(checkpoint);
    let width = evaluator.network.width;
    let mut out = vec![Evaluation::default(); evaluator.together()];
    for batch in positions.chunks(evaluator.together()) {
        evaluator.forward(batch, &mut out[..batch.len()], |place, rows| {
            let largest = &mut largest[place * channels..][..channels];
            for row in rows.chunks_exact(width) {
                largest.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(*value));
            }
        });
    }
    Calibration { largest: Tensor { shape: vec![places, channels], data: largest } }
}
