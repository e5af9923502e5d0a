//! The speed of one game's search: what a player that thinks about a single game gets.

use std::time::{Duration, Instant};

use gipf_core::{Position, Rules};
use gipf_model::fake::UniformEvaluator;
use gipf_model::{Evaluation, Evaluator, Features};
use gipf_model_torch::Device;
use gipf_selfplay::{Purpose, RandomKey, Search, SearchBudget, SearchConfig, SearchResult, Step};
use serde_json::{Value, json};

use super::{Args, checkpoint, positions};
use crate::cpu;
use crate::evaluators::evaluator;

/// Positions whose searches are measured in turn.
const POSITIONS: usize = 64;
/// No game is cut off.
const MAX_PLAYS: u32 = 500;

/// One search after another, each from an empty tree: first with an evaluator that knows nothing and costs next to nothing,
/// then with the network, position by position; how much of the latter's time is search.
pub(super) fn one_game(
    args: &Args,
    rules: &Rules,
    device: Device,
    time: Duration,
) -> anyhow::Result<Value> {
    let mut network = evaluator(&checkpoint(args, rules)?, device)?;
    let positions = positions(rules, POSITIONS);
    let by_processor = device == Device::Cpu;
    let none = || Sums { by_processor, ..Sums::default() };
    let (mut free, mut real) = (none(), none());
    let mut search = Search::new(&SearchConfig::default(), MAX_PLAYS);
    let started = Instant::now();
    // A round of each warms up and is not counted.
    let mut counted = false;
    while !counted || started.elapsed() < time {
        for position in &positions {
            free.search(&mut search, position, args.simulations, &mut UniformEvaluator)?;
            real.search(&mut search, position, args.simulations, &mut network)?;
        }
        if !counted {
            (free, real, counted) = (none(), none(), true);
        }
    }
    Ok(json!({
        "evaluator": network.name(),
        "rules": rules.to_string(),
        "simulations": args.simulations,
        "free_simulations_per_second": free.simulations / free.seconds,
        "free_nanoseconds_a_simulation": 1e9 * free.seconds / free.simulations,
        "simulations_per_second": real.simulations / real.seconds,
        "evaluations_per_second_batch_1": real.evaluations / real.evaluating,
        "search_share_percent": 100.0 * (1.0 - real.evaluating / real.seconds),
    }))
}

#[derive(Default)]
struct Sums {
    simulations: f64,
    evaluations: f64,
    /// Whether seconds are those of the processor; where a device evaluates, most of them are waiting, so the clock's count.
    by_processor: bool,
    seconds: f64,
    /// Of this, in the evaluator.
    evaluating: f64,
}

impl Sums {
    fn search(
        &mut self,
        search: &mut Search,
        position: &Position,
        simulations: u32,
        evaluator: &mut dyn Evaluator,
    ) -> anyhow::Result<()> {
        let considered = SearchConfig::default().gumbel.considered;
        let budget = SearchBudget { simulations, considered, noise: false };
        let noise = RandomKey { seed: 1, game: 0 }.stream(0, Purpose::Noise);
        let (mut features, mut answers) = ([Features::new()], [Evaluation::default()]);
        let began = cpu::thread_seconds();
        let clock = Instant::now();
        let mut evaluating = Duration::ZERO;
        search.clear();
        search.begin(position, 0, budget, noise);
        while search.step(&mut features[0]) == Step::Evaluate {
            let asked = Instant::now();
            evaluator.evaluate(&features, &mut answers)?;
            evaluating += asked.elapsed();
            search.absorb(&answers[0]);
            self.evaluations += 1.0;
        }
        let (wall, processor) = (clock.elapsed().as_secs_f64(), cpu::thread_seconds() - began);
        // Another program's turn on this core hits search and evaluator alike.
        let scale = if self.by_processor && wall > 0.0 { processor / wall } else { 1.0 };
        self.seconds += wall * scale;
        self.evaluating += evaluating.as_secs_f64() * scale;
        let mut result = SearchResult::default();
        search.result(&mut result);
        self.simulations += f64::from(result.simulations);
        Ok(())
    }
}
