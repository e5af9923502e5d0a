//! `gipf worker`: plays for a run that is learned elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::cluster::{ConnectionArgs, megabytes, retold, seconds};
use super::{Output, check_device_name};
use crate::cluster::{WorkerOptions, work};
use crate::learner::StopFlag;
use crate::progress::Progress;

/// Play games for a run that is learned on another machine: rules, settings and networks come from its server
///
/// Start and stop any number of them, anywhere, at any time. A worker that loses the server goes on playing, keeps its games on the
/// disk and sends them later; one that was killed sends what it left when it is started in the same folder again. It ends when
/// the run does, or on Ctrl-C, after it has sent what it has.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf worker --nats tls://server:4222 --creds worker.creds --run standard"
)]
pub(super) struct Args {
    /// The NATS server: nats://HOST[:PORT] or tls://…, USER:PASSWORD@ before the host; several with commas between
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    connection: ConnectionArgs,
    /// The run: run.name of the learner's config
    #[arg(long, value_name = "NAME")]
    run: String,
    /// The worker's folder; runs/worker-NAME-N where it is absent, with the first N that no other worker uses
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Threads that play [default: what the run's config says, or one a core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// cpu, cuda, cuda:N or auto [default: what the run's config says]
    #[arg(long)]
    device: Option<String>,
    /// Games that may wait on the disk for the server, in MB; beyond that the worker stops playing
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = megabytes)]
    spool_megabytes: u64,
    /// Seconds to go on sending after Ctrl-C; what is left then stays on the disk
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    drain: f64,
}

pub(super) fn run(args: Args, out: Output) -> anyhow::Result<ExitCode> {
    if let Some(device) = &args.device {
        check_device_name(device)?;
    }
    let stop = StopFlag::on_signals()?;
    let run = args.run.clone();
    let options = WorkerOptions {
        connection: args.connection.to(&args.nats),
        run: args.run,
        folder: args.dir,
        threads: args.threads.map(usize::from),
        device: args.device,
        spool_bytes: args.spool_megabytes * 1_000_000,
        drain: Duration::from_secs_f64(args.drain),
    };
    let end = work(options, &stop, Progress::new()).map_err(retold)?;
    let why = if end.done { format!("run {run} is done") } else { "stopped".to_owned() };
    writeln!(out, "{why}: {} games counted", end.games)?;
    if end.left.games > 0 {
        writeln!(
            out,
            "{} of the folder's games are not sent yet: a worker started with the same folder sends them",
            end.left.games
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
