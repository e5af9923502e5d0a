//! The search against a plain one, and the evaluation's symmetries.

use std::cell::Cell;

use gipf_core::{Phase, Play, Position, Rules, Symmetry};
use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::effort::Effort;
use super::evaluation::evaluation;
use super::quiescence::DEPTH;
use super::search::{Memory, Search, outcomes};
use super::value::{INFINITE, LOST, WIN, WON, from_table, mean, own, side, to_table};

/// One of each kind of rules: every variant, every potential, chance, conversion, both colours unlike.
const RULES: [&str; 12] = [
    "basic",
    "basic:18/15",
    "standard",
    "standard+T6",
    "standard+Z6",
    "standard+D4P4",
    "standard+D4P4;punct=convert",
    "standard+T4Z4D4;challenge=rps;limit=2",
    "standard+T6|Y6",
    "tournament",
    "tournament+T2Z2D2;challenge=chance:0.2/0/0.8",
    "ultimate;punct=convert",
];

/// Positions of random games, `each` of every rules string, none of them over or with a single play.
fn positions(each: usize) -> Vec<Position> {
    let mut rng = SmallRng::seed_from_u64(7);
    let (mut found, mut plays) = (Vec::new(), Vec::new());
    for text in RULES {
        let rules: Rules = text.parse().expect("rules");
        let mut left = each;
        while left > 0 {
            let mut position = rules.start();
            for _ in 0..rng.random_range(4..80) {
                position.actions(&mut plays);
                if plays.is_empty() {
                    break;
                }
                position.play(plays[rng.random_range(0..plays.len())]);
            }
            position.actions(&mut plays);
            if position.decider().is_some() && plays.len() > 1 {
                found.push(position);
                left -= 1;
            }
        }
    }
    found
}

/// Minimax as the rules of the search state it, without bounds, order, table or iterations.
struct Plain<'a, 'b> {
    search: &'a Search<'b>,
    left: usize,
    /// Side games met so far.
    met: Cell<u32>,
}

impl Plain<'_, '_> {
    fn child(&self, position: &Position, play: Play, value: impl Fn(&Position) -> i32) -> i32 {
        let mut next = *position;
        next.play(play);
        if side(position) == side(&next) { value(&next) } else { -value(&next) }
    }

    fn end(&self, position: &Position, ply: usize) -> Option<i32> {
        match position.winner() {
            Some(winner) if winner == side(position) => Some(WIN - ply as i32),
            Some(_) => Some(ply as i32 - WIN),
            None => (ply >= self.left).then_some(0),
        }
    }

    fn expectation(&self, position: &Position, value: impl Fn(&Position) -> i32) -> i32 {
        self.met.set(self.met.get() + 1);
        let mut all = Vec::new();
        outcomes(position, &mut all);
        let values: Vec<(f64, i32)> =
            all.iter().map(|&(play, p)| (p, self.child(position, play, &value))).collect();
        mean(&values)
    }

    fn value(&self, position: &Position, depth: u32, ply: usize) -> i32 {
        if depth == 0 {
            return self.quiescence(position, DEPTH, ply);
        }
        if let Some(value) = self.end(position, ply) {
            return value;
        }
        if position.is_chance() {
            return self.expectation(position, |next| self.value(next, depth, ply + 1));
        }
        let mut plays = Vec::new();
        position.actions(&mut plays);
        let below = if plays.len() == 1 { depth } else { depth - 1 };
        let values = plays
            .iter()
            .map(|&play| self.child(position, play, |next| self.value(next, below, ply + 1)));
        values.max().expect("somebody decides")
    }

    fn quiescence(&self, position: &Position, depth: u32, ply: usize) -> i32 {
        if let Some(value) = self.end(position, ply) {
            return value;
        }
        let as_it_stands = own(side(position), evaluation(position));
        if depth == 0 {
            return as_it_stands;
        }
        let below = |next: &Position| self.quiescence(next, depth - 1, ply + 1);
        if position.is_chance() {
            return self.expectation(position, below);
        }
        let mut plays = Vec::new();
        let restricted = self.search.noisy(position, side(position), &mut plays);
        let values = plays.iter().map(|&play| self.child(position, play, below));
        let declined = matches!(position.phase(), Phase::Regular | Phase::ExtraOwed);
        let other = restricted.then_some(LOST + 1);
        values.chain(declined.then_some(as_it_stands)).chain(other).max().expect("a play")
    }
}

/// Bounds, ordering, the table and deepening save work and change no value, whatever the kind of piece, also next to
/// side games and the limit of plays.
#[test]
fn the_search_finds_the_values_of_plain_minimax() {
    let mut memory = Memory::new();
    let (mut met, mut removals, mut deep) = (0, 0, 0);
    let mut plays = Vec::new();
    for (index, position) in positions(8).into_iter().enumerate() {
        position.actions(&mut plays);
        // The plain search looks at every line.
        let most = match plays.len() {
            ..=22 => 3,
            23..=60 => 2,
            _ => 1,
        };
        let left = if index % 4 == 0 { 3 } else { 500 };
        let mut search = Search::new(&mut memory, Effort::new(u64::MAX, None, false), left);
        search.reduces = false;
        for depth in 1..=most {
            let found = search.value(&position, depth, 0, (-INFINITE, INFINITE));
            let plain = Plain { search: &search, left: left as usize, met: Cell::new(0) };
            let expected = plain.value(&position, depth as u32, 0);
            met += plain.met.get();
            assert_eq!(
                found,
                expected,
                "depth {depth}, {left} left: {} {position}",
                position.rules()
            );
        }
        deep += u32::from(most == 3);
        removals += u32::from(matches!(position.phase(), Phase::Removal(_)));
    }
    assert!(
        met >= 20 && removals >= 3 && deep >= 5,
        "{met} side games, {removals} removals, {deep} searched three plays deep"
    );
}

/// A bound is on the right side of the value, whatever the window.
#[test]
fn narrow_windows_give_bounds() {
    let mut memory = Memory::new();
    for position in positions(6) {
        let mut search = Search::new(&mut memory, Effort::new(u64::MAX, None, false), 500);
        search.reduces = false;
        let exact = search.value(&position, 2, 0, (-INFINITE, INFINITE));
        for alpha in [exact - 150, exact - 1, exact, exact + 40] {
            let mut search = Search::new(&mut memory, Effort::new(u64::MAX, None, false), 500);
            search.reduces = false;
            let bound = search.value(&position, 2, 0, (alpha, alpha + 1));
            if exact > alpha {
                assert!(bound > alpha && bound <= exact, "{position}: {bound} of {exact}");
            } else {
                assert!(bound <= alpha && bound >= exact, "{position}: {bound} of {exact}");
            }
        }
    }
}

#[test]
fn the_evaluation_is_the_same_from_all_sides() {
    for position in positions(20) {
        for symmetry in Symmetry::ALL {
            let seen = position.transform(symmetry);
            assert_eq!(evaluation(&seen), evaluation(&position), "{position} as {seen}");
        }
    }
}

/// The position with the colours exchanged, by way of its text; `None` where it has a DETAIL.
fn exchanged(position: &Position) -> Option<Position> {
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    let &[board, hands, stages, mover, phase] = fields.as_slice() else { return None };
    let case = |letter: char| match letter.is_ascii_uppercase() {
        true => letter.to_ascii_lowercase(),
        false => letter.to_ascii_uppercase(),
    };
    let board: String = board.chars().map(case).collect();
    let (white, black) = hands.split_once(',')?;
    let stages: String = stages.chars().rev().collect();
    let other = |letter: &str| if letter == "w" { "b" } else { "w" };
    let phase = match phase {
        "rw" => "rb",
        "rb" => "rw",
        other => other,
    };
    let rules = match position.rules().to_string().as_str() {
        "basic:18/15" => "basic:15/18".parse().ok()?,
        "standard+T6|Y6" => "standard+Y6|T6".parse().ok()?,
        _ => *position.rules(),
    };
    let text = format!("{board} {black},{white} {stages} {} {phase}", other(mover));
    Some(Position::parse(&rules, &text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

#[test]
fn the_evaluation_changes_its_sign_with_the_colours() {
    let mut seen = 0;
    for position in positions(20) {
        if let Some(other) = exchanged(&position) {
            assert_eq!(evaluation(&other), -evaluation(&position), "{position} as {other}");
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn means_are_of_material_unless_all_outcomes_are_proven() {
    assert_eq!(mean(&[(0.5, 100), (0.5, -300)]), -100);
    assert_eq!(mean(&[(0.5, WIN - 3), (0.5, WIN - 7)]), WIN - 7);
    assert_eq!(mean(&[(0.2, 3 - WIN), (0.8, 7 - WIN)]), 7 - WIN);
    assert_eq!(mean(&[(0.5, WIN - 3), (0.5, 0)]), 750);
    assert_eq!(mean(&[(0.5, WIN - 3), (0.5, 3 - WIN)]), 0);
}

#[test]
fn distances_go_through_the_table_unchanged() {
    for value in [0, 120, WON, LOST, WIN - 9, 9 - WIN] {
        assert_eq!(from_table(to_table(value, 5), 5), value);
    }
    // Won nine plays from the root is won four plays from a position five plays below.
    assert_eq!(to_table(WIN - 9, 5), WIN - 4);
    assert_eq!(to_table(9 - WIN, 5), 4 - WIN);
}
