//! `gipf export --to onnx`, `torchscript` and `npz`: networks and samples for other programs.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use gipf_model_torch::save_script;
use gipf_player::messages::echo;
use serde_json::json;

use super::super::fault::write_whole;
use super::super::players::run_of;
use super::{Exported, Output, Usage, tell_network};
use crate::arrays::write_npz;
use crate::config::TrainSection;
use crate::onnx::to_onnx;
use crate::run::{RunFolder, RunView};
use crate::store::RecordReader;
use crate::window::{Labelled, ValueMix, labelled_game};

/// What can be said of samples.
#[derive(Debug, clap::Args)]
pub(super) struct SampleOptions {
    /// For --to npz: at most so many samples, the newest [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) samples: Option<u32>,
}

/// Samples where no number is given.
const SAMPLES: u32 = 100_000;

/// Writes the network as an ONNX file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_onnx(
    exported: &Exported,
    path: &Path,
    overwrite: bool,
    out: Output,
) -> anyhow::Result<()> {
    let bytes = to_onnx(&exported.checkpoint)?;
    write_whole(path, overwrite, |aside| Ok(fs::write(aside, &bytes)?))?;
    tell_network(&exported.checkpoint.header, "ONNX, opset 17, ", path, out)
}

/// Writes the network as a TorchScript module.
///
/// # Errors
/// libtorch refuses it, or the file cannot be written.
pub(super) fn write_script(
    exported: &Exported,
    path: &Path,
    overwrite: bool,
    out: Output,
) -> anyhow::Result<()> {
    write_whole(path, overwrite, |aside| Ok(save_script(&exported.checkpoint, aside)?))?;
    tell_network(&exported.checkpoint.header, "TorchScript, ", path, out)
}

/// Writes the newest samples of a run, or of a file or folder of records, as arrays.
///
/// # Errors
/// [`Usage`] where the text names neither; a failure where the records cannot be read, hold no sample, or the file cannot be written.
pub(super) fn write_samples(
    text: &str,
    options: &SampleOptions,
    path: &Path,
    overwrite: bool,
    out: Output,
) -> anyhow::Result<()> {
    let (records, mix) = source(text)?;
    let most = options.samples.unwrap_or(SAMPLES) as usize;
    // Whole games, the newest last; the oldest go as soon as the others are enough.
    let mut games: VecDeque<(i64, Vec<Labelled>)> = VecDeque::new();
    let mut count = 0;
    for (record, number) in RecordReader::open(&records)?.zip(0..) {
        let samples = labelled_game(&record?, mix)?;
        count += samples.len();
        games.push_back((number, samples));
        while games.front().is_some_and(|(_, oldest)| count - oldest.len() >= most) {
            count -= games.pop_front().map_or(0, |(_, oldest)| oldest.len());
        }
    }
    let all = games
        .into_iter()
        .flat_map(|(game, samples)| samples.into_iter().map(move |sample| (game, sample)));
    let samples: Vec<(i64, Labelled)> = all.skip(count.saturating_sub(most)).collect();
    if samples.is_empty() {
        bail!("{}: its games hold no searches to learn from", records.display());
    }
    let about = json!({
        "records": records.display().to_string(), "samples": samples.len(), "value_from_search": mix.from_search,
    });
    write_whole(path, overwrite, |aside| {
        let mut file = BufWriter::new(File::create(aside)?);
        write_npz(&samples, about, &mut file)?;
        Ok(file.flush()?)
    })?;
    let (size, shown) = (path.metadata()?.len(), path.display());
    writeln!(out, "{shown}: {} samples of {}, {size} bytes", samples.len(), records.display())?;
    Ok(())
}

/// The records that a text names, and how their values are mixed: as the run does, or as runs do that say nothing of it.
fn source(text: &str) -> anyhow::Result<(PathBuf, ValueMix)> {
    let folder = text.strip_prefix("run:").unwrap_or(text);
    let run = run_of(text)
        .or_else(|| RunFolder::holds_run(Path::new(folder)).then(|| PathBuf::from(folder)));
    let (records, section) = match run {
        Some(run) => (run.join("games"), RunView::open(&run)?.config.train),
        None => (PathBuf::from(text), TrainSection::default()),
    };
    if !records.exists() {
        let shown = echo(folder);
        return Err(Usage::error(format!(
            "there is no run and there are no records in {shown}: --to npz takes a run's folder or records"
        )));
    }
    Ok((records, ValueMix { from_search: section.value_from_search as f32 }))
}
