//! What each side's pushes would do: which of them make a row and what that row takes (rules, sections 5 and 7).
//!
//! A push moves a whole line, so what it leads to depends on spots up to six steps away: a small network has to spend most of
//! its blocks on finding that out. The rules tell it at once. It says nothing about what is good: no row is counted, no piece weighed.

use gipf_core::{Color, Direction, Entry, Position, SpotSet};

/// How one side can make a row: the pushes of a basic piece that make a row of its own, whether or not it is that side's turn and whatever it has in hand.
///
/// A push is marked on its first spot, in the set of its line's orientation (0: N-S, 1: NE-SW, 2: SE-NW): a rim spot is one end
/// of a line, so both together say which push it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Threats {
    /// Pushes that make a row.
    pub(crate) rows: [SpotSet; 3],
    /// Those whose rows take a stack of the other side, GIPF-pieces included (a remover may keep one, but has the choice).
    pub(crate) takes: [SpotSet; 3],
    /// Those whose rows take two or more of them.
    pub(crate) takes_more: [SpotSet; 3],
    /// Those whose rows take a GIPF-piece of the other side.
    pub(crate) takes_gipf: [SpotSet; 3],
    /// The other side's stacks that some push takes, where they stand now.
    pub(crate) taken: SpotSet,
    /// Spots not owned that would complete a row if they were: where a move of a potential to them would.
    pub(crate) completing: SpotSet,
}

impl Threats {
    /// The threats of `side` in a position.
    pub(crate) fn of(position: &Position, side: Color) -> Threats {
        let board = Board {
            own: position.owned(side),
            other: position.owned(side.other()),
            occupied: position.occupied(),
        };
        let gipfs = position.gipfs() & board.other;
        let mut threats = Threats { completing: completing(board.own), ..Threats::default() };
        for entry in Entry::ALL {
            let Some(path) = entry.path(board.occupied) else { continue };
            let after = board.pushed(entry, path);
            let rows: [SpotSet; 3] = std::array::from_fn(|orientation| after.own.rows(orientation));
            if rows.iter().all(|row| row.is_empty()) {
                continue;
            }
            let (line, first) = (entry.line().orientation(), entry.first_spot());
            threats.rows[line].insert(first);
            let segments = (0..3).fold(SpotSet::EMPTY, |all, orientation| {
                all | extended(rows[orientation], orientation, after.occupied)
            });
            let taken = segments & after.other;
            let taken = (taken - path) | (taken & path).shift(entry.direction().opposite());
            if taken.is_empty() {
                continue;
            }
            threats.takes[line].insert(first);
            if taken.len() > 1 {
                threats.takes_more[line].insert(first);
            }
            if taken.intersects(gipfs) {
                threats.takes_gipf[line].insert(first);
            }
            threats.taken |= taken;
        }
        threats
    }
}

/// Whose tops are where.
#[derive(Clone, Copy)]
struct Board {
    own: SpotSet,
    other: SpotSet,
    occupied: SpotSet,
}

impl Board {
    /// The board after an own piece has entered; `path` runs from its first spot to the first empty one.
    #[inline]
    fn pushed(&self, entry: Entry, path: SpotSet) -> Board {
        Board {
            own: entry.pushed(self.own, path) | SpotSet::of(entry.first_spot()),
            other: entry.pushed(self.other, path),
            occupied: self.occupied | path,
        }
    }
}

/// The spots whose three neighbours in some four of a line are in the set, and which are not themselves.
#[inline]
fn completing(own: SpotSet) -> SpotSet {
    let mut spots = SpotSet::EMPTY;
    for orientation in 0..3 {
        let direction = Direction::from_index(orientation);
        let shifts = |set: SpotSet, direction: Direction| {
            let one = set.shift(direction);
            let two = one.shift(direction);
            [one, two, two.shift(direction)]
        };
        // Owned one, two, three steps behind, and as many ahead.
        let [behind, behind2, behind3] = shifts(own, direction);
        let [ahead, ahead2, ahead3] = shifts(own, direction.opposite());
        let both = behind & ahead;
        spots |= behind & behind2 & behind3 | both & (behind2 | ahead2) | ahead & ahead2 & ahead3;
    }
    spots - own
}

/// Rows of an orientation with every stack that extends them without a gap.
#[inline]
fn extended(rows: SpotSet, orientation: usize, occupied: SpotSet) -> SpotSet {
    let direction = Direction::from_index(orientation);
    let mut segment = rows;
    loop {
        let next =
            segment | (segment.shift(direction) | segment.shift(direction.opposite())) & occupied;
        if next == segment {
            return segment;
        }
        segment = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::{EntryKind, Phase, Play, PlayKind, Rules};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    /// What the rules do with a push: whether it makes a row, and the stacks of the other side that the rows take.
    fn by_the_rules(position: &Position, play: Play) -> Option<(bool, SpotSet)> {
        let me = position.mover();
        let mut after = *position;
        after.play(play);
        if after.phase() == Phase::ExtraEarned {
            after.play(Play::SKIP_EXTRA);
        }
        match after.phase() {
            Phase::Removal(color) if color == me => {
                let mut rows = Vec::new();
                after.rows(me, &mut rows);
                let segments = rows.iter().fold(SpotSet::EMPTY, |all, row| all | row.segment);
                Some((true, segments & after.owned(me.other())))
            }
            // The game may end before anything is removed.
            Phase::Won(_) => None,
            _ => Some((false, SpotSet::EMPTY)),
        }
    }

    #[test]
    fn a_completing_spot_completes() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..2000 {
            let own = SpotSet(rng.next_u64() & rng.next_u64()) & SpotSet::ALL;
            // Without the rows that are there already.
            let own = (0..3).fold(own, |own, orientation| own - own.rows(orientation));
            for spot in (SpotSet::ALL - own).iter() {
                let with = own | SpotSet::of(spot);
                let row = (0..3).any(|orientation| !with.rows(orientation).is_empty());
                assert_eq!(completing(own).contains(spot), row, "{own:?} {spot}");
            }
        }
    }

    #[test]
    fn threats_are_what_the_rules_make_of_each_push() {
        let (mut rows, mut takes, mut gipfs) = (0, 0, 0);
        for (seed, text) in ["basic", "standard", "standard+T4Z4D4"].into_iter().enumerate() {
            let rules: Rules = text.parse().expect("rules");
            let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
            let mut position = rules.start();
            let mut plays = Vec::new();
            for _ in 0..6000 {
                position.legal_plays(&mut plays);
                if plays.is_empty() {
                    position = rules.start();
                    continue;
                }
                let threats = Threats::of(&position, position.mover());
                let mut all_taken = SpotSet::EMPTY;
                let regular = position.phase() == Phase::Regular;
                for &play in plays.iter().filter(|_| regular) {
                    let PlayKind::Enter { entry, kind: EntryKind::Basic } = play.kind() else {
                        continue;
                    };
                    let Some((row, taken)) = by_the_rules(&position, play) else { continue };
                    let (line, first) = (entry.line().orientation(), entry.first_spot());
                    let gipf = {
                        let mut after = position;
                        after.play(play);
                        taken.intersects(after.gipfs())
                    };
                    let marked = [
                        (threats.rows, row),
                        (threats.takes, !taken.is_empty()),
                        (threats.takes_more, taken.len() > 1),
                        (threats.takes_gipf, gipf),
                    ];
                    for (sets, expected) in marked {
                        assert_eq!(sets[line].contains(first), expected, "{play} in {position}");
                    }
                    // Where the stacks stood before the push.
                    let path = entry.path(position.occupied()).expect("a legal push");
                    all_taken |=
                        (taken - path) | (taken & path).shift(entry.direction().opposite());
                    rows += u32::from(row);
                    takes += u32::from(!taken.is_empty());
                    gipfs += u32::from(gipf);
                }
                assert!(all_taken.is_subset(threats.taken), "{position}");
                position.play(plays[rng.next_u32() as usize % plays.len()]);
            }
        }
        assert!(
            rows > 500 && takes > 200 && gipfs > 20,
            "{rows} rows, {takes} takes, {gipfs} of GIPF-pieces"
        );
    }
}
