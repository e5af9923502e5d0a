//! The count of a match's games, in whatever order they end.

use gipf_core::record::GameResult;

use super::{MatchConfig, MatchError, MatchGame, MatchResult};
use crate::sprt::SprtState;

/// The games that are over.
pub(super) struct Tally {
    /// A's half points by the games' numbers.
    points: Vec<Option<u8>>,
    /// The next pair that the test looks at.
    next_pair: usize,
    pub(super) result: MatchResult,
}

impl Tally {
    /// No game yet.
    pub(super) fn new(config: &MatchConfig, a: String, b: String) -> Tally {
        Tally {
            points: vec![None; config.games as usize],
            next_pair: 0,
            result: MatchResult {
                a,
                b,
                sprt: config.sprt.map(SprtState::new),
                ..MatchResult::default()
            },
        }
    }

    /// The first game at or after this number that has not been played.
    pub(super) fn missing(&self, from: u64) -> Option<u64> {
        let ahead = self.points.get(from as usize..)?;
        ahead.iter().position(Option::is_none).map(|offset| from + offset as u64)
    }

    /// Whether the test has decided.
    pub(super) fn is_decided(&self) -> bool {
        self.result.sprt.is_some_and(|sprt| sprt.decision.is_some())
    }

    /// Counts a game of this match that was played before.
    pub(super) fn take_up(
        &mut self,
        config: &MatchConfig,
        game: &MatchGame,
    ) -> Result<(), MatchError> {
        let record = &game.record;
        let number = record.id.seq;
        let foreign = |fault: String| Err(MatchError::Foreign { number, fault });
        if record.rules != config.rules.to_string() {
            return foreign(format!("is of rules {}, not {}", record.rules, config.rules));
        }
        if (record.seed, record.max_plays) != (config.seed, config.max_plays) {
            return foreign(format!(
                "has seed {} and a limit of {} plays, not {} and {}",
                record.seed, record.max_plays, config.seed, config.max_plays
            ));
        }
        match self.points.get(number as usize) {
            Some(None) => {}
            Some(Some(_)) => return foreign("stands twice".to_owned()),
            None => {
                return foreign(format!(
                    "is beyond the match's {} games, of which the first is game 0",
                    config.games
                ));
            }
        }
        self.count(game);
        Ok(())
    }

    /// Counts a game.
    pub(super) fn count(&mut self, game: &MatchGame) {
        let (record, result) = (&game.record, &mut self.result);
        let number = record.id.seq as usize;
        let a_is_white = number.is_multiple_of(2);
        result.games += 1;
        result.plays += record.plays.len() as u64;
        let winner = match record.result {
            GameResult::Unfinished => None,
            GameResult::White => Some(0),
            GameResult::Black => Some(1),
        };
        let half_points = match winner {
            None => {
                result.unfinished += 1;
                1
            }
            Some(color) => {
                let a_won = (color == 0) == a_is_white;
                let wins = if a_won { &mut result.a_wins } else { &mut result.b_wins };
                wins[color] += 1;
                if let Some(reason) = &record.forfeit {
                    let loser = &mut result.sides[usize::from(a_won)];
                    loser.forfeits += 1;
                    loser.last_forfeit = Some(reason.clone());
                }
                if a_won { 2 } else { 0 }
            }
        };
        for (side, cost) in result.sides.iter_mut().zip(game.costs) {
            side.cost += cost;
        }
        self.points[number] = Some(half_points);
        if let Some(other) = self.points[number ^ 1] {
            result.pairs.add(usize::from(half_points + other));
        }
        self.test();
    }

    /// Lets the test look at the pairs that are whole, in their order.
    fn test(&mut self) {
        let Some(sprt) = &mut self.result.sprt else { return };
        while let Some(&[Some(one), Some(other)]) =
            self.points.get(2 * self.next_pair..2 * self.next_pair + 2)
        {
            sprt.add(usize::from(one + other));
            self.next_pair += 1;
        }
    }
}
