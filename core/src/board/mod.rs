//! The board: 37 spots, 21 lines, 42 ways to enter, 12 symmetries (rules, section 1).
//!
//! Spots lie on a padded axial layout: column `b` to `h` is `x` 0 to 6, the axial row is `y` 0 to 6,
//! and a spot's bit in a [`SpotSet`] is `x * 8 + y`. The eighth row of every column is a guard that
//! no piece ever stands on, so a step in any direction is a shift of the whole set and never wraps
//! onto another column.

mod direction;
mod entry;
mod line;
mod spot;
mod spot_set;
mod symmetry;

pub use direction::Direction;
pub use entry::Entry;
pub use line::Line;
pub use spot::{ParseSpotError, Spot};
pub use spot_set::SpotSet;
pub use symmetry::Symmetry;

pub(crate) use entry::{EntrySet, RIM};

/// Number of columns, and of axial rows, that hold spots.
pub(crate) const WIDTH: i8 = 7;

/// Number of spots.
pub const SPOTS: usize = 37;

/// Lowest axial row of column `x`.
pub(crate) const fn column_low(x: i8) -> i8 {
    if x > 3 { x - 3 } else { 0 }
}

/// Number of spots of column `x`.
pub(crate) const fn column_len(x: i8) -> i8 {
    4 + if x < 3 { x } else { 6 - x }
}

/// Whether `(x, y)` is one of the 37 spots.
pub(crate) const fn is_spot(x: i8, y: i8) -> bool {
    x >= 0 && x < WIDTH && y >= column_low(x) && y < column_low(x) + column_len(x)
}
