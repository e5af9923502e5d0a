//! The board as tensors: `[batch, 37, channels]`, spots in the order of [`Spot::ALL`], columns one after the other.
//!
//! A convolution over a spot and its six neighbours is done in one of two ways with the same result up to rounding:
//! - *gather*: the seven rows of each spot side by side, then one matrix product; nothing is wasted, but its backward pass is slow;
//! - *grid*: a 3x3 convolution on the 7x7 grid of axial coordinates, whose two corners that are no neighbours are zero.

use gipf_core::{Direction, Spot};
use gipf_model::TAPS;
use tch::{Device, Kind, Tensor};

use crate::error::TorchError;

/// Spots of the board.
pub(crate) const SPOTS: i64 = 37;
/// Side of the axial grid.
const SIDE: i64 = 7;
/// Spots of each column of the grid, and how many cells of it lie below them.
const COLUMNS: [i64; 7] = [4, 5, 6, 7, 6, 5, 4];
const BELOW: [i64; 7] = [0, 0, 0, 0, 1, 2, 3];
/// The tap at each cell of the 3x3 kernel, `[dx + 1][dy + 1]`; [`TAPS`] stands for the zero at the two corners.
pub(crate) const KERNEL: [i64; 9] = [5, 6, TAPS as i64, 4, 0, 1, TAPS as i64, 3, 2];

/// Row numbers for a gather over `batch` boards whose rows follow a row of zeros: for each spot, itself and its neighbours in the
/// order of the taps. Shape `[batch * 37 * TAPS]`; the index of fewer boards is a prefix.
pub(crate) fn gather_index(batch: usize) -> Vec<i64> {
    let mut index = Vec::with_capacity(batch * Spot::ALL.len() * TAPS);
    for board in 0..batch {
        let row = |spot: Spot| (1 + board * Spot::ALL.len() + spot.index()) as i64;
        for spot in Spot::ALL {
            index.push(row(spot));
            index.extend(Direction::ALL.map(|direction| spot.step(direction).map_or(0, row)));
        }
    }
    index
}

/// A weight `[out, in, TAPS]` as the matrix `[TAPS * in, out]` of the gather form.
pub(crate) fn gather_matrix(weight: &Tensor) -> Result<Tensor, TorchError> {
    let out = weight.size().first().copied().unwrap_or(0);
    Ok(weight.f_permute([2, 1, 0])?.f_reshape([-1, out])?)
}

/// The convolution in the grid form: `x` `[batch, 37, in]`, `weight` `[out, in, TAPS]`, result `[batch, 37, out]`.
pub(crate) fn grid_conv(x: &Tensor, weight: &Tensor) -> Result<Tensor, TorchError> {
    let size = weight.size();
    let (out, inputs) = (size[0], size[1]);
    let zero = Tensor::f_zeros([out, inputs, 1], (Kind::Float, weight.device()))?;
    let cells = Tensor::f_from_slice(&KERNEL)?.f_to(weight.device())?;
    let kernel = Tensor::f_cat(&[weight, &zero], 2)?
        .f_index_select(2, &cells)?
        .f_reshape([out, inputs, 3, 3])?;
    // Channels stay innermost in memory: the permuted view is what libtorch calls channels-last.
    let grid = to_grid(x)?.f_permute([0, 3, 1, 2])?;
    let y = grid.f_conv2d(&kernel, None::<Tensor>, [1, 1], [1, 1], [1, 1], 1)?;
    from_grid(&y.f_permute([0, 2, 3, 1])?)
}

/// `[batch, 37, c]` to `[batch, 7, 7, c]`, zero where no spot is. Splits and pads rather than indexes: their backward passes are
/// plain copies.
fn to_grid(x: &Tensor) -> Result<Tensor, TorchError> {
    let columns = x.f_split_with_sizes(COLUMNS, 1)?;
    let padded = columns.iter().zip(COLUMNS).zip(BELOW).map(|((column, len), below)| {
        if len == SIDE {
            column.f_contiguous()
        } else {
            column.f_constant_pad_nd([0, 0, below, SIDE - len - below])
        }
    });
    Ok(Tensor::f_stack(&padded.collect::<Result<Vec<_>, _>>()?, 1)?)
}

/// The inverse of [`to_grid`].
fn from_grid(grid: &Tensor) -> Result<Tensor, TorchError> {
    let columns = grid.f_unbind(1)?;
    let spots = columns
        .iter()
        .zip(COLUMNS)
        .zip(BELOW)
        .map(|((column, len), below)| column.f_narrow(1, below, len));
    Ok(Tensor::f_cat(&spots.collect::<Result<Vec<_>, _>>()?, 1)?)
}

/// Mean and maximum over the spots, side by side: `[batch, 37, c]` to `[batch, 2c]`.
pub(crate) fn pool(x: &Tensor) -> Result<Tensor, TorchError> {
    let mean = x.f_mean_dim([1i64].as_slice(), false, x.kind())?;
    Ok(Tensor::f_cat(&[mean, x.f_amax([1i64].as_slice(), false)?], 1)?)
}

/// Bitboards `[batch, planes]` to `[batch, 37, planes]` of zeros and ones.
pub(crate) fn unpack(bits: &Tensor, device: Device) -> Result<Tensor, TorchError> {
    let shifts: Vec<i64> = Spot::ALL.iter().map(|spot| i64::from(spot.bit())).collect();
    let shifts = Tensor::f_from_slice(&shifts)?.f_to(device)?.f_reshape([1, SPOTS, 1])?;
    let bits = bits.f_to(device)?.f_unsqueeze(1)?;
    Ok(bits.f_bitwise_right_shift(&shifts)?.f_bitwise_and(1i64)?.f_to_dtype(
        Kind::Float,
        false,
        false,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_spots() {
        for spot in Spot::ALL {
            let x = spot.x() as usize;
            let before: i64 = COLUMNS[..x].iter().sum();
            assert_eq!(before + i64::from(spot.y()) - BELOW[x], spot.index() as i64, "{spot}");
        }
    }

    #[test]
    fn grid_and_gather_agree() {
        tch::manual_seed(1);
        let options = (Kind::Float, Device::Cpu);
        let x = Tensor::randn([3, SPOTS, 5], options);
        let weight = Tensor::randn([4, 5, TAPS as i64], options);
        let grid = grid_conv(&x, &weight).expect("a convolution");
        let rows = Tensor::cat(&[Tensor::zeros([1, 5], options), x.reshape([-1, 5])], 0);
        let taps =
            rows.index_select(0, &Tensor::from_slice(&gather_index(3))).reshape([3 * SPOTS, -1]);
        let gather = taps.matmul(&gather_matrix(&weight).expect("a matrix")).reshape([3, SPOTS, 4]);
        let difference = (&grid - gather).abs().max().double_value(&[]);
        assert!(difference < 1e-5, "{difference}");
    }

    #[test]
    fn unpacks_bits() {
        let bits = Spot::ALL.map(|spot| 1i64 << spot.bit());
        let unpacked =
            unpack(&Tensor::from_slice(&bits).reshape([1, SPOTS]), Device::Cpu).expect("planes");
        assert_eq!(
            unpacked.reshape([SPOTS, SPOTS]),
            Tensor::eye(SPOTS, (Kind::Float, Device::Cpu))
        );
    }
}
