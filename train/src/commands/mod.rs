//! The command line: one module a command, each with its arguments, its `--help` and its work.

mod analyse;
mod bench;
mod called;
mod check;
mod cluster;
mod doctor;
mod export;
mod fault;
mod input;
mod learn;
mod matches;
mod mixes;
mod moves;
mod perft;
mod play;
mod players;
mod positions;
mod rate;
mod report;
mod rules;
mod status;
mod tactics;
mod train;
mod worker;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gipf_model_torch::{Device, device_from_name};
use gipf_player::messages::{StandardOutput, arguments, echo, is_broken_pipe, tell_error};
use tracing_subscriber::EnvFilter;

pub use fault::{Usage, one_line};

use crate::faults;
use crate::progress::LogLines;

/// What every command writes to: standard output, locked and buffered.
pub type Output<'a> = &'a mut dyn Write;

/// Trains players of GIPF by self-play, and checks everything they stand on.
#[derive(Debug, Parser)]
#[command(name = "gipf", version, max_term_width = 110)]
#[command(
    after_help = "Start with `gipf train configs/quickstart.toml`, or `gipf COMMAND --help` for an example of each command.\n\
                        Exit codes: 0 done, 1 failed, 2 wrong use."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Rules(rules::Args),
    Moves(moves::Args),
    Perft(perft::Args),
    Check(check::Args),
    Positions(positions::Args),
    Train(train::Args),
    Learn(learn::Args),
    Worker(worker::Args),
    Status(status::Args),
    Match(matches::Args),
    Mixes(mixes::Args),
    Tactics(tactics::Args),
    Rate(rate::Args),
    Export(export::Args),
    Play(play::Args),
    Analyse(analyse::Args),
    Report(report::Args),
    Doctor(doctor::Args),
    Bench(bench::Args),
}

/// Runs the program on the process's own arguments and says with which code to end.
///
/// A failure is one line on standard error. A reader that goes away (`gipf moves … | head`) is no failure.
pub fn main() -> ExitCode {
    let cli: Cli = match arguments() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if let Err(error) = faults::check_env() {
        tell_error(&error.to_string());
        return ExitCode::from(2);
    }
    start_log();
    let mut out = io::BufWriter::new(StandardOutput(io::stdout().lock()));
    let result = run(cli, &mut out).and_then(|code| Ok(out.flush().map(|()| code)?));
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // What was written before the failure comes first; a second failure to write it changes nothing.
            let _ = out.flush();
            tell_error(&format!("{error:#}"));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// Warnings and what else is worth a line go to standard error; `GIPF_LOG=debug` shows more. What the NATS client says of itself
/// is told in our own words.
fn start_log() {
    let filter = EnvFilter::try_from_env("GIPF_LOG")
        .unwrap_or_else(|_| EnvFilter::new("info,async_nats=off"));
    // A second start in one process keeps the first one's settings.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogLines::default)
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .try_init();
}

fn run(cli: Cli, out: Output) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Rules(args) => rules::run(&args, out),
        Command::Moves(args) => moves::run(&args, out),
        Command::Perft(args) => perft::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Positions(args) => positions::run(&args, out),
        Command::Train(args) => train::run(&args, out),
        Command::Learn(args) => learn::run(&args, out),
        Command::Worker(args) => worker::run(args, out),
        Command::Status(args) => status::run(&args, out),
        Command::Match(args) => matches::run(&args, out),
        Command::Mixes(args) => mixes::run(&args, out),
        Command::Tactics(args) => tactics::run(&args, out),
        Command::Rate(args) => rate::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Play(args) => play::run(&args, out),
        Command::Analyse(args) => analyse::run(&args, out),
        Command::Report(args) => report::run(&args, out),
        Command::Doctor(args) => doctor::run(&args, out),
        Command::Bench(args) => bench::run(&args, out),
    }
}

/// The device of a name on the command line.
///
/// # Errors
/// [`Usage`] for a name that is none; a failure where the device is absent.
fn device(name: &str) -> anyhow::Result<Device> {
    check_device_name(name)?;
    Ok(device_from_name(name)?)
}

/// Refuses, as [`Usage`], what is no name of a device.
fn check_device_name(name: &str) -> anyhow::Result<()> {
    let known = ["cpu", "cuda", "auto"].contains(&name)
        || name.strip_prefix("cuda:").is_some_and(|index| index.parse::<u16>().is_ok());
    if !known {
        return Err(Usage::error(format!(
            "--device {}: not cpu, cuda, cuda:N or auto",
            echo(name)
        )));
    }
    Ok(())
}
