//! The rules of a position in words: what is due, who decides, what each colour still may enter, why a game has ended.

use gipf_core::position::Row;
use gipf_core::{
    Color, EntryKind, Phase, Play, PlayKind, Position, Potential, SideGame, Spot, SpotSet, Stage,
    Variant,
};

use crate::words::{counted, list, potentials, spots, stretch};

/// What the rules ask for in this position, in one line.
///
/// ```
/// let rules: gipf_core::Rules = "tournament".parse()?;
/// assert_eq!(gipf_player::situation::situation(&rules.start()), "White must enter a GIPF-piece, its first piece");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn situation(position: &Position) -> String {
    let mover = position.mover();
    match position.phase() {
        Phase::ExtraOwed => format!(
            "{mover}'s TAMSK-stack was pushed onto e5 by {}: make its extra move or skip it (+-)",
            mover.other()
        ),
        Phase::Regular => regular(position),
        Phase::ExtraEarned => {
            format!("{mover}'s TAMSK-stack was pushed onto e5: make its extra move or skip it (+-)")
        }
        Phase::Removal(color) => removal(position, color),
        Phase::Challenge => challenge(position),
        Phase::SideGame => side_game(position),
        Phase::Won(winner) => {
            format!("{winner} has won: {}", ending(position).unwrap_or_default())
        }
    }
}

/// Why the game has ended; `None` while it goes on (rules, section 8).
pub fn ending(position: &Position) -> Option<String> {
    let loser = position.winner()?.other();
    Some(if lost_its_gipfs(position, loser) {
        format!("{loser} has no GIPF-piece left")
    } else {
        format!("{loser} has to play and cannot")
    })
}

/// Whether a colour has lost for want of GIPF-pieces.
pub(crate) fn lost_its_gipfs(position: &Position, loser: Color) -> bool {
    // A colour that has not begun to enter has not lost its GIPF-pieces.
    let begun = position.stage(loser) != Stage::G
        || position.hand_basic(loser) < position.rules().basic(loser);
    position.rules().variant() != Variant::Basic && begun && position.gipf_count(loser) == 0
}

/// A colour's hand, its GIPF-pieces on the board and what it may enter, in one line without its name.
pub fn holdings(position: &Position, color: Color) -> String {
    let mut hand = vec![counted(u32::from(position.hand_basic(color)), "basic piece")];
    hand.extend(potentials(position.hand_potentials(color)));
    let mut text = format!("{} in hand", list(&hand, "and"));
    if position.rules().variant() != Variant::Basic {
        text += &format!("; {} on the board", counted(position.gipf_count(color), "GIPF-piece"));
    }
    if let Some(left) = position.challenges_left(color) {
        text += &format!("; {} left", counted(left, "challenge"));
    }
    text + "; " + &may_enter(position, color)
}

/// What a colour's stage and hand let it enter (rules, section 5).
fn may_enter(position: &Position, color: Color) -> String {
    let kinds = enterable(position, color);
    match kinds.is_empty() {
        true => "nothing to enter".to_owned(),
        false if must_begin(position, color) => "must enter a GIPF-piece first".to_owned(),
        false => format!("may enter {}", list(&kinds, "and")),
    }
}

/// What entering costs a colour: the kinds of piece that are over once it has entered another; `None` where nothing is
/// (rules, section 5).
pub fn stage_rule(position: &Position, color: Color) -> Option<String> {
    let loaded = position.hand_potentials(color) != [0; 5];
    let rule = match position.stage(color) {
        Stage::G if loaded => {
            "GIPF-pieces end with its first loaded piece, both with its first basic piece"
        }
        Stage::G => "GIPF-pieces end with its first basic piece",
        Stage::L if loaded => "loaded pieces end with its first basic piece",
        Stage::L | Stage::B => return None,
    };
    Some(format!("{color}: {rule}"))
}

/// The kinds of piece that stage and hand allow, in words.
fn enterable(position: &Position, color: Color) -> Vec<String> {
    let (stage, hand) = (position.stage(color), position.hand_basic(color));
    let mut kinds = Vec::new();
    if stage == Stage::G && hand >= 2 {
        kinds.push("GIPF-pieces".to_owned());
    }
    if must_begin(position, color) {
        return kinds;
    }
    if stage != Stage::B && hand >= 1 && position.hand_potentials(color) != [0; 5] {
        kinds.push("loaded pieces".to_owned());
    }
    if hand >= 1 {
        kinds.push("basic pieces".to_owned());
    }
    kinds
}

/// Whether the colour's very first entry, a GIPF-piece, is still to come.
pub(crate) fn must_begin(position: &Position, color: Color) -> bool {
    position.stage(color) == Stage::G
        && !position.gipfs().intersects(position.owned(color))
        && !position.is_over()
}

fn regular(position: &Position) -> String {
    let mover = position.mover();
    let mut plays = Vec::new();
    position.actions(&mut plays);
    let enters = plays.iter().any(|play| matches!(play.kind(), PlayKind::Enter { .. }));
    let mut movable: Vec<(Spot, Potential)> = plays
        .iter()
        .filter_map(|play| match play.kind() {
            PlayKind::Move { kind, from, .. } => Some((from, kind)),
            _ => None,
        })
        .collect();
    movable.sort_by_key(|&(from, _)| from);
    movable.dedup();
    let moves: Vec<String> =
        movable.iter().map(|(from, kind)| format!("{} on {from}", kind.name())).collect();
    let moves = match moves.len() {
        0 => String::new(),
        1 => format!("move its potential {}", moves[0]),
        _ => format!("move a potential: {}", list(&moves, "or")),
    };
    let kinds = list(&enterable(position, mover), "and");
    match (enters, moves.is_empty()) {
        (true, true) if must_begin(position, mover) => {
            format!("{mover} must enter a GIPF-piece, its first piece")
        }
        (true, true) => format!("{mover} may enter {kinds}"),
        (true, false) => format!("{mover} may enter {kinds}, or {moves}"),
        (false, false) => format!("{mover} has nothing to enter and must {moves}"),
        (false, true) => format!("{mover} has to play and cannot"),
    }
}

fn removal(position: &Position, color: Color) -> String {
    let mut rows = Vec::new();
    position.rows(color, &mut rows);
    rows.retain(|row| row.due);
    if rows.iter().all(|row| row.gipf_only) {
        let stretches: Vec<String> = rows.iter().map(|row| stretch(row.segment)).collect();
        return format!(
            "{color} may leave its GIPF-pieces {} standing (x-) or take any of them",
            list(&stretches, "and")
        );
    }
    let stretches: Vec<String> = rows.iter().map(|row| stretch(row.segment)).collect();
    let mut text = format!("{color} owes the removal of {}", list(&stretches, "or"));
    if rows.len() > 1 {
        text += ", whichever it likes first";
    }
    if color != position.mover() {
        text += &format!(", in {}'s turn", position.mover());
    }
    text + &optional(position, &rows)
}

/// What may stay where it is, if anything.
fn optional(position: &Position, rows: &[Row]) -> String {
    let all = rows.iter().fold(SpotSet::EMPTY, |set, row| set | row.optional);
    let loaded = of(all, |spot| position.stack(spot).is_some_and(|stack| stack.is_loaded()));
    let gipfs = all & position.gipfs();
    let groups = [
        (loaded, "loaded piece"),
        (gipfs, "GIPF-piece"),
        (all - loaded - gipfs, "converted GIPF-piece"),
    ];
    let named: Vec<String> = groups
        .into_iter()
        .filter(|(set, _)| !set.is_empty())
        .map(|(set, noun)| {
            let plural = if set.len() == 1 { "" } else { "s" };
            format!("the {noun}{plural} on {}", spots(set))
        })
        .collect();
    if named.is_empty() {
        return String::new();
    }
    let all_may_stay = rows.iter().all(|row| {
        let least = Play::remove(row.must);
        !row.must.is_empty() && position.is_legal(least)
    });
    match (all_may_stay, all.len()) {
        (true, _) => format!("; {} may stay", list(&named, "and")),
        (false, 1) => format!("; {} must go with it", list(&named, "and")),
        (false, _) => format!("; {} may stay, but not all of them", list(&named, "and")),
    }
}

fn of(set: SpotSet, keep: impl Fn(Spot) -> bool) -> SpotSet {
    set.iter().filter(|&spot| keep(spot)).fold(SpotSet::EMPTY, |set, spot| set | SpotSet::of(spot))
}

fn challenge(position: &Position) -> String {
    let play = position.announced().unwrap_or(Play::PASS);
    let decider = position.mover().other();
    let left = match position.challenges_left(decider) {
        Some(left) => format!("; {decider} has {} left", counted(left, "challenge")),
        None => String::new(),
    };
    format!("{} announced {play}: challenge it (?) or let it pass (.){left}", position.mover())
}

fn side_game(position: &Position) -> String {
    let (mover, play) = (position.mover(), position.announced().unwrap_or(Play::PASS));
    let game = match position.rules().challenge().map(|challenge| challenge.side_game) {
        Some(SideGame::Rps) => "rock-paper-scissors",
        Some(SideGame::Coin) => "the toss of a coin",
        _ => "the side game",
    };
    let mut outcomes = Vec::new();
    position.legal_plays(&mut outcomes);
    let words: Vec<String> = outcomes
        .iter()
        .map(|&play| {
            let word = if play == Play::WIN {
                "win"
            } else if play == Play::TIE {
                "tie"
            } else {
                "lose"
            };
            format!("{word} ({play})")
        })
        .collect();
    format!("{mover}'s {play} was challenged: does {mover} {} {game}?", list(&words, "or"))
}

/// A kind of entry in words: `a piece loaded with TAMSK`.
pub fn entry_words(kind: EntryKind) -> String {
    match kind {
        EntryKind::Basic => "a basic piece".to_owned(),
        EntryKind::Gipf => "a GIPF-piece".to_owned(),
        EntryKind::Loaded(potential) => format!("a piece loaded with {}", potential.name()),
    }
}
