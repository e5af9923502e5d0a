//! The 37 spots.

use super::{Direction, SPOTS, column_len, column_low, is_spot};
use std::fmt;
use std::str::FromStr;

/// A spot of the playing area, numbered 0 to 36: columns `b` to `h`, each from its low to its high
/// spot, which is the order of position texts (rules, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot(u8);

/// The bit of each spot in a [`SpotSet`](super::SpotSet).
static BITS: [u8; SPOTS] = {
    let mut bits = [0; SPOTS];
    let (mut i, mut x) = (0, 0);
    while x < 7 {
        let mut y = column_low(x);
        while y < column_low(x) + column_len(x) {
            bits[i] = (x * 8 + y) as u8;
            i += 1;
            y += 1;
        }
        x += 1;
    }
    bits
};

/// The spot of each bit, `u8::MAX` where there is none.
static OF_BIT: [u8; 64] = {
    let mut of_bit = [u8::MAX; 64];
    let mut i = 0;
    while i < SPOTS {
        of_bit[BITS[i] as usize] = i as u8;
        i += 1;
    }
    of_bit
};

impl Spot {
    /// All spots in order.
    pub const ALL: [Spot; SPOTS] = {
        let mut all = [Spot(0); SPOTS];
        let mut i = 0;
        while i < SPOTS {
            all[i] = Spot(i as u8);
            i += 1;
        }
        all
    };

    /// The central spot, `e5`, where TAMSK-potentials get their extra move.
    pub const E5: Spot = Spot(18);

    /// The spot's number, 0 to 36.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The spot with this number.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Spot> {
        if index < SPOTS { Some(Spot(index as u8)) } else { None }
    }

    /// The spot at `(x, y)` of the axial layout.
    pub const fn at(x: i8, y: i8) -> Option<Spot> {
        if is_spot(x, y) { Some(Spot(OF_BIT[(x * 8 + y) as usize])) } else { None }
    }

    /// The column, 0 for `b` to 6 for `h`.
    #[inline]
    pub const fn x(self) -> i8 {
        (BITS[self.0 as usize] / 8) as i8
    }

    /// The axial row, 0 to 6.
    #[inline]
    pub const fn y(self) -> i8 {
        (BITS[self.0 as usize] % 8) as i8
    }

    /// The position of the spot's bit in a [`SpotSet`](super::SpotSet).
    #[inline]
    pub const fn bit(self) -> u32 {
        BITS[self.0 as usize] as u32
    }

    /// The spot of a bit known to be one.
    #[inline]
    pub(crate) const fn of_bit(bit: u32) -> Spot {
        Spot(OF_BIT[(bit & 63) as usize])
    }

    /// The neighbour in this direction, `None` past the rim.
    pub const fn step(self, direction: Direction) -> Option<Spot> {
        let (dx, dy) = direction.delta();
        Spot::at(self.x() + dx, self.y() + dy)
    }

    /// Direction and number of steps (1 to 6) to another spot on a common line.
    pub const fn distance_to(self, other: Spot) -> Option<(Direction, u8)> {
        let (dx, dy) = (other.x() - self.x(), other.y() - self.y());
        let steps = if dx != 0 { dx.abs() } else { dy.abs() };
        if steps == 0 || dx % steps != 0 || dy % steps != 0 {
            return None;
        }
        match Direction::from_delta((dx / steps, dy / steps)) {
            Some(direction) => Some((direction, steps as u8)),
            None => None,
        }
    }

    /// Reads a spot name from its two characters.
    pub(crate) const fn from_name(column: u8, number: u8) -> Option<Spot> {
        if column < b'b' || column > b'h' || number < b'2' || number > b'8' {
            return None;
        }
        let x = (column - b'b') as i8;
        Spot::at(x, (number - b'2') as i8 + column_low(x))
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = (b'b' + self.x() as u8) as char;
        write!(f, "{column}{}", self.y() - column_low(self.x()) + 2)
    }
}

/// A text that names no spot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a spot")]
pub struct ParseSpotError(pub String);

impl FromStr for Spot {
    type Err = ParseSpotError;

    fn from_str(text: &str) -> Result<Spot, ParseSpotError> {
        match text.as_bytes() {
            &[column, number] => Spot::from_name(column, number),
            _ => None,
        }
        .ok_or_else(|| ParseSpotError(text.chars().take(20).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_the_centre_is_e5() {
        for spot in Spot::ALL {
            assert_eq!(spot.to_string().parse(), Ok(spot));
            assert_eq!(Spot::of_bit(spot.bit()), spot);
        }
        assert_eq!(Spot::E5.to_string(), "e5");
        assert_eq!((Spot::E5.x(), Spot::E5.y()), (3, 3));
        for bad in ["a1", "b1", "b6", "e1", "e9", "i3", "e55", "", "é5", "E5"] {
            assert!(bad.parse::<Spot>().is_err(), "{bad}");
        }
    }

    /// Rules, section 1: how the number changes by a step from each side of column `e`.
    #[test]
    fn steps_follow_the_numbering_rule() {
        for spot in Spot::ALL {
            let name = spot.to_string().into_bytes();
            let (column, number) = (name[0], name[1]);
            for direction in Direction::ALL {
                let (column_after, number_after) = match direction {
                    Direction::N => (column, number + 1),
                    Direction::S => (column, number - 1),
                    Direction::NE => (column + 1, number + u8::from(column < b'e')),
                    Direction::SE => (column + 1, number - u8::from(column >= b'e')),
                    Direction::SW => (column - 1, number - u8::from(column <= b'e')),
                    Direction::NW => (column - 1, number + u8::from(column > b'e')),
                };
                let expected = Spot::from_name(column_after, number_after);
                assert_eq!(spot.step(direction), expected, "{spot} {direction:?}");
                if let Some(next) = expected {
                    assert_eq!(spot.distance_to(next), Some((direction, 1)));
                    assert_eq!(next.step(direction.opposite()), Some(spot));
                }
            }
        }
    }
}
