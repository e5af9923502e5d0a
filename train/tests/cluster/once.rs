//! Once in effect: whatever is killed, and when, every game that a worker counted is on the learner's disk once.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use super::common::config;
use super::programs::{Program, With, counted, stored, wait_for_intake, wait_until};
use super::server::{Server, is_soak};

/// Fault points of a worker, and of a learner, at which a restarted one dies once more.
const WORKER_POINTS: [&str; 6] = [
    "spool.half_written:2",
    "spool.before_rename:3",
    "spool.after_rename:2",
    "send.before_publish:2",
    "send.after_ack:1",
    "send.after_ack:4",
];
const LEARNER_POINTS: [&str; 6] = [
    "intake.after_store:2",
    "append.half_frame:2",
    "intake.before_store:3",
    "append.before_fsync:2",
    "announce.before_key:2",
    "intake.after_ack:2",
];

#[derive(Debug, Clone, Copy)]
enum Event {
    Server,
    Worker,
    Learner,
}

/// Learner and workers with what they are restarted with.
struct Cluster {
    config: PathBuf,
    run: PathBuf,
    url: String,
    learner: Program,
    workers: Vec<(PathBuf, Program)>,
    /// Deaths at fault points.
    faults: usize,
}

impl Cluster {
    fn logs(&self) -> Vec<PathBuf> {
        self.workers.iter().map(|(folder, _)| folder.with_extension("log")).collect()
    }

    fn restart_learner(&mut self, fault: Option<&str>) {
        let with = With { fault: fault.map(str::to_owned), ..learner_options() };
        // Its folder must be free before the next one comes.
        self.learner.kill();
        self.learner = Program::learner(&self.config, &self.run, &self.url, &with);
    }

    fn restart_worker(&mut self, index: usize, fault: Option<&str>) {
        let with = With { fault: fault.map(str::to_owned), ..With::default() };
        let folder = self.workers[index].0.clone();
        self.workers[index].1.kill();
        self.workers[index].1 = Program::worker(&folder, &self.url, &with);
    }

    /// Waits until an armed process has died, and starts it again.
    fn wait_for_fault(&mut self) {
        let before = self.faults;
        wait_until("a death at a fault point", Duration::from_secs(90), || {
            self.revive();
            self.faults > before
        });
    }

    /// Starts again what has died at its fault point; anything else must not have ended.
    fn revive(&mut self) {
        use std::os::unix::process::ExitStatusExt;
        if let Some(status) = self.learner.ended() {
            assert_eq!(status.signal(), Some(9), "the learner ended: {}", self.learner.said());
            self.faults += 1;
            self.restart_learner(None);
        }
        for index in 0..self.workers.len() {
            let worker = &mut self.workers[index].1;
            if let Some(status) = worker.ended() {
                assert_eq!(status.signal(), Some(9), "a worker ended: {}", worker.said());
                self.faults += 1;
                self.restart_worker(index, None);
            }
        }
    }
}

#[test]
fn every_counted_game_is_stored_once_whatever_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = Server::start(folder.path(), "") else { return };
    let (workers, games, kills) =
        if is_soak() { (4, 2_000, [5, 10, 5]) } else { (2, 400, [1, 2, 1]) };
    // Little to learn, so that the games are what takes the time.
    let settings = [
        "run.threads=1",
        "train.sample_reuse=0.01",
        "checkpoints.every_games=40",
        "self_play.workers=1",
        "self_play.refresh_steps=1",
    ];
    let config = config(folder.path(), &settings);
    let run = folder.path().join("run");
    let url = server.url();
    let start = |folder: PathBuf| {
        let worker = Program::worker(&folder, &url, &With::default());
        (folder, worker)
    };
    let mut cluster = Cluster {
        learner: Program::learner(&config, &run, &url, &learner_options()),
        workers: (0..workers).map(|i| start(folder.path().join(format!("w{i}")))).collect(),
        config,
        run,
        url: url.clone(),
        faults: 0,
    };
    let mut rng = SmallRng::seed_from_u64(10);
    let mut events = Vec::new();
    for (event, count) in [Event::Server, Event::Worker, Event::Learner].into_iter().zip(kills) {
        events.extend(std::iter::repeat_n(event, count));
    }
    events.shuffle(&mut rng);
    let (mut worker_points, mut learner_points) =
        (WORKER_POINTS.iter().cycle(), LEARNER_POINTS.iter().cycle());
    let all = events.len();
    let (mut seen, mut progress) = (0, Instant::now());
    for (number, event) in events.into_iter().enumerate() {
        // Spread over the games, at a random moment.
        let due = (number + 1) * games / (all + 1);
        loop {
            cluster.revive();
            let now = counted(&cluster.logs()).len();
            if now > seen {
                (seen, progress) = (now, Instant::now());
            }
            assert!(progress.elapsed() < Duration::from_secs(90), "the run does not go on");
            if now >= due {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(rng.random_range(0..400)));
        match event {
            Event::Server => {
                server.kill();
                std::thread::sleep(Duration::from_millis(rng.random_range(0..1500)));
                server.restart();
            }
            Event::Worker => {
                let index = rng.random_range(0..cluster.workers.len());
                // Whoever comes after it dies once more, at a point of its own.
                cluster.restart_worker(index, worker_points.next().copied());
                cluster.wait_for_fault();
            }
            Event::Learner => {
                cluster.restart_learner(learner_points.next().copied());
                cluster.wait_for_fault();
            }
        }
    }
    let mut progress = Instant::now();
    while counted(&cluster.logs()).len() < games {
        cluster.revive();
        let now = counted(&cluster.logs()).len();
        if now > seen {
            (seen, progress) = (now, Instant::now());
        }
        assert!(progress.elapsed() < Duration::from_secs(90), "the run does not go on");
        std::thread::sleep(Duration::from_millis(100));
    }
    // What is still armed would die of stopping; whoever comes after it sends what it left.
    cluster.restart_learner(None);
    let logs = cluster.logs();
    for index in 0..cluster.workers.len() {
        let before = cluster.workers[index].1.said().matches(PLAYS).count();
        cluster.restart_worker(index, None);
        cluster.workers[index].1.wait_for_words(PLAYS, before + 1);
    }
    for (folder, worker) in cluster.workers {
        worker.stop();
        let left = messages(&folder);
        assert!(left.is_empty(), "a worker that was stopped has sent everything: {left:?}");
    }
    wait_for_intake(&cluster.url, &[]);
    cluster.learner.stop();
    let (counted, stored) = (counted(&logs), stored(&cluster.run));
    let lost: Vec<_> = counted.difference(&stored).collect();
    assert!(
        lost.is_empty(),
        "{} of {} counted games are lost: {lost:?}",
        lost.len(),
        counted.len()
    );
    println!(
        "{} games counted, {} stored, {all} kills and {} deaths at fault points",
        counted.len(),
        stored.len(),
        cluster.faults
    );
    assert!(counted.len() >= games);
    assert_eq!(cluster.faults, kills[1] + kills[2], "each of those restarted died once more");
}

/// What a worker says when it begins to play.
const PLAYS: &str = "plays with the checkpoint";

fn learner_options() -> With {
    With::options(&["--batch-games", "4"])
}

/// The messages in a worker's folder.
fn messages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(messages(&path));
        } else if path.extension().is_some_and(|ending| ending == "games") {
            found.push(path);
        }
    }
    found
}
