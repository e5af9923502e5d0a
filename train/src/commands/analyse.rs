//! `gipf analyse`: games judged play by play.

use std::process::ExitCode;

use gipf_player::PlayerFile;
use gipf_player::analyse;
use gipf_player::named::Named;
use gipf_selfplay::Method;

use super::players::PlayerSpec;
use super::{Output, Usage};

/// Judge each play of games: its value, the best play, and what was lost
///
/// A play that the player would have made itself has lost nothing; the worth of any other is that of the position after it, searched
/// like every position of the game. Values are hundredths of a point: a win is 100, an unfinished game 50.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf analyse game.jsonl --player run:runs/standard-1@best")]
pub(super) struct Args {
    #[command(flatten)]
    args: analyse::AnalyseArgs,
    /// Who judges: shipped:NAME, a player's file, run:DIR@latest|best|STEP or mcts[:PLAYOUTS]
    #[arg(long, default_value = "shipped:standard")]
    player: String,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let named = match PlayerSpec::parse(&args.player)? {
        PlayerSpec::BuiltIn(built_in) => Named::BuiltIn(built_in),
        PlayerSpec::Network { name, method: Method::Gumbel, symmetry: false, checkpoint } => {
            Named::Trained(Box::new(PlayerFile::new(&name, *checkpoint).called(&name)))
        }
        PlayerSpec::Network { name, .. } => {
            return Err(Usage::error(format!("{name}: puct: and sym: are for matches")));
        }
        PlayerSpec::Outside { command } => {
            return Err(Usage::error(format!(
                "ugi:{command}: a program from outside cannot judge"
            )));
        }
    };
    analyse::run(&args.args, &named, out)?;
    Ok(ExitCode::SUCCESS)
}
