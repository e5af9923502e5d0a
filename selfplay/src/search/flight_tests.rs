//! Several simulations under way at once: whatever depends on what, the tree's numbers hold together.

use gipf_core::{Position, Rules};

use super::*;
use crate::config::{PuctConfig, SearchConfig};
use crate::random::{Purpose, RandomKey};
use crate::search::tests::{WON_IN_THREE, check_tree, choices, noise, random_game};
use crate::search::{SearchBudget, SearchResult};
use crate::tree::own_share;

/// Evaluates what a search asks for, so many positions at a time; the sizes of the batches.
fn run(
    search: &mut Search,
    position: &Position,
    simulations: u32,
    [most, overlap]: [usize; 2],
) -> Vec<usize> {
    let key = RandomKey { seed: 1, game: 0 };
    let budget = SearchBudget { simulations, considered: 16, noise: false };
    search.begin(position, 0, budget, key.stream(0, Purpose::Noise));
    let (mut features, mut sizes) = (Vec::new(), Vec::new());
    loop {
        let count = search.take_off(most, overlap, &mut features);
        if count == 0 {
            return sizes;
        }
        let mut leaves: Vec<u32> = search.flights[..search.flying]
            .iter()
            .flat_map(|flight| flight.leaves.iter().copied())
            .collect();
        let evaluations: Vec<Evaluation> = leaves
            .iter()
            .map(|&leaf| {
                let (white, logits) = noise(search.tree.position(leaf), search.tree.plays(leaf));
                let Kind::Decision(color) = search.tree.node(leaf).kind else {
                    panic!("no choice, no evaluation")
                };
                let win = own_share(color, white);
                Evaluation { logits, value: [win, 1.0 - win, 0.0], plays_left: 0.0 }
            })
            .collect();
        leaves.sort_unstable();
        leaves.dedup();
        assert_eq!(leaves.len(), count, "every position is given out once");
        search.land(&evaluations);
        sizes.push(count);
    }
}

fn nothing_is_under_way(search: &Search) {
    for node in 0..search.tree.len() as u32 {
        assert!(search.tree.edges(node).iter().all(|edge| edge.flying == 0));
    }
}

#[test]
fn numbers_agree_where_simulations_overlap() {
    for rules in ["standard", "tournament+Z4Y4", "ultimate", "tournament+T6;challenge=rps;limit=2"]
    {
        for method in [Method::Gumbel, Method::Puct] {
            for virtual_loss in [0.0, 1.0] {
                let puct = PuctConfig { virtual_loss, ..PuctConfig::default() };
                let config = SearchConfig { method, puct, ..SearchConfig::default() };
                // A near limit of plays, so that unfinished games are in the tree too.
                let mut search = Search::new(&config, 8);
                let mut largest = 0;
                for position in random_game(rules, 3, 40).iter().step_by(7) {
                    if choices(position) > 1 {
                        let sizes = run(&mut search, position, 400, [12, 12]);
                        assert!(search.tree.node(0).exact || search.simulations() == 400);
                        largest = largest.max(sizes.into_iter().max().unwrap_or(0));
                        check_tree(&search);
                        nothing_is_under_way(&search);
                        search.clear();
                    }
                }
                assert!(largest > 8, "{largest} positions at a time");
            }
        }
    }
}

/// Overlapping changes which positions are looked at, not how often each candidate is: that is halving's.
#[test]
fn the_halving_is_the_same_and_batches_are_full() {
    let start = "standard".parse::<Rules>().unwrap().start();
    let mut visits = Vec::new();
    for overlap in [0, 12] {
        let mut search = Search::new(&SearchConfig::default(), 500);
        let sizes = run(&mut search, &start, 800, [16, overlap]);
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        if overlap == 0 {
            assert!(mean < 5.0, "a row of the last phase is 2 positions: {mean}");
        } else {
            assert!(mean > 8.0, "{mean}");
        }
        let edges = search.tree.edges(0).iter().map(|edge| edge.visits);
        let mut counts: Vec<u32> = edges.filter(|&visits| visits > 0).collect();
        counts.sort_unstable();
        visits.push(counts);
    }
    assert_eq!(visits[0], visits[1]);
    // The improved policy below the root has no stand-in for values that are not there.
    let few = SearchConfig::default().gumbel.puct_from - 1;
    let mut search = Search::new(&SearchConfig::default(), 500);
    let alone = run(&mut search, &start, few, [16, 0]);
    search.clear();
    assert_eq!(run(&mut search, &start, few, [16, 12]), alone);
}

#[test]
fn a_forced_win_is_proven_by_overlapping_simulations() {
    let rules: Rules = "basic".parse().unwrap();
    let position = Position::parse(&rules, WON_IN_THREE).unwrap();
    for method in [Method::Gumbel, Method::Puct] {
        let mut search = Search::new(&SearchConfig { method, ..SearchConfig::default() }, 500);
        run(&mut search, &position, 20_000, [12, 12]);
        let mut result = SearchResult::default();
        search.result(&mut result);
        assert!(result.proven && result.value == 1.0, "{} simulations", result.simulations);
        check_tree(&search);
        nothing_is_under_way(&search);
    }
}
