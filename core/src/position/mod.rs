//! The state of a game and what can be done with it (rules, sections 4 to 9).

mod apply;
mod bytes;
mod hash;
mod legal;
mod rays;
mod rows;
mod stack;
mod symmetry;
mod text;

use crate::Color;
use crate::board::{Entry, SPOTS, Spot, SpotSet};
use crate::play::{EntryKind, Play};
use crate::rules::{Potential, Rules, Variant};
pub use bytes::POSITION_BYTES;
pub use rows::{RemovalLine, Row};
use stack::Code;
pub use stack::Stack;
pub use text::TextError;

/// What a colour may still enter (rules, section 5). A stage only ever moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stage {
    /// GIPF-pieces, loaded pieces, basic pieces.
    G,
    /// Loaded pieces, basic pieces.
    L,
    /// Basic pieces.
    B,
}

impl Stage {
    /// The letter of position texts.
    pub const fn letter(self) -> char {
        b"GLB"[self as usize] as char
    }
}

/// What is to be decided (rules, sections 4 and 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// `t`: the extra move owed to the mover.
    ExtraOwed,
    /// `m`: the regular play.
    Regular,
    /// `x`: the extra move earned by the mover.
    ExtraEarned,
    /// `rw`, `rb`: a removal by this colour.
    Removal(Color),
    /// `?`: whether the mover's opponent challenges the announced move.
    Challenge,
    /// `=`: the outcome of the side game, a matter of chance.
    SideGame,
    /// `W`, `B`: this colour has won.
    Won(Color),
}

/// A play that the rules do not allow in a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{play}\" is not legal in position {position}")]
pub struct IllegalPlay {
    /// The play.
    pub play: Play,
    /// The position, as text.
    pub position: String,
}

/// The whole state of a game by its rules, but for the number of plays so far. A small `Copy`
/// value: search and self-play keep and copy it freely.
///
/// Two positions are equal if and only if their texts and rules are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Spots whose top item is White's, Black's.
    owned: [SpotSet; 2],
    /// Spots holding a GIPF-piece, uncovered as GIPF-pieces always are.
    gipf: SpotSet,
    /// Spots holding a potential; `stacks` says what stands there.
    complex: SpotSet,
    /// Spots changed in this turn, as far as they can matter (rules, section 10, `ch`).
    changed: SpotSet,
    /// The announced play in phases `?` and `=`, else `Play::PASS`.
    announced: Play,
    stacks: [Code; SPOTS],
    /// Per colour, the lines closed to its GIPF-only offer in this turn (rules, section 10, `done`).
    closed: [u32; 2],
    rules: Rules,
    basics: [u8; 2],
    potentials: [[u8; 5]; 2],
    /// Challenges used, counted where there is a limit.
    used: [u8; 2],
    stages: [Stage; 2],
    mover: Color,
    phase: Phase,
    /// Whose TAMSK-stack was pushed onto e5 in this turn and still has its chance.
    e5: Option<Color>,
    /// The phase in which the announced move was announced.
    announced_at: AnnouncedAt,
}

const _: () = assert!(size_of::<Position>() <= 192);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum AnnouncedAt {
    Regular,
    ExtraOwed,
    ExtraEarned,
}

impl Position {
    pub(crate) fn start(rules: &Rules) -> Position {
        let mut position = Position::empty(rules);
        if rules.variant() != Variant::Tournament {
            // White's corners are e2 b5 h5, Black's b2 h2 e8 (rules, section 3), on the rim where
            // the three lines of 4 and 7 meet: ends of the columns b, e and h.
            for (color, corners) in
                [(Color::White, [(3, 0), (0, 3), (6, 6)]), (Color::Black, [(0, 0), (6, 3), (3, 6)])]
            {
                for spot in corners.iter().filter_map(|&(x, y)| Spot::at(x, y)) {
                    position.owned[color.index()].insert(spot);
                }
            }
        }
        if rules.variant() == Variant::Standard {
            position.gipf = position.owned[0] | position.owned[1];
        }
        position
    }

    /// An empty board, full hands.
    fn empty(rules: &Rules) -> Position {
        let stage = |color| match rules.variant() {
            Variant::Tournament => Stage::G,
            _ if rules.has_potentials(color) => Stage::L,
            _ => Stage::B,
        };
        Position {
            owned: [SpotSet::EMPTY; 2],
            gipf: SpotSet::EMPTY,
            complex: SpotSet::EMPTY,
            changed: SpotSet::EMPTY,
            announced: Play::PASS,
            stacks: [Code::NONE; SPOTS],
            closed: [0; 2],
            rules: *rules,
            basics: Color::ALL.map(|color| rules.basic_in_hand(color)),
            potentials: Color::ALL.map(|color| rules.mix(color)),
            used: [0; 2],
            stages: Color::ALL.map(stage),
            mover: Color::White,
            phase: Phase::Regular,
            e5: None,
            announced_at: AnnouncedAt::Regular,
        }
    }

    /// The rules of the game.
    #[inline]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The colour whose turn it is, in every phase and also at the end.
    #[inline]
    pub const fn mover(&self) -> Color {
        self.mover
    }

    /// What is to be decided.
    #[inline]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The colour that chooses the next play; `None` when the game is over or chance has the word.
    #[inline]
    pub const fn decider(&self) -> Option<Color> {
        match self.phase {
            Phase::ExtraOwed | Phase::Regular | Phase::ExtraEarned => Some(self.mover),
            Phase::Removal(color) => Some(color),
            Phase::Challenge => Some(self.mover.other()),
            Phase::SideGame | Phase::Won(_) => None,
        }
    }

    /// The colour that has won, if any.
    #[inline]
    pub const fn winner(&self) -> Option<Color> {
        match self.phase {
            Phase::Won(color) => Some(color),
            _ => None,
        }
    }

    /// Whether the game is over.
    #[inline]
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Won(_))
    }

    /// Whether the next play is the outcome of a side game.
    #[inline]
    pub const fn is_chance(&self) -> bool {
        matches!(self.phase, Phase::SideGame)
    }

    /// Spots whose top item is of this colour.
    #[inline]
    pub const fn owned(&self, color: Color) -> SpotSet {
        self.owned[color.index()]
    }

    /// Spots with anything on them.
    #[inline]
    pub const fn occupied(&self) -> SpotSet {
        SpotSet(self.owned[0].0 | self.owned[1].0)
    }

    /// Spots holding a GIPF-piece of either colour, converted ones not counted.
    #[inline]
    pub const fn gipfs(&self) -> SpotSet {
        self.gipf
    }

    /// Spots holding a potential.
    #[inline]
    pub const fn complex(&self) -> SpotSet {
        self.complex
    }

    /// What stands on a spot.
    pub fn stack(&self, spot: Spot) -> Option<Stack> {
        let color = self.owner(spot)?;
        Some(if self.complex.contains(spot) {
            self.code(spot).stack()
        } else {
            Stack {
                base: Some((color, self.gipf.contains(spot))),
                potential: None,
                first: color,
                count: 0,
            }
        })
    }

    /// The colour that owns a spot.
    #[inline]
    pub const fn owner(&self, spot: Spot) -> Option<Color> {
        if self.owned[0].contains(spot) {
            Some(Color::White)
        } else if self.owned[1].contains(spot) {
            Some(Color::Black)
        } else {
            None
        }
    }

    /// Basic pieces in hand, those that loaded or GIPF-pieces would take included.
    #[inline]
    pub const fn hand_basic(&self, color: Color) -> u8 {
        self.basics[color.index()]
    }

    /// Basic pieces of a colour that are still in the game: in the hand, and on the board alone or below potentials, whoever owns
    /// the spot; a GIPF-piece is two. Of those it began with ([`Rules::basic`]) the others have been captured.
    pub fn basic_pieces(&self, color: Color) -> u8 {
        let simple = self.owned(color) & !self.complex;
        let below = self.complex.iter().filter(|&spot| self.code(spot).base() == Some(color));
        // A GIPF-piece never carries a potential; what PÜNCT leaves of one is a basic piece (rules, section 6).
        let board = simple.len() + (simple & self.gipf).len() + below.count() as u32;
        self.hand_basic(color) + board as u8
    }

    /// Potentials in hand by kind.
    #[inline]
    pub const fn hand_potentials(&self, color: Color) -> [u8; 5] {
        self.potentials[color.index()]
    }

    /// What the colour may still enter.
    #[inline]
    pub const fn stage(&self, color: Color) -> Stage {
        self.stages[color.index()]
    }

    /// Whose TAMSK-stack was pushed onto `e5` in this turn and still has its chance.
    #[inline]
    pub const fn e5_chance(&self) -> Option<Color> {
        self.e5
    }

    /// Spots changed in this turn, as far as they can matter for GIPF-only rows
    /// (rules, section 10, `ch`).
    #[inline]
    pub const fn changed(&self) -> SpotSet {
        self.changed
    }

    /// Lines closed to the GIPF-only offer in this turn, bit [`Line::index`](crate::Line::index)
    /// each (rules, section 10, `done`).
    #[inline]
    pub const fn closed_lines(&self) -> u32 {
        self.closed[0] | self.closed[1]
    }

    /// The announced move, in phases `?` and `=`.
    pub fn announced(&self) -> Option<Play> {
        match self.phase {
            Phase::Challenge | Phase::SideGame => Some(self.announced),
            _ => None,
        }
    }

    /// The phase in which the announced move was announced, in phases `?` and `=`.
    pub fn announced_at(&self) -> Option<Phase> {
        self.announced().map(|_| match self.announced_at {
            AnnouncedAt::Regular => Phase::Regular,
            AnnouncedAt::ExtraOwed => Phase::ExtraOwed,
            AnnouncedAt::ExtraEarned => Phase::ExtraEarned,
        })
    }

    /// Challenges a colour may still make; `None` where there is no limit or no such option.
    pub fn challenges_left(&self, color: Color) -> Option<u32> {
        let limit = self.rules.challenge()?.limit()?;
        Some(limit.saturating_sub(u32::from(self.used[color.index()])))
    }

    /// GIPF-pieces of a colour on the board, converted ones included.
    #[inline]
    pub fn gipf_count(&self, color: Color) -> u32 {
        self.gipf_like(color).len()
    }

    #[inline]
    fn code(&self, spot: Spot) -> Code {
        self.stacks[spot.index()]
    }

    /// GIPF-pieces of a colour, with its converted ones where they count (rules, section 6).
    #[inline]
    fn gipf_like(&self, color: Color) -> SpotSet {
        let mut set = self.gipf & self.owned(color);
        if self.rules.punct_convert {
            for spot in self.complex & self.owned(color) {
                let code = self.code(spot);
                if code.count() == 1 && code.is_converted() {
                    set.insert(spot);
                }
            }
        }
        set
    }
}

/// Kinds of piece a colour may enter now, as far as stage and hand say.
#[inline]
fn enterable(position: &Position, color: Color) -> impl Iterator<Item = EntryKind> + use<> {
    let (me, basics) = (color.index(), position.hand_basic(color));
    let stage = position.stage(color);
    // The very first entry of a colour at stage G is a GIPF-piece (rules, section 5).
    let only_gipf = stage == Stage::G && !position.gipf.intersects(position.owned(color));
    let mut kinds = u32::from(stage == Stage::G && basics >= 2) << EntryKind::Gipf.index();
    if basics >= 1 && !only_gipf {
        kinds |= 1 << EntryKind::Basic.index();
        if stage != Stage::B {
            for kind in Potential::ALL {
                let in_hand = position.potentials[me][kind.index()] > 0;
                kinds |= u32::from(in_hand) << EntryKind::Loaded(kind).index();
            }
        }
    }
    std::iter::from_fn(move || {
        let kind = EntryKind::from_index(kinds.trailing_zeros() as usize)?;
        kinds &= kinds.wrapping_sub(1);
        Some(kind)
    })
}

/// How many ways to enter lead onto an empty spot; 1 for an entry that pushes.
pub(crate) fn ways_of(position: &Position, entry: Entry) -> u64 {
    let spot = entry.first_spot();
    if position.occupied().contains(spot) {
        return 1;
    }
    crate::board::RIM.iter().find(|rim| rim.spot == spot).map_or(1, |rim| rim.count as u64)
}
