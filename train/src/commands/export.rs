//! `gipf export`: a trained player as a file to give away.

use std::path::PathBuf;
use std::process::ExitCode;

use gipf_model::{Checkpoint, WeightFormat};

use super::fault::check_new_file;
use super::players::PlayerSpec;
use super::{Output, Usage};

/// Write a trained player to a file of its own, as small as it can be without playing differently
///
/// The file is a checkpoint without anything that only training needs. It plays wherever a checkpoint does (`gipf match`,
/// `gipf play`) and can be what another run starts from (`gipf train --init`).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf export run:runs/standard-1@latest --out my-player.safetensors"
)]
pub(super) struct Args {
    /// The player: a checkpoint file, run:DIR@latest|best|STEP or shipped:NAME
    player: String,
    /// The new file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Numbers of the weights: f16 takes half the space
    #[arg(long, default_value = "f16")]
    weights: Weights,
    /// Replace the file if there is one
    #[arg(long)]
    overwrite: bool,
}

/// `--weights`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Weights {
    /// 16 bits
    F16,
    /// 32 bits, as the run has them
    F32,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    check_new_file(&args.out, Some(args.overwrite))?;
    let PlayerSpec::Network { checkpoint, .. } = PlayerSpec::parse(&args.player)? else {
        return Err(Usage::error(format!(
            "{}: a player without a network is no file",
            args.player
        )));
    };
    let checkpoint = checkpoint.without_auxiliary()?;
    let checkpoint = match args.weights {
        Weights::F16 => checkpoint.rounded()?,
        Weights::F32 => whole(checkpoint),
    };
    checkpoint.save(&args.out)?;
    let size = args.out.metadata()?.len();
    let header = &checkpoint.header;
    writeln!(
        out,
        "{}: {} of {}, step {} of run {}, {size} bytes",
        args.out.display(),
        header.architecture,
        if header.rules.is_empty() { "any rules".to_owned() } else { header.rules.join(", ") },
        header.step,
        header.run
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The checkpoint in 32 bits, also where it came in 16.
fn whole(mut checkpoint: Checkpoint) -> Checkpoint {
    checkpoint.header.weights = WeightFormat::F32;
    checkpoint
}
