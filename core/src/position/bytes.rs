//! Positions as bytes: fixed length, for caches, files and other languages. The rules are not in them.

use super::stack::MAX_COUNT;
use super::text::check;
use super::{AnnouncedAt, Code, Phase, Position, Stage, TextError};
use crate::Color;
use crate::board::{SPOTS, Spot, SpotSet};
use crate::play::Play;
use crate::rules::Rules;

/// Length of a position in bytes.
pub const POSITION_BYTES: usize = 2 * SPOTS + 42;

// A spot's two bytes, little endian: 0 empty; else bit 15, and either bits 0-9 a stack with potentials, or bit 14, with
// bit 0 Black's and bit 1 a GIPF-piece.
const OCCUPIED: u16 = 1 << 15;
const PLAIN: u16 = 1 << 14;

const PHASES: [Phase; 9] = [
    Phase::ExtraOwed,
    Phase::Regular,
    Phase::ExtraEarned,
    Phase::Removal(Color::White),
    Phase::Removal(Color::Black),
    Phase::Challenge,
    Phase::SideGame,
    Phase::Won(Color::White),
    Phase::Won(Color::Black),
];
const STAGES: [Stage; 3] = [Stage::G, Stage::L, Stage::B];
const ANNOUNCED_AT: [AnnouncedAt; 3] =
    [AnnouncedAt::Regular, AnnouncedAt::ExtraOwed, AnnouncedAt::ExtraEarned];
const CHANCES: [Option<Color>; 3] = [None, Some(Color::White), Some(Color::Black)];

impl Position {
    /// The whole state but the rules, as [`Position::from_bytes`] reads it.
    ///
    /// Two bytes a spot in the order of [`Spot::ALL`]; basic pieces in hand; potentials in hand by kind, White's, then
    /// Black's; challenges used; stages; mover, phase, whose chance on e5, where the announced move was announced; spots
    /// changed (8); lines closed, White's and Black's (3 each); the announced move (8). Numbers are little endian.
    pub fn to_bytes(&self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        for spot in Spot::ALL {
            put(&self.spot_code(spot).to_le_bytes());
        }
        put(&self.basics);
        put(&self.potentials[0]);
        put(&self.potentials[1]);
        put(&self.used);
        put(&self.stages.map(|stage| stage as u8));
        let e5 = self.e5.map_or(0, |color| 1 + color as u8);
        put(&[self.mover as u8, self.phase_code() as u8, e5, self.announced_at as u8]);
        put(&self.changed.0.to_le_bytes());
        put(&self.closed[0].to_le_bytes()[..3]);
        put(&self.closed[1].to_le_bytes()[..3]);
        put(&self.announced.to_bits().to_le_bytes());
        debug_assert_eq!(at, POSITION_BYTES);
        bytes
    }

    fn spot_code(&self, spot: Spot) -> u16 {
        match self.owner(spot) {
            None => 0,
            Some(_) if self.complex.contains(spot) => OCCUPIED | self.code(spot).0,
            Some(color) => {
                OCCUPIED | PLAIN | u16::from(self.gipf.contains(spot)) << 1 | color as u16
            }
        }
    }

    /// Reads what [`Position::to_bytes`] wrote of a position by these rules.
    ///
    /// # Errors
    /// Bytes of another length or form, or a position that [`Position::parse`] would refuse too.
    pub fn from_bytes(rules: &Rules, bytes: &[u8]) -> Result<Position, TextError> {
        let fault = |fault: String| TextError { part: "bytes", fault };
        let bytes: &[u8; POSITION_BYTES] = bytes
            .try_into()
            .map_err(|_| fault(format!("{} bytes, {POSITION_BYTES} expected", bytes.len())))?;
        let mut position = Position::empty(rules);
        let (spots, rest) = bytes.split_at(2 * SPOTS);
        for (spot, code) in Spot::ALL.into_iter().zip(spots.chunks_exact(2)) {
            let code = u16::from_le_bytes([code[0], code[1]]);
            if code != 0 && !position.put_code(spot, code) {
                return Err(fault(format!("{spot}: {code:#06x} is no stack")));
            }
        }
        let unknown = |what: &str| fault(format!("{what} is out of range"));
        position.basics = [rest[0], rest[1]];
        for (potentials, hand) in position.potentials.iter_mut().zip(rest[2..12].chunks(5)) {
            potentials.copy_from_slice(hand);
        }
        position.used = [rest[12], rest[13]];
        for (stage, byte) in position.stages.iter_mut().zip(&rest[14..16]) {
            *stage = *STAGES.get(usize::from(*byte)).ok_or_else(|| unknown("stage"))?;
        }
        let [mover, phase, e5, announced_at] = [16, 17, 18, 19].map(|at| usize::from(rest[at]));
        position.mover = *Color::ALL.get(mover).ok_or_else(|| unknown("mover"))?;
        position.phase = *PHASES.get(phase).ok_or_else(|| unknown("phase"))?;
        position.e5 = *CHANCES.get(e5).ok_or_else(|| unknown("chance on e5"))?;
        position.announced_at =
            *ANNOUNCED_AT.get(announced_at).ok_or_else(|| unknown("announced phase"))?;
        let number = |from: usize, length: usize| {
            rest[from..from + length].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
        };
        position.changed = SpotSet(number(20, 8));
        position.closed = [number(28, 3) as u32, number(31, 3) as u32];
        position.announced = Play::from_bits(number(34, 8));
        check::check(&position)?;
        if position.to_bytes() != *bytes
            || Position::parse(rules, &position.to_string())? != position
        {
            return Err(fault("not the bytes of a position".to_owned()));
        }
        Ok(position)
    }

    /// Puts a stack on an empty spot; false if the code is none.
    fn put_code(&mut self, spot: Spot, code: u16) -> bool {
        if code & OCCUPIED == 0 {
            return false;
        }
        if code & PLAIN != 0 {
            self.owned[usize::from(code & 1)].insert(spot);
            if code & 2 != 0 {
                self.gipf.insert(spot);
            }
            return true;
        }
        let stack = Code(code & !OCCUPIED);
        let possible = (1..=MAX_COUNT).contains(&stack.count())
            && Code::new(stack.base(), stack.kind(), stack.first(), stack.count()) == stack;
        if possible {
            self.put(spot, stack);
        }
        possible
    }
}
