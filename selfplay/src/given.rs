//! Plays that nobody chooses.

use gipf_core::{Play, Position};

use crate::random::{Purpose, RandomKey, weighted};

/// Finds the play of a position that leaves no choice; it holds the room for looking.
#[derive(Default)]
pub(crate) struct Given {
    /// The actions of the last position in which somebody decides or a single play is due.
    pub(crate) actions: Vec<Play>,
    outcomes: Vec<(Play, f64)>,
}

impl Given {
    /// A side game's outcome, drawn from the game's stream for this ply, or the only action. `None` where there is a choice;
    /// `actions` holds it then. The game must not be over.
    pub(crate) fn play(&mut self, position: &Position, key: RandomKey, ply: u32) -> Option<Play> {
        if position.is_chance() {
            position.outcomes(&mut self.outcomes);
            let mut rng = key.stream(ply, Purpose::Outcome);
            let drawn =
                weighted(&mut rng, self.outcomes.iter().map(|&(_, probability)| probability));
            return self.outcomes.get(drawn).map(|&(play, _)| play);
        }
        position.actions(&mut self.actions);
        if let [only] = self.actions[..] { Some(only) } else { None }
    }
}
