//! The thread that sends what is in a worker's spool, and removes what the server has.

use super::batch::HEADER_ROOM;
use super::error::ClusterError;
use super::link::{Link, Outgoing};
use super::names::RunNames;
use super::spool::{Parcel, Spool};
use crate::faults;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Messages on their way at a time.
const WINDOW: usize = 8;

/// How long to wait for a message, or for the server to be there.
const PATIENCE: Duration = Duration::from_millis(200);

/// The longest pause after a refusal.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Sends messages until it is closed.
pub(super) struct Sender {
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    /// Starts the thread for the messages of a run in a spool.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        link: Arc<Link>,
        names: RunNames,
        run_id: String,
        spool: Arc<Spool>,
    ) -> std::io::Result<Self> {
        let closing = Arc::new(AtomicBool::new(false));
        let post = Post { link, names, run_id, spool, closing: Arc::clone(&closing) };
        let thread =
            thread::Builder::new().name("sender".to_owned()).spawn(move || post.deliver())?;
        Ok(Self { closing, thread: Some(thread) })
    }

    /// Lets the thread send what is left for up to `time`, then ends it after the message under way. What is still left stays on the
    /// disk.
    pub(super) fn close(mut self, spool: &Spool, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !spool.oldest(1, Duration::ZERO).is_empty() {
            thread::sleep(Duration::from_millis(20));
        }
        self.end();
    }

    fn end(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that broke down has said so; its messages are on the disk.
            let _ = thread.join();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread works with.
struct Post {
    link: Arc<Link>,
    names: RunNames,
    run_id: String,
    spool: Arc<Spool>,
    closing: Arc<AtomicBool>,
}

impl Post {
    fn deliver(&self) {
        let mut refused = 0_u32;
        while !self.is_closing() {
            let parcels = self.spool.oldest(WINDOW, PATIENCE);
            if parcels.is_empty() {
                continue;
            }
            if !self.link.is_connected() {
                thread::sleep(PATIENCE);
                continue;
            }
            match self.send(parcels) {
                Ok(()) => {
                    if refused > 0 {
                        tracing::info!("the server takes games again");
                    }
                    refused = 0;
                }
                Err(error) => {
                    if refused == 0 {
                        let games = self.spool.waiting().games;
                        tracing::warn!("{error}; {games} games wait on the disk");
                    }
                    refused += 1;
                    self.rest(PATIENCE.saturating_mul(1 << refused.min(5)).min(LONGEST_PAUSE));
                }
            }
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_closing() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends messages and forgets those that the server has; the first refusal, if there is one.
    fn send(&self, parcels: Vec<Parcel>) -> Result<(), ClusterError> {
        let room = self.link.max_payload().saturating_sub(HEADER_ROOM) as u64;
        let (mut sent, mut messages) = (Vec::new(), Vec::new());
        for parcel in parcels {
            if parcel.bytes > room {
                self.spool.set_aside(&parcel)?;
                continue;
            }
            let body = self.spool.read(&parcel)?;
            messages.push(Outgoing { id: parcel.id.clone(), run_id: self.run_id.clone(), body });
            sent.push(parcel);
        }
        faults::point("send.before_publish");
        let answers = self.link.publish(&self.names, messages);
        let mut refusal = Ok(());
        for (parcel, answer) in sent.iter().zip(answers) {
            match answer {
                Ok(()) => {
                    faults::point("send.after_ack");
                    self.spool.delivered(parcel)?;
                }
                Err(error) => refusal = refusal.and(Err(error)),
            }
        }
        refusal
    }
}
