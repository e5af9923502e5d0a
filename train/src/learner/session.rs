//! A run at work: its folder, games, window and learner, and the steps that both ways of training are made of.

use std::fs;
use std::time::Instant;

use gipf_core::record::GameRecord;
use gipf_model::Checkpoint;
use gipf_model_torch::{Device, Learner, Teacher, TrainBatch, TrainSample, device_from_name};
use gipf_selfplay::ExecutorMeter;

use super::bucket::Bucket;
use super::clock::{Clock, ProcessorTime};
use super::limits::{Limits, Used};
use super::meters::{Meters, Point};
use super::scalars::Scalars;
use super::selfplay::sampler;
use super::start::{learner_config, new_learner};
use super::stop::StopFlag;
use crate::config::Config;
use crate::progress::Progress;
use crate::run::RunFolder;
use crate::transport::{LocalTransport, Transport};
use crate::window::{Added, Drawing, Labelled, Replay, ValueMix};

/// Steps between two points of the curves.
const CURVE_STEPS: u64 = 50;

/// How a stretch of training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A limit was reached, or the records to train from are used up.
    Done,
    /// The user stopped it; the run can go on.
    Stopped,
}

/// Everything that one process holds while it trains a run.
pub struct Session {
    pub(super) folder: RunFolder,
    pub(super) config: Config,
    pub(super) device: Device,
    pub(super) learner: Learner,
    /// The small network, while the grown one learns from it.
    pub(super) teacher: Option<Teacher>,
    pub(super) transport: LocalTransport,
    pub(super) replay: Replay,
    pub(super) bucket: Bucket,
    pub(super) limits: Limits,
    pub(super) meters: Meters,
    /// What the executors of all the run's networks have done, where a GPU evaluates.
    pub(super) executors: ExecutorMeter,
    /// Whether the learner is behind self-play and has all cores; see [`Session::train_concurrently`].
    pub(super) hurrying: bool,
    pub(super) stop: StopFlag,
    /// What the user sees.
    pub progress: Progress,
    pub(super) scalars: Scalars,
    pub(super) samples: Vec<Labelled>,
    clock: Clock,
    processor: ProcessorTime,
    pub(super) rules: Vec<String>,
    /// The checkpoint that the next one is trained from, by its SHA-256.
    pub(super) parent: Option<String>,
    /// Steps and games at the last save point.
    saved_step: u64,
    saved_games: u64,
    /// What the run had used when this process took it up.
    pub(super) at_start: Used,
    pub(super) last: Point,
    /// Learning rate of the last step.
    pub(super) rate: f64,
}

impl Session {
    /// Takes up a run where its folder stands: the newest save point, or its beginning with the weights of `init` or new ones.
    ///
    /// # Errors
    /// The device is absent, or the folder's files cannot be read or written.
    pub fn open(
        mut folder: RunFolder,
        init: Option<&Checkpoint>,
        stop: StopFlag,
        mut progress: Progress,
    ) -> anyhow::Result<Self> {
        let config = folder.config().clone();
        let device = device_from_name(&config.run.device)?;
        let rules = sampler(&config)?.rules().map(ToString::to_string).collect();
        let learner = if folder.state.saved {
            Learner::load_state(
                &folder.learner_path(folder.state.step),
                learner_config(&config),
                device,
            )?
        } else {
            new_learner(&config, init, device)?
        };
        let parent = match folder.state.saved {
            true => {
                Some(Checkpoint::load_header(&folder.checkpoint_path(folder.state.step))?.sha256)
            }
            false => init.map(|checkpoint| checkpoint.header.sha256.clone()),
        };
        folder.state.starts += 1;
        progress.stage("reading the run's games");
        let store = folder.open_store()?;
        let state = &folder.state;
        let held_out = config.train.held_out;
        let replay =
            Replay::rebuild(&config.window, held_out, config.run.seed, &state.replay, &store)?;
        let replay = replay.drawing(Drawing {
            auxiliary: config.train.auxiliary(),
            surprise: config.train.policy_surprise_weight,
        });
        let transport = LocalTransport::new(store, folder.checkpoints());
        let bucket = Bucket::new(
            state.tokens,
            config.train.sample_reuse,
            config.train.batch_size,
            config.window.minimum,
        );
        let history = folder.history()?;
        let processor = ProcessorTime::after(history.last().map_or(0.0, |point| point.cpu_seconds));
        let used = Used {
            seconds: state.seconds,
            cpu_seconds: processor.before,
            steps: state.step,
            games: state.games,
        };
        let mut session = Session {
            limits: Limits::of(&config.run),
            scalars: Scalars::new(&folder.events()),
            clock: Clock { before: state.seconds, started: None },
            processor,
            parent,
            saved_step: state.step,
            saved_games: state.games,
            at_start: used,
            meters: Meters::new(),
            executors: ExecutorMeter::default(),
            hurrying: false,
            samples: Vec::new(),
            last: Point::default(),
            rate: 0.0,
            folder,
            config,
            device,
            learner,
            teacher: None,
            transport,
            replay,
            bucket,
            stop,
            progress,
            rules,
        };
        if session.folder.state.saved {
            if history.last().is_none_or(|point| point.step != session.saved_step) {
                // The process was killed between its last save point and this line.
                session.folder.add_history(session.processor.before)?;
            }
            session.count_later_games()?;
        } else {
            session.save()?;
        }
        if !session.config.run.deterministic {
            session.clock.started = Some(Instant::now());
        }
        Ok(session)
    }

    /// Games that were stored after the save point: durable, so they count. A deterministic run makes them anew, bit by bit.
    fn count_later_games(&mut self) -> anyhow::Result<()> {
        if self.config.run.deterministic {
            return Ok(());
        }
        let added = self.replay.catch_up(self.transport.store())?;
        if added.games > 0 {
            self.progress.note(&format!(
                "{} games were stored after the last save point: they count",
                added.games
            ));
        }
        self.count(added);
        let state = &mut self.folder.state;
        state.next_seq = state.next_seq.max(self.transport.store().next_seq(&state.run_id));
        Ok(())
    }

    /// Adds a stored game to the window and counts it.
    pub(super) fn add(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let added = self.replay.add(self.replay.games(), record)?;
        self.count(added);
        self.meters.game(record);
        Ok(())
    }

    /// The run's folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// The folder and what the user sees, for what comes after training.
    pub fn into_parts(self) -> (RunFolder, Progress) {
        (self.folder, self.progress)
    }

    /// What the run has used.
    pub fn used(&self) -> Used {
        Used {
            seconds: self.clock.seconds(),
            cpu_seconds: match self.config.run.deterministic {
                true => 0.0,
                false => self.processor.seconds(),
            },
            steps: self.folder.state.step,
            games: self.folder.state.games,
        }
    }

    /// Stores finished games, and counts each of them once it is durable.
    pub(super) fn collect(&mut self, games: &[GameRecord]) -> anyhow::Result<()> {
        if games.is_empty() {
            return Ok(());
        }
        let new = self.transport.publish(games)?;
        for (record, new) in games.iter().zip(new) {
            // A deterministic run that goes on makes the games after its save point again: they are stored, not yet counted.
            if new || self.config.run.deterministic {
                self.add(record)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, added: Added) {
        let state = &mut self.folder.state;
        state.games += added.games;
        state.positions += added.plays;
        state.samples_made += added.samples;
        self.bucket.made(added.samples);
    }

    /// Whether enough samples came to train on. The window may hold a little less than the minimum: only whole games leave it.
    pub(super) fn window_is_ready(&self) -> bool {
        self.replay.train().made() >= self.config.window.minimum
    }

    /// Makes one training step if the window and the sample-reuse ratio allow it.
    pub(super) fn step_if_due(&mut self) -> anyhow::Result<bool> {
        if !self.window_is_ready() || !self.bucket.has_step() {
            return Ok(false);
        }
        self.grow_if_due()?;
        self.bucket.take_step();
        let train = &self.config.train;
        let rate =
            train.learning_rate_at(self.steps_since_growth(), self.limits.share(&self.used()));
        let mix = ValueMix { from_search: train.value_from_search as f32 };
        self.replay.draw(train.batch_size, mix, &mut self.samples);
        let mut batch = pack(&mut self.samples)?;
        self.distill(&mut batch)?;
        let losses = self.learner.train_step(&batch, rate)?;
        self.folder.state.step += 1;
        self.folder.state.samples_trained += self.config.train.batch_size as u64;
        self.meters.step(&losses);
        self.rate = rate;
        if self.folder.state.step.is_multiple_of(CURVE_STEPS) {
            self.draw_curves()?;
        }
        Ok(true)
    }

    /// Whether a save point is due by steps or games.
    pub(super) fn save_is_due(&self) -> bool {
        let section = &self.config.checkpoints;
        let state = &self.folder.state;
        let by_steps = section.every_steps > 0
            && state.step / section.every_steps > self.saved_step / section.every_steps;
        let by_games = section.every_games > 0
            && state.games / section.every_games > self.saved_games / section.every_games;
        by_steps || by_games || self.growth_wants_save()
    }

    /// Makes a save point: checkpoint, learner's state, counters, window, random streams.
    pub(super) fn save(&mut self) -> anyhow::Result<()> {
        if self.meters.has_steps() {
            self.draw_curves()?;
        }
        let state = &mut self.folder.state;
        state.tokens = self.bucket.tokens();
        state.seconds = self.clock.seconds();
        state.replay = self.replay.state();
        let checkpoint = self.calibrated(self.averaged()?)?;
        let (player, learner) = (checkpoint.to_bytes()?, self.learner.state_bytes()?);
        self.folder
            .save_point(|path| fs::write(path, &player), |path| fs::write(path, &learner))?;
        self.folder.add_history(self.processor.seconds())?;
        self.parent = Some(checkpoint.header.sha256.clone());
        self.saved_games = self.folder.state.games;
        self.saved_step = self.folder.state.step;
        self.progress
            .note(&format!("saved {}", self.folder.checkpoint_path(self.saved_step).display()));
        if self.config.store.keep_games > 0 {
            let keep_from = self.folder.state.games.saturating_sub(self.config.store.keep_games);
            self.transport.store_mut().prune(keep_from.min(self.replay.oldest_game()))?;
        }
        Ok(())
    }

    /// The step of the newest save point.
    pub(super) fn saved_step(&self) -> u64 {
        self.saved_step
    }
}

/// The drawn samples as a batch; takes their features, policies and replies.
pub(super) fn pack(samples: &mut [Labelled]) -> anyhow::Result<TrainBatch> {
    let samples: Vec<TrainSample> = samples
        .iter_mut()
        .map(|sample| TrainSample {
            features: std::mem::take(&mut sample.features),
            policy: std::mem::take(&mut sample.policy),
            policy_weight: sample.policy_weight,
            value: sample.value,
            value_weight: sample.value_weight,
            plays_left: sample.plays_left,
            plays_left_weight: sample.plays_left_weight,
            auxiliary: std::mem::take(&mut sample.auxiliary),
        })
        .collect();
    Ok(TrainBatch::pack(&samples)?)
}
