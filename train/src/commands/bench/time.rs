//! Whether equal time is equal: two copies of a player at one limit, over whole games.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gipf_core::Rules;
use gipf_model_torch::Device;
use gipf_selfplay::{
    Budget, Choice, Clock, Contestant, GameState, Limit, Match, MatchConfig, Player, PlayerError,
};
use serde_json::{Value, json};

use crate::commands::players::{Patience, PlayerSpec, Terms};

/// Games that are begun at most; the time measured ends the match.
const GAMES: u32 = 100_000;

/// A decision that took less than this share of its limit was not ended by the clock.
const EARLY: f64 = 0.9;

/// Seconds that each decision of a player took, by the clock.
type Times = Arc<Mutex<Vec<f64>>>;

/// A player whose decisions are timed.
struct Timed {
    player: Box<dyn Player>,
    times: Times,
}

impl Player for Timed {
    fn name(&self) -> String {
        self.player.name()
    }

    fn new_game(&mut self) {
        self.player.new_game();
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        let began = Instant::now();
        let choice = self.player.choose(game, budget);
        let seconds = began.elapsed().as_secs_f64();
        // A decision that the end of the measurement cuts off tells nothing.
        if !budget.clock.is_some_and(Clock::is_stopped) {
            self.times.lock().unwrap_or_else(PoisonError::into_inner).push(seconds);
        }
        choice
    }
}

/// Plays a player against its copy at `limit` a decision for `time`: the thinking time of both, and how far decisions went
/// beyond the limit (0 where they did not).
///
/// # Errors
/// The player cannot be made, or its evaluator fails.
pub(super) fn fairness(
    player: &PlayerSpec,
    rules: &Rules,
    device: Device,
    limit: Duration,
    time: Duration,
) -> anyhow::Result<Value> {
    let times = [Times::default(), Times::default()];
    let (patience, precision) = (Patience::default(), None);
    let terms = Terms { rules, limit: Limit::time(limit), device, precision, patience };
    let contestant = |times: &Times| -> anyhow::Result<Contestant> {
        let player = player.contestant(terms)?.into_player()?;
        let timed = Timed { player, times: Arc::clone(times) };
        Ok(Contestant::player(Box::new(timed), terms.limit))
    };
    let pair = [contestant(&times[0])?, contestant(&times[1])?];
    let config = MatchConfig { games: GAMES, ..MatchConfig::new(*rules, 1) };
    let mut game = Match::new(config, vec![pair], None)?;
    let began = Instant::now();
    let result = game.run(&|| began.elapsed() >= time, &mut |_| {}, &mut |_| {})?;
    let [a, b] = times.map(|times| times.lock().unwrap_or_else(PoisonError::into_inner).clone());
    // A decision that a proven win ends early says nothing of how time is shared.
    let whole = |seconds: &&f64| **seconds >= EARLY * limit.as_secs_f64();
    let mean = |times: &[f64]| {
        let sum: f64 = times.iter().filter(whole).sum();
        sum / times.iter().filter(whole).count().max(1) as f64
    };
    let mut over: Vec<f64> =
        a.iter().chain(&b).map(|seconds| 1e3 * (seconds - limit.as_secs_f64()).max(0.0)).collect();
    over.sort_by(f64::total_cmp);
    let at =
        |share: f64| over.get((share * over.len() as f64) as usize).copied().unwrap_or_default();
    Ok(json!({
        "player": result.a,
        "limit_ms": limit.as_secs_f64() * 1e3,
        "games": result.games,
        "decisions": a.len() + b.len(),
        "a_ms_a_decision": 1e3 * mean(&a),
        "b_ms_a_decision": 1e3 * mean(&b),
        "time_ratio": mean(&a) / mean(&b),
        "ended_early": a.iter().chain(&b).filter(|seconds| !whole(seconds)).count(),
        "overshoot_mean_ms": over.iter().sum::<f64>() / over.len().max(1) as f64,
        "overshoot_median_ms": at(0.5),
        "overshoot_p99_ms": at(0.99),
        "overshoot_max_ms": over.last().copied().unwrap_or_default(),
    }))
}
