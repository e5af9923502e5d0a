//! The link to a server: the one place where anything is asynchronous.
//!
//! A [`Link`] owns a runtime of one thread, on which the client keeps the connection: it answers the server and connects again by
//! itself while learner and worker do something else. Every method blocks, for at most a few seconds.

use super::batch::{FORMAT_HEADER, HEADER_ROOM, RUN_HEADER};
use super::connection::{Connection, Role};
use super::error::ClusterError;
use super::names::{CONSUMER, RunNames};
use super::settings::CLUSTER_FORMAT;
use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, AckKind, Context, context, kv, object_store};
use async_nats::{Client, Event};
use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_stream::StreamExt;

/// How long the server may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a checkpoint may take on its way.
const TRANSFER: Duration = Duration::from_secs(120);

/// How long a message may be with the learner before the server offers it again. It does no harm to be late: a game that comes
/// again is known.
const ACK_WAIT: Duration = Duration::from_secs(60);

/// For how long the server itself knows a message that comes again: it only saves the way to the learner.
const DUPLICATES: Duration = Duration::from_secs(120);

/// How long a beat lasts: who has not told of itself for so long is not at work.
pub const BEAT_LASTS: Duration = Duration::from_secs(20);

/// The most that is kept of what was set aside, in bytes; beyond it the oldest goes, and stays counted.
const DEAD_BYTES: i64 = 256 << 20;

/// The most messages that the learner has at a time and has not acknowledged.
const MAX_PENDING: i64 = 64;

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

/// A message of games on its way out.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// What the server knows it by when it comes again.
    pub id: String,
    /// The run's id.
    pub run_id: String,
    /// The frames.
    pub body: Vec<u8>,
}

/// A message of games that came in and is not yet acknowledged.
pub struct Delivery(jetstream::Message);

impl Delivery {
    /// Its body.
    pub fn body(&self) -> &[u8] {
        &self.0.payload
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.as_ref().and_then(|headers| headers.get(name)).map(|value| value.as_str())
    }

    /// Its number in the stream.
    pub fn sequence(&self) -> u64 {
        self.0.info().map_or(0, |info| info.stream_sequence)
    }
}

/// A message that did not pass the door.
pub struct Refused {
    /// The message.
    pub delivery: Delivery,
    /// The kind of its fault, one word.
    pub kind: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl Refused {
    /// The message as it is kept: its body, cut where the added headers leave no room for all of it, and the reason.
    fn message(&self, room: usize) -> PublishMessage {
        let body = &self.delivery.0.payload;
        // What somebody else wrote may hold what no header can.
        let plain = |text: &str| -> String {
            text.chars().filter(|c| (' '..='~').contains(c)).take(256).collect()
        };
        let header = |name: &str| plain(self.delivery.header(name).unwrap_or(""));
        PublishMessage::build()
            .message_id(format!("refused-{}", self.delivery.sequence()))
            .header("Gipf-Refused", self.kind)
            .header("Gipf-Reason", plain(&self.reason))
            .header("Gipf-Bytes", body.len().to_string())
            .header(FORMAT_HEADER, header(FORMAT_HEADER))
            .header(RUN_HEADER, header(RUN_HEADER))
            .payload(body.slice(..body.len().min(room)))
    }
}

/// The learner's way to the games.
pub struct Queue(PullConsumer);

/// What is in a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages that ever came in.
    pub ever: u64,
    /// The most bytes it may hold.
    pub limit: u64,
    /// How long its oldest message has been in it, by the clocks of server and client; none where it is empty.
    pub oldest: Option<Duration>,
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

    /// The value of a key; none where there is none.
    ///
    /// # Errors
    /// The connection is lost, or the account may not read it.
    pub fn read(&self, bucket: &str, key: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        self.wait(key, async {
            let Some(store) = self.bucket(bucket).await? else { return Ok(None) };
            let value = store.get(key).await.map_err(|error| failed(key, &error))?;
            Ok(value.map(|bytes| bytes.to_vec()))
        })
    }

    /// Writes the value of a key; on return the server has it.
    ///
    /// # Errors
    /// The connection is lost, or the account may not write it.
    pub fn write(&self, bucket: &str, key: &str, value: Vec<u8>) -> Result<(), ClusterError> {
        self.wait(key, async {
            let Some(store) = self.bucket(bucket).await? else {
                return Err(failed(key, &format!("there is no bucket {bucket}")));
            };
            store.put(key, value.into()).await.map(|_| ()).map_err(|error| failed(key, &error))
        })
    }

    /// All keys of a bucket with their values; none where there is no such bucket.
    ///
    /// # Errors
    /// The connection is lost, or the account may not read them.
    pub fn entries(&self, bucket: &str) -> Result<Vec<(String, Vec<u8>)>, ClusterError> {
        self.wait(bucket, async {
            let Some(store) = self.bucket(bucket).await? else { return Ok(Vec::new()) };
            let mut keys = store.keys().await.map_err(|error| failed(bucket, &error))?;
            let mut entries = Vec::new();
            while let Some(key) = keys.next().await {
                let key = key.map_err(|error| failed(bucket, &error))?;
                let value = store.get(&key).await.map_err(|error| failed(bucket, &error))?;
                entries.extend(value.map(|bytes| (key, bytes.to_vec())));
            }
            Ok(entries)
        })
    }

    /// Sends a message and waits for no answer: it may be lost.
    pub fn tell(&self, subject: String, body: Vec<u8>) {
        if self.is_connected() {
            // What cannot be sent now is told again a few seconds later.
            let _ = self.runtime.block_on(self.client.publish(subject, body.into()));
        }
    }

    /// Publishes messages of games, all at once, and waits for the server's word on each: kept or not.
    pub fn publish(
        &self,
        names: &RunNames,
        messages: Vec<Outgoing>,
    ) -> Vec<Result<(), ClusterError>> {
        let subject = names.games_subject();
        self.runtime.block_on(async {
            let mut waiting = Vec::with_capacity(messages.len());
            for message in messages {
                let publish = PublishMessage::build()
                    .message_id(&message.id)
                    .header(FORMAT_HEADER, CLUSTER_FORMAT)
                    .header(RUN_HEADER, message.run_id.as_str())
                    .payload(message.body.into());
                waiting.push(self.context.send_publish(subject.clone(), publish).await);
            }
            let until = tokio::time::Instant::now() + ANSWER;
            let mut answers = Vec::with_capacity(waiting.len());
            for sent in waiting {
                answers.push(kept(sent, until).await);
            }
            answers
        })
    }

    /// Takes up the queue of games anew: what an earlier learner had and did not acknowledge comes at once.
    ///
    /// # Errors
    /// The connection is lost, there is no such stream, or the account may not read it.
    pub fn queue(&self, names: &RunNames) -> Result<Queue, ClusterError> {
        let (name, config) = (names.games_stream(), consumer());
        self.wait(&name, async {
            let stream =
                self.context.get_stream(&name).await.map_err(|error| failed(&name, &error))?;
            // There is none before the first start.
            let _ = stream.delete_consumer(CONSUMER).await;
            let made = stream.create_consumer(config).await;
            made.map(Queue).map_err(|error| failed(&name, &error))
        })
    }

    /// Removes every message from the queue of games: what a measurement begins with.
    ///
    /// # Errors
    /// The connection is lost, there is no such stream, or the account may not do this.
    pub fn empty(&self, names: &RunNames) -> Result<(), ClusterError> {
        let name = names.games_stream();
        self.wait(&name, async {
            let stream =
                self.context.get_stream(&name).await.map_err(|error| failed(&name, &error))?;
            stream.purge().await.map(|_| ()).map_err(|error| failed(&name, &error))
        })
    }

    /// The next messages, up to `count`: those that are there, or, where none is, the first that come within `wait`.
    ///
    /// # Errors
    /// The connection is lost, or the queue was taken up by another learner.
    pub fn fetch(
        &self,
        queue: &Queue,
        count: usize,
        wait: Duration,
    ) -> Result<Vec<Delivery>, ClusterError> {
        self.wait("fetching games", async {
            let batch = queue.0.fetch().max_messages(count).expires(wait).messages().await;
            let mut batch = batch.map_err(|error| failed("fetching games", &error))?;
            let mut found = Vec::new();
            while let Some(message) = batch.next().await {
                found.push(Delivery(message.map_err(|error| failed("fetching games", &error))?));
            }
            Ok(found)
        })
    }

    /// Acknowledges messages and waits until the server has taken that in; how many it has. The others come again.
    pub fn confirm(&self, deliveries: Vec<Delivery>) -> usize {
        self.runtime.block_on(async {
            let mut waiting = JoinSet::new();
            for delivery in deliveries {
                waiting.spawn(async move {
                    let answer =
                        tokio::time::timeout(ANSWER, delivery.0.double_ack_with(AckKind::Ack));
                    matches!(answer.await, Ok(Ok(())))
                });
            }
            let mut confirmed = 0;
            while let Some(answer) = waiting.join_next().await {
                confirmed += usize::from(answer.unwrap_or(false));
            }
            confirmed
        })
    }

    /// Puts messages into the stream of those set aside, each with the reason why; those that the server has there. The others
    /// are still in the queue.
    pub fn set_aside(&self, names: &RunNames, refused: Vec<Refused>) -> Vec<Delivery> {
        let room = self.max_payload().saturating_sub(HEADER_ROOM);
        self.runtime.block_on(async {
            let mut waiting = Vec::with_capacity(refused.len());
            for refused in refused {
                let message = refused.message(room);
                let sent = self.context.send_publish(names.dead_subject(), message).await;
                waiting.push((refused.delivery, sent));
            }
            let until = tokio::time::Instant::now() + ANSWER;
            let mut there = Vec::new();
            for (delivery, sent) in waiting {
                if kept(sent, until).await.is_ok() {
                    there.push(delivery);
                }
            }
            there
        })
    }

    /// Stores an object.
    ///
    /// # Errors
    /// The connection is lost, or the account may not do this.
    pub fn put_object(&self, store: &str, name: &str, bytes: &[u8]) -> Result<(), ClusterError> {
        self.transfer(name, async {
            let store = self.store(store).await?;
            let mut rest = bytes;
            store.put(name, &mut rest).await.map(|_| ()).map_err(|error| failed(name, &error))
        })
    }

    /// The bytes of an object, up to `limit` of them: one more is an error, whatever the object says of itself.
    ///
    /// # Errors
    /// The connection is lost, there is no such object, or it is too long.
    pub fn get_object(&self, store: &str, name: &str, limit: u64) -> Result<Vec<u8>, ClusterError> {
        self.transfer(name, async {
            let object = self.store(store).await?.get(name).await;
            let object = object.map_err(|error| failed(name, &error))?;
            let mut bytes = Vec::new();
            let read = object.take(limit + 1).read_to_end(&mut bytes).await;
            read.map_err(|error| failed(name, &error))?;
            if bytes.len() as u64 > limit {
                let reason = format!("it is longer than {limit} bytes");
                return Err(ClusterError::Checkpoint { name: name.to_owned(), reason });
            }
            Ok(bytes)
        })
    }

    /// The names of a store's objects.
    ///
    /// # Errors
    /// The connection is lost, or there is no such store.
    pub fn objects(&self, store: &str) -> Result<Vec<String>, ClusterError> {
        self.wait(store, async {
            let found = self.store(store).await?.list().await;
            let mut found = found.map_err(|error| failed(store, &error))?;
            let mut names = Vec::new();
            while let Some(object) = found.next().await {
                names.push(object.map_err(|error| failed(store, &error))?.name);
            }
            Ok(names)
        })
    }

    /// Removes an object.
    ///
    /// # Errors
    /// The connection is lost, or there is no such object.
    pub fn delete_object(&self, store: &str, name: &str) -> Result<(), ClusterError> {
        self.wait(name, async {
            let store = self.store(store).await?;
            store.delete(name).await.map_err(|error| failed(name, &error))
        })
    }

    /// What is in a stream.
    ///
    /// # Errors
    /// The connection is lost, there is no such stream, or the account may not see it.
    pub fn depth(&self, stream: &str) -> Result<Depth, ClusterError> {
        self.wait(stream, async {
            let found = self.context.get_stream(stream).await;
            let info = found.and_then(|found| Ok(found.cached_info().clone()));
            let info = info.map_err(|error| failed(stream, &error))?;
            let first = SystemTime::from(info.state.first_timestamp);
            let state = &info.state;
            Ok(Depth {
                messages: state.messages,
                bytes: state.bytes,
                ever: state.last_sequence,
                limit: u64::try_from(info.config.max_bytes).unwrap_or(0),
                oldest: (state.messages > 0)
                    .then(|| SystemTime::now().duration_since(first).unwrap_or_default()),
            })
        })
    }

    /// The names of the runs that the server knows.
    ///
    /// # Errors
    /// The connection is lost, or the account may not list streams.
    pub fn runs(&self) -> Result<Vec<RunNames>, ClusterError> {
        self.wait("listing runs", async {
            let mut streams = self.context.stream_names();
            let mut runs = Vec::new();
            while let Some(name) = streams.next().await {
                let name = name.map_err(|error| failed("listing runs", &error))?;
                runs.extend(RunNames::of_stream(&name));
            }
            runs.sort_by(|a, b| a.run().cmp(b.run()));
            Ok(runs)
        })
    }

    /// A bucket; none where the server has none of that name.
    async fn bucket(&self, name: &str) -> Result<Option<kv::Store>, ClusterError> {
        let known = lock(&self.buckets).get(name).cloned();
        if known.is_some() {
            return Ok(known);
        }
        match self.context.get_key_value(name).await {
            Ok(found) => {
                lock(&self.buckets).insert(name.to_owned(), found.clone());
                Ok(Some(found))
            }
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failed(name, &error)),
        }
    }

    async fn store(&self, name: &str) -> Result<object_store::ObjectStore, ClusterError> {
        if let Some(known) = lock(&self.stores).get(name).cloned() {
            return Ok(known);
        }
        let found = self.context.get_object_store(name).await;
        let found = found.map_err(|error| failed(name, &error))?;
        lock(&self.stores).insert(name.to_owned(), found.clone());
        Ok(found)
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

/// The server's word, in time, that it has a message.
async fn kept(
    sent: Result<context::PublishAckFuture, context::PublishError>,
    until: tokio::time::Instant,
) -> Result<(), ClusterError> {
    let answer = sent.map_err(|error| failed("sending games", &error))?;
    match tokio::time::timeout_at(until, answer).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(failed("sending games", &error)),
        Err(_) => Err(failed("sending games", &"no answer")),
    }
}

/// The learner's durable consumer.
fn consumer() -> pull::Config {
    pull::Config {
        durable_name: Some(CONSUMER.to_owned()),
        deliver_policy: DeliverPolicy::All,
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: MAX_PENDING,
        ..pull::Config::default()
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

/// Whether a bucket could not be found, rather than not be asked for.
fn is_missing(error: &context::KeyValueError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(context::GetStreamErrorKind::JetStream(found)) =
            inner.downcast_ref::<context::GetStreamError>().map(context::GetStreamError::kind)
        {
            return found.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND;
        }
        cause = inner.source();
    }
    false
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
