//! Games from a list: by networks many at a time, by other players one at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gipf_core::record::GameRecord;
use gipf_model::fake::FakeEvaluator;
use gipf_selfplay::{
    BuiltIn, GameList, Limit, ListedGame, Network, NetworkPlayer, OpeningConfig, SearchConfig,
    SelfPlayConfig, SoloPlayer, Worker, WorkerIdentity,
};

/// Two games by each of these rules, every list of them with a seed of its own.
fn games() -> Vec<ListedGame> {
    let rules = ["basic+T2", "standard+Z4Y2|D6", "tournament+D3P3"];
    let each = |(list, rules): (u64, &&str)| {
        let worker = format!("{list:032x}");
        let identity = WorkerIdentity { run: "listed".to_owned(), worker, seed: 40 + list };
        let identity = Arc::new(identity);
        let rules = rules.parse().unwrap();
        [0, 1].map(|number| ListedGame::new(rules, Arc::clone(&identity), number).unwrap())
    };
    (0..).zip(&rules).flat_map(each).collect()
}

fn config(lanes: u32) -> SelfPlayConfig {
    SelfPlayConfig {
        lanes,
        fast_simulations: 6,
        fast_considered: 16,
        full_probability: 0.0,
        max_plays: 60,
        opening: OpeningConfig { random_plays: 0, sampled_plays: 6, temperature: 30.0 },
        ..SelfPlayConfig::default()
    }
}

/// The records by their identity.
fn played(lanes: u32, workers: usize) -> BTreeMap<String, GameRecord> {
    let list = GameList::default();
    let evaluator = || FakeEvaluator::new(3);
    let mut all: Vec<_> = (0..workers)
        .map(|_| Worker::listed(&config(lanes), list.clone(), evaluator(), 9).unwrap())
        .collect();
    let mut records = BTreeMap::new();
    // In two halves: a worker goes on when there is more on the list.
    for half in games().chunks(3) {
        list.extend(half.iter().cloned());
        for worker in &mut all {
            worker
                .run_to_end(&mut |record| {
                    record.replay().unwrap();
                    records.insert(format!("{} {}", record.id.worker, record.id.seq), record);
                })
                .unwrap();
        }
    }
    records
}

#[test]
fn a_listed_game_is_the_same_in_any_lane() {
    let wanted = played(1, 1);
    assert_eq!(wanted.len(), 6);
    for game in games() {
        let record = &wanted[&format!("{} {}", game.identity().worker, game.number())];
        assert_eq!(record.rules, game.rules().to_string());
        assert_eq!((record.seed, record.id.run.as_str()), (game.identity().seed, "listed"));
    }
    assert_eq!(played(4, 1), wanted);
    assert_eq!(played(2, 3), wanted);
    let openings: Vec<_> =
        wanted.values().map(|game| game.plays.iter().take(6).map(|play| &play.p)).collect();
    assert!(!openings[0].clone().eq(openings[1].clone()), "two games of one list differ");
}

/// Drawn from the policy of the search, a player's games one at a time are those of the many.
#[test]
fn a_network_plays_alone_as_it_does_in_lanes() {
    let wanted = played(4, 1);
    let network = Network {
        name: "fake".to_owned(),
        evaluator: FakeEvaluator::new(3),
        search: SearchConfig::default(),
        checkpoint: 9,
    };
    let player = Box::new(NetworkPlayer::new(network).unwrap());
    let SelfPlayConfig { opening, max_plays, .. } = config(1);
    let mut solo = SoloPlayer::new(player, Limit::nodes(6), opening, max_plays, 9);
    for game in games() {
        let record = solo.play(&game, &AtomicBool::new(false)).unwrap().unwrap();
        record.replay().unwrap();
        assert_eq!(record, wanted[&format!("{} {}", record.id.worker, record.id.seq)]);
    }
}

#[test]
fn players_without_a_policy_open_at_random_and_then_play_their_best() {
    let opening = OpeningConfig { random_plays: 0, sampled_plays: 4, temperature: 1.0 };
    let solo = || {
        let player = BuiltIn::AlphaBeta { depth: Some(1) }.player();
        SoloPlayer::new(player, Limit::default(), opening.clone(), 200, 0)
    };
    let never = AtomicBool::new(false);
    let [first, second] = &games()[..2] else { panic!("two games") };
    let (mut player, mut again) = (solo(), solo());
    let record = player.play(first, &never).unwrap().unwrap();
    record.replay().unwrap();
    let other = player.play(second, &never).unwrap().unwrap();
    assert_ne!(record.plays[..4], other.plays[..4]);
    assert_eq!(again.play(second, &never).unwrap().unwrap(), other, "whatever came before");
    assert_eq!(player.play(first, &AtomicBool::new(true)).unwrap(), None);
}
