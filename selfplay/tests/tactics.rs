//! The tactical suites that come with the program are what they say.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use gipf_core::Symmetry;
use gipf_selfplay::tactics::{Puzzle, Solver, Suite, SuiteMaker};
use gipf_selfplay::{Budget, BuiltIn, RandomKey};

/// Positions of each suite that are proven again, spread over the suite; `GIPF_SOAK_TACTICS=1` proves all of them.
const PROVEN: usize = 4;

/// Every suite with its name, by name.
fn suites() -> Vec<(String, Suite)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/tactics");
    let mut suites: Vec<(String, Suite)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let suite = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), suite)
        })
        .collect();
    suites.sort_by(|(a, _), (b, _)| a.cmp(b));
    suites
}

/// The win is forced within as many plays as stand there and no fewer, and by the plays that stand there alone.
fn prove(name: &str, puzzle: &Puzzle) {
    let Puzzle { position, plays, within, winning } = puzzle;
    let attacker = position.decider().unwrap();
    let mut solver = Solver::new(attacker, u64::MAX);
    assert_eq!(solver.shortest_win(position, *plays), Ok(Some(*plays)), "{name}: {position}");
    assert_eq!(solver.winning_plays(position, *within).as_ref(), Ok(winning), "{name}: {position}");
}

#[test]
fn the_wins_are_forced() {
    let soak = std::env::var_os("GIPF_SOAK_TACTICS").is_some();
    let suites = suites();
    assert_eq!(suites.len(), 6);
    for (name, suite) in suites {
        let mut puzzles = suite.puzzles().unwrap();
        // The quickest proofs come first: each two plays more cost some 30 times as much.
        puzzles.sort_by_key(|puzzle| puzzle.within);
        let proven = if soak { puzzles.len() } else { PROVEN };
        puzzles.iter().take(proven).for_each(|puzzle| prove(&name, puzzle));
    }
}

#[test]
fn the_positions_are_different_and_winning_plays_rare() {
    for (name, suite) in suites() {
        let puzzles = suite.puzzles().unwrap();
        assert!(puzzles.len() >= 50, "{name}: {}", puzzles.len());
        let mut seen = HashSet::new();
        let mut actions = Vec::new();
        for puzzle in &puzzles {
            let position = &puzzle.position;
            assert!((3..=9).contains(&puzzle.plays), "{name}: {position}");
            position.actions(&mut actions);
            assert!(puzzle.winning.len() * 4 <= actions.len(), "{name}: {position}");
            for symmetry in Symmetry::ALL {
                assert!(!seen.contains(&position.transform(symmetry)), "{name}: {position}");
            }
            seen.insert(*position);
        }
    }
}

#[test]
fn a_suite_is_made_again_alike_and_its_own_player_solves_some() {
    let make = || {
        let mut maker =
            SuiteMaker::new("standard".parse().unwrap(), BuiltIn::Greedy, 9, 3).unwrap();
        while !maker.is_complete() {
            maker.next_game().unwrap();
        }
        maker.suite().clone()
    };
    let suite = make();
    assert_eq!(suite, make());
    let puzzles = suite.puzzles().unwrap();
    assert_eq!(puzzles.len(), 3);
    puzzles.iter().for_each(|puzzle| prove("made", puzzle));
    // Looking ahead as far as the win is, alpha-beta finds it.
    let mut player = BuiltIn::AlphaBeta { depth: None }.player();
    for (number, puzzle) in puzzles.iter().filter(|puzzle| puzzle.plays <= 5).enumerate() {
        let key = RandomKey { seed: 1, game: number as u64 };
        let budget = Budget::depth(puzzle.plays);
        let solved = gipf_selfplay::tactics::solves(&mut *player, puzzle, key, &budget).unwrap();
        assert!(solved, "{}", puzzle.position);
    }
}

#[test]
fn faulty_suites_are_told() {
    let (_, suite) = suites().swap_remove(0);
    let fault = |change: fn(&mut Suite)| {
        let mut suite = suite.clone();
        change(&mut suite);
        suite.puzzles().unwrap_err().to_string()
    };
    assert!(fault(|suite| suite.format = "x".to_owned()).starts_with("suite format \"x\""));
    assert!(fault(|suite| suite.rules = "x".to_owned()).starts_with("rules 'x'"));
    assert!(
        fault(|suite| suite.positions[1].position = "x".to_owned()).starts_with("position 2: ")
    );
    assert!(fault(|suite| suite.positions[0].winning.clear()).ends_with("it has no forced win"));
    assert!(fault(|suite| suite.positions[0].winning[0] = "e5".to_owned()).contains("play 'e5'"));
    assert!(fault(|suite| suite.positions[0].winning[0] = "?".to_owned()).contains("no action"));
}
