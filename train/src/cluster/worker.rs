//! A worker: it plays for a run wherever it is, with what it fetches from the run's server, and sends its games there.

use super::connection::{Connection, Role};
use super::error::ClusterError;
use super::home::{seed, take_folder};
use super::link::{Link, pause};
use super::names::{RunNames, SETTINGS, WORKER};
use super::outbox::{Outbox, Place};
use super::rate::Rate;
use super::settings::{Settings, WorkerBeat, host};
use super::spool::Waiting;
use super::table::Table;
use crate::config::Config;
use crate::evaluators::{BoxedEvaluator, for_workers};
use crate::learner::StopFlag;
use crate::learner::selfplay::{SelfPlay, sampler, self_play_config, worker_count};
use crate::progress::{Progress, human_count};
use crate::run::{CheckpointFile, RunLock, worker_name};
use crate::store::DiskWait;
use crate::transport::Transport;
use gipf_core::record::GameRecord;
use gipf_model::Checkpoint;
use gipf_model_torch::{Device, device_from_name};
use gipf_selfplay::{ExecutorMeter, GameCounter, Worker, WorkerIdentity};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the server is asked for a run that it does not have yet.
const LOOK: Duration = Duration::from_millis(500);

/// How often a worker tells of itself.
const BEAT: Duration = Duration::from_secs(5);

/// How long to wait between two looks for a first checkpoint.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a worker is told.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// The server.
    pub connection: Connection,
    /// The run's name.
    pub run: String,
    /// Its folder; `worker-RUN-N` under `runs/` where it is absent, with the first N that no other worker uses.
    pub folder: Option<PathBuf>,
    /// Threads that play; the run's configuration says it where it is absent.
    pub threads: Option<usize>,
    /// Device; the run's configuration says it where it is absent.
    pub device: Option<String>,
    /// The most bytes of games that may wait on the disk.
    pub spool_bytes: u64,
    /// How long a worker that is told to stop goes on sending.
    pub drain: Duration,
}

/// How a worker's work ended.
#[derive(Debug, Clone, Copy)]
pub struct WorkerEnd {
    /// Whether the run has reached its end; else the worker was told to stop.
    pub done: bool,
    /// Games that it counted.
    pub games: u64,
    /// What is still on its disk.
    pub left: Waiting,
}

/// Why a stretch of play ended.
enum Turn {
    Stopped,
    Done,
    /// The run's settings are others now.
    Changed(Settings),
}

/// A worker at work.
struct Player {
    options: WorkerOptions,
    link: Arc<Link>,
    names: RunNames,
    place: Place,
    stop: StopFlag,
    progress: Progress,
    /// Numbers of all games of this start, whatever the settings were.
    counter: GameCounter,
    games: u64,
    positions: u64,
    rate: Rate,
    /// Keeps others from the folder.
    _lock: RunLock,
}

/// Plays for a run until it is done or `stop` is set. A server that is away is waited for; games go on meanwhile.
///
/// # Errors
/// Wrong options, a server that refuses, a run of another version, a folder that cannot be written, or an evaluator that fails.
pub fn work(
    options: WorkerOptions,
    stop: &StopFlag,
    progress: Progress,
) -> anyhow::Result<WorkerEnd> {
    let names = RunNames::new(&options.run)?;
    if let Some(device) = &options.device {
        device_from_name(device)?;
    }
    let (folder, lock) = take_folder(options.folder.as_deref(), &names)?;
    let stopped = || stop.is_set();
    let link = match Link::connect(&options.connection, Role::Worker, Some(&stopped)) {
        Ok(link) => link,
        Err(ClusterError::Stopped(_)) => {
            return Ok(WorkerEnd { done: false, games: 0, left: Waiting::default() });
        }
        Err(error) => return Err(error.into()),
    };
    let place = Place {
        folder,
        nonce: worker_name(None),
        messages: Arc::default(),
        limit: options.spool_bytes,
        wait: DiskWait::new(stop.shared()),
    };
    let mut player = Player {
        link: Arc::new(link),
        names,
        place,
        stop: stop.clone(),
        progress,
        counter: GameCounter::unlimited(0),
        games: 0,
        positions: 0,
        rate: Rate::new(Instant::now(), 0),
        options,
        _lock: lock,
    };
    player.work()
}

impl Player {
    fn work(&mut self) -> anyhow::Result<WorkerEnd> {
        let folder = self.place.folder.display();
        self.progress.note(&format!("worker {} with {folder}", self.place.nonce));
        let mut settings = None;
        loop {
            let now = match settings.take() {
                Some(settings) => settings,
                None => match self.first_settings() {
                    Ok(settings) => settings,
                    Err(ClusterError::Stopped(_)) => return Ok(self.end(false, Waiting::default())),
                    Err(error) => return Err(error.into()),
                },
            };
            let mut outbox =
                Outbox::open(Arc::clone(&self.link), &self.names, &now.run_id, &self.place)?;
            let turn = if now.done { Turn::Done } else { self.play(&now, &mut outbox)? };
            match turn {
                Turn::Changed(changed) => {
                    outbox.close(Duration::ZERO);
                    self.progress
                        .note("the run's settings have changed: going on with the new ones");
                    settings = Some(changed);
                }
                turn => {
                    self.progress.stage("sending the last games");
                    let left = outbox.close(self.options.drain);
                    return Ok(self.end(matches!(turn, Turn::Done), left));
                }
            }
        }
    }

    fn end(&self, done: bool, left: Waiting) -> WorkerEnd {
        WorkerEnd { done, games: self.games, left }
    }

    /// The run's settings, once it has some.
    fn first_settings(&mut self) -> Result<Settings, ClusterError> {
        self.progress.stage("waiting for the run");
        let mut said = false;
        loop {
            match self.settings() {
                Ok(Some(settings)) => return Ok(settings),
                Ok(None) if !said => {
                    said = true;
                    let (url, run) = (self.link.shown().to_owned(), self.names.run().to_owned());
                    let missing = ClusterError::NoRun { url, run };
                    self.progress.note(&format!("{missing}; waiting for it"));
                }
                Ok(None) => {}
                Err(error) if error.may_pass() => tracing::debug!("{error}"),
                Err(error) => return Err(error),
            }
            let stop = self.stop.clone();
            pause(LOOK, &|| stop.is_set(), "the run")?;
        }
    }

    fn settings(&self) -> Result<Option<Settings>, ClusterError> {
        let found = self.link.read(&self.names.run_bucket(), SETTINGS)?;
        found.map(|bytes| Settings::read(&self.names, &bytes)).transpose()
    }

    /// Plays by these settings until they change, the run is done or a stop.
    fn play(&mut self, settings: &Settings, outbox: &mut Outbox) -> anyhow::Result<Turn> {
        let mut config = settings.config(&self.names)?;
        if let Some(threads) = self.options.threads {
            config.self_play.workers = threads;
        }
        if let Some(device) = &self.options.device {
            config.run.device.clone_from(device);
        }
        let device = device_from_name(&config.run.device)?;
        let threads = worker_count(&config, device);
        self.progress.stage("waiting for a checkpoint");
        let (evaluators, step) = loop {
            if self.stop.is_set() {
                return Ok(Turn::Stopped);
            }
            match self.evaluators(outbox, &config, device, threads) {
                Ok(Some(found)) => break found,
                Ok(None) => {}
                Err(error) => tracing::warn!("{error:#}; waiting for the next one"),
            }
            std::thread::sleep(PATIENCE);
        };
        let self_play = self.start(settings, &config, evaluators, step)?;
        let mut table = Table::new(self_play, settings.batching, step, threads);
        let turn = self.rounds(settings, &config, device, outbox, &mut table);
        self.progress.stage("stopping self-play");
        let Table { self_play, mut waiting, .. } = table;
        let rest = self_play.stop();
        let turn = turn?;
        waiting.extend(rest?);
        self.send(outbox, &mut waiting)?;
        Ok(turn)
    }

    fn start(
        &self,
        settings: &Settings,
        config: &Config,
        evaluators: Vec<BoxedEvaluator>,
        step: u64,
    ) -> anyhow::Result<SelfPlay> {
        let identity = WorkerIdentity {
            run: settings.run_id.clone(),
            worker: self.place.nonce.clone(),
            seed: seed(config.run.seed, &self.place.nonce),
        };
        let self_play = self_play_config(config);
        let mut workers = Vec::with_capacity(evaluators.len());
        for evaluator in evaluators {
            workers.push(Worker::new(
                &self_play,
                sampler(config)?,
                identity.clone(),
                self.counter.clone(),
                evaluator,
                step,
            )?);
        }
        SelfPlay::start(workers, self.counter.clone(), config.self_play.niceness)
    }

    /// Takes games from the table and sends them on, until something ends that.
    fn rounds(
        &mut self,
        settings: &Settings,
        config: &Config,
        device: Device,
        outbox: &mut Outbox,
        table: &mut Table,
    ) -> anyhow::Result<Turn> {
        let mut told = None::<Instant>;
        self.progress.stage("self-play");
        loop {
            if self.stop.is_set() {
                return Ok(Turn::Stopped);
            }
            table.receive(outbox.has_room())?;
            if table.is_due() {
                self.send(outbox, &mut table.waiting)?;
            }
            if let Some(changed) = outbox.settings().transpose()? {
                if changed.done && changed.run_id == settings.run_id {
                    return Ok(Turn::Done);
                }
                if changed != *settings {
                    return Ok(Turn::Changed(changed));
                }
            }
            match self.evaluators(outbox, config, device, table.threads) {
                Ok(Some((evaluators, step))) => {
                    table.self_play.swap(evaluators, step);
                    table.step = step;
                }
                Ok(None) => {}
                Err(error) => tracing::warn!("{error:#}; going on with the checkpoint before"),
            }
            if told.is_none_or(|when| when.elapsed() > BEAT) {
                told = Some(Instant::now());
                self.beat(settings, outbox, table);
            }
            self.show(outbox, table);
        }
    }

    /// Evaluators of the announced checkpoint and its step, if it is another one than before.
    fn evaluators(
        &self,
        outbox: &mut Outbox,
        config: &Config,
        device: Device,
        threads: usize,
    ) -> anyhow::Result<Option<(Vec<BoxedEvaluator>, u64)>> {
        let Some(CheckpointFile { step, path }) = outbox.new_checkpoint()? else {
            return Ok(None);
        };
        let checkpoint = Checkpoint::load(&path)?;
        if checkpoint.header.step != step {
            let found = checkpoint.header.step;
            anyhow::bail!(
                "{}: its weights are of step {found}, {step} was announced",
                path.display()
            );
        }
        let precisions = (config.self_play.precision, config.run.gpu_precision);
        let meter = ExecutorMeter::default();
        let evaluators = for_workers(&checkpoint, device, threads, precisions, &meter)?;
        self.progress.note(&format!("plays with the checkpoint of step {step}"));
        Ok(Some((evaluators, step)))
    }

    /// Hands games to the transport, and counts them once it has them.
    fn send(&mut self, outbox: &mut Outbox, games: &mut Vec<GameRecord>) -> anyhow::Result<()> {
        if games.is_empty() {
            return Ok(());
        }
        outbox.publish(games)?;
        self.games += games.len() as u64;
        self.positions += games.iter().map(|game| game.plays.len() as u64).sum::<u64>();
        games.clear();
        Ok(())
    }

    fn beat(&mut self, settings: &Settings, outbox: &Outbox, table: &Table) {
        let waiting = outbox.waiting();
        let beat = WorkerBeat {
            run_id: settings.run_id.clone(),
            host: host(),
            process: std::process::id(),
            threads: table.threads,
            games: self.games,
            positions: self.positions,
            games_per_second: self.rate.at(Instant::now(), self.games),
            waiting_games: waiting.games,
            waiting_bytes: waiting.bytes,
            oversized: waiting.oversized,
            checkpoint: table.step,
            full: !outbox.has_room(),
        };
        let key = format!("{WORKER}{}", self.place.nonce);
        if let Ok(bytes) = serde_json::to_vec(&beat) {
            self.link.tell(self.names.beat_subject(&key), bytes);
        }
    }

    fn show(&mut self, outbox: &Outbox, table: &Table) {
        let (games, positions, link) = (self.games, self.positions, &self.link);
        self.progress.update(None, || {
            let waiting = outbox.waiting();
            let mut text = format!(
                "{} games, {} positions, checkpoint step {}",
                human_count(games),
                human_count(positions),
                table.step
            );
            if waiting.games > 0 {
                text += &format!(", {} games wait for the server", waiting.games);
            }
            if !outbox.has_room() {
                text += ", the disk may hold no more: not playing";
            }
            if !link.is_connected() {
                text += ", no connection";
            }
            text
        });
    }
}
