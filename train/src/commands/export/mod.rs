//! `gipf export`: a trained player as a file to give away.

mod formats;
mod player;
mod web;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gipf_model::{Checkpoint, CheckpointHeader};
use gipf_player::messages::echo;

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

impl Args {
    /// Every option given is one of its form.
    ///
    /// # Errors
    /// [`Usage`] names the option and the forms that it goes with.
    fn check(&self) -> anyhow::Result<()> {
        let is_player = matches!(self.to, Form::Player | Form::Web);
        let options = [
            ("--weights", self.card.weights.is_some(), is_player, "player or web"),
            ("--name", self.card.name.is_some(), is_player, "player or web"),
            ("--licence", self.card.licence.is_some(), is_player, "player or web"),
            ("--samples", self.samples.samples.is_some(), self.to == Form::Npz, "npz"),
            ("--page", self.page.page.is_some(), self.to == Form::Web, "web"),
        ];
        match options.iter().find(|(_, given, fits, _)| *given && !fits) {
            Some((name, .., forms)) => Err(Usage::error(format!("{name} goes with --to {forms}"))),
            None => Ok(()),
        }
    }
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
        if let Some(way) = ["puct:", "sym:"].into_iter().find(|way| text.starts_with(way)) {
            let message = format!("{}: a file holds no search: leave {way} out", echo(text));
            return Err(Usage::error(message));
        }
        let PlayerSpec::Network { checkpoint, .. } = PlayerSpec::parse(text)? else {
            return Err(Usage::error(format!("{text}: a player without a network is no file")));
        };
        Ok(Exported { checkpoint: checkpoint.without_auxiliary()?, run: run_of(text) })
    }
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    args.check()?;
    let (path, overwrite) = (&*args.out, args.overwrite);
    check_new_file(path, Some(overwrite))?;
    let exported = || Exported::parse(&args.player);
    match args.to {
        Form::Player => player::write(exported()?, &args.card, path, overwrite, out)?,
        Form::Onnx => formats::write_onnx(&exported()?, path, overwrite, out)?,
        Form::Torchscript => formats::write_script(&exported()?, path, overwrite, out)?,
        Form::Web => {
            let page = args.page.page()?;
            web::write(&page, exported()?, &args.card, path, overwrite, out)?;
        }
        Form::Npz => {
            formats::write_samples(&args.player, &args.samples, path, overwrite, out)?;
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
