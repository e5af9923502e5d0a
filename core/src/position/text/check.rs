//! What no game can reach, refused.

use super::{TextError, fault};
use crate::Color;
use crate::play::{Play, PlayKind};
use crate::position::{AnnouncedAt, Phase, Position, Stage};
use crate::rules::{Potential, Variant};

pub(in crate::position) fn check(position: &Position) -> Result<(), TextError> {
    for color in Color::ALL {
        check_pieces(position, color)?;
        check_stage(position, color)?;
    }
    if position.rules().challenge().is_none()
        && matches!(position.phase(), Phase::Challenge | Phase::SideGame)
    {
        return fault("phase", "the rules have no challenges");
    }
    for color in Color::ALL {
        let limit = position.rules().challenge().map_or(0, |c| c.limit);
        if u32::from(position.used[color.index()]) > limit {
            return fault("detail", format!("{color} has used more challenges than it had"));
        }
    }
    if position.is_over() {
        return Ok(());
    }
    check_decision(position)?;
    let mut trimmed = *position;
    trimmed.trim_turn_memory();
    if trimmed != *position {
        return fault("detail", "ch or done names what no four neighbouring GIPF-pieces need");
    }
    Ok(())
}

fn check_pieces(position: &Position, color: Color) -> Result<(), TextError> {
    let me = color.index();
    let mut basics = position.basics[me];
    let mut potentials = position.potentials[me];
    for spot in position.occupied() {
        if !position.complex.contains(spot) {
            if position.owned[me].contains(spot) {
                basics = basics.saturating_add(1 + u8::from(position.gipf.contains(spot)));
            }
            continue;
        }
        let code = position.code(spot);
        if code.base() == Some(color) {
            basics = basics.saturating_add(1);
        }
        let count = code.count();
        let mine = if code.first() == color { count.div_ceil(2) } else { count / 2 };
        let kind = code.kind().index();
        potentials[kind] = potentials[kind].saturating_add(mine);
    }
    let rules = position.rules();
    if basics > rules.basic(color) {
        let most = rules.basic(color);
        return fault("whole text", format!("{color} has {basics} basic pieces of {most}"));
    }
    for kind in Potential::ALL {
        let (have, most) = (potentials[kind.index()], rules.mix(color)[kind.index()]);
        if have > most {
            return fault("whole text", format!("{color} has {have} {} of {most}", kind.letter()));
        }
    }
    if rules.variant() == Variant::Basic && position.gipf.intersects(position.owned(color)) {
        return fault("board", "there are no GIPF-pieces in basic");
    }
    Ok(())
}

fn check_stage(position: &Position, color: Color) -> Result<(), TextError> {
    let (rules, stage) = (position.rules(), position.stage(color));
    if stage == Stage::G && rules.variant() != Variant::Tournament {
        return fault("stages", format!("stage G of {color} is for tournament"));
    }
    if stage == Stage::L && !rules.has_potentials(color) {
        return fault("stages", format!("stage L of {color}, which has no potentials"));
    }
    if stage == Stage::B && position.hand_potentials(color) != [0; 5] {
        return fault("stages", format!("stage B of {color}, which has potentials in hand"));
    }
    let needs_gipf = match rules.variant() {
        Variant::Basic => false,
        Variant::Standard => true,
        Variant::Tournament => stage != Stage::G,
    };
    if needs_gipf && !position.is_over() && position.gipf_count(color) == 0 {
        return fault("board", format!("{color} has no GIPF-piece, so the game would be over"));
    }
    Ok(())
}

/// The phase must fit what is on the board.
fn check_decision(position: &Position) -> Result<(), TextError> {
    match position.phase() {
        Phase::ExtraOwed | Phase::ExtraEarned => {
            if position.tamsk_on_e5() != Some(position.mover()) {
                let mover = position.mover();
                return fault("phase", format!("no TAMSK-stack of {mover} stands on e5"));
            }
        }
        Phase::Regular => {
            if !position.has_regular_play() {
                let mover = position.mover();
                return fault(
                    "phase",
                    format!("{mover} has no regular play, so it would have lost"),
                );
            }
        }
        Phase::Removal(color) => {
            if !position.has_due_row(color) {
                return fault("phase", format!("{color} has no row to deal with"));
            }
            if color != position.mover() && position.has_due_row(position.mover()) {
                return fault("phase", "the mover's rows go first");
            }
        }
        Phase::Challenge | Phase::SideGame => check_announced(position)?,
        Phase::Won(_) => {}
    }
    // The chance is what these are about: nobody has it any more, or not yet again.
    let at_stake = matches!(position.phase(), Phase::ExtraOwed | Phase::ExtraEarned)
        || position.announced().is_some_and(|play| matches!(play.kind(), PlayKind::Extra(_)));
    if position.e5.is_some() && at_stake {
        return fault("detail", "e5 stands beside an extra move");
    }
    if position.e5.is_some() && position.e5 != position.tamsk_on_e5() {
        return fault("detail", "e5 names a colour without a TAMSK-stack there");
    }
    Ok(())
}

fn check_announced(position: &Position) -> Result<(), TextError> {
    let mut before = *position;
    before.announced = Play::PASS;
    before.phase = match position.announced_at {
        AnnouncedAt::Regular => Phase::Regular,
        AnnouncedAt::ExtraOwed => Phase::ExtraOwed,
        AnnouncedAt::ExtraEarned => Phase::ExtraEarned,
    };
    let kind = match position.announced.kind() {
        PlayKind::Move { kind, .. } => kind,
        PlayKind::Extra(_) if position.tamsk_on_e5() == Some(position.mover()) => Potential::Tamsk,
        _ => return fault("detail", "no announced move of a potential (a=PLAY)"),
    };
    if !before.is_legal(position.announced) {
        let play = position.announced;
        return fault("detail", format!("the announced move {play} is not legal"));
    }
    let challenger = position.mover().other();
    let decides = position.phase() == Phase::Challenge;
    if decides && position.challenges_left(challenger) == Some(0) {
        return fault("phase", format!("{challenger} has no challenge left"));
    }
    let challenge = position.rules().challenge();
    let counts = challenge.is_some_and(|challenge| challenge.limit().is_some());
    if !decides && counts && position.used[challenger.index()] == 0 {
        return fault("detail", format!("a side game, but {challenger} has used no challenge"));
    }
    if !challenge.is_some_and(|challenge| challenge.covers(kind)) {
        return fault("detail", format!("moves of {} cannot be challenged", kind.letter()));
    }
    Ok(())
}
