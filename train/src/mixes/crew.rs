//! Who plays the games of a round: workers that share a network's batches, or players on threads, one game each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use gipf_core::record::GameRecord;
use gipf_selfplay::{
    GameList, ListedGame, Network, Player, Pool, SearchConfig, SelfPlayConfig, SoloPlayer, Worker,
};

use super::error::MixesError;
use super::setup::Setup;
use crate::evaluators::BoxedEvaluator;

/// Games of one worker under way at once.
const LANES: u32 = 64;
/// Memory of a worker's cache of evaluations, in megabytes.
const CACHE_MEGABYTES: u32 = 64;
/// Finished games that may wait to be stored.
const WAITING: usize = 64;
/// How often a stop is looked for while no game ends.
const LOOK: Duration = Duration::from_millis(50);

/// The players of a study.
pub struct Crew {
    kind: Kind,
    list: GameList,
}

enum Kind {
    /// Many games a thread.
    Workers(Pool<BoxedEvaluator>),
    /// One game a thread.
    Players(Vec<SoloPlayer>),
}

impl Crew {
    /// A network by so many simulations a decision, without noise: a worker for each of these, all alike. The positions of all
    /// games of a worker, by whatever rules, make one batch.
    ///
    /// # Errors
    /// A value of the search is out of range, no network, or the threads cannot be started.
    pub fn of_networks(
        networks: Vec<Network<BoxedEvaluator>>,
        simulations: u32,
        setup: &Setup,
    ) -> Result<Crew, MixesError> {
        let list = GameList::default();
        let workers = networks.into_iter().map(|network| {
            let Network { evaluator, search, checkpoint, .. } = network;
            Worker::listed(&config(search, simulations, setup), list.clone(), evaluator, checkpoint)
        });
        let pool = Pool::new(workers.collect::<Result<Vec<_>, _>>()?)?;
        Ok(Crew { kind: Kind::Workers(pool), list })
    }

    /// Players that play one game at a time each, all alike; `checkpoint` is the step of their network for the records, 0
    /// without one.
    pub fn of_players(players: Vec<Box<dyn Player>>, checkpoint: u64, setup: &Setup) -> Crew {
        let solo = |player| {
            let limit = setup.strength.limit();
            SoloPlayer::new(player, limit, setup.opening(), setup.max_plays, checkpoint)
        };
        let players = players.into_iter().map(solo).collect();
        Crew { kind: Kind::Players(players), list: GameList::default() }
    }

    /// Plays games to their ends and hands them to `took` as they end, in any order. Once `stop` says so the games under way are
    /// dropped, and the crew is not to be used again.
    ///
    /// # Errors
    /// A player or evaluator fails, or `took` does.
    pub fn play(
        &mut self,
        games: Vec<ListedGame>,
        stop: &dyn Fn() -> bool,
        took: &mut dyn FnMut(Vec<GameRecord>) -> Result<(), MixesError>,
    ) -> Result<(), MixesError> {
        self.list.extend(games);
        let list = &self.list;
        let (sink, ended) = sync_channel(WAITING);
        match &mut self.kind {
            Kind::Workers(pool) => {
                let control = pool.control();
                thread::scope(|scope| {
                    let playing = scope.spawn(move || pool.run(&sink).map(drop));
                    let taken = collect(&ended, stop, &|| control.stop(), took);
                    let played = playing.join().map_err(|_| MixesError::Broken)?;
                    taken.and(played.map_err(MixesError::from))
                })
            }
            Kind::Players(players) => {
                let halt = AtomicBool::new(false);
                thread::scope(|scope| {
                    let threads: Vec<_> = players
                        .iter_mut()
                        .map(|player| {
                            let (sink, halt) = (sink.clone(), &halt);
                            scope.spawn(move || {
                                let ended = alone(player, list, &sink, halt);
                                if ended.is_err() {
                                    halt.store(true, Ordering::Relaxed);
                                }
                                ended
                            })
                        })
                        .collect();
                    drop(sink);
                    let stopped = || halt.store(true, Ordering::Relaxed);
                    let mut result = collect(&ended, stop, &stopped, took);
                    for thread in threads {
                        result = result.and(thread.join().unwrap_or(Err(MixesError::Broken)));
                    }
                    result
                })
            }
        }
    }
}

/// Every decision is searched alike: by as many simulations, without noise.
fn config(search: SearchConfig, simulations: u32, setup: &Setup) -> SelfPlayConfig {
    SelfPlayConfig {
        fast_considered: search.gumbel.considered,
        search,
        lanes: LANES,
        simulations,
        fast_simulations: simulations,
        full_probability: 0.0,
        max_plays: setup.max_plays,
        cache_megabytes: CACHE_MEGABYTES,
        opening: setup.opening(),
        settled: None,
    }
}

/// Takes ended games until nobody plays any more.
fn collect(
    ended: &Receiver<GameRecord>,
    stop: &dyn Fn() -> bool,
    halt: &dyn Fn(),
    took: &mut dyn FnMut(Vec<GameRecord>) -> Result<(), MixesError>,
) -> Result<(), MixesError> {
    let mut result = Ok(());
    loop {
        if result.is_err() || stop() {
            halt();
        }
        match ended.recv_timeout(LOOK) {
            Ok(first) => {
                // Whatever else has ended meanwhile goes to the disk with it.
                let games: Vec<GameRecord> = [first].into_iter().chain(ended.try_iter()).collect();
                if result.is_ok() {
                    result = took(games);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return result,
        }
    }
}

/// One thread's games.
fn alone(
    player: &mut SoloPlayer,
    list: &GameList,
    sink: &SyncSender<GameRecord>,
    halt: &AtomicBool,
) -> Result<(), MixesError> {
    while !halt.load(Ordering::Relaxed) {
        let Some(game) = list.take() else { break };
        let Some(record) = player.play(&game, halt)? else { break };
        if sink.send(record).is_err() {
            break;
        }
    }
    Ok(())
}
