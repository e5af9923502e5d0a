//! The evaluators for tests do what they say.

mod common;

use common::{RULES, features, walk};
use gipf_core::{Play, Symmetry};
use gipf_model::fake::{FakeEvaluator, Hooked, OutOfOrder, ScriptedEvaluator, UniformEvaluator};
use gipf_model::{EvalError, Evaluation, Evaluator, Features};

fn batch() -> Vec<Features> {
    let mut batch = Vec::new();
    for text in RULES {
        walk(text, 5, 20, |position, _| batch.push(features(position)));
    }
    batch
}

fn evaluate(evaluator: &mut impl Evaluator, batch: &[Features]) -> Vec<Evaluation> {
    let mut out = vec![Evaluation::default(); batch.len()];
    evaluator.evaluate(batch, &mut out).expect("evaluates");
    out
}

#[test]
fn results_are_in_range_and_fixed_by_the_seed() {
    let batch = batch();
    let first = evaluate(&mut FakeEvaluator::new(1), &batch);
    assert_eq!(first, evaluate(&mut FakeEvaluator::new(1), &batch));
    assert_ne!(first, evaluate(&mut FakeEvaluator::new(2), &batch));
    assert_eq!(first, evaluate(&mut OutOfOrder::new(FakeEvaluator::new(1), 3), &batch));
    for (features, evaluation) in batch.iter().zip(&first) {
        assert_eq!(evaluation.logits.len(), features.policy.actions());
        assert!((evaluation.value.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(
            evaluation.value.iter().all(|p| (0.0..=1.0).contains(p))
                && evaluation.plays_left >= 0.0
        );
        let mut policy = Vec::new();
        evaluation.policy(&mut policy);
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_symmetric_one_is_symmetric() {
    for text in RULES {
        walk(text, 6, 10, |position, plays| {
            let here = &evaluate(&mut FakeEvaluator::symmetric(1), &[features(position)])[0];
            for symmetry in Symmetry::ALL {
                let plays: Vec<Play> =
                    plays.iter().map(|&play| position.transform_play(symmetry, play)).collect();
                let mut image = Features::new();
                image.fill(&position.transform(symmetry), &plays);
                assert_eq!(&evaluate(&mut FakeEvaluator::symmetric(1), &[image])[0], here);
            }
        });
    }
}

#[test]
fn wrappers_and_errors() {
    let batch = batch();
    let uniform = evaluate(&mut UniformEvaluator, &batch);
    assert!(uniform.iter().all(|e| e.q() == 0.0 && e.logits.iter().all(|&logit| logit == 0.0)));
    let mut short = vec![Evaluation::default(); 1];
    let error = UniformEvaluator.evaluate(&batch, &mut short).expect_err("lengths differ");
    assert_eq!(error, EvalError::Length { batch: batch.len(), out: 1 });

    let mut scripted = ScriptedEvaluator::new(|features: &Features| Evaluation {
        logits: vec![1.0; features.policy.actions()],
        value: [0.0, 0.25, 0.75],
        plays_left: 3.0,
    });
    assert!(evaluate(&mut scripted, &batch).iter().all(|e| e.q() == -0.25));
    let mut wrong = ScriptedEvaluator::new(|_: &Features| Evaluation::default());
    assert!(wrong.evaluate(&batch, &mut vec![Evaluation::default(); batch.len()]).is_err());

    let fails = |number: u64, _| if number == 1 { Err("out of memory".to_owned()) } else { Ok(()) };
    let mut hooked: Box<dyn Evaluator> = Box::new(Hooked::new(FakeEvaluator::new(1), fails));
    let mut out = vec![Evaluation::default(); batch.len()];
    assert!(hooked.evaluate(&batch, &mut out).is_ok());
    let error = hooked.evaluate(&batch, &mut out).expect_err("the second fails").to_string();
    assert_eq!(error, "hooked fake:1: out of memory");
    assert!(hooked.evaluate(&batch, &mut out).is_ok());
}
