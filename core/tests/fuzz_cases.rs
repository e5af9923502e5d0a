//! The seeds of the fuzz targets in `tests/fuzz`, and what those targets have found.

#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

use gipf_core::Position;
use std::fs;
use std::path::Path;

#[path = "../../tests/fuzz/src/lib.rs"]
pub mod checks;

/// Calls a target with each of its seeds; returns how many of them it could read.
fn seeds(target: &str, check: fn(&str) -> bool) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/seeds").join(target);
    let files = fs::read_dir(folder).unwrap();
    files.filter(|file| check(&fs::read_to_string(file.as_ref().unwrap().path()).unwrap())).count()
}

#[test]
fn every_seed_passes_its_target() {
    assert!(seeds("rules_string", checks::rules_string) >= 41);
    assert!(seeds("position_text", checks::position_text) >= 149);
    assert!(seeds("play_text", checks::play_text) >= 26);
    assert!(seeds("official_notation", checks::official_notation) >= 14);
    assert!(seeds("record", checks::record) >= 5);
}

#[test]
fn a_column_of_many_numbers_is_too_long() {
    let column = "6".repeat(46);
    let text = format!("{column}/5/6/7/6/5/4 15,15 BB w m");
    let error = Position::parse(&"basic".parse().unwrap(), &text).unwrap_err();
    assert_eq!(error.part, "board");
    assert!(!checks::position_text(&format!("A{text}")));
}
