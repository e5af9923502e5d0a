//! Workers on threads.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use common::{config, fake, sorted, worker};
use gipf_core::record::GameRecord;
use gipf_model::fake::{FakeEvaluator, Hooked};
use gipf_selfplay::{GameCounter, Pool, PoolEnd, PoolError};

const RULES: [&str; 2] = ["standard", "basic"];

fn pool(lanes: &[u32], counter: &GameCounter) -> Pool<FakeEvaluator> {
    Pool::new(lanes.iter().map(|&lanes| worker(&config(lanes), &RULES, counter, fake())).collect())
        .unwrap()
}

/// Runs a pool to its end and returns its games.
fn run(pool: &mut Pool<FakeEvaluator>) -> (PoolEnd, Vec<GameRecord>) {
    let (sink, games) = sync_channel(2);
    let receiver = thread::spawn(move || games.into_iter().collect());
    let end = pool.run(&sink).unwrap();
    drop(sink);
    (end, sorted(receiver.join().unwrap()))
}

#[test]
fn one_thread_or_three_play_the_same_games() {
    let (end, one) = run(&mut pool(&[8], &GameCounter::new(0, 30)));
    assert_eq!((end, one.len()), (PoolEnd::Idle, 30));
    let mut three = pool(&[1, 5, 3], &GameCounter::new(0, 30));
    assert_eq!(run(&mut three).1, one);
    assert_eq!(three.control().stats().games, 30);
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let (_, reference) = run(&mut pool(&[6], &GameCounter::new(0, 40)));
    let mut pool = pool(&[3, 3], &GameCounter::new(0, 40));
    let control = pool.control();
    let mut records = Vec::new();
    let mut stops = 0;
    loop {
        let (sink, games): (_, Receiver<GameRecord>) = sync_channel(1);
        let stopper = control.clone();
        let receiver = thread::spawn(move || {
            let mut received = Vec::new();
            for record in games {
                received.push(record);
                stopper.stop();
            }
            received
        });
        let end = pool.run(&sink).unwrap();
        drop(sink);
        records.extend(receiver.join().unwrap());
        if end == PoolEnd::Idle {
            break;
        }
        stops += 1;
        control.resume();
    }
    assert!(stops > 2);
    assert_eq!(sorted(records), reference);
}

#[test]
fn nobody_listening_ends_the_run() {
    let (sink, games) = sync_channel(1);
    drop(games);
    assert_eq!(pool(&[4, 4], &GameCounter::unlimited(0)).run(&sink).unwrap(), PoolEnd::SinkClosed);
}

#[test]
fn a_new_evaluator_is_taken_between_rounds() {
    let counter = GameCounter::new(0, 40);
    let mut pool = pool(&[2, 2], &counter);
    let control = pool.control();
    let (sink, games) = sync_channel(1);
    let receiver = thread::spawn(move || {
        let mut received: Vec<GameRecord> = Vec::new();
        for record in games {
            received.push(record);
            if received.len() == 5 {
                control.swap(vec![FakeEvaluator::new(8), FakeEvaluator::new(9)], 12);
            }
        }
        received
    });
    pool.run(&sink).unwrap();
    drop(sink);
    let checkpoints: Vec<u64> = receiver
        .join()
        .unwrap()
        .iter()
        .filter_map(|record| {
            record.plays.iter().rev().find_map(|play| play.s.as_ref()).map(|s| s.ckpt)
        })
        .collect();
    assert_eq!((checkpoints[0], checkpoints[39]), (7, 12));
}

#[test]
fn a_failing_evaluator_stops_the_pool_with_its_message() {
    let counter = GameCounter::unlimited(0);
    let evaluator = |fails: bool| {
        Hooked::new(fake(), move |batch, _| {
            if fails && batch == 20 { Err("out of memory".to_owned()) } else { Ok(()) }
        })
    };
    let workers = [false, true]
        .map(|fails| worker(&config(2), &RULES, &counter, evaluator(fails)))
        .into_iter()
        .collect();
    let (sink, games) = sync_channel(1);
    let receiver = thread::spawn(move || games.into_iter().count());
    let error = Pool::new(workers).unwrap().run(&sink).unwrap_err();
    drop(sink);
    receiver.join().unwrap();
    assert!(matches!(error, PoolError::Evaluation { worker: 1, .. }));
    assert!(error.to_string().contains("out of memory"));
    assert!(matches!(Pool::<FakeEvaluator>::new(Vec::new()), Err(PoolError::NoWorkers)));
}
