//! A run over many machines: self-play workers and a learner, with a NATS server between them.
//!
//! ```text
//! worker   self-play -> Spool (fsync) -> Sender  ==>  work queue of games  ==>  Door -> store (fsync) -> acknowledged   learner
//!          evaluators <- verified file           <==  object store, key    <==  averaged weights
//! ```
//!
//! A worker counts a game once it is on its disk, and keeps it until the server has it; the server keeps it until the learner has it
//! on its own disk. On the way it may come twice, never not at all: the learner's store knows every game it ever counted by its id
//! ([`crate::store::IdSet`]), so each is there once. Messages that are not this run's, or not by the rules, are set aside in a stream
//! of their own ([`Refusal`]). docs/CLUSTER.md says how to run it and what happens when a part dies.

mod batch;
mod connection;
mod door;
mod error;
mod home;
mod intake;
mod keeper;
mod link;
mod names;
mod outbox;
mod rate;
mod sender;
mod settings;
mod spool;
mod status;
mod table;
mod watch;
mod worker;

pub use batch::{
    Body, FORMAT_HEADER, MAX_BODY, MAX_CONTENT, MAX_GAMES, Packer, RUN_HEADER, Refusal, unpack,
};
pub use connection::{Connection, Role};
pub use door::Door;
pub use error::ClusterError;
pub use intake::{Arrival, Intake};
pub use keeper::{Board, Stand};
pub use link::{BEAT_LASTS, Delivery, Depth, Link, Outgoing, Queue, Refused};
pub use names::RunNames;
pub use outbox::{Outbox, Place};
pub use settings::{
    Announcement, Batching, CLUSTER_FORMAT, LearnerBeat, MAX_ENTRY, Settings, WorkerBeat,
};
pub use spool::Waiting;
pub use status::{RunStatus, WorkerStatus, status};
pub use worker::{WorkerEnd, WorkerOptions, work};
