//! What lies on one spot (rules, section 2).

use crate::Color;
use crate::rules::Potential;

/// A stack, bottom to top: a basic piece or a GIPF-piece, then potentials. All potentials of a
/// stack are of one kind and alternate in colour, because each one above the first covers an
/// opponent's of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The lowest item, unless a potential stands alone: its colour and whether it is a GIPF-piece.
    pub base: Option<(Color, bool)>,
    /// The kind of the potentials above it.
    pub potential: Option<Potential>,
    /// The colour of the lowest potential; that of the base where there is none.
    pub first: Color,
    /// Number of potentials.
    pub count: u8,
}

impl Stack {
    /// The colour that owns the spot.
    pub const fn top(&self) -> Color {
        match (self.base, self.count) {
            (Some((color, _)), 0) => color,
            (_, count) if count % 2 == 1 => self.first,
            _ => self.first.other(),
        }
    }

    /// Whether it is an uncovered loaded piece: an unused potential on a basic piece of its colour.
    pub fn is_loaded(&self) -> bool {
        self.count == 1 && self.base.is_some_and(|(color, _)| color == self.first)
    }
}

/// A stack with potentials, in two bytes. Zero stands for "no such stack".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Code(pub(crate) u16);

// Bits: 0-3 number of potentials, 4-6 kind, 7 colour of the lowest potential, 8-9 basic piece
// below it (0 none, 1 White's, 2 Black's).
const KIND: u32 = 4;
const FIRST: u32 = 7;
const BASE: u32 = 8;

/// More potentials than one stack can hold: both colours have at most six of a kind.
pub(crate) const MAX_COUNT: u8 = 12;

impl Code {
    pub(crate) const NONE: Code = Code(0);

    #[inline]
    pub(crate) const fn new(base: Option<Color>, kind: Potential, first: Color, count: u8) -> Code {
        let base = match base {
            None => 0,
            Some(color) => 1 + color as u16,
        };
        Code(base << BASE | (first as u16) << FIRST | (kind as u16) << KIND | count as u16)
    }

    #[inline]
    pub(crate) const fn count(self) -> u8 {
        (self.0 & 15) as u8
    }

    #[inline]
    pub(crate) const fn kind(self) -> Potential {
        Potential::from_index((self.0 >> KIND & 7) as usize)
    }

    #[inline]
    pub(crate) const fn first(self) -> Color {
        Color::ALL[(self.0 >> FIRST & 1) as usize]
    }

    #[inline]
    pub(crate) const fn base(self) -> Option<Color> {
        match self.0 >> BASE & 3 {
            0 => None,
            1 => Some(Color::White),
            _ => Some(Color::Black),
        }
    }

    #[inline]
    pub(crate) const fn top(self) -> Color {
        if self.count() % 2 == 1 { self.first() } else { self.first().other() }
    }

    /// An unused, uncovered potential on a basic piece of its own colour.
    #[inline]
    pub(crate) const fn is_loaded(self) -> bool {
        self.count() == 1 && (self.0 >> BASE & 3) == (self.0 >> FIRST & 1) + 1
    }

    /// A PÜNCT-potential directly on a basic piece of the other colour, covered or not: where
    /// `punct=convert` holds, a converted GIPF-piece of the potential's owner, unless covered.
    #[inline]
    pub(crate) const fn is_converted(self) -> bool {
        matches!(self.kind(), Potential::Punct) && (self.0 >> BASE & 3) == 2 - (self.0 >> FIRST & 1)
    }

    /// One more potential of the same kind on top.
    #[inline]
    pub(crate) const fn covered(self) -> Code {
        Code(self.0 + 1)
    }

    /// The stack without its top potential; `None` if no potential is left below.
    #[inline]
    pub(crate) const fn uncovered(self) -> Option<Code> {
        if self.count() > 1 { Some(Code(self.0 - 1)) } else { None }
    }

    /// The full description.
    pub(crate) fn stack(self) -> Stack {
        Stack {
            base: self.base().map(|color| (color, false)),
            potential: Some(self.kind()),
            first: self.first(),
            count: self.count(),
        }
    }
}
