//! Plays: the unit of move lists, perft and records (rules, section 10).

use crate::board::{Entry, ParseSpotError, Spot, SpotSet};
use crate::rules::Potential;
use std::fmt;
use std::str::FromStr;

/// What is entered (rules, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A basic piece.
    Basic,
    /// A GIPF-piece.
    Gipf,
    /// A basic piece carrying a potential.
    Loaded(Potential),
}

impl EntryKind {
    /// Number of kinds.
    pub const COUNT: usize = 7;

    /// 0 basic, 1 GIPF-piece, 2 to 6 loaded with T Z D Y P.
    #[inline]
    pub const fn index(self) -> usize {
        match self {
            EntryKind::Basic => 0,
            EntryKind::Gipf => 1,
            EntryKind::Loaded(potential) => 2 + potential.index(),
        }
    }

    /// The kind with this index.
    pub const fn from_index(index: usize) -> Option<EntryKind> {
        match index {
            0 => Some(EntryKind::Basic),
            1 => Some(EntryKind::Gipf),
            2..7 => Some(EntryKind::Loaded(Potential::from_index(index - 2))),
            _ => None,
        }
    }
}

/// The outcome of a side game for the player who announced the move (rules, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideGameOutcome {
    /// `=w`: the move is made.
    Win,
    /// `=t`: the move is made.
    Tie,
    /// `=l`: the potential is out of the game.
    Loss,
}

/// A play taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayKind {
    /// A piece enters and pushes.
    Enter {
        /// What enters.
        kind: EntryKind,
        /// Where.
        entry: Entry,
    },
    /// A potential moves: Z, D, Y or P.
    Move {
        /// The potential.
        kind: Potential,
        /// The spot of its loaded piece.
        from: Spot,
        /// Where it lands.
        to: Spot,
    },
    /// The extra move of the TAMSK-potential on `e5`.
    Extra(Entry),
    /// The extra move is not made.
    SkipExtra,
    /// A removal: the spots whose top is taken.
    Remove(SpotSet),
    /// The GIPF-only rows offered are left standing.
    Decline,
    /// The announced move is challenged.
    Challenge,
    /// The announced move is let pass.
    Pass,
    /// A side game ends.
    Outcome(SideGameOutcome),
}

/// A play in eight bytes. Its text is `Display` and `FromStr`: `Ge1-e2`, `Zc3:f5`, `+i3-h3`,
/// `xc2,d3,e4,f4`, `x-`, `?`, `.`, `=w` (rules, section 10).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Play(u64);

// The top byte says what the play is; a removal's spots need the 56 bits below it.
const TAG: u32 = 56;
const ENTER: u64 = 0;
const MOVE: u64 = 1;
const EXTRA: u64 = 2;
const SKIP_EXTRA: u64 = 3;
const REMOVE: u64 = 4;
const DECLINE: u64 = 5;
const CHALLENGE: u64 = 6;
const PASS: u64 = 7;
const WIN: u64 = 8;
const TIE: u64 = 9;
const LOSS: u64 = 10;

impl Play {
    /// `+-`
    pub const SKIP_EXTRA: Play = Play(SKIP_EXTRA << TAG);
    /// `x-`
    pub const DECLINE: Play = Play(DECLINE << TAG);
    /// `?`
    pub const CHALLENGE: Play = Play(CHALLENGE << TAG);
    /// `.`
    pub const PASS: Play = Play(PASS << TAG);
    /// `=w`
    pub const WIN: Play = Play(WIN << TAG);
    /// `=t`
    pub const TIE: Play = Play(TIE << TAG);
    /// `=l`
    pub const LOSS: Play = Play(LOSS << TAG);

    /// An entry.
    #[inline]
    pub const fn enter(kind: EntryKind, entry: Entry) -> Play {
        Play(ENTER << TAG | (kind.index() as u64) << 8 | entry.index() as u64)
    }

    /// An entry or extra move whose own entry is [`Entry::ALL`]`[0]`, with that of an entry of a basic
    /// piece.
    #[inline]
    pub(crate) const fn with_entry_of(self, basic: Play) -> Play {
        Play(self.0 | basic.0)
    }

    /// A potential's move.
    #[inline]
    pub const fn move_potential(kind: Potential, from: Spot, to: Spot) -> Play {
        Play(
            MOVE << TAG
                | (kind.index() as u64) << 16
                | (from.index() as u64) << 8
                | to.index() as u64,
        )
    }

    /// An extra move.
    #[inline]
    pub const fn extra(entry: Entry) -> Play {
        Play(EXTRA << TAG | entry.index() as u64)
    }

    /// A removal of the tops of these spots.
    #[inline]
    pub const fn remove(taken: SpotSet) -> Play {
        Play(REMOVE << TAG | taken.0)
    }

    /// Takes the play apart.
    #[inline]
    pub const fn kind(self) -> PlayKind {
        match self.0 >> TAG {
            ENTER => PlayKind::Enter {
                kind: match EntryKind::from_index(self.field(8)) {
                    Some(kind) => kind,
                    None => EntryKind::Basic,
                },
                entry: self.entry(),
            },
            MOVE => PlayKind::Move {
                kind: Potential::from_index(self.field(16)),
                from: self.spot(8),
                to: self.spot(0),
            },
            EXTRA => PlayKind::Extra(self.entry()),
            REMOVE => PlayKind::Remove(SpotSet(self.0 & ((1 << TAG) - 1))),
            SKIP_EXTRA => PlayKind::SkipExtra,
            DECLINE => PlayKind::Decline,
            CHALLENGE => PlayKind::Challenge,
            PASS => PlayKind::Pass,
            WIN => PlayKind::Outcome(SideGameOutcome::Win),
            TIE => PlayKind::Outcome(SideGameOutcome::Tie),
            _ => PlayKind::Outcome(SideGameOutcome::Loss),
        }
    }

    /// The packed form, for hashing and storing.
    pub(crate) const fn to_bits(self) -> u64 {
        self.0
    }

    /// The play of a packed form, of any bits: those that no play has are read as some play.
    pub(crate) const fn from_bits(bits: u64) -> Play {
        Play(bits)
    }

    const fn field(self, shift: u32) -> usize {
        (self.0 >> shift & 0xff) as usize
    }

    const fn spot(self, shift: u32) -> Spot {
        match Spot::from_index(self.field(shift)) {
            Some(spot) => spot,
            None => Spot::E5,
        }
    }

    const fn entry(self) -> Entry {
        match Entry::from_index(self.field(0)) {
            Some(entry) => entry,
            None => Entry::ALL[0],
        }
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            PlayKind::Enter { kind: EntryKind::Basic, entry } => write!(f, "{entry}"),
            PlayKind::Enter { kind: EntryKind::Gipf, entry } => write!(f, "G{entry}"),
            PlayKind::Enter { kind: EntryKind::Loaded(potential), entry } => {
                write!(f, "{}{entry}", potential.letter())
            }
            PlayKind::Move { kind, from, to } => write!(f, "{}{from}:{to}", kind.letter()),
            PlayKind::Extra(entry) => write!(f, "+{entry}"),
            PlayKind::SkipExtra => f.write_str("+-"),
            PlayKind::Remove(taken) => {
                for (i, spot) in taken.iter().enumerate() {
                    write!(f, "{}{spot}", if i == 0 { "x" } else { "," })?;
                }
                Ok(())
            }
            PlayKind::Decline => f.write_str("x-"),
            PlayKind::Challenge => f.write_str("?"),
            PlayKind::Pass => f.write_str("."),
            PlayKind::Outcome(SideGameOutcome::Win) => f.write_str("=w"),
            PlayKind::Outcome(SideGameOutcome::Tie) => f.write_str("=t"),
            PlayKind::Outcome(SideGameOutcome::Loss) => f.write_str("=l"),
        }
    }
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Play({self})")
    }
}

/// A text that is no play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePlayError {
    /// Not of any play's form.
    #[error("\"{0}\" is not a play")]
    Form(String),
    /// A removal that names something other than a spot.
    #[error("removal: {0}")]
    Spot(#[from] ParseSpotError),
    /// A removal whose spots are not in order, or that names one twice.
    #[error("removal \"{0}\": spots go by column, then number, each once")]
    Order(String),
}

/// A play's text is at most 3 characters a spot; anything longer is cut in messages.
fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

impl FromStr for Play {
    type Err = ParsePlayError;

    fn from_str(text: &str) -> Result<Play, ParsePlayError> {
        match text {
            "+-" => return Ok(Play::SKIP_EXTRA),
            "x-" => return Ok(Play::DECLINE),
            "?" => return Ok(Play::CHALLENGE),
            "." => return Ok(Play::PASS),
            "=w" => return Ok(Play::WIN),
            "=t" => return Ok(Play::TIE),
            "=l" => return Ok(Play::LOSS),
            _ => {}
        }
        if let Some(list) = text.strip_prefix('x') {
            return parse_removal(text, list);
        }
        parse_placing(text.as_bytes()).ok_or_else(|| ParsePlayError::Form(shorten(text)))
    }
}

fn parse_removal(text: &str, list: &str) -> Result<Play, ParsePlayError> {
    let mut taken = SpotSet::EMPTY;
    let mut last = None;
    for name in list.split(',') {
        let spot: Spot = name.parse()?;
        if last.is_some_and(|last| last >= spot) {
            return Err(ParsePlayError::Order(shorten(text)));
        }
        last = Some(spot);
        taken.insert(spot);
    }
    Ok(Play::remove(taken))
}

/// Entries, potentials' moves and extra moves.
fn parse_placing(text: &[u8]) -> Option<Play> {
    match *text {
        [c, n, b'-', c2, n2] => {
            let entry = Entry::from_names([c, n], Spot::from_name(c2, n2)?)?;
            Some(Play::enter(EntryKind::Basic, entry))
        }
        [b'+', c, n, b'-', c2, n2] => {
            let entry = Entry::from_names([c, n], Spot::from_name(c2, n2)?)?;
            Some(Play::extra(entry))
        }
        [kind, c, n, b'-', c2, n2] => {
            let entry = Entry::from_names([c, n], Spot::from_name(c2, n2)?)?;
            let kind = match kind {
                b'G' => EntryKind::Gipf,
                letter => EntryKind::Loaded(Potential::from_letter(letter)?),
            };
            Some(Play::enter(kind, entry))
        }
        [kind, c, n, b':', c2, n2] => {
            let kind = Potential::from_letter(kind).filter(|kind| *kind != Potential::Tamsk)?;
            Some(Play::move_potential(kind, Spot::from_name(c, n)?, Spot::from_name(c2, n2)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for text in [
            "e1-e2",
            "Ga1-b2",
            "Tc7-c6",
            "Pi5-h5",
            "Zc3:f5",
            "De5:e6",
            "+i3-h3",
            "+-",
            "xc2,d3,e4,f4",
            "x-",
            "?",
            ".",
            "=w",
            "=t",
            "=l",
        ] {
            assert_eq!(text.parse::<Play>().map(|p| p.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn bad_texts_are_refused() {
        for text in [
            "", "x", "x,", "xe2,e2", "xe3,e2", "xa1", "e2-e3", "e1-e3", "Se1-e2", "Te5:e6",
            "Ze5:e9", "+e1", "e1:e2", "=x", "x-e2", "é1-e2", "xe2,", "ge1-e2",
        ] {
            assert!(text.parse::<Play>().is_err(), "{text}");
        }
    }
}
