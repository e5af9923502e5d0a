//! A network as a TorchScript module, for programs that have libtorch and not this project.

use std::path::Path;

use gipf_core::Spot;
use gipf_model::{Checkpoint, GLOBALS, PLANES, PLAYS_LEFT_SCALE, POLICY_PLANES};
use tch::{CModule, Device, Kind, Tensor};

use crate::error::TorchError;
use crate::grid::{Grid, SIDE, cell};
use crate::net::TorchNet;
use crate::parameters::Views;

/// Positions of the batch that the module is traced with; it takes any.
const TRACED: i64 = 2;

/// Writes a checkpoint's network as a TorchScript module. Its `forward(planes, globals)` takes what docs/ONNX.md describes, `[b, PLANES, 7, 7]`
/// and `[b, GLOBALS]`, and returns a tuple of `policy` `[b, POLICY_SIZE]`, `value` `[b, 3]` and `plays_left` `[b, 1]`. Auxiliary heads are left out.
///
/// # Errors
/// libtorch refuses the network or cannot write the file.
pub fn save_script(checkpoint: &Checkpoint, path: &Path) -> Result<(), TorchError> {
    let _no_grad = tch::no_grad_guard();
    let net = TorchNet::from_checkpoint(checkpoint, Device::Cpu)?;
    let views = Views::new(&net.layout, &net.trained, &net.running)?;
    let planes: Vec<i64> = (0..POLICY_PLANES as i64).collect();
    let network = Grid::new(&views, checkpoint, &planes, false)?;
    let spots: Vec<i64> = Spot::ALL.iter().map(|&spot| cell(spot) as i64).collect();
    let spots = Tensor::f_from_slice(&spots)?;
    let options = (Kind::Float, Device::Cpu);
    let inputs = [
        Tensor::f_zeros([TRACED, PLANES as i64, SIDE, SIDE], options)?,
        Tensor::f_zeros([TRACED, GLOBALS as i64], options)?,
    ];
    let forward = |inputs: &[Tensor]| -> Result<Vec<Tensor>, TorchError> {
        let outputs = network.outputs(&inputs[0], &inputs[1])?;
        let planes = outputs.planes.f_flatten(2, 3)?.f_index_select(2, &spots)?.f_flatten(1, 2)?;
        let policy = Tensor::f_cat(&[planes, outputs.globals], 1)?;
        let plays_left = outputs.plays_left.f_mul_scalar(f64::from(PLAYS_LEFT_SCALE))?;
        Ok(vec![policy, outputs.outcome, plays_left])
    };
    // The closure cannot fail: what went wrong is looked at afterwards.
    let mut failed = None;
    let mut traced = |inputs: &[Tensor]| {
        forward(inputs).unwrap_or_else(|error| {
            failed = Some(error);
            vec![inputs[1].shallow_clone()]
        })
    };
    let module = CModule::create_by_tracing("Gipf", "forward", &inputs, &mut traced)?;
    match failed {
        Some(error) => Err(error),
        None => Ok(module.save(path)?),
    }
}
