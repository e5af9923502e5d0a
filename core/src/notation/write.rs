//! Writing the official notation: one play, as a part of its player's move.

use crate::board::Entry;
use crate::play::{EntryKind, Play, PlayKind};
use crate::position::{Phase, Position};

/// A play of this position in official notation, as [`read_official`](super::read_official) reads it: `e2` for an entry that
/// pushes nothing, `e1-e4` for one whose last stack ends on `e4`, `xc6*,d6,Gf6*` for a removal; a row left standing has
/// no text. What that notation has no signs for is this project's play.
///
/// ```
/// let rules: gipf_core::Rules = "standard".parse()?;
/// let push = gipf_core::notation::write_official(&rules.start(), "e1-e2".parse()?);
/// assert_eq!(push, "e1-e3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_official(position: &Position, play: Play) -> String {
    match play.kind() {
        PlayKind::Enter { kind, entry } => {
            let kind = match kind {
                EntryKind::Basic => String::new(),
                EntryKind::Gipf => "G".to_owned(),
                EntryKind::Loaded(potential) => potential.letter().to_string(),
            };
            kind + &entry_text(position, entry)
        }
        PlayKind::Remove(taken) => {
            let remover = match position.phase() {
                Phase::Removal(color) => color,
                _ => position.mover(),
            };
            let item = |spot| {
                let gipf = if position.gipfs().contains(spot) { "G" } else { "" };
                let theirs = if position.owned(remover).contains(spot) { "" } else { "*" };
                format!("{gipf}{spot}{theirs}")
            };
            format!("x{}", taken.iter().map(item).collect::<Vec<_>>().join(","))
        }
        PlayKind::Decline => String::new(),
        _ => play.to_string(),
    }
}

/// Where the last stack ends that an entry moves; the dot before it only where that is not the entering piece itself.
fn entry_text(position: &Position, entry: Entry) -> String {
    let first = entry.first_spot();
    let Some(path) = entry.path(position.occupied()).filter(|path| path.len() > 1) else {
        return first.to_string();
    };
    let ends = [path.first(), path.last()];
    let end = ends.into_iter().flatten().find(|end| *end != first).unwrap_or(first);
    format!("{}-{end}", entry.dot_name())
}

/// Whole games in official notation, for the round trip.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::Color;
    use crate::notation::read_official;
    use crate::rules::Rules;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    /// The list of moves of some plays: consecutive plays of one player are one move.
    fn list(rules: &Rules, plays: &[Play]) -> String {
        let mut moves: Vec<(Color, Vec<String>)> = Vec::new();
        let mut position = rules.start();
        for play in plays {
            let decider = position.decider().unwrap();
            if moves.last().is_none_or(|(color, _)| *color != decider) {
                moves.push((decider, Vec::new()));
            }
            let text = write_official(&position, *play);
            moves.last_mut().unwrap().1.extend(Some(text).filter(|text| !text.is_empty()));
            position.play(*play);
        }
        let mut out = String::new();
        for (index, pair) in moves.chunks(2).enumerate() {
            let parts: Vec<String> = pair.iter().map(|(_, parts)| parts.join(";")).collect();
            out += &format!("{}. {}\n", index + 1, parts.join(" / "));
        }
        out
    }

    #[test]
    fn games_read_back_as_they_were_played() {
        let mut rng = SmallRng::seed_from_u64(5);
        let mut removals = 0;
        for game in 0..60 {
            let name = ["basic", "standard", "tournament"][game % 3];
            let rules: Rules = name.parse().unwrap();
            let (mut position, mut plays, mut actions) = (rules.start(), Vec::new(), Vec::new());
            while plays.len() < 60 {
                position.actions(&mut actions);
                if actions.is_empty() {
                    break;
                }
                let play = actions[rng.random_range(0..actions.len())];
                removals += usize::from(matches!(play.kind(), PlayKind::Remove(_)));
                position.play(play);
                plays.push(play);
            }
            // A list ends with a whole move: no row waits.
            while let Phase::Removal(_) = position.phase() {
                position.actions(&mut actions);
                position.play(actions[0]);
                plays.push(actions[0]);
            }
            let text = list(&rules, &plays);
            let read =
                read_official(&rules, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read.last, position, "{text}");
        }
        assert!(removals > 50, "{removals} removals");
    }

    #[test]
    fn other_plays_keep_their_text() {
        let rules: Rules = "standard+T1Z1".parse().unwrap();
        let start = rules.start();
        assert_eq!(write_official(&start, "Ze1-e2".parse().unwrap()), "Ze1-e3");
        assert_eq!(write_official(&start, "Tc1-c2".parse().unwrap()), "Tc2");
        for text in ["+-", "Zc3:f5", "?", "."] {
            assert_eq!(write_official(&start, text.parse().unwrap()), text);
        }
        assert_eq!(write_official(&start, Play::DECLINE), "");
    }
}
