//! The model of docs/CLUSTER.md against measured points: what a run with more workers costs the server and the learner.

use std::fs;
use std::time::{Duration, Instant};

use super::common::config;
use super::programs::{
    Program, With, counted, processor_seconds, status, stored, wait_for_intake, wait_until,
};
use super::server::{Server, is_soak};

/// What was measured with some workers.
#[derive(Debug)]
struct Point {
    workers: usize,
    games: f64,
    /// Bytes of games that came through the server, a game.
    bytes: f64,
    /// Processor milliseconds a game: of the workers, of the server and of the learner.
    worker_ms: f64,
    server_ms: f64,
    learner_ms: f64,
}

#[test]
fn costs_a_game_do_not_grow_with_the_workers() {
    let folder = tempfile::tempdir().unwrap();
    if super::server::program().is_none() {
        return;
    }
    let numbers: &[usize] = if is_soak() { &[1, 2, 4] } else { &[1, 2] };
    let points: Vec<Point> = numbers
        .iter()
        .map(|&workers| {
            let place = folder.path().join(workers.to_string());
            fs::create_dir(&place).unwrap();
            measure(&place, workers)
        })
        .collect();
    for Point { workers, games, bytes, worker_ms, server_ms, learner_ms } in &points {
        println!(
            "{workers} workers: {games} games, {bytes:.0} bytes a game; processor time a game: worker {worker_ms:.1} ms, server {server_ms:.2} ms, learner {learner_ms:.2} ms"
        );
    }
    let (first, last) = (&points[0], &points[points.len() - 1]);
    // Bytes a game are those of one worker, whoever plays; the same holds of the processor's time, but that is shared
    // with whatever else the machine does.
    assert!((last.bytes / first.bytes - 1.0).abs() < 0.15, "{points:.1?}");
    for ratio in [last.server_ms / first.server_ms, last.learner_ms / first.learner_ms] {
        assert!(ratio < 1.6, "a game costs {ratio:.2} times as much with {} workers", last.workers);
    }
}

fn measure(place: &std::path::Path, workers: usize) -> Point {
    let server = Server::start(place, "").unwrap();
    let url = server.url();
    // The learner only takes games in; what training costs is no matter of the number of workers.
    let settings =
        ["run.threads=1", "window.minimum=1900", "train.sample_reuse=0.01", "self_play.workers=1"];
    let config = config(place, &settings);
    let run = place.join("run");
    let learner = Program::learner(&config, &run, &url, &With::default());
    let folders: Vec<_> = (0..workers).map(|index| place.join(format!("w{index}"))).collect();
    let players: Vec<_> =
        folders.iter().map(|folder| Program::worker(folder, &url, &With::default())).collect();
    let logs: Vec<_> = folders.iter().map(|folder| folder.with_extension("log")).collect();
    wait_until("the first games", Duration::from_secs(60), || counted(&logs).len() >= 20 * workers);
    let spent = || {
        let players: f64 = players.iter().map(|player| processor_seconds(player.process())).sum();
        [players, processor_seconds(server.process()), processor_seconds(learner.process())]
    };
    let (before, games) = (spent(), counted(&logs).len());
    let (began, seconds) = (Instant::now(), if is_soak() { 40 } else { 12 });
    while began.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let (after, games) = (spent(), (counted(&logs).len() - games) as f64);
    let each = |index: usize| 1000.0 * (after[index] - before[index]) / games;
    let told = status(&url, &[]);
    assert_eq!(told["workers"].as_array().unwrap().len(), workers, "{told}");
    assert!(told["games_per_second"].as_f64().unwrap() > 0.0, "{told}");
    players.into_iter().for_each(Program::stop);
    wait_for_intake(&url, &[]);
    learner.stop();
    let stored = stored(&run).len();
    let bytes: u64 = fs::read_dir(run.join("games"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    Point {
        workers,
        games,
        bytes: bytes as f64 / stored as f64,
        worker_ms: each(0),
        server_ms: each(1),
        learner_ms: each(2),
    }
}
