//! `gipf report`: a run as one page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::called::program;
use super::fault::{check_new_file, write_whole};
use super::{Output, Usage};
use crate::report::{DEFAULT_GAMES, Report, is_report};
use crate::run::{RunError, RunView};

/// Write a run's report: one HTML file with curves, strength, settings and games to play through
///
/// The file needs nothing else: it opens in any browser, from the disk too. It can be made at any time, also while the run is
/// trained; made again, it replaces itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf report runs/quickstart-1 --games 12")]
pub(super) struct Args {
    /// The run's folder
    run: PathBuf,
    /// The file to write; report.html in the run's folder where it is absent
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Games that can be played through, at most
    #[arg(long, default_value_t = DEFAULT_GAMES, value_parser = games)]
    games: usize,
}

/// Each game takes some 30 kB of the page.
fn games(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|games| *games <= 200).ok_or_else(|| "not in 0 to 200".to_owned())
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let view = RunView::open(&args.run).map_err(|error| match error {
        RunError::NotFolder(_) => Usage::error(error.to_string()),
        _ => error.into(),
    })?;
    let path = args.out.clone().unwrap_or_else(|| args.run.join("report.html"));
    check_place(&path)?;
    let report = Report::of(&view, args.games, &program())?;
    for fault in &report.faults {
        tracing::warn!("{fault}");
    }
    write_whole(&path, true, |aside| Ok(fs::write(aside, &report.html)?))?;
    writeln!(out, "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Only a report is replaced by a report.
fn check_place(path: &Path) -> anyhow::Result<()> {
    check_new_file(path, Some(true))?;
    if path.exists()
        && !is_report(path).with_context(|| format!("cannot read {}", path.display()))?
    {
        let shown = path.display();
        return Err(Usage::error(format!("{shown} exists and is no report: it is not replaced")));
    }
    Ok(())
}
