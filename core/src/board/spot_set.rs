//! Sets of spots.

use super::{Direction, Spot};
use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not, Sub};

/// A set of spots, one bit each at [`Spot::bit`]. No other bit is ever set.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpotSet(pub u64);

impl SpotSet {
    /// No spot.
    pub const EMPTY: SpotSet = SpotSet(0);

    /// All 37 spots.
    pub const ALL: SpotSet = {
        let mut bits = 0;
        let mut i = 0;
        while i < Spot::ALL.len() {
            bits |= 1 << Spot::ALL[i].bit();
            i += 1;
        }
        SpotSet(bits)
    };

    /// The set of one spot.
    #[inline]
    pub const fn of(spot: Spot) -> SpotSet {
        SpotSet(1 << spot.bit())
    }

    /// Whether the spot is in the set.
    #[inline]
    pub const fn contains(self, spot: Spot) -> bool {
        self.0 >> spot.bit() & 1 != 0
    }

    /// Adds a spot.
    #[inline]
    pub const fn insert(&mut self, spot: Spot) {
        self.0 |= 1 << spot.bit();
    }

    /// Takes a spot out.
    #[inline]
    pub const fn remove(&mut self, spot: Spot) {
        self.0 &= !(1 << spot.bit());
    }

    /// Number of spots.
    #[inline]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is no spot in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the two sets share a spot.
    #[inline]
    pub const fn intersects(self, other: SpotSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every spot of this set is in the other.
    #[inline]
    pub const fn is_subset(self, other: SpotSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// The spot with the lowest number, if any.
    #[inline]
    pub const fn first(self) -> Option<Spot> {
        if self.0 == 0 { None } else { Some(Spot::of_bit(self.0.trailing_zeros())) }
    }

    /// The spot with the highest number, if any.
    #[inline]
    pub const fn last(self) -> Option<Spot> {
        if self.0 == 0 { None } else { Some(Spot::of_bit(63 - self.0.leading_zeros())) }
    }

    /// Every spot moved one step; those that would leave the board are dropped.
    #[inline]
    pub const fn shift(self, direction: Direction) -> SpotSet {
        let moved = if direction.is_forward() {
            self.0 << direction.stride()
        } else {
            self.0 >> direction.stride()
        };
        SpotSet(moved & SpotSet::ALL.0)
    }

    /// The spots in order of their number.
    #[inline]
    pub const fn iter(self) -> Iter {
        Iter(self.0)
    }
}

/// The spots of a set in order of their number.
#[derive(Clone, Debug)]
pub struct Iter(u64);

impl Iterator for Iter {
    type Item = Spot;

    #[inline]
    fn next(&mut self) -> Option<Spot> {
        let spot = SpotSet(self.0).first()?;
        self.0 &= self.0 - 1;
        Some(spot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.0.count_ones() as usize;
        (n, Some(n))
    }
}

impl ExactSizeIterator for Iter {}

impl IntoIterator for SpotSet {
    type Item = Spot;
    type IntoIter = Iter;

    #[inline]
    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl FromIterator<Spot> for SpotSet {
    fn from_iter<I: IntoIterator<Item = Spot>>(spots: I) -> SpotSet {
        let mut set = SpotSet::EMPTY;
        for spot in spots {
            set.insert(spot);
        }
        set
    }
}

impl BitAnd for SpotSet {
    type Output = SpotSet;
    #[inline]
    fn bitand(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 & other.0)
    }
}

impl BitOr for SpotSet {
    type Output = SpotSet;
    #[inline]
    fn bitor(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 | other.0)
    }
}

impl Sub for SpotSet {
    type Output = SpotSet;
    /// The spots of this set that are not in the other.
    #[inline]
    fn sub(self, other: SpotSet) -> SpotSet {
        SpotSet(self.0 & !other.0)
    }
}

impl Not for SpotSet {
    type Output = SpotSet;
    #[inline]
    fn not(self) -> SpotSet {
        SpotSet(!self.0 & SpotSet::ALL.0)
    }
}

impl BitAndAssign for SpotSet {
    #[inline]
    fn bitand_assign(&mut self, other: SpotSet) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for SpotSet {
    #[inline]
    fn bitor_assign(&mut self, other: SpotSet) {
        self.0 |= other.0;
    }
}

/// The names of the spots, unseparated, as in the DETAIL of position texts.
impl fmt::Display for SpotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|spot| write!(f, "{spot}"))
    }
}

impl fmt::Debug for SpotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|spot| spot.to_string())).finish()
    }
}
