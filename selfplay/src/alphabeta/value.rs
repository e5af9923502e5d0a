//! What a position is worth to the search, in hundredths of a basic piece from one side.

use gipf_core::{Color, Position};

/// A won game, less the plays from the root until it is won.
pub(super) const WIN: i32 = 1_000_000;
/// Values from here on are games proven won, those up to [`LOST`] games proven lost.
pub(super) const WON: i32 = WIN - 1_000;
pub(super) const LOST: i32 = -WON;
/// Beyond every value.
pub(super) const INFINITE: i32 = WIN + 1;
/// What a proven outcome counts in the mean over a side game's outcomes: a chance of winning is worth something beside
/// material, not everything.
const SURE: i32 = 1_500;

/// Whose value a position's is: the decider's, or the mover's where nobody decides.
#[inline]
pub(super) fn side(position: &Position) -> Color {
    position.decider().unwrap_or(position.mover())
}

/// White's value as a colour's own; the other way round too.
#[inline]
pub(super) fn own(color: Color, value: i32) -> i32 {
    match color {
        Color::White => value,
        Color::Black => -value,
    }
}

/// A value counted from the root as one counted from a position `ply` plays below it, for the table.
#[inline]
pub(super) fn to_table(value: i32, ply: usize) -> i32 {
    let plies = ply as i32;
    match value {
        WON.. => value + plies,
        ..=LOST => value - plies,
        _ => value,
    }
}

/// The inverse of [`to_table`].
#[inline]
pub(super) fn from_table(value: i32, ply: usize) -> i32 {
    let plies = ply as i32;
    match value {
        WON.. => value - plies,
        ..=LOST => value + plies,
        _ => value,
    }
}

/// The mean over outcomes: probability and value of each. Where all are won, or all lost, it is the one nearest to 0, the
/// longest game; else a proven outcome counts 15 basic pieces.
pub(super) fn mean(outcomes: &[(f64, i32)]) -> i32 {
    let values = || outcomes.iter().map(|&(_, value)| value);
    if values().all(|value| value >= WON) {
        return values().min().unwrap_or(0);
    }
    if values().all(|value| value <= LOST) {
        return values().max().unwrap_or(0);
    }
    let sum: f64 = outcomes.iter().map(|&(p, value)| p * f64::from(value.clamp(-SURE, SURE))).sum();
    sum.round() as i32
}
