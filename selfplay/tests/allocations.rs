//! A search allocates nothing once its memory has grown to the size that it needs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use allocation_counter::measure;
use gipf_core::{Position, Rules};
use gipf_model::fake::UniformEvaluator;
use gipf_model::{Evaluation, Evaluator, Features};
use gipf_selfplay::{
    GameCounter, Method, Purpose, RandomKey, Round, Search, SearchBudget, SearchConfig,
    SelfPlayConfig, Step, WorkerStats,
};

/// The whole search of a position: steps, features, evaluations and what is done with them. Returns the evaluations.
fn search_once(
    search: &mut Search,
    position: &Position,
    features: &mut [Features; 1],
    answers: &mut [Evaluation; 1],
) -> u64 {
    let budget = SearchBudget { simulations: 300, considered: 16, noise: true };
    let noise = RandomKey { seed: 5, game: 1 }.stream(0, Purpose::Noise);
    let mut evaluations = 0;
    search.clear();
    search.begin(position, 0, budget, noise);
    while search.step(&mut features[0]) == Step::Evaluate {
        UniformEvaluator.evaluate(features, answers).unwrap();
        search.absorb(&answers[0]);
        evaluations += 1;
    }
    evaluations
}

#[test]
fn a_search_allocates_nothing_once_warm() {
    for rules in ["standard", "tournament", "ultimate", "standard+Z6Y6;challenge=coin"] {
        for method in [Method::Gumbel, Method::Puct] {
            let position = rules.parse::<Rules>().unwrap().start();
            let mut search = Search::new(&SearchConfig { method, ..SearchConfig::default() }, 200);
            let (mut features, mut answers) = ([Features::new()], [Evaluation::default()]);
            let mut run = || search_once(&mut search, &position, &mut features, &mut answers);
            let mut warm = 0;
            let cold = measure(|| warm = run());
            assert!(cold.count_total > 10 && warm > 200, "{rules}: the counter counts");
            let mut again = 0;
            let counted = measure(|| again = run());
            assert_eq!(again, warm);
            assert_eq!(counted.count_total, 0, "{rules}, {method:?}: {counted:?}");
        }
    }
}

/// Rounds of a worker in which no decision ends, with a cache and without: most rounds of long searches are such.
#[test]
fn a_round_without_a_decision_allocates_nothing() {
    for cache_megabytes in [0, 2] {
        let config = SelfPlayConfig {
            simulations: 200,
            full_probability: 1.0,
            cache_megabytes,
            ..common::config(4)
        };
        let counter = GameCounter::unlimited(0);
        let mut worker = common::worker(&config, &["standard"], &counter, UniformEvaluator);
        let decisions = |stats: WorkerStats| stats.full_searches + stats.games;
        let (mut quiet, mut allocations) = (0, 0);
        for round in 0..40_000 {
            let before = decisions(worker.stats());
            let mut result = Ok(Round::Idle);
            let counted = measure(|| result = worker.round(&mut |_| {}));
            assert_eq!(result.unwrap(), Round::Evaluated);
            // Half of the rounds let every vector grow to its size.
            if round >= 20_000 && decisions(worker.stats()) == before {
                quiet += 1;
                allocations += counted.count_total;
            }
        }
        assert!(quiet > 10_000, "{quiet} quiet rounds");
        // A tree larger than any before still has to grow, now and then.
        assert!(allocations <= 20, "{allocations} allocations in {quiet} rounds");
    }
}
