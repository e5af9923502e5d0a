//! What several commands read: rules, positions, play lists, and files that may be packed.

use gipf_core::{Play, Position, Rules, RulesError};
use gipf_player::messages::{echo, split_plays};

pub(super) use gipf_player::games::files::{open, read};

use super::Usage;

/// The rules of a rules string given on the command line.
///
/// # Errors
/// [`Usage`], naming the part at fault.
pub(super) fn rules(text: &str) -> anyhow::Result<Rules> {
    text.parse().map_err(|error: RulesError| Usage::error(error.to_string()))
}

/// The position that `--position` and `--plays` name: the start of the game where the first is absent.
///
/// # Errors
/// [`Usage`] for a text that is no position or no play, or a play that is not legal where it stands.
pub(super) fn position(
    rules: &Rules,
    position: Option<&str>,
    plays: Option<&str>,
) -> anyhow::Result<Position> {
    let mut current = match position {
        Some(text) => Position::parse(rules, text)
            .map_err(|error| Usage::error(format!("position '{}': {error}", echo(text))))?,
        None => rules.start(),
    };
    for (index, text) in split_plays(plays.unwrap_or_default())?.into_iter().enumerate() {
        apply(&mut current, text).map_err(|error| {
            Usage::error(format!("play {} ('{}'): {error}", index + 1, echo(text)))
        })?;
    }
    Ok(current)
}

/// Plays the play of this text.
///
/// # Errors
/// Says why the text is no play, or that it is not legal.
pub(super) fn apply(position: &mut Position, text: &str) -> Result<(), String> {
    let play: Play = text.parse().map_err(|error| format!("{error}"))?;
    position.try_play(play).map_err(|error| error.to_string())
}

/// The legal plays' texts, sorted as plain ASCII strings.
pub(super) fn sorted_plays(position: &Position) -> Vec<String> {
    let mut plays = Vec::new();
    position.legal_plays(&mut plays);
    let mut texts: Vec<String> = plays.iter().map(Play::to_string).collect();
    texts.sort_unstable();
    texts
}
