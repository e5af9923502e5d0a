//! The link to a server: the one place where anything is asynchronous.
//!
//! A [`Link`] owns a runtime of one thread, on which the client keeps the connection: it answers the server and connects again by
//! itself while learner and worker do something else. Every method blocks, for at most a few seconds.

mod entries;
mod games;

pub use entries::Depth;
pub use games::{Delivery, Outgoing, Queue, Refused};

use super::connection::{Connection, Role};
use super::error::ClusterError;
use super::names::RunNames;
use async_nats::connection::State;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, kv, object_store};
use async_nats::{Client, Event};
use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long the server may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a checkpoint may take on its way.
const TRANSFER: Duration = Duration::from_secs(120);

/// For how long the server itself knows a message that comes again: it only saves the way to the learner.
const DUPLICATES: Duration = Duration::from_secs(120);

/// How long a beat lasts: who has not told of itself for so long is not at work.
pub const BEAT_LASTS: Duration = Duration::from_secs(20);

/// The most that is kept of what was set aside, in bytes; beyond it the oldest goes, and stays counted.
const DEAD_BYTES: i64 = 256 << 20;

/// How often someone who waits for a server says so.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// A connection to a server.
pub struct Link {
    client: Client,
    context: Context,
    shown: String,
    /// Buckets that were looked up.
    buckets: Mutex<HashMap<String, kv::Store>>,
    stores: Mutex<HashMap<String, object_store::ObjectStore>>,
    runtime: Runtime,
}

impl Link {
    /// Connects. Where no server answers it tries again, saying so, until `stop` holds; without `stop` it tries once.
    ///
    /// # Errors
    /// Wrong options, a server that refuses, none that answers, or a stop.
    pub fn connect(
        connection: &Connection,
        role: Role,
        stop: Option<&dyn Fn() -> bool>,
    ) -> Result<Self, ClusterError> {
        let (servers, options) = (connection.servers()?, connection.options(role)?);
        let shown = connection.shown();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| failed("a runtime", &error))?;
        let mut said: Option<Instant> = None;
        let client = loop {
            let options = with_events(options.clone(), shown.clone());
            match runtime.block_on(options.connect(&servers)) {
                Ok(client) => break client,
                Err(error) => {
                    let failure = connection.failure(&error);
                    let Some(stop) = stop.filter(|_| failure.may_pass()) else {
                        return Err(failure);
                    };
                    if said.is_none_or(|when| when.elapsed() > SAY_AGAIN) {
                        said = Some(Instant::now());
                        tracing::warn!("{failure}; trying again until one does");
                    }
                    pause(Duration::from_secs(1), stop, "a server")?;
                }
            }
        };
        // It starts a task of its own.
        let entered = runtime.enter();
        let mut context = jetstream::new(client.clone());
        drop(entered);
        context.set_timeout(ANSWER);
        Ok(Self {
            client,
            context,
            shown,
            buckets: Mutex::default(),
            stores: Mutex::default(),
            runtime,
        })
    }

    /// Whether the server is there now, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The server's address, without a password.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The longest message that the server takes, headers included, in bytes.
    pub fn max_payload(&self) -> usize {
        self.client.max_payload()
    }

    /// Makes what a run needs on the server, where it is not there yet: the work queue of games, which holds up to
    /// `backlog_bytes` and refuses more; the stream of what is set aside; buckets and object store.
    ///
    /// # Errors
    /// The server has no JetStream, too little room for it, or the account may not do this.
    pub fn prepare(&self, names: &RunNames, backlog_bytes: u64) -> Result<(), ClusterError> {
        let games = stream::Config {
            name: names.games_stream(),
            description: Some(format!("finished games of run {}", names.run())),
            subjects: vec![names.games_subject()],
            retention: RetentionPolicy::WorkQueue,
            // Full is full: whoever publishes is told, keeps the games, and tries again.
            discard: DiscardPolicy::New,
            max_bytes: i64::try_from(backlog_bytes).unwrap_or(i64::MAX),
            storage: StorageType::File,
            duplicate_window: DUPLICATES,
            num_replicas: 1,
            ..stream::Config::default()
        };
        let dead = stream::Config {
            name: names.dead_stream(),
            description: Some(format!("messages set aside by the learner of run {}", names.run())),
            subjects: vec![names.dead_subject()],
            max_bytes: DEAD_BYTES,
            storage: StorageType::File,
            duplicate_window: DUPLICATES,
            num_replicas: 1,
            ..stream::Config::default()
        };
        let run = kv::Config { bucket: names.run_bucket(), history: 1, ..kv::Config::default() };
        let beats = kv::Config {
            bucket: names.beats_bucket(),
            history: 1,
            max_age: BEAT_LASTS,
            storage: StorageType::Memory,
            ..kv::Config::default()
        };
        let checkpoints =
            object_store::Config { bucket: names.checkpoints(), ..object_store::Config::default() };
        self.wait("making the run's streams", async {
            for config in [games, dead] {
                let name = config.name.clone();
                self.context
                    .create_or_update_stream(config)
                    .await
                    .map_err(|e| failed(&name, &e))?;
            }
            for config in [run, beats] {
                let name = config.bucket.clone();
                let made = self.context.create_or_update_key_value(config).await;
                made.map_err(|e| failed(&name, &e))?;
            }
            if self.context.get_object_store(&checkpoints.bucket).await.is_err() {
                let name = checkpoints.bucket.clone();
                let made = self.context.create_object_store(checkpoints).await;
                made.map_err(|e| failed(&name, &e))?;
            }
            Ok(())
        })
    }

    /// Sends a message and waits for no answer: it may be lost.
    pub fn tell(&self, subject: String, body: Vec<u8>) {
        if self.is_connected() {
            // What cannot be sent now is told again a few seconds later.
            let _ = self.runtime.block_on(self.client.publish(subject, body.into()));
        }
    }

    fn wait<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        self.within(2 * ANSWER, what, work)
    }

    fn transfer<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        self.within(TRANSFER, what, work)
    }

    /// Does something on the runtime, within a time, if the server is there.
    fn within<T>(
        &self,
        limit: Duration,
        what: &str,
        work: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        if !self.is_connected() {
            return Err(failed(what, &"not connected"));
        }
        self.runtime.block_on(async {
            match tokio::time::timeout(limit, work).await {
                Ok(done) => done,
                Err(_) => Err(failed(what, &format!("no answer in {} s", limit.as_secs()))),
            }
        })
    }
}

/// Tells when the connection is lost, when it is there again, and what the server objects to.
fn with_events(options: async_nats::ConnectOptions, shown: String) -> async_nats::ConnectOptions {
    let lost = std::sync::Arc::new(Mutex::new(None::<Instant>));
    options.event_callback(move |event| {
        match event {
            Event::Disconnected => {
                let mut lost = lock(&lost);
                if lost.is_none() {
                    tracing::warn!("lost the server at {shown}; going on, and trying to reach it");
                }
                lost.get_or_insert_with(Instant::now);
            }
            Event::Connected => {
                if let Some(when) = lock(&lost).take() {
                    let away = when.elapsed().as_secs_f64();
                    tracing::info!("the server at {shown} is there again after {away:.0} s");
                }
            }
            Event::ServerError(error) => tracing::warn!("the server at {shown}: {error}"),
            other => tracing::debug!("the connection to {shown}: {other}"),
        }
        async {}
    })
}

/// Sleeps in small steps, so that a stop is seen soon.
pub(super) fn pause(
    time: Duration,
    stop: &dyn Fn() -> bool,
    what: &'static str,
) -> Result<(), ClusterError> {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if stop() {
            return Err(ClusterError::Stopped(what));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn failed(what: &str, error: &dyn Display) -> ClusterError {
    let words = error.to_string();
    let reason = words.split_whitespace().collect::<Vec<_>>().join(" ");
    ClusterError::Request { what: what.to_owned(), reason }
}

/// A map holds whole values only, so one left by a panicking thread is sound.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
