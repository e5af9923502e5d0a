//! How fast a learner takes games in from a NATS server and writes them to its disk: what one core can do for a run over many machines.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gipf_core::record::GameRecord;
use serde_json::{Value, json};

use super::{Args, Usage};
use crate::cluster::{
    Batching, ClusterError, Connection, Door, Intake, Link, Outgoing, Packer, Role, RunNames,
    Settings,
};
use crate::config::{Config, WindowSection};
use crate::cpu;
use crate::store::{DiskWait, RecordReader, Store, StoreOptions};
use crate::window::Replay;

/// The run's name and id on the server; what is there of an earlier measurement goes first.
const RUN: &str = "bench-intake";

/// Most bytes that wait on the server.
const BACKLOG: u64 = 2_000_000_000;

/// Games in a message: the default of `gipf learn`.
const GAMES: usize = 16;

/// Messages on their way at a time.
const WINDOW: usize = 16;

/// The most games that are stored at once, as the learner does it.
const GAMES_AT_ONCE: usize = 64;

/// Replays real records: sends games to the server until it would take `time` to play them back at 20,000 positions a second, then
/// measures how much processor time it takes to fetch, check and store them and to add them to a replay window, over all threads of
/// this process.
pub(super) fn intake(args: &Args, time: Duration) -> anyhow::Result<Value> {
    let Some(url) = &args.nats else {
        return Err(Usage::error("bench intake needs a server: --nats URL"));
    };
    let Some(records) = &args.records else {
        return Err(Usage::error("bench intake needs games: --records FILE"));
    };
    let connection = Connection { url: url.clone(), ..Connection::default() };
    let names = RunNames::new(RUN)?;
    let sent = send(&connection, &names, records, time)?;
    let config = Config {
        window: WindowSection { maximum: 200_000, ..WindowSection::default() },
        ..sent.config
    };
    let settings = Settings::new(RUN, &config, Batching { games: GAMES, seconds: 5.0 })?;
    let folder = std::env::temp_dir().join(format!("gipf-bench-intake-{}", std::process::id()));
    let mut store = Store::open(&folder, StoreOptions::default(), DiskWait::default())?;
    let mut replay = Replay::new(&config.window, config.train.held_out, 1);
    let link = Link::connect(&connection, Role::Learner, None)?;
    let (before, began) = (cpu::process_seconds(), Instant::now());
    let door = Door::new(RUN, &config)?;
    let intake = Intake::open(link, &names, settings, door, BACKLOG, &|| false)?;
    let (mut games, mut positions, mut quiet) = (0, 0, Instant::now());
    while games < sent.games {
        let (mut records, mut deliveries) = (Vec::new(), Vec::new());
        for arrival in intake.receive(GAMES_AT_ONCE, Duration::from_millis(100))? {
            records.extend(arrival.games);
            deliveries.push(arrival.delivery);
        }
        if records.is_empty() {
            if quiet.elapsed() > Duration::from_secs(30) {
                bail!("{games} of {} games came in, and then none for 30 s", sent.games);
            }
            continue;
        }
        quiet = Instant::now();
        for (record, new) in records.iter().zip(store.append(&records)?) {
            if new {
                replay.add(replay.games(), record)?;
                games += 1;
                positions += record.plays.len() as u64;
            }
        }
        intake.stored(deliveries);
    }
    intake.close(true);
    let (seconds, clock) = (cpu::process_seconds() - before, began.elapsed().as_secs_f64());
    let written = store.bytes();
    drop(store);
    std::fs::remove_dir_all(&folder)
        .with_context(|| format!("cannot remove {}", folder.display()))?;
    Ok(json!({
        "games": games,
        "positions": positions,
        "bytes_a_game": sent.bytes as f64 / games as f64,
        "bytes_written_a_game": written as f64 / games as f64,
        "processor_seconds": seconds,
        "positions_per_processor_second": positions as f64 / seconds,
        "games_per_processor_second": games as f64 / seconds,
        "positions_per_second": positions as f64 / clock,
    }))
}

/// What was sent.
struct Sent {
    games: u64,
    bytes: u64,
    /// The configuration of a run that plays such games.
    config: Config,
}

/// Fills the run's queue with games of real records, under the run's id; games are repeated under new numbers where the records
/// are too few.
fn send(
    connection: &Connection,
    names: &RunNames,
    records: &Path,
    time: Duration,
) -> anyhow::Result<Sent> {
    let link = Link::connect(connection, Role::Worker, None)?;
    link.prepare(names, BACKLOG)?;
    link.empty(names)?;
    let wanted = (time.as_secs_f64() * 20_000.0) as u64;
    let mut packer = Packer::new(link.max_payload())?;
    let mut config = Config::default();
    let (mut games, mut positions, mut bytes, mut messages) = (0, 0, 0, Vec::new());
    let mut waiting: Vec<GameRecord> = Vec::new();
    while positions < wanted {
        let before = games;
        for record in RecordReader::open(records)? {
            let mut record = record?;
            if games == 0 {
                config = config_of(&record);
            }
            if record.rules != config_rules(&config) || record.max_plays != config.rules.max_plays {
                continue;
            }
            RUN.clone_into(&mut record.id.run);
            record.id.worker = "be".repeat(16);
            record.id.seq = games;
            games += 1;
            positions += record.plays.len() as u64;
            waiting.push(record);
            let last = positions >= wanted;
            if waiting.len() == GAMES || last {
                for body in packer.pack(&std::mem::take(&mut waiting))? {
                    bytes += body.bytes.len() as u64;
                    let id = format!("{}-{}", std::process::id(), games);
                    messages.push(Outgoing { id, run_id: RUN.to_owned(), body: body.bytes });
                }
            }
            if messages.len() >= WINDOW || last {
                let answers = link.publish(names, std::mem::take(&mut messages));
                answers.into_iter().collect::<Result<(), ClusterError>>()?;
            }
            if last {
                break;
            }
        }
        if games == before {
            bail!("{} holds no games", records.display());
        }
    }
    Ok(Sent { games, bytes, config })
}

/// A configuration by whose rules a game was played.
fn config_of(record: &GameRecord) -> Config {
    let mut config = Config::default();
    config.rules.rules = vec![gipf_selfplay::RulesEntry::fixed(record.rules.clone())];
    config.rules.max_plays = record.max_plays;
    RUN.clone_into(&mut config.run.name);
    config
}

fn config_rules(config: &Config) -> &str {
    match config.rules.rules.first() {
        Some(gipf_selfplay::RulesEntry::Fixed(fixed)) => &fixed.rules,
        _ => "",
    }
}
