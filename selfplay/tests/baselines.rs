//! The baselines: alpha-beta and MCTS.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::time::Duration;

use gipf_core::{Color, Play, Position, Rules};
use gipf_selfplay::{Budget, BuiltIn, Choice, Clock, GameState, Player, RandomKey, Score, Thought};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// The rules strings of the test vectors.
const RULES: [&str; 18] = [
    "basic",
    "basic:18/15",
    "basic+T6",
    "standard",
    "standard+T6",
    "standard+Z6",
    "standard+D6",
    "standard+Y6",
    "standard+P6",
    "standard+P6;punct=convert",
    "standard+D4P4",
    "standard+D4P4;punct=convert",
    "standard+T4Z4D4;challenge=rps;limit=2",
    "tournament",
    "tournament+T4Z4D4",
    "tournament+T6|Z6",
    "ultimate",
    "ultimate;punct=convert",
];

fn rules(text: &str) -> Rules {
    text.parse().unwrap()
}

fn key(game: u64) -> RandomKey {
    RandomKey { seed: 1, game }
}

/// Plays a game from its start, both sides by this player; the side games end as the position lists first.
fn game(player: &mut dyn Player, rules: &Rules, max_plays: u32, budget: &Budget<'_>) -> Vec<Play> {
    let (mut position, mut plays, mut outcomes) = (rules.start(), Vec::new(), Vec::new());
    player.new_game();
    while !position.is_over() && (plays.len() as u32) < max_plays {
        let play = if position.is_chance() {
            position.outcomes(&mut outcomes);
            outcomes[plays.len() % outcomes.len()].0
        } else {
            let state = GameState { position: &position, plays: &plays, max_plays, key: key(0) };
            player.choose(&state, budget).unwrap().play
        };
        position.try_play(play).unwrap();
        plays.push(play);
    }
    plays
}

#[test]
fn plays_are_legal_in_every_variant() {
    for text in RULES.into_iter().chain(["tournament+Z6;challenge=chance:0.2/0/0.8;kinds=Z"]) {
        for player in [BuiltIn::AlphaBeta { depth: None }, BuiltIn::Mcts { playouts: Some(40) }] {
            let plays = game(&mut *player.player(), &rules(text), 150, &Budget::nodes(60));
            assert!(plays.len() > 10, "{text}: {player}");
        }
    }
}

fn choose(player: BuiltIn, position: &Position, max_plays: u32, budget: &Budget<'_>) -> Choice {
    let state = GameState { position, plays: &[], max_plays, key: key(3) };
    player.player().choose(&state, budget).unwrap()
}

/// Plays that win at once, by trying each.
fn winning_plays(position: &Position) -> Vec<Play> {
    let mut plays = Vec::new();
    position.actions(&mut plays);
    plays.retain(|&play| {
        let mut after = *position;
        after.play(play);
        after.winner() == position.decider()
    });
    plays
}

/// Whether the side to decide can win within so many plays, by trying everything.
fn wins_within(position: &Position, color: Color, plays: u32) -> bool {
    if let Some(winner) = position.winner() {
        return winner == color;
    }
    if plays == 0 {
        return false;
    }
    let mut actions = Vec::new();
    position.actions(&mut actions);
    let mut after = actions.into_iter().map(|play| {
        let mut after = *position;
        after.play(play);
        after
    });
    if position.decider() == Some(color) {
        after.any(|after| wins_within(&after, color, plays - 1))
    } else {
        after.all(|after| wins_within(&after, color, plays - 1))
    }
}

/// Positions late in random games in which the decider can win in exactly so many plays.
fn won_positions(plays: u32, count: usize) -> Vec<Position> {
    let mut rng = SmallRng::seed_from_u64(u64::from(plays));
    let mut found = Vec::new();
    let mut actions = Vec::new();
    for text in ["basic", "standard", "tournament", "standard+D4P4", "standard+T4Z4"].iter().cycle()
    {
        if found.len() == count {
            break;
        }
        let mut position = rules(text).start();
        let mut visited = Vec::new();
        while !position.is_over() {
            visited.push(position);
            position.actions(&mut actions);
            position.play(actions[rng.random_range(0..actions.len())]);
        }
        let late = visited.into_iter().rev().skip(plays as usize - 1).take(4);
        let won = late.into_iter().find(|position| {
            let color = position.decider().unwrap();
            wins_within(position, color, plays) && !wins_within(position, color, plays - 1)
        });
        found.extend(won);
    }
    found
}

#[test]
fn alpha_beta_finds_wins_and_says_how_far_they_are() {
    for plays in 1..=3 {
        for position in won_positions(plays, 10) {
            let player = BuiltIn::AlphaBeta { depth: Some(plays) };
            let choice = choose(player, &position, 500, &Budget::default());
            let mut actions = Vec::new();
            position.actions(&mut actions);
            if actions.len() == 1 {
                continue;
            }
            let thought = choice.thought.unwrap();
            let Some(Score::Proven(found)) = thought.score else {
                panic!("{plays}: {:?} in {position}", thought.score)
            };
            assert_eq!(found, plays as i32, "{position}");
            let mut after = position;
            after.play(choice.play);
            let color = position.decider().unwrap();
            assert!(wins_within(&after, color, plays - 1), "{} in {position}", choice.play);
            assert_eq!(thought.line[0], choice.play);
        }
    }
}

#[test]
fn mcts_plays_a_win_in_one_and_proves_it() {
    for position in won_positions(1, 20) {
        let choice =
            choose(BuiltIn::Mcts { playouts: Some(400) }, &position, 500, &Budget::default());
        assert!(winning_plays(&position).contains(&choice.play), "{} in {position}", choice.play);
        if let Some(thought) = choice.thought {
            assert_eq!(thought.score, Some(Score::Proven(1)), "{position}");
        }
    }
}

/// With one play left to the limit the game is unfinished unless it is won at once.
#[test]
fn the_limit_of_plays_is_known() {
    for player in [BuiltIn::AlphaBeta { depth: Some(6) }, BuiltIn::Mcts { playouts: Some(200) }] {
        let start = rules("standard").start();
        let thought = choose(player, &start, 1, &Budget::default()).thought.unwrap();
        match thought.score.unwrap() {
            Score::Material(value) => assert_eq!((value, thought.depth), (0, 1)),
            score => assert_eq!(score, Score::Outcomes([0.0, 1.0, 0.0])),
        }
    }
}

#[test]
fn nodes_and_depth_are_limits_and_a_number_in_the_name_is_exact() {
    let start = rules("standard").start();
    let thought =
        |player, budget: &Budget<'_>| choose(player, &start, 500, budget).thought.unwrap();
    let alphabeta = BuiltIn::AlphaBeta { depth: None };
    for nodes in [1, 2, 100, 5_000] {
        let found = thought(alphabeta, &Budget::nodes(nodes)).nodes;
        assert!((1..=u64::from(nodes)).contains(&found), "{found} of {nodes}");
        assert_eq!(
            thought(BuiltIn::Mcts { playouts: None }, &Budget::nodes(nodes)).nodes,
            u64::from(nodes)
        );
    }
    assert_eq!(thought(alphabeta, &Budget::depth(3)).depth, 3);
    assert_eq!(thought(alphabeta, &Budget::default()).depth, 4);
    let exact = BuiltIn::AlphaBeta { depth: Some(3) };
    assert_eq!(thought(exact, &Budget { nodes: Some(10), ..Budget::depth(1) }).depth, 3);
    assert_eq!(thought(BuiltIn::Mcts { playouts: Some(77) }, &Budget::nodes(10)).nodes, 77);
    assert_eq!(thought(BuiltIn::Mcts { playouts: None }, &Budget::default()).nodes, 2_000);
}

/// A clock that has run out after so many looks.
struct Looks {
    left: Cell<u32>,
    limit: Option<Duration>,
}

impl Clock for Looks {
    fn elapsed(&self) -> Duration {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 { Duration::from_secs(1) } else { Duration::ZERO }
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn is_stopped(&self) -> bool {
        self.limit.is_none() && self.elapsed() > Duration::ZERO
    }
}

#[test]
fn the_clock_ends_the_thinking() {
    let start = rules("tournament+T4Z4D4").start();
    for player in [BuiltIn::AlphaBeta { depth: None }, BuiltIn::Mcts { playouts: None }] {
        for looks in [0, 1, 5, 50] {
            let clock = Looks { left: Cell::new(looks), limit: Some(Duration::from_millis(50)) };
            let choice = choose(player, &start, 500, &Budget::time(&clock));
            assert!(start.is_legal(choice.play));
            // A look every 128 positions, or every 8 playouts.
            let nodes = choice.thought.unwrap().nodes;
            let most = if matches!(player, BuiltIn::Mcts { .. }) { 8 } else { 128 };
            assert!(nodes <= most * u64::from(looks), "{player}: {nodes} positions, {looks} looks");
        }
    }
    // A wish to stop ends a search of fixed depth too; a limit does not.
    let exact = BuiltIn::AlphaBeta { depth: Some(3) };
    let stopped = Looks { left: Cell::new(0), limit: None };
    assert_eq!(choose(exact, &start, 500, &Budget::time(&stopped)).thought.unwrap().depth, 0);
    let late = Looks { left: Cell::new(0), limit: Some(Duration::ZERO) };
    assert_eq!(choose(exact, &start, 500, &Budget::time(&late)).thought.unwrap().depth, 3);
}

#[test]
fn a_listener_hears_of_every_depth() {
    let heard = RefCell::new(Vec::new());
    let listener = |thought: &Thought| heard.borrow_mut().push(thought.clone());
    let start = rules("standard").start();
    let budget = Budget { listener: Some(&listener), ..Budget::depth(4) };
    let choice = choose(BuiltIn::AlphaBeta { depth: None }, &start, 500, &budget);
    let heard = heard.into_inner();
    assert_eq!(heard.iter().map(|thought| thought.depth).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(heard.windows(2).all(|pair| pair[0].nodes < pair[1].nodes));
    assert_eq!(heard[3].line[0], choice.play);
    for thought in &heard {
        let mut position = start;
        thought.line.iter().for_each(|&play| position.try_play(play).unwrap());
        assert!(!thought.line.is_empty());
    }
}

/// What a player was asked before leaves no trace, and another key breaks ties in another way.
#[test]
fn a_choice_depends_on_the_game_and_the_budget_alone() {
    let rules = rules("standard+T4Z4D4");
    for (built_in, budget) in [
        (BuiltIn::AlphaBeta { depth: Some(2) }, Budget::default()),
        (BuiltIn::AlphaBeta { depth: None }, Budget::nodes(700)),
        (BuiltIn::Mcts { playouts: Some(60) }, Budget::default()),
    ] {
        let mut player = built_in.player();
        let first = game(&mut *player, &rules, 40, &budget);
        assert_eq!(game(&mut *player, &rules, 40, &budget), first, "{built_in}");
        let start = rules.start();
        let openings = (0..20).map(|number| {
            let state =
                GameState { position: &start, plays: &[], max_plays: 500, key: key(number) };
            player.choose(&state, &budget).unwrap().play
        });
        assert!(openings.collect::<HashSet<_>>().len() > 1, "{built_in}");
    }
}
