//! Devices by name, and the number of threads.

use tch::{Cuda, Device};

use crate::error::TorchError;

/// The device of a name: `cpu`, `cuda` (the first), `cuda:N`, or `auto`: the first CUDA device if there is one, else the CPU.
pub fn device_from_name(name: &str) -> Result<Device, TorchError> {
    let refused =
        |reason: String| TorchError::Device { name: name.chars().take(40).collect(), reason };
    let index = match name {
        "cpu" => return Ok(Device::Cpu),
        "auto" => return Ok(Device::cuda_if_available()),
        "cuda" => 0,
        _ => {
            let index = name.strip_prefix("cuda:").and_then(|digits| digits.parse::<u16>().ok());
            usize::from(index.ok_or_else(|| refused("not cpu, cuda, cuda:N or auto".to_owned()))?)
        }
    };
    if !Cuda::is_available() {
        return Err(refused("this libtorch finds no CUDA device".to_owned()));
    }
    let count = usize::try_from(Cuda::device_count()).unwrap_or(0);
    if index >= count {
        return Err(refused(format!("there are only {count} CUDA devices")));
    }
    Ok(Device::Cuda(index))
}

/// The name of a device, as [`device_from_name`] reads it.
pub fn device_name(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".to_owned(),
        Device::Cuda(index) => format!("cuda:{index}"),
        Device::Mps => "mps".to_owned(),
        Device::Vulkan => "vulkan".to_owned(),
    }
}

/// Sets how many threads one operation of libtorch may use when the calling thread asks for it; 0 leaves it as it is.
pub fn set_threads(threads: usize) {
    let threads = i32::try_from(threads).unwrap_or(i32::MAX);
    if threads > 0 && tch::get_num_threads() != threads {
        tch::set_num_threads(threads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(device_from_name("cpu").ok(), Some(Device::Cpu));
        assert!(device_from_name("auto").is_ok());
        for name in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99", "CPU"] {
            let error = device_from_name(name).expect_err(name).to_string();
            assert!(error.starts_with(&format!("device '{name}': ")), "{error}");
        }
        assert_eq!(device_name(Device::Cuda(3)), "cuda:3");
    }
}
