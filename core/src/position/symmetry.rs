//! Positions and plays seen through the 12 symmetries of the board.

use super::{Code, Position};
use crate::board::{Line, SPOTS, Spot, Symmetry};
use crate::play::{Play, PlayKind};

impl Position {
    /// The position after turning or mirroring the board. Colours stay.
    #[must_use]
    pub fn transform(&self, symmetry: Symmetry) -> Position {
        if symmetry == Symmetry::IDENTITY {
            return *self;
        }
        let mut stacks = [Code::NONE; SPOTS];
        for spot in self.complex {
            stacks[symmetry.spot(spot).index()] = self.code(spot);
        }
        let lines = |closed: u32| {
            let lines = Line::ALL.into_iter().filter(|line| closed >> line.index() & 1 != 0);
            lines.fold(0, |image, line| image | 1 << symmetry.line(line).index())
        };
        Position {
            owned: self.owned.map(|set| symmetry.set(set)),
            gipf: symmetry.set(self.gipf),
            complex: symmetry.set(self.complex),
            changed: symmetry.set(self.changed),
            announced: self.transform_play(symmetry, self.announced),
            stacks,
            closed: self.closed.map(lines),
            ..*self
        }
    }

    /// A legal play of this position as an action of the transformed one: an entry onto an empty
    /// spot becomes the first way onto the image of that spot.
    #[must_use]
    pub fn transform_play(&self, symmetry: Symmetry, play: Play) -> Play {
        let image = |spot: Spot| symmetry.spot(spot);
        let entry = |entry: crate::Entry| {
            let first = entry.first_spot();
            let onto_empty = !self.occupied().contains(first);
            crate::Entry::first_onto(image(first))
                .filter(|_| onto_empty)
                .unwrap_or_else(|| symmetry.entry(entry))
        };
        match play.kind() {
            PlayKind::Enter { kind, entry: way } => Play::enter(kind, entry(way)),
            PlayKind::Extra(way) => Play::extra(entry(way)),
            PlayKind::Move { kind, from, to } => Play::move_potential(kind, image(from), image(to)),
            PlayKind::Remove(taken) => Play::remove(symmetry.set(taken)),
            _ => play,
        }
    }
}
