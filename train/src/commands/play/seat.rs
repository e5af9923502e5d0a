//! The two sides of a table, and how a computer at one of them decides.

use std::sync::atomic::{AtomicBool, Ordering};

use gipf_core::{Play, Position};
use gipf_selfplay::{Budget, Choice, Clock, GameState, Player, RandomKey, Timer};

use super::game::Game;

/// Who sits at one side.
pub(super) enum Seat {
    /// A person at the prompt.
    Human,
    /// A player of this program.
    Computer {
        /// Who chooses.
        player: Box<dyn Player>,
        /// Whether it searches, and so needs to know the chances of every side game.
        searches: bool,
    },
}

/// Where the game's random numbers come from.
pub(super) fn key(game: &Game) -> RandomKey {
    RandomKey { seed: game.seed, game: 0 }
}

/// Whether a signal has stopped the game.
pub(super) fn stopped(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// What a player decides in the game as it stands.
pub(super) fn choose(
    player: &mut dyn Player,
    game: &Game,
    nodes: u32,
    stop: Option<&AtomicBool>,
) -> anyhow::Result<Choice> {
    let position: &Position = game.position();
    let state =
        GameState { position, plays: game.plays(), max_plays: game.max_plays, key: key(game) };
    let timer = stop.map(|stop| Timer::new(None).stopped_by(stop));
    let clock = timer.as_ref().map(|timer| timer as &dyn Clock);
    Ok(player.choose(&state, &Budget { nodes: Some(nodes), clock, ..Budget::default() })?)
}

/// The play, and what a search thinks of it.
pub(super) fn described(choice: &Choice) -> String {
    match &choice.search {
        Some(search) => format!(
            "{} (White's value {:+.2} after {} visits)",
            choice.play, search.value, search.visits
        ),
        None => choice.play.to_string(),
    }
}

/// What the mover does by the outcome of a side game.
pub(super) fn outcome_word(play: Play) -> &'static str {
    if play == Play::WIN {
        "wins"
    } else if play == Play::TIE {
        "ties"
    } else {
        "loses"
    }
}
