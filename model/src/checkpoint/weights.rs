//! How a network's weights are stored: in 32 bits, in 16, or as the bytes that the int8 kernels multiply.
//!
//! The weights of the layers that int8 computes with bytes ([`read_place`]) are stored as
//!
//! ```text
//! b[out][in][tap] = round(w[out][in][tap] * range[in] / scale[out])      -127 to 127, range from the calibration
//! scale[out]      = max over in, tap of |w * range| / 127                in the tensor NAME.scales
//! ```
//!
//! which are the kernels' own bytes, since these do not change when an output's weights are all multiplied by one number, as the
//! batch normalisation's factor does. So an int8 evaluator computes the same from the file as from the weights it was made of, but for what
//! the 16 bits of the other tensors round. A scale is rounded to 16 bits behind its first so that reading and writing again gives the same file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CALIBRATION, CheckpointHeader, CheckpointProblem};
use crate::native::Calibration;
use crate::tensor_file::{NumberFormat, Tensor, TensorFile};

/// What is added to a tensor's name for its scales'.
const SCALES: &str = ".scales";
/// The largest byte.
const LARGEST: f32 = 127.0;

/// How a checkpoint's weights are stored; in memory all are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightFormat {
    /// All tensors as 32-bit floats: what training writes.
    #[default]
    F32,
    /// Tensors of two or more dimensions as IEEE 754 half precision, the others as 32-bit floats.
    F16,
    /// As [`WeightFormat::F16`], but the layers that int8 evaluators compute with bytes as these bytes, with a scale for each output. It
    /// needs a calibration.
    Int8,
}

/// The place of the calibration that a tensor's layer reads from, for the layers that int8 evaluators compute with bytes.
fn read_place(header: &CheckpointHeader, name: &str) -> Option<usize> {
    let blocks = header.architecture.blocks;
    if matches!(name, "policy.conv.weight" | "value.conv.weight") {
        return Some(2 * blocks);
    }
    let (block, layer) = name.strip_prefix("blocks.")?.split_once('.')?;
    let half = match layer {
        "conv1.weight" => 0,
        "conv2.weight" => 1,
        _ => return None,
    };
    block.parse().ok().filter(|block| *block < blocks).map(|block: usize| 2 * block + half)
}

/// How a tensor of the network is stored.
fn format_of(header: &CheckpointHeader, name: &str, shape: &[usize]) -> NumberFormat {
    match header.weights {
        WeightFormat::Int8 if read_place(header, name).is_some() => NumberFormat::I8,
        WeightFormat::F16 | WeightFormat::Int8 if shape.len() >= 2 => NumberFormat::F16,
        _ => NumberFormat::F32,
    }
}

/// The tensor whose scales are stored under this name.
fn scaled<'a>(header: &CheckpointHeader, name: &'a str) -> Option<&'a str> {
    let base = name.strip_suffix(SCALES)?;
    (header.weights == WeightFormat::Int8 && read_place(header, base).is_some()).then_some(base)
}

/// Whether a stored tensor is one of the network, and not one that says how to read it.
pub(super) fn is_network(header: &CheckpointHeader, name: &str) -> bool {
    name != CALIBRATION && scaled(header, name).is_none()
}

/// Whether the tensors of a file, of which those of the network have their shapes, are stored as the header says.
pub(super) fn check_formats(
    header: &CheckpointHeader,
    shapes: &[(String, Vec<usize>)],
    formats: &BTreeMap<String, NumberFormat>,
) -> Result<(), CheckpointProblem> {
    let mut scales = 0;
    for (name, shape) in shapes {
        let found = formats.get(name).copied().unwrap_or_default();
        let expected = if is_network(header, name) {
            format_of(header, name, shape)
        } else {
            NumberFormat::F32
        };
        if found != expected {
            return Err(CheckpointProblem::Header(format!("does not say how '{name}' is stored")));
        }
        if let Some(base) = scaled(header, name) {
            scales += 1;
            let outputs = shapes.iter().find(|(name, _)| name == base).map(|(_, shape)| shape[0]);
            if shape.len() != 1 || Some(shape[0]) != outputs {
                return Err(CheckpointProblem::Shape {
                    name: name.clone(),
                    found: shape.clone(),
                    expected: outputs.into_iter().collect(),
                    architecture: header.architecture.to_string(),
                });
            }
        }
    }
    let bytes = shapes.iter().filter(|(name, shape)| {
        is_network(header, name) && format_of(header, name, shape) == NumberFormat::I8
    });
    // All scales are those of a tensor in bytes: as many are enough.
    if bytes.clone().count() != scales {
        let has = |name: &str| shapes.iter().any(|(other, _)| other == name);
        let missing = bytes.map(|(name, _)| format!("{name}{SCALES}")).find(|name| !has(name));
        return Err(CheckpointProblem::Missing(missing.unwrap_or_default()));
    }
    Ok(())
}

/// The tensors as they are stored, the calibration among them.
pub(super) fn stored(
    header: &CheckpointHeader,
    tensors: &BTreeMap<String, Tensor>,
    calibration: Option<&Calibration>,
) -> Result<TensorFile, CheckpointProblem> {
    let mut file = TensorFile::default();
    for (name, tensor) in tensors {
        let format = format_of(header, name, &tensor.shape);
        let mut tensor = tensor.clone();
        if let (NumberFormat::I8, Some(place)) = (format, read_place(header, name)) {
            let calibration = calibration.ok_or(CheckpointProblem::Uncalibrated)?;
            let scales = to_bytes(&mut tensor, calibration, place);
            file.tensors.insert(format!("{name}{SCALES}"), scales);
        }
        if format != NumberFormat::F32 {
            file.formats.insert(name.clone(), format);
        }
        file.tensors.insert(name.clone(), tensor);
    }
    if let Some(calibration) = calibration {
        file.tensors.insert(CALIBRATION.to_owned(), calibration.as_tensor().clone());
    }
    Ok(file)
}

/// The network's tensors and its calibration from those of a file, whose shapes and formats have been checked.
pub(super) fn restored(
    header: &CheckpointHeader,
    mut tensors: BTreeMap<String, Tensor>,
) -> Result<(BTreeMap<String, Tensor>, Option<Calibration>), CheckpointProblem> {
    let calibration = tensors
        .remove(CALIBRATION)
        .map(|tensor| Calibration::from_tensor(&header.architecture, tensor))
        .transpose()?;
    let names: Vec<String> =
        tensors.keys().filter(|name| !is_network(header, name)).cloned().collect();
    for name in names {
        let (Some(base), Some(scales)) = (scaled(header, &name), tensors.remove(&name)) else {
            continue;
        };
        let (Some(place), Some(tensor)) = (read_place(header, base), tensors.get_mut(base)) else {
            continue;
        };
        let calibration = calibration.as_ref().ok_or(CheckpointProblem::Uncalibrated)?;
        from_bytes(tensor, &scales.data, calibration, place);
    }
    Ok((tensors, calibration))
}

/// The numbers of one output of a layer, each with its input's range.
fn with_ranges<'a>(
    row: &'a mut [f32],
    ranges: &'a [f32],
) -> impl Iterator<Item = (&'a mut f32, f32)> {
    let taps = row.len() / ranges.len().max(1);
    row.iter_mut().enumerate().map(move |(at, value)| (value, ranges[at / taps.max(1)]))
}

/// Makes a layer's weights `[out, in, …]` bytes, and returns the outputs' scales.
fn to_bytes(tensor: &mut Tensor, calibration: &Calibration, place: usize) -> Tensor {
    let (outputs, inputs) = (tensor.shape[0], tensor.shape[1]);
    let ranges = calibration.ranges(place, inputs);
    let mut scales = Vec::with_capacity(outputs);
    for row in tensor.data.chunks_mut((tensor.shape.iter().product::<usize>() / outputs).max(1)) {
        let products = with_ranges(row, &ranges).map(|(weight, range)| (*weight * range).abs());
        let scale = short(products.fold(0.0, f32::max) / LARGEST);
        for (weight, range) in with_ranges(row, &ranges) {
            let byte = if scale > 0.0 { (*weight * range / scale).round() } else { 0.0 };
            *weight = byte.clamp(-LARGEST, LARGEST);
        }
        scales.push(scale);
    }
    Tensor { shape: vec![outputs], data: scales }
}

/// The weights that these bytes stand for.
fn from_bytes(tensor: &mut Tensor, scales: &[f32], calibration: &Calibration, place: usize) {
    let ranges = calibration.ranges(place, tensor.shape[1]);
    let length = tensor.shape.iter().product::<usize>() / scales.len().max(1);
    for (row, scale) in tensor.data.chunks_mut(length.max(1)).zip(scales) {
        for (weight, range) in with_ranges(row, &ranges) {
            *weight *= scale / range;
        }
    }
}

/// The nearest number with 16 bits behind the first: a product of it with a byte is exact, and what is computed back from rounded
/// products is nearest to the same one.
fn short(value: f32) -> f32 {
    f32::from_bits(value.to_bits().saturating_add(1 << 6) & !0x7f)
}
