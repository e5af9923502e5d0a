//! The evaluator: a checkpoint's network with its batch normalisation folded into the weights.
//!
//! Convolutions are gathers and matrix products over the 37 spots (see `hexagon`), in buffers that are kept from batch to batch.
//! Of the policy planes only those are computed that the checkpoint's rules can use, or all of them for a batch that uses others.

use gipf_core::{Rules, SpotSet};
use gipf_model::{
    Architecture, Checkpoint, EvalError, Evaluation, Evaluator, Features, GLOBALS, PLANE_SPOTS,
    PLANES, PLAYS_LEFT_SCALE, PlaneMask, check_lengths, plane_mask,
};
use tch::{Device, Kind, Tensor};

use crate::device::{device_name, set_threads};
use crate::error::TorchError;
use crate::folded::{PlaneHead, Weights};
use crate::hexagon::{SPOTS, gather_index, pool, unpack};
use crate::net::TorchNet;
use crate::parameters::Views;

/// Positions that a thread of the CPU evaluates at a time: what it works on then stays in its cache.
const CPU_CHUNK: usize = 32;

/// The numbers that a network computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 16 bits with the exponent of 32: twice the speed or more on GPUs that have them, about two digits right. Softmax and
    /// what comes after it are in 32 bits.
    Bf16,
}

impl Precision {
    fn kind(self) -> Kind {
        match self {
            Precision::F32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        }
    }
}

/// Evaluates with libtorch.
pub struct TorchEvaluator {
    architecture: Architecture,
    device: Device,
    threads: usize,
    precision: Precision,
    weights: Weights,
    /// The planes computed for most batches, and all of them.
    heads: [PlaneHead; 2],
    room: Room,
    input: Vec<f32>,
    bits: Vec<i64>,
    globals: Vec<f32>,
    output: Vec<f32>,
}

impl TorchEvaluator {
    /// The evaluator of a checkpoint on a device; `threads` of the CPU for one operation (0: as many as before).
    pub fn from_checkpoint(
        checkpoint: &Checkpoint,
        device: Device,
        threads: usize,
    ) -> Result<Self, TorchError> {
        Self::with_precision(checkpoint, device, threads, Precision::F32)
    }

    /// The same, computing with other numbers.
    pub fn with_precision(
        checkpoint: &Checkpoint,
        device: Device,
        threads: usize,
        precision: Precision,
    ) -> Result<Self, TorchError> {
        let _no_grad = tch::no_grad_guard();
        let net = TorchNet::from_checkpoint(checkpoint, device)?;
        let views = Views::new(&net.layout, &net.trained, &net.running)?;
        let architecture = net.architecture();
        let kind = precision.kind();
        let head = |mask| PlaneHead::new(&views, mask, device)?.cast(kind);
        Ok(Self {
            architecture,
            device,
            threads,
            precision,
            // Batch normalisation is folded in 32 bits; then the numbers are rounded once.
            weights: Weights::new(&views, &architecture)?.to_kind(kind)?,
            heads: [head(mask_of(&checkpoint.header.rules))?, head(PlaneMask::ALL)?],
            room: Room::new(&architecture, 0, kind, device)?,
            input: Vec::new(),
            bits: Vec::new(),
            globals: Vec::new(),
            output: Vec::new(),
        })
    }

    fn run(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), TorchError> {
        set_threads(self.threads);
        let chunk = match self.device {
            Device::Cpu => CPU_CHUNK * usize::try_from(tch::get_num_threads()).unwrap_or(1).max(1),
            _ => batch.len().max(1),
        };
        let _no_grad = tch::no_grad_guard();
        let mut chunks = batch.chunks(chunk).zip(out.chunks_mut(chunk));
        chunks.try_for_each(|(batch, out)| self.run_chunk(batch, out))
    }

    fn run_chunk(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), TorchError> {
        let used = batch
            .iter()
            .fold(PlaneMask::NONE, |mask, features| mask.union(features.policy.planes()));
        let head = &self.heads[usize::from(!used.is_subset(self.heads[0].mask))];
        if self.room.boards < batch.len() {
            self.room =
                Room::new(&self.architecture, batch.len(), self.precision.kind(), self.device)?;
        }
        self.globals.clear();
        self.globals.extend(batch.iter().flat_map(|features| features.globals));
        let globals = Tensor::f_from_slice(&self.globals)?
            .f_reshape([-1, GLOBALS as i64])?
            .f_to(self.device)?
            .f_to_kind(self.precision.kind())?;
        let planes = if self.device == Device::Cpu {
            expand(batch, &mut self.input);
            Tensor::f_from_slice(&self.input)?.f_reshape([-1, PLANES as i64])?
        } else {
            self.bits.clear();
            self.bits.extend(
                batch.iter().flat_map(|features| features.planes).map(|SpotSet(bits)| bits as i64),
            );
            let bits = Tensor::f_from_slice(&self.bits)?.f_reshape([-1, PLANES as i64])?;
            unpacked(&bits, self.device)?
        };
        let planes = planes.f_to_kind(self.precision.kind())?;
        let rows = self.weights.evaluate(&planes, &globals, head, &mut self.room, batch.len())?;
        let rows = rows.f_to(Device::Cpu)?.f_contiguous()?;
        self.output.resize(rows.numel(), 0.0);
        rows.f_copy_data(&mut self.output, rows.numel())?;
        for ((features, row), out) in
            batch.iter().zip(self.output.chunks_exact(head.width)).zip(out)
        {
            features.policy.logits_with(
                |index| row[head.columns[usize::from(index)] as usize],
                &mut out.logits,
            );
            let [.., win, loss, unfinished, plays_left] = *row else { continue };
            out.value = [win, loss, unfinished];
            out.plays_left = plays_left * PLAYS_LEFT_SCALE;
        }
        Ok(())
    }
}

impl Evaluator for TorchEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        self.run(batch, out)
            .map_err(|error| EvalError::Backend { name: self.name(), message: error.to_string() })
    }

    fn name(&self) -> String {
        let precision = match self.precision {
            Precision::F32 => "",
            Precision::Bf16 => " bf16",
        };
        format!("torch {} {}{precision}", self.architecture, device_name(self.device))
    }
}

/// The planes that games by any of these rules can use; all for no rules, or for rules this program cannot read.
pub(crate) fn mask_of(rules: &[String]) -> PlaneMask {
    let masks = rules
        .iter()
        .map(|rules| rules.parse::<Rules>().map_or(PlaneMask::ALL, |rules| plane_mask(&rules)));
    masks.reduce(PlaneMask::union).unwrap_or(PlaneMask::ALL)
}

/// The planes of a batch as rows, spot by spot, after a row of zeros: `[1 + batch * 37, PLANES]`.
fn expand(batch: &[Features], rows: &mut Vec<f32>) {
    rows.clear();
    rows.resize((1 + batch.len() * PLANE_SPOTS) * PLANES, 0.0);
    for (features, board) in batch.iter().zip(rows[PLANES..].chunks_exact_mut(PLANE_SPOTS * PLANES))
    {
        for (plane, set) in features.planes.iter().enumerate() {
            for spot in set.iter() {
                board[spot.index() * PLANES + plane] = 1.0;
            }
        }
    }
}

/// The same from bitboards, on the device.
fn unpacked(bits: &Tensor, device: Device) -> Result<Tensor, TorchError> {
    let zeros = Tensor::f_zeros([1, PLANES as i64], (Kind::Float, device))?;
    Ok(Tensor::f_cat(&[zeros, unpack(bits, device)?.f_reshape([-1, PLANES as i64])?], 0)?)
}

/// Buffers for batches of up to `boards` positions. Rows of activations follow a row of zeros, which spots off the board read.
struct Room {
    boards: usize,
    /// The rows each spot gathers.
    index: Tensor,
    /// The gathered rows of the planes, and of the trunk.
    stem_taps: Tensor,
    taps: Tensor,
    /// The trunk and the inside of a block.
    x: Tensor,
    h: Tensor,
}

impl Room {
    fn new(
        architecture: &Architecture,
        boards: usize,
        kind: Kind,
        device: Device,
    ) -> Result<Self, TorchError> {
        let index = Tensor::f_from_slice(&gather_index(boards))?.f_to(device)?;
        let taps = index.size()[0];
        let zeros =
            |rows: i64, columns: usize| Tensor::f_zeros([rows, columns as i64], (kind, device));
        let rows = 1 + SPOTS * boards as i64;
        Ok(Self {
            boards,
            stem_taps: zeros(taps, PLANES)?,
            taps: zeros(taps, architecture.channels)?,
            x: zeros(rows, architecture.channels)?,
            h: zeros(rows, architecture.channels)?,
            index,
        })
    }
}

impl Weights {
    /// `planes` `[1 + b * 37, PLANES]`, `globals` `[b, GLOBALS]`; the result, in 32 bits, `[b, head.width]`.
    fn evaluate(
        &self,
        planes: &Tensor,
        globals: &Tensor,
        head: &PlaneHead,
        room: &mut Room,
        boards: usize,
    ) -> Result<Tensor, TorchError> {
        let n = SPOTS * boards as i64;
        let taps = n * gipf_model::TAPS as i64;
        let index = room.index.f_narrow(0, 0, taps)?;
        let gather = |x: &Tensor, into: &Tensor| -> Result<Tensor, TorchError> {
            let into = into.f_narrow(0, 0, taps)?;
            let _ = x.f_index_select_out(&into, 0, &index)?;
            Ok(into.f_reshape([n, -1])?)
        };
        let (x_all, h_all) = (room.x.f_narrow(0, 0, 1 + n)?, room.h.f_narrow(0, 0, 1 + n)?);
        let (mut x, mut h) = (x_all.f_narrow(0, 1, n)?, h_all.f_narrow(0, 1, n)?);
        let (mut x_boards, h_boards) =
            (x.f_reshape([-1, SPOTS, x.size()[1]])?, h.f_reshape([-1, SPOTS, x.size()[1]])?);

        let bias = globals.f_matmul(&self.stem_globals)?.f_unsqueeze(1)?;
        let _ =
            self.stem.bias.f_addmm_out(&x, &gather(planes, &room.stem_taps)?, &self.stem.matrix)?;
        let _ = x_boards.f_add_(&bias)?.f_relu_()?;
        for block in &self.blocks {
            let _ = block.first.bias.f_addmm_out(
                &h,
                &gather(&x_all, &room.taps)?,
                &block.first.matrix,
            )?;
            let _ = h.f_relu_()?;
            let _ = x.f_addmm_(&gather(&h_all, &room.taps)?, &block.second)?;
            let _ = match &block.pool {
                Some(matrix) => x_boards
                    .f_add_(&block.bias.f_addmm(&pool(&h_boards)?, matrix)?.f_unsqueeze(1)?)?,
                None => x_boards.f_add_(&block.bias)?,
            };
            let _ = x.f_relu_()?;
        }

        let mut p = self.policy.apply(&x)?.f_relu_()?;
        let mut p_boards = p.f_reshape([-1, SPOTS, p.size()[1]])?;
        let g = pool(&p_boards)?;
        let _ = p_boards.f_add_(&self.policy_pool.apply(&g)?.f_unsqueeze(1)?)?;
        let logits = head.map.apply(&p.f_relu_()?)?.f_reshape([boards as i64, -1])?;

        let v = self.value.apply(&x)?.f_relu_()?;
        let v = pool(&v.f_reshape([-1, SPOTS, v.size()[1]])?)?;
        let v = self.value_hidden.apply(&Tensor::f_cat(&[&v, globals], 1)?)?.f_relu_()?;
        let outcome = self.outcome.apply(&v)?.f_softmax(-1, Kind::Float)?;
        let float = |x: Tensor| x.f_to_kind(Kind::Float);
        let plays_left = float(self.plays_left.apply(&v)?)?.f_softplus()?;
        let globals = float(self.policy_globals.apply(&g)?)?;
        Ok(Tensor::f_cat(&[float(logits)?, globals, outcome, plays_left], 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a GPU unpacks from bitboards is what the CPU is given spread out.
    #[test]
    fn both_ways_in_agree() {
        let start = "standard".parse::<Rules>().map(|rules| rules.start()).unwrap();
        let mut features = Features::new();
        features.fill(&start, &[]);
        let batch = [Features::new(), features];
        let mut rows = Vec::new();
        expand(&batch, &mut rows);
        let bits: Vec<i64> =
            batch.iter().flat_map(|f| f.planes).map(|SpotSet(bits)| bits as i64).collect();
        let bits = Tensor::from_slice(&bits).reshape([-1, PLANES as i64]);
        let rows = Tensor::from_slice(&rows).reshape([-1, PLANES as i64]);
        assert_eq!(unpacked(&bits, Device::Cpu).unwrap(), rows);
        assert!(rows.sum(Kind::Float).double_value(&[]) > 37.0);
    }
}
