//! What one thread of a match does, and what the threads share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gipf_core::{Color, Play};

use super::clock::{Stopwatch, ask};
use super::game::Game;
use super::tally::Tally;
use super::{MatchConfig, MatchError, MatchGame, MatchResult};
use crate::contestant::{Batch, Contestant};
use crate::given::Given;
use crate::network::play_budget;
use crate::openings::Book;
use crate::player::{GameState, PlayerError};
use crate::random::Purpose;
use crate::record::Made;
use crate::search::{Search, SearchResult, Step};

/// Who hears of a match: of its state after each game, and of each game.
pub(super) struct Hearers<'a> {
    pub(super) progress: &'a mut (dyn FnMut(&MatchResult) + Send),
    pub(super) record: &'a mut (dyn FnMut(MatchGame) + Send),
}

/// The games that are over, and the next one to begin.
struct Board<'a> {
    tally: &'a mut Tally,
    next: u64,
    hearers: Hearers<'a>,
}

/// What the threads of a match share.
pub(super) struct Floor<'a> {
    config: &'a MatchConfig,
    stop: &'a (dyn Fn() -> bool + Sync),
    board: Mutex<Board<'a>>,
    book: &'a Mutex<Book>,
    over: AtomicBool,
}

/// Whole values only stand behind these locks, so one left by a panicking thread is sound.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Floor<'a> {
    pub(super) fn new(
        config: &'a MatchConfig,
        tally: &'a mut Tally,
        book: &'a Mutex<Book>,
        stop: &'a (dyn Fn() -> bool + Sync),
        hearers: Hearers<'a>,
    ) -> Floor<'a> {
        let over = AtomicBool::new(tally.is_decided());
        let board = Mutex::new(Board { tally, next: 0, hearers });
        Floor { config, stop, board, book, over }
    }

    /// Whether nobody is to play on: stopped, decided or failed. What is under way is dropped then.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || (self.stop)()
    }

    /// Ends the match for all threads.
    pub(super) fn close(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// The next game that nobody has played; `None` when there is none.
    fn take(&self) -> Option<u64> {
        let mut board = lock(&self.board);
        let number = board.tally.missing(board.next)?;
        board.next = number + 1;
        Some(number)
    }

    /// Counts a game that has ended and tells of it.
    fn finish(&self, game: MatchGame) {
        let mut board = lock(&self.board);
        let Board { tally, hearers, .. } = &mut *board;
        tally.count(&game);
        if tally.is_decided() {
            self.close();
        }
        (hearers.record)(game);
        (hearers.progress)(&tally.result);
    }

    /// Counts positions evaluated in one batch.
    fn count_batch(&self, rows: u64) {
        let result = &mut lock(&self.board).tally.result;
        result.evaluations += rows;
        result.batches += 1;
    }
}

/// A place where one game after another is played.
struct Seat {
    game: Option<Game>,
    /// The trees of A and B, for networks.
    searches: [Option<Search>; 2],
}

impl Seat {
    fn advance(&mut self, play: Play) {
        self.searches.iter_mut().flatten().for_each(|search| search.advance(play));
    }
}

/// One thread of a match: its contestants and the games that it plays side by side.
pub(super) struct Hall<'a, 'f> {
    floor: &'a Floor<'f>,
    contestants: &'a mut [Contestant; 2],
    batches: [Batch; 2],
    given: Given,
    found: SearchResult,
}

impl<'a, 'f> Hall<'a, 'f> {
    /// A hall for a pair of contestants of its own.
    pub(super) fn new(floor: &'a Floor<'f>, contestants: &'a mut [Contestant; 2]) -> Hall<'a, 'f> {
        Hall {
            floor,
            contestants,
            batches: [Batch::default(), Batch::default()],
            given: Given::default(),
            found: SearchResult::default(),
        }
    }

    /// Plays until no game is left to begin and all that were begun here are over, or the match is. `halls` play at once.
    pub(super) fn run(mut self, halls: usize) -> Result<(), MatchError> {
        let config = self.floor.config;
        let networks = self.contestants.iter().any(|c| matches!(c, Contestant::Network { .. }));
        let side_by_side = networks && self.contestants.iter().all(Contestant::is_interleaved);
        let share = config.concurrent.div_ceil(halls as u32).min(config.games);
        let seats = if side_by_side { share } else { 1 };
        let mut seats: Vec<Seat> = (0..seats)
            .map(|_| Seat {
                game: None,
                searches: [0, 1].map(|side| self.contestants[side].new_search(config.max_plays)),
            })
            .collect();
        loop {
            for (index, seat) in seats.iter_mut().enumerate() {
                self.play_on(seat, index)?;
            }
            if self.floor.is_over() || !self.evaluate(&mut seats)? {
                return Ok(());
            }
        }
    }

    /// Evaluates what the seats wait for; `false` where none waits.
    fn evaluate(&mut self, seats: &mut [Seat]) -> Result<bool, MatchError> {
        let mut any = false;
        for (side, (contestant, batch)) in
            self.contestants.iter_mut().zip(&mut self.batches).enumerate()
        {
            let Contestant::Network { network, .. } = contestant else { continue };
            let rows = batch.owners().len();
            if rows == 0 {
                continue;
            }
            let watch = Stopwatch::start();
            batch.evaluate(&mut *network.evaluator).map_err(|error| MatchError::Player {
                name: network.name.clone(),
                error: PlayerError::Evaluation(error),
            })?;
            let seconds = watch.seconds() / rows as f64;
            batch.deliver(|seat, evaluation| {
                let Seat { game, searches } = &mut seats[seat];
                searches[side].iter_mut().for_each(|search| search.absorb(evaluation));
                game.iter_mut().for_each(|game| game.costs[side].seconds += seconds);
            });
            self.floor.count_batch(rows as u64);
            any = true;
        }
        Ok(any)
    }

    /// Plays a seat's games until a network's evaluation is wanted or no game is left.
    fn play_on(&mut self, seat: &mut Seat, index: usize) -> Result<(), MatchError> {
        let config = self.floor.config;
        while !self.floor.is_over() {
            let Some(game) = &mut seat.game else {
                let Some(game) = self.begin()? else { return Ok(()) };
                seat.game = Some(game);
                seat.searches.iter_mut().flatten().for_each(Search::clear);
                continue;
            };
            if game.is_over(config.max_plays) {
                if let Some(game) = seat.game.take() {
                    self.floor.finish(game.finish(config));
                }
            } else if let Some(side) = game.searching {
                let (Some(search), Contestant::Network { network, .. }) =
                    (&mut seat.searches[side], &self.contestants[side])
                else {
                    game.searching = None;
                    continue;
                };
                let watch = Stopwatch::start();
                let step = search.step(self.batches[side].room());
                game.costs[side].seconds += watch.seconds();
                if step == Step::Evaluate {
                    self.batches[side].push(index);
                    return Ok(());
                }
                search.result(&mut self.found);
                let play = self.found.play;
                game.costs[side].decisions += 1;
                game.costs[side].nodes += u64::from(self.found.simulations);
                // A match's policies are no training targets: they are recorded as fast ones.
                game.push(Made::searched(play, &self.found, false, network.checkpoint));
                game.searching = None;
                seat.advance(play);
            } else if let Some(play) = self.given(game) {
                game.push(Made::unsearched(play));
                seat.advance(play);
            } else {
                let side = game.contestant(game.position.decider().unwrap_or(Color::White));
                if let Some(play) = self.decide(game, &mut seat.searches[side], side)? {
                    seat.advance(play);
                }
            }
        }
        Ok(())
    }

    /// The next game after its opening; `None` when no game is left or the match is stopped.
    fn begin(&mut self) -> Result<Option<Game>, MatchError> {
        let floor = self.floor;
        let Some(number) = floor.take() else { return Ok(None) };
        let frame = floor.config.opening_frame();
        let opening = lock(floor.book).opening(frame, number / 2, &|| floor.is_over());
        let Some(opening) = opening.map_err(MatchError::Judge)? else { return Ok(None) };
        for contestant in &mut *self.contestants {
            if let Contestant::Player { player, interleaved: false, .. } = contestant {
                player.new_game();
            }
        }
        Ok(Some(Game::new(floor.config, number, &opening)))
    }

    /// Begins a network's search, or asks a player and makes its play, which is returned.
    fn decide(
        &mut self,
        game: &mut Game,
        search: &mut Option<Search>,
        side: usize,
    ) -> Result<Option<Play>, MatchError> {
        let config = self.floor.config;
        let (key, ply) = (game.key(config.seed), game.plays.len() as u32);
        let (player, limit, checkpoint) = match (&mut self.contestants[side], search) {
            (Contestant::Network { network, simulations }, Some(search)) => {
                let budget = play_budget(&network.search, *simulations);
                search.begin(&game.position, ply, budget, key.stream(ply, Purpose::Noise));
                game.searching = Some(side);
                return Ok(None);
            }
            (Contestant::Player { player, limit, checkpoint, .. }, _) => {
                (player, *limit, *checkpoint)
            }
            (Contestant::Network { network, .. }, None) => {
                game.forfeit(side, &network.name, "it has no search");
                return Ok(None);
            }
        };
        let state = GameState {
            position: &game.position,
            plays: &game.plays,
            max_plays: config.max_plays,
            key,
        };
        let watch = Stopwatch::start();
        let chosen = ask(&mut **player, &state, limit, self.floor);
        let seconds = watch.seconds();
        if self.floor.is_over() {
            // Whoever was stopped has not chosen.
            return Ok(None);
        }
        let cost = &mut game.costs[side];
        cost.decisions += 1;
        cost.seconds += seconds;
        if let Some(time) = limit.time {
            cost.worst_overshoot = cost.worst_overshoot.max(seconds - time.as_secs_f64());
        }
        let choice = match chosen {
            Ok(choice) if game.position.is_legal(choice.play) => choice,
            Ok(choice) => {
                let play = choice.play;
                game.forfeit(side, &player.name(), &format!("'{play}' is not legal here"));
                return Ok(None);
            }
            Err(error @ PlayerError::Evaluation(_)) => {
                return Err(MatchError::Player { name: player.name(), error });
            }
            Err(error) => {
                game.forfeit(side, &player.name(), &error.to_string());
                return Ok(None);
            }
        };
        cost.nodes += match (&choice.thought, &choice.search) {
            (Some(thought), _) => thought.nodes,
            (None, Some(found)) => u64::from(found.simulations),
            (None, None) => 0,
        };
        let made = match &choice.search {
            Some(found) => Made::searched(choice.play, found, false, checkpoint),
            None => Made::unsearched(choice.play),
        };
        game.push(made);
        Ok(Some(choice.play))
    }

    /// A play that nobody chooses: a side game's outcome, or a single play.
    fn given(&mut self, game: &Game) -> Option<Play> {
        let key = game.key(self.floor.config.seed);
        self.given.play(&game.position, key, game.plays.len() as u32)
    }
}
