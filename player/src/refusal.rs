//! Why a play is not legal, in words.

use gipf_core::{
    Entry, EntryKind, Phase, Play, PlayKind, Position, Potential, Spot, SpotSet, Stage, Variant,
};

use crate::situation::{entry_words, must_begin};
use crate::words::spots;

/// Why the rules do not allow a play here, in half a sentence; `None` if they do.
///
/// ```
/// let rules: gipf_core::Rules = "standard".parse()?;
/// let why = gipf_player::refusal::refusal(&rules.start(), "Ge1-e2".parse()?);
/// assert_eq!(why.as_deref(), Some("GIPF-pieces are entered in tournament games only"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refusal(position: &Position, play: Play) -> Option<String> {
    if position.is_legal(play) {
        return None;
    }
    let kind = play.kind();
    let fixed = |text: &str| text.to_owned();
    Some(match (position.phase(), kind) {
        (Phase::Won(_), _) => fixed("the game is over"),
        (Phase::Regular, PlayKind::Enter { kind, entry }) => entering(position, kind, entry),
        (Phase::Regular, PlayKind::Move { kind, from, .. }) => moving(position, kind, from),
        (Phase::ExtraOwed | Phase::ExtraEarned, PlayKind::Extra(entry)) => full(entry),
        (Phase::Removal(_), PlayKind::Remove(taken)) => removing(position, taken),
        (Phase::Removal(_), PlayKind::Decline) => {
            fixed("there is a row that has to be removed, not only GIPF-pieces")
        }
        (Phase::SideGame, PlayKind::Outcome(_)) => fixed("the side game cannot end so"),
        (Phase::ExtraOwed | Phase::ExtraEarned, _) => {
            fixed("the extra move is due: +, a dot and its spot, or +- to skip it")
        }
        (Phase::Removal(color), _) => format!("a removal by {color} is due: x and the spots"),
        (Phase::Challenge, _) => fixed("a move is announced: ? to challenge it, . to let it pass"),
        (Phase::SideGame, _) => fixed("the outcome of the side game is due: =w, =t or =l"),
        (Phase::Regular, PlayKind::Extra(_) | PlayKind::SkipExtra) => fixed("no extra move is due"),
        (Phase::Regular, PlayKind::Remove(_) | PlayKind::Decline) => fixed("no removal is due"),
        (Phase::Regular, PlayKind::Challenge | PlayKind::Pass) => fixed("no move is announced"),
        (Phase::Regular, PlayKind::Outcome(_)) => fixed("no side game is being played"),
    })
}

fn full(entry: Entry) -> String {
    format!("the line from {} is full, nothing can be pushed", entry.dot_name())
}

fn entering(position: &Position, kind: EntryKind, entry: Entry) -> String {
    let mover = position.mover();
    let (stage, hand) = (position.stage(mover), position.hand_basic(mover));
    if hand == 0 {
        return format!("{mover} has no basic piece in hand");
    }
    match kind {
        EntryKind::Gipf if position.rules().variant() != Variant::Tournament => {
            return "GIPF-pieces are entered in tournament games only".to_owned();
        }
        EntryKind::Gipf if stage != Stage::G => {
            return format!("{mover} has entered another piece, so GIPF-pieces are over");
        }
        EntryKind::Gipf if hand < 2 => {
            return format!("a GIPF-piece takes two basic pieces, {mover} has one in hand");
        }
        EntryKind::Basic | EntryKind::Loaded(_) if must_begin(position, mover) => {
            return format!("the first piece that {mover} enters must be a GIPF-piece");
        }
        EntryKind::Loaded(potential) => {
            let had = position.rules().mix(mover)[potential.index()] > 0;
            if had && stage == Stage::B {
                return format!("{mover} has entered a basic piece, so loaded pieces are over");
            }
            if position.hand_potentials(mover)[potential.index()] == 0 {
                return format!("{mover} has no {}-potential in hand", potential.name());
            }
        }
        EntryKind::Basic | EntryKind::Gipf => {}
    }
    full(entry)
}

fn moving(position: &Position, kind: Potential, from: Spot) -> String {
    let mover = position.mover();
    let name = kind.name();
    let loaded = position
        .stack(from)
        .filter(|stack| stack.is_loaded() && stack.top() == mover && stack.potential == Some(kind));
    if loaded.is_none() {
        return format!("{mover} has no {} on {from}", entry_noun(kind));
    }
    match kind {
        Potential::Tamsk => "a TAMSK-potential makes extra moves only".to_owned(),
        Potential::Zertz => format!(
            "{name} jumps in a straight line over neighbouring stacks to the first empty spot behind them"
        ),
        Potential::Yinsh => format!("{name} runs in a straight line over empty spots"),
        Potential::Dvonn => {
            format!("{name} covers a neighbouring basic piece or {name}-potential of the opponent")
        }
        Potential::Punct => {
            format!("{name} covers a neighbouring GIPF-piece or {name}-potential of the opponent")
        }
    }
}

fn entry_noun(kind: Potential) -> String {
    entry_words(EntryKind::Loaded(kind)).trim_start_matches("a ").to_owned()
}

/// The reason by the row that the player most likely meant.
fn removing(position: &Position, taken: SpotSet) -> String {
    let mut rows = Vec::new();
    if let Phase::Removal(color) = position.phase() {
        position.rows(color, &mut rows);
    }
    let meant = rows.iter().filter(|row| row.due).max_by_key(|row| (row.segment & taken).len());
    let Some(row) = meant else { return "there is no row to remove".to_owned() };
    let (strange, missing) = (taken - row.segment, row.must - taken);
    if !strange.is_empty() {
        format!("{} cannot be taken with this row", spots(strange))
    } else if !missing.is_empty() {
        format!("{} must be taken too", spots(missing))
    } else {
        "a row would be left standing".to_owned()
    }
}
