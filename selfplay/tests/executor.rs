//! Workers that share one evaluator.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use common::{config, fake, sorted, worker};
use gipf_core::record::GameRecord;
use gipf_model::fake::{FakeEvaluator, Hooked, OutOfOrder};
use gipf_model::{EvalError, Evaluation, Evaluator, Features};
use gipf_selfplay::{ExecutorMeter, GameCounter, Pool, PoolEnd, PoolError, RemoteEvaluator};

const RULES: [&str; 3] = ["standard", "basic", "standard+Z6;challenge=coin"];
const LANES: usize = 4;

/// A device's delay: an answer takes a moment, longer for some batches than for others.
fn delayed(seed: u64) -> impl Evaluator + 'static {
    let delay = |batch: u64, _| {
        thread::sleep(Duration::from_micros(100 + 150 * (batch % 3)));
        Ok(())
    };
    Hooked::new(OutOfOrder::new(FakeEvaluator::new(seed), 5), delay)
}

fn executor(
    evaluator: impl Evaluator + 'static,
    handles: usize,
    meter: &ExecutorMeter,
) -> Vec<RemoteEvaluator> {
    RemoteEvaluator::start(evaluator, handles, 1024, meter).unwrap()
}

fn pool(handles: Vec<RemoteEvaluator>, counter: &GameCounter) -> Pool<RemoteEvaluator> {
    let worker = |handle| worker(&config(LANES as u32), &RULES, counter, handle);
    Pool::new(handles.into_iter().map(worker).collect()).unwrap()
}

/// Runs a pool to its end.
fn run(pool: &mut Pool<RemoteEvaluator>) -> (Result<PoolEnd, PoolError>, Vec<GameRecord>) {
    let (sink, games) = sync_channel(2);
    let receiver = thread::spawn(move || games.into_iter().collect());
    let end = pool.run(&sink);
    drop(sink);
    (end, sorted(receiver.join().unwrap()))
}

/// The same games, played without an executor.
fn reference(games: u64) -> Vec<GameRecord> {
    let mut worker = worker(&config(5), &RULES, &GameCounter::new(0, games), fake());
    let mut records = Vec::new();
    worker.run_to_end(&mut |record| records.push(record)).unwrap();
    sorted(records)
}

/// Says when it is dropped.
struct Watched<E>(E, Arc<AtomicU64>);

impl<E: Evaluator> Evaluator for Watched<E> {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        self.0.evaluate(batch, out)
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

impl<E> Drop for Watched<E> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_games_are_those_of_direct_evaluation() {
    let meter = ExecutorMeter::default();
    let (end, records) = run(&mut pool(executor(delayed(3), 6, &meter), &GameCounter::new(0, 40)));
    assert_eq!(end.unwrap(), PoolEnd::Idle);
    assert_eq!(records, reference(40));
    // Six workers on a slow device: while it works on some batches the others gather.
    let rows = meter.rows() as f64 / meter.batches() as f64;
    assert!(rows > 1.5 * LANES as f64, "{rows} rows a batch");
}

#[test]
fn a_batch_is_no_larger_than_it_may_be() {
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let watching = Hooked::new(delayed(3), move |_, rows| {
        seen.fetch_max(rows as u64, Ordering::SeqCst);
        Ok(())
    });
    let handles = RemoteEvaluator::start(watching, 6, 9, &ExecutorMeter::default()).unwrap();
    let (_, records) = run(&mut pool(handles, &GameCounter::new(0, 20)));
    assert_eq!(records, reference(20));
    let most = most.load(Ordering::SeqCst);
    assert!((LANES as u64 + 1..=9).contains(&most), "{most} rows at most");
}

#[test]
fn a_stopped_pool_goes_on_and_leaves_no_thread() {
    let ended = Arc::new(AtomicU64::new(0));
    let handles = executor(Watched(delayed(3), Arc::clone(&ended)), 4, &ExecutorMeter::default());
    let mut pool = pool(handles, &GameCounter::new(0, 30));
    let control = pool.control();
    let mut records = Vec::new();
    for round in 0.. {
        let (sink, games) = sync_channel(2);
        let stopper = control.clone();
        let receiver = thread::spawn(move || {
            games.into_iter().inspect(|_: &GameRecord| stopper.stop()).collect::<Vec<_>>()
        });
        let end = pool.run(&sink).unwrap();
        drop(sink);
        records.extend(receiver.join().unwrap());
        control.resume();
        if end == PoolEnd::Idle {
            assert!(round > 2);
            break;
        }
    }
    assert_eq!(sorted(records), reference(30));
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    drop(pool);
    assert_eq!(ended.load(Ordering::SeqCst), 1, "the executor outlives its handles");
}

#[test]
fn new_weights_are_a_new_executor_and_the_old_one_ends() {
    let ended = Arc::new(AtomicU64::new(0));
    let watched = |seed| Watched(delayed(seed), Arc::clone(&ended));
    let meter = ExecutorMeter::default();
    let mut pool = pool(executor(watched(3), 4, &meter), &GameCounter::new(0, 40));
    let control = pool.control();
    let (sink, games) = sync_channel(1);
    let next = executor(watched(4), 4, &meter);
    let receiver = thread::spawn(move || {
        let (mut next, mut received) = (Some(next), Vec::<GameRecord>::new());
        for record in games {
            received.push(record);
            if received.len() == 5
                && let Some(next) = next.take()
            {
                control.swap(next, 12);
            }
        }
        received
    });
    assert_eq!(pool.run(&sink).unwrap(), PoolEnd::Idle);
    drop(sink);
    let records = receiver.join().unwrap();
    assert_eq!(records.len(), 40);
    let last = records[39].plays.iter().rev().find_map(|play| play.s.as_ref()).unwrap();
    assert_eq!(last.ckpt, 12);
    assert_eq!(ended.load(Ordering::SeqCst), 1, "only the old executor has ended");
    drop(pool);
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}

#[test]
fn a_failing_device_stops_the_pool_with_its_message() {
    let failing =
        Hooked::new(
            delayed(3),
            |batch, _| {
                if batch == 30 { Err("out of memory".to_owned()) } else { Ok(()) }
            },
        );
    let handles = executor(failing, 4, &ExecutorMeter::default());
    let mut pool = pool(handles, &GameCounter::unlimited(0));
    let error = run(&mut pool).0.unwrap_err().to_string();
    assert!(error.contains("out of memory"), "{error}");
}

#[test]
fn an_evaluator_that_breaks_down_is_an_error_and_no_wait_without_end() {
    let started = Instant::now();
    let breaking = Hooked::new(delayed(3), |batch, _| {
        assert!(batch != 30, "a bug of the back end, made up by the test");
        Ok(())
    });
    let handles = executor(breaking, 4, &ExecutorMeter::default());
    let mut pool = pool(handles, &GameCounter::unlimited(0));
    let error = run(&mut pool).0.unwrap_err().to_string();
    assert!(error.contains("its thread has ended"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
}
