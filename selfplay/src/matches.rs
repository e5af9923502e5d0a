//! Matches: two players, each opening played twice with the colours swapped, many games at once.

use gipf_core::record::{GameId, GameRecord, GameResult, RECORD_FORMAT, RecordedPlay};
use gipf_core::{Color, DEFAULT_MAX_PLAYS, Play, Position, Rules};
use gipf_model::EvalError;
use serde::Serialize;

use crate::config::ConfigError;
use crate::contestant::{Batch, Contestant};
use crate::elo::{Elo, PairCounts};
use crate::network::play_budget;
use crate::openings::{Judge, OpeningRule, draw};
use crate::player::{Budget, GameState, PlayerError};
use crate::random::{Purpose, RandomKey, weighted};
use crate::record::{searched, unsearched};
use crate::search::{Search, SearchResult, Step};
use crate::spec::{SpecError, searchable};

/// How a match is played.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The rules of every game.
    pub rules: Rules,
    /// Games, an even number of 2 or more: two for each opening.
    pub games: u32,
    /// A game that reaches this many plays is unfinished: half a point. 1 or more.
    pub max_plays: u32,
    /// Everything random follows from it.
    pub seed: u64,
    /// Games under way at once, 1 or more: the largest batch of a network.
    pub concurrent: u32,
    /// The openings.
    pub opening: OpeningRule,
    /// The run's name in the games' records.
    pub run: String,
    /// The worker's nonce in the games' records: 32 hexadecimal digits.
    pub worker: String,
}

impl MatchConfig {
    /// 200 games, 64 at once, with the usual openings.
    pub fn new(rules: Rules, seed: u64) -> MatchConfig {
        MatchConfig {
            rules,
            games: 200,
            max_plays: DEFAULT_MAX_PLAYS,
            seed,
            concurrent: 64,
            opening: OpeningRule::default(),
            run: "match".to_owned(),
            worker: format!("{seed:032x}"),
        }
    }
}

/// Why a match cannot be played (on).
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// A number out of range.
    #[error("{0}")]
    Config(String),
    /// A network's search config.
    #[error("{name}: {error}")]
    Search {
        /// The contestant.
        name: String,
        /// What is wrong with its config.
        error: ConfigError,
    },
    /// Rules that cannot be searched.
    #[error(transparent)]
    Rules(#[from] SpecError),
    /// A player failed.
    #[error("{name}: {error}")]
    Player {
        /// The contestant.
        name: String,
        /// Why.
        error: PlayerError,
    },
    /// The judge of the openings failed.
    #[error("judging the openings: {0}")]
    Judge(EvalError),
}

/// What came of a match, or of its games so far. A and B are the contestants in the order given.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// A's name.
    pub a: String,
    /// B's name.
    pub b: String,
    /// Games played to their ends.
    pub games: u64,
    /// Won by A as White, and as Black.
    pub a_wins: [u64; 2],
    /// Won by B as White, and as Black.
    pub b_wins: [u64; 2],
    /// Stopped at the limit of plays.
    pub unfinished: u64,
    /// Pairs of which both games are over, by A's points.
    pub pairs: PairCounts,
    /// Plays of all games, openings included.
    pub plays: u64,
    /// Positions evaluated by networks.
    pub evaluations: u64,
    /// Batches they came in.
    pub batches: u64,
    /// The match was stopped before its last game.
    pub stopped: bool,
}

impl MatchResult {
    /// A's wins with either colour.
    pub fn a_total(&self) -> u64 {
        self.a_wins.iter().sum()
    }

    /// B's wins with either colour.
    pub fn b_total(&self) -> u64 {
        self.b_wins.iter().sum()
    }

    /// A's share of the points, 0 to 1, over all games that are over; 1/2 without a game.
    pub fn score(&self) -> f64 {
        share(self.a_total(), self.unfinished, self.games)
    }

    /// White's share of the points, 0 to 1; 1/2 without a game.
    pub fn white_share(&self) -> f64 {
        share(self.a_wins[0] + self.b_wins[0], self.unfinished, self.games)
    }

    /// A's lead over B in Elo with its 95% interval, from the finished pairs.
    pub fn elo(&self) -> Elo {
        self.pairs.elo()
    }

    /// Plays per game; 0 without a game.
    pub fn mean_length(&self) -> f64 {
        self.plays as f64 / self.games.max(1) as f64
    }
}

fn share(wins: u64, unfinished: u64, games: u64) -> f64 {
    if games == 0 { 0.5 } else { (wins as f64 + 0.5 * unfinished as f64) / games as f64 }
}

/// Two contestants about to meet.
pub struct Match {
    config: MatchConfig,
    /// A and B.
    contestants: [Contestant; 2],
    judge: Option<Judge>,
}

/// A place where one game after another is played.
struct Seat {
    game: Option<Game>,
    /// The trees of A and B, for networks.
    searches: [Option<Search>; 2],
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
struct Hall<'a> {
    config: &'a MatchConfig,
    openings: &'a [Vec<Play>],
    next: u64,
    /// A's half points of the games that are over.
    points: Vec<Option<u8>>,
    result: MatchResult,
    actions: Vec<Play>,
    outcomes: Vec<(Play, f64)>,
    found: SearchResult,
}

impl Match {
    /// Checks the config. With a judge only openings that it calls fair are played.
    pub fn new(
        config: MatchConfig,
        a: Contestant,
        b: Contestant,
        judge: Option<Judge>,
    ) -> Result<Match, MatchError> {
        let rule = &config.opening;
        let complaint = if config.games == 0 || config.games % 2 == 1 {
            Some(format!("games is {}: it must be even and 2 or more", config.games))
        } else if config.concurrent == 0 {
            Some("concurrent is 0: it must be 1 or more".to_owned())
        } else if config.max_plays <= rule.plays {
            Some(format!(
                "max_plays is {}: it must be more than the opening's {} plays",
                config.max_plays, rule.plays
            ))
        } else if !(0.0 <= rule.low && rule.low <= rule.high && rule.high <= 1.0) {
            Some(format!(
                "a fair opening is {} to {}: it must be a range within 0 to 1",
                rule.low, rule.high
            ))
        } else {
            None
        };
        if let Some(complaint) = complaint {
            return Err(MatchError::Config(complaint));
        }
        searchable(config.rules)?;
        for contestant in [&a, &b] {
            contestant
                .validate()
                .map_err(|error| MatchError::Search { name: contestant.name(), error })?;
        }
        if let Some(judge) = &judge {
            judge
                .search
                .validate()
                .map_err(|error| MatchError::Search { name: judge.name.clone(), error })?;
        }
        Ok(Match { config, contestants: [a, b], judge })
    }

    /// Plays the match. `stop` is asked before each round of evaluations; `progress` hears of the state after each game
    /// and `record` gets each game. The games, but for the order in which they end, depend on the seed and the players only.
    pub fn run(
        &mut self,
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(&MatchResult),
        record: &mut dyn FnMut(GameRecord),
    ) -> Result<MatchResult, MatchError> {
        let config = &self.config;
        let mut result = MatchResult {
            a: self.contestants[0].name(),
            b: self.contestants[1].name(),
            ..MatchResult::default()
        };
        let pairs = u64::from(config.games / 2);
        let judge = self.judge.as_mut();
        let drawn =
            draw(&config.opening, &config.rules, config.max_plays, config.seed, pairs, judge, stop);
        let Some(openings) = drawn.map_err(MatchError::Judge)? else {
            result.stopped = true;
            return Ok(result);
        };
        let mut hall = Hall {
            config,
            openings: &openings,
            next: 0,
            points: vec![None; config.games as usize],
            result,
            actions: Vec::new(),
            outcomes: Vec::new(),
            found: SearchResult::default(),
        };
        let contestants = &mut self.contestants;
        let mut seats: Vec<Seat> = (0..config.concurrent.min(config.games))
            .map(|_| Seat {
                game: None,
                searches: [0, 1].map(|side| contestants[side].new_search(config.max_plays)),
            })
            .collect();
        let mut batches = [Batch::default(), Batch::default()];
        loop {
            if stop() {
                hall.result.stopped = true;
                return Ok(hall.result);
            }
            for (index, seat) in seats.iter_mut().enumerate() {
                hall.play_on(seat, index, contestants, &mut batches, progress, record)?;
            }
            let mut rows = 0;
            for (side, (contestant, batch)) in contestants.iter_mut().zip(&mut batches).enumerate()
            {
                let Contestant::Network { network, .. } = contestant else { continue };
                let deliver = |seat: usize, evaluation: &_| {
                    seats[seat].searches[side]
                        .iter_mut()
                        .for_each(|search| search.absorb(evaluation));
                };
                let count = batch.evaluate(&mut *network.evaluator, deliver).map_err(|error| {
                    MatchError::Player {
                        name: network.name.clone(),
                        error: PlayerError::Evaluation(error),
                    }
                })?;
                rows += count;
                hall.result.batches += u64::from(count > 0);
            }
            hall.result.evaluations += rows;
            if rows == 0 {
                return Ok(hall.result);
            }
        }
    }
}

impl Hall<'_> {
    /// Plays a seat's games until a network's evaluation is wanted or no game is left.
    fn play_on(
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
                            .choose(&state, &Budget::simulations(*simulations))
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
            plays: std::mem::take(&mut game.recorded),
        }
    }
}
