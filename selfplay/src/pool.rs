//! Workers on threads: one rayon thread each, their games into one bounded channel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gipf_core::record::GameRecord;
use gipf_model::{EvalError, Evaluator};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use scopeguard::defer_on_unwind;

use crate::worker::{Round, Worker, WorkerStats};

/// How long a worker sleeps before it tries a full channel again.
const FULL_CHANNEL_PAUSE: Duration = Duration::from_millis(2);

/// Why a run of the pool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolEnd {
    /// Every game has been played to its end and the counter has none to start.
    Idle,
    /// [`PoolControl::stop`]: games under way stay in the workers, and a later run goes on with them.
    Stopped,
    /// Nobody receives the games any more.
    SinkClosed,
}

/// Why a pool could not be set up, or stopped playing.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// No workers.
    #[error("a pool needs at least one worker")]
    NoWorkers,
    /// The threads could not be started.
    #[error("starting the worker threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
    /// A worker's evaluator failed; the others were stopped. The games under way are kept.
    #[error("worker {worker}: {error}")]
    Evaluation {
        /// The worker's index.
        worker: usize,
        /// What its evaluator says.
        error: EvalError,
    },
}

/// Self-play workers and their threads.
pub struct Pool<E: Evaluator> {
    workers: Vec<Worker<E>>,
    threads: ThreadPool,
    control: PoolControl<E>,
}

/// Steers a pool from another thread.
pub struct PoolControl<E> {
    shared: Arc<Shared<E>>,
}

struct Shared<E> {
    stop: AtomicBool,
    desks: Vec<Mutex<Desk<E>>>,
}

/// Why the workers of one run end it among themselves.
#[derive(Default)]
struct Halt {
    now: AtomicBool,
    sink_closed: AtomicBool,
}

/// What a worker and the others exchange, once a round.
struct Desk<E> {
    stats: WorkerStats,
    /// A new evaluator and its checkpoint's step, for the worker to take.
    next: Option<(E, u64)>,
}

impl<E> Clone for PoolControl<E> {
    fn clone(&self) -> PoolControl<E> {
        PoolControl { shared: Arc::clone(&self.shared) }
    }
}

impl<E> PoolControl<E> {
    /// Ends the run after the workers' present rounds, and every later run at once, until [`PoolControl::resume`].
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Allows runs again.
    pub fn resume(&self) {
        self.shared.stop.store(false, Ordering::Relaxed);
    }

    /// Whether [`PoolControl::stop`] holds.
    pub fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Hands each worker a new evaluator, in the workers' order; it takes it before its next round. With fewer
    /// evaluators than workers the last ones keep theirs.
    pub fn swap(&self, evaluators: Vec<E>, checkpoint: u64) {
        for (desk, evaluator) in self.shared.desks.iter().zip(evaluators) {
            lock(desk).next = Some((evaluator, checkpoint));
        }
    }

    /// What all workers have done since their start, as of their last rounds.
    pub fn stats(&self) -> WorkerStats {
        self.shared
            .desks
            .iter()
            .map(|desk| lock(desk).stats)
            .fold(WorkerStats::default(), |sum, part| sum + part)
    }

    fn desk(&self, worker: usize) -> MutexGuard<'_, Desk<E>> {
        lock(&self.shared.desks[worker])
    }
}

/// A desk holds whole values only, so one left by a panicking thread is sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Evaluator> Pool<E> {
    /// Starts a thread for each worker.
    pub fn new(workers: Vec<Worker<E>>) -> Result<Pool<E>, PoolError> {
        Pool::with_start(workers, |_| {})
    }

    /// The same; each thread first calls `start` with its number.
    pub fn with_start(
        workers: Vec<Worker<E>>,
        start: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<Pool<E>, PoolError> {
        if workers.is_empty() {
            return Err(PoolError::NoWorkers);
        }
        let threads = ThreadPoolBuilder::new()
            .num_threads(workers.len())
            .thread_name(|index| format!("selfplay-{index}"))
            .start_handler(start)
            .build()?;
        let desks = workers
            .iter()
            .map(|worker| Mutex::new(Desk { stats: worker.stats(), next: None }))
            .collect();
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), desks });
        Ok(Pool { workers, threads, control: PoolControl { shared } })
    }

    /// What steers the pool; it can be cloned and sent to other threads.
    pub fn control(&self) -> PoolControl<E> {
        self.control.clone()
    }

    /// The workers, between runs.
    pub fn workers_mut(&mut self) -> &mut [Worker<E>] {
        &mut self.workers
    }

    /// Plays until the counter has no game left and all are over, or [`PoolControl::stop`]. It blocks. Ended games go to
    /// `sink`; while it is full the workers wait, so a slow receiver slows the play down and not the memory up.
    pub fn run(&mut self, sink: &SyncSender<GameRecord>) -> Result<PoolEnd, PoolError> {
        let control = &self.control;
        let halt = Halt::default();
        let mut results: Vec<Result<PoolEnd, EvalError>> =
            self.workers.iter().map(|_| Ok(PoolEnd::Idle)).collect();
        self.threads.in_place_scope(|scope| {
            for (index, (worker, result)) in self.workers.iter_mut().zip(&mut results).enumerate() {
                let (sink, halt) = (sink.clone(), &halt);
                scope.spawn(move |_| {
                    // A worker that breaks down ends the run as one whose evaluator fails.
                    defer_on_unwind! { halt.now.store(true, Ordering::Relaxed) }
                    *result = play(worker, index, control, &sink, halt);
                    if result.is_err() {
                        halt.now.store(true, Ordering::Relaxed);
                    }
                });
            }
        });
        let mut end = PoolEnd::Idle;
        for (worker, result) in results.into_iter().enumerate() {
            match result.map_err(|error| PoolError::Evaluation { worker, error })? {
                PoolEnd::Idle => {}
                stopped => end = stopped,
            }
        }
        Ok(if halt.sink_closed.load(Ordering::Relaxed) { PoolEnd::SinkClosed } else { end })
    }
}

/// One worker's part of a run.
fn play<E: Evaluator>(
    worker: &mut Worker<E>,
    index: usize,
    control: &PoolControl<E>,
    sink: &SyncSender<GameRecord>,
    halt: &Halt,
) -> Result<PoolEnd, EvalError> {
    while !control.is_stopped() && !halt.now.load(Ordering::Relaxed) {
        let next = control.desk(index).next.take();
        if let Some((evaluator, checkpoint)) = next {
            worker.set_evaluator(evaluator, checkpoint);
        }
        let round = worker.round(&mut |record| send(record, sink, halt))?;
        control.desk(index).stats = worker.stats();
        if round == Round::Idle {
            return Ok(PoolEnd::Idle);
        }
    }
    Ok(PoolEnd::Stopped)
}

/// Sends a game, waiting while the channel is full. A game that ended is worth waiting for even while stopping: the
/// receiver takes it as long as it is there.
fn send(record: GameRecord, sink: &SyncSender<GameRecord>, halt: &Halt) {
    let mut record = record;
    loop {
        match sink.try_send(record) {
            Ok(()) => return,
            Err(TrySendError::Full(back)) => record = back,
            Err(TrySendError::Disconnected(_)) => {
                halt.sink_closed.store(true, Ordering::Relaxed);
                halt.now.store(true, Ordering::Relaxed);
                return;
            }
        }
        std::thread::sleep(FULL_CHANNEL_PAUSE);
    }
}
