//! In which order a layer over the board visits its output rows, and where each row's inputs lie.
//!
//! Of the 37 x 7 taps 42 fall outside the board. Rows that miss the same taps are put into the same tile, which then leaves
//! these taps out: with many positions at once a tile is one spot of several positions; with few it is a stretch of one
//! side of the board. Leaving out a product with 0 changes no sum, so results do not depend on the tiles.

use super::{NEIGHBOURS, SPOTS, TAPS};

/// The order of a layer's rows, for some number of positions of some width.
///
/// Buffers of rows begin with a row of zeros, which stands for every spot outside the board; position `p`'s spot `s` is row
/// `1 + p * SPOTS + s`.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    positions: usize,
    width: usize,
    height: usize,
    pub(super) tiles: Vec<Tile>,
    /// Of each tile: where its output rows begin, where their biases begin, and for each of its taps where its input rows begin.
    pub(super) offsets: Vec<u32>,
}

/// Rows that are computed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Rows of it.
    pub(super) height: usize,
    /// Its part of the offsets.
    pub(super) first: usize,
    /// The taps that any of its rows has, and how many they are.
    pub(super) taps: [u8; TAPS],
    pub(super) tap_count: usize,
}

/// The spots of each side of the board, each with the corner that it begins with: what they all miss are two taps.
const SIDES: usize = 6;

impl Plan {
    /// A plan for `positions` positions whose rows, in and out, are `width` numbers. No tile is higher than `height`, and where
    /// it can be each has at least `least` rows, so that its sums do not wait for each other.
    pub(crate) fn new(positions: usize, width: usize, height: usize, least: usize) -> Plan {
        let mut plan = Plan { positions, width, height, tiles: Vec::new(), offsets: Vec::new() };
        if positions >= least {
            for spot in 0..SPOTS {
                plan.add(&[spot]);
            }
        } else {
            let (sides, inner) = sides();
            let together = least.div_ceil(3 * positions.max(1)).clamp(1, SIDES);
            sides.chunks(together).for_each(|sides| plan.add(&sides.concat()));
            plan.add(&inner);
        }
        plan
    }

    pub(crate) fn positions(&self) -> usize {
        self.positions
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Numbers of a buffer of rows that it goes over, the row of zeros included.
    pub(super) fn extent(&self) -> usize {
        (1 + self.positions * SPOTS) * self.width
    }

    /// Adds the rows of these spots of all positions, in tiles of nearly equal height.
    fn add(&mut self, spots: &[usize]) {
        let rows: Vec<(usize, usize)> = spots
            .iter()
            .flat_map(|&spot| (0..self.positions).map(move |position| (position, spot)))
            .collect();
        let tiles = rows.len().div_ceil(self.height);
        for tile in 0..tiles {
            self.add_tile(&rows[rows.len() * tile / tiles..rows.len() * (tile + 1) / tiles]);
        }
    }

    fn add_tile(&mut self, rows: &[(usize, usize)]) {
        let (first, width) = (self.offsets.len(), self.width);
        let row = |position: usize, spot: usize| ((1 + position * SPOTS + spot) * width) as u32;
        self.offsets.extend(rows.iter().map(|&(position, spot)| row(position, spot)));
        self.offsets.extend(rows.iter().map(|&(position, _)| (position * width) as u32));
        let mut tile = Tile { height: rows.len(), first, taps: [0; TAPS], tap_count: 0 };
        let next = |spot: usize, tap: usize| usize::from(NEIGHBOURS[spot][tap]);
        for tap in 0..TAPS {
            if rows.iter().all(|&(_, spot)| next(spot, tap) == SPOTS) {
                continue;
            }
            tile.taps[tile.tap_count] = tap as u8;
            tile.tap_count += 1;
            self.offsets.extend(rows.iter().map(|&(position, spot)| match next(spot, tap) {
                SPOTS => 0,
                next => row(position, next),
            }));
        }
        self.tiles.push(tile);
    }
}

/// The spots of the six sides, and those that have all six neighbours.
fn sides() -> (Vec<Vec<usize>>, Vec<usize>) {
    let missing = |spot: usize, direction: usize| {
        usize::from(NEIGHBOURS[spot][1 + direction % SIDES]) == SPOTS
    };
    let mut sides = vec![Vec::new(); SIDES];
    let mut inner = Vec::new();
    for spot in 0..SPOTS {
        // A side is where two directions that follow each other lead off the board; a corner lies on two sides.
        match (0..SIDES).find(|&side| {
            missing(spot, side) && missing(spot, side + 1) && !missing(spot, side + SIDES - 1)
        }) {
            Some(side) => sides[side].push(spot),
            None => inner.push(spot),
        }
    }
    (sides, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the plan, each row is computed once, and every tap that lies on the board is in it.
    #[test]
    fn every_row_once_with_all_its_taps() {
        for (positions, height, least) in
            [(1, 5, 3), (1, 8, 5), (2, 8, 5), (3, 4, 5), (8, 4, 3), (7, 5, 3)]
        {
            let width = 16;
            let plan = Plan::new(positions, width, height, least);
            let (mut rows, mut on_board, mut products) = (Vec::new(), 0, 0);
            for tile in &plan.tiles {
                assert!((1..=height).contains(&tile.height));
                let offsets =
                    |at: usize| plan.offsets[tile.first + at * tile.height..][..tile.height].iter();
                rows.extend(offsets(0).copied());
                for (n, tap) in tile.taps[..tile.tap_count].iter().enumerate() {
                    for ((out, bias), input) in offsets(0).zip(offsets(1)).zip(offsets(2 + n)) {
                        let row = *out as usize / width - 1;
                        let (position, spot) = (row / SPOTS, row % SPOTS);
                        assert_eq!(*bias as usize, position * width);
                        let expected = match usize::from(NEIGHBOURS[spot][usize::from(*tap)]) {
                            SPOTS => 0,
                            next => (1 + position * SPOTS + next) * width,
                        };
                        assert_eq!(*input as usize, expected);
                        on_board += usize::from(*input > 0);
                        products += 1;
                    }
                }
            }
            rows.sort_unstable();
            let all: Vec<u32> = (1..=positions * SPOTS).map(|row| (row * width) as u32).collect();
            assert_eq!(rows, all);
            assert_eq!(on_board, positions * (SPOTS * TAPS - 42));
            assert!(products < positions * (SPOTS * TAPS - 14), "taps are left out: {products}");
            if positions >= least {
                assert_eq!(products, on_board, "with many positions every product counts");
            }
        }
    }
}
