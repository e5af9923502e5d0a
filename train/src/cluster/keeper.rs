//! The thread that acknowledges stored games, announces checkpoints and tells of the learner.

use super::error::ClusterError;
use super::link::{Delivery, Link};
use super::names::{CHECKPOINT, LEARNER, RunNames, SETTINGS};
use super::rate::Rate;
use super::settings::{Announcement, LearnerBeat, Settings, host};
use super::watch::sha256;
use crate::faults;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the learner tells of itself, and makes sure that what it announced still stands.
const BEAT: Duration = Duration::from_secs(5);

/// How long to wait for something to acknowledge.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to rest after a failed announcement.
const REST: Duration = Duration::from_secs(1);

/// How long the end of a run waits for the server.
const END: Duration = Duration::from_secs(10);

/// Checkpoints that stay in the object store: a worker may still be fetching the one before.
const KEPT: usize = 3;

/// Where the learner stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stand {
    /// Training steps done.
    pub step: u64,
    /// Games counted.
    pub games: u64,
    /// Positions decided in them.
    pub positions: u64,
    /// Games that came again, since this start.
    pub repeated: u64,
    /// Whether it takes no games, because it is behind with learning.
    pub full: bool,
}

/// What the learner writes for the thread to read.
#[derive(Debug, Default)]
pub struct Board(Mutex<Posted>);

#[derive(Debug, Default)]
struct Posted {
    stand: Stand,
    /// The checkpoint to announce, and its bytes.
    checkpoint: Option<(Announcement, Vec<u8>)>,
}

impl Board {
    /// Says where the learner stands.
    pub fn stand(&self, stand: Stand) {
        self.lock().stand = stand;
    }

    /// Has a checkpoint announced, in place of one that is still on its way.
    pub fn announce(&self, step: u64, bytes: Vec<u8>) {
        let sha256 = sha256(&bytes);
        // A run that goes on from an earlier save point comes by the same steps again with other weights.
        let name = format!("step-{step:08}-{}", &sha256[..16]);
        let announcement = Announcement { step, name, bytes: bytes.len() as u64, sha256 };
        self.lock().checkpoint = Some((announcement, bytes));
    }

    /// What is posted is whole at every moment, so a board left by a panicking thread is sound.
    fn lock(&self) -> MutexGuard<'_, Posted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread.
pub(super) struct Keeper {
    board: Arc<Board>,
    stored: Option<Sender<Vec<Delivery>>>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(super) fn start(
        link: Arc<Link>,
        names: RunNames,
        settings: Settings,
    ) -> std::io::Result<Self> {
        let board = Arc::new(Board::default());
        let done = Arc::new(AtomicBool::new(false));
        let (stored, acks) = channel();
        let desk = Desk {
            link,
            names,
            settings,
            board: Arc::clone(&board),
            done: Arc::clone(&done),
            announced: None,
            objects: None,
            rate: None,
        };
        let thread =
            thread::Builder::new().name("keeper".to_owned()).spawn(move || desk.work(&acks))?;
        Ok(Self { board, stored: Some(stored), done, thread: Some(thread) })
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    pub(super) fn confirm(&self, deliveries: Vec<Delivery>) {
        if let Some(stored) = &self.stored {
            // A thread that broke down acknowledges nothing: the games come again and are known.
            let _ = stored.send(deliveries);
        }
    }

    pub(super) fn close(&mut self, done: bool) {
        self.done.store(done, Ordering::Relaxed);
        self.end();
    }

    fn end(&mut self) {
        self.stored = None;
        if let Some(thread) = self.thread.take() {
            // A thread that broke down has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread works with.
struct Desk {
    link: Arc<Link>,
    names: RunNames,
    settings: Settings,
    board: Arc<Board>,
    /// Whether the run has reached its end, once the learner has let go.
    done: Arc<AtomicBool>,
    announced: Option<Announcement>,
    /// The objects in the store, oldest first; none before they were looked up.
    objects: Option<VecDeque<String>>,
    rate: Option<Rate>,
}

impl Desk {
    fn work(mut self, acks: &Receiver<Vec<Delivery>>) {
        let (mut beaten, mut failed) = (None::<Instant>, None::<Instant>);
        loop {
            match acks.recv_timeout(PATIENCE) {
                Ok(deliveries) => self.confirm(deliveries),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !self.link.is_connected() || failed.is_some_and(|when| when.elapsed() < REST) {
                continue;
            }
            let due = beaten.is_none_or(|when| when.elapsed() > BEAT);
            match self.tend(due) {
                Ok(()) => {
                    failed = None;
                    if due {
                        beaten = Some(Instant::now());
                    }
                }
                Err(error) => {
                    if failed.is_none() {
                        tracing::warn!("{error}; trying again");
                    }
                    failed = Some(Instant::now());
                }
            }
        }
        self.settings.done = self.done.load(Ordering::Relaxed);
        let until = Instant::now() + END;
        while let Err(error) = self.tend(true) {
            if Instant::now() > until {
                tracing::warn!("the workers were not told that the learner ends: {error}");
                break;
            }
            thread::sleep(PATIENCE);
        }
    }

    fn confirm(&self, deliveries: Vec<Delivery>) {
        faults::point("intake.after_store");
        let all = deliveries.len();
        let confirmed = self.link.confirm(deliveries);
        faults::point("intake.after_ack");
        if confirmed < all {
            tracing::debug!("{} messages come again: they are stored already", all - confirmed);
        }
    }

    /// Announces a new checkpoint at once; when it is `due`, also makes sure that everything announced still stands, and tells of
    /// the learner.
    fn tend(&mut self, due: bool) -> Result<(), ClusterError> {
        let posted = self.board.lock().checkpoint.take();
        if let Some((announcement, bytes)) = posted
            && let Err(error) = self.announce(&announcement, &bytes)
        {
            // Unless a newer one has come meanwhile.
            self.board.lock().checkpoint.get_or_insert((announcement, bytes));
            return Err(error);
        }
        if due {
            let bucket = self.names.run_bucket();
            self.restore(&bucket, SETTINGS, &to_json(&self.settings)?)?;
            if let Some(announced) = &self.announced {
                self.restore(&bucket, CHECKPOINT, &to_json(announced)?)?;
            }
            self.beat()?;
        }
        Ok(())
    }

    /// Writes an entry, unless it stands.
    fn restore(&self, bucket: &str, key: &str, value: &[u8]) -> Result<(), ClusterError> {
        if self.link.read(bucket, key)?.as_deref() != Some(value) {
            self.link.write(bucket, key, value.to_vec())?;
        }
        Ok(())
    }

    /// Stores a checkpoint, then tells the workers of it, then removes what nobody needs any more.
    fn announce(&mut self, new: &Announcement, bytes: &[u8]) -> Result<(), ClusterError> {
        let store = self.names.checkpoints();
        let objects = match self.objects.take() {
            Some(objects) => objects,
            None => self.link.objects(&store)?.into(),
        };
        let objects = self.objects.insert(objects);
        if objects.contains(&new.name) {
            objects.retain(|name| *name != new.name);
        } else {
            self.link.put_object(&store, &new.name, bytes)?;
        }
        objects.push_back(new.name.clone());
        faults::point("announce.before_key");
        self.link.write(&self.names.run_bucket(), CHECKPOINT, to_json(new)?)?;
        self.announced = Some(new.clone());
        while objects.len() > KEPT
            && let Some(oldest) = objects.pop_front()
        {
            self.link.delete_object(&store, &oldest)?;
        }
        Ok(())
    }

    fn beat(&mut self) -> Result<(), ClusterError> {
        let stand = self.board.lock().stand;
        let now = Instant::now();
        let rate = self.rate.get_or_insert_with(|| Rate::new(now, stand.games));
        let beat = LearnerBeat {
            run_id: self.settings.run_id.clone(),
            host: host(),
            process: std::process::id(),
            step: stand.step,
            games: stand.games,
            positions: stand.positions,
            games_per_second: rate.at(now, stand.games),
            repeated: stand.repeated,
            checkpoint: self.announced.as_ref().map_or(0, |announced| announced.step),
            full: stand.full,
        };
        self.link.write(&self.names.beats_bucket(), LEARNER, to_json(&beat)?)
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>, ClusterError> {
    serde_json::to_vec(value).map_err(|error| ClusterError::Request {
        what: "writing an entry".to_owned(),
        reason: error.to_string(),
    })
}
