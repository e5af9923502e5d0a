//! `gipf export`: a trained player as a file to give away.

mod formats;
mod player;
mod web;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gipf_model::{Checkpoint, CheckpointHeader};

use super::fault::check_new_file;
use super::players::{PlayerSpec, run_of};
use super::{Output, Usage};

/// Write a trained player to a file to give away, or for other programs
///
/// --to player: one file with nothing that only training needs, for gipf-player, which needs no libtorch. It says who it is: size,
/// rules, training, licence, rating where `gipf rate` has found one, hash. It is a checkpoint like any other, so it also plays in
/// `gipf match` and can be what another run starts from (`gipf train --init`). --to onnx and --to torchscript: the network alone, for
/// any runtime of these (docs/ONNX.md describes inputs, outputs and policy). --to web: one HTML file, opened from the disk or any web
/// server, on which the player is played in a browser without a network. --to npz: the samples of a run (run:DIR, or a file or folder
/// of records) as arrays for numpy, described in the file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf export run:runs/standard-1@latest --to player --out my-player.safetensors"
)]
pub(super) struct Args {
    /// The player: a checkpoint file, run:DIR@latest|best|STEP or shipped:NAME; for npz a run or records
    player: String,
    /// What to make of it
    #[arg(long, default_value = "player")]
    to: Form,
    /// The new file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    card: player::CardOptions,
    #[command(flatten)]
    samples: formats::SampleOptions,
    #[command(flatten)]
    page: web::PageOptions,
    /// Replace the file if there is one
    #[arg(long)]
    overwrite: bool,
}

/// `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A file for gipf-player
    Player,
    /// The network for ONNX runtimes
    Onnx,
    /// The network for libtorch
    Torchscript,
    /// A page for a browser
    Web,
    /// A run's samples for numpy
    Npz,
}

/// A trained player that is to be written.
struct Exported {
    /// Its network, without anything that only training needs.
    checkpoint: Checkpoint,
    /// The folder of the run that made it, where it lies in one.
    run: Option<PathBuf>,
}

impl Exported {
    /// # Errors
    /// As those of [`PlayerSpec::parse`]; [`Usage`] for a player without a network.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let PlayerSpec::Network { checkpoint, .. } = PlayerSpec::parse(text)? else {
            return Err(Usage::error(format!("{text}: a player without a network is no file")));
        };
        Ok(Exported { checkpoint: checkpoint.without_auxiliary()?, run: run_of(text) })
    }
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    check_new_file(&args.out, Some(args.overwrite))?;
    let exported = || Exported::parse(&args.player);
    match args.to {
        Form::Player => player::write(exported()?, &args.card, &args.out, out)?,
        Form::Onnx => formats::write_onnx(&exported()?, &args.out, out)?,
        Form::Torchscript => formats::write_script(&exported()?, &args.out, out)?,
        Form::Web => {
            let page = args.page.page()?;
            web::write(&page, exported()?, &args.card, &args.out, out)?;
        }
        Form::Npz => {
            formats::write_samples(&args.player, &args.samples, &args.out, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which network a new file holds; `form` comes before it, with what parts the two.
///
/// # Errors
/// The file is not there any more; standard output cannot be written.
fn tell_network(
    header: &CheckpointHeader,
    form: &str,
    path: &Path,
    out: Output,
) -> anyhow::Result<()> {
    let size = path.metadata()?.len();
    writeln!(
        out,
        "{}: {form}{} of {}, step {} of run {}, {size} bytes",
        path.display(),
        header.architecture,
        header.known_rules(),
        header.step,
        header.run
    )?;
    Ok(())
}
