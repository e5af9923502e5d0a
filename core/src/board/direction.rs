//! The six directions.

/// A direction on the board, seen from White's side (rules, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// Up a column.
    N,
    /// One column to the right, going up.
    NE,
    /// One column to the right, going down.
    SE,
    /// Down a column.
    S,
    /// One column to the left, going down.
    SW,
    /// One column to the left, going up.
    NW,
}

impl Direction {
    /// All six, clockwise from [`Direction::N`].
    pub const ALL: [Direction; 6] =
        [Direction::N, Direction::NE, Direction::SE, Direction::S, Direction::SW, Direction::NW];

    /// 0 to 5, clockwise.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The direction with this index, modulo 6.
    #[inline]
    pub const fn from_index(index: usize) -> Direction {
        Direction::ALL[index % 6]
    }

    /// The opposite direction.
    #[inline]
    pub const fn opposite(self) -> Direction {
        Direction::from_index(self as usize + 3)
    }

    /// The change of `(x, y)` by one step.
    pub const fn delta(self) -> (i8, i8) {
        match self {
            Direction::N => (0, 1),
            Direction::NE => (1, 1),
            Direction::SE => (1, 0),
            Direction::S => (0, -1),
            Direction::SW => (-1, -1),
            Direction::NW => (-1, 0),
        }
    }

    /// The direction with this change of `(x, y)`, if there is one.
    pub const fn from_delta(delta: (i8, i8)) -> Option<Direction> {
        let mut i = 0;
        while i < 6 {
            let d = Direction::ALL[i].delta();
            if d.0 == delta.0 && d.1 == delta.1 {
                return Some(Direction::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// Whether a step raises the bit of a spot; the opposite direction then lowers it.
    #[inline]
    pub(crate) const fn is_forward(self) -> bool {
        (self as usize) < 3
    }

    /// Bits between a spot and its neighbour in this direction or the opposite one.
    #[inline]
    pub(crate) const fn stride(self) -> u32 {
        STRIDES[self as usize % 3]
    }
}

/// Bits between neighbours, per orientation: N-S, NE-SW, SE-NW.
pub(crate) const STRIDES: [u32; 3] = [1, 9, 8];
