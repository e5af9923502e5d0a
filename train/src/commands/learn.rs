//! `gipf learn`: trains a run on the games of workers anywhere.

use std::process::ExitCode;

use anyhow::Context;

use super::cluster::{ConnectionArgs, megabytes, seconds, told};
use super::train::{self, Players, Workers};
use super::{Output, Usage};
use crate::cluster::{Batching, Door, Intake, Link, MAX_GAMES, Role, RunNames, Settings};
use crate::config::Config;
use crate::learner::StopFlag;
use crate::run::RunFolder;

/// MB of games on the server, unless the user says otherwise.
const BACKLOG: u64 = 1024;
/// Games in a message, likewise.
const BATCH_GAMES: u16 = 16;
/// Seconds that a game waits for others, likewise.
const BATCH_SECONDS: f64 = 5.0;

/// Train a player on the games of workers on other machines; without --nats on self-play here, as gipf train does
///
/// Workers (gipf worker) come and go as they like. The learner, the server and the workers can each be killed at any moment and
/// started again: no game that was counted is lost, and none counts twice. docs/CLUSTER.md explains the whole.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: gipf learn configs/standard.toml --run runs/many --nats nats://server:4222"
)]
pub(super) struct Args {
    #[command(flatten)]
    train: train::Args,
    /// The NATS server: nats://HOST[:PORT] or tls://…, USER:PASSWORD@ before the host; several with commas between
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
    /// Games that may wait on the server for the learner, in MB; beyond that the workers keep theirs
    #[arg(long, value_name = "MB", default_value_t = BACKLOG, requires = "nats", value_parser = megabytes)]
    backlog_megabytes: u64,
    /// Games in a message, 1 to 256
    #[arg(long, value_name = "GAMES", default_value_t = BATCH_GAMES, requires = "nats", value_parser = clap::value_parser!(u16).range(1..=MAX_GAMES as i64))]
    batch_games: u16,
    /// Seconds that a worker's finished game waits for others, at most
    #[arg(long, value_name = "SECONDS", default_value_t = BATCH_SECONDS, requires = "nats", value_parser = seconds)]
    batch_seconds: f64,
}

pub(super) fn run(args: &Args, out: Output) -> anyhow::Result<ExitCode> {
    let Some(url) = &args.nats else {
        return train::train(&args.train, &Players::Here, "learn", out);
    };
    if args.train.has_records() {
        return Err(Usage::error("--from-records: with --nats the games are the workers'"));
    }
    train::train(&args.train, &Players::Elsewhere(&Server { args, url }), "learn", out)
}

/// The workers behind a server.
struct Server<'a> {
    args: &'a Args,
    url: &'a str,
}

impl Workers for Server<'_> {
    fn check(&self, config: &Config) -> anyhow::Result<()> {
        RunNames::new(&config.run.name).map_err(told)?;
        self.args.connection.to(self.url).check().map_err(told)
    }

    fn open(&self, folder: &RunFolder, stop: &StopFlag) -> anyhow::Result<Intake> {
        let config = folder.config();
        let names = RunNames::new(&config.run.name)?;
        let batching = Batching {
            games: usize::from(self.args.batch_games),
            seconds: self.args.batch_seconds,
        };
        let run_id = &folder.state.run_id;
        let settings = Settings::new(run_id, config, batching)?;
        let door = Door::new(run_id, config).context("the run's rules")?;
        let stopped = || stop.is_set();
        let connection = self.args.connection.to(self.url);
        let link = Link::connect(&connection, Role::Learner, Some(&stopped)).map_err(told)?;
        let backlog = self.args.backlog_megabytes * 1_000_000;
        Ok(Intake::open(link, &names, settings, door, backlog, &stopped)?)
    }

    fn options(&self) -> Vec<String> {
        let mut words = vec!["--nats".to_owned(), self.args.connection.to(self.url).shown()];
        words.extend(self.args.connection.words());
        let Args { backlog_megabytes, batch_games, batch_seconds, .. } = self.args;
        let numbers = [
            ("--backlog-megabytes", *backlog_megabytes as f64, BACKLOG as f64),
            ("--batch-games", f64::from(*batch_games), f64::from(BATCH_GAMES)),
            ("--batch-seconds", *batch_seconds, BATCH_SECONDS),
        ];
        for (name, value, _) in numbers.into_iter().filter(|(_, value, usual)| value != usual) {
            words.extend([name.to_owned(), value.to_string()]);
        }
        words
    }
}
