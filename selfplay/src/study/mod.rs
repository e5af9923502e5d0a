//! Which mixes of potentials favour White: a study of many rules strings by games.
//!
//! - [`Space`]: the rules strings, from forms such as `pairs:4+4` or `grid:T6,Z6`.
//! - [`Study`]: which rules string gets the next games, in rounds; it collects their results and can be stored and gone on with.
//! - [`Table`]: what the games say: White's score of each rules string with its intervals, and a [`Verdict`].
//! - [`Equilibrium`]: which mixes to choose when each side chooses its own.
//!
//! Scores are White's: 1 for a game won, 1/2 for an unfinished one, 0 for a game lost. Nothing here plays, draws a random
//! number or reads a clock: results depend on the games alone, not on the order in which those of a round end.

mod design;
mod equilibrium;
mod estimate;
mod pattern;
mod plan;
mod space;
mod verdict;

pub use design::{Study, StudyError, StudyGame};
pub use equilibrium::{Equilibrium, EquilibriumError};
pub use estimate::{FIRST_UNITS, Interval, Tally, TallyError};
pub use plan::{Budget, Design, End};
pub use space::{Grid, MOST_RULES, Space, SpaceError};
pub use verdict::{Standing, TABLE_ERROR, Table, Verdict, WITHIN};
