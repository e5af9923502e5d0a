//! What several commands read: rules, positions, play lists, and files that may be packed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Context;
use gipf_core::{Play, Position, Rules, RulesError};
use gipf_player::messages::{echo, split_plays};

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

/// A reader of a file's text, unpacked where its first bytes say gzip or zstd, whatever its name.
///
/// # Errors
/// The file is missing or cannot be read.
pub(super) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let shown = path.display();
    let mut file =
        BufReader::new(File::open(path).with_context(|| format!("cannot open {shown}"))?);
    let head = file.fill_buf().with_context(|| format!("cannot read {shown}"))?;
    Ok(if head.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(file)))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(BufReader::new(
            zstd::Decoder::with_buffer(file).with_context(|| format!("cannot read {shown}"))?,
        ))
    } else {
        Box::new(file)
    })
}

/// The whole text of a file that may be packed.
///
/// # Errors
/// The file is missing, cannot be read or unpacked, or is no UTF-8.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}
