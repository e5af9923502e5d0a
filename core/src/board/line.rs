//! The 21 lines.

use super::direction::STRIDES;
use super::{Spot, SpotSet};
use std::fmt;

/// One of the 21 lines: `orientation * 7 + k`, seven in each of the three orientations
/// N-S, NE-SW and SE-NW (rules, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line(u8);

/// The spots of every line.
static SPOTS_OF: [u64; 21] = {
    let mut spots = [0; 21];
    let mut i = 0;
    while i < Spot::ALL.len() {
        let spot = Spot::ALL[i];
        let mut orientation = 0;
        while orientation < 3 {
            spots[Line::through(spot, orientation).0 as usize] |= 1 << spot.bit();
            orientation += 1;
        }
        i += 1;
    }
    spots
};

impl Line {
    /// Number of lines.
    pub const COUNT: usize = 21;

    /// All lines in order.
    pub const ALL: [Line; 21] = {
        let mut all = [Line(0); 21];
        let mut i = 0;
        while i < 21 {
            all[i] = Line(i as u8);
            i += 1;
        }
        all
    };

    /// The line's number, 0 to 20.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The line through a spot with this orientation (0: N-S, 1: NE-SW, 2: SE-NW).
    #[inline]
    pub const fn through(spot: Spot, orientation: usize) -> Line {
        let k = match orientation % 3 {
            0 => spot.x(),
            1 => spot.y() - spot.x() + 3,
            _ => spot.y(),
        };
        Line((orientation % 3 * 7) as u8 + k as u8)
    }

    /// 0: N-S, 1: NE-SW, 2: SE-NW.
    #[inline]
    pub const fn orientation(self) -> usize {
        self.0 as usize / 7
    }

    /// The line's spots, 4 to 7 of them.
    #[inline]
    pub const fn spots(self) -> SpotSet {
        SpotSet(SPOTS_OF[self.0 as usize])
    }

    /// Number of spots, 4 to 7.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no line is empty")]
    pub const fn len(self) -> u32 {
        self.spots().len()
    }

    /// Bits between neighbouring spots of the line.
    #[inline]
    pub(crate) const fn stride(self) -> u32 {
        STRIDES[self.orientation()]
    }

    /// The two end spots, the one with the lower column (then number) first.
    pub const fn ends(self) -> (Spot, Spot) {
        let spots = self.spots().0;
        (Spot::of_bit(spots.trailing_zeros()), Spot::of_bit(63 - spots.leading_zeros()))
    }
}

/// The two end spots, as in the DETAIL of position texts: `b2b5`.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.ends();
        write!(f, "{low}{high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_orientation_has_lines_of_4_to_7_and_back() {
        for orientation in 0..3 {
            let lengths: Vec<u32> = (0..7).map(|k| Line::ALL[orientation * 7 + k].len()).collect();
            assert_eq!(lengths, [4, 5, 6, 7, 6, 5, 4]);
        }
        let names: Vec<String> = Line::ALL.iter().map(Line::to_string).collect();
        assert_eq!(names[0], "b2b5");
        assert_eq!(names[14], "b2e2");
        assert_eq!(names[13], "b5e8");
    }
}
