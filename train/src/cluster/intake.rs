//! The learner's end of a run: games come in through its door, checkpoints go out.
//!
//! Two threads of their own wait for the network, so that the learner never does. One fetches messages, checks them and hands on
//! their games; what does not pass the door it sets aside. The other acknowledges what is stored, announces checkpoints and tells
//! of the learner. A server that is away stops neither: both try again.

use super::batch::{FORMAT_HEADER, RUN_HEADER};
use super::door::Door;
use super::error::ClusterError;
use super::keeper::{Board, Keeper};
use super::link::{Delivery, Link, Queue, Refused, pause};
use super::names::{LEARNER, RunNames};
use super::settings::{LearnerBeat, Settings, read_entry};
use crate::faults;
use gipf_core::record::GameRecord;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Messages asked for at a time.
const FETCH: usize = 32;

/// How long the server holds a request for messages.
const PATIENCE: Duration = Duration::from_secs(1);

/// Messages whose games wait for the learner, at most: what bounds the memory when the learner is behind. The rest waits on the
/// server.
const ARRIVALS: usize = 4;

/// How long to rest after a failure, and while the learner takes nothing.
const REST: Duration = Duration::from_millis(500);

/// How often it is told what was set aside.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// A message that passed the door.
pub struct Arrival {
    /// Its games.
    pub games: Vec<GameRecord>,
    /// What to acknowledge it by.
    pub delivery: Delivery,
}

/// The learner's end.
pub struct Intake {
    arrivals: Receiver<Arrival>,
    keeper: Keeper,
    stop: Arc<AtomicBool>,
    door: Option<JoinHandle<()>>,
}

impl Intake {
    /// Opens a run on a server: makes its streams, tells workers its settings, and takes up the queue of games. A server that goes
    /// away meanwhile is waited for until `stop` holds.
    ///
    /// # Errors
    /// Another run of that name has a learner at work, the server has no JetStream, the account may not do this, or a stop.
    pub fn open(
        link: Link,
        names: &RunNames,
        settings: Settings,
        door: Door,
        backlog_bytes: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ClusterError> {
        let link = Arc::new(link);
        let queue = loop {
            match open(&link, names, &settings, backlog_bytes) {
                Ok(queue) => break queue,
                Err(error) if error.may_pass() && !link.is_connected() => {
                    pause(REST, stop, "the server")?;
                }
                Err(error) => return Err(error),
            }
        };
        let stopping = Arc::new(AtomicBool::new(false));
        let (sender, arrivals) = sync_channel(ARRIVALS);
        let clerk = Clerk {
            link: Arc::clone(&link),
            names: names.clone(),
            door,
            arrivals: sender,
            stop: Arc::clone(&stopping),
            backlog_bytes,
            refused: BTreeMap::new(),
            said: None,
        };
        let failed = |error: std::io::Error| ClusterError::Request {
            what: "starting a thread".to_owned(),
            reason: error.to_string(),
        };
        let keeper = Keeper::start(link, names.clone(), settings).map_err(failed)?;
        let door = thread::Builder::new()
            .name("door".to_owned())
            .spawn(move || clerk.work(queue))
            .map_err(failed)?;
        Ok(Self { arrivals, keeper, stop: stopping, door: Some(door) })
    }

    /// The messages that are there, up to `count` games or the first message beyond; waits up to `patience` for the first.
    ///
    /// # Errors
    /// The thread at the door broke down.
    pub fn receive(&self, count: usize, patience: Duration) -> Result<Vec<Arrival>, ClusterError> {
        let (mut found, mut games) = (Vec::new(), 0);
        let mut next = match self.arrivals.recv_timeout(patience) {
            Ok(arrival) => Some(arrival),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ClusterError::Request {
                    what: "taking games in".to_owned(),
                    reason: "its thread broke down (a bug: its words are above)".to_owned(),
                });
            }
        };
        while let Some(arrival) = next {
            games += arrival.games.len();
            found.push(arrival);
            next = if games < count { self.arrivals.try_recv().ok() } else { None };
        }
        Ok(found)
    }

    /// Acknowledges messages whose games are on the learner's disk.
    pub fn stored(&self, deliveries: Vec<Delivery>) {
        self.keeper.confirm(deliveries);
    }

    /// What the learner tells of itself and of the checkpoint to play with.
    pub fn board(&self) -> &Board {
        self.keeper.board()
    }

    /// Ends the run's end here: acknowledges what is stored, and tells the workers if the run is `done`.
    pub fn close(mut self, done: bool) {
        self.end_door();
        self.keeper.close(done);
    }

    fn end_door(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while self.arrivals.try_recv().is_ok() {}
        if let Some(door) = self.door.take() {
            // A thread that broke down has said so; its messages come again.
            let _ = door.join();
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.end_door();
    }
}

/// Makes the run's place on the server this learner's.
fn open(
    link: &Link,
    names: &RunNames,
    settings: &Settings,
    backlog_bytes: u64,
) -> Result<Queue, ClusterError> {
    link.prepare(names, backlog_bytes)?;
    if let Some(bytes) = link.read(&names.beats_bucket(), LEARNER)?
        && let Ok(other) = read_entry::<LearnerBeat>("learner", names, &bytes)
        && other.run_id != settings.run_id
    {
        return Err(ClusterError::Busy {
            url: link.shown().to_owned(),
            run: names.run().to_owned(),
            other: other.run_id,
            host: other.host,
        });
    }
    link.queue(names)
}

/// Who stands at the door.
struct Clerk {
    link: Arc<Link>,
    names: RunNames,
    door: Door,
    arrivals: SyncSender<Arrival>,
    stop: Arc<AtomicBool>,
    backlog_bytes: u64,
    /// Messages set aside, by kind, since it was last told.
    refused: BTreeMap<&'static str, u64>,
    said: Option<Instant>,
}

impl Clerk {
    fn work(mut self, first: Queue) {
        let mut queue = Some(first);
        let mut failures = 0_u32;
        while !self.is_stopped() {
            let fetched = match &queue {
                Some(queue) => self.link.fetch(queue, FETCH, PATIENCE),
                None => self.reopen(&mut queue).map(|()| Vec::new()),
            };
            match fetched {
                Ok(deliveries) => {
                    failures = 0;
                    self.check(deliveries);
                }
                Err(error) => {
                    failures += 1;
                    if failures == 1 && self.link.is_connected() {
                        tracing::warn!("{error}; trying again");
                    }
                    // A server that came back without its data, or a queue that somebody removed.
                    if failures > 3 && self.link.is_connected() {
                        queue = None;
                    }
                    thread::sleep(REST);
                }
            }
        }
    }

    fn reopen(&self, queue: &mut Option<Queue>) -> Result<(), ClusterError> {
        self.link.prepare(&self.names, self.backlog_bytes)?;
        *queue = Some(self.link.queue(&self.names)?);
        Ok(())
    }

    /// Hands on the games of good messages in their order, and sets the others aside, all at once.
    fn check(&mut self, deliveries: Vec<Delivery>) {
        let mut aside = Vec::new();
        for delivery in deliveries {
            let (format, run) = (delivery.header(FORMAT_HEADER), delivery.header(RUN_HEADER));
            match self.door.check(format, run, delivery.body()) {
                Ok(games) => {
                    if !self.hand_on(Arrival { games, delivery }) {
                        return;
                    }
                }
                Err(refusal) => {
                    *self.refused.entry(refusal.kind()).or_default() += 1;
                    self.tell(&refusal.to_string());
                    let (kind, reason) = (refusal.kind(), refusal.to_string());
                    aside.push(Refused { delivery, kind, reason });
                }
            }
        }
        if !aside.is_empty() {
            // What could not be set aside now comes again.
            let kept = self.link.set_aside(&self.names, aside);
            self.link.confirm(kept);
        }
    }

    /// Waits until the learner has room; false at the end.
    fn hand_on(&self, arrival: Arrival) -> bool {
        faults::point("intake.before_store");
        let mut arrival = arrival;
        loop {
            match self.arrivals.try_send(arrival) {
                Ok(()) => return true,
                Err(TrySendError::Full(back)) => arrival = back,
                Err(TrySendError::Disconnected(_)) => return false,
            }
            if self.is_stopped() {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says now and then what is set aside.
    fn tell(&mut self, last: &str) {
        if self.said.is_some_and(|when| when.elapsed() < SAY_AGAIN) {
            return;
        }
        self.said = Some(Instant::now());
        let counts: Vec<String> = std::mem::take(&mut self.refused)
            .into_iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        let stream = self.names.dead_stream();
        tracing::warn!("set aside in {stream}: {}; the last one: {last}", counts.join(", "));
    }
}
