//! The network in int8: every kernel the same bits, whatever the batch, and close to f32.
#![expect(clippy::unwrap_used, reason = "a test stops where its data is not as it should be")]

mod common;

use common::{random_checkpoint, random_positions};
use gipf_model::{
    Calibration, Checkpoint, Evaluation, Evaluator, Features, Int8Evaluator, Int8Kernel,
    NativeEvaluator, calibrate,
};

fn evaluate(evaluator: &mut dyn Evaluator, batch: &[Features]) -> Vec<Evaluation> {
    let mut out = vec![Evaluation::default(); batch.len()];
    evaluator.evaluate(batch, &mut out).unwrap();
    out
}

/// A network with random weights and the calibration of the positions.
fn network(text: &str, positions: &[Features]) -> (Checkpoint, Calibration) {
    let checkpoint = random_checkpoint(text.parse().unwrap(), 6);
    let calibration = calibrate(&checkpoint, positions);
    (checkpoint, calibration)
}

/// All numbers of an evaluation as bits.
fn bits(evaluation: &Evaluation) -> Vec<u32> {
    let numbers = evaluation.logits.iter().chain(&evaluation.value);
    numbers.chain([&evaluation.plays_left]).map(|number| number.to_bits()).collect()
}

fn available() -> Vec<Int8Kernel> {
    Int8Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect()
}

#[test]
fn all_kernels_compute_the_same_bits() {
    let batch = random_positions(21);
    for text in ["2x32", "1x64", "1x48", "2x20", "1x80", "1x16-nopool"] {
        let (checkpoint, calibration) = network(text, &batch);
        let of = |kernel| {
            let mut evaluator = Int8Evaluator::with_kernel(&checkpoint, &calibration, kernel);
            evaluate(&mut evaluator, &batch).iter().map(bits).collect::<Vec<_>>()
        };
        let portable = of(Int8Kernel::Portable);
        for kernel in available() {
            assert_eq!(of(kernel), portable, "{text} {kernel}");
        }
    }
}

#[test]
fn a_result_does_not_depend_on_its_batch() {
    let batch = random_positions(19);
    for text in ["2x32", "1x64", "1x48"] {
        let (checkpoint, calibration) = network(text, &batch);
        for kernel in available() {
            let mut evaluator = Int8Evaluator::with_kernel(&checkpoint, &calibration, kernel);
            let together = evaluate(&mut evaluator, &batch);
            for (at, alone) in together.iter().enumerate() {
                let found = evaluate(&mut evaluator, &batch[at..=at]);
                assert_eq!(bits(&found[0]), bits(alone), "{text} {kernel}");
            }
            assert_eq!(evaluate(&mut evaluator, &batch[3..]), together[3..]);
        }
    }
}

/// The root mean square of what differs, over the logits and over the values.
fn distances(a: &[Evaluation], b: &[Evaluation]) -> (f32, f32) {
    let root = |squares: &mut dyn Iterator<Item = f32>| {
        let (sum, count) = squares.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1));
        (sum / count as f32).sqrt()
    };
    let pairs = || a.iter().zip(b);
    let logits = root(
        &mut pairs()
            .flat_map(|(a, b)| a.logits.iter().zip(&b.logits).map(|(a, b)| (a - b).powi(2))),
    );
    (logits, root(&mut pairs().map(|(a, b)| (a.q() - b.q()).powi(2))))
}

#[test]
fn it_is_close_to_f32() {
    let batch = random_positions(200);
    // Calibrated on some positions, used on others.
    let (calibrating, tried) = batch.split_at(120);
    for text in ["4x32", "2x64", "2x48-nopool"] {
        let mut checkpoint = random_checkpoint(text.parse().unwrap(), 6);
        // A random network would be sure of its values, and turn from one side to the other at once.
        let last = checkpoint.tensors.get_mut("value.outcome.weight").unwrap();
        last.data.iter_mut().for_each(|weight| *weight *= 0.02);
        let calibration = calibrate(&checkpoint, calibrating);
        let float = evaluate(&mut NativeEvaluator::new(&checkpoint), tried);
        let int8 = evaluate(&mut Int8Evaluator::new(&checkpoint, &calibration), tried);
        let (logits, values) = distances(&float, &int8);
        let spread = {
            let all: Vec<f32> = float.iter().flat_map(|e| e.logits.iter().copied()).collect();
            let mean = all.iter().sum::<f32>() / all.len() as f32;
            (all.iter().map(|l| (l - mean).powi(2)).sum::<f32>() / all.len() as f32).sqrt()
        };
        assert!(logits < 0.03 * spread && values < 0.02, "{text}: {logits} of {spread}, {values}");
        assert!(logits > 0.0, "{text}: int8 rounds");
    }
}

/// A channel that was silent in the calibration, or a calibration of nothing, makes no number that is none.
#[test]
fn an_empty_calibration_gives_finite_numbers() {
    let batch = random_positions(5);
    let (checkpoint, calibration) = network("2x32", &[]);
    assert!(calibration.as_tensor().data.iter().all(|largest| *largest == 0.0));
    for evaluation in evaluate(&mut Int8Evaluator::new(&checkpoint, &calibration), &batch) {
        assert!(evaluation.logits.iter().all(|logit| logit.is_finite()));
        assert!((evaluation.value.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_calibration_has_the_largest_activations() {
    let batch = random_positions(40);
    let (checkpoint, all) = network("2x20", &batch);
    assert_eq!(all.as_tensor().shape, [5, 20]);
    let halves = batch.chunks(20).map(|half| calibrate(&checkpoint, half));
    let halves: Vec<Calibration> = halves.collect();
    let data = |calibration: &Calibration| calibration.as_tensor().data.clone();
    let either = data(&halves[0]).into_iter().zip(data(&halves[1])).map(|(a, b)| a.max(b));
    assert_eq!(either.collect::<Vec<_>>(), data(&all));
    assert_ne!(data(&halves[0]), data(&all));
}
