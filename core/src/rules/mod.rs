//! Variants, mixes and options: everything that configures a game (rules, sections 3, 6 and 9).

mod text;

use crate::{Color, Position};
pub use text::RulesError;

/// A kind of potential (rules, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Potential {
    /// `T`: an extra entry from the centre.
    Tamsk,
    /// `Z`: a jump.
    Zertz,
    /// `D`: a cover on a basic piece.
    Dvonn,
    /// `Y`: a run.
    Yinsh,
    /// `P`: a cover on a GIPF-piece.
    Punct,
}

impl Potential {
    /// All kinds in the order of rules strings: T Z D Y P.
    pub const ALL: [Potential; 5] =
        [Potential::Tamsk, Potential::Zertz, Potential::Dvonn, Potential::Yinsh, Potential::Punct];

    /// 0 to 4 in the order of [`Potential::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind with this index, modulo 5.
    #[inline]
    pub(crate) const fn from_index(index: usize) -> Potential {
        Potential::ALL[index % 5]
    }

    /// The capital letter of all text forms.
    pub const fn letter(self) -> char {
        b"TZDYP"[self as usize] as char
    }

    /// The kind with this capital letter.
    pub fn from_letter(letter: u8) -> Option<Potential> {
        Potential::ALL.into_iter().find(|p| p.letter() as u8 == letter)
    }

    /// The name in words.
    pub const fn name(self) -> &'static str {
        ["TAMSK", "ZÈRTZ", "DVONN", "YINSH", "PÜNCT"][self as usize]
    }
}

/// The three basic forms of the game (rules, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Variant {
    /// No GIPF-pieces.
    Basic,
    /// Three GIPF-pieces each on the board at the start.
    Standard,
    /// GIPF-pieces are entered.
    Tournament,
}

impl Variant {
    /// All variants.
    pub const ALL: [Variant; 3] = [Variant::Basic, Variant::Standard, Variant::Tournament];

    /// The word of rules strings.
    pub const fn name(self) -> &'static str {
        ["basic", "standard", "tournament"][self as usize]
    }

    /// Basic pieces of a colour unless the rules string says otherwise.
    pub const fn default_basic(self) -> u8 {
        if matches!(self, Variant::Basic) { 15 } else { 18 }
    }

    /// Basic pieces of a colour that are on the board at the start.
    const fn basic_on_board(self) -> u8 {
        match self {
            Variant::Basic => 3,
            Variant::Standard => 6,
            Variant::Tournament => 0,
        }
    }
}

/// How a challenged move is decided (rules, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SideGame {
    /// Rock-paper-scissors: win, tie and loss are equally likely.
    Rps,
    /// A coin: win or loss.
    Coin,
    /// Played elsewhere and entered by hand; it has no probabilities.
    Recorded,
    /// Given probabilities.
    Chance,
}

/// The option `challenge` with `limit` and `kinds` (rules, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Challenge {
    /// How it is decided.
    pub side_game: SideGame,
    /// Bit `i`: moves with potential `i` can be challenged.
    pub(crate) kinds: u8,
    /// Challenges of each player in a game; 0: no limit.
    pub(crate) limit: u32,
    /// Win, tie, loss in units of 1e-9, for [`SideGame::Chance`] only.
    pub(crate) chance: [u32; 3],
}

impl Challenge {
    /// Whether moves with this kind of potential can be challenged.
    pub const fn covers(&self, kind: Potential) -> bool {
        self.kinds >> kind.index() & 1 != 0
    }

    /// Challenges each player has in a game; `None`: no limit.
    pub const fn limit(&self) -> Option<u32> {
        if self.limit == 0 { None } else { Some(self.limit) }
    }

    /// Probabilities of win, tie and loss for the player who announced the move; `None` for
    /// [`SideGame::Recorded`].
    pub fn probabilities(&self) -> Option<[f64; 3]> {
        match self.side_game {
            SideGame::Rps => Some([1.0 / 3.0; 3]),
            SideGame::Coin => Some([0.5, 0.0, 0.5]),
            SideGame::Recorded => None,
            SideGame::Chance => Some(self.chance.map(|p| f64::from(p) / 1e9)),
        }
    }
}

/// The rules of one game, read from a rules string such as `standard+T4Z4D4;challenge=rps`
/// (rules, section 3). `Display` gives the canonical string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    pub(crate) variant: Variant,
    pub(crate) basic: [u8; 2],
    pub(crate) mix: [[u8; 5]; 2],
    pub(crate) punct_convert: bool,
    pub(crate) challenge: Option<Challenge>,
}

impl Rules {
    /// The variant.
    #[inline]
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Basic pieces of a colour, on the board and in hand: 15 to 21.
    #[inline]
    pub const fn basic(&self, color: Color) -> u8 {
        self.basic[color.index()]
    }

    /// Potentials of a colour at the start, by kind: 0 to 6 each, 15 at most together.
    #[inline]
    pub const fn mix(&self, color: Color) -> [u8; 5] {
        self.mix[color.index()]
    }

    /// Whether a colour has any potential.
    pub fn has_potentials(&self, color: Color) -> bool {
        self.mix(color) != [0; 5]
    }

    /// Whether a PÜNCT-potential makes the GIPF-piece below it its owner's (`punct=convert`).
    #[inline]
    pub const fn punct_convert(&self) -> bool {
        self.punct_convert
    }

    /// The option `challenge`, if it is on.
    #[inline]
    pub const fn challenge(&self) -> Option<&Challenge> {
        self.challenge.as_ref()
    }

    /// Probabilities of win, tie and loss in a side game; `None` without challenges and for
    /// side games that are recorded.
    pub fn side_game_probabilities(&self) -> Option<[f64; 3]> {
        self.challenge.as_ref().and_then(Challenge::probabilities)
    }

    /// Whether search and self-play can play by these rules: recorded side games are for people
    /// (rules, section 9).
    pub fn is_searchable(&self) -> bool {
        self.challenge.is_none_or(|c| c.side_game != SideGame::Recorded)
    }

    /// Basic pieces in a colour's hand at the start.
    pub(crate) const fn basic_in_hand(&self, color: Color) -> u8 {
        self.basic(color) - self.variant.basic_on_board()
    }

    /// The position before White's first play.
    pub fn start(&self) -> Position {
        Position::start(self)
    }
}
