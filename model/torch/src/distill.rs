//! Targets that a larger network learns from a smaller one (Hinton, Vinyals, Dean 2015).

use gipf_model::Checkpoint;
use tch::{Device, Kind};

use crate::batch::TrainBatch;
use crate::device::set_threads;
use crate::error::TorchError;
use crate::loss::DeviceBatch;
use crate::net::{NormMode, TorchNet};
use crate::parameters::to_host;

/// The teacher's part in each target. Half and half: the teacher alone would teach its mistakes as well, the games alone have
/// one result a game where it says what it expects of each position.
const SHARE: f32 = 0.5;

/// A network that another one learns from.
pub struct Teacher {
    net: TorchNet,
    threads: usize,
}

impl Teacher {
    /// The network of a checkpoint. `threads` of one operation on the CPU; 0: as many as before.
    ///
    /// # Errors
    /// The device refuses the network.
    pub fn new(
        checkpoint: &Checkpoint,
        threads: usize,
        device: Device,
    ) -> Result<Self, TorchError> {
        Ok(Self { net: TorchNet::from_checkpoint(checkpoint, device)?, threads })
    }

    /// Mixes what the network says of the positions, with its running statistics, into what is learned of them: half of the
    /// policy loss and of the value loss becomes the cross-entropy against its policy and outcome. (A cross-entropy is
    /// linear in its target, so mixed targets are mixed losses.) A sample that has no policy or value of its own, such as one
    /// after a fast search, has the teacher's half of it. The plays left stay as they are.
    ///
    /// # Errors
    /// libtorch fails.
    pub fn mix_into(&self, batch: &mut TrainBatch) -> Result<(), TorchError> {
        set_threads(self.threads);
        let _no_grad = tch::no_grad_guard();
        let data = DeviceBatch::new(batch, self.net.device())?;
        let forward =
            self.net.forward(&data.planes, &data.globals, batch.mask, NormMode::Running)?;
        let policy = to_host(&data.action_logits(&forward)?.f_softmax(-1, Kind::Float)?)?;
        let outcome = to_host(&forward.outcome.f_softmax(-1, Kind::Float)?)?;
        mix(&mut batch.policy, &mut batch.policy_weight, &policy);
        mix(&mut batch.value, &mut batch.value_weight, &outcome);
        Ok(())
    }
}

/// Mixes rows of probabilities into those to learn, by weight.
fn mix(targets: &mut ndarray::Array2<f32>, weights: &mut ndarray::Array1<f32>, said: &[f32]) {
    let width = targets.ncols();
    for ((mut row, weight), said) in
        targets.rows_mut().into_iter().zip(weights.iter_mut()).zip(said.chunks_exact(width))
    {
        let own = (1.0 - SHARE) * *weight;
        *weight = own + SHARE;
        for (target, said) in row.iter_mut().zip(said) {
            *target = (own * *target + SHARE * said) / *weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, aview1};

    #[test]
    fn half_of_each_target_is_the_teachers() {
        let mut targets = array![[1.0, 0.0], [0.0, 0.0]];
        let mut weights = array![1.0, 0.0];
        mix(&mut targets, &mut weights, &[0.2, 0.8, 0.4, 0.6]);
        assert_eq!(weights, aview1(&[1.0, 0.5]));
        assert_eq!(targets.row(0), aview1(&[0.6, 0.4]));
        assert_eq!(targets.row(1), aview1(&[0.4, 0.6]));
    }
}
