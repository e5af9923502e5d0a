//! A search with several threads: it finds what it finds alone, however long their shares take.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use gipf_core::{Play, Rules};
use gipf_model::fake::FakeEvaluator;
use gipf_model::{EvalError, Evaluation, Evaluator, Features};
use gipf_selfplay::{
    Budget, Choice, GameState, NetworkPlayer, Player, PlayerError, RandomKey, Timer,
};

/// A fake evaluator that takes its time, and breaks down after so many positions.
struct Odd {
    inner: FakeEvaluator,
    pause: Duration,
    left: usize,
}

impl Evaluator for Odd {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        std::thread::sleep(self.pause);
        let failed = EvalError::Backend { name: "odd".to_owned(), message: "no more".to_owned() };
        self.left = self.left.checked_sub(batch.len()).ok_or(failed)?;
        self.inner.evaluate(batch, out)
    }

    fn name(&self) -> String {
        "odd".to_owned()
    }
}

fn odd(pause: u64, left: usize) -> Odd {
    Odd { inner: FakeEvaluator::new(3), pause: Duration::from_micros(pause), left }
}

fn player(pauses: &[u64]) -> NetworkPlayer<Odd> {
    let helpers = pauses.iter().map(|&pause| odd(pause, usize::MAX)).collect();
    let own = odd(0, usize::MAX);
    NetworkPlayer::with_default_search("it".to_owned(), own, 0).with_helpers(helpers).unwrap()
}

fn choose(
    player: &mut NetworkPlayer<Odd>,
    rules: &Rules,
    plays: &[Play],
    budget: &Budget<'_>,
) -> Result<Choice, PlayerError> {
    let mut position = rules.start();
    plays.iter().for_each(|&play| position.play(play));
    let key = RandomKey { seed: 1, game: 0 };
    player.choose(&GameState { position: &position, plays, max_plays: 300, key }, budget)
}

#[test]
fn several_threads_find_what_one_finds() {
    for (text, nodes) in
        [("standard", 1), ("standard", 100), ("tournament+Z4Y4", 64), ("basic", 400)]
    {
        let rules: Rules = text.parse().unwrap();
        // One game after the other, so that trees are kept from play to play.
        let [mut alone, mut two, mut five] = [&[][..], &[0], &[0, 300, 20, 0]].map(player);
        let mut plays = Vec::new();
        for _ in 0..8 {
            let budget = Budget { candidates: 100, ..Budget::nodes(nodes) };
            let expected = choose(&mut alone, &rules, &plays, &budget).unwrap();
            for other in [&mut two, &mut five] {
                let found = choose(other, &rules, &plays, &budget).unwrap();
                assert_eq!(found, expected, "{text}, {nodes} nodes, after {plays:?}");
            }
            plays.push(expected.play);
        }
    }
}

/// To the end of games, where proofs change what a row visits, and with searches that end within a row of a kept tree.
#[test]
fn they_find_the_same_to_the_end_of_a_game() {
    for (text, nodes) in [("basic", 12), ("basic", 200), ("standard+Z4", 200)] {
        let rules: Rules = text.parse().unwrap();
        let [mut alone, mut three] = [&[][..], &[0, 0]].map(player);
        let (mut plays, mut position, mut proven) = (Vec::new(), rules.start(), 0);
        while !position.is_over() && plays.len() < 300 {
            let budget = Budget { candidates: 100, ..Budget::nodes(nodes) };
            let expected = choose(&mut alone, &rules, &plays, &budget).unwrap();
            let found = choose(&mut three, &rules, &plays, &budget).unwrap();
            assert_eq!(found, expected, "{text}, {nodes} nodes, after {plays:?}");
            proven += u32::from(expected.search.is_some_and(|search| search.proven));
            position.play(expected.play);
            plays.push(expected.play);
        }
        assert!(plays.len() == 300 || proven > 0, "{text}: an end that nobody saw coming");
    }
}

#[test]
fn a_thread_that_fails_is_an_error_and_the_next_decision_begins_anew() {
    let rules: Rules = "standard".parse().unwrap();
    // Slow enough itself that its helper begins its share, and not it.
    let (own, helpers) = (odd(3_000, usize::MAX), vec![odd(0, 20)]);
    let player = NetworkPlayer::with_default_search("it".to_owned(), own, 0);
    let mut player = player.with_helpers(helpers).unwrap();
    let budget = Budget::nodes(200);
    for _ in 0..2 {
        let error = choose(&mut player, &rules, &[], &budget).unwrap_err();
        assert!(error.to_string().contains("no more"), "{error}");
    }
}

#[test]
fn time_is_kept_with_threads() {
    let rules: Rules = "standard".parse().unwrap();
    let mut player = player(&[50]);
    for _ in 0..4 {
        let timer = Timer::new(Some(Duration::from_millis(100)));
        let choice = choose(&mut player, &rules, &[], &Budget::time(&timer)).unwrap();
        assert!(choice.thought.unwrap().nodes > 50);
        let took = gipf_selfplay::Clock::elapsed(&timer);
        assert!(took < Duration::from_millis(600), "{took:?}");
        player.new_game();
    }
}
