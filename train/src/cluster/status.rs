//! How runs on a server are doing.

use super::connection::{Connection, Role};
use super::error::ClusterError;
use super::link::{Depth, Link};
use super::names::{CHECKPOINT, LEARNER, RunNames, WORKER};
use super::settings::{Announcement, LearnerBeat, WorkerBeat, read_entry};
use serde::Serialize;
use std::time::Duration;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunStatus {
    /// Its name.
    pub run: String,
    /// Its learner, if one is at work.
    pub learner: Option<LearnerBeat>,
    /// Its workers at work, by key.
    pub workers: Vec<WorkerStatus>,
    /// Their games a second together.
    pub games_per_second: f64,
    /// The newest checkpoint.
    pub checkpoint: Option<Announcement>,
    /// Steps that the workers' checkpoint is behind it, at most; none without workers.
    pub checkpoint_lag_steps: Option<u64>,
    /// Messages of games that wait for the learner.
    pub backlog_messages: u64,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// The most bytes that may wait; then the server takes no more.
    pub backlog_limit: u64,
    /// How long the oldest of them waits, in seconds; 0 where none does.
    pub lag_seconds: f64,
    /// Games that wait on the workers' disks.
    pub waiting_games: u64,
    /// Messages that were set aside, ever.
    pub set_aside: u64,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerStatus {
    /// What its start is called in the ids of its games.
    pub worker: String,
    /// What it tells of itself.
    #[serde(flatten)]
    pub beat: WorkerBeat,
}

/// The runs on a server, or the one of a name.
///
/// # Errors
/// No server answers, it refuses, the account may not see this, or there is no such run.
pub fn status(connection: &Connection, run: Option<&str>) -> Result<Vec<RunStatus>, ClusterError> {
    let named = run.map(RunNames::new).transpose()?;
    let link = Link::connect(connection, Role::Status, None)?;
    let runs = link.runs()?;
    if let Some(named) = &named
        && !runs.contains(named)
    {
        return Err(ClusterError::NoRun {
            url: link.shown().to_owned(),
            run: named.run().to_owned(),
        });
    }
    let wanted = runs.iter().filter(|run| named.as_ref().is_none_or(|named| named == *run));
    wanted.map(|names| of_run(&link, names)).collect()
}

fn of_run(link: &Link, names: &RunNames) -> Result<RunStatus, ClusterError> {
    let (mut learner, mut workers) = (None, Vec::new());
    for (key, bytes) in link.entries(&names.beats_bucket())? {
        // Who writes nonsense is not at work.
        if key == LEARNER {
            learner = read_entry("learner", names, &bytes).ok();
        } else if let Some(worker) = key.strip_prefix(WORKER)
            && let Ok(beat) = read_entry("worker", names, &bytes)
        {
            workers.push(WorkerStatus { worker: worker.to_owned(), beat });
        }
    }
    workers.sort_by(|a, b| a.worker.cmp(&b.worker));
    let checkpoint = link
        .read(&names.run_bucket(), CHECKPOINT)?
        .and_then(|bytes| Announcement::read(names, &bytes).ok());
    let backlog = link.depth(&names.games_stream())?;
    let set_aside = link.depth(&names.dead_stream())?.ever;
    Ok(RunStatus::of(names.run(), learner, workers, checkpoint, backlog, set_aside))
}

impl RunStatus {
    fn of(
        run: &str,
        learner: Option<LearnerBeat>,
        workers: Vec<WorkerStatus>,
        checkpoint: Option<Announcement>,
        backlog: Depth,
        set_aside: u64,
    ) -> Self {
        let oldest = workers.iter().map(|worker| worker.beat.checkpoint).min();
        let newest = checkpoint.as_ref().map(|announced| announced.step);
        Self {
            run: run.to_owned(),
            games_per_second: workers.iter().map(|worker| worker.beat.games_per_second).sum(),
            waiting_games: workers.iter().map(|worker| worker.beat.waiting_games).sum(),
            checkpoint_lag_steps: oldest.zip(newest).map(|(old, new)| new.saturating_sub(old)),
            learner,
            workers,
            checkpoint,
            backlog_messages: backlog.messages,
            backlog_bytes: backlog.bytes,
            backlog_limit: backlog.limit,
            lag_seconds: backlog.oldest.unwrap_or(Duration::ZERO).as_secs_f64(),
            set_aside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_summed_up() {
        let worker = |name: &str, rate: f64, checkpoint| WorkerStatus {
            worker: name.to_owned(),
            beat: WorkerBeat {
                run_id: "a-1".to_owned(),
                host: "h".to_owned(),
                process: 1,
                threads: 2,
                games: 10,
                positions: 900,
                games_per_second: rate,
                waiting_games: 3,
                waiting_bytes: 99,
                oversized: 0,
                checkpoint,
                full: false,
            },
        };
        let checkpoint =
            Announcement { step: 300, name: "x".to_owned(), bytes: 1, sha256: String::new() };
        let backlog = Depth {
            messages: 2,
            bytes: 70,
            ever: 9,
            limit: 100,
            oldest: Some(Duration::from_secs(4)),
        };
        let workers = vec![worker("1", 1.5, 300), worker("2", 2.0, 100)];
        let status = RunStatus::of("a", None, workers, Some(checkpoint), backlog, 5);
        assert_eq!((status.games_per_second, status.waiting_games), (3.5, 6));
        assert_eq!(status.checkpoint_lag_steps, Some(200));
        assert_eq!((status.lag_seconds, status.set_aside), (4.0, 5));
        let idle = RunStatus::of("a", None, Vec::new(), None, Depth::default(), 0);
        assert_eq!((idle.checkpoint_lag_steps, idle.lag_seconds), (None, 0.0));
    }
}
