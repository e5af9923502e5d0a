//! From what a search found to what a record keeps of it.

use gipf_core::Play;
use gipf_core::record::{POLICY_UNIT, RecordedPlay, SearchRecord};

use crate::search::SearchResult;

/// A play that was not searched.
pub(crate) fn unsearched(play: Play) -> RecordedPlay {
    RecordedPlay { p: play.to_string(), s: None }
}

/// A play with what its search found.
pub(crate) fn searched(
    play: Play,
    result: &SearchResult,
    full: bool,
    checkpoint: u64,
) -> RecordedPlay {
    let search = SearchRecord {
        n: result.visits,
        pi: quantized(&result.policy),
        q: result.value,
        v: result.raw_value,
        full,
        ckpt: checkpoint,
    };
    RecordedPlay { p: play.to_string(), s: Some(search) }
}

/// The policy in parts of [`POLICY_UNIT`], largest shares first as the search has them; plays that round to nothing are left out.
fn quantized(policy: &[(Play, f32)]) -> Vec<(String, u16)> {
    policy
        .iter()
        .map(|&(play, share)| (play, (share * f32::from(POLICY_UNIT)).round() as u16))
        .filter(|&(_, parts)| parts > 0)
        .map(|(play, parts)| (play.to_string(), parts))
        .collect()
}
