//! Which mixes favour White: a player against itself by many rules strings, and what its games say.
//!
//! ```text
//! DIR/PLAYER-16-nodes/setup.json              who plays and how: games of one setup only are counted together
//! DIR/PLAYER-16-nodes/games/000001.jsonl.zst  its games against itself (crate::store)
//! DIR/PLAYER-16-nodes/rivals/…                its games against players without a network
//! DIR/PLAYER-16-nodes/studies/HASH.json       a study of one space: whole rounds, and what is played next
//! ```
//!
//! A game's course follows from the setup, its rules and its number, whoever plays it and whatever else is played. So the games
//! are kept once for all spaces: a study asks for games by number, gets those that exist and has the others played. What a
//! study is follows from its games in fixed rounds (`gipf_selfplay::study`): the same for any number of threads, and after any
//! stop or kill.

mod book;
mod changes;
mod crew;
mod error;
mod examples;
mod fates;
mod rivals;
mod setup;
mod sitting;
mod summary;
mod table;
mod words;

pub use book::Book;
pub use changes::{Change, changes};
pub use crew::Crew;
pub use error::MixesError;
pub use examples::{ChosenGame, chosen_games};
pub use fates::Fates;
pub use rivals::{Rival, RivalScore};
pub use setup::{Setup, Strength};
pub use sitting::{Course, Sitting};
pub use summary::{GameSummary, LEAD};
pub use table::{GridTable, KindUse, MixLine, MixTable};
pub use words::{end_words, interval, percent};
