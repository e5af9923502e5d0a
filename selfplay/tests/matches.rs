//! Players against each other.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::sorted;
use gipf_core::Rules;
use gipf_core::record::{GameRecord, GameResult};
use gipf_model::fake::FakeEvaluator;
use gipf_model::{Evaluator, Features};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gipf_selfplay::{
    Budget, BuiltIn, Clock, Contestant, GameState, Judge, Limit, Match, MatchConfig, MatchError,
    MatchResult, Method, Network, NetworkPlayer, OpeningRule, Player, Purpose, RandomKey, Search,
    SearchBudget, SearchConfig, SearchResult, Step,
};

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

fn built_in(player: BuiltIn) -> Contestant {
    Contestant::built_in(player, Limit::nodes(1))
}

fn network(seed: u64, method: Method) -> Network<Box<dyn Evaluator>> {
    let search = SearchConfig { method, ..SearchConfig::default() };
    Network {
        name: format!("net-{seed}"),
        evaluator: Box::new(FakeEvaluator::new(seed)),
        search,
        checkpoint: seed,
    }
}

fn contestant(seed: u64) -> Contestant {
    Contestant::network(network(seed, Method::Gumbel), Limit::nodes(16)).unwrap()
}

fn play(
    config: MatchConfig,
    a: Contestant,
    b: Contestant,
    judge: Option<Judge>,
) -> (MatchResult, Vec<GameRecord>) {
    let mut records = Vec::new();
    let mut heard = 0;
    let games = config.games;
    let mut contest = Match::new(config, vec![[a, b]], judge).unwrap();
    let result =
        contest.run(&|| false, &mut |_| heard += 1, &mut |game| records.push(game.record)).unwrap();
    assert_eq!((heard, result.games), (games, u64::from(games)));
    (result, sorted(records))
}

/// What depends on the games only, not on the time or on how they were batched.
fn counts(result: &MatchResult) -> impl PartialEq + std::fmt::Debug {
    let sides =
        result.sides.clone().map(|side| (side.forfeits, side.cost.decisions, side.cost.nodes));
    let MatchResult { games, a_wins, b_wins, unfinished, pairs, plays, sprt, .. } = result.clone();
    (games, a_wins, b_wins, unfinished, pairs, plays, sides, sprt)
}

#[test]
fn greedy_beats_random_in_every_variant() {
    for (text, least) in [
        ("standard", 0.9),
        ("basic", 0.9),
        ("tournament", 0.9),
        ("standard+T4Z4D4", 0.8),
        ("ultimate", 0.8),
        ("standard+D4P4;punct=convert", 0.8),
        ("tournament+Z6;challenge=rps", 0.8),
    ] {
        let config = MatchConfig { games: 100, ..MatchConfig::new(rules(text), 5) };
        let (result, _) = play(config, built_in(BuiltIn::Greedy), built_in(BuiltIn::Random), None);
        assert!(result.score() >= least, "{text}: {:.3} ({result:?})", result.score());
        assert!(result.unfinished <= 5, "{text}: {} unfinished", result.unfinished);
    }
}

/// 600 games between equals: the exact binomial 99.99% interval of a fair coin is 252 to 348.
#[test]
fn equal_players_share_the_points() {
    let config = MatchConfig { games: 600, ..MatchConfig::new(rules("standard"), 3) };
    let (result, _) = play(config, built_in(BuiltIn::Random), built_in(BuiltIn::Random), None);
    let a = result.a_total() as f64 + 0.5 * result.unfinished as f64;
    assert!((252.0..=348.0).contains(&a), "{result:?}");
    let elo = result.elo();
    assert!(elo.low.unwrap() < elo.high.unwrap());
    assert_eq!(result.pairs.pairs(), 300);
}

/// One network against itself: both games of a pair are the same game, so each pair is 1 to 1.
#[test]
fn a_network_against_itself_draws_every_pair() {
    let config =
        MatchConfig { games: 40, max_plays: 120, ..MatchConfig::new(rules("standard"), 3) };
    let (result, records) = play(config, contestant(4), contestant(4), None);
    assert_eq!(result.pairs.counts, [0, 0, 20, 0, 0]);
    assert_eq!(result.score(), 0.5);
    for pair in records.chunks(2) {
        let texts = |record: &GameRecord| {
            record.plays.iter().map(|play| play.p.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&pair[0]), texts(&pair[1]));
    }
}

#[test]
fn games_depend_on_the_seed_not_on_how_many_are_played_at_once() {
    let run = |seed, concurrent| {
        let config = MatchConfig {
            games: 20,
            max_plays: 80,
            concurrent,
            ..MatchConfig::new(rules("basic"), seed)
        };
        play(config, contestant(1), built_in(BuiltIn::Greedy), Some(network(2, Method::Puct)))
    };
    let (result, records) = run(1, 1);
    let (again, same) = run(1, 16);
    assert_eq!(records, same);
    assert_eq!(counts(&result), counts(&again));
    assert!(again.batches < result.batches / 4, "leaves of all games share batches");
    assert_ne!(run(2, 16).1, records);
}

#[test]
fn results_are_those_of_the_records() {
    let config = MatchConfig {
        games: 30,
        max_plays: 60,
        ..MatchConfig::new(rules("standard+Z6;challenge=coin"), 9)
    };
    let (result, records) = play(config, contestant(1), contestant(2), None);
    let (mut a_half_points, mut white, mut plays) = (vec![0; 15], 0.0, 0);
    for record in &records {
        record.replay().unwrap();
        let a_is_white = record.id.seq % 2 == 0;
        let half_points = match (record.result, a_is_white) {
            (GameResult::Unfinished, _) => 1,
            (GameResult::White, true) | (GameResult::Black, false) => 2,
            _ => 0,
        };
        a_half_points[record.id.seq as usize / 2] += half_points;
        white += (f64::from(record.result.for_white()) + 1.0) / 2.0;
        plays += record.plays.len() as u64;
        // Both checkpoints search, each for its own colour.
        let searched =
            |ckpt| record.plays.iter().any(|play| play.s.as_ref().is_some_and(|s| s.ckpt == ckpt));
        assert!(searched(1) && searched(2));
    }
    let mut counts = [0; 5];
    a_half_points.iter().for_each(|&half_points: &usize| counts[half_points] += 1);
    assert_eq!(result.pairs.counts, counts);
    assert!((result.white_share() - white / 30.0).abs() < 1e-12);
    assert_eq!(result.mean_length(), plays as f64 / 30.0);
    for pair in records.chunks(2) {
        let opening = |record: &GameRecord| record.plays[..4].to_vec();
        assert_eq!(opening(&pair[0]), opening(&pair[1]), "both games have the same opening");
    }
}

#[test]
fn judged_openings_are_fair_in_the_judges_eyes() {
    let rule = OpeningRule { simulations: 60, low: 0.45, high: 0.55, ..OpeningRule::default() };
    let config = MatchConfig { games: 40, opening: rule, ..MatchConfig::new(rules("standard"), 2) };
    let (_, records) = play(
        config,
        built_in(BuiltIn::Random),
        built_in(BuiltIn::Random),
        Some(network(6, Method::Gumbel)),
    );
    let mut evaluator = FakeEvaluator::new(6);
    let (mut features, mut evaluations) = ([Features::new()], [gipf_model::Evaluation::default()]);
    let mut shares = Vec::new();
    for record in &records {
        assert!(record.plays[..4].iter().all(|play| play.s.is_none()));
        let position = record.replay().unwrap().positions[4];
        let mut search = Search::new(&SearchConfig::default(), 500);
        let budget = SearchBudget { simulations: 60, considered: 16, noise: false };
        search.begin(
            &position,
            4,
            budget,
            RandomKey { seed: 0, game: 0 }.stream(0, Purpose::Noise),
        );
        while search.step(&mut features[0]) == Step::Evaluate {
            evaluator.evaluate(&features, &mut evaluations).unwrap();
            search.absorb(&evaluations[0]);
        }
        let mut result = SearchResult::default();
        search.result(&mut result);
        shares.push((result.value + 1.0) / 2.0);
    }
    assert!(shares.iter().all(|share| (0.45..=0.55).contains(share)), "{shares:?}");
}

#[test]
fn a_stopped_match_tells_what_it_knows() {
    let config = MatchConfig { games: 100, concurrent: 4, ..MatchConfig::new(rules("basic"), 2) };
    let pair = vec![[contestant(1), contestant(2)]];
    let mut contest = Match::new(config, pair, None).unwrap();
    let done = AtomicU64::new(0);
    let result = contest
        .run(
            &|| done.load(Ordering::Relaxed) >= 5,
            &mut |result| done.store(result.games, Ordering::Relaxed),
            &mut |_| {},
        )
        .unwrap();
    assert!(result.stopped && (5..10).contains(&result.games), "{result:?}");
    assert!(result.pairs.pairs() <= result.games / 2);
    let config = MatchConfig::new(rules("basic"), 2);
    let mut contest =
        Match::new(config, vec![[contestant(1), contestant(2)]], Some(network(1, Method::Gumbel)))
            .unwrap();
    let result = contest.run(&|| true, &mut |_| {}, &mut |_| {}).unwrap();
    assert!(result.stopped && result.games == 0);
}

#[test]
fn impossible_matches_are_refused() {
    let refuse = |config: MatchConfig| {
        let refused =
            Match::new(config, vec![[BuiltIn::Random, BuiltIn::Random].map(built_in)], None);
        refused.err().expect("refused").to_string()
    };
    let usual = || MatchConfig::new(rules("basic"), 1);
    assert!(refuse(MatchConfig { games: 3, ..usual() }).contains("even"));
    assert!(refuse(MatchConfig { concurrent: 0, ..usual() }).contains("concurrent"));
    assert!(refuse(MatchConfig { max_plays: 4, ..usual() }).contains("max_plays"));
    let recorded = MatchConfig { rules: rules("standard+T6;challenge=recorded"), ..usual() };
    assert!(refuse(recorded).contains("recorded"));
    let mut bad = network(1, Method::Gumbel);
    bad.search.gumbel.c_scale = 0.0;
    let bad = Contestant::Network { network: bad, simulations: 8 };
    let pair = [bad, built_in(BuiltIn::Random)];
    let error = Match::new(usual(), vec![pair], None).err();
    assert!(matches!(error, Some(MatchError::Search { name, .. }) if name == "net-1"));
}

#[test]
fn a_network_player_plays_as_in_a_match_and_heeds_a_deadline() {
    let config = MatchConfig { games: 2, ..MatchConfig::new(rules("standard"), 4) };
    let (_, records) = play(config, contestant(1), built_in(BuiltIn::Random), None);
    let game = records[0].replay().unwrap();
    for method in [Method::Gumbel, Method::Puct] {
        let mut player = NetworkPlayer::new(network(1, method)).unwrap();
        let mut same = 0;
        for (ply, recorded) in records[0].plays.iter().enumerate() {
            let position = &game.positions[ply];
            let key = RandomKey { seed: 4, game: 0 };
            let state = GameState { position, plays: &game.plays[..ply], max_plays: 500, key };
            if recorded.s.is_none() {
                continue;
            }
            let choice = player.choose(&state, &Budget::nodes(16)).unwrap();
            assert!(position.is_legal(choice.play));
            same += usize::from(choice.play.to_string() == recorded.p);
            if method == Method::Gumbel {
                let (found, search) = (choice.search.unwrap(), recorded.s.as_ref().unwrap());
                assert_eq!((found.value, found.visits), (search.q, search.n), "ply {ply}");
            }
        }
        let searched = records[0].plays.iter().filter(|play| play.s.is_some()).count();
        assert!(method == Method::Puct || same == searched, "{same} of {searched}");
    }
    // A deadline that has passed leaves the network's first look.
    let position = rules("standard").start();
    let state = GameState {
        position: &position,
        plays: &[],
        max_plays: 500,
        key: RandomKey { seed: 4, game: 0 },
    };
    let mut player = NetworkPlayer::new(network(1, Method::Gumbel)).unwrap();
    struct Over;
    impl Clock for Over {
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
        fn limit(&self) -> Option<Duration> {
            Some(Duration::ZERO)
        }
    }
    let choice =
        player.choose(&state, &Budget { nodes: Some(1_000_000), ..Budget::time(&Over) }).unwrap();
    assert_eq!(choice.search.unwrap().simulations, 0);
    assert!(position.is_legal(choice.play));
}

#[test]
fn there_is_no_choice_when_the_game_is_over() {
    let rules = rules("basic");
    let mut position = gipf_core::Position::parse(&rules, "4/5/6/1S1s3/6/5/4 4,0 BB w m").unwrap();
    let mut actions = Vec::new();
    position.actions(&mut actions);
    position.play(actions[0]);
    assert!(position.is_over());
    let state = GameState {
        position: &position,
        plays: &[],
        max_plays: 500,
        key: RandomKey { seed: 4, game: 0 },
    };
    for player in BuiltIn::ALL {
        assert!(player.player().choose(&state, &Budget::nodes(1)).is_err());
    }
}
