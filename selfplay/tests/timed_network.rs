//! A network under a clock, told by evaluations that take a time of their own: no real clock has a part in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gipf_core::{Position, Rules};
use gipf_model::fake::FakeEvaluator;
use gipf_model::{EvalError, Evaluation, Evaluator, Features};
use gipf_selfplay::{
    Budget, Choice, Clock, GameState, Method, Network, NetworkPlayer, Player, RandomKey, Score,
    SearchConfig, Thought,
};

const LIMIT: u64 = 20_000;

/// Microseconds since the decision began; evaluations move it.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Hand {
    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clock for Hand {
    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.read())
    }

    fn limit(&self) -> Option<Duration> {
        Some(Duration::from_micros(LIMIT))
    }
}

/// Takes so many microseconds a position.
struct Slow {
    fake: FakeEvaluator,
    hand: Hand,
    cost: Arc<AtomicU64>,
}

impl Evaluator for Slow {
    fn evaluate(&mut self, batch: &[Features], out: &mut [Evaluation]) -> Result<(), EvalError> {
        let cost = self.cost.load(Ordering::Relaxed) * batch.len() as u64;
        self.hand.0.fetch_add(cost, Ordering::Relaxed);
        self.fake.evaluate(batch, out)
    }

    fn name(&self) -> String {
        "slow".to_owned()
    }
}

struct Table {
    player: NetworkPlayer<Slow>,
    hand: Hand,
    cost: Arc<AtomicU64>,
    position: Position,
    plays: Vec<gipf_core::Play>,
}

impl Table {
    fn new(method: Method, cost: u64) -> Table {
        let (hand, cost) = (Hand::default(), Arc::new(AtomicU64::new(cost)));
        let slow =
            Slow { fake: FakeEvaluator::new(5), hand: hand.clone(), cost: Arc::clone(&cost) };
        let search = SearchConfig { method, ..SearchConfig::default() };
        let name = "slow".to_owned();
        let network = Network { name, evaluator: slow, search, checkpoint: 0 };
        let position = "standard".parse::<Rules>().unwrap().start();
        let player = NetworkPlayer::new(network).unwrap();
        Table { player, hand, cost, position, plays: Vec::new() }
    }

    /// A decision, and the microseconds it took.
    fn decide(&mut self, listener: Option<&dyn Fn(&Thought)>) -> (Choice, u64) {
        self.hand.0.store(0, Ordering::Relaxed);
        let key = RandomKey { seed: 1, game: 0 };
        let game = GameState { position: &self.position, plays: &self.plays, max_plays: 500, key };
        let budget = Budget { listener, ..Budget::time(&self.hand) };
        let choice = self.player.choose(&game, &budget).unwrap();
        self.position.play(choice.play);
        self.plays.push(choice.play);
        (choice, self.hand.read())
    }
}

#[test]
fn the_time_is_used_in_full_and_not_exceeded() {
    for method in [Method::Gumbel, Method::Puct] {
        let mut table = Table::new(method, 100);
        for decision in 0..30 {
            // The machine becomes four times as slow, and fast again.
            let cost = if (10..20).contains(&decision) { 400 } else { 100 };
            table.cost.store(cost, Ordering::Relaxed);
            let (choice, used) = table.decide(None);
            // A single play is no decision.
            let Some(found) = choice.search else { continue };
            if found.proven {
                break;
            }
            assert!(used <= LIMIT + cost, "{method:?}, decision {decision}: {used} µs");
            // What a fast machine's pace makes of the first slow decision, and the other way round, is one evaluation.
            assert!(used + 500 > LIMIT, "{method:?}, decision {decision}: {used} µs");
            let most = (LIMIT / cost) as u32;
            assert!(found.simulations * 10 >= most * 9, "{} of {most}", found.simulations);
        }
    }
}

/// Halving is planned for what the time allows: the choice has about as many visits as a search by that many nodes gives it,
/// from the first decision on.
#[test]
fn halving_is_planned_for_the_time() {
    let mut table = Table::new(Method::Gumbel, 100);
    for decision in 0..6 {
        let before = (table.position, table.plays.clone());
        let (choice, _) = table.decide(None);
        let timed = choice.search.unwrap();
        let mut other = Table::new(Method::Gumbel, 0);
        (other.position, other.plays) = before;
        let key = RandomKey { seed: 1, game: 0 };
        let game =
            GameState { position: &other.position, plays: &other.plays, max_plays: 500, key };
        let by_nodes = other.player.choose(&game, &Budget::nodes(timed.simulations)).unwrap();
        if decision == 0 {
            // Without a tree from before both are the same search but for rounding of the plan.
            assert_eq!(timed.play, by_nodes.play);
            assert!((timed.value - by_nodes.search.unwrap().value).abs() < 0.05);
        }
        assert!(timed.simulations.abs_diff(LIMIT as u32 / 100) <= 3, "{}", timed.simulations);
    }
}

/// A decision that the clock ends leaves a tree that the next one goes on with.
#[test]
fn the_tree_is_kept_when_time_is_over() {
    for method in [Method::Gumbel, Method::Puct] {
        let mut table = Table::new(method, 100);
        for decision in 0..6 {
            let (choice, _) = table.decide(None);
            let found = choice.search.unwrap();
            assert_eq!(found.visits > found.simulations, decision > 0, "{method:?}, {decision}");
        }
    }
}

#[test]
fn thoughts_are_told_while_it_thinks() {
    let mut table = Table::new(Method::Gumbel, 50);
    let heard = RefCell::new(Vec::new());
    let (choice, _) =
        table.decide(Some(&|thought: &Thought| heard.borrow_mut().push(thought.clone())));
    let heard = heard.into_inner();
    assert!(heard.len() >= 5 && heard.is_sorted_by_key(|thought| thought.nodes), "{}", heard.len());
    let last = choice.thought.unwrap();
    assert_eq!(last.line.first(), Some(&choice.play));
    assert!(last.line.len() >= 2 && last.depth as usize >= last.line.len(), "{last:?}");
    let Some(Score::Outcomes([win, unfinished, loss])) = last.score else { panic!("{last:?}") };
    assert!((win + unfinished + loss - 1.0).abs() < 1e-6 && win > 0.0 && loss > 0.0);
    // The line is a line of the game.
    let mut position = "standard".parse::<Rules>().unwrap().start();
    for play in last.line {
        assert!(position.is_legal(play));
        position.play(play);
    }
}
