//! The 42 ways to enter a piece.

use super::{Direction, Line, SPOTS, Spot, SpotSet, column_low};
use std::fmt;

/// A way to enter: a dot and one of its lines (rules, section 5), numbered in the ASCII order of
/// its text (`a1-b2` is 0), so the first way onto an empty spot is the one with the lowest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry(u8);

/// What is known of an entry.
#[derive(Clone, Copy)]
struct Way {
    /// Column and number of the dot, as in its name.
    dot: [u8; 2],
    first: Spot,
    direction: Direction,
    line: Line,
}

impl Way {
    /// Orders ways as their texts: no two share dot and first spot.
    const fn key(&self) -> usize {
        (self.dot[0] as usize * 256 + self.dot[1] as usize) * 64 + self.first.index()
    }
}

/// The name of the dot one step against `direction` from the rim spot `first`.
const fn dot_before(first: Spot, direction: Direction) -> [u8; 2] {
    let (dx, dy) = direction.delta();
    let (x, y) = (first.x() - dx, first.y() - dy);
    [(b'b' as i8 + x) as u8, (b'2' as i8 + y - column_low(x)) as u8]
}

static WAYS: [Way; 42] = {
    let empty = Way { dot: [0, 0], first: Spot::E5, direction: Direction::N, line: Line::ALL[0] };
    let mut ways = [empty; 42];
    let mut n = 0;
    while n < 42 {
        let line = Line::ALL[n / 2];
        let (low, high) = line.ends();
        let forward = Direction::ALL[line.orientation()];
        let (first, direction) =
            if n % 2 == 0 { (low, forward) } else { (high, forward.opposite()) };
        let way = Way { dot: dot_before(first, direction), first, direction, line };
        // Insertion sort by text.
        let mut at = n;
        while at > 0 && ways[at - 1].key() > way.key() {
            ways[at] = ways[at - 1];
            at -= 1;
        }
        ways[at] = way;
        n += 1;
    }
    ways
};

/// A spot on the rim with its ways in: two, or three on a corner spot.
#[derive(Clone, Copy)]
pub(crate) struct RimSpot {
    pub(crate) spot: Spot,
    pub(crate) entries: [Entry; 3],
    pub(crate) count: usize,
}

/// The 18 rim spots in the order of their first entry.
pub(crate) static RIM: [RimSpot; 18] = {
    let blank = RimSpot { spot: Spot::E5, entries: [Entry(0); 3], count: 0 };
    let mut rim = [blank; 18];
    let (mut n, mut e) = (0, 0);
    while e < 42 {
        let spot = WAYS[e].first;
        let mut i = 0;
        while i < n && rim[i].spot.index() != spot.index() {
            i += 1;
        }
        rim[i].spot = spot;
        rim[i].entries[rim[i].count] = Entry(e as u8);
        rim[i].count += 1;
        if i == n {
            n += 1;
        }
        e += 1;
    }
    rim
};

/// Per spot the number of its first entry, `u8::MAX` off the rim.
static FIRST_ONTO: [u8; SPOTS] = {
    let mut first = [u8::MAX; SPOTS];
    let mut i = 0;
    while i < RIM.len() {
        first[RIM[i].spot.index()] = RIM[i].entries[0].0;
        i += 1;
    }
    first
};

/// The entries of each line's two ends, as bits [`Entry::index`].
static LINE_ENTRIES: [u64; 21] = {
    let mut entries = [0; 21];
    let mut e = 0;
    while e < 42 {
        entries[WAYS[e].line.index()] |= 1 << e;
        e += 1;
    }
    entries
};

/// Per column and set of its spots (axial rows as bits): the entries onto the rim spots among them.
static ENTRIES_ONTO: [[u64; 128]; 7] = {
    let mut entries = [[0; 128]; 7];
    let mut e = 0;
    while e < 42 {
        let first = WAYS[e].first;
        let mut rows = 0;
        while rows < 128 {
            if rows >> first.y() & 1 != 0 {
                entries[first.x() as usize][rows] |= 1 << e;
            }
            rows += 1;
        }
        e += 1;
    }
    entries
};

/// The first entry onto each rim spot, as bits.
const FIRST_ENTRIES: u64 = {
    let (mut entries, mut i) = (0, 0);
    while i < RIM.len() {
        entries |= 1 << RIM[i].entries[0].0;
        i += 1;
    }
    entries
};

/// A set of ways to enter, bit [`Entry::index`] each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntrySet(u64);

impl EntrySet {
    /// The ways that are not blocked.
    #[inline]
    pub(crate) fn open(occupied: SpotSet) -> EntrySet {
        let mut open = (1 << Entry::COUNT) - 1;
        let mut full = Line::full(occupied);
        while full != 0 {
            open &= !LINE_ENTRIES[full.trailing_zeros() as usize % 21];
            full &= full - 1;
        }
        EntrySet(open)
    }

    /// These ways without all but the first onto each empty spot.
    #[inline]
    pub(crate) fn merged(self, occupied: SpotSet) -> EntrySet {
        let mut apart = FIRST_ENTRIES;
        for (column, entries) in ENTRIES_ONTO.iter().enumerate() {
            apart |= entries[(occupied.0 >> (8 * column) & 127) as usize];
        }
        EntrySet(self.0 & apart)
    }

    #[inline]
    pub(crate) const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Appends what `table` says of each way, in order.
    ///
    /// Six ways at a time: a chunk of the table is copied whole, and the next one goes where the ways of
    /// this one end. Much faster than one way after the other, and this is the hot loop of random play.
    #[inline]
    pub(crate) fn extend<T: Copy>(self, out: &mut Vec<T>, table: &[[[T; 6]; 64]; 7], blank: T) {
        let from = out.len();
        out.resize(from + Entry::COUNT + 6, blank);
        let mut at = from;
        for (group, chunks) in table.iter().enumerate() {
            let bits = (self.0 >> (6 * group) & 63) as usize;
            out[at..at + 6].copy_from_slice(&chunks[bits]);
            at += COUNTS[bits] as usize;
        }
        out.truncate(at);
    }
}

/// The number of bits of six.
static COUNTS: [u8; 64] = {
    let mut counts = [0; 64];
    let mut bits = 0;
    while bits < 64 {
        counts[bits] = bits.count_ones() as u8;
        bits += 1;
    }
    counts
};

impl Entry {
    /// Number of ways to enter.
    pub const COUNT: usize = 42;

    /// All ways in the ASCII order of their texts.
    pub const ALL: [Entry; 42] = {
        let mut all = [Entry(0); 42];
        let mut i = 0;
        while i < 42 {
            all[i] = Entry(i as u8);
            i += 1;
        }
        all
    };

    /// 0 to 41, in the ASCII order of the texts.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The entry with this number.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Entry> {
        if index < 42 { Some(Entry(index as u8)) } else { None }
    }

    /// The first way onto a rim spot.
    #[inline]
    pub const fn first_onto(spot: Spot) -> Option<Entry> {
        Entry::from_index(FIRST_ONTO[spot.index()] as usize)
    }

    /// The spot the entered piece ends on.
    #[inline]
    pub const fn first_spot(self) -> Spot {
        WAYS[self.0 as usize].first
    }

    /// The direction of the push.
    #[inline]
    pub const fn direction(self) -> Direction {
        WAYS[self.0 as usize].direction
    }

    /// The line it enters.
    #[inline]
    pub const fn line(self) -> Line {
        WAYS[self.0 as usize].line
    }

    /// The spots it changes when these are occupied: from the first one to the first empty one.
    /// `None` if the line is blocked (rules, section 5).
    #[inline]
    pub const fn path(self, occupied: SpotSet) -> Option<SpotSet> {
        let way = &WAYS[self.0 as usize];
        let line = way.line.spots().0;
        let empty = line & !occupied.0;
        if empty == 0 {
            return None;
        }
        let path = if way.direction.is_forward() {
            let nearest = empty & empty.wrapping_neg();
            line & (nearest | (nearest - 1))
        } else {
            let below = 63 - empty.leading_zeros();
            line & (u64::MAX << below)
        };
        Some(SpotSet(path))
    }

    /// The spots of a set after a push along this `path`: what stands on the path is one spot further. What enters is not in it.
    #[inline]
    pub fn pushed(self, set: SpotSet, path: SpotSet) -> SpotSet {
        (set - path) | (set & path).shift(self.direction())
    }

    /// The name of its dot.
    pub fn dot_name(self) -> String {
        WAYS[self.0 as usize].dot.iter().map(|b| *b as char).collect()
    }

    /// Reads an entry from the names of its dot and first spot.
    pub(crate) fn from_names(dot: [u8; 2], first: Spot) -> Option<Entry> {
        let at = WAYS.iter().position(|w| w.dot == dot && w.first == first)?;
        Entry::from_index(at)
    }
}

/// Dot and first spot: `a1-b2`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [column, number] = WAYS[self.0 as usize].dot;
        write!(f, "{}{}-{}", column as char, number as char, self.first_spot())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_numbered_as_their_texts_sort() {
        let texts: Vec<String> = Entry::ALL.iter().map(Entry::to_string).collect();
        assert!(texts.is_sorted());
        assert_eq!(texts.first().map(String::as_str), Some("a1-b2"));
        assert_eq!(texts.last().map(String::as_str), Some("i5-h5"));
        let corners = RIM.iter().filter(|r| r.count == 3).count();
        assert_eq!((corners, RIM.iter().map(|r| r.count).sum::<usize>()), (6, 42));
    }

    #[test]
    fn a_path_ends_on_the_first_empty_spot() {
        let names = |text: &str| -> SpotSet {
            text.split(' ').filter_map(|n| n.parse::<Spot>().ok()).collect()
        };
        let up = Entry::from_names(*b"e1", Spot::from_name(b'e', b'2').unwrap()).unwrap();
        assert_eq!(up.path(SpotSet::EMPTY), Some(names("e2")));
        assert_eq!(up.path(names("e2 e3 e5")), Some(names("e2 e3 e4")));
        assert_eq!(up.path(names("e2 e3 e4 e5 e6 e7 e8")), None);
        let down = Entry::from_names(*b"e9", Spot::from_name(b'e', b'8').unwrap()).unwrap();
        assert_eq!(down.path(names("e8 e7 e5 e2")), Some(names("e8 e7 e6")));
        assert_eq!(down.path(names("e3 e4 e5 e6 e7 e8")), Some(names("e2 e3 e4 e5 e6 e7 e8")));
        let path = up.path(names("e2 e3 e5")).unwrap();
        assert_eq!(up.pushed(names("e3 e5 d3"), path), names("e4 e5 d3"));
    }
}
