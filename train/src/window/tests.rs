//! Content and order of the windows, their rebuilding, targets and symmetries.

use super::*;
use crate::config::WindowSection;
use crate::store::{DiskWait, Store, StoreOptions, is_held_out};
use crate::test_games::game;
use gipf_core::record::{GameRecord, GameResult};
use gipf_core::{Color, Symmetry};

const SECTION: WindowSection =
    WindowSection { minimum: 300, growth_scale: 0.5, growth_exponent: 0.6, maximum: 800 };
const SHARE: f64 = 0.2;
const MIX: ValueMix = ValueMix { from_search: 0.25 };

fn games(count: u64) -> Vec<GameRecord> {
    (0..count).map(|seq| game("standard", seq, 60)).collect()
}

fn filled(records: &[GameRecord]) -> Replay {
    let mut replay = Replay::new(&SECTION, SHARE, 5);
    for (ordinal, record) in records.iter().enumerate() {
        replay.add(ordinal as u64, record).expect("legal");
    }
    replay
}

fn batches(replay: &mut Replay) -> (Vec<Labelled>, Vec<Labelled>) {
    let (mut train, mut held_out) = (Vec::new(), Vec::new());
    replay.draw(50, MIX, &mut train);
    replay.draw_held_out(20, MIX, &mut held_out);
    (train, held_out)
}

fn content(window: &Window) -> Vec<(gipf_core::Position, f32, u16, Vec<u16>)> {
    window
        .samples()
        .map(|(s, policy)| (s.position, s.search_value, s.plays_left, policy.to_vec()))
        .collect()
}

#[test]
fn the_window_holds_the_newest_whole_games_within_its_bound() {
    let records = games(80);
    let mut replay = Replay::new(&SECTION, SHARE, 5);
    let mut all = Vec::new();
    for (ordinal, record) in records.iter().enumerate() {
        let added = replay.add(ordinal as u64, record).expect("legal");
        let searched = record.plays.iter().filter(|play| play.s.is_some()).count() as u64;
        assert_eq!(added.samples + added.held_out, searched);
        assert_eq!(added.held_out > 0, is_held_out(&record.id, SHARE));
        if added.samples > 0 {
            all.push(added.samples);
        }
        let window = replay.train();
        assert!(window.len() as u64 <= window.limit());
        // The longest run of newest games that the bound allows.
        let mut held = 0;
        let kept = all.iter().rev().take_while(|samples| {
            held += **samples;
            held <= window.limit()
        });
        assert_eq!(window.games(), kept.count());
    }
    assert_eq!(replay.train().limit(), 800, "the test reaches the bound");
    assert!(replay.held_out().len() as u64 <= 160 && replay.held_out().games() > 0);
}

#[test]
fn samples_hold_what_the_record_says() {
    let record = game("standard", 3, 200);
    let replay = filled(std::slice::from_ref(&record));
    let window = if is_held_out(&record.id, SHARE) { replay.held_out() } else { replay.train() };
    let replayed = record.replay().expect("legal");
    let mut samples = window.samples();
    let mut actions = Vec::new();
    for (index, recorded) in record.plays.iter().enumerate() {
        let Some(search) = &recorded.s else { continue };
        let (sample, policy) = samples.next().expect("a sample for each search");
        assert_eq!(sample.position, replayed.positions[index]);
        assert_eq!(sample.search_value, search.q);
        assert_eq!(usize::from(sample.plays_left), record.plays.len() - index);
        sample.position.actions(&mut actions);
        assert_eq!(policy.len(), if search.full { actions.len() } else { 0 });
        for (action, weight) in actions.iter().zip(policy) {
            let told = search.pi.iter().find(|(text, _)| *text == action.to_string());
            assert_eq!(*weight, told.map_or(0, |(_, weight)| *weight));
        }
    }
    assert!(samples.next().is_none());
}

#[test]
fn a_rebuilt_window_is_the_same_and_draws_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = StoreOptions { segment_bytes: 20_000, ..StoreOptions::default() };
    let mut store = Store::open(folder.path(), options, DiskWait::default()).expect("opens");
    let records = games(90);
    let mut replay = Replay::new(&SECTION, SHARE, 5);
    let mut batch = Vec::new();
    for (ordinal, record) in records.iter().enumerate() {
        store.append(std::slice::from_ref(record)).expect("appends");
        replay.add(ordinal as u64, record).expect("legal");
        replay.draw(3, MIX, &mut batch);
        replay.draw_held_out(2, MIX, &mut batch);
        if ![0, 7, 40, 70].contains(&ordinal) {
            continue;
        }
        // The state passes through JSON, as it does in a run.
        let text = serde_json::to_string(&replay.state()).expect("serializes");
        let state: ReplayState = serde_json::from_str(&text).expect("parses");
        store.prune(replay.oldest_game()).expect("prunes");
        let mut again = Replay::rebuild(&SECTION, SHARE, 5, &state, &store).expect("rebuilds");
        assert_eq!(content(again.train()), content(replay.train()), "after game {ordinal}");
        assert_eq!(content(again.held_out()), content(replay.held_out()), "after game {ordinal}");
        assert_eq!(again.state(), replay.state());
        let (train, held_out) = batches(&mut again);
        let mut copy = Replay::rebuild(&SECTION, SHARE, 5, &state, &store).expect("rebuilds");
        // Not assert_eq, which would print every plane of every sample.
        assert!(batches(&mut copy) == (train.clone(), held_out.clone()), "after game {ordinal}");
        assert!(batches(&mut replay) == (train, held_out), "after game {ordinal}");
        replay = again;
    }
    assert!(store.first_game() > 0, "the test prunes");
    assert_eq!(
        content(replay.train()),
        content(filled(&records).train()),
        "content depends on the games alone"
    );
}

#[test]
fn later_games_are_caught_up_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store =
        Store::open(folder.path(), StoreOptions::default(), DiskWait::default()).expect("opens");
    let records = games(30);
    store.append(&records).expect("appends");
    let state = filled(&records[..20]).state();
    let mut replay = Replay::rebuild(&SECTION, SHARE, 5, &state, &store).expect("rebuilds");
    assert_eq!(replay.games(), 20);
    let added = replay.catch_up(&store).expect("reads");
    assert_eq!((added.games, replay.games()), (10, 30));
    assert_eq!(content(replay.train()), content(filled(&records).train()));
}

#[test]
fn games_that_were_exchanged_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store =
        Store::open(folder.path(), StoreOptions::default(), DiskWait::default()).expect("opens");
    let mut records = games(20);
    let state = filled(&records).state();
    records[19].plays.truncate(5);
    records[19].result = GameResult::Unfinished;
    store.append(&records).expect("appends");
    let error = Replay::rebuild(&SECTION, SHARE, 5, &state, &store).expect_err("other games");
    assert!(matches!(error, WindowError::Differs { games: 20, .. }), "{error}");
}

#[test]
fn a_changed_bound_takes_effect_with_the_next_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store =
        Store::open(folder.path(), StoreOptions::default(), DiskWait::default()).expect("opens");
    let records = games(60);
    store.append(&records).expect("appends");
    let before = filled(&records[..59]);
    let smaller = WindowSection { maximum: 400, minimum: 300, ..SECTION };
    let mut replay =
        Replay::rebuild(&smaller, SHARE, 5, &before.state(), &store).expect("rebuilds");
    assert_eq!(content(replay.train()), content(before.train()));
    replay.catch_up(&store).expect("reads");
    assert!(replay.train().len() <= 400 || is_held_out(&records[59].id, SHARE));
}

#[test]
fn targets_are_from_the_deciders_view() {
    let mut seen = [false; 3];
    for seq in 0..12 {
        let record = game("standard", seq, if seq < 6 { 40 } else { 500 });
        let replay = filled(std::slice::from_ref(&record));
        let window =
            if is_held_out(&record.id, SHARE) { replay.held_out() } else { replay.train() };
        for (sample, policy) in window.samples() {
            let mut labelled = Labelled::default();
            labelled.fill(sample, policy, 0, MIX);
            let white = sample.position.decider() == Some(Color::White);
            let q = if white { sample.search_value } else { -sample.search_value };
            let search = [(1.0 + q) / 2.0, (1.0 - q) / 2.0];
            let result = match (record.result, white) {
                (GameResult::Unfinished, _) => {
                    seen[0] = true;
                    assert_eq!((labelled.value_weight, labelled.plays_left_weight), (0.25, 0.0));
                    search
                }
                (GameResult::White, true) | (GameResult::Black, false) => [1.0, 0.0],
                _ => [0.0, 1.0],
            };
            if record.result != GameResult::Unfinished {
                seen[1] = true;
                assert_eq!((labelled.value_weight, labelled.plays_left_weight), (1.0, 1.0));
                assert_eq!(labelled.plays_left, f32::from(sample.plays_left));
            }
            for side in 0..2 {
                let wanted = 0.75 * result[side] + 0.25 * search[side];
                assert!((labelled.value[side] - wanted).abs() < 1e-6);
            }
            assert_eq!(labelled.value[2], 0.0);
            let total: f32 = labelled.policy.iter().sum();
            if policy.is_empty() {
                assert_eq!((labelled.policy_weight, total), (0.0, 0.0));
            } else {
                seen[2] = true;
                assert_eq!(labelled.policy_weight, 1.0);
                assert!((total - 1.0).abs() < 1e-5);
            }
        }
    }
    assert_eq!(seen, [true; 3], "the games show every case");
}

/// A forfeit says who broke down, not who stood better: the result is no target.
#[test]
fn a_forfeited_game_teaches_as_an_unfinished_one() {
    let unfinished = game("standard", 3, 12);
    let forfeited = GameRecord {
        result: GameResult::White,
        forfeit: Some("hung".to_owned()),
        ..unfinished.clone()
    };
    let labels = |record: &GameRecord| {
        let replay = filled(std::slice::from_ref(record));
        let held_out = is_held_out(&record.id, SHARE);
        let window = if held_out { replay.held_out() } else { replay.train() };
        let fill = |(sample, policy): (&Sample, &[u16])| {
            let mut labelled = Labelled::default();
            labelled.fill(sample, policy, 0, MIX);
            labelled
        };
        window.samples().map(fill).collect::<Vec<_>>()
    };
    let taught = labels(&forfeited);
    assert!(!taught.is_empty() && taught.iter().all(|label| label.value_weight == 0.25));
    assert_eq!(taught, labels(&unfinished));
}

#[test]
fn a_symmetric_sample_is_the_sample_of_the_symmetric_position() {
    let replay = filled(&[game("standard", 8, 200)]);
    let window = if replay.train().is_empty() { replay.held_out() } else { replay.train() };
    let mut actions = Vec::new();
    for (sample, policy) in window.samples().filter(|(_, policy)| !policy.is_empty()) {
        for (side, symmetry) in Symmetry::ALL.into_iter().enumerate() {
            let mut labelled = Labelled::default();
            labelled.fill(sample, policy, side, MIX);
            let image = sample.position.transform(symmetry);
            sample.position.actions(&mut actions);
            for action in &mut actions {
                *action = sample.position.transform_play(symmetry, *action);
            }
            let mut features = gipf_model::Features::new();
            features.fill(&image, &actions);
            assert_eq!(labelled.features.planes, features.planes);
            assert_eq!(labelled.features.globals, features.globals);
            assert_eq!(labelled.policy.len(), features.policy.actions());
        }
    }
}

#[test]
fn draws_reach_every_sample_and_every_symmetry() {
    let mut replay = filled(&games(4));
    let mut counts = vec![0u32; replay.train().len()];
    let mut sides = [0u32; 12];
    let draws = counts.len() * 200;
    for _ in 0..draws {
        let (place, side) = replay.train_mut().draw(12, 0.0).expect("not empty");
        sides[side] += 1;
        counts[place] += 1;
    }
    // 200 on the average, with a deviation of 14.
    assert!(counts.iter().all(|count| count.abs_diff(200) < 90), "{counts:?}");
    let even = draws as u32 / 12;
    assert!(sides.iter().all(|count| count.abs_diff(even) < even / 5), "{sides:?}");
}

#[test]
fn an_empty_window_gives_an_empty_batch() {
    let mut batch = vec![Labelled::default(); 3];
    Replay::new(&SECTION, SHARE, 5).draw(3, MIX, &mut batch);
    assert!(batch.is_empty());
}
