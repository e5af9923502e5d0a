//! The network as libtorch is commonly given it: 3x3 convolutions on the 7x7 axial grid, folded and masked. For comparisons.
//!
//! The gather form of [`TorchEvaluator`](crate::TorchEvaluator) saves the multiplications with cells that are no spots; this one has
//! libtorch's own convolutions instead. Which is faster depends on the machine, so `gipf bench eval` measures all of them.

use gipf_core::Spot;
use gipf_model::{
    Checkpoint, EvalError, Evaluation, Evaluator, Features, GLOBALS, PLANE_SPOTS, PLANES,
    PLAYS_LEFT_SCALE, POLICY_GLOBALS, PlaneMask, TAPS, check_lengths,
};
use tch::{CModule, Device, Kind, Tensor};

use crate::device::set_threads;
use crate::error::TorchError;
use crate::evaluator::mask_of;
use crate::folded::fold;
use crate::hexagon::KERNEL;
use crate::net::TorchNet;
use crate::parameters::Views;

/// Side of the grid, and its cells.
pub(crate) const SIDE: i64 = 7;
const CELLS: usize = (SIDE * SIDE) as usize;

/// In which form libtorch gets the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridForm {
    /// Channels are the outer dimension in memory.
    Plain,
    /// Channels are the inner dimension in memory.
    ChannelsLast,
    /// Channels last, traced once for the batch's size and run by libtorch's interpreter.
    Traced,
}

impl GridForm {
    /// All forms.
    pub const ALL: [GridForm; 3] = [GridForm::Plain, GridForm::ChannelsLast, GridForm::Traced];
}

/// Evaluates with libtorch's convolutions on the CPU, on one thread.
pub struct GridEvaluator {
    form: GridForm,
    /// The policy planes that it computes.
    mask: PlaneMask,
    name: String,
    network: Grid,
    /// The traced module and its batch.
    traced: Option<(usize, CModule)>,
    input: Vec<f32>,
    globals: Vec<f32>,
    output: Vec<f32>,
    /// Where each logit stands in a row of the output.
    columns: Vec<usize>,
}

impl GridEvaluator {
    /// The evaluator of a checkpoint.
    ///
    /// # Errors
    /// libtorch refuses the network.
    pub fn new(checkpoint: &Checkpoint, form: GridForm) -> Result<Self, TorchError> {
        let _no_grad = tch::no_grad_guard();
        let net = TorchNet::from_checkpoint(checkpoint, Device::Cpu)?;
        let views = Views::new(&net.layout, &net.trained, &net.running)?;
        let mask = mask_of(&checkpoint.header.rules);
        let planes: Vec<i64> = mask.iter().map(|plane| plane as i64).collect();
        let mut columns = Vec::new();
        let mut slot = 0;
        for plane in 0..gipf_model::POLICY_PLANES {
            columns.extend(Spot::ALL.iter().map(|spot| slot * CELLS + cell(*spot)));
            slot += usize::from(mask.contains(plane));
        }
        columns.extend((0..POLICY_GLOBALS).map(|global| planes.len() * CELLS + global));
        Ok(Self {
            form,
            mask,
            name: format!("torch {form:?} {}", checkpoint.header.architecture),
            network: Grid::new(&views, checkpoint, &planes, form != GridForm::Plain)?,
            traced: None,
            input: Vec::new(),
            globals: Vec::new(),
            output: Vec::new(),
            columns,
        })
    }

    fn run(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), TorchError> {
        set_threads(1);
        if !batch.iter().all(|features| features.policy.planes().is_subset(self.mask)) {
            return Err(TorchError::Torch(
                "plays that the checkpoint's rules do not have".to_owned(),
            ));
        }
        let _no_grad = tch::no_grad_guard();
        self.input.clear();
        self.input.resize(batch.len() * CELLS * PLANES, 0.0);
        for (features, board) in batch.iter().zip(self.input.chunks_exact_mut(CELLS * PLANES)) {
            for (plane, spots) in features.planes.iter().enumerate() {
                spots.iter().for_each(|spot| board[cell(spot) * PLANES + plane] = 1.0);
            }
        }
        self.globals.clear();
        self.globals.extend(batch.iter().flat_map(|features| features.globals));
        let planes = Tensor::f_from_slice(&self.input)?
            .f_reshape([-1, SIDE, SIDE, PLANES as i64])?
            .f_permute([0, 3, 1, 2])?;
        let planes = if self.form == GridForm::Plain { planes.f_contiguous()? } else { planes };
        let globals = Tensor::f_from_slice(&self.globals)?.f_reshape([-1, GLOBALS as i64])?;
        let rows = match self.form {
            GridForm::Traced => self.traced(&planes, &globals, batch.len())?,
            _ => self.network.forward(&planes, &globals)?,
        };
        let rows = rows.f_contiguous()?;
        self.output.resize(rows.numel(), 0.0);
        rows.f_copy_data(&mut self.output, rows.numel())?;
        let width = rows.numel() / batch.len().max(1);
        for ((features, row), out) in batch.iter().zip(self.output.chunks_exact(width)).zip(out) {
            let logit = |index: u16| row[self.columns[usize::from(index)]];
            features.policy.logits_with(logit, &mut out.logits);
            let [.., win, loss, unfinished, plays_left] = *row else { continue };
            out.value = [win, loss, unfinished];
            out.plays_left = plays_left * PLAYS_LEFT_SCALE;
        }
        Ok(())
    }

    fn traced(
        &mut self,
        planes: &Tensor,
        globals: &Tensor,
        batch: usize,
    ) -> Result<Tensor, TorchError> {
        if self.traced.as_ref().is_none_or(|(traced, _)| *traced != batch) {
            let inputs = [planes.shallow_clone(), globals.shallow_clone()];
            let network = &self.network;
            let mut failed = None;
            let mut forward = |inputs: &[Tensor]| match network.forward(&inputs[0], &inputs[1]) {
                Ok(rows) => vec![rows],
                Err(error) => {
                    failed = Some(error);
                    vec![inputs[1].shallow_clone()]
                }
            };
            let module = CModule::create_by_tracing("Grid", "forward", &inputs, &mut forward)?;
            if let Some(error) = failed {
                return Err(error);
            }
            self.traced = Some((batch, module));
        }
        match &self.traced {
            Some((_, module)) => Ok(module.method_ts("forward", &[planes, globals])?),
            None => self.network.forward(planes, globals),
        }
    }
}

impl Evaluator for GridEvaluator {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        check_lengths(batch, out)?;
        if batch.is_empty() {
            return Ok(());
        }
        self.run(batch, out)
            .map_err(|error| EvalError::Backend { name: self.name(), message: error.to_string() })
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The cell of a spot in the grid.
pub(crate) fn cell(spot: Spot) -> usize {
    (i64::from(spot.x()) * SIDE + i64::from(spot.y())) as usize
}

/// A convolution, or a map of rows, with its bias.
struct Map {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Map {
    /// A weight `[out, in, TAPS]` or `[out, in]` followed by a batch normalisation, as a convolution.
    fn convolution(
        views: &Views,
        weight: &str,
        norm: &str,
        channels_last: bool,
    ) -> Result<Map, TorchError> {
        let weight = views.get(weight)?;
        let (scale, bias) = fold(views, norm)?;
        let kernel = if weight.dim() == 3 { kernel(weight)? } else { one_by_one(weight)? };
        let kernel = kernel.f_mul(&scale.f_reshape([-1, 1, 1, 1])?)?;
        Ok(Map { weight: laid_out(kernel, channels_last)?, bias: Some(bias) })
    }

    fn linear(views: &Views, name: &str) -> Result<Map, TorchError> {
        let weight = views.get(&format!("{name}.weight"))?.shallow_clone();
        Ok(Map { weight, bias: Some(views.get(&format!("{name}.bias"))?.shallow_clone()) })
    }

    fn convolve(&self, x: &Tensor) -> Result<Tensor, TorchError> {
        let pad = (self.weight.size()[2] - 1) / 2;
        Ok(x.f_conv2d(&self.weight, self.bias.as_ref(), [1, 1], [pad, pad], [1, 1], 1)?)
    }

    fn map(&self, x: &Tensor) -> Result<Tensor, TorchError> {
        Ok(x.f_linear(&self.weight, self.bias.as_ref())?)
    }

    /// The same, for a bias of every cell.
    fn map_to_cells(&self, x: &Tensor) -> Result<Tensor, TorchError> {
        Ok(self.map(x)?.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
    }
}

/// `[out, in, TAPS]` as `[out, in, 3, 3]`.
fn kernel(weight: &Tensor) -> Result<Tensor, TorchError> {
    let size = weight.size();
    let zero = Tensor::f_zeros([size[0], size[1], 1], (Kind::Float, Device::Cpu))?;
    debug_assert_eq!(size[2], TAPS as i64);
    Ok(Tensor::f_cat(&[weight, &zero], 2)?
        .f_index_select(2, &Tensor::f_from_slice(&KERNEL)?)?
        .f_reshape([size[0], size[1], 3, 3])?)
}

fn one_by_one(weight: &Tensor) -> Result<Tensor, TorchError> {
    Ok(weight.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
}

/// The same numbers with the channels where they should be in memory.
fn laid_out(x: Tensor, channels_last: bool) -> Result<Tensor, TorchError> {
    if channels_last {
        Ok(x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
    } else {
        Ok(x.f_contiguous()?)
    }
}

struct Block {
    first: Map,
    second: Map,
    pool: Option<Map>,
}

/// The folded network on the grid.
pub(crate) struct Grid {
    /// 1 where a spot is: `[1, 1, 7, 7]`.
    mask: Tensor,
    stem: Map,
    stem_globals: Map,
    blocks: Vec<Block>,
    policy: Map,
    policy_pool: Map,
    policy_planes: Map,
    policy_globals: Map,
    value: Map,
    value_hidden: Map,
    outcome: Map,
    plays_left: Map,
}

/// What it says of a batch of `b` positions.
pub(crate) struct GridOutputs {
    /// Logits of the chosen planes by cell: `[b, planes, 7, 7]`.
    pub(crate) planes: Tensor,
    /// The global logits: `[b, POLICY_GLOBALS]`.
    pub(crate) globals: Tensor,
    /// Win, loss, unfinished: `[b, 3]`.
    pub(crate) outcome: Tensor,
    /// Plays left in units of `PLAYS_LEFT_SCALE`: `[b, 1]`.
    pub(crate) plays_left: Tensor,
}

impl Grid {
    /// The network with these policy planes; `last`: channels innermost in memory.
    pub(crate) fn new(
        views: &Views,
        checkpoint: &Checkpoint,
        planes: &[i64],
        last: bool,
    ) -> Result<Grid, TorchError> {
        let architecture = checkpoint.header.architecture;
        let mut spots = [0.0_f32; CELLS];
        Spot::ALL.iter().for_each(|spot| spots[cell(*spot)] = 1.0);
        let convolution = |weight: &str, norm: &str| Map::convolution(views, weight, norm, last);
        let block = |i: usize| -> Result<Block, TorchError> {
            let name = |part: &str| format!("blocks.{i}.{part}");
            let pool = architecture.global_pooling.then(|| views.get(&name("pool.weight")));
            let pool =
                pool.transpose()?.map(|weight| Map { weight: weight.shallow_clone(), bias: None });
            Ok(Block {
                first: convolution(&name("conv1.weight"), &name("bn1"))?,
                second: convolution(&name("conv2.weight"), &name("bn2"))?,
                pool,
            })
        };
        let (stem_scale, _) = fold(views, "stem.bn")?;
        let stem_globals = views.get("stem.globals.weight")?.f_mul(&stem_scale.f_unsqueeze(1)?)?;
        let all = Map::linear(views, "policy.planes")?;
        let chosen = Tensor::f_from_slice(planes)?;
        let weight = one_by_one(&all.weight.f_index_select(0, &chosen)?)?;
        let bias = all.bias.map(|bias| bias.f_index_select(0, &chosen)).transpose()?;
        Ok(Grid {
            mask: Tensor::f_from_slice(&spots)?.f_reshape([1, 1, SIDE, SIDE])?,
            stem: convolution("stem.conv.weight", "stem.bn")?,
            stem_globals: Map { weight: stem_globals, bias: None },
            blocks: (0..architecture.blocks).map(block).collect::<Result<_, _>>()?,
            policy: convolution("policy.conv.weight", "policy.bn")?,
            policy_pool: Map::linear(views, "policy.pool")?,
            policy_planes: Map { weight: laid_out(weight, last)?, bias },
            policy_globals: Map::linear(views, "policy.globals")?,
            value: convolution("value.conv.weight", "value.bn")?,
            value_hidden: Map::linear(views, "value.hidden")?,
            outcome: Map::linear(views, "value.outcome")?,
            plays_left: Map::linear(views, "value.plays_left")?,
        })
    }

    /// Rectified, and 0 where no spot is.
    fn on_spots(&self, x: Tensor) -> Result<Tensor, TorchError> {
        Ok(x.f_relu()?.f_mul(&self.mask)?)
    }

    /// Mean and largest over the spots. What is rectified is never below the zeros of the other cells.
    fn pool(x: &Tensor) -> Result<Tensor, TorchError> {
        let cells = [2_i64, 3];
        let sum = x.f_sum_dim_intlist(&cells[..], false, Kind::Float)?;
        let mean = sum.f_div_scalar(PLANE_SPOTS as f64)?;
        Ok(Tensor::f_cat(&[mean, x.f_amax(&cells[..], false)?], 1)?)
    }

    /// Each row of the result has the logits by plane and cell, the global ones, win, loss, unfinished and plays left.
    fn forward(&self, planes: &Tensor, globals: &Tensor) -> Result<Tensor, TorchError> {
        let GridOutputs { planes, globals, outcome, plays_left } = self.outputs(planes, globals)?;
        let planes = planes.f_contiguous()?.f_flatten(1, -1)?;
        Ok(Tensor::f_cat(&[planes, globals, outcome, plays_left], 1)?)
    }

    /// The network on a batch: `planes` `[b, PLANES, 7, 7]`, `globals` `[b, GLOBALS]`.
    pub(crate) fn outputs(
        &self,
        planes: &Tensor,
        globals: &Tensor,
    ) -> Result<GridOutputs, TorchError> {
        let stem = self.stem.convolve(planes)?.f_add(&self.stem_globals.map_to_cells(globals)?)?;
        let mut x = self.on_spots(stem)?;
        for block in &self.blocks {
            let h = self.on_spots(block.first.convolve(&x)?)?;
            let mut y = block.second.convolve(&h)?.f_add(&x)?;
            if let Some(pool) = &block.pool {
                y = y.f_add(&pool.map_to_cells(&Self::pool(&h)?)?)?;
            }
            x = self.on_spots(y)?;
        }
        let p = self.on_spots(self.policy.convolve(&x)?)?;
        let g = Self::pool(&p)?;
        let p = self.on_spots(p.f_add(&self.policy_pool.map_to_cells(&g)?)?)?;
        let planes = self.policy_planes.convolve(&p)?;
        let v = Self::pool(&self.on_spots(self.value.convolve(&x)?)?)?;
        let v = self.value_hidden.map(&Tensor::f_cat(&[&v, globals], 1)?)?.f_relu()?;
        let outcome = self.outcome.map(&v)?.f_softmax(-1, Kind::Float)?;
        let plays_left = self.plays_left.map(&v)?.f_softplus()?;
        Ok(GridOutputs { planes, globals: self.policy_globals.map(&g)?, outcome, plays_left })
    }
}
