//! Searches on real positions, with evaluations made up by the test.

use gipf_core::{Color, Play, Position, Rules};
use gipf_model::{Evaluation, Features};
use rand::RngCore;

use super::result::divergence;
use super::*;
use crate::improve::{Child, complete_q, improved_policy};
use crate::random::{Purpose, RandomKey, below};
use crate::tree::{Edge, own_share};

const MAX_PLAYS: u32 = 500;
/// Black has one piece left, and too few on the board for a row: White wins in three plays, whatever Black does.
pub(super) const WON_IN_THREE: &str = "4/5/6/1S1s3/6/5/4 4,1 BB w m";

/// Evaluates positions by a function of the position: White's value and one logit for each action.
struct Driver<F> {
    evaluate: F,
    features: Features,
    /// The game whose random streams are used.
    game: u64,
    /// Positions evaluated.
    asked: Vec<Position>,
}

impl<F: FnMut(&Position, &[Play]) -> (f32, Vec<f32>)> Driver<F> {
    fn new(evaluate: F) -> Self {
        Driver { evaluate, features: Features::new(), game: 2, asked: Vec::new() }
    }

    fn run(
        &mut self,
        search: &mut Search,
        position: &Position,
        ply: u32,
        budget: SearchBudget,
    ) -> SearchResult {
        let key = RandomKey { seed: 1, game: self.game };
        search.begin(position, ply, budget, key.stream(ply, Purpose::Noise));
        while search.step(&mut self.features) == Step::Evaluate {
            let leaf = *search.leaves.last().unwrap();
            let position = *search.tree.position(leaf);
            let mut actions = Vec::new();
            position.actions(&mut actions);
            assert!(actions.len() > 1, "no network call where there is no choice");
            let decider = position.decider().expect("no network call at a side game");
            let (white, logits) = (self.evaluate)(&position, &actions);
            let win = own_share(decider, white);
            search.absorb(&Evaluation { logits, value: [win, 1.0 - win, 0.0], plays_left: 0.0 });
            self.asked.push(position);
        }
        let mut result = SearchResult::default();
        search.result(&mut result);
        result
    }
}

fn budget(simulations: u32, considered: u32) -> SearchBudget {
    SearchBudget { simulations, considered, noise: false }
}

/// All actions alike, all positions even.
fn blank(_: &Position, actions: &[Play]) -> (f32, Vec<f32>) {
    (0.0, vec![0.0; actions.len()])
}

/// Numbers without rhyme or reason, but always the same for a position.
pub(super) fn noise(position: &Position, actions: &[Play]) -> (f32, Vec<f32>) {
    let mut rng = RandomKey { seed: position.hash64(), game: 0 }.stream(0, Purpose::Player);
    let mut unit = || rng.next_u32() as f32 / u32::MAX as f32;
    (1.6 * unit() - 0.8, actions.iter().map(|_| 4.0 * unit()).collect())
}

/// The positions of a random game, up to `plays` plays.
pub(super) fn random_game(rules: &str, seed: u64, plays: usize) -> Vec<Position> {
    let rules: Rules = rules.parse().unwrap();
    let mut rng = RandomKey { seed, game: 0 }.stream(0, Purpose::Player);
    let mut positions = vec![rules.start()];
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    while positions.len() <= plays {
        let mut position = *positions.last().unwrap();
        if position.is_over() {
            break;
        }
        if position.is_chance() {
            position.outcomes(&mut outcomes);
            position.play(outcomes[below(&mut rng, outcomes.len())].0);
        } else {
            position.actions(&mut actions);
            position.play(actions[below(&mut rng, actions.len())]);
        }
        positions.push(position);
    }
    positions
}

pub(super) fn choices(position: &Position) -> usize {
    let mut actions = Vec::new();
    if position.decider().is_some() {
        position.actions(&mut actions);
    }
    actions.len()
}

fn gumbel_search() -> Search {
    Search::new(&SearchConfig::default(), MAX_PLAYS)
}

fn puct_search() -> Search {
    Search::new(&SearchConfig { method: Method::Puct, ..SearchConfig::default() }, MAX_PLAYS)
}

/// Whether every number in the tree follows from those below it.
pub(super) fn check_tree(search: &Search) {
    let tree = &search.tree;
    for index in 0..tree.len() as u32 {
        let (node, edges) = (tree.node(index), tree.edges(index));
        for edge in edges.iter().filter(|edge| edge.visits > 0) {
            let child = tree.node(edge.child);
            assert_eq!((child.visits, child.q, child.exact), (edge.visits, edge.q, edge.exact));
            assert_eq!(child.ply, node.ply + 1);
        }
        match node.kind {
            Kind::Over => assert!(node.exact),
            Kind::Chance => {
                let mean: f32 = edges.iter().map(|edge| edge.prior * edge.q).sum();
                assert!((mean - node.q).abs() < 1e-5, "chance: {mean} and {}", node.q);
                assert_eq!(node.exact, edges.iter().all(|edge| edge.exact));
            }
            Kind::Decision(color) => {
                let all: u32 = edges.iter().map(|edge| edge.visits).sum();
                // An exact node's later visits go no further down.
                assert!(node.visits == all + 1 || node.exact && node.visits > all);
                let priors: f32 = edges.iter().map(|edge| edge.prior).sum();
                assert!((priors - 1.0).abs() < 1e-4);
                let counted =
                    || edges.iter().filter(|edge| edge.visits > 0 && !edge.is_lost_for(color));
                let sum: f64 =
                    counted().map(|edge| f64::from(edge.q) * f64::from(edge.visits)).sum();
                let weight: u32 = counted().map(|edge| edge.visits).sum();
                let mean = (f64::from(node.raw) + sum) / f64::from(weight + 1);
                if node.exact {
                    let won = edges.iter().any(|edge| edge.is_won_for(color));
                    assert!(won || edges.iter().all(|edge| edge.exact));
                } else {
                    assert!((mean - f64::from(node.q)).abs() < 1e-4, "mean {mean} and {}", node.q);
                    assert!(!edges.iter().any(|edge| edge.is_won_for(color)));
                }
                if index > 0 {
                    let visited = edges.iter().filter(|edge| edge.visits > 0).count();
                    assert!(
                        edges[..visited].iter().all(|edge| edge.visits > 0),
                        "visited plays come first"
                    );
                    let priors =
                        |edges: &[Edge]| edges.iter().map(|edge| edge.prior).collect::<Vec<_>>();
                    let (first, rest) = (priors(&edges[..visited]), priors(&edges[visited..]));
                    assert!(first.is_sorted_by(|a, b| a >= b), "{first:?}");
                    let least = first.last().copied().unwrap_or(1.0);
                    assert!(rest.iter().all(|&prior| prior <= least), "the largest came first");
                }
            }
        }
    }
}

#[test]
fn root_visits_are_those_of_sequential_halving() {
    let start = "standard".parse::<Rules>().unwrap().start();
    let mut driver = Driver::new(noise);
    for (simulations, considered, want) in [
        (24, 8, vec![7, 7, 3, 3, 1, 1, 1, 1]),
        (24, 7, vec![9, 8, 3, 1, 1, 1, 1]),
        (13, 8, vec![3, 2, 2, 2, 1, 1, 1, 1]),
        (3, 8, vec![1, 1, 1]),
        (5, 1, vec![5]),
    ] {
        let mut search = gumbel_search();
        let result = driver.run(&mut search, &start, 0, budget(simulations, considered));
        let mut visits: Vec<u32> =
            search.tree.edges(0).iter().map(|edge| edge.visits).filter(|&n| n > 0).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(visits, want, "{simulations} simulations, {considered} candidates");
        assert_eq!((result.simulations, result.visits), (simulations, simulations));
        let chosen = search.tree.edge_of(0, result.play).unwrap();
        assert_eq!(chosen.visits, want[0], "the choice is one of the most visited candidates");
    }
}

#[test]
fn numbers_agree_throughout_the_tree_in_every_variant() {
    for rules in
        ["standard", "basic", "tournament", "ultimate", "tournament+T6;challenge=rps;limit=2"]
    {
        for (seed, method) in [(1, Method::Gumbel), (2, Method::Puct)] {
            let config = SearchConfig { method, ..SearchConfig::default() };
            // A near limit of plays, so that unfinished games are in the tree too.
            let mut search = Search::new(&config, 64);
            let mut driver = Driver::new(noise);
            for (ply, position) in random_game(rules, seed, 60).iter().enumerate() {
                if choices(position) > 1 {
                    let ask = SearchBudget { simulations: 60, considered: 12, noise: ply % 2 == 0 };
                    let result = driver.run(&mut search, position, ply as u32, ask);
                    check_tree(&search);
                    let total: f32 = result.policy.iter().map(|&(_, share)| share).sum();
                    assert!((total - 1.0).abs() < 1e-4);
                    assert!(position.is_legal(result.play));
                    assert!(result.proven || result.simulations == 60);
                }
            }
        }
    }
}

#[test]
fn the_choice_below_the_root_is_the_papers() {
    let start = "standard".parse::<Rules>().unwrap().start();
    let mut search = gumbel_search();
    Driver::new(noise).run(&mut search, &start, 0, budget(400, 4));
    let (mut completed, mut policy, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    let mut compared = 0;
    for node in 1..search.tree.len() as u32 {
        let (Kind::Decision(color), false) =
            (search.tree.node(node).kind, search.tree.node(node).exact)
        else {
            continue;
        };
        let read = |edge: &Edge| Child {
            prior: edge.prior,
            visits: edge.visits,
            q: own_share(color, edge.q),
            lost: edge.is_lost_for(color),
        };
        search.tree.sort_next(node);
        let children: Vec<Child> = search.tree.edges(node).iter().map(read).collect();
        let raw = own_share(color, search.tree.node(node).raw);
        let config = &search.config.gumbel;
        let weight = complete_q(config, raw, &children, &mut completed);
        improved_policy(weight, &children, &completed, &mut policy);
        let visits: u32 = children.iter().map(|child| child.visits).sum();
        let score =
            |index: usize| policy[index] - children[index].visits as f32 / (1 + visits) as f32;
        let best = (0..children.len()).map(score).fold(f32::NEG_INFINITY, f32::max);
        let chosen = by_improved_policy(config, &search.tree, node, color, &mut shares)
            - search.tree.first_edge(node);
        assert!(best - score(chosen as usize) < 1e-4, "{best} and {}", score(chosen as usize));
        compared += 1;
    }
    assert!(compared > 100);
}

#[test]
fn values_are_whites_however_often_one_colour_plays() {
    let mut driver = Driver::new(|_: &Position, actions: &[Play]| (0.6, vec![0.0; actions.len()]));
    let mut found = [false; 2];
    for seed in 0..20 {
        for (ply, pair) in random_game("standard", seed, 60).windows(2).enumerate() {
            let color = pair[1].decider();
            let twice =
                color == pair[0].decider() && choices(&pair[0]) > 1 && choices(&pair[1]) > 1;
            let Some(color) = color.filter(|_| twice) else { continue };
            let mut search = gumbel_search();
            let result = driver.run(&mut search, &pair[0], ply as u32, budget(100, 64));
            let nodes = || (0..search.tree.len() as u32).map(|node| search.tree.node(node));
            // A game's end near by would be another value.
            if nodes().any(|node| node.exact) {
                continue;
            }
            assert!((result.value - 0.6).abs() < 1e-5 && (result.raw_value - 0.6).abs() < 1e-6);
            assert!(nodes().all(|node| (node.q - 0.6).abs() < 1e-5));
            let visited = search.tree.edges(0).iter().filter(|edge| edge.visits > 0);
            let mut kinds = visited.map(|edge| search.tree.node(edge.child).kind);
            found[color.index()] |= kinds.any(|kind| kind == Kind::Decision(color));
        }
    }
    assert_eq!(found, [true; 2], "each colour decided twice in a row");
}

/// With one visit each and a policy of no weight, the choice is the best child in the decider's eyes.
#[test]
fn each_colour_chooses_what_is_best_for_itself() {
    let mut config = SearchConfig::default();
    config.gumbel.c_scale = 1e4;
    let (mut white, mut black) = (0, 0);
    for position in random_game("basic", 3, 60) {
        let count = choices(&position);
        if count < 2 {
            continue;
        }
        let mut search = Search::new(&config, MAX_PLAYS);
        let result =
            Driver::new(noise).run(&mut search, &position, 0, budget(count as u32, count as u32));
        let chosen = search.tree.edge_of(0, result.play).unwrap().q;
        let values = || search.tree.edges(0).iter().map(|edge| edge.q);
        match position.decider() {
            Some(Color::White) => {
                assert_eq!(chosen, values().fold(-1.0, f32::max));
                white += 1;
            }
            _ => {
                assert_eq!(chosen, values().fold(1.0, f32::min));
                black += 1;
            }
        }
    }
    assert!(white > 10 && black > 10);
}

#[test]
fn a_kept_tree_keeps_its_visits_and_saves_evaluations() {
    let start = "standard".parse::<Rules>().unwrap().start();
    for mut search in [gumbel_search(), puct_search()] {
        let mut driver = Driver::new(noise);
        let result = driver.run(&mut search, &start, 0, budget(200, 8));
        let edge = search.tree.edge_of(0, result.play).unwrap();
        let (kept, q) = (edge.visits - 1, edge.q);
        assert!(kept >= 20);
        let mut next = start;
        next.play(result.play);
        search.advance(result.play);
        assert_eq!((search.tree.node(0).visits, search.tree.node(0).q), (kept + 1, q));
        check_tree(&search);
        let before = driver.asked.len();
        let result = driver.run(&mut search, &next, 1, budget(100, 8));
        assert_eq!((result.simulations, result.visits), (100, kept + 100));
        assert!(driver.asked.len() - before < 100 + 1);
        // Another entry onto the same empty spot is the same play.
        let mut merged = gumbel_search();
        driver.run(&mut merged, &start, 0, budget(200, 64));
        let mut legal = Vec::new();
        start.legal_plays(&mut legal);
        let other = legal.iter().find(|&&play| start.action_for(play) != play).unwrap();
        merged.advance(*other);
        assert!(merged.nodes() > 0);
        // A position that is not the tree's root starts afresh.
        let fresh = driver.run(&mut search, &start, 0, budget(10, 8));
        assert_eq!(fresh.visits, 10);
    }
}

#[test]
fn halving_over_a_kept_tree_counts_new_visits_only() {
    let start = "standard".parse::<Rules>().unwrap().start();
    let mut search = gumbel_search();
    let mut driver = Driver::new(noise);
    let result = driver.run(&mut search, &start, 0, budget(300, 2));
    let mut next = start;
    next.play(result.play);
    search.advance(result.play);
    let kept: Vec<u32> = search.tree.edges(0).iter().map(|edge| edge.visits).collect();
    assert!(kept.iter().filter(|&&visits| visits > 0).count() > 3);
    driver.run(&mut search, &next, 1, budget(24, 8));
    let edges = search.tree.edges(0).iter();
    let mut new: Vec<u32> = edges.zip(&kept).map(|(edge, kept)| edge.visits - kept).collect();
    new.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(new[..9], [7, 7, 3, 3, 1, 1, 1, 1, 0]);
}

#[test]
fn memory_is_bounded_by_the_limit_of_nodes() {
    let config = SearchConfig { max_nodes: 1000, ..SearchConfig::default() };
    let mut search = Search::new(&config, MAX_PLAYS);
    let mut driver = Driver::new(noise);
    for (ply, position) in random_game("standard", 1, 40).iter().enumerate() {
        if choices(position) > 1 {
            // The same root again and again.
            for _ in 0..5 {
                driver.run(&mut search, position, ply as u32, budget(400, 4));
                assert!(search.nodes() <= 1001, "{}", search.nodes());
            }
        }
    }
}

#[test]
fn noise_changes_the_candidates_and_nothing_else_is_random() {
    let start = "standard".parse::<Rules>().unwrap().start();
    for method in [Method::Gumbel, Method::Puct] {
        let config = SearchConfig { method, ..SearchConfig::default() };
        let run = |game, noise_at_root| {
            let mut search = Search::new(&config, MAX_PLAYS);
            let ask = SearchBudget { simulations: 40, considered: 8, noise: noise_at_root };
            let mut driver = Driver { game, ..Driver::new(noise) };
            driver.run(&mut search, &start, 0, ask);
            search.tree.edges(0).iter().map(|edge| edge.visits).collect::<Vec<_>>()
        };
        assert_eq!(run(7, true), run(7, true));
        assert_eq!(run(7, false), run(8, false));
        assert!((0..4).any(|game| run(game, true) != run(7, true)));
    }
}

/// Whatever noise the root has, the policy is held against what the network said.
#[test]
fn the_surprise_is_the_divergence_from_the_networks_own_policy() {
    let start = "standard".parse::<Rules>().unwrap().start();
    let mut actions = Vec::new();
    start.actions(&mut actions);
    let logits = noise(&start, &actions).1;
    let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
    for method in [Method::Gumbel, Method::Puct] {
        let config = SearchConfig { method, ..SearchConfig::default() };
        let mut search = Search::new(&config, MAX_PLAYS);
        let ask = SearchBudget { simulations: 60, considered: 8, noise: true };
        let result = Driver::new(noise).run(&mut search, &start, 0, ask);
        let prior =
            |play| logits[actions.iter().position(|&own| own == play).unwrap()].exp() / total;
        let held = result.policy.iter().filter(|&&(_, share)| share > 0.0);
        let expected: f32 = held.map(|&(play, share)| share * (share / prior(play)).ln()).sum();
        assert!(expected > 0.1 && (result.surprise - expected).abs() < 1e-4, "{result:?}");
    }
    let same = [0.5, 0.25, 0.25];
    assert_eq!(divergence(same.into_iter(), same.into_iter()), 0.0);
    assert!((divergence([1.0, 0.0].into_iter(), [1e-30, 1.0].into_iter()) - 69.08).abs() < 0.01);
}

#[path = "search/exact_tests.rs"]
mod exact;
