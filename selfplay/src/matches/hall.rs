//! The games of a match under way.

use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Color, Play, Position};

use super::{MatchConfig, MatchError, MatchResult};
use crate::budget::Budget;
use crate::contestant::{Batch, Contestant};
use crate::network::play_budget;
use crate::player::GameState;
use crate::random::{Purpose, RandomKey, weighted};
use crate::record::{searched, unsearched};
use crate::search::{Search, SearchResult, Step};

/// A place where one game after another is played.
pub(super) struct Seat {
    game: Option<Game>,
    /// The trees of A and B, for networks.
    pub(super) searches: [Option<Search>; 2],
}

struct Game {
    number: u64,
    position: Position,
    plays: Vec<Play>,
    recorded: Vec<RecordedPlay>,
    /// The contestant whose search is running.
    searching: Option<usize>,
}

impl Game {
    fn key(&self, seed: u64) -> RandomKey {
        RandomKey { seed, game: self.number }
    }

    /// A is White in the first game of each pair.
    fn contestant(&self, color: Color) -> usize {
        (color.index() + self.number as usize) % 2
    }

    fn push(&mut self, play: Play, recorded: RecordedPlay) {
        self.position.play(play);
        self.plays.push(play);
        self.recorded.push(recorded);
    }
}

/// The games of a running match.
pub(super) struct Hall<'a> {
    config: &'a MatchConfig,
    openings: &'a [Vec<Play>],
    next: u64,
    /// A's half points of the games that are over.
    points: Vec<Option<u8>>,
    pub(super) result: MatchResult,
    actions: Vec<Play>,
    outcomes: Vec<(Play, f64)>,
    found: SearchResult,
}

impl Seat {
    /// A seat with a search for each network.
    pub(super) fn new(contestants: &[Contestant; 2], max_plays: u32) -> Seat {
        let search = |side: usize| contestants[side].new_search(max_plays);
        Seat { game: None, searches: [search(0), search(1)] }
    }
}

impl<'a> Hall<'a> {
    /// A hall without a game.
    pub(super) fn new(
        config: &'a MatchConfig,
        openings: &'a [Vec<Play>],
        result: MatchResult,
    ) -> Hall<'a> {
        Hall {
            config,
            openings,
            next: 0,
            points: vec![None; config.games as usize],
            result,
            actions: Vec::new(),
            outcomes: Vec::new(),
            found: SearchResult::default(),
        }
    }

    /// Plays a seat's games until a network's evaluation is wanted or no game is left.
    pub(super) fn play_on(
        &mut self,
        seat: &mut Seat,
        index: usize,
        contestants: &mut [Contestant; 2],
        batches: &mut [Batch; 2],
        progress: &mut dyn FnMut(&MatchResult),
        record: &mut dyn FnMut(GameRecord),
    ) -> Result<(), MatchError> {
        loop {
            let Some(game) = &mut seat.game else {
                if self.next == u64::from(self.config.games) {
                    return Ok(());
                }
                seat.game = Some(self.start());
                seat.searches.iter_mut().flatten().for_each(Search::clear);
                continue;
            };
            if let Some(side) = game.searching {
                let (Some(search), Contestant::Network { network, .. }) =
                    (&mut seat.searches[side], &contestants[side])
                else {
                    game.searching = None;
                    continue;
                };
                if search.step(batches[side].room()) == Step::Evaluate {
                    batches[side].push(index);
                    return Ok(());
                }
                search.result(&mut self.found);
                let play = self.found.play;
                // A match's policies are no training targets: they are recorded as fast ones.
                game.push(play, searched(play, &self.found, false, network.checkpoint));
                game.searching = None;
                seat.searches.iter_mut().flatten().for_each(|search| search.advance(play));
            } else if game.position.is_over() || game.plays.len() >= self.config.max_plays as usize
            {
                record(self.finish(game));
                progress(&self.result);
                seat.game = None;
            } else if let Some(play) = self.given(game) {
                game.push(play, unsearched(play));
                seat.searches.iter_mut().flatten().for_each(|search| search.advance(play));
            } else {
                let side = game.contestant(game.position.decider().unwrap_or(Color::White));
                let key = game.key(self.config.seed);
                match (&mut contestants[side], &mut seat.searches[side]) {
                    (Contestant::Network { network, simulations }, Some(search)) => {
                        let ply = game.plays.len() as u32;
                        let noise = key.stream(ply, Purpose::Noise);
                        search.begin(
                            &game.position,
                            ply,
                            play_budget(&network.search, *simulations),
                            noise,
                        );
                        game.searching = Some(side);
                    }
                    (Contestant::Player { player, simulations }, _) => {
                        let state = GameState {
                            position: &game.position,
                            plays: &game.plays,
                            max_plays: self.config.max_plays,
                            key,
                        };
                        let choice = player
                            .choose(&state, &Budget::nodes(*simulations))
                            .map_err(|error| MatchError::Player { name: player.name(), error })?;
                        let recorded = match &choice.search {
                            Some(found) => searched(choice.play, found, false, 0),
                            None => unsearched(choice.play),
                        };
                        game.push(choice.play, recorded);
                        seat.searches
                            .iter_mut()
                            .flatten()
                            .for_each(|search| search.advance(choice.play));
                    }
                    // Every network's seat has its search.
                    (Contestant::Network { .. }, None) => return Ok(()),
                }
            }
        }
    }

    fn start(&mut self) -> Game {
        let number = self.next;
        self.next += 1;
        let mut game = Game {
            number,
            position: self.config.rules.start(),
            plays: Vec::new(),
            recorded: Vec::new(),
            searching: None,
        };
        for &play in &self.openings[number as usize / 2] {
            game.push(play, unsearched(play));
        }
        game
    }

    /// A play that nobody chooses: a side game's outcome, or a single play.
    fn given(&mut self, game: &Game) -> Option<Play> {
        if game.position.is_chance() {
            game.position.outcomes(&mut self.outcomes);
            let mut rng =
                game.key(self.config.seed).stream(game.plays.len() as u32, Purpose::Outcome);
            let drawn =
                weighted(&mut rng, self.outcomes.iter().map(|&(_, probability)| probability));
            return self.outcomes.get(drawn).map(|&(play, _)| play);
        }
        game.position.actions(&mut self.actions);
        if let [only] = self.actions[..] { Some(only) } else { None }
    }

    fn finish(&mut self, game: &mut Game) -> GameRecord {
        let result = &mut self.result;
        result.games += 1;
        result.plays += game.plays.len() as u64;
        let a_half_points = match game.position.winner() {
            None => {
                result.unfinished += 1;
                1
            }
            Some(color) => {
                let a_won = game.contestant(color) == 0;
                let wins = if a_won { &mut result.a_wins } else { &mut result.b_wins };
                wins[color.index()] += 1;
                if a_won { 2 } else { 0 }
            }
        };
        let number = game.number as usize;
        self.points[number] = Some(a_half_points);
        if let Some(other) = self.points[number ^ 1] {
            result.pairs.add(usize::from(a_half_points + other));
        }
        GameRecord {
            format: RECORD_FORMAT.to_owned(),
            id: GameId {
                run: self.config.run.clone(),
                worker: self.config.worker.clone(),
                seq: game.number,
            },
            rules: self.config.rules.to_string(),
            start: None,
            max_plays: self.config.max_plays,
            seed: self.config.seed,
            result: GameResult::of(&game.position),
            forfeit: None,
            plays: std::mem::take(&mut game.recorded),
        }
    }
}
