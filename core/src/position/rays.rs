//! What lies in a direction from a spot.

use crate::board::{Direction, SPOTS, Spot, SpotSet};

/// Spots beyond `from` in a direction.
#[inline]
pub(super) fn ray(from: Spot, direction: Direction) -> SpotSet {
    RAYS[direction.index()][from.index()]
}

static RAYS: [[SpotSet; SPOTS]; 6] = {
    let mut rays = [[SpotSet::EMPTY; SPOTS]; 6];
    let mut d = 0;
    while d < 6 {
        let mut i = 0;
        while i < SPOTS {
            let mut at = Spot::ALL[i];
            while let Some(next) = at.step(Direction::ALL[d]) {
                rays[d][i].insert(next);
                at = next;
            }
            i += 1;
        }
        d += 1;
    }
    rays
};

/// The spot next to `from` in a direction, none past the rim.
#[inline]
pub(super) fn step(from: Spot, direction: Direction) -> SpotSet {
    SpotSet::of(from).shift(direction)
}

/// The spot of a set nearest to the start of a ray in this direction.
#[inline]
pub(super) fn nearest(set: SpotSet, direction: Direction) -> Option<Spot> {
    if direction.is_forward() { set.first() } else { set.last() }
}
