//! Openings for matches: a few random plays that leave both sides a fair chance.

use gipf_core::{Play, Position, Rules};
use gipf_model::{EvalError, Evaluator};
use serde::{Deserialize, Serialize};

use crate::contestant::Batch;
use crate::network::{Network, play_budget};
use crate::random::{Purpose, RandomKey, below, weighted};
use crate::search::{Search, SearchResult, Step};

/// Openings that are judged at the same time.
const JUDGED_AT_ONCE: usize = 64;

/// What an opening must be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpeningRule {
    /// Plays, all equally likely.
    pub plays: u32,
    /// New root visits of the judge's search, 1 or more.
    pub simulations: u32,
    /// The least expected score of White that is fair, 0 to 1.
    pub low: f64,
    /// The largest expected score of White that is fair, 0 to 1.
    pub high: f64,
    /// Openings that are tried for one pair of games; if none is fair the one nearest to even is taken. 1 or more.
    pub attempts: u32,
}

impl Default for OpeningRule {
    fn default() -> OpeningRule {
        OpeningRule { plays: 4, simulations: 200, low: 0.35, high: 0.65, attempts: 64 }
    }
}

/// The network that says whether an opening is fair.
pub type Judge = Network<Box<dyn Evaluator>>;

/// A search for the opening of one pair of games.
struct Quest {
    pair: u64,
    attempt: u32,
    plays: Vec<Play>,
    position: Position,
    /// The opening nearest to even so far, and how far from even it is.
    nearest: Option<(f64, Vec<Play>)>,
}

/// Draws openings for pairs `0..pairs`. Pair by pair they depend on the seed and the judge alone. `None`: stopped.
pub(crate) fn draw(
    rule: &OpeningRule,
    rules: &Rules,
    max_plays: u32,
    seed: u64,
    pairs: u64,
    mut judge: Option<&mut Judge>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<Vec<Play>>>, EvalError> {
    let mut openings: Vec<Vec<Play>> = vec![Vec::new(); pairs as usize];
    let Some(judge) = &mut judge else {
        for (pair, opening) in openings.iter_mut().enumerate() {
            *opening = Quest::start(rule, rules, seed, pair as u64).plays;
        }
        return Ok(Some(openings));
    };
    let mut next = 0..pairs;
    let mut batch = Batch::default();
    let mut result = SearchResult::default();
    let mut desks: Vec<(Search, Option<Quest>)> = (0..JUDGED_AT_ONCE.min(pairs as usize))
        .map(|_| (Search::new(&judge.search, max_plays), None))
        .collect();
    loop {
        if stop() {
            return Ok(None);
        }
        for (index, (search, quest)) in desks.iter_mut().enumerate() {
            loop {
                if quest.is_none() {
                    *quest = next.next().map(|pair| Quest::start(rule, rules, seed, pair));
                    quest.iter().for_each(|quest| quest.begin(rule, judge, search, seed));
                }
                let Some(open) = quest else { break };
                if search.step(batch.room()) == Step::Evaluate {
                    batch.push(index);
                    break;
                }
                search.result(&mut result);
                let pair = open.pair as usize;
                match open.judged(rule, rules, seed, f64::from(result.value)) {
                    Some(plays) => {
                        openings[pair] = plays;
                        *quest = None;
                    }
                    None => open.begin(rule, judge, search, seed),
                }
            }
        }
        let rows = batch.evaluate(&mut *judge.evaluator, |index, evaluation| {
            desks[index].0.absorb(evaluation)
        })?;
        if rows == 0 {
            return Ok(Some(openings));
        }
    }
}

impl Quest {
    fn start(rule: &OpeningRule, rules: &Rules, seed: u64, pair: u64) -> Quest {
        let mut quest =
            Quest { pair, attempt: 0, plays: Vec::new(), position: rules.start(), nearest: None };
        quest.draw(rule, rules, seed);
        quest
    }

    /// Draws the present attempt's plays; where they end the game, or leave nothing to choose, the next one's.
    fn draw(&mut self, rule: &OpeningRule, rules: &Rules, seed: u64) {
        while self.attempt < rule.attempts.max(1) {
            let mut rng =
                RandomKey { seed, game: self.pair }.stream(self.attempt, Purpose::MatchOpening);
            (self.position, self.plays) = (rules.start(), Vec::new());
            let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
            for _ in 0..rule.plays {
                let play = if self.position.is_chance() {
                    self.position.outcomes(&mut outcomes);
                    outcomes
                        .get(weighted(&mut rng, outcomes.iter().map(|outcome| outcome.1)))
                        .map(|outcome| outcome.0)
                } else if self.position.is_over() {
                    None
                } else {
                    self.position.actions(&mut actions);
                    actions.get(below(&mut rng, actions.len().max(1))).copied()
                };
                let Some(play) = play else { break };
                self.position.play(play);
                self.plays.push(play);
            }
            if self.position.decider().is_some() {
                self.position.actions(&mut actions);
                if actions.len() > 1 {
                    return;
                }
            }
            self.attempt += 1;
        }
    }

    fn begin(&self, rule: &OpeningRule, judge: &Judge, search: &mut Search, seed: u64) {
        let noise = RandomKey { seed, game: self.pair }.stream(0, Purpose::Noise);
        search.begin(
            &self.position,
            self.plays.len() as u32,
            play_budget(&judge.search, rule.simulations),
            noise,
        );
    }

    /// Takes White's value of the present opening: the opening to use, or `None` and the next attempt is drawn.
    fn judged(
        &mut self,
        rule: &OpeningRule,
        rules: &Rules,
        seed: u64,
        value: f64,
    ) -> Option<Vec<Play>> {
        let score = (value + 1.0) * 0.5;
        let distance = (score - 0.5).abs();
        if self.nearest.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
            self.nearest = Some((distance, self.plays.clone()));
        }
        let fair = (rule.low..=rule.high).contains(&score);
        self.attempt += 1;
        if !fair {
            self.draw(rule, rules, seed);
        }
        (fair || self.attempt >= rule.attempts.max(1))
            .then(|| self.nearest.take().map(|near| near.1).unwrap_or_default())
    }
}
