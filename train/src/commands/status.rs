//! `gipf status`: how the runs on a server are doing.

use std::io;
use std::process::ExitCode;

use super::Output;
use super::cluster::{ConnectionArgs, told};
use crate::cluster::{BEAT_LASTS, RunStatus, status};
use crate::progress::{human_count, human_time};

/// Show the runs on a server: learner, workers, games a second, what waits, the newest checkpoint
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: gipf status --nats nats://server:4222 --run standard --json")]
pub(super) struct Args {
    /// The NATS server: nats://HOST[:PORT] or tls://…, USER:PASSWORD@ before the host; several with commas between
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    connection: ConnectionArgs,
    /// One run only: run.name of its config
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let connection = args.connection.to(&args.nats);
    let runs = status(&connection, args.run.as_deref()).map_err(told)?;
    if args.json {
        serde_json::to_writer(&mut *out, &serde_json::json!({ "runs": runs }))?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if runs.is_empty() {
        writeln!(out, "no runs at {}", connection.shown())?;
    }
    for run in &runs {
        write_run(run, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_run(run: &RunStatus, out: Output) -> io::Result<()> {
    writeln!(out, "run {}", run.run)?;
    match &run.learner {
        Some(learner) => writeln!(
            out,
            "  learner      {} (process {}), step {}, {} games, {} positions, {:.2} games/s taken in{}",
            learner.host,
            learner.process,
            learner.step,
            human_count(learner.games),
            human_count(learner.positions),
            learner.games_per_second,
            if learner.full { "; behind with learning, so it takes none now" } else { "" },
        )?,
        None => writeln!(out, "  learner      none in the last {} s", BEAT_LASTS.as_secs())?,
    }
    writeln!(
        out,
        "  workers      {}, {:.2} games/s, {} games wait on their disks",
        run.workers.len(),
        run.games_per_second,
        run.waiting_games
    )?;
    let (backlog, limit) = (run.backlog_bytes as f64 / 1e6, run.backlog_limit as f64 / 1e6);
    let lag = human_time(run.lag_seconds);
    writeln!(
        out,
        "  backlog      {} messages, {backlog:.1} of {limit:.0} MB, the oldest waits {lag}",
        run.backlog_messages
    )?;
    match &run.checkpoint {
        Some(announced) => writeln!(
            out,
            "  checkpoint   step {}, {:.2} MB{}",
            announced.step,
            announced.bytes as f64 / 1e6,
            match run.checkpoint_lag_steps {
                Some(0) => ", every worker plays with it".to_owned(),
                Some(steps) => format!(", the last worker is {steps} steps behind"),
                None => String::new(),
            }
        )?,
        None => writeln!(out, "  checkpoint   none yet")?,
    }
    writeln!(out, "  set aside    {} messages", run.set_aside)?;
    for worker in &run.workers {
        let beat = &worker.beat;
        writeln!(
            out,
            "    {:<20} process {:<8} {} threads, {} games, {:.2} games/s, step {}{}{}",
            beat.host,
            beat.process,
            beat.threads,
            human_count(beat.games),
            beat.games_per_second,
            beat.checkpoint,
            match beat.waiting_games {
                0 => String::new(),
                games => format!(", {games} wait on its disk"),
            },
            if beat.full { "; its disk may hold no more" } else { "" },
        )?;
    }
    Ok(())
}
