//! A network's tensors as two flat ones: the trained parameters, those that decay first, and the running statistics.
//!
//! One flat tensor makes the optimizer and the averaged weights a handful of operations whatever the network's depth, and the
//! gradients of all parts come back as one concatenation.

use std::collections::{BTreeMap, HashMap};

use gipf_model::{Architecture, Tensor as HostTensor, TensorSpec};
use tch::{Device, Kind, Tensor};

use crate::error::TorchError;

/// Where each tensor of an architecture lies.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) architecture: Architecture,
    /// The trained tensors in the order of their places, decayed ones first.
    pub(crate) trained: Vec<TensorSpec>,
    /// The running statistics in the order of their places.
    pub(crate) running: Vec<TensorSpec>,
    /// Elements of the trained tensors that decay.
    pub(crate) decayed: i64,
}

impl Layout {
    pub(crate) fn new(architecture: Architecture) -> Self {
        let (mut trained, running): (Vec<_>, Vec<_>) =
            architecture.tensors().into_iter().partition(|spec| spec.kind.is_trained());
        trained.sort_by_key(|spec| !spec.kind.decays());
        let decayed =
            trained.iter().filter(|spec| spec.kind.decays()).map(|spec| spec.len() as i64).sum();
        Self { architecture, trained, running, decayed }
    }

    /// Packs the trained tensors, or any others of their names and shapes.
    pub(crate) fn pack_trained(
        &self,
        tensors: &BTreeMap<String, HostTensor>,
        prefix: &str,
    ) -> Result<Vec<f32>, String> {
        pack(&self.trained, tensors, prefix)
    }

    pub(crate) fn pack_running(
        &self,
        tensors: &BTreeMap<String, HostTensor>,
        prefix: &str,
    ) -> Result<Vec<f32>, String> {
        pack(&self.running, tensors, prefix)
    }

    /// The inverse of [`Self::pack_trained`].
    pub(crate) fn unpack_trained(
        &self,
        flat: &Tensor,
        prefix: &str,
        out: &mut BTreeMap<String, HostTensor>,
    ) -> Result<(), TorchError> {
        unpack(&self.trained, flat, prefix, out)
    }

    pub(crate) fn unpack_running(
        &self,
        flat: &Tensor,
        prefix: &str,
        out: &mut BTreeMap<String, HostTensor>,
    ) -> Result<(), TorchError> {
        unpack(&self.running, flat, prefix, out)
    }
}

fn pack(
    specs: &[TensorSpec],
    tensors: &BTreeMap<String, HostTensor>,
    prefix: &str,
) -> Result<Vec<f32>, String> {
    let mut flat = Vec::new();
    for spec in specs {
        let name = format!("{prefix}{}", spec.name);
        let tensor = tensors.get(&name).ok_or_else(|| format!("tensor '{name}' is missing"))?;
        if tensor.shape != spec.shape || tensor.data.len() != spec.len() {
            return Err(format!(
                "tensor '{name}' has shape {:?} instead of {:?}",
                tensor.shape, spec.shape
            ));
        }
        flat.extend_from_slice(&tensor.data);
    }
    Ok(flat)
}

fn unpack(
    specs: &[TensorSpec],
    flat: &Tensor,
    prefix: &str,
    out: &mut BTreeMap<String, HostTensor>,
) -> Result<(), TorchError> {
    let values = to_host(flat)?;
    let mut rest = values.as_slice();
    for spec in specs {
        let (data, tail) = rest.split_at(spec.len());
        rest = tail;
        out.insert(
            format!("{prefix}{}", spec.name),
            HostTensor { shape: spec.shape.clone(), data: data.to_vec() },
        );
    }
    Ok(())
}

/// A tensor's f32 values in memory.
pub(crate) fn to_host(tensor: &Tensor) -> Result<Vec<f32>, TorchError> {
    let tensor = tensor
        .f_detach()?
        .f_to(Device::Cpu)?
        .f_to_dtype(Kind::Float, false, false)?
        .f_contiguous()?;
    let mut values = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut values, tensor.numel())?;
    Ok(values)
}

/// A network's tensors by name, cut from flat ones; gradients flow back into these.
pub(crate) struct Views(HashMap<String, Tensor>);

impl Views {
    pub(crate) fn new(
        layout: &Layout,
        trained: &Tensor,
        running: &Tensor,
    ) -> Result<Self, TorchError> {
        let mut views = HashMap::new();
        for (specs, flat) in [(&layout.trained, trained), (&layout.running, running)] {
            let sizes: Vec<i64> = specs.iter().map(|spec| spec.len() as i64).collect();
            for (spec, part) in specs.iter().zip(flat.f_split_with_sizes(&sizes[..], 0)?) {
                let shape: Vec<i64> = spec.shape.iter().map(|&n| n as i64).collect();
                views.insert(spec.name.clone(), part.f_reshape(&shape[..])?);
            }
        }
        Ok(Self(views))
    }

    /// The tensor of this name.
    pub(crate) fn get(&self, name: &str) -> Result<&Tensor, TorchError> {
        self.0
            .get(name)
            .ok_or_else(|| TorchError::Torch(format!("the network has no tensor '{name}'")))
    }
}
