//! Matches whose games go wrong, are taken up again, are tested or are played on several threads.
#![cfg(feature = "threads")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::sorted;
use gipf_core::record::{GameRecord, GameResult};
use gipf_core::{Play, Rules};
use gipf_model::fake::FakeEvaluator;
use gipf_selfplay::{
    Budget, BuiltIn, Choice, Contestant, Decision, GameState, Limit, Match, MatchConfig,
    MatchError, MatchGame, MatchResult, Method, Network, Player, PlayerError, SearchConfig, Sprt,
};

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

fn built_in(text: &str) -> Contestant {
    Contestant::built_in(text.parse().unwrap(), Limit::nodes(20))
}

fn network(seed: u64) -> Contestant {
    let network = Network {
        name: format!("net-{seed}"),
        evaluator: Box::new(FakeEvaluator::new(seed)) as _,
        search: SearchConfig { method: Method::Gumbel, ..SearchConfig::default() },
        checkpoint: seed,
    };
    Contestant::network(network, Limit::nodes(12)).unwrap()
}

fn run(contest: &mut Match) -> (MatchResult, Vec<MatchGame>) {
    let mut games = Vec::new();
    let result = contest.run(&|| false, &mut |_| {}, &mut |game| games.push(game)).unwrap();
    (result, games)
}

fn records(games: Vec<MatchGame>) -> Vec<GameRecord> {
    sorted(games.into_iter().map(|game| game.record).collect())
}

#[test]
fn threads_play_the_games_that_one_thread_plays() {
    type Pair = fn() -> [Contestant; 2];
    let pairs: [Pair; 3] = [
        || [network(1), network(2)],
        || [network(1), built_in("mcts")],
        || [built_in("alphabeta:2"), built_in("greedy")],
    ];
    for pair in pairs {
        let play = |threads| {
            let config =
                MatchConfig { games: 12, max_plays: 60, ..MatchConfig::new(rules("basic"), 4) };
            let pairs = (0..threads).map(|_| pair()).collect();
            let (result, games) = run(&mut Match::new(config, pairs, None).unwrap());
            (result.pairs, result.plays, records(games))
        };
        assert_eq!(play(1), play(3));
    }
}

/// Plays as greedy does, but goes wrong at its tenth play of some games.
struct Wrong {
    greedy: Box<dyn Player>,
}

impl Player for Wrong {
    fn name(&self) -> String {
        "wrong\nname".to_owned()
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        if game.ply() >= 20 {
            match game.key.game % 5 {
                1 => return Err(PlayerError::Forfeit("it hung".to_owned())),
                2 => return Ok(Choice::unsearched("xe5".parse().unwrap())),
                3 => return Err(PlayerError::NoChoice("lost its board".to_owned())),
                _ => {}
            }
        }
        self.greedy.choose(game, budget)
    }
}

#[test]
fn a_player_that_goes_wrong_loses_those_games_only() {
    let play = |threads| {
        let wrong = || {
            let greedy = BuiltIn::Greedy.player();
            [Contestant::player(Box::new(Wrong { greedy }), Limit::nodes(1)), built_in("greedy")]
        };
        let config = MatchConfig { games: 30, ..MatchConfig::new(rules("standard"), 8) };
        let pairs = (0..threads).map(|_| wrong()).collect();
        let (result, games) = run(&mut Match::new(config, pairs, None).unwrap());
        (result, records(games))
    };
    let (result, games) = play(1);
    assert_eq!(result.games, 30);
    let mut forfeits = 0;
    for game in &games {
        let replayed = game.replay().unwrap();
        let (number, last) = (game.id.seq, replayed.positions.last().unwrap());
        let Some(reason) = &game.forfeit else {
            assert!(![1, 2, 3].contains(&(number % 5)) || game.plays.len() <= 21, "game {number}");
            assert_eq!(game.result, GameResult::of(last));
            continue;
        };
        forfeits += 1;
        let words =
            ["it hung", "'xe5' is not legal here", "no play to choose here: lost its board"];
        assert!(
            reason.starts_with("wrong name: ") && reason.contains(words[number as usize % 5 - 1])
        );
        // A, the wrong one, is White in even games.
        let winner = if number % 2 == 0 { GameResult::Black } else { GameResult::White };
        assert_eq!(game.result, winner);
    }
    assert!(forfeits >= 15, "{forfeits} games were to go wrong");
    let [a, b] = &result.sides;
    assert_eq!((a.forfeits, b.forfeits), (forfeits, 0));
    assert!(a.last_forfeit.as_ref().is_some_and(|reason| reason.starts_with("wrong name: ")));
    assert_eq!(result.a_total() + result.b_total() + result.unfinished, 30);
    assert_eq!(play(3).1, games);
}

/// An evaluator's failure is no game's fault: the match ends.
#[test]
fn a_failing_evaluator_ends_the_match() {
    struct Failing;
    impl Player for Failing {
        fn name(&self) -> String {
            "failing".to_owned()
        }
        fn choose(&mut self, _: &GameState<'_>, _: &Budget<'_>) -> Result<Choice, PlayerError> {
            let name = "failing".to_owned();
            Err(gipf_model::EvalError::Backend { name, message: "gone".to_owned() }.into())
        }
    }
    let pair = || [built_in("random"), Contestant::player(Box::new(Failing), Limit::default())];
    let config = MatchConfig { games: 40, ..MatchConfig::new(rules("basic"), 8) };
    let mut contest = Match::new(config, vec![pair(), pair()], None).unwrap();
    let error = contest.run(&|| false, &mut |_| {}, &mut |_| {}).unwrap_err();
    assert!(matches!(error, MatchError::Player { name, .. } if name == "failing"));
}

#[test]
fn a_match_that_is_taken_up_again_plays_the_missing_games() {
    let fresh = |sprt| {
        let config =
            MatchConfig { games: 24, max_plays: 80, sprt, ..MatchConfig::new(rules("basic"), 6) };
        Match::new(config, vec![[network(3), built_in("random")]], None).unwrap()
    };
    let (whole, games) = run(&mut fresh(None));
    let all: BTreeMap<u64, MatchGame> =
        games.into_iter().map(|game| (game.record.id.seq, game)).collect();
    // Any subset may be there: here the games whose numbers have these bits.
    for known in [0b1u64, 0b1010_0110_1100, 0xff_ffff, 0x80_0000, 0x0f_0f0f] {
        let mut contest = fresh(None);
        let held = |number: &u64| known >> number & 1 == 1;
        for game in all.values().filter(|game| held(&game.record.id.seq)) {
            contest.take_up(game).unwrap();
        }
        let (result, played) = run(&mut contest);
        let numbers: Vec<u64> = {
            let mut numbers: Vec<_> = played.iter().map(|game| game.record.id.seq).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(numbers, (0..24).filter(|number| !held(number)).collect::<Vec<_>>());
        for game in played {
            assert_eq!(game.record, all[&game.record.id.seq].record);
        }
        assert_eq!(
            (result.games, result.a_wins, result.b_wins, result.pairs, result.plays),
            (24, whole.a_wins, whole.b_wins, whole.pairs, whole.plays)
        );
        assert_eq!(result.sides[0].cost.decisions, whole.sides[0].cost.decisions);
    }
    // A stopped match goes on by itself, too.
    let (mut contest, done) = (fresh(None), AtomicU64::new(0));
    let stopped = contest
        .run(
            &|| done.load(Ordering::Relaxed) >= 7,
            &mut |result| done.store(result.games, Ordering::Relaxed),
            &mut |_| {},
        )
        .unwrap();
    assert!(stopped.stopped && stopped.games >= 7 && stopped.games < 24);
    let (result, _) = run(&mut contest);
    assert!(!result.stopped && result.pairs == whole.pairs && result.games == 24);
}

#[test]
fn games_of_another_match_are_not_taken_up() {
    let config = MatchConfig { games: 4, ..MatchConfig::new(rules("basic"), 6) };
    let fresh = || {
        Match::new(config.clone(), vec![[built_in("random"), built_in("random")]], None).unwrap()
    };
    let (_, games) = run(&mut fresh());
    let refused = |change: fn(&mut GameRecord)| {
        let mut game = games[0].clone();
        change(&mut game.record);
        let mut contest = fresh();
        contest.take_up(&games[1]).unwrap();
        contest.take_up(&game).unwrap_err().to_string()
    };
    assert!(refused(|record| record.seed = 7).contains("seed 7"));
    assert!(refused(|record| record.rules = "standard".to_owned()).contains("standard"));
    assert!(refused(|record| record.max_plays = 9).contains("limit of 9"));
    assert_eq!(
        refused(|record| record.id.seq = 4),
        "game 4 is beyond the match's 4 games, of which the first is game 0"
    );
    assert_eq!(refused(|record| record.id.seq = 1), "game 1 stands twice");
}

/// The decision depends on neither the threads nor on where the match was interrupted.
#[test]
fn a_test_ends_the_match_at_the_same_pair_whatever_the_threads() {
    let sprt = Some(Sprt { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 });
    let fresh = |threads| {
        let config = MatchConfig { games: 1000, sprt, ..MatchConfig::new(rules("standard"), 3) };
        let pair = |_| [built_in("greedy"), built_in("random")];
        Match::new(config, (0..threads).map(pair).collect(), None).unwrap()
    };
    let (one, games) = run(&mut fresh(1));
    let test = one.sprt.unwrap();
    assert_eq!(test.decision, Some(Decision::Accept1));
    assert!(!one.stopped && one.games < 200 && test.llr >= test.upper, "{test:?}");
    let (three, _) = run(&mut fresh(3));
    assert_eq!(three.sprt, one.sprt);
    let mut again = fresh(2);
    games[..games.len() / 2].iter().for_each(|game| again.take_up(game).unwrap());
    assert_eq!(run(&mut again).0.sprt, one.sprt);
    // Decided is decided: nothing more is played.
    let mut whole = fresh(2);
    games.iter().for_each(|game| whole.take_up(game).unwrap());
    let (result, played) = run(&mut whole);
    assert!(played.is_empty() && result.sprt == one.sprt && !result.stopped);
}

/// Thinks exactly as long as it may, which nobody else's work can change: it waits for the clock.
struct Waiting;

impl Player for Waiting {
    fn name(&self) -> String {
        "waiting".to_owned()
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        while !budget.is_over() {
            std::thread::sleep(Duration::from_micros(100));
        }
        let mut actions: Vec<Play> = Vec::new();
        game.position.actions(&mut actions);
        Ok(Choice::unsearched(actions[0]))
    }
}

#[test]
fn time_is_counted_for_each_side() {
    let limit = Limit::time(Duration::from_millis(2));
    let config = MatchConfig { games: 2, max_plays: 40, ..MatchConfig::new(rules("basic"), 3) };
    let pair = [Contestant::player(Box::new(Waiting), limit), built_in("random")];
    let (result, games) = run(&mut Match::new(config, vec![pair], None).unwrap());
    let [waiting, random] = &result.sides;
    assert!(waiting.cost.decisions > 20);
    assert!(waiting.cost.seconds >= 0.002 * waiting.cost.decisions as f64);
    assert!(waiting.cost.worst_overshoot > 0.0 && random.cost.worst_overshoot == 0.0);
    assert!(random.cost.seconds < waiting.cost.seconds);
    let sum: f64 = games.iter().map(|game| game.costs[0].seconds).sum();
    assert!((sum - waiting.cost.seconds).abs() < 1e-9);
}
