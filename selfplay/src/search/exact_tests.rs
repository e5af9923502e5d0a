//! What is proven: ends of games, and the outcomes of side games.

use gipf_core::{Play, Position, Rules};

use super::*;

/// White wins by any play here: Black has no piece left to enter.
const WON_AT_ONCE: &str = "4/5/6/1S1s3/6/5/4 4,0 BB w m";
#[test]
fn a_forced_win_is_found_and_proven() {
    let rules: Rules = "basic".parse().unwrap();
    for mut search in [gumbel_search(), puct_search()] {
        let position = Position::parse(&rules, WON_AT_ONCE).unwrap();
        let result = Driver::new(blank).run(&mut search, &position, 0, budget(50, 16));
        assert!(result.proven && result.value == 1.0 && result.simulations == 1, "{result:?}");
        assert_eq!(result.policy.iter().filter(|&&(_, share)| share > 0.0).count(), 1, "one-hot");
        assert_eq!(result.policy.iter().find(|&&(_, share)| share == 1.0).unwrap().0, result.play);

        let position = Position::parse(&rules, WON_IN_THREE).unwrap();
        let result = Driver::new(blank).run(&mut search, &position, 0, budget(4000, 4));
        assert!(result.proven && result.value == 1.0, "{} simulations", result.simulations);
        assert!(result.simulations < 4000);
        // Played out, the win stays proven, and Black's root is proven lost.
        let mut next = position;
        next.play(result.play);
        search.advance(result.play);
        let result = Driver::new(blank).run(&mut search, &next, 1, budget(4000, 4));
        assert!(result.proven && result.value == 1.0 && result.simulations == 0);
    }
}

/// White has one piece left, and three of its own in a row. Closing the row brings them back; after any other play
/// White has nothing to enter at its next turn. The network likes every other play better.
#[test]
fn a_proven_loss_leaves_the_candidates() {
    let rules: Rules = "basic".parse().unwrap();
    let position = Position::parse(&rules, "4/5/6/SSS4/6/5/4 1,1 BB w m").unwrap();
    let saving: Play = "e1-e2".parse().unwrap();
    let mut driver = Driver::new(|_: &Position, actions: &[Play]| {
        // All other actions are better liked.
        let logit = |action: &Play| if *action == saving { -3.0 } else { 1.0 };
        (0.0, actions.iter().map(logit).collect())
    });
    let mut search = gumbel_search();
    let result = driver.run(&mut search, &position, 0, budget(3000, 4));
    let edges = search.tree.edges(0);
    let lost = edges.iter().filter(|edge| edge.is_lost_for(Color::White)).count();
    assert!(lost >= 4, "{lost} of {} plays are lost", edges.len());
    assert_eq!(result.play, saving);
    for (play, share) in &result.policy {
        let edge = search.tree.edge_of(0, *play).unwrap();
        assert!(!edge.is_lost_for(Color::White) || *share == 0.0);
    }
    check_tree(&search);
}

#[test]
fn the_limit_of_plays_is_an_exact_zero() {
    let start = "standard".parse::<Rules>().unwrap().start();
    for method in [Method::Gumbel, Method::Puct] {
        let mut search = Search::new(&SearchConfig { method, ..SearchConfig::default() }, 10);
        let mut driver = Driver::new(noise);
        let count = choices(&start) as u32;
        let result = driver.run(&mut search, &start, 9, budget(500, count));
        assert_eq!(driver.asked.len(), 1, "only the root is evaluated");
        let mut visited = search.tree.edges(0).iter().filter(|edge| edge.visits > 0);
        assert!(visited.all(|edge| edge.exact && edge.q == 0.0));
        // Halving looks at every candidate first; PUCT need not.
        let proven = result.proven && result.value == 0.0 && result.simulations == count;
        assert!(method == Method::Puct || proven);
    }
}

/// A position where a challenge is to be decided, with its ply.
fn before_a_side_game(rules: &str) -> (Position, u32) {
    for seed in 0..100 {
        for (ply, position) in random_game(rules, seed, 80).iter().enumerate() {
            if position.phase() == gipf_core::Phase::Challenge && choices(position) == 2 {
                return (*position, ply as u32);
            }
        }
    }
    panic!("no challenge in 100 games");
}

#[test]
fn a_side_game_is_the_expectation_of_its_outcomes() {
    let (position, ply) = before_a_side_game("standard+Z6;challenge=chance:0.5/0.2/0.3");
    for mut search in [gumbel_search(), puct_search()] {
        let mut driver = Driver::new(noise);
        let result = driver.run(&mut search, &position, ply, budget(1, 2));
        assert_eq!(result.simulations, 1);
        driver.run(&mut search, &position, ply, budget(400, 2));
        check_tree(&search);
        let challenge = *search.tree.edge_of(0, Play::CHALLENGE).unwrap();
        let node = challenge.child;
        assert_eq!(search.tree.node(node).kind, Kind::Chance);
        let outcomes = search.tree.edges(node);
        let visits: Vec<u32> = outcomes.iter().map(|edge| edge.visits).collect();
        assert_eq!(outcomes.len(), 3);
        assert!(visits.iter().all(|&visits| visits >= 1), "the first visit opens every outcome");
        let expectation = 0.5 * outcomes[0].q + 0.2 * outcomes[1].q + 0.3 * outcomes[2].q;
        assert!((expectation - challenge.q).abs() < 1e-5);
        if outcomes.iter().all(|outcome| !outcome.exact) {
            let total: u32 = visits.iter().sum();
            for (outcome, probability) in outcomes.iter().zip([0.5, 0.2, 0.3]) {
                let want = probability * total as f32;
                assert!((outcome.visits as f32 - want).abs() <= 2.0, "{visits:?}");
            }
        }
    }
}

#[test]
fn a_side_game_is_exact_only_when_all_its_outcomes_are() {
    let (position, ply) = before_a_side_game("standard+Z6;challenge=coin");
    // Outcomes of a side game begun now are the limit's unfinished games.
    let mut search = Search::new(&SearchConfig::default(), ply + 2);
    let mut driver = Driver::new(blank);
    driver.run(&mut search, &position, ply, budget(2, 2));
    let challenge = search.tree.edge_of(0, Play::CHALLENGE).unwrap();
    let result_after = |outcome: Play| {
        let mut after = position;
        after.play(Play::CHALLENGE);
        after.play(outcome);
        after.winner().map_or(0.0, sign)
    };
    let mean = 0.5 * result_after(Play::WIN) + 0.5 * result_after(Play::LOSS);
    assert!(challenge.exact && challenge.q == mean, "{challenge:?}, not {mean}");
    // Two plays later there is more to find out.
    let mut search = Search::new(&SearchConfig::default(), MAX_PLAYS);
    driver.run(&mut search, &position, ply, budget(2, 2));
    let challenge = search.tree.edge_of(0, Play::CHALLENGE).unwrap();
    assert!(challenge.visits > 0 && !challenge.exact);
}
