//! How the numbers of a tensor are stored.

use half::f16;
use safetensors::Dtype;

/// How the numbers of a tensor are stored; in memory all are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberFormat {
    /// 32-bit floats.
    #[default]
    F32,
    /// IEEE 754 half precision: every number is rounded to one when it is written.
    F16,
    /// Whole numbers of -128 to 127: every number is rounded to one when it is written.
    I8,
}

impl NumberFormat {
    /// The format of a type of the safetensors format, if it is one of these.
    pub(super) fn of(dtype: Dtype) -> Option<NumberFormat> {
        match dtype {
            Dtype::F32 => Some(NumberFormat::F32),
            Dtype::F16 => Some(NumberFormat::F16),
            Dtype::I8 => Some(NumberFormat::I8),
            _ => None,
        }
    }

    /// What the safetensors format calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            NumberFormat::F32 => "F32",
            NumberFormat::F16 => "F16",
            NumberFormat::I8 => "I8",
        }
    }

    /// Bytes of a number.
    pub(super) const fn bytes(self) -> usize {
        match self {
            NumberFormat::F32 => 4,
            NumberFormat::F16 => 2,
            NumberFormat::I8 => 1,
        }
    }

    /// Appends the bytes of these numbers.
    pub(super) fn encode(self, values: &[f32], bytes: &mut Vec<u8>) {
        match self {
            NumberFormat::F32 => bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            NumberFormat::F16 => {
                bytes.extend(values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()));
            }
            // The conversion stops at the ends of the range.
            NumberFormat::I8 => {
                bytes.extend(values.iter().flat_map(|value| (value.round() as i8).to_le_bytes()));
            }
        }
    }

    /// Appends the numbers of these bytes, which hold whole numbers of them.
    pub(super) fn decode(self, bytes: &[u8], values: &mut Vec<f32>) {
        match self {
            NumberFormat::F32 => values.extend(
                bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            ),
            NumberFormat::F16 => {
                let numbers = bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]));
                values.extend(numbers.map(f32::from));
            }
            NumberFormat::I8 => {
                values.extend(bytes.iter().map(|&b| f32::from(i8::from_le_bytes([b]))));
            }
        }
    }
}
