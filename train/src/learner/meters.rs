//! What a run measures about itself between two points of its curves.

use std::time::{Duration, Instant};

use gipf_core::record::{GameRecord, GameResult};
use gipf_model_torch::Losses;
use gipf_selfplay::{ExecutorMeter, WorkerStats};

use crate::cpu;

/// How long sums must be under way before their means are shown.
const TELLING: Duration = Duration::from_secs(5);

/// Losses summed over steps, or their means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MeanLosses {
    /// The weighted sum of the others.
    pub(super) total: f64,
    /// Cross-entropy of the policy, in nats.
    pub(super) policy: f64,
    /// Cross-entropy of the value.
    pub(super) value: f64,
    /// Loss of the plays left.
    pub(super) plays_left: f64,
    /// Cross-entropy of the reply's policy; 0 without that head.
    pub(super) reply: f64,
    /// Loss of the swing; 0 without that head.
    pub(super) swing: f64,
    /// Entropy of the policy's target: what no network can get under.
    pub(super) target_entropy: f64,
}

impl MeanLosses {
    fn add(&mut self, losses: &Losses) {
        self.total += losses.total;
        self.policy += losses.policy;
        self.value += losses.value;
        self.plays_left += losses.plays_left;
        self.reply += losses.reply;
        self.swing += losses.swing;
        self.target_entropy += losses.policy_entropy;
    }

    fn over(self, steps: u64) -> MeanLosses {
        let steps = steps as f64;
        MeanLosses {
            total: self.total / steps,
            policy: self.policy / steps,
            value: self.value / steps,
            plays_left: self.plays_left / steps,
            reply: self.reply / steps,
            swing: self.swing / steps,
            target_entropy: self.target_entropy / steps,
        }
    }
}

/// Sums since the last [`Meters::take`].
#[derive(Debug)]
pub(super) struct Meters {
    since: Instant,
    losses: MeanLosses,
    steps: u64,
    games: u64,
    plays: u64,
    white_points: f64,
    unfinished: u64,
    stats: WorkerStats,
    at_start: WorkerStats,
    /// Batches and rows of the executors, where there are any.
    executed: [u64; 2],
    executed_at_start: [u64; 2],
    /// The process's processor seconds when the sums began.
    cpu_at_start: f64,
}

/// Means since the point before; `None` where nothing happened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Point {
    /// Mean losses of the steps.
    pub(super) losses: Option<MeanLosses>,
    /// Mean plays a game.
    pub(super) length: Option<f64>,
    /// White's share of the points, an unfinished game being half a point.
    pub(super) white_score: Option<f64>,
    /// Share of unfinished games.
    pub(super) unfinished: Option<f64>,
    /// Plays made by self-play, a second.
    pub(super) positions_per_second: f64,
    /// Network evaluations a second.
    pub(super) evaluations_per_second: f64,
    /// Share of the batches' rows that held a position.
    pub(super) batch_fill: Option<f64>,
    /// Share of the evaluations that the workers' caches knew; `None` where there is no evaluation.
    pub(super) cache_hits: Option<f64>,
    /// Positions in a batch of the GPU.
    pub(super) executor_rows: Option<f64>,
    /// Share of the cores' time that this process used, learner and self-play together.
    pub(super) cpu_share: f64,
    /// Training steps a second.
    pub(super) steps_per_second: f64,
}

impl Meters {
    pub(super) fn new() -> Self {
        Meters {
            since: Instant::now(),
            losses: MeanLosses::default(),
            steps: 0,
            games: 0,
            plays: 0,
            white_points: 0.0,
            unfinished: 0,
            stats: WorkerStats::default(),
            at_start: WorkerStats::default(),
            executed: [0; 2],
            executed_at_start: [0; 2],
            cpu_at_start: cpu::process_seconds(),
        }
    }

    pub(super) fn step(&mut self, losses: &Losses) {
        self.losses.add(losses);
        self.steps += 1;
    }

    pub(super) fn game(&mut self, record: &GameRecord) {
        self.games += 1;
        self.plays += record.plays.len() as u64;
        match record.result {
            GameResult::White => self.white_points += 1.0,
            GameResult::Black => {}
            GameResult::Unfinished => {
                self.white_points += 0.5;
                self.unfinished += 1;
            }
        }
    }

    /// The workers' and executors' sums as they are now.
    pub(super) fn stats(&mut self, stats: WorkerStats, executors: &ExecutorMeter) {
        self.stats = stats;
        self.executed = [executors.batches(), executors.rows()];
    }

    /// Whether there was a step since the last point.
    pub(super) fn has_steps(&self) -> bool {
        self.steps > 0
    }

    /// Whether the sums are long enough under way for means that say something.
    pub(super) fn is_telling(&self) -> bool {
        self.since.elapsed() > TELLING
    }

    /// The means so far, without beginning anew.
    pub(super) fn peek(&self) -> Point {
        let seconds = self.since.elapsed().as_secs_f64().max(1e-3);
        let stats = self.stats - self.at_start;
        let games = self.games as f64;
        let [batches, rows] =
            [0, 1].map(|i| self.executed[i].saturating_sub(self.executed_at_start[i]));
        let processor = cpu::process_seconds() - self.cpu_at_start;
        Point {
            losses: (self.steps > 0).then(|| self.losses.over(self.steps)),
            length: (self.games > 0).then(|| self.plays as f64 / games),
            white_score: (self.games > 0).then(|| self.white_points / games),
            unfinished: (self.games > 0).then(|| self.unfinished as f64 / games),
            positions_per_second: stats.plays as f64 / seconds,
            evaluations_per_second: stats.evaluations as f64 / seconds,
            batch_fill: (stats.capacity > 0).then(|| stats.fill()),
            cache_hits: (stats.evaluations > 0).then(|| stats.hit_rate()),
            executor_rows: (batches > 0).then(|| rows as f64 / batches as f64),
            cpu_share: processor / (seconds * cpu::cores() as f64),
            steps_per_second: self.steps as f64 / seconds,
        }
    }

    /// The means so far; the sums begin anew.
    pub(super) fn take(&mut self) -> Point {
        let point = self.peek();
        let (stats, executed) = (self.stats, self.executed);
        *self = Meters {
            stats,
            at_start: stats,
            executed,
            executed_at_start: executed,
            ..Meters::new()
        };
        point
    }
}
