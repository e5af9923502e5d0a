//! What a search costs apart from the network: plays games with an evaluator that knows nothing and says how long a
//! simulation took.
//!
//! ```text
//! cargo run --release -p gipf-selfplay --example search_speed -- standard 200
//! ```

use std::time::Instant;

use gipf_model::fake::UniformEvaluator;
use gipf_selfplay::{
    GameCounter, Method, RulesSampler, RulesWeight, SelfPlayConfig, Worker, WorkerIdentity,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rules = arguments.next().unwrap_or_else(|| "standard".to_owned());
    let simulations = arguments.next().map_or(Ok(200), |text| text.parse())?;
    for method in [Method::Gumbel, Method::Puct] {
        let mut config =
            SelfPlayConfig { simulations, full_probability: 1.0, ..SelfPlayConfig::default() };
        config.search.method = method;
        let sampler = RulesSampler::new(&[RulesWeight { rules: rules.clone(), weight: 1.0 }])?;
        let identity = WorkerIdentity { run: "speed".to_owned(), worker: "0".repeat(32), seed: 1 };
        let counter = GameCounter::new(0, 64);
        let mut worker = Worker::new(&config, sampler, identity, counter, UniformEvaluator, 0)?;
        let start = Instant::now();
        worker.run_to_end(&mut |_| {})?;
        let (stats, seconds) = (worker.stats(), start.elapsed().as_secs_f64());
        println!(
            "{method:?} {rules}: {} games, {} simulations, {} evaluations, {:.0} simulations/s, {:.0} ns each",
            stats.games,
            stats.simulations,
            stats.evaluations,
            stats.simulations as f64 / seconds,
            1e9 * seconds / stats.simulations as f64,
        );
    }
    Ok(())
}
