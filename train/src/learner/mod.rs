//! The training loop: self-play makes games, the learner learns from them, and the run's folder always says where it stands.
//!
//! [`Session`] is a run at work. There are four ways to train it, which share its steps: beside self-play
//! ([`Session::train_concurrently`]), in turns with it ([`Session::train_alternately`], bit for bit repeatable), on games
//! that exist already ([`Session::train_from_records`]), and on games that workers elsewhere send ([`Session::train_remotely`]).
//!
//! One thread owns the games on disk, the window, the learner and the counters, so a save point is always consistent; the
//! workers only hand it finished games through a bounded channel and take new weights from it.

mod alternate;
mod bucket;
mod clock;
mod concurrent;
mod curves;
mod follow_up;
mod from_records;
mod gate;
mod given;
mod grow;
mod limits;
mod meters;
mod remote;
mod report;
mod scalars;
pub(crate) mod selfplay;
mod session;
mod start;
mod stop;
mod weights;

pub use follow_up::FollowUp;
pub(crate) use follow_up::quoted;
pub use from_records::check_records;
pub use limits::{Limits, Used};
pub use report::{Standing, elo_text, main_rules, matches, write};
pub(crate) use scalars::Scalars;
pub use session::{Ending, Session};
pub use start::check_start;
pub use stop::StopFlag;
