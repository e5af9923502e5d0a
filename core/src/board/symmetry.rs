//! The 12 symmetries of the board.

use super::{Direction, Entry, Line, SPOTS, Spot, SpotSet};

/// A symmetry of the hexagon: 0 to 5 turn it clockwise by that many sixths, 6 to 11 mirror it in
/// the vertical axis first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symmetry(u8);

/// Where each symmetry takes a step of `(dx, dy)`, and so a spot seen from the centre.
const fn turn(symmetry: usize, (mut x, mut y): (i8, i8)) -> (i8, i8) {
    if symmetry >= 6 {
        (x, y) = (-x, y - x);
    }
    let mut i = 0;
    while i < symmetry % 6 {
        (x, y) = (y, y - x);
        i += 1;
    }
    (x, y)
}

static SPOT_IMAGES: [[Spot; SPOTS]; 12] = {
    let mut images = [[Spot::E5; SPOTS]; 12];
    let mut s = 0;
    while s < 12 {
        let mut i = 0;
        while i < SPOTS {
            let spot = Spot::ALL[i];
            let (x, y) = turn(s, (spot.x() - 3, spot.y() - 3));
            images[s][i] = match Spot::at(x + 3, y + 3) {
                Some(image) => image,
                None => panic!("a symmetry keeps the board"),
            };
            i += 1;
        }
        s += 1;
    }
    images
};

static ENTRY_IMAGES: [[Entry; 42]; 12] = {
    let mut images = [[Entry::ALL[0]; 42]; 12];
    let mut s = 0;
    while s < 12 {
        let mut i = 0;
        while i < 42 {
            let first = SPOT_IMAGES[s][Entry::ALL[i].first_spot().index()];
            let direction = Symmetry(s as u8).direction(Entry::ALL[i].direction());
            let mut j = 0;
            while Entry::ALL[j].first_spot().index() != first.index()
                || Entry::ALL[j].direction().index() != direction.index()
            {
                j += 1;
            }
            images[s][i] = Entry::ALL[j];
            i += 1;
        }
        s += 1;
    }
    images
};

impl Symmetry {
    /// Number of symmetries.
    pub const COUNT: usize = 12;

    /// The one that changes nothing.
    pub const IDENTITY: Symmetry = Symmetry(0);

    /// All 12, the identity first.
    pub const ALL: [Symmetry; 12] = {
        let mut all = [Symmetry(0); 12];
        let mut i = 0;
        while i < 12 {
            all[i] = Symmetry(i as u8);
            i += 1;
        }
        all
    };

    /// 0 to 11.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The symmetry that undoes this one.
    pub const fn inverse(self) -> Symmetry {
        if self.0 >= 6 { self } else { Symmetry((6 - self.0) % 6) }
    }

    /// Where a spot goes.
    #[inline]
    pub const fn spot(self, spot: Spot) -> Spot {
        SPOT_IMAGES[self.0 as usize][spot.index()]
    }

    /// Where the spots of a set go.
    pub fn set(self, set: SpotSet) -> SpotSet {
        if self == Symmetry::IDENTITY {
            return set;
        }
        set.iter().map(|spot| self.spot(spot)).collect()
    }

    /// Where a direction goes.
    pub const fn direction(self, direction: Direction) -> Direction {
        match Direction::from_delta(turn(self.0 as usize, direction.delta())) {
            Some(image) => image,
            None => direction,
        }
    }

    /// Where a line goes.
    pub const fn line(self, line: Line) -> Line {
        let direction = self.direction(Direction::ALL[line.orientation()]);
        Line::through(self.spot(line.ends().0), direction.index() % 3)
    }

    /// Where a way to enter goes.
    #[inline]
    pub const fn entry(self, entry: Entry) -> Entry {
        ENTRY_IMAGES[self.0 as usize][entry.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_are_twelve_and_keep_lines() {
        let images: std::collections::BTreeSet<Vec<Spot>> =
            Symmetry::ALL.iter().map(|s| Spot::ALL.map(|p| s.spot(p)).to_vec()).collect();
        assert_eq!(images.len(), 12);
        for s in Symmetry::ALL {
            for spot in Spot::ALL {
                assert_eq!(s.inverse().spot(s.spot(spot)), spot);
            }
            for line in Line::ALL {
                assert_eq!(s.set(line.spots()), s.line(line).spots());
            }
            for entry in Entry::ALL {
                assert_eq!(s.spot(entry.first_spot()), s.entry(entry).first_spot());
                assert_eq!(s.line(entry.line()), s.entry(entry).line());
            }
        }
    }
}
