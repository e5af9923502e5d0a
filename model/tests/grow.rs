//! A network that has grown says what it said.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

mod common;

use common::{random_checkpoint, random_positions};
use gipf_model::{
    Architecture, AuxiliaryHeads, Checkpoint, Evaluation, Evaluator, Features, GrowError,
    NativeEvaluator, TensorKind, can_grow, grown,
};

fn said(checkpoint: &Checkpoint, positions: &[Features]) -> Vec<Evaluation> {
    let mut answers = vec![Evaluation::default(); positions.len()];
    NativeEvaluator::new(checkpoint).evaluate(positions, &mut answers).unwrap();
    answers
}

fn largest_difference(one: &[Evaluation], other: &[Evaluation]) -> f32 {
    let numbers = |e: &Evaluation| -> Vec<f32> {
        e.logits.iter().chain(&e.value).chain([&e.plays_left]).copied().collect()
    };
    one.iter()
        .zip(other)
        .flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)))
        .map(|(a, b)| (a - b).abs() / (1.0 + a.abs()))
        .fold(0.0, f32::max)
}

#[test]
fn it_says_the_same_in_every_larger_size() {
    let positions = random_positions(40);
    for (from, to) in [
        ("2x8", "2x16"),
        ("2x8", "5x8"),
        ("2x8", "3x12"),
        ("1x16", "2x33"),
        ("2x8-nopool", "3x16-nopool"),
    ] {
        let from = random_checkpoint(from.parse().unwrap(), 7);
        let to: Architecture = to.parse().unwrap();
        let large = grown(&from, to, 3).unwrap();
        assert_eq!(large.header.architecture, to);
        assert_eq!((large.header.step, &large.header.run), (1, &from.header.run));
        let before = said(&from, &positions);
        let difference = largest_difference(&before, &said(&large, &positions));
        assert!(difference < 1e-4, "to {to}: {difference}");
        // The measure tells networks apart.
        let other = said(&random_checkpoint(from.header.architecture, 8), &positions);
        assert!(largest_difference(&before, &other) > 0.1);
        assert_eq!(grown(&from, to, 3).unwrap(), large);
        assert_ne!(grown(&from, to, 4).unwrap(), large);
    }
}

/// Heads for training alone are no part of the player, and grow with it: to the old sums with zeros added.
#[test]
fn auxiliary_heads_grow_too_and_say_nothing() {
    let (plain, to): (Architecture, Architecture) =
        ("2x8".parse().unwrap(), "3x12".parse().unwrap());
    let from =
        random_checkpoint(plain.with_auxiliary(AuxiliaryHeads { reply: true, swing: true }), 7);
    let positions = random_positions(20);
    assert_eq!(
        said(&from, &positions),
        said(&from.clone().without_auxiliary().unwrap(), &positions)
    );
    let large = grown(&from, to, 3).unwrap();
    assert_eq!(large.header.architecture, to.with_auxiliary(from.header.architecture.auxiliary));
    let (old, new) = (&from.tensors, &large.tensors);
    assert_eq!(old["auxiliary.swing.weight"], new["auxiliary.swing.weight"]);
    assert_eq!(old["auxiliary.reply_planes.bias"], new["auxiliary.reply_planes.bias"]);
    let (before, after) =
        (&old["auxiliary.reply_globals.weight"].data, &new["auxiliary.reply_globals.weight"].data);
    // Means, then largest values, each with its added channels behind.
    assert_eq!(before[..8], after[..8]);
    assert_eq!(before[8..16], after[12..20]);
    assert!(after[8..12].iter().chain(&after[20..24]).all(|weight| *weight == 0.0));
    assert!(
        can_grow(&from.header.architecture, &to) && !can_grow(&from.header.architecture, &plain)
    );
}

/// Added channels are not dead: they read with weights that are not 0, and what they compute is not the same in all.
#[test]
fn what_was_added_can_learn() {
    let from = random_checkpoint("2x8".parse().unwrap(), 7);
    let to: Architecture = "3x16".parse().unwrap();
    let large = grown(&from, to, 3).unwrap();
    for spec in to.tensors().iter().filter(|spec| spec.kind == TensorKind::Weight) {
        let data = &large.tensors[&spec.name].data;
        let (outputs, row) = (spec.shape[0], data.len() / spec.shape[0]);
        for output in 0..outputs {
            assert!(
                data[output * row..(output + 1) * row].iter().any(|w| *w != 0.0),
                "{} {output}",
                spec.name
            );
        }
        assert_ne!(data[(outputs - 1) * row..], data[(outputs - 2) * row..(outputs - 1) * row]);
    }
}

#[test]
fn nothing_but_growth_is_accepted() {
    let from = random_checkpoint("2x8".parse().unwrap(), 7);
    for to in ["2x8", "1x16", "3x7", "3x16-nopool"] {
        let to: Architecture = to.parse().unwrap();
        assert!(!can_grow(&from.header.architecture, &to));
        let error = grown(&from, to, 1).unwrap_err();
        assert!(matches!(&error, GrowError::Size { .. }), "{error}");
        assert!(error.to_string().contains(&format!("a 2x8 network cannot grow to {to}")));
    }
}
