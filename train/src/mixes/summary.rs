//! What a study keeps of a game.

use gipf_core::record::{GameRecord, GameResult, RecordError, ReplayedGame};
use gipf_core::{Color, Position, Symmetry};

use super::fates::{GameFates, fates};

/// A side is ahead from this value of the search on, of -1 to 1.
pub const LEAD: f32 = 0.2;

/// A game in numbers. Games that turning or mirroring the board makes equal are equal here.
#[derive(Debug, Clone, PartialEq)]
pub struct GameSummary {
    /// How it ended.
    pub result: GameResult,
    /// A key of the position after the opening: the same whichever way it was reached.
    pub opening: u64,
    /// A key of all positions: games with one key are the same, play for play.
    pub course: u64,
    /// Its plays.
    pub plays: u32,
    /// Basic pieces taken from White and from Black, those of GIPF-pieces included.
    pub captured: [u32; 2],
    pub(super) fates: GameFates,
    /// Changes of the search's value from one decision behind the opening to the next, in points (half of the value), and their
    /// number.
    pub swings: (f64, u32),
    /// How often the side that was ahead by [`LEAD`] became the one that was behind by it.
    pub turns: u32,
}

impl GameSummary {
    /// Replays a game that began with so many drawn plays.
    ///
    /// # Errors
    /// The game is not by the rules.
    pub fn of(mut record: GameRecord, opening_plays: u32) -> Result<GameSummary, RecordError> {
        let opening_plays = (opening_plays as usize).min(record.plays.len());
        let behind = &mut record.plays[opening_plays..];
        let values: Vec<f32> =
            behind.iter().filter_map(|play| play.s.as_ref()).map(|search| search.q).collect();
        // What the searches looked at besides is the largest part, and nothing that is counted hangs on it.
        record.plays.iter_mut().for_each(|play| play.s = None);
        let ReplayedGame { rules, plays, positions } = record.replay()?;
        let last = positions.last().copied().unwrap_or_else(|| rules.start());
        let symmetries = symmetries(&rules.start());
        let opening = positions.get(opening_plays).unwrap_or(&last);
        let images = symmetries.iter().map(|&symmetry| opening.transform(symmetry).hash64());
        let courses = symmetries.iter().map(|&symmetry| course(&positions, symmetry));
        Ok(GameSummary {
            result: record.result,
            opening: images.min().unwrap_or_default(),
            course: courses.min().unwrap_or_default(),
            plays: plays.len() as u32,
            captured: Color::ALL.map(|color| {
                u32::from(rules.basic(color).saturating_sub(last.basic_pieces(color)))
            }),
            fates: fates(&positions, &plays),
            swings: swings(&values),
            turns: turns(&values),
        })
    }
}

/// The symmetries that leave the start as it is.
fn symmetries(start: &Position) -> Vec<Symmetry> {
    Symmetry::ALL.into_iter().filter(|&symmetry| start.transform(symmetry) == *start).collect()
}

/// A hash of all positions in their order, on a symmetric board.
fn course(positions: &[Position], symmetry: Symmetry) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let hashes = positions.iter().map(|position| position.transform(symmetry).hash64());
    hashes.fold(0, |all: u64, hash| (all.rotate_left(23) ^ hash).wrapping_mul(FACTOR))
}

fn swings(values: &[f32]) -> (f64, u32) {
    let steps = values.windows(2).map(|pair| 0.5 * f64::from((pair[1] - pair[0]).abs()));
    (steps.sum(), values.len().saturating_sub(1) as u32)
}

fn turns(values: &[f32]) -> u32 {
    let ahead = values.iter().filter(|value| value.abs() >= LEAD).map(|&value| value > 0.0);
    let ahead: Vec<bool> = ahead.collect();
    ahead.windows(2).filter(|pair| pair[0] != pair[1]).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_games::game;
    use gipf_core::Play;

    #[test]
    fn symmetric_games_are_one_and_others_are_not() {
        for (rules, count) in [("standard+T3Z3", 6), ("tournament", 12)] {
            let record = game(rules, 5, 120);
            let replayed = record.replay().expect("a legal game");
            let wanted = GameSummary::of(record.clone(), 10).expect("a summary");
            let images = symmetries(&replayed.positions[0]);
            assert_eq!(images.len(), count, "{rules}");
            for symmetry in images {
                let mut image = record.clone();
                let plays = replayed.plays.iter().zip(&replayed.positions);
                for ((play, position), made) in plays.zip(&mut image.plays) {
                    made.p = position.transform_play(symmetry, *play).to_string();
                    // The policy's plays stand where the image has others.
                    made.s.iter_mut().for_each(|search| search.pi.clear());
                }
                assert_eq!(GameSummary::of(image, 10).expect("a summary"), wanted);
            }
            let other = GameSummary::of(game(rules, 6, 120), 10).expect("a summary");
            assert!(other.opening != wanted.opening && other.course != wanted.course);
        }
    }

    #[test]
    fn openings_are_positions_and_courses_are_ways() {
        // The same four entries in another order: one opening, two courses.
        let of = |plays: [&str; 4]| {
            let mut record = game("basic", 1, 4);
            for (made, play) in record.plays.iter_mut().zip(plays) {
                made.p = play.parse::<Play>().expect("a play").to_string();
            }
            GameSummary::of(record, 4).expect("a summary")
        };
        let one = of(["a2-b3", "e9-e8", "a3-b4", "i2-h2"]);
        let two = of(["a3-b4", "e9-e8", "a2-b3", "i2-h2"]);
        assert_eq!(one.opening, two.opening);
        assert_ne!(one.course, two.course);
    }

    #[test]
    fn the_value_swings_and_turns() {
        assert_eq!(turns(&[0.3, 0.1, -0.1, 0.2, -0.2, -0.19, -0.9, 0.9]), 2);
        assert_eq!(turns(&[]), 0);
        let (sum, steps) = swings(&[0.0, 0.5, 0.1]);
        assert!((sum - 0.45).abs() < 1e-6 && steps == 2);
        assert_eq!(swings(&[0.4]), (0.0, 0));
    }
}
