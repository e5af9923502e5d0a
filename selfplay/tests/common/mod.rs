//! What the integration tests share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use gipf_core::record::GameRecord;
use gipf_model::Evaluator;
use gipf_model::fake::FakeEvaluator;
use gipf_selfplay::{
    GameCounter, OpeningConfig, RulesSampler, RulesWeight, SelfPlayConfig, Worker, WorkerIdentity,
};

/// A small self-play config.
pub fn config(lanes: u32) -> SelfPlayConfig {
    SelfPlayConfig {
        lanes,
        simulations: 12,
        fast_simulations: 4,
        max_plays: 90,
        opening: OpeningConfig { random_plays: 3, sampled_plays: 6, temperature: 1.0 },
        ..SelfPlayConfig::default()
    }
}

pub fn sampler(rules: &[&str]) -> RulesSampler {
    let list: Vec<RulesWeight> =
        rules.iter().map(|rules| RulesWeight { rules: (*rules).to_owned(), weight: 1.0 }).collect();
    RulesSampler::new(&list).unwrap()
}

pub fn identity() -> WorkerIdentity {
    WorkerIdentity { run: "test".to_owned(), worker: "0".repeat(32), seed: 11 }
}

pub fn worker<E: Evaluator>(
    config: &SelfPlayConfig,
    rules: &[&str],
    counter: &GameCounter,
    evaluator: E,
) -> Worker<E> {
    Worker::new(config, sampler(rules), identity(), counter.clone(), evaluator, 7).unwrap()
}

pub fn fake() -> FakeEvaluator {
    FakeEvaluator::new(3)
}

/// The games in the order of their numbers.
pub fn sorted(mut records: Vec<GameRecord>) -> Vec<GameRecord> {
    records.sort_by_key(|record| record.id.seq);
    records
}
