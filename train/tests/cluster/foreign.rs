//! Games made by a test, and messages that are none.

use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Play, Rules};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// A legal game of random plays, without searches; at most 80 plays, as the tiny configuration wants it.
pub(crate) fn game(run_id: &str, seq: u64) -> GameRecord {
    let mut rng = SmallRng::seed_from_u64(seq);
    let rules: Rules = "standard".parse().unwrap();
    let mut position = rules.start();
    let (mut plays, mut actions) = (Vec::new(), Vec::<Play>::new());
    while !position.is_over() && plays.len() < 80 {
        position.actions(&mut actions);
        let play = actions[rng.random_range(0..actions.len())];
        plays.push(RecordedPlay { p: play.to_string(), s: None });
        position.play(play);
    }
    GameRecord {
        format: RECORD_FORMAT.to_owned(),
        id: GameId { run: run_id.to_owned(), worker: "cd".repeat(16), seq },
        rules: "standard".to_owned(),
        start: None,
        max_plays: 80,
        seed: 1,
        result: GameResult::of(&position),
        forfeit: None,
        plays,
    }
}

/// A message that is none of ours, of one of many kinds; its format and run as headers, if it has any.
pub(crate) struct Foreign {
    pub(crate) format: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The number of kinds.
pub(crate) const KINDS: usize = 14;

/// A foreign message of a kind (0 to [`KINDS`] - 1); `good` is a message of ours.
pub(crate) fn foreign(kind: usize, run_id: &str, good: &[u8], rng: &mut SmallRng) -> Foreign {
    use gipf_train::cluster::CLUSTER_FORMAT;
    let ours = |body: Vec<u8>| Foreign {
        format: Some(CLUSTER_FORMAT.to_owned()),
        run: Some(run_id.to_owned()),
        body,
    };
    let changed = |change: &dyn Fn(&mut GameRecord)| {
        let mut record = game(run_id, 1_000_000);
        change(&mut record);
        ours(frame(record.to_json().as_bytes()))
    };
    match kind {
        0 => ours((0..rng.random_range(1..2_000)).map(|_| rng.random()).collect()),
        // Cut anywhere but at its end or between two games.
        1 => ours(good[..good.len() - rng.random_range(1..60)].to_vec()),
        2 => ours(Vec::new()),
        3 => Foreign { format: None, run: None, body: good.to_vec() },
        4 => Foreign { format: Some("gipf-cluster-0".to_owned()), ..ours(good.to_vec()) },
        5 => Foreign { run: Some("an-older-run".to_owned()), ..ours(good.to_vec()) },
        // A decompression bomb: 200 MB of nothing in some 20 kB.
        6 => ours(bomb(200 << 20)),
        // Within the bound of a frame, and no record.
        7 => ours(bomb(15 << 20)),
        8 => ours(frame(b"{\"format\":\"gipf-record-1\"}")),
        9 => changed(&|record| record.plays[5].p = "a1-z9".to_owned()),
        10 => changed(&|record| record.rules = "tournament".to_owned()),
        11 => changed(&|record| record.id.run = "another".to_owned()),
        12 => changed(&|record| {
            record.result = match record.result {
                GameResult::White => GameResult::Black,
                _ => GameResult::White,
            };
        }),
        // Many games in few bytes.
        _ => ours(frame(game(run_id, 1_000_000).to_json().as_bytes()).repeat(300)),
    }
}

fn frame(line: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(line, 3).unwrap()
}

fn bomb(bytes: usize) -> Vec<u8> {
    use std::cell::RefCell;
    use std::collections::HashMap;
    // Made once a size: packing them takes longer than refusing them.
    thread_local!(static MADE: RefCell<HashMap<usize, Vec<u8>>> = RefCell::default());
    MADE.with_borrow_mut(|made| made.entry(bytes).or_insert_with(|| frame(&vec![0; bytes])).clone())
}
