//! One game of self-play and the search of its decisions.

use gipf_core::record::{GameRecord, GameResult};
use gipf_core::{Play, Position};
use gipf_model::{Evaluation, Features};

use crate::cache::EvaluationCache;
use crate::config::SelfPlayConfig;
use crate::given::Given;
use crate::random::{Purpose, RandomKey, below, open_unit};
use crate::record::{Made, drawn_play, game_record};
use crate::search::{Search, SearchBudget, SearchResult};
use crate::source::{GameSource, ListedGame};
use crate::worker::WorkerStats;

/// What the lanes of a worker share.
pub(crate) struct Table {
    pub(crate) config: SelfPlayConfig,
    pub(crate) source: GameSource,
    pub(crate) checkpoint: u64,
    pub(crate) stats: WorkerStats,
    /// What the evaluator has said, where it is kept.
    pub(crate) cache: Option<EvaluationCache>,
    /// Scratch space.
    pub(crate) given: Given,
    pub(crate) result: SearchResult,
}

/// A place at the table: one game after another.
pub(crate) struct Lane {
    search: Search,
    game: Option<Game>,
    /// The hash of the position that waits for its evaluation; read only with a cache.
    hash: u64,
}

/// A game under way.
struct Game {
    /// Which one it is.
    listed: ListedGame,
    key: RandomKey,
    position: Position,
    plays: Vec<Made>,
    /// Plays of the random opening.
    random_plays: u32,
    /// Searched plays in a row with a decided value, counted below 0 while Black is ahead.
    decided: i32,
    settled: bool,
    /// The running search: whether it is a full one.
    searching: Option<bool>,
}

impl Game {
    fn ply(&self) -> u32 {
        self.plays.len() as u32
    }

    fn start(table: &Table, listed: ListedGame) -> Game {
        let key = listed.key();
        let most = table.config.opening.random_plays as usize;
        let random_plays = below(&mut key.stream(0, Purpose::OpeningLength), most + 1) as u32;
        Game {
            key,
            position: listed.rules().start(),
            listed,
            plays: Vec::new(),
            random_plays,
            decided: 0,
            settled: false,
            searching: None,
        }
    }
}

impl Lane {
    pub(crate) fn new(config: &SelfPlayConfig) -> Lane {
        Lane { search: Search::new(&config.search, config.max_plays), game: None, hash: 0 }
    }

    pub(crate) fn is_playing(&self) -> bool {
        self.game.is_some()
    }

    /// Drops the running game.
    pub(crate) fn abandon(&mut self) {
        self.game = None;
        self.search.clear();
    }

    /// Takes the evaluation that [`Lane::play_on`] asked for, and keeps it in the cache.
    pub(crate) fn absorb(&mut self, evaluation: &Evaluation, cache: Option<&mut EvaluationCache>) {
        if let (Some(cache), Some(position)) = (cache, self.search.leaf()) {
            cache.put(self.hash, position, evaluation);
        }
        self.search.absorb(evaluation);
    }

    /// Plays until a position must be evaluated (true; `features` are filled), or no game is left to start (false).
    pub(crate) fn play_on(
        &mut self,
        table: &mut Table,
        features: &mut Features,
        emit: &mut dyn FnMut(GameRecord),
    ) -> bool {
        loop {
            let Some(game) = &mut self.game else {
                let Some(listed) = table.source.take() else { return false };
                self.game = Some(Game::start(table, listed));
                continue;
            };
            if let Some(full) = game.searching {
                if seek(&mut self.search, &mut self.hash, table) {
                    self.search.fill(features);
                    return true;
                }
                let play = decide(game, &mut self.search, full, table);
                self.search.advance(play);
            } else if game.position.is_over() || game.ply() >= table.config.max_plays {
                emit(finish(game, table));
                self.abandon();
            } else if let Some(play) = unsearched_play(game, table) {
                game.position.play(play);
                game.plays.push(Made::unsearched(play));
                table.stats.plays += 1;
                self.search.advance(play);
            } else {
                let (full, budget) = draw_budget(game, table);
                let noise = game.key.stream(game.ply(), Purpose::Noise);
                self.search.begin(&game.position, game.ply(), budget, noise);
                game.searching = Some(full);
            }
        }
    }
}

/// Simulates until a position must be evaluated that the cache does not know (true), or the search is over (false).
/// `hash` becomes that position's where there is a cache.
fn seek(search: &mut Search, hash: &mut u64, table: &mut Table) -> bool {
    while let Some(position) = search.seek() {
        let Some(cache) = &mut table.cache else { return true };
        *hash = position.hash64();
        let Some(known) = cache.get(*hash, position) else { return true };
        search.absorb(known);
        table.stats.cache_hits += 1;
    }
    false
}

/// The play of a position that is not searched: a side game's outcome, a single play, a random opening's.
fn unsearched_play(game: &Game, table: &mut Table) -> Option<Play> {
    let ply = game.ply();
    if let Some(play) = table.given.play(&game.position, game.key, ply) {
        table.stats.forced_plays += u64::from(!game.position.is_chance());
        return Some(play);
    }
    if ply < game.random_plays {
        let actions = &table.given.actions;
        let mut rng = game.key.stream(ply, Purpose::OpeningPlay);
        return actions.get(below(&mut rng, actions.len())).copied();
    }
    None
}

/// Full or fast, and what that costs (playout-cap randomization, Wu 2019).
fn draw_budget(game: &Game, table: &mut Table) -> (bool, SearchBudget) {
    let config = &table.config;
    let draw = open_unit(&mut game.key.stream(game.ply(), Purpose::Budget));
    let full = !game.settled && draw < f64::from(config.full_probability);
    let considered = config.search.gumbel.considered;
    let budget = if full {
        table.stats.full_searches += 1;
        SearchBudget { simulations: config.simulations, considered, noise: true }
    } else {
        table.stats.fast_searches += 1;
        let considered = considered.min(config.fast_considered);
        SearchBudget { simulations: config.fast_simulations, considered, noise: false }
    };
    (full, budget)
}

/// Makes the play that a finished search leads to, and records it.
fn decide(game: &mut Game, search: &mut Search, full: bool, table: &mut Table) -> Play {
    search.result(&mut table.result);
    let (result, opening) = (&table.result, &table.config.opening);
    table.stats.simulations += u64::from(result.simulations);
    table.stats.plays += 1;
    let ply = game.ply();
    let play = if ply < opening.sampled_plays {
        drawn_play(&result.policy, opening.temperature, game.key, ply)
    } else {
        result.play
    };
    game.plays.push(Made::searched(play, result, full, table.checkpoint));
    if let Some(settled) = &table.config.settled {
        game.decided = match result.value {
            value if value >= settled.value => game.decided.max(0) + 1,
            value if value <= -settled.value => game.decided.min(0) - 1,
            _ => 0,
        };
        game.settled |= game.decided.unsigned_abs() >= settled.plays;
    }
    game.searching = None;
    game.position.play(play);
    play
}

/// The record of a game that has ended.
fn finish(game: &Game, table: &mut Table) -> GameRecord {
    table.stats.count_game(game.position.winner());
    let result = GameResult::of(&game.position);
    game_record(&game.listed, table.config.max_plays, result, &game.plays)
}
