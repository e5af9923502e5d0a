//! The baselines: alpha-beta and MCTS.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use gipf_core::{Play, Rules};
use gipf_selfplay::{Budget, BuiltIn, GameState, Player, RandomKey};

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
