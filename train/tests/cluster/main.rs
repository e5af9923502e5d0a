//! Learner and workers over a real nats-server on loopback, which the tests start: nothing that was counted is lost or counted
//! twice, whatever dies; nothing foreign comes in; and the way by which games come makes no difference.
//!
//! The server is `NATS_SERVER`, or `nats-server` on the path. Without one the tests pass with a message, unless `GIPF_NATS` is
//! `required`. `GIPF_SOAK_CLUSTER=1` runs each at its full size (`make soak`).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
#[path = "../common/mod.rs"]
mod common;
mod door;
mod foreign;
mod once;
mod partition;
mod points;
mod programs;
mod proxy;
mod same;
mod server;
mod usage;
