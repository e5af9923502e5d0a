//! `gipf mixes`: which mixes of potentials favour White.

mod args;
mod csv;
mod play;
mod text;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::called::command_line;
use super::fault::{check_new_file, write_whole};
use super::{Output, Usage};
use crate::learner::StopFlag;
use crate::mixes::{Book, MixesError, changes};
use crate::progress::Progress;
use crate::report::{Example, MixesReport};
use crate::store::DiskWait;
pub(super) use args::Args;
use play::Column;

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let space = args.space()?;
    let columns = args.columns()?;
    let rivals = args.rivals()?;
    let device = super::device(&args.device)?;
    for file in [&args.csv, &args.html].into_iter().flatten() {
        check_new_file(file, Some(args.overwrite))?;
    }
    if let (Some(csv), Some(html)) = (&args.csv, &args.html)
        && csv == html
    {
        return Err(Usage::error(format!("--csv and --html are one file, {}", csv.display())));
    }
    for column in &columns {
        Book::check(&args.dir, &column.setup).map_err(refusal)?;
    }
    for column in &columns {
        column.spec.warn_of_unknown(space.rules());
    }
    let stop = StopFlag::on_signals()?;
    let wait = DiskWait::new(stop.shared());
    let mut progress = Progress::new();
    let (mut tables, mut examples) = (Vec::new(), Vec::new());
    for column in &columns {
        let work = play::Work { args, space: &space, rivals: &rivals, device, stop: &stop };
        let (table, games) = work.play(column, &wait, &mut progress)?;
        tables.push(table);
        examples.extend(games);
    }
    progress.finish();
    let changed = match &tables[..] {
        [first, second] => changes(first, second),
        _ => Vec::new(),
    };
    if let Some(path) = &args.csv {
        write(path, args.overwrite, &csv::text(&tables))?;
    }
    if let Some(path) = &args.html {
        let report = MixesReport::of(&tables, &changed, &examples, &command_line())?;
        for fault in &report.faults {
            tracing::warn!("{fault}");
        }
        write(path, args.overwrite, &report.html)?;
    }
    if args.json {
        writeln!(out, "{}", json!({ "tables": tables, "changes": changed }))?;
    } else {
        text::write(&tables, &changed, out)?;
        for file in [&args.csv, &args.html].into_iter().flatten() {
            writeln!(out, "\nwritten   {}", file.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Games of another player or other settings are wrong use, with what helps.
fn refusal(error: MixesError) -> anyhow::Error {
    match error {
        MixesError::Setup { .. } => Usage::error(format!("{error}; --dir names another folder")),
        other => other.into(),
    }
}

fn write(path: &Path, overwrite: bool, text: &str) -> anyhow::Result<()> {
    write_whole(path, overwrite, |aside| Ok(fs::write(aside, text)?))
}

/// What came of a player's games by a space, and games to look at.
type Played = (crate::mixes::MixTable, Vec<Example>);

/// For the tests of the command's parts.
#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn args(text: &str) -> Args {
        let words = ["mixes"].into_iter().chain(text.split(' '));
        Cli::try_parse_from(words).expect("arguments").args
    }

    #[test]
    fn columns_are_strengths_or_players() {
        let strengths = |text: &str| {
            let columns = args(text).columns().expect("columns");
            columns.iter().map(|column| column.setup.folder_name()).collect::<Vec<_>>()
        };
        assert_eq!(strengths("greedy --space singles:6"), ["greedy-16-nodes"]);
        assert_eq!(
            strengths("mcts --space singles:6 --nodes 8,64"),
            ["mcts-8-nodes", "mcts-64-nodes"]
        );
        assert_eq!(
            strengths("mcts --space singles:6 --movetime 5 --against alphabeta"),
            ["mcts-5-ms", "alphabeta-5-ms"]
        );
        let error = |text: &str| args(text).columns().map(|_| ()).expect_err("refused").to_string();
        assert!(error("mcts --space T6 --nodes 8,8").contains("twice"));
        assert!(error("mcts --space T6 --nodes 8,9 --against greedy").contains("--against"));
        assert!(error("mcts --space T6 --nodes 1,2,3").contains("one or two"));
        let opening = |text: &str| args(text).columns().expect("columns")[0].setup.opening_plays;
        assert_eq!(opening("greedy --space T6"), 4);
        assert_eq!(opening("greedy --space T6 --opening-plays 7"), 7);
    }
}
