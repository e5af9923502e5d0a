//! The network: its tensors and its forward pass (the formulas are those of `gipf_model::Architecture`).

use std::collections::BTreeMap;

use gipf_model::{
    Architecture, BATCH_NORM_EPSILON, BATCH_NORM_MOMENTUM, Checkpoint, CheckpointError,
    CheckpointHeader, CheckpointProblem, PLANE_SPOTS, POLICY_GLOBALS, PlaneMask,
    Tensor as HostTensor,
};
use tch::{Device, Tensor};

use crate::error::TorchError;
use crate::hexagon::{SPOTS, grid_conv, pool};
use crate::parameters::{Layout, Views};

/// Where batch normalisation takes its statistics from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormMode {
    /// From the batch, which also moves the running ones.
    Batch,
    /// From the running ones.
    Running,
}

/// What the network says of a batch of `b` positions.
pub struct Forward {
    /// Logits of the planes asked for, then the global ones: `[b, 37 * planes + POLICY_GLOBALS]`; see [`Forward::logit_column`].
    pub logits: Tensor,
    /// Logits of win, loss, unfinished: `[b, 3]`.
    pub outcome: Tensor,
    /// Plays left in units of `PLAYS_LEFT_SCALE`: `[b]`.
    pub plays_left: Tensor,
    /// As [`Forward::logits`], of the other side's next decision, where the network has this head.
    pub reply: Option<Tensor>,
    /// The balance's change in units of `SWING_SCALE`, `[b]`, where the network has this head.
    pub swing: Option<Tensor>,
}

impl Forward {
    /// Where each logit of a policy index stands in a row of [`Forward::logits`] computed for the planes of `mask`, or would
    /// stand: those of planes left out have the column `u32::MAX`.
    pub fn logit_column(mask: PlaneMask) -> Vec<u32> {
        let planes = mask.len();
        let mut columns = Vec::new();
        let mut slot = 0;
        for plane in PlaneMask::ALL.iter() {
            let there = mask.contains(plane);
            columns.extend(
                (0..PLANE_SPOTS)
                    .map(|spot| if there { (spot * planes + slot) as u32 } else { u32::MAX }),
            );
            slot += usize::from(there);
        }
        columns.extend((0..POLICY_GLOBALS).map(|global| (PLANE_SPOTS * planes + global) as u32));
        columns
    }
}

/// The network's tensors on a device, packed into two flat ones.
pub struct TorchNet {
    pub(crate) layout: Layout,
    /// Trained parameters, decayed ones first.
    pub(crate) trained: Tensor,
    /// Running means and variances.
    pub(crate) running: Tensor,
    device: Device,
}

impl TorchNet {
    /// An untrained network; the same seed makes the same one on every device.
    pub fn new(architecture: Architecture, seed: u64, device: Device) -> Result<Self, TorchError> {
        let problem = |e| CheckpointError {
            path: "new network".into(),
            problem: CheckpointProblem::Architecture(e),
        };
        architecture.validate().map_err(problem)?;
        let tensors = architecture.initial_tensors(seed).into_iter().collect();
        Self::from_tensors(Layout::new(architecture), &tensors, "", device)
            .map_err(TorchError::Torch)?
    }

    /// The network of a checkpoint.
    pub fn from_checkpoint(checkpoint: &Checkpoint, device: Device) -> Result<Self, TorchError> {
        let layout = Layout::new(checkpoint.header.architecture);
        Self::from_tensors(layout, &checkpoint.tensors, "", device).map_err(TorchError::Torch)?
    }

    /// A checkpoint with this header, whose architecture must be this network's.
    pub fn to_checkpoint(&self, header: CheckpointHeader) -> Result<Checkpoint, TorchError> {
        Ok(Checkpoint::new(header, self.tensors("")?)?)
    }

    /// The network's size.
    pub fn architecture(&self) -> Architecture {
        self.layout.architecture
    }

    /// Where it is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The outer error says which tensor is missing, the inner one what libtorch refused.
    pub(crate) fn from_tensors(
        layout: Layout,
        tensors: &BTreeMap<String, HostTensor>,
        prefix: &str,
        device: Device,
    ) -> Result<Result<Self, TorchError>, String> {
        let (trained, running) =
            (layout.pack_trained(tensors, prefix)?, layout.pack_running(tensors, prefix)?);
        let place =
            |values: &[f32]| Tensor::f_from_slice(values).and_then(|tensor| tensor.f_to(device));
        Ok(place(&trained)
            .and_then(|trained| Ok(Self { layout, trained, running: place(&running)?, device }))
            .map_err(TorchError::from))
    }

    /// All tensors by name, each name behind a prefix.
    pub(crate) fn tensors(&self, prefix: &str) -> Result<BTreeMap<String, HostTensor>, TorchError> {
        let mut tensors = BTreeMap::new();
        self.layout.unpack_trained(&self.trained, prefix, &mut tensors)?;
        self.layout.unpack_running(&self.running, prefix, &mut tensors)?;
        Ok(tensors)
    }

    /// The same numbers in tensors of its own.
    pub(crate) fn copied(&self) -> Result<Self, TorchError> {
        let copy = |tensor: &Tensor| -> Result<Tensor, TorchError> {
            let tensor = tensor.f_detach()?;
            let mut copy = tensor.f_zeros_like()?;
            copy.f_copy_(&tensor)?;
            Ok(copy)
        };
        Ok(Self {
            layout: self.layout.clone(),
            trained: copy(&self.trained)?,
            running: copy(&self.running)?,
            device: self.device,
        })
    }

    /// The network on a batch: `planes` `[b, 37, PLANES]` of zeros and ones, `globals` `[b, GLOBALS]`. Of the policy planes only
    /// those of `mask` are computed. Gradients flow where the caller has not switched them off.
    pub fn forward(
        &self,
        planes: &Tensor,
        globals: &Tensor,
        mask: PlaneMask,
        norm: NormMode,
    ) -> Result<Forward, TorchError> {
        self.heads(&self.trunk(planes, globals, norm)?, globals, mask, norm)
    }

    /// The trunk's output: `[b, 37, channels]`.
    pub(crate) fn trunk(
        &self,
        planes: &Tensor,
        globals: &Tensor,
        norm: NormMode,
    ) -> Result<Tensor, TorchError> {
        self.pass(norm)?.trunk(planes, globals, &self.layout.architecture)
    }

    /// What the heads say of the trunk's output.
    pub(crate) fn heads(
        &self,
        x: &Tensor,
        globals: &Tensor,
        mask: PlaneMask,
        norm: NormMode,
    ) -> Result<Forward, TorchError> {
        let pass = self.pass(norm)?;
        let (p, g) = pass.policy(x)?;
        let h = pass.value(x, globals)?;
        let auxiliary = self.layout.architecture.auxiliary;
        let reply = || pass.logits(&p, &g, mask, "auxiliary.reply_");
        let swing =
            || pass.linear(&h, "auxiliary.swing")?.f_squeeze_dim(1).map_err(TorchError::from);
        Ok(Forward {
            logits: pass.logits(&p, &g, mask, "policy.")?,
            outcome: pass.linear(&h, "value.outcome")?,
            plays_left: pass.linear(&h, "value.plays_left")?.f_softplus()?.f_squeeze_dim(1)?,
            reply: auxiliary.reply.then(reply).transpose()?,
            swing: auxiliary.swing.then(swing).transpose()?,
        })
    }

    fn pass(&self, norm: NormMode) -> Result<Pass, TorchError> {
        Ok(Pass { views: Views::new(&self.layout, &self.trained, &self.running)?, norm })
    }
}

/// One forward pass.
struct Pass {
    views: Views,
    norm: NormMode,
}

impl Pass {
    fn trunk(
        &self,
        planes: &Tensor,
        globals: &Tensor,
        architecture: &Architecture,
    ) -> Result<Tensor, TorchError> {
        let bias = globals.f_matmul(&self.views.get("stem.globals.weight")?.f_tr()?)?;
        let x = grid_conv(planes, self.views.get("stem.conv.weight")?)?;
        let mut x = self.norm(&x.f_add(&bias.f_unsqueeze(1)?)?, "stem.bn")?.f_relu()?;
        for block in 0..architecture.blocks {
            x = self.block(&x, block, architecture.global_pooling)?;
        }
        Ok(x)
    }

    fn block(&self, x: &Tensor, block: usize, pooled: bool) -> Result<Tensor, TorchError> {
        let name = |part: &str| format!("blocks.{block}.{part}");
        let h = grid_conv(x, self.views.get(&name("conv1.weight"))?)?;
        let h = self.norm(&h, &name("bn1"))?.f_relu()?;
        let y = grid_conv(&h, self.views.get(&name("conv2.weight"))?)?;
        let mut y = self.norm(&y, &name("bn2"))?.f_add(x)?;
        if pooled {
            let bias = pool(&h)?.f_matmul(&self.views.get(&name("pool.weight"))?.f_tr()?)?;
            y = y.f_add(&bias.f_unsqueeze(1)?)?;
        }
        Ok(y.f_relu()?)
    }

    /// What the policy heads read: `p` `[b, 37, channels]`, and `g` pooled from it.
    fn policy(&self, x: &Tensor) -> Result<(Tensor, Tensor), TorchError> {
        let p = x.f_matmul(&self.views.get("policy.conv.weight")?.f_tr()?)?;
        let p = self.norm(&p, "policy.bn")?.f_relu()?;
        let g = pool(&p)?;
        let p = p.f_add(&self.linear(&g, "policy.pool")?.f_unsqueeze(1)?)?.f_relu()?;
        Ok((p, g))
    }

    /// A policy head's logits, see [`Forward::logits`]; `head` begins the names of its tensors.
    fn logits(
        &self,
        p: &Tensor,
        g: &Tensor,
        mask: PlaneMask,
        head: &str,
    ) -> Result<Tensor, TorchError> {
        let (mut weight, mut bias) = (
            self.views.get(&format!("{head}planes.weight"))?.shallow_clone(),
            self.views.get(&format!("{head}planes.bias"))?.shallow_clone(),
        );
        if mask != PlaneMask::ALL {
            let planes: Vec<i64> = mask.iter().map(|plane| plane as i64).collect();
            let planes = Tensor::f_from_slice(&planes)?.f_to(p.device())?;
            weight = weight.f_index_select(0, &planes)?;
            bias = bias.f_index_select(0, &planes)?;
        }
        let planes =
            p.f_linear(&weight, Some(&bias))?.f_reshape([-1, SPOTS * mask.len() as i64])?;
        Ok(Tensor::f_cat(&[planes, self.linear(g, &format!("{head}globals"))?], 1)?)
    }

    /// What the value heads read: `h` `[b, hidden]`.
    fn value(&self, x: &Tensor, globals: &Tensor) -> Result<Tensor, TorchError> {
        let v = x.f_matmul(&self.views.get("value.conv.weight")?.f_tr()?)?;
        let v = pool(&self.norm(&v, "value.bn")?.f_relu()?)?;
        Ok(self.linear(&Tensor::f_cat(&[&v, globals], 1)?, "value.hidden")?.f_relu()?)
    }

    fn linear(&self, x: &Tensor, name: &str) -> Result<Tensor, TorchError> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        Ok(x.f_linear(self.views.get(&weight)?, Some(self.views.get(&bias)?))?)
    }

    /// Batch normalisation of `[batch, 37, channels]` over batch and spots.
    fn norm(&self, x: &Tensor, name: &str) -> Result<Tensor, TorchError> {
        let part = |part: &str| self.views.get(&format!("{name}.{part}"));
        let size = x.size();
        let rows = x.f_reshape([-1, size[2]])?;
        let y = rows.f_batch_norm(
            Some(part("weight")?),
            Some(part("bias")?),
            Some(part("mean")?),
            Some(part("var")?),
            self.norm == NormMode::Batch,
            BATCH_NORM_MOMENTUM,
            BATCH_NORM_EPSILON,
            true,
        )?;
        Ok(y.f_reshape(&size[..])?)
    }
}
