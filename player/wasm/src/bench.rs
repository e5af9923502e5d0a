//! How fast the network is evaluated in a browser, beside what its multipliers can do: measured by the page's clock, around these.

use gipf_core::{Play, Position};
use gipf_model::{
    Architecture, Evaluation, Features, Kernel, NativeEvaluator, PLANE_SPOTS, PLANES, TAPS,
};
use gipf_player::desk::{self, Fault};

use crate::{HATCH, Hatch, with_hatch};

/// Multiplies and adds in registers alone for about a millisecond: the operations done, a product and a sum being two.
#[unsafe(no_mangle)]
pub extern "C" fn bench_peak() -> f64 {
    Kernel::best().peak_work() as f64
}

/// What the evaluator is measured with.
pub(crate) struct Trial {
    evaluators: [Box<dyn gipf_model::Evaluator>; 2],
    batch: Vec<Features>,
    out: Vec<Evaluation>,
    operations: f64,
}

impl Trial {
    fn new(hatch: &Hatch, batch: usize) -> Result<Trial, Fault> {
        let file = hatch.file.as_ref().ok_or_else(|| Fault::new("no player has been loaded"))?;
        let rules = file.rules().map_err(|error| Fault::new(error.to_string()))?;
        let float = NativeEvaluator::new(file.checkpoint());
        Ok(Trial {
            evaluators: [Box::new(float), file.evaluator()],
            batch: features(rules.start(), batch),
            out: vec![Evaluation::default(); batch],
            operations: operations(&file.header().architecture),
        })
    }
}

/// Positions of a game whose plays are drawn without a random source: each the next one of a fixed stride among the actions.
fn features(start: Position, count: usize) -> Vec<Features> {
    let (mut position, mut plays, mut all) = (start, Vec::<Play>::new(), Vec::with_capacity(count));
    for step in 0.. {
        plays.clear();
        if position.decider().is_some() {
            position.actions(&mut plays);
        }
        if plays.is_empty() {
            position = start;
            continue;
        }
        let mut features = Features::new();
        features.fill(&position, &plays);
        all.push(features);
        if all.len() == count {
            break;
        }
        position.play(plays[step * 7 % plays.len()]);
    }
    all
}

/// Operations of a position, a product and a sum being two: 37 x 7 taps a convolution, and the heads' first layers.
fn operations(architecture: &Architecture) -> f64 {
    let (c, v) = (architecture.channels, architecture.value_channels);
    let taps = TAPS * (PLANES * c + architecture.blocks * 2 * c * c);
    (2 * PLANE_SPOTS * (taps + c * c + v * c)) as f64
}

/// Prepares evaluations of so many positions together; the answer tells the operations of a position.
#[unsafe(no_mangle)]
pub extern "C" fn bench_prepare(batch: usize) -> u32 {
    with_hatch(|hatch| {
        let trial = Trial::new(hatch, batch.clamp(1, 1024))?;
        let operations = trial.operations;
        hatch.trial = Some(trial);
        desk::write_answer(&[operations])
    })
}

/// Evaluates the prepared positions: with the evaluator that plays (`playing`), else in f32. 0, or 1 where nothing is prepared.
#[unsafe(no_mangle)]
pub extern "C" fn bench_evaluate(playing: u32) -> u32 {
    HATCH.with_borrow_mut(|hatch| {
        let Some(trial) = &mut hatch.trial else { return 1 };
        let evaluator = &mut trial.evaluators[usize::from(playing != 0)];
        u32::from(evaluator.evaluate(&trial.batch, &mut trial.out).is_err())
    })
}
