//! How strong a run's checkpoints and the baselines are: a league that plays where games tell most, and its ratings.
//!
//! [`Book`] keeps the games, [`League`] plays them and rates, [`RatingsFile`] is `ratings.json` and [`draw`] makes
//! `ratings.svg`. The mathematics are `gipf_selfplay`'s.

mod book;
mod error;
mod file;
mod league;
mod plot;

pub use book::{Book, Entrant, Meeting, Setup};
pub use error::RatingsError;
pub use file::{
    PairingResult, RATINGS_FILE, RATINGS_FORMAT, RatedLimit, RatedPairing, RatedPlayer, RatingsFile,
};
pub use league::{League, Rival, write_scalars};
pub use plot::draw;
