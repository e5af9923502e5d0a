//! Self-play workers with made-up evaluations.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{config, fake, identity, sampler, sorted, worker};
use gipf_core::record::{GameRecord, POLICY_UNIT, SearchRecord};
use gipf_model::fake::{FakeEvaluator, Hooked, OutOfOrder, ScriptedEvaluator};
use gipf_model::{EvalError, Evaluation, Evaluator};
use gipf_selfplay::{
    GameCounter, Method, Round, SelfPlayConfig, SettledConfig, Worker, WorkerStats,
};

const RULES: [&str; 4] = ["standard", "basic", "tournament", "standard+Z6;challenge=coin"];

/// Plays games 0 to `games` to their ends.
fn play<E: Evaluator>(
    config: &SelfPlayConfig,
    games: u64,
    evaluator: E,
) -> (Vec<GameRecord>, WorkerStats) {
    let mut worker = worker(config, &RULES, &GameCounter::new(0, games), evaluator);
    let mut records = Vec::new();
    worker.run_to_end(&mut |record| records.push(record)).unwrap();
    assert_eq!(worker.running(), 0);
    (sorted(records), worker.stats())
}

#[test]
fn records_do_not_depend_on_lanes_workers_or_batches() {
    let games = 24;
    let (reference, _) = play(&config(5), games, fake());
    assert_eq!(reference.len() as u64, games);
    for lanes in [1, 2, 64] {
        assert_eq!(play(&config(lanes), games, fake()).0, reference, "{lanes} lanes");
    }
    assert_eq!(play(&config(9), games, OutOfOrder::new(fake(), 1)).0, reference);
    // Three workers taking turns, with different numbers of lanes, share one counter.
    let counter = GameCounter::new(0, games);
    let mut workers: Vec<_> = [2, 3, 4]
        .into_iter()
        .map(|lanes| worker(&config(lanes), &RULES, &counter, fake()))
        .collect();
    let mut records = Vec::new();
    let mut idle = 0;
    while idle < workers.len() {
        idle = 0;
        for worker in &mut workers {
            let round = worker.round(&mut |record| records.push(record)).unwrap();
            idle += usize::from(round == Round::Idle);
        }
    }
    assert_eq!(sorted(records), reference);
    // Another seed is another run.
    let other = gipf_selfplay::WorkerIdentity { seed: 12, ..identity() };
    let counter = GameCounter::new(0, games);
    let mut worker = Worker::new(&config(5), sampler(&RULES), other, counter, fake(), 7).unwrap();
    let mut records = Vec::new();
    worker.run_to_end(&mut |record| records.push(record)).unwrap();
    assert!(sorted(records).iter().zip(&reference).all(|(a, b)| a.plays != b.plays));
}

#[test]
fn drained_at_any_point_the_games_are_the_same() {
    let (reference, _) = play(&config(4), 20, fake());
    let counter = GameCounter::new(0, 0);
    let mut worker = worker(&config(4), &RULES, &counter, fake());
    let mut records = Vec::new();
    for part in [7, 1, 12] {
        counter.allow(part);
        worker.run_to_end(&mut |record| records.push(record)).unwrap();
        worker.set_evaluator(fake(), 7);
    }
    assert_eq!(sorted(records), reference);
}

#[test]
fn records_are_complete_and_replay() {
    for method in [Method::Gumbel, Method::Puct] {
        let mut config = config(8);
        config.search.method = method;
        let (records, stats) = play(&config, 24, fake());
        let mut plays = 0;
        for record in &records {
            record.replay().unwrap();
            let again = GameRecord::from_json(&record.to_json()).unwrap();
            assert_eq!(&again, record);
            plays += record.plays.len() as u64;
            assert_eq!((record.seed, record.max_plays), (11, 90));
            for play in &record.plays {
                if let Some(search) = &play.s {
                    assert_eq!(search.ckpt, 7);
                    assert!(search.n > 0 && !search.pi.is_empty());
                    assert_eq!(search.kl.is_some(), search.full, "fast searches teach no policy");
                }
            }
        }
        assert!(RULES.iter().all(|rules| records.iter().any(|record| record.rules == *rules)));
        assert_eq!((stats.games, stats.plays), (24, plays));
        assert_eq!(stats.games, stats.white_wins + stats.black_wins + stats.unfinished);
        let searched =
            records.iter().flat_map(|record| &record.plays).filter(|play| play.s.is_some());
        assert_eq!(searched.count() as u64, stats.full_searches + stats.fast_searches);
        assert!(stats.forced_plays > 0 && stats.fill() > 0.3 && stats.fill() <= 1.0);
        assert!(stats.evaluations <= stats.capacity);
    }
}

/// Whether a recorded policy is made of whole visits: there is a number of visits of which each share is a whole number.
fn is_made_of_visits(search: &SearchRecord) -> bool {
    // Of 16 bits each share is off by one part at most, the largest by one part a play.
    let slack = f64::from(search.n) * search.pi.len() as f64 / f64::from(POLICY_UNIT);
    (1..=search.n).any(|counted| {
        let visits = |parts: u16| f64::from(parts) / f64::from(POLICY_UNIT) * f64::from(counted);
        search.pi.iter().all(|&(_, parts)| (visits(parts) - visits(parts).round()).abs() <= slack)
    })
}

/// PUCT's policies are visit counts; plays are the most visited ones, but for those of the opening, which are drawn.
#[test]
fn puct_learns_from_visits_and_draws_the_opening_from_them() {
    let of = |method| {
        let mut config = SelfPlayConfig { full_probability: 0.5, ..config(8) };
        config.search.method = method;
        let records = play(&config, 16, fake()).0;
        let (mut drawn, mut whole, mut open) = (0, 0, 0);
        for record in &records {
            for (ply, played) in (0..).zip(&record.plays) {
                let Some(search) = played.s.as_ref().filter(|search| search.q.abs() < 1.0) else {
                    continue;
                };
                // (Where all visits were proven losses the policy is what is left of the prior.)
                open += 1;
                whole += u32::from(is_made_of_visits(search));
                let most = search.pi.iter().map(|&(_, parts)| parts).max().unwrap();
                let own = search.pi.iter().find(|(play, _)| *play == played.p);
                // Of two with equal visits one has the parts that rounding left over.
                let best = own.unwrap().1 as usize + search.pi.len() >= usize::from(most);
                if ply < config.opening.sampled_plays {
                    drawn += u32::from(!best);
                } else if method == Method::Puct {
                    assert!(best, "{}: {search:?}", played.p);
                }
            }
        }
        (whole, open, drawn)
    };
    let (whole, open, drawn) = of(Method::Puct);
    assert!(drawn > 20, "{drawn} plays of the openings were not the most visited ones");
    assert!(whole * 50 > open * 49 && open > 400, "{whole} of {open} policies are visits");
    let (whole, open, _) = of(Method::Gumbel);
    assert!(whole * 2 < open, "{whole} of {open} improved policies look like visits");
}

#[test]
fn noise_is_in_full_searches_only() {
    let games = |full_probability, noise_fraction| {
        let mut config = SelfPlayConfig { full_probability, ..config(8) };
        config.search.method = Method::Puct;
        config.search.puct.noise_fraction = noise_fraction;
        play(&config, 12, fake()).0
    };
    assert_eq!(games(0.0, 0.9), games(0.0, 0.0));
    let (noisy, clear) = (games(1.0, 0.9), games(1.0, 0.0));
    assert!(noisy.iter().zip(&clear).all(|(a, b)| a.plays != b.plays));
}

/// A network that sees no difference between symmetric boards plays the same games on all of them; another one does not.
#[test]
fn symmetric_boards_change_what_the_network_sees_and_nothing_else() {
    let games = |evaluator: FakeEvaluator, symmetry, lanes, cache_megabytes| {
        let mut config = SelfPlayConfig { cache_megabytes, ..config(lanes) };
        config.search.symmetry = symmetry;
        play(&config, 16, evaluator).0
    };
    let blind = || FakeEvaluator::symmetric(3);
    assert_eq!(games(blind(), true, 8, 0), games(blind(), false, 8, 0));
    let turned = games(fake(), true, 8, 0);
    assert!(turned.iter().zip(&games(fake(), false, 8, 0)).all(|(a, b)| a.plays != b.plays));
    // Which board it is depends on the position alone: not on lanes, batches or a cache.
    assert_eq!(games(fake(), true, 3, 0), turned);
    assert_eq!(games(fake(), true, 8, 4), turned);
}

#[test]
fn full_and_fast_searches_come_in_the_configured_share() {
    for share in [0.0, 0.25, 1.0] {
        let config = SelfPlayConfig { full_probability: share, ..config(16) };
        let (records, stats) = play(&config, 60, fake());
        let full =
            records.iter().flat_map(|record| &record.plays).filter_map(|play| play.s.as_ref());
        let (full, all) = full.fold((0, 0), |(full, all), s| (full + u64::from(s.full), all + 1));
        assert_eq!((full, all - full), (stats.full_searches, stats.fast_searches));
        // Five standard errors of a binomial share.
        let error = 5.0 * (f64::from(share * (1.0 - share)) / all as f64).sqrt();
        let found = full as f64 / all as f64;
        assert!((found - f64::from(share)).abs() <= error, "{found} of {all}, not {share}");
    }
    // Fast searches are cheaper: fewer simulations a search.
    let cost = |share| {
        let (_, stats) =
            play(&SelfPlayConfig { full_probability: share, ..config(16) }, 20, fake());
        stats.simulations as f64 / (stats.full_searches + stats.fast_searches) as f64
    };
    assert!(cost(0.0) <= 4.0 && cost(1.0) > 9.0 && cost(1.0) <= 12.0);
}

#[test]
fn random_openings_are_not_searched_and_vary_in_length() {
    let (records, _) = play(&config(16), 60, fake());
    let lengths: Vec<usize> = records
        .iter()
        .map(|record| record.plays.iter().take_while(|play| play.s.is_none()).count())
        .collect();
    for length in 0..=3 {
        assert!(lengths.contains(&length), "{lengths:?}");
    }
    let first = |record: &GameRecord| {
        record.plays.iter().map(|play| play.p.clone()).take(6).collect::<Vec<_>>()
    };
    let mut openings: Vec<_> = records.iter().map(first).collect();
    openings.sort();
    openings.dedup();
    assert!(openings.len() > 55, "{} different openings", openings.len());
}

#[test]
fn a_settled_game_is_played_out_with_fast_searches() {
    let settled = SettledConfig { value: 0.02, plays: 2 };
    let config = SelfPlayConfig { full_probability: 1.0, settled: Some(settled), ..config(8) };
    let (records, _) = play(&config, 40, fake());
    let (mut full, mut fast) = (0, 0);
    for record in &records {
        let searches: Vec<_> = record.plays.iter().filter_map(|play| play.s.as_ref()).collect();
        let decided = |pair: &[&gipf_core::record::SearchRecord]| {
            pair.iter().all(|s| s.q >= 0.02) || pair.iter().all(|s| s.q <= -0.02)
        };
        let from = searches.windows(2).position(decided).map(|first| first + 2);
        for (index, search) in searches.iter().enumerate() {
            assert_eq!(search.full, from.is_none_or(|from| index < from));
            if search.full { full += 1 } else { fast += 1 }
        }
    }
    assert!(full > 100 && fast > 100, "{full} full, {fast} fast");
}

#[test]
fn a_failed_batch_can_be_tried_again() {
    let (reference, _) = play(&config(4), 8, fake());
    let failing = Hooked::new(
        fake(),
        |batch, _| if batch % 7 == 3 { Err("down".to_owned()) } else { Ok(()) },
    );
    let mut worker = worker(&config(4), &RULES, &GameCounter::new(0, 8), failing);
    let (mut records, mut failures) = (Vec::new(), 0);
    loop {
        match worker.round(&mut |record| records.push(record)) {
            Ok(Round::Idle) => break,
            Ok(Round::Evaluated) => {}
            Err(error) => {
                assert!(error.to_string().contains("down"));
                failures += 1;
            }
        }
    }
    assert!(failures > 10);
    assert_eq!(sorted(records), reference);
}

#[test]
fn evaluations_that_no_search_can_use_are_refused() {
    let refused = |evaluation: Evaluation| {
        let evaluator = ScriptedEvaluator::new(move |_| evaluation.clone());
        let mut worker = worker(&config(2), &["standard"], &GameCounter::new(0, 1), evaluator);
        worker.run_to_end(&mut |_| {}).unwrap_err()
    };
    let evaluation = Evaluation { logits: vec![0.0; 3], value: [0.5, 0.5, 0.0], plays_left: 1.0 };
    assert!(matches!(refused(evaluation), EvalError::Backend { .. }));
    let nan = ScriptedEvaluator::new(|features| Evaluation {
        logits: vec![f32::NAN; features.policy.actions()],
        value: [0.5, 0.5, 0.0],
        plays_left: 1.0,
    });
    let mut worker = worker(&config(2), &["standard"], &GameCounter::new(0, 1), nan);
    let error = worker.run_to_end(&mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("not a finite number"), "{error}");
}

#[test]
fn abandoned_games_leave_no_record() {
    let mut worker = worker(&config(4), &RULES, &GameCounter::new(0, 4), fake());
    let mut records = 0;
    worker.round(&mut |_| records += 1).unwrap();
    assert_eq!(worker.running(), 4);
    worker.abandon();
    assert_eq!(worker.round(&mut |_| records += 1).unwrap(), Round::Idle);
    assert_eq!((worker.running(), records), (0, 0));
}

#[test]
fn a_cache_changes_no_record_and_saves_evaluations() {
    for method in [Method::Gumbel, Method::Puct] {
        let mut plain = config(16);
        plain.search.method = method;
        let (reference, without) = play(&plain, 40, fake());
        for (megabytes, lanes) in [(1, 16), (8, 3)] {
            let cached = SelfPlayConfig { cache_megabytes: megabytes, lanes, ..plain.clone() };
            let (records, stats) = play(&cached, 40, fake());
            assert_eq!(records, reference, "{method:?}, {megabytes} MB, {lanes} lanes");
            assert!(stats.cache_hits > 100, "{stats:?}");
            assert_eq!(stats.cache_hits + stats.evaluations, without.evaluations);
            assert_eq!(stats.simulations, without.simulations);
        }
        assert_eq!((without.cache_hits, without.hit_rate()), (0, 0.0));
    }
}

/// What the old network said is forgotten: half of the games by one, half by another, with a cache as without.
#[test]
fn a_new_evaluator_clears_the_cache() {
    let halves = |cache_megabytes| {
        let config = SelfPlayConfig { cache_megabytes, ..config(4) };
        let counter = GameCounter::new(0, 16);
        let mut worker = worker(&config, &RULES, &counter, FakeEvaluator::new(3));
        let mut records = Vec::new();
        worker.run_to_end(&mut |record| records.push(record)).unwrap();
        worker.set_evaluator(FakeEvaluator::new(4), 8);
        counter.allow(16);
        worker.run_to_end(&mut |record| records.push(record)).unwrap();
        (sorted(records), worker.stats().cache_hits)
    };
    let (with, without) = (halves(4), halves(0));
    assert_eq!(with.0, without.0);
    assert!(with.1 > 50 && without.1 == 0);
}
