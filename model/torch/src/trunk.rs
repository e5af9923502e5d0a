//! The trunk on the project's own kernels, between libtorch's heads and its optimizer: host arrays in and out of tensors.

use gipf_core::SpotSet;
use gipf_model::Kernel;
use gipf_model::training::{Lane, OneThread, TrunkTrainer, Workers};
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use tch::Tensor;

use crate::batch::TrainBatch;
use crate::error::TorchError;
use crate::hexagon::SPOTS;
use crate::net::TorchNet;

/// What trains the trunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trunk {
    /// The project's own kernels; on a device that is not the CPU, libtorch all the same.
    #[default]
    Native,
    /// libtorch.
    Torch,
}

/// Several threads.
struct Threads(rayon::ThreadPool);

impl Workers for Threads {
    fn each(&self, lanes: &mut [Lane], work: &(dyn Fn(&mut Lane) + Sync)) {
        self.0.install(|| lanes.par_iter_mut().for_each(work));
    }
}

/// A trainer of a network's trunk, and the host's copies of what it reads and writes.
pub(crate) struct NativeTrunk {
    trainer: TrunkTrainer,
    /// So many threads, and who they are if more than one.
    threads: usize,
    pool: Option<Threads>,
    channels: i64,
    planes: Vec<SpotSet>,
    globals: Vec<f32>,
    trained: Vec<f32>,
    running: Vec<f32>,
    trunk: Vec<f32>,
    gradient: Vec<f32>,
}

impl NativeTrunk {
    /// A trainer of a network like this one.
    pub(crate) fn new(net: &TorchNet, kernel: Kernel) -> Result<Self, TorchError> {
        let layout = &net.layout;
        let architecture = layout.architecture;
        let trainer = TrunkTrainer::new(&architecture, &layout.trained, &layout.running, kernel)
            .ok_or_else(|| TorchError::Torch("the network lacks a tensor".to_owned()))?;
        Ok(Self {
            trainer,
            threads: 1,
            pool: None,
            channels: architecture.channels as i64,
            planes: Vec::new(),
            globals: Vec::new(),
            trained: vec![0.0; net.trained.numel()],
            running: vec![0.0; net.running.numel()],
            trunk: Vec::new(),
            gradient: vec![0.0; net.trained.numel()],
        })
    }

    /// Makes it use so many threads from now on; 0: as many as libtorch does.
    pub(crate) fn set_threads(&mut self, threads: usize) -> Result<(), TorchError> {
        let threads = match threads {
            0 => usize::try_from(tch::get_num_threads()).unwrap_or(1).max(1),
            threads => threads,
        };
        if threads != self.threads {
            self.pool = if threads > 1 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                Some(Threads(pool.map_err(|e| TorchError::Torch(e.to_string()))?))
            } else {
                None
            };
            self.threads = threads;
        }
        Ok(())
    }

    fn workers(pool: &Option<Threads>) -> &dyn Workers {
        match pool {
            Some(threads) => threads,
            None => &OneThread,
        }
    }

    /// The trunk's output for a batch, `[b, 37, channels]`, a leaf that wants a gradient. Moves the network's running statistics.
    pub(crate) fn forward(
        &mut self,
        batch: &TrainBatch,
        net: &mut TorchNet,
    ) -> Result<Tensor, TorchError> {
        self.planes.clear();
        self.planes.extend(batch.planes.iter().map(|&bits| SpotSet(bits as u64)));
        self.globals.clear();
        self.globals.extend(batch.globals.iter());
        let shape = [batch.len() as i64, SPOTS, self.channels];
        self.trunk.resize(shape.iter().product::<i64>() as usize, 0.0);
        net.trained.f_detach()?.f_copy_data(&mut self.trained, net.trained.numel())?;
        net.running.f_copy_data(&mut self.running, net.running.numel())?;
        self.trainer.forward(
            Self::workers(&self.pool),
            (&self.planes, &self.globals),
            &self.trained,
            &mut self.running,
            &mut self.trunk,
        );
        {
            let _no_grad = tch::no_grad_guard();
            net.running.f_copy_(&Tensor::f_from_slice(&self.running)?)?;
        }
        let trunk = Tensor::f_from_slice(&self.trunk)?.f_reshape(shape)?;
        Ok(trunk.f_set_requires_grad(true)?)
    }

    /// The whole flat gradient: that of the heads, plus the trunk's from the gradient of its output.
    pub(crate) fn backward(
        &mut self,
        heads: &Tensor,
        trunk: &Tensor,
    ) -> Result<Tensor, TorchError> {
        heads.f_contiguous()?.f_copy_data(&mut self.gradient, heads.numel())?;
        trunk.f_contiguous()?.f_copy_data(&mut self.trunk, trunk.numel())?;
        self.trainer.backward(Self::workers(&self.pool), &self.trunk, &mut self.gradient);
        Ok(Tensor::f_from_slice(&self.gradient)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionGroups;
    use crate::net::NormMode;
    use crate::parameters::to_host;
    use gipf_model::{Architecture, GLOBALS, PLANES, PlaneMask};
    use ndarray::{Array1, Array2};
    use tch::{Device, Kind};

    /// Random positions and globals; what is learned of them does not matter here.
    fn batch(positions: usize) -> TrainBatch {
        let options = (Kind::Int64, Device::Cpu);
        let size = positions * PLANES;
        let bits = Tensor::randint_low(0, 1 << 30, [size as i64], options);
        let more = Tensor::randint_low(0, 1 << 30, [size as i64], options);
        let both = bits.bitwise_and_tensor(&more);
        let ring: u64 = SpotSet::ALL.0;
        let mut planes = vec![0_i64; size];
        both.copy_data(&mut planes, size);
        for (number, plane) in planes.iter_mut().enumerate() {
            *plane = (((*plane as u64) << (number % 23)) & ring) as i64;
        }
        let mut globals = vec![0_f32; positions * GLOBALS];
        let random = Tensor::rand([globals.len() as i64], (Kind::Float, Device::Cpu));
        random.copy_data(&mut globals, positions * GLOBALS);
        TrainBatch {
            planes: Array2::from_shape_vec((positions, PLANES), planes).expect("a shape"),
            globals: Array2::from_shape_vec((positions, GLOBALS), globals).expect("a shape"),
            actions: ActionGroups::default(),
            policy: Array2::default((positions, 0)),
            policy_weight: Array1::default(positions),
            value: Array2::default((positions, 3)),
            value_weight: Array1::default(positions),
            plays_left: Array1::default(positions),
            plays_left_weight: Array1::default(positions),
            reply: None,
            swing: Array1::default(positions),
            swing_weight: Array1::default(positions),
            mask: PlaneMask::ALL,
        }
    }

    /// The largest difference, in parts of the largest number.
    fn difference(a: &[f32], b: &[f32]) -> f32 {
        assert_eq!(a.len(), b.len());
        let most = a.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!(most > 0.0 && b.iter().all(|x| x.is_finite()));
        a.iter().zip(b).fold(0.0_f32, |d, (a, b)| d.max((a - b).abs())) / most
    }

    /// Output, running statistics and the gradient of every tensor are libtorch's, with every kernel and any number of threads; the
    /// last two sizes of batches leave a piece that is shorter than the others. Both sum in f32 in different orders, some thousand
    /// numbers a sum and a dozen layers one after the other: hence 2e-3 of a tensor's largest number for gradients, where a wrong
    /// term is of its order.
    #[test]
    fn the_trunk_is_libtorchs() {
        for (number, (text, positions)) in
            [("2x8", 3), ("4x24", 33), ("2x32-nopool", 21), ("2x48", 26), ("2x64", 21)]
                .into_iter()
                .enumerate()
        {
            tch::manual_seed(number as i64);
            let architecture: Architecture = text.parse().expect("a size");
            let mut torch =
                TorchNet::new(architecture, number as u64, Device::Cpu).expect("a network");
            // Factors that start at 0 would hide half of every block.
            let noise = torch.trained.f_randn_like().expect("noise").f_mul_scalar(0.1);
            let _ = torch.trained.f_add_(&noise.expect("noise")).expect("a sum");
            let batch = batch(positions);
            let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
            let nets: Vec<_> = kernels.map(|k| (k, torch.copied().expect("a copy"))).collect();
            let _ = torch.trained.f_set_requires_grad(true).expect("a leaf");
            let bits = crate::loss::array(&batch.planes, Device::Cpu).expect("planes");
            let planes = crate::hexagon::unpack(&bits, Device::Cpu).expect("planes");
            let globals = crate::loss::array(&batch.globals, Device::Cpu).expect("globals");
            let x = torch.trunk(&planes, &globals, NormMode::Batch).expect("a trunk");
            let slope = x.f_randn_like().expect("a gradient");
            let total = (&x * &slope).sum(Kind::Float);
            let gradients =
                Tensor::f_run_backward(&[&total], &[&torch.trained], false, false).expect("one");
            let expected = to_host(&gradients[0]).expect("numbers");
            for (kernel, mut net) in nets {
                let mut trunk = NativeTrunk::new(&net, kernel).expect("a trunk");
                let mut first: Option<Vec<f32>> = None;
                let start = net.copied().expect("a copy");
                for threads in [1, 3] {
                    net = start.copied().expect("a copy");
                    trunk.set_threads(threads).expect("threads");
                    let y = trunk.forward(&batch, &mut net).expect("a trunk");
                    let host = |t: &Tensor| to_host(t).expect("numbers");
                    let what = format!("{text} {kernel}");
                    let d = difference(&host(&x), &host(&y));
                    assert!(d < 1e-4, "{what}: output {d}");
                    let d = difference(&host(&torch.running), &host(&net.running));
                    assert!(d < 1e-5, "{what}: running statistics {d}");
                    let zero = net.trained.f_zeros_like().expect("zeros");
                    let own = host(&trunk.backward(&zero, &slope).expect("a gradient"));
                    let mut at = 0;
                    for spec in &net.layout.trained {
                        let range = at..at + spec.len();
                        at = range.end;
                        if spec.name.starts_with("stem") || spec.name.starts_with("blocks") {
                            let d = difference(&expected[range.clone()], &own[range]);
                            assert!(d < 2e-3, "{what}: {} {d}", spec.name);
                        } else {
                            assert!(own[range].iter().all(|g| *g == 0.0), "{}", spec.name);
                        }
                    }
                    // Neither the second step's order of lanes nor what the first left behind changes a bit.
                    assert_eq!(*first.get_or_insert_with(|| own.clone()), own, "{what}");
                }
            }
        }
    }
}
