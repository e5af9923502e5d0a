//! Games on their way: what workers send, what the learner fetches, acknowledges or sets aside.

use super::super::batch::{FORMAT_HEADER, HEADER_ROOM, RUN_HEADER};
use super::super::error::ClusterError;
use super::super::names::{CONSUMER, RunNames};
use super::super::settings::CLUSTER_FORMAT;
use super::{ANSWER, Link, failed};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, AckKind, context};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::StreamExt;

/// How long a message may be with the learner before the server offers it again. It does no harm to be late: a game that comes
/// again is known.
const ACK_WAIT: Duration = Duration::from_secs(60);

/// The most messages that the learner may have before the server has its word on them. It holds far fewer; the rest are those whose
/// acknowledgement is on its way, which must not keep the next ones waiting.
const MAX_PENDING: i64 = 1024;

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

impl Link {
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
            let until = Instant::now() + ANSWER;
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
            let until = Instant::now() + ANSWER;
            let mut there = Vec::new();
            for (delivery, sent) in waiting {
                if kept(sent, until).await.is_ok() {
                    there.push(delivery);
                }
            }
            there
        })
    }
}

/// The server's word, in time, that it has a message.
async fn kept(
    sent: Result<context::PublishAckFuture, context::PublishError>,
    until: Instant,
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
