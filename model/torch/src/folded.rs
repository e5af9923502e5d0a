//! A checkpoint's network as the evaluator computes it: batch normalisation folded into matrices and biases.

use gipf_model::{Architecture, BATCH_NORM_EPSILON, PLANE_SPOTS, POLICY_GLOBALS, PlaneMask};
use tch::{Device, Kind, Tensor};

use crate::error::TorchError;
use crate::hexagon::gather_matrix;
use crate::net::Forward;
use crate::parameters::Views;

/// A matrix `[in, out]` and a bias `[out]`.
pub(super) struct Map {
    pub(super) matrix: Tensor,
    pub(super) bias: Tensor,
}

impl Map {
    pub(super) fn new(views: &Views, name: &str) -> Result<Self, TorchError> {
        Ok(Self {
            matrix: views.get(&format!("{name}.weight"))?.f_tr()?.f_contiguous()?,
            bias: views.get(&format!("{name}.bias"))?.shallow_clone(),
        })
    }

    /// A weight `[out, in]` or `[out, in, TAPS]` without bias, followed by a batch normalisation.
    pub(super) fn folded(views: &Views, weight: &str, norm: &str) -> Result<Self, TorchError> {
        let weight = views.get(weight)?;
        let matrix = if weight.dim() == 3 { gather_matrix(weight)? } else { weight.f_tr()? };
        let (scale, bias) = fold(views, norm)?;
        Ok(Self { matrix: matrix.f_mul(&scale)?.f_contiguous()?, bias })
    }

    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor, TorchError> {
        Ok(self.bias.f_addmm(x, &self.matrix)?)
    }

    pub(super) fn to_kind(&self, kind: Kind) -> Result<Self, TorchError> {
        Ok(Self { matrix: self.matrix.f_to_kind(kind)?, bias: self.bias.f_to_kind(kind)? })
    }
}

/// A batch normalisation as a factor and a bias.
pub(crate) fn fold(views: &Views, name: &str) -> Result<(Tensor, Tensor), TorchError> {
    let part = |part: &str| views.get(&format!("{name}.{part}"));
    let scale = part("weight")?.f_div(&part("var")?.f_add_scalar(BATCH_NORM_EPSILON)?.f_sqrt()?)?;
    let bias = part("bias")?.f_sub(&part("mean")?.f_mul(&scale)?)?;
    Ok((scale, bias))
}

/// The policy planes of one mask.
pub(super) struct PlaneHead {
    pub(super) mask: PlaneMask,
    pub(super) map: Map,
    /// Where each logit stands in a row of the output.
    pub(super) columns: Vec<u32>,
    /// Numbers in a row of the output: logits, win, loss, unfinished, plays left.
    pub(super) width: usize,
}

impl PlaneHead {
    pub(super) fn new(views: &Views, mask: PlaneMask, device: Device) -> Result<Self, TorchError> {
        let planes: Vec<i64> = mask.iter().map(|plane| plane as i64).collect();
        let planes = Tensor::f_from_slice(&planes)?.f_to(device)?;
        let Map { matrix, bias } = Map::new(views, "policy.planes")?;
        let map = Map {
            matrix: matrix.f_index_select(1, &planes)?,
            bias: bias.f_index_select(0, &planes)?,
        };
        let width = PLANE_SPOTS * mask.len() + POLICY_GLOBALS + 4;
        Ok(Self { mask, map, columns: Forward::logit_column(mask), width })
    }

    pub(super) fn cast(self, kind: Kind) -> Result<Self, TorchError> {
        Ok(Self { map: self.map.to_kind(kind)?, ..self })
    }
}

/// The folded network, but for the policy planes.
pub(super) struct Weights {
    pub(super) stem: Map,
    pub(super) stem_globals: Tensor,
    pub(super) blocks: Vec<Block>,
    pub(super) policy: Map,
    pub(super) policy_pool: Map,
    pub(super) policy_globals: Map,
    pub(super) value: Map,
    pub(super) value_hidden: Map,
    pub(super) outcome: Map,
    pub(super) plays_left: Map,
}

pub(super) struct Block {
    pub(super) first: Map,
    pub(super) second: Tensor,
    /// From the pooled first half, or nothing, to the bias of the second.
    pub(super) pool: Option<Tensor>,
    pub(super) bias: Tensor,
}

impl Weights {
    pub(super) fn new(views: &Views, architecture: &Architecture) -> Result<Self, TorchError> {
        let (scale, _) = fold(views, "stem.bn")?;
        let block = |i: usize| -> Result<Block, TorchError> {
            let name = |part: &str| format!("blocks.{i}.{part}");
            let second = Map::folded(views, &name("conv2.weight"), &name("bn2"))?;
            let pool = architecture.global_pooling.then(|| views.get(&name("pool.weight")));
            Ok(Block {
                first: Map::folded(views, &name("conv1.weight"), &name("bn1"))?,
                second: second.matrix,
                pool: pool
                    .map(|weight| Ok::<_, TorchError>(weight?.f_tr()?.f_contiguous()?))
                    .transpose()?,
                bias: second.bias,
            })
        };
        Ok(Self {
            stem: Map::folded(views, "stem.conv.weight", "stem.bn")?,
            stem_globals: views
                .get("stem.globals.weight")?
                .f_tr()?
                .f_mul(&scale)?
                .f_contiguous()?,
            blocks: (0..architecture.blocks).map(block).collect::<Result<_, _>>()?,
            policy: Map::folded(views, "policy.conv.weight", "policy.bn")?,
            policy_pool: Map::new(views, "policy.pool")?,
            policy_globals: Map::new(views, "policy.globals")?,
            value: Map::folded(views, "value.conv.weight", "value.bn")?,
            value_hidden: Map::new(views, "value.hidden")?,
            outcome: Map::new(views, "value.outcome")?,
            plays_left: Map::new(views, "value.plays_left")?,
        })
    }

    pub(super) fn to_kind(&self, kind: Kind) -> Result<Self, TorchError> {
        let block = |block: &Block| -> Result<Block, TorchError> {
            Ok(Block {
                first: block.first.to_kind(kind)?,
                second: block.second.f_to_kind(kind)?,
                pool: block.pool.as_ref().map(|pool| pool.f_to_kind(kind)).transpose()?,
                bias: block.bias.f_to_kind(kind)?,
            })
        };
        Ok(Self {
            stem: self.stem.to_kind(kind)?,
            stem_globals: self.stem_globals.f_to_kind(kind)?,
            blocks: self.blocks.iter().map(block).collect::<Result<_, _>>()?,
            policy: self.policy.to_kind(kind)?,
            policy_pool: self.policy_pool.to_kind(kind)?,
            policy_globals: self.policy_globals.to_kind(kind)?,
            value: self.value.to_kind(kind)?,
            value_hidden: self.value_hidden.to_kind(kind)?,
            outcome: self.outcome.to_kind(kind)?,
            plays_left: self.plays_left.to_kind(kind)?,
        })
    }
}
