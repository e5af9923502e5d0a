//! What the network does beside its products of matrices, written so that each kernel's vectors can do it.
//!
//! Loops run over blocks of [`PAD`] channels, one or two vectors each; the order of the additions is written out, so that the result
//! is the same with every kernel.

use super::kernel::{Cell, PAD, SPOTS, Work, neighbours};
use super::pack::Network;
use crate::features::{BOARD, Features, PLANES};
use crate::policy::{PLANE_SPOTS, POLICY_PLANES};
use gipf_core::{Spot, SpotSet};

/// Channels of one block.
type Channels = [f32; PAD];

/// `max(value, 0)` in a form that is one instruction.
#[inline(always)]
fn relu(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}

/// The first layer: what the globals give to every spot, and for each piece on a spot or beside it a row of weights.
pub(super) struct Stem<'a> {
    pub(super) network: &'a Network,
    pub(super) batch: &'a [Features],
    /// What the globals give: a row a position.
    pub(super) globals: &'a [f32],
    /// Rows a spot, without the row of zeros.
    pub(super) out: &'a mut [f32],
}

/// The most rows of weights that a spot can add: every plane at every tap.
pub(super) const MOST_ROWS: usize = crate::TAPS * PLANES;

impl Work for Stem<'_> {
    #[inline(always)]
    fn work(self) {
        let width = self.network.width;
        let positions = self.out.chunks_exact_mut(SPOTS * width);
        for ((features, globals), out) in
            self.batch.iter().zip(self.globals.chunks_exact(width)).zip(positions)
        {
            let whole = features.planes[BOARD] == SpotSet::ALL;
            let planes = planes_by_spot(&features.planes, whole);
            for (spot, out) in Spot::ALL.into_iter().zip(out.chunks_exact_mut(width)) {
                let mut rows = [0_u32; MOST_ROWS];
                let count = stem_rows(&planes, spot, width, &mut rows);
                let board =
                    whole.then(|| &self.network.stem_board[spot.index() * width..][..width]);
                add_rows::<true>(&self.network.stem, globals, board, &rows[..count], out);
            }
        }
    }
}

/// The rows of the stem's weights that a spot adds: one for each piece on it and beside it.
#[inline(always)]
pub(super) fn stem_rows(
    planes: &[u64; SPOTS + 1],
    spot: Spot,
    width: usize,
    rows: &mut [u32; MOST_ROWS],
) -> usize {
    let mut count = 0;
    for (tap, next) in neighbours(spot).iter().enumerate() {
        let mut planes = planes[usize::from(*next)];
        while planes != 0 {
            let plane = planes.trailing_zeros() as usize;
            planes &= planes - 1;
            rows[count] = ((tap * PLANES + plane) * width) as u32;
            count += 1;
        }
    }
    count
}

/// Per spot the planes that have it, one bit each, and a last entry of none for what is outside the board; without the plane of the
/// whole board where that is `whole`.
#[inline(always)]
pub(super) fn planes_by_spot(planes: &[SpotSet], whole: bool) -> [u64; SPOTS + 1] {
    const { assert!(PLANES <= 64) };
    let mut by_spot = [0; SPOTS + 1];
    for (plane, spots) in planes.iter().enumerate() {
        if !(whole && plane == BOARD) {
            spots.iter().for_each(|spot| by_spot[spot.index()] |= 1 << plane);
        }
    }
    by_spot
}

/// `out = start + board + rows of weights`, rectified if so wanted, up to four blocks of channels at a time.
#[inline(always)]
pub(super) fn add_rows<const RELU: bool>(
    weights: &[f32],
    start: &[f32],
    board: Option<&[f32]>,
    rows: &[u32],
    out: &mut [f32],
) {
    let width = out.len();
    let mut channel = 0;
    while channel < width {
        match (width - channel) / PAD {
            1 => add_blocks::<1, RELU>(weights, start, board, rows, channel, out),
            2 => add_blocks::<2, RELU>(weights, start, board, rows, channel, out),
            3 => add_blocks::<3, RELU>(weights, start, board, rows, channel, out),
            _ => add_blocks::<4, RELU>(weights, start, board, rows, channel, out),
        }
        channel += 4 * PAD;
    }
}

#[inline(always)]
fn add_blocks<const Z: usize, const RELU: bool>(
    weights: &[f32],
    start: &[f32],
    board: Option<&[f32]>,
    rows: &[u32],
    channel: usize,
    out: &mut [f32],
) {
    let mut sums: [Channels; Z] = blocks(start, channel);
    if let Some(board) = board {
        add(&mut sums, &blocks(board, channel));
    }
    for row in rows {
        add(&mut sums, &blocks(weights, *row as usize + channel));
    }
    for (z, sums) in sums.iter().enumerate() {
        let out = &mut out[channel + z * PAD..][..PAD];
        for i in 0..PAD {
            out[i] = if RELU { relu(sums[i]) } else { sums[i] };
        }
    }
}

/// `Z` blocks from `at` on.
#[inline(always)]
fn blocks<const Z: usize>(numbers: &[f32], at: usize) -> [Channels; Z] {
    let numbers = &numbers[at..][..Z * PAD];
    let mut blocks = [[0.0; PAD]; Z];
    for z in 0..Z {
        blocks[z].copy_from_slice(&numbers[z * PAD..][..PAD]);
    }
    blocks
}

#[inline(always)]
fn add<const Z: usize>(sums: &mut [Channels; Z], addends: &[Channels; Z]) {
    for z in 0..Z {
        for i in 0..PAD {
            sums[z][i] += addends[z][i];
        }
    }
}

/// Means, then largest, of each position's rows.
pub(super) struct Pool<'a> {
    /// Rows a spot, without the row of zeros.
    pub(super) rows: &'a [f32],
    pub(super) width: usize,
    /// A row a position: `width` means, `width` largest, and what else its length leaves.
    pub(super) out: &'a mut [f32],
    pub(super) out_stride: usize,
}

impl Work for Pool<'_> {
    #[inline(always)]
    fn work(self) {
        let Pool { rows, width, out, out_stride } = self;
        let positions = rows.chunks_exact(SPOTS * width).zip(out.chunks_exact_mut(out_stride));
        for (rows, out) in positions {
            for channel in (0..width).step_by(PAD) {
                let (mut sums, mut most) = ([0.0_f32; PAD], [f32::NEG_INFINITY; PAD]);
                for spot in 0..SPOTS {
                    let row = &rows[spot * width + channel..][..PAD];
                    for i in 0..PAD {
                        sums[i] += row[i];
                        most[i] = if row[i] > most[i] { row[i] } else { most[i] };
                    }
                }
                let means = sums.map(|sum| sum * (1.0 / SPOTS as f32));
                out[channel..][..PAD].copy_from_slice(&means);
                out[width + channel..][..PAD].copy_from_slice(&most);
            }
        }
    }
}

/// The same from cells.
pub(super) struct PoolCells<'a, C: Cell> {
    /// Rows a spot, without the row of zeros.
    pub(super) rows: &'a [C],
    /// A number a channel.
    pub(super) steps: &'a [f32],
    /// A row a position: a mean a channel, then the largest.
    pub(super) out: &'a mut [f32],
}

impl<C: Cell> Work for PoolCells<'_, C> {
    #[inline(always)]
    fn work(self) {
        let width = self.steps.len();
        let positions =
            self.rows.chunks_exact(SPOTS * width).zip(self.out.chunks_exact_mut(2 * width));
        for (rows, out) in positions {
            for channel in (0..width).step_by(PAD) {
                let (mut sums, mut most) = ([0_i32; PAD], [0_i32; PAD]);
                for spot in 0..SPOTS {
                    let row = &rows[spot * width + channel..][..PAD];
                    for i in 0..PAD {
                        let cell: i32 = row[i].into();
                        sums[i] += cell;
                        most[i] = if cell > most[i] { cell } else { most[i] };
                    }
                }
                let steps = &self.steps[channel..][..PAD];
                for i in 0..PAD {
                    out[channel + i] = sums[i] as f32 * (steps[i] * (1.0 / SPOTS as f32));
                    out[width + channel + i] = most[i] as f32 * steps[i];
                }
            }
        }
    }
}

/// Numbers of 0 or more as cells.
pub(super) struct Quantise<'a, C: Cell> {
    /// Rows of as many channels as there are steps.
    pub(super) rows: &'a [f32],
    /// One over each channel's step.
    pub(super) inverse: &'a [f32],
    pub(super) out: &'a mut [C],
}

impl<C: Cell> Work for Quantise<'_, C> {
    #[inline(always)]
    fn work(self) {
        let width = self.inverse.len();
        for (row, out) in self.rows.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            for channel in (0..width).step_by(PAD) {
                let (row, inverse) = (&row[channel..][..PAD], &self.inverse[channel..][..PAD]);
                let out = &mut out[channel..][..PAD];
                for i in 0..PAD {
                    let steps = row[i] * inverse[i] + 0.5;
                    out[i] = C::of(if steps < 255.0 { steps } else { 255.0 });
                }
            }
        }
    }
}

/// Adds a position's row to the rows of all its spots, and rectifies.
pub(super) struct AddToSpots<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) width: usize,
    /// A row a position.
    pub(super) addends: &'a [f32],
}

impl Work for AddToSpots<'_> {
    #[inline(always)]
    fn work(self) {
        let width = self.width;
        let positions = self.rows.chunks_exact_mut(SPOTS * width);
        for (rows, addends) in positions.zip(self.addends.chunks_exact(width)) {
            for row in rows.chunks_exact_mut(width) {
                for channel in (0..width).step_by(PAD) {
                    let addends = &addends[channel..][..PAD];
                    let row = &mut row[channel..][..PAD];
                    for i in 0..PAD {
                        row[i] = relu(row[i] + addends[i]);
                    }
                }
            }
        }
    }
}

/// The logits that a position's actions are made of: each the product of a plane's weights and a spot's row.
pub(super) struct Logits<'a> {
    pub(super) network: &'a Network,
    /// Logit indices, see [`crate::PolicyIndex`].
    pub(super) terms: &'a [(u16, f32)],
    /// The position's rows a spot.
    pub(super) rows: &'a [f32],
    /// The logits that belong to no spot.
    pub(super) globals: &'a [f32],
    /// A logit a term.
    pub(super) out: &'a mut [f32],
}

impl Work for Logits<'_> {
    #[inline(always)]
    fn work(self) {
        let Logits { network, terms, rows, globals, out } = self;
        let width = network.width;
        for ((index, _), out) in terms.iter().zip(out) {
            let (plane, spot) =
                (usize::from(*index) / PLANE_SPOTS, usize::from(*index) % PLANE_SPOTS);
            *out = if plane == POLICY_PLANES {
                globals[spot]
            } else {
                let weights = &network.policy_planes[plane * width..][..width];
                network.policy_bias[plane] + product(&rows[spot * width..][..width], weights)
            };
        }
    }
}

/// The sum of products of two rows, in sixteen sums that are added in pairs at the end.
#[inline(always)]
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; PAD];
    for (a, b) in a.chunks_exact(PAD).zip(b.chunks_exact(PAD)) {
        for i in 0..PAD {
            sums[i] += a[i] * b[i];
        }
    }
    let mut half = PAD / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}
