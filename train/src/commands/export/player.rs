//! `gipf export --to player`: a file for `gipf-player`.

use std::path::Path;

use gipf_model::{Checkpoint, CheckpointHeader, PlayerCard, PlayerRating, WeightFormat, calibrate};
use gipf_player::messages::echo;

use super::super::fault::write_whole;
use super::{Exported, Output, Usage, tell_network};
use crate::config::drawn_mixes;
use crate::evaluators::random_positions;
use crate::ratings::RatingsFile;
use crate::run::RunView;

/// The longest name and licence line, in characters.
const LONGEST_TEXT: usize = 200;

/// What can be said of a player's file.
#[derive(Debug, clap::Args)]
pub(super) struct CardOptions {
    /// Numbers of the weights: f16 takes half the space of f32, int8 a third, as gipf-player computes with them; for --to player
    /// and web [default: f16]
    #[arg(long)]
    pub(super) weights: Option<Weights>,
    /// What the player is called, for --to player and web; the file's name where it is absent
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Under which licence it may be used, in one line, for --to player and web; MIT, or what the player's file says, where it is absent
    #[arg(long, value_name = "TEXT")]
    pub(super) licence: Option<String>,
}

/// `--weights`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Weights {
    /// 16 bits
    F16,
    /// 32 bits, as the run has them
    F32,
    /// 8 bits where int8 computes with them, else 16
    Int8,
}

impl From<Weights> for WeightFormat {
    fn from(weights: Weights) -> WeightFormat {
        match weights {
            Weights::F16 => WeightFormat::F16,
            Weights::F32 => WeightFormat::F32,
            Weights::Int8 => WeightFormat::Int8,
        }
    }
}

/// Writes the file and says what it is.
///
/// # Errors
/// Those of [`checkpoint`]; a failure where the file cannot be written.
pub(super) fn write(
    exported: Exported,
    options: &CardOptions,
    path: &Path,
    overwrite: bool,
    out: Output,
) -> anyhow::Result<()> {
    let checkpoint = checkpoint(exported, options, path)?;
    write_whole(path, overwrite, |aside| Ok(checkpoint.save(aside)?))?;
    tell(&checkpoint.header, path, out)
}

/// The player as its file has it; `path` is where it goes.
///
/// # Errors
/// [`Usage`] for a name or licence that is no line; a failure where the run's files are damaged.
pub(super) fn checkpoint(
    exported: Exported,
    options: &CardOptions,
    path: &Path,
) -> anyhow::Result<Checkpoint> {
    let Exported { mut checkpoint, run } = exported;
    let header = &mut checkpoint.header;
    let card = card(header, options, run.as_deref(), path)?;
    header.card = Some(card);
    if let Some(run) = run.as_deref().filter(|_| header.mixes.is_empty()) {
        header.mixes = drawn_mixes(&RunView::open(run)?.config);
    }
    let weights = options.weights.unwrap_or(Weights::F16).into();
    if weights == WeightFormat::Int8 && checkpoint.calibration.is_none() {
        let calibration = calibrate(&checkpoint, &random_positions(&checkpoint.header.rules));
        checkpoint = checkpoint.with_calibration(calibration)?;
    }
    Ok(checkpoint.rounded(weights)?)
}

/// Says what has been written.
///
/// # Errors
/// The file is not there any more; standard output cannot be written.
pub(super) fn tell(header: &CheckpointHeader, path: &Path, out: Output) -> anyhow::Result<()> {
    tell_network(header, "", path, out)?;
    if let Some(rating) = header.card.as_ref().and_then(|card| card.rating.as_ref()) {
        writeln!(out, "rated {rating}")?;
    }
    Ok(())
}

/// What the file says of itself: what was asked for, what the run has found, what the player's file has said before.
fn card(
    header: &CheckpointHeader,
    options: &CardOptions,
    run: Option<&Path>,
    path: &Path,
) -> anyhow::Result<PlayerCard> {
    let before = header.card.as_ref();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = options.name.as_deref().unwrap_or(&stem);
    let licence = options.licence.as_deref();
    let licence = licence.or(before.map(|card| card.licence.as_str())).unwrap_or("MIT");
    let rating = match run {
        Some(run) => rating(run, header.step)?,
        None => before.and_then(|card| card.rating.clone()),
    };
    Ok(PlayerCard { name: line("--name", name)?, licence: line("--licence", licence)?, rating })
}

/// A text of one line that is not empty.
fn line(option: &str, text: &str) -> anyhow::Result<String> {
    let text = text.trim();
    let length = text.chars().count();
    if (1..=LONGEST_TEXT).contains(&length) && !text.chars().any(char::is_control) {
        return Ok(text.to_owned());
    }
    let shown = echo(text);
    Err(Usage::error(format!("{option} '{shown}' is no line of 1 to {LONGEST_TEXT} characters")))
}

/// What `gipf rate` has found out about a step of a run.
fn rating(run: &Path, step: u64) -> anyhow::Result<Option<PlayerRating>> {
    let Some(ratings) = RatingsFile::read(run)? else { return Ok(None) };
    let rated = ratings.players.iter().find(|player| player.step == Some(step));
    let Some((elo, low, high)) =
        rated.and_then(|rated| Some((rated.elo?, rated.low?, rated.high?)))
    else {
        return Ok(None);
    };
    let whole = |elo: f64| elo.round() as i32;
    Ok(Some(PlayerRating {
        elo: whole(elo),
        interval: [whole(low), whole(high)],
        anchor: ratings.anchor.clone(),
        rules: ratings.rules.clone(),
        limit: ratings.limit.to_string(),
    }))
}
