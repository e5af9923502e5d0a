//! The legal plays of a position, grouped the way somebody chooses among them at a board.

use gipf_core::position::Row;
use gipf_core::{Entry, EntryKind, Phase, Play, PlayKind, Position, Spot, SpotSet};
use serde::{Deserialize, Serialize};

/// What may be played. A group that the phase has no use for is empty or absent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Options {
    /// Every legal play's text, sorted.
    pub plays: Vec<String>,
    /// Kinds that may be entered: `S` a basic piece, `G` a GIPF-piece, `T Z D Y P` a loaded piece. Each may enter by each of
    /// the ways: the play is the kind (nothing for `S`), the dot, `-` and the first spot.
    pub kinds: Vec<String>,
    /// Ways to enter, of a regular play or (with `+` before it) of an extra move.
    pub ways: Vec<Way>,
    /// Moves of potentials on the board.
    pub moves: Vec<Move>,
    /// Rows that may be dealt with now.
    pub rows: Vec<RowView>,
    /// The announced move, where it may be challenged (`?`) or let pass (`.`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<String>,
    /// The outcomes of a side game.
    pub outcomes: Vec<Outcome>,
}

/// A way to enter.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Way {
    /// The dot.
    pub dot: String,
    /// Spots that change, from the first one of the line to the first empty one: what stands on one is pushed to the next.
    pub path: Vec<String>,
}

/// A potential's move.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Move {
    /// The play's text.
    pub play: String,
    /// Where the potential is.
    pub from: String,
    /// Where it goes.
    pub to: String,
}

/// A row that may be dealt with.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct RowView {
    /// The row and every stack that extends it, along the line.
    pub segment: Vec<String>,
    /// What must be taken.
    pub must: Vec<String>,
    /// What may be taken or kept, as far as [`Options::plays`] has the whole choice.
    pub optional: Vec<String>,
}

/// An outcome of a side game.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
pub struct Outcome {
    /// `=w`, `=t` or `=l`.
    pub play: String,
    /// Its probability; absent where the game is played elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

impl Options {
    /// The legal plays of a position.
    pub fn of(position: &Position) -> Options {
        let mut legal = Vec::new();
        position.legal_plays(&mut legal);
        let mut options = Options {
            plays: legal.iter().map(ToString::to_string).collect(),
            announced: position
                .announced()
                .filter(|_| position.phase() == Phase::Challenge)
                .map(|play| play.to_string()),
            ..Options::default()
        };
        options.plays.sort_unstable();
        let (mut kinds, mut entries) = ([false; EntryKind::COUNT], [false; Entry::COUNT]);
        for play in legal {
            match play.kind() {
                PlayKind::Enter { kind, entry } => {
                    (kinds[kind.index()], entries[entry.index()]) = (true, true);
                }
                PlayKind::Extra(entry) => entries[entry.index()] = true,
                PlayKind::Move { from, to, .. } => options.moves.push(Move {
                    play: play.to_string(),
                    from: from.to_string(),
                    to: to.to_string(),
                }),
                PlayKind::Outcome(_) => options.outcomes.push(outcome(position, play)),
                _ => {}
            }
        }
        let kind = |index: usize| kinds[index].then(|| EntryKind::from_index(index)).flatten();
        options.kinds = (0..EntryKind::COUNT).filter_map(kind).map(kind_letter).collect();
        options.ways = Entry::ALL
            .into_iter()
            .filter(|entry| entries[entry.index()])
            .map(|entry| way(position, entry))
            .collect();
        if let Phase::Removal(color) = position.phase() {
            let mut rows = Vec::new();
            position.rows(color, &mut rows);
            options.rows = rows.iter().filter(|row| row.due).map(row_view).collect();
        }
        options
    }
}

fn kind_letter(kind: EntryKind) -> String {
    match kind {
        EntryKind::Basic => "S".to_owned(),
        EntryKind::Gipf => "G".to_owned(),
        EntryKind::Loaded(potential) => potential.letter().to_string(),
    }
}

fn outcome(position: &Position, play: Play) -> Outcome {
    let index = [Play::WIN, Play::TIE, Play::LOSS].iter().position(|outcome| *outcome == play);
    let all = position.rules().side_game_probabilities();
    let probability = all.zip(index).map(|(all, index)| all[index]);
    Outcome { play: play.to_string(), probability }
}

/// The spots that an entry changes, from the first one on.
pub(super) fn path(position: &Position, entry: Entry) -> Vec<Spot> {
    let set = entry.path(position.occupied()).unwrap_or(SpotSet::of(entry.first_spot()));
    let mut spots: Vec<Spot> = set.iter().collect();
    if spots.first() != Some(&entry.first_spot()) {
        spots.reverse();
    }
    spots
}

fn way(position: &Position, entry: Entry) -> Way {
    Way {
        dot: entry.dot_name(),
        path: path(position, entry).iter().map(ToString::to_string).collect(),
    }
}

fn row_view(row: &Row) -> RowView {
    RowView { segment: names(row.segment), must: names(row.must), optional: names(row.optional) }
}

/// The spots by name.
pub(super) fn names(set: SpotSet) -> Vec<String> {
    set.iter().map(|spot| spot.to_string()).collect()
}
