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

    /// The lines without an empty spot, bit [`Line::index`] each.
    ///
    /// A column is a byte, so each orientation's seven lines are tested together: columns as bytes
    /// that are not zero; SE-NW lines, whose rows are equal, by folding all bytes onto one; NE-SW
    /// lines the same way after the columns are shifted so that the spots of a line share a row.
    #[inline]
    pub(crate) fn full(occupied: SpotSet) -> u32 {
        const ONES: u64 = 0x0001_0101_0101_0101;
        let empty = SpotSet::ALL.0 & !occupied.0;
        let columns = ((empty + 0x7f * ONES) >> 7 & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let fold = |set: u64| {
            let set = set | set >> 32;
            let set = set | set >> 16;
            (set | set >> 8) & 0x7f
        };
        let column = |x: u32| empty & 0xff << (8 * x);
        let sheared = column(0) << 3
            | column(1) << 2
            | column(2) << 1
            | column(3)
            | column(4) >> 1
            | column(5) >> 2
            | column(6) >> 3;
        let with_room = columns & 0x7f | fold(sheared) << 7 | fold(empty) << 14;
        !(with_room as u32) & 0x1f_ffff
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
    fn full_lines_are_those_without_an_empty_spot() {
        let mut seed = 1_u64;
        for _ in 0..2_000 {
            // Mostly full boards.
            let mut occupied = SpotSet::ALL;
            for _ in 0..6 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                occupied.remove(Spot::ALL[(seed >> 33) as usize % 37]);
            }
            let full = Line::ALL.into_iter().filter(|line| line.spots().is_subset(occupied));
            let full = full.fold(0, |lines, line| lines | 1 << line.index());
            assert_eq!(Line::full(occupied), full, "{occupied:?}");
        }
    }

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
