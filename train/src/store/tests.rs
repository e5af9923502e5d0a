//! Torn tails, damage, repeated games, pruning, kills at every fault point, files of records.

use super::*;
use crate::faults;
use crate::test_games::game;
use gipf_core::record::GameRecord;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

fn open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, StoreOptions::default(), DiskWait::default())
}

fn open_small(folder: &Path, segment_bytes: u64) -> Store {
    let options = StoreOptions { segment_bytes, ..StoreOptions::default() };
    Store::open(folder, options, DiskWait::default()).expect("opens")
}

fn games(from: u64, count: u64) -> Vec<GameRecord> {
    (from..from + count).map(|seq| game("standard", seq, 12)).collect()
}

fn read(store: &Store, from: u64) -> Vec<(u64, GameRecord)> {
    store.records(from).collect::<Result<_, _>>().expect("reads")
}

#[test]
fn games_come_back_in_order_and_survive_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = games(0, 30);
    let mut store = open_small(folder.path(), 3_000);
    for part in all.chunks(4) {
        assert!(store.append(part).expect("appends").iter().all(|new| *new));
    }
    assert!(store.segments.len() > 3, "{} segments", store.segments.len());
    for store in [&store, &open_small(folder.path(), 3_000)] {
        assert_eq!(store.games(), 30);
        for from in [0, 1, 7, 29, 30, 99] {
            let expected: Vec<_> = (0..30)
                .filter(|ordinal| *ordinal >= from)
                .map(|o| (o, all[o as usize].clone()))
                .collect();
            assert_eq!(read(store, from), expected, "from {from}");
        }
    }
    assert_eq!(open_small(folder.path(), 3_000).next_seq("test"), 30);
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_to_the_whole_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = games(0, 4);
    let mut store = open(folder.path()).expect("opens");
    store.append(&all[..3]).expect("appends");
    let whole = store.bytes();
    store.append(&all[3..]).expect("appends");
    let path = store.segment_path(1);
    let bytes = fs::read(&path).expect("reads");
    for length in whole as usize..bytes.len() {
        fs::write(&path, &bytes[..length]).expect("writes");
        let mut store = open(folder.path()).expect("opens");
        assert_eq!(store.games(), 3, "cut at {length}");
        assert_eq!(fs::metadata(&path).expect("is there").len(), whole, "cut at {length}");
        assert!(store.expect_games(4).is_err());
        // What comes next stands behind the whole games.
        store.append(&all[3..]).expect("appends");
        assert_eq!(fs::read(&path).expect("reads"), bytes);
    }
}

#[test]
fn a_tail_is_not_cut_where_games_are_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(folder.path()).expect("opens");
    store.append(&games(0, 4)).expect("appends");
    let path = store.segment_path(1);
    let bytes = fs::read(&path).expect("reads");
    let torn = &bytes[..bytes.len() - 5];
    fs::write(&path, torn).expect("writes");
    let counted = |counted| {
        let options = StoreOptions::default();
        Store::open_counted(folder.path(), options, DiskWait::default(), counted)
    };
    assert!(matches!(counted(4), Err(StoreError::GamesLost { found: 3, counted: 4, .. })));
    assert_eq!(fs::read(&path).expect("reads"), torn, "nothing was changed");
    assert_eq!(counted(3).expect("opens").games(), 3);
    assert!(fs::read(&path).expect("reads").len() < torn.len());
}

#[test]
fn zeros_and_noise_behind_the_last_game_are_cut_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(folder.path()).expect("opens");
    store.append(&games(0, 3)).expect("appends");
    let path = store.segment_path(1);
    let bytes = fs::read(&path).expect("reads");
    for tail in
        [vec![0; 5000], vec![0xA5; 70_000], b"\x28\xB5\x2F\xFD".to_vec(), b"\x28\xB5\x2F".to_vec()]
    {
        fs::write(&path, [&bytes[..], &tail].concat()).expect("writes");
        assert_eq!(open(folder.path()).expect("opens").games(), 3);
        assert_eq!(fs::read(&path).expect("reads"), bytes);
    }
}

#[test]
fn a_file_that_no_writer_of_games_began_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = open(folder.path()).expect("opens").segment_path(1);
    for notes in [&b"my notes"[..], b"{}", &[0xA5; 3000]] {
        fs::write(&path, notes).expect("writes");
        assert!(matches!(open(folder.path()), Err(StoreError::Damaged { offset: 0, .. })));
        assert_eq!(fs::read(&path).expect("reads"), notes);
    }
    // What a writer leaves that was killed in its first game.
    for torn in [&b"\x28\xB5"[..], &[0; 100]] {
        fs::write(&path, torn).expect("writes");
        assert_eq!(open(folder.path()).expect("opens").games(), 0);
    }
}

#[test]
fn a_repeated_game_is_counted_and_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = games(0, 6);
    let mut store = open(folder.path()).expect("opens");
    assert_eq!(store.append(&all[..3]).expect("appends"), [true; 3]);
    let bytes = store.bytes();
    assert_eq!(store.append(&all[1..3]).expect("appends"), [false; 2]);
    assert_eq!(store.bytes(), bytes);
    let twice = [all[2].clone(), all[3].clone(), all[3].clone()];
    assert_eq!(store.append(&twice).expect("appends"), [false, true, false]);
    assert_eq!(store.games(), 4);
    // Two copies of a file, joined by hand.
    let path = store.segment_path(1);
    let once = fs::read(&path).expect("reads");
    fs::write(&path, [&once[..], &once].concat()).expect("writes");
    let mut store = open(folder.path()).expect("opens");
    assert_eq!(store.games(), 4);
    store.append(&all[4..]).expect("appends");
    let again = read(&open(folder.path()).expect("opens"), 2);
    assert_eq!(
        again,
        (2..6).map(|ordinal| (ordinal, all[ordinal as usize].clone())).collect::<Vec<_>>()
    );
}

#[test]
fn damage_in_the_middle_is_an_error_with_file_and_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(folder.path()).expect("opens");
    store.append(&games(0, 1)).expect("appends");
    let second = store.bytes() as usize;
    store.append(&games(1, 3)).expect("appends");
    let path = store.segment_path(1);
    let mut bytes = fs::read(&path).expect("reads");
    bytes[second + 40] ^= 0xFF;
    fs::write(&path, &bytes).expect("writes");
    let line = open(folder.path()).expect_err("damaged").to_string();
    let start = format!("{} is damaged at byte {second}: ", path.display());
    assert!(line.starts_with(&start) && !line.contains('\n'), "{line}");
    assert_eq!(fs::read(&path).expect("reads"), bytes, "nothing was changed");
}

#[test]
fn a_cut_in_an_earlier_segment_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open_small(folder.path(), 1);
    for part in games(0, 3).chunks(1) {
        store.append(part).expect("appends");
    }
    let path = store.segment_path(2);
    let bytes = fs::read(&path).expect("reads");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("writes");
    assert!(matches!(open(folder.path()), Err(StoreError::Damaged { offset: 0, .. })));
    fs::remove_file(&path).expect("removes");
    assert!(
        matches!(open(folder.path()), Err(StoreError::Missing { path: missing }) if missing == path)
    );
}

#[test]
fn a_frame_of_something_else_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = Vec::new();
    Encoder::new(3).expect("an encoder").encode(b"{\"id\":3}\n", &mut bytes).expect("encodes");
    fs::write(folder.path().join(segment_name(1)), bytes).expect("writes");
    assert!(matches!(open(folder.path()), Err(StoreError::NoRecord { offset: 0, .. })));
}

#[test]
fn pruning_keeps_ordinals_and_is_finished_after_an_interruption() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = games(0, 10);
    let mut store = open_small(folder.path(), 1);
    for part in all.chunks(2) {
        store.append(part).expect("appends");
    }
    let first = fs::read(store.segment_path(1)).expect("reads");
    assert_eq!(store.prune(1).expect("prunes"), 0);
    assert_eq!(store.prune(5).expect("prunes"), 4);
    assert_eq!((store.first_game(), store.games()), (4, 10));
    assert_eq!(read(&store, 0), (4..10).map(|o| (o, all[o as usize].clone())).collect::<Vec<_>>());
    // As if the process had died between the note and the removal.
    fs::write(store.segment_path(1), first).expect("writes");
    let mut store = open_small(folder.path(), 1);
    assert_eq!((store.first_game(), store.games()), (4, 10));
    assert!(!store.segment_path(1).exists());
    assert_eq!(store.prune(99).expect("prunes"), 4, "the last segment stays");
    let mut store = open_small(folder.path(), 1);
    assert_eq!(store.games(), 10);
    // A game that was pruned away is still known when it is delivered again.
    let again = store.append(&all).expect("appends");
    assert_eq!((again, store.games()), (vec![false; 10], 10));
    // A note of an older version does not know which games it stands for.
    let note = folder.path().join("pruned.json");
    fs::write(&note, r#"{"segments":5,"games":8}"#).expect("writes");
    assert_eq!(
        open_small(folder.path(), 1).append(&all[7..]).expect("appends"),
        [true, false, false]
    );
}

/// Not a test of its own: the process that the next test kills. It appends games one by one and tells what is counted.
#[test]
#[ignore = "runs inside killed_at_any_point_every_counted_game_is_there_once"]
fn helper_appends_until_killed() {
    let Ok(folder) = std::env::var("GIPF_TEST_FOLDER") else { return };
    let mut store = open_small(Path::new(&folder), 2_500);
    for seq in store.next_seq("test")..24 {
        store.append(&games(seq, 1)).expect("appends");
        println!("counted {}", store.games());
    }
}

#[test]
fn killed_at_any_point_every_counted_game_is_there_once() {
    let points = faults::POINTS
        .iter()
        .filter(|point| point.starts_with("append.") || point.starts_with("segment."));
    for point in points {
        let folder = tempfile::tempdir().expect("a folder");
        for count in [1, 3, 2] {
            let output = Command::new(std::env::current_exe().expect("this test"))
                .args([
                    "--exact",
                    "--ignored",
                    "--nocapture",
                    "store::tests::helper_appends_until_killed",
                ])
                .env("GIPF_TEST_FOLDER", folder.path())
                .env(faults::VARIABLE, format!("{point}:{count}"))
                .stdin(Stdio::null())
                .output()
                .expect("runs");
            assert!(output.status.code().is_none(), "{point}:{count} did not kill: {output:?}");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let counted = text.lines().filter_map(|line| line.strip_prefix("counted ")).next_back();
            let counted: u64 = counted.map_or(0, |number| number.parse().expect("a number"));
            let store = open_small(folder.path(), 2_500);
            store.expect_games(counted).expect("every counted game is there");
            let seqs: Vec<_> = read(&store, 0).iter().map(|(_, record)| record.id.seq).collect();
            assert_eq!(seqs, (0..store.games()).collect::<Vec<_>>(), "{point}:{count}");
        }
    }
}

#[test]
fn a_reader_takes_every_form_of_file_and_each_game_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = games(0, 12);
    let lines = |range: std::ops::Range<usize>| -> String {
        all[range].iter().map(|record| record.to_json() + "\n").collect()
    };
    fs::write(folder.path().join("a.jsonl"), lines(0..4)).expect("writes");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, lines(2..8).as_bytes()).expect("compresses");
    fs::write(folder.path().join("b.jsonl.gz"), gz.finish().expect("compresses")).expect("writes");
    let zst = zstd::stream::encode_all(lines(8..12).as_bytes(), 3).expect("compresses");
    fs::write(folder.path().join("c.jsonl.zst"), &zst).expect("writes");
    fs::write(folder.path().join("notes.txt"), "not games").expect("writes");
    let mut reader = RecordReader::open(folder.path()).expect("opens");
    let found: Vec<_> = reader.by_ref().collect::<Result<_, _>>().expect("reads");
    assert_eq!(found, all);
    assert_eq!(reader.repeated(), 2);
    // A record cut off at the end is left out; whole ones before it stay.
    let text = lines(0..2);
    fs::write(folder.path().join("a.jsonl"), &text[..text.len() - 9]).expect("writes");
    let cut = RecordReader::open(&folder.path().join("a.jsonl")).expect("opens");
    assert_eq!(cut.collect::<Result<Vec<_>, _>>().expect("reads"), all[..1]);
}

#[test]
fn a_reader_takes_a_run_that_is_being_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = open(&folder.path().join("games")).expect("opens");
    store.append(&games(0, 5)).expect("appends");
    let path = store.segment_path(1);
    let bytes = fs::read(&path).expect("reads");
    fs::write(&path, &bytes[..bytes.len() - 7]).expect("writes");
    let found = RecordReader::open(folder.path())
        .expect("opens")
        .collect::<Result<Vec<_>, _>>()
        .expect("reads");
    assert_eq!(found, games(0, 4));
    assert_eq!(
        fs::metadata(&path).expect("is there").len() as usize,
        bytes.len() - 7,
        "a reader changes nothing"
    );
}

#[test]
fn a_bad_record_is_named_by_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bad = games(1, 1);
    bad[0].plays[3].p = "e1-e2".to_owned();
    bad[0].plays[4].p = "zz".to_owned();
    let text: String =
        games(0, 1).iter().chain(&bad).map(|record| record.to_json() + "\n").collect();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, text).expect("writes");
    let results: Vec<_> = RecordReader::open(&path).expect("opens").collect();
    assert_eq!(results.len(), 2);
    let line = results[1].as_ref().expect_err("an illegal play").to_string();
    assert!(line.starts_with(&format!("{}, line 2: play ", path.display())), "{line}");
    assert!(matches!(
        RecordReader::open(tempfile::tempdir().expect("a folder").path()),
        Err(RecordFileError::Empty(_))
    ));
}

#[test]
fn ids_of_all_games_are_distinct() {
    let ids: BTreeSet<_> = games(0, 50).into_iter().map(|record| record.id).collect();
    assert_eq!(ids.len(), 50);
}
