//! From what a search found to what a record keeps of it.

use gipf_core::Play;
use gipf_core::record::{
    GameId, GameRecord, GameResult, POLICY_UNIT, RECORD_FORMAT, RecordedPlay, SearchRecord,
};

use crate::random::{Purpose, RandomKey, weighted};
use crate::search::SearchResult;
use crate::source::ListedGame;

/// A play of a game under way, small: its texts are written when the game has ended. (A policy's texts take several times
/// the memory, and many games are under way for a long time.)
pub(crate) struct Made {
    pub(crate) play: Play,
    /// None where it was not searched.
    search: Option<Found>,
}

/// What the search found.
struct Found {
    visits: u32,
    policy: Box<[(Play, u16)]>,
    value: f32,
    raw_value: f32,
    /// None after a fast search: its policy is no target.
    surprise: Option<f32>,
    full: bool,
    checkpoint: u64,
}

impl Made {
    /// A play that was not searched.
    pub(crate) fn unsearched(play: Play) -> Made {
        Made { play, search: None }
    }

    /// A play with what its search found.
    pub(crate) fn searched(play: Play, result: &SearchResult, full: bool, checkpoint: u64) -> Made {
        let found = Found {
            visits: result.visits,
            policy: quantized(&result.policy),
            value: result.value,
            raw_value: result.raw_value,
            surprise: full.then_some(result.surprise),
            full,
            checkpoint,
        };
        Made { play, search: Some(found) }
    }

    /// As a record has it.
    pub(crate) fn recorded(&self) -> RecordedPlay {
        let search = self.search.as_ref().map(|found| SearchRecord {
            n: found.visits,
            pi: found.policy.iter().map(|(play, parts)| (play.to_string(), *parts)).collect(),
            q: found.value,
            v: found.raw_value,
            full: found.full,
            ckpt: found.checkpoint,
            kl: found.surprise,
        });
        RecordedPlay { p: self.play.to_string(), s: search }
    }
}

/// The record of a game that ended on the board.
pub(crate) fn game_record(
    game: &ListedGame,
    max_plays: u32,
    result: GameResult,
    plays: &[Made],
) -> GameRecord {
    let identity = game.identity();
    let (run, worker) = (identity.run.clone(), identity.worker.clone());
    GameRecord {
        format: RECORD_FORMAT.to_owned(),
        id: GameId { run, worker, seq: game.number() },
        rules: game.rules().to_string(),
        start: None,
        max_plays,
        seed: identity.seed,
        result,
        forfeit: None,
        plays: plays.iter().map(Made::recorded).collect(),
    }
}

/// A play of the opening, drawn from a policy that is not empty: its shares to the power `1 / temperature` are the chances.
pub(crate) fn drawn_play(
    policy: &[(Play, f32)],
    temperature: f32,
    key: RandomKey,
    ply: u32,
) -> Play {
    let power = 1.0 / f64::from(temperature);
    let mut rng = key.stream(ply, Purpose::Sample);
    let weights = policy.iter().map(|&(_, share)| f64::from(share).powf(power));
    policy[weighted(&mut rng, weights)].0
}

/// The policy in parts of [`POLICY_UNIT`], in the search's order; plays that round to nothing are left out. What rounding
/// leaves over goes to the largest share, so the parts sum to the unit.
fn quantized(policy: &[(Play, f32)]) -> Box<[(Play, u16)]> {
    let unit = f32::from(POLICY_UNIT);
    let parts = |share: f32| (share * unit).round().clamp(0.0, unit) as i64;
    let rest = i64::from(POLICY_UNIT) - policy.iter().map(|&(_, share)| parts(share)).sum::<i64>();
    let largest = (0..policy.len()).max_by(|&a, &b| policy[a].1.total_cmp(&policy[b].1));
    let whole = |(index, &(play, share)): (usize, &(Play, f32))| {
        let parts = parts(share) + if largest == Some(index) { rest } else { 0 };
        (parts > 0).then(|| (play, parts.min(i64::from(POLICY_UNIT)) as u16))
    };
    policy.iter().enumerate().filter_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_unit() {
        let plays: Vec<Play> =
            ["e1-e2", "b1-b2", "h1-h2", "b6-b5"].iter().map(|text| text.parse().unwrap()).collect();
        let policy = |shares: [f32; 4]| plays.iter().copied().zip(shares).collect::<Vec<_>>();
        for shares in [
            [0.25; 4],
            [1.0, 0.0, 0.0, 0.0],
            [0.999_98, 7e-6, 7e-6, 6e-6],
            [1e-6, 0.1, 0.3, 0.599_999],
        ] {
            let parts = quantized(&policy(shares));
            assert_eq!(
                parts.iter().map(|&(_, part)| u32::from(part)).sum::<u32>(),
                65535,
                "{parts:?}"
            );
            assert!(parts.iter().all(|&(_, part)| part > 0));
        }
        assert_eq!(*quantized(&policy([1.0, 0.0, 0.0, 0.0])), [(plays[0], 65535)]);
    }
}
