//! The planes and the globals by number and in words, and where a symmetry moves the planes.

use gipf_core::Symmetry;

/// Planes over the spots, each binary.
pub const PLANES: usize = PLANE_NAMES.len();
/// Globals, most of them in [0, 1].
pub const GLOBALS: usize = 2 * SIDE_GLOBALS.len() + COMMON_GLOBALS.len();

// Planes in pairs: the decider's own first, then the other side's.
pub(super) const OWNED: usize = 0;
pub(super) const BASE: usize = 2;
pub(super) const GIPF: usize = 4;
pub(super) const CONVERTED: usize = 6;
pub(super) const LOADED: usize = 8;
pub(super) const KIND: usize = 10;
pub(super) const PILE: usize = 15;
pub(super) const PILE_BITS: usize = 16;
pub(super) const ROWS: [usize; 2] = [20, 23];
pub(super) const CHANGED: usize = 26;
pub(super) const CLOSED: usize = 27;
pub(super) const ANNOUNCED_FROM: usize = 30;
pub(super) const ANNOUNCED_TO: usize = 31;
pub(super) const ANNOUNCED_LINE: usize = 32;
/// The plane that holds every spot of the board.
pub(crate) const BOARD: usize = 33;
pub(super) const CENTRE: usize = 34;
pub(super) const MAKES_ROW: [usize; 2] = [35, 38];
pub(super) const TAKES: [usize; 2] = [41, 44];
pub(super) const TAKES_MORE: [usize; 2] = [47, 50];
pub(super) const TAKES_GIPF: [usize; 2] = [53, 56];
pub(super) const TAKEN: usize = 59;
pub(super) const COMPLETING: usize = 61;

const PLANE_NAMES: [&str; 63] = [
    "own stacks",
    "other stacks",
    "own basic piece at the bottom",
    "other basic piece at the bottom",
    "own GIPF-piece",
    "other GIPF-piece",
    "own converted GIPF-piece",
    "other converted GIPF-piece",
    "own loaded piece",
    "other loaded piece",
    "TAMSK-potentials",
    "ZERTZ-potentials",
    "DVONN-potentials",
    "YINSH-potentials",
    "PUNCT-potentials",
    "two potentials or more",
    "potentials less two, bit 0",
    "potentials less two, bit 1",
    "potentials less two, bit 2",
    "potentials less two, bit 3",
    "own rows N-S",
    "own rows NE-SW",
    "own rows SE-NW",
    "other rows N-S",
    "other rows NE-SW",
    "other rows SE-NW",
    "changed in this turn",
    "closed lines N-S",
    "closed lines NE-SW",
    "closed lines SE-NW",
    "announced move: source",
    "announced move: target, or first spot of an extra move",
    "announced extra move that pushes: line",
    "board",
    "centre",
    "own pushes that make a row, N-S",
    "own pushes that make a row, NE-SW",
    "own pushes that make a row, SE-NW",
    "other pushes that make a row, N-S",
    "other pushes that make a row, NE-SW",
    "other pushes that make a row, SE-NW",
    "own pushes that take a piece, N-S",
    "own pushes that take a piece, NE-SW",
    "own pushes that take a piece, SE-NW",
    "other pushes that take a piece, N-S",
    "other pushes that take a piece, NE-SW",
    "other pushes that take a piece, SE-NW",
    "own pushes that take two pieces or more, N-S",
    "own pushes that take two pieces or more, NE-SW",
    "own pushes that take two pieces or more, SE-NW",
    "other pushes that take two pieces or more, N-S",
    "other pushes that take two pieces or more, NE-SW",
    "other pushes that take two pieces or more, SE-NW",
    "own pushes that take a GIPF-piece, N-S",
    "own pushes that take a GIPF-piece, NE-SW",
    "own pushes that take a GIPF-piece, SE-NW",
    "other pushes that take a GIPF-piece, N-S",
    "other pushes that take a GIPF-piece, NE-SW",
    "other pushes that take a GIPF-piece, SE-NW",
    "other stacks that an own push takes",
    "own stacks that a push of the other takes",
    "spots that would complete an own row",
    "spots that would complete a row of the other",
];

/// Planes that stand for the three orientations, each group in their order.
const ORIENTED: [usize; 11] = [
    ROWS[0],
    ROWS[1],
    CLOSED,
    MAKES_ROW[0],
    MAKES_ROW[1],
    TAKES[0],
    TAKES[1],
    TAKES_MORE[0],
    TAKES_MORE[1],
    TAKES_GIPF[0],
    TAKES_GIPF[1],
];

/// Per side, the decider's own first.
const SIDE_GLOBALS: [&str; 24] = [
    "basic pieces in hand / 18",
    "no basic piece in hand",
    "1 basic piece in hand at most",
    "2 basic pieces in hand at most",
    "4 basic pieces in hand at most",
    "TAMSK in hand / 6",
    "ZERTZ in hand / 6",
    "DVONN in hand / 6",
    "YINSH in hand / 6",
    "PUNCT in hand / 6",
    "stage G",
    "stage L",
    "GIPF-pieces on the board / 3",
    "no GIPF-piece on the board",
    "1 GIPF-piece on the board",
    "basic pieces by the rules, (n - 15) / 6",
    "TAMSK in the mix / 6",
    "ZERTZ in the mix / 6",
    "DVONN in the mix / 6",
    "YINSH in the mix / 6",
    "PUNCT in the mix / 6",
    "chance of an extra move from e5",
    "may challenge",
    "1 / (1 + challenges left), 0 without a limit",
];

const COMMON_GLOBALS: [&str; 29] = [
    "phase: extra move owed",
    "phase: regular play",
    "phase: extra move earned",
    "phase: removal",
    "phase: challenge",
    "phase: side game",
    "the decider is the mover",
    "announced: move",
    "announced: extra move owed",
    "announced: extra move earned",
    "announced: TAMSK",
    "announced: ZERTZ",
    "announced: DVONN",
    "announced: YINSH",
    "announced: PUNCT",
    "variant: basic",
    "variant: standard",
    "variant: tournament",
    "PUNCT converts",
    "challenges",
    "TAMSK can be challenged",
    "ZERTZ can be challenged",
    "DVONN can be challenged",
    "YINSH can be challenged",
    "PUNCT can be challenged",
    "side game: recorded",
    "side game: win",
    "side game: tie",
    "side game: loss",
];

/// The planes in words, in their order.
pub const fn plane_names() -> &'static [&'static str; PLANES] {
    &PLANE_NAMES
}

/// The globals in words, in their order.
pub fn global_names() -> Vec<String> {
    let sides = ["own: ", "other: "]
        .into_iter()
        .flat_map(|side| SIDE_GLOBALS.map(|name| format!("{side}{name}")));
    sides.chain(COMMON_GLOBALS.map(str::to_owned)).collect()
}

/// Where each plane goes under a symmetry, besides its spots: those that stand for an orientation change places.
pub fn plane_permutation(symmetry: Symmetry) -> [u8; PLANES] {
    let mut permutation = std::array::from_fn(|plane| plane as u8);
    for first in ORIENTED {
        for orientation in 0..3 {
            let image = symmetry.direction(gipf_core::Direction::ALL[orientation]).index() % 3;
            permutation[first + orientation] = (first + image) as u8;
        }
    }
    permutation
}
