//! How fast the replay window takes games in and makes batches, on one core.
//!
//! ```text
//! cargo run --release -p gipf-train --example window_speed
//! ```

use anyhow::Context;
use gipf_core::record::GameRecord;
use gipf_train::config::WindowSection;
use gipf_train::window::{Replay, Sample, ValueMix};
use std::time::Instant;

#[path = "../src/test_games.rs"]
mod test_games;

const BATCHES: u32 = 100;
const BATCH: usize = 1024;

fn main() -> anyhow::Result<()> {
    let section =
        WindowSection { minimum: 1000, growth_scale: 1.0, growth_exponent: 1.0, maximum: 20_000 };
    let games: Vec<GameRecord> =
        (0..300).map(|seq| test_games::game("standard", seq, 300)).collect();
    let mut replay = Replay::new(&section, 0.05, 1);
    let start = Instant::now();
    for (ordinal, game) in (0..).zip(&games) {
        replay.add(ordinal, game).context("a legal game")?;
    }
    let adding = replay.train().made() as f64 / start.elapsed().as_secs_f64();
    let mut batch = Vec::new();
    replay.draw(BATCH, ValueMix { from_search: 0.3 }, &mut batch);
    let start = Instant::now();
    for _ in 0..BATCHES {
        replay.draw(BATCH, ValueMix { from_search: 0.3 }, &mut batch);
    }
    let drawing = f64::from(BATCHES) * BATCH as f64 / start.elapsed().as_secs_f64();
    println!("samples added a second  {adding:.0}");
    println!("samples drawn a second  {drawing:.0}");
    println!("bytes a sample          {}, and 2 an action of a full search", size_of::<Sample>());
    Ok(())
}
