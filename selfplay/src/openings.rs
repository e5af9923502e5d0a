//! Openings for matches: a few random plays that leave both sides a fair chance.

use std::collections::BTreeMap;
use std::ops::Range;

use gipf_core::{Play, Position, Rules};
use gipf_model::{EvalError, Evaluator};
use serde::{Deserialize, Serialize};

use crate::contestant::Batch;
use crate::network::{Network, play_budget};
use crate::random::{Purpose, RandomKey, below, weighted};
use crate::search::{Search, SearchResult, Step};

/// Pairs of games whose openings are drawn, and judged, at the same time.
const BLOCK: u64 = 64;

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

/// What openings are drawn for.
#[derive(Clone, Copy)]
pub(crate) struct OpeningFrame<'a> {
    /// What they must be like.
    pub(crate) rule: &'a OpeningRule,
    /// The rules of the games.
    pub(crate) rules: &'a Rules,
    /// The limit of plays.
    pub(crate) max_plays: u32,
    /// The seed.
    pub(crate) seed: u64,
    /// Pairs of the whole match.
    pub(crate) pairs: u64,
}

/// The openings of a match, drawn in blocks as they are asked for.
pub(crate) struct Book {
    judge: Option<Judge>,
    blocks: BTreeMap<u64, Vec<Vec<Play>>>,
}

impl Book {
    /// A book without an opening; with a judge only what it calls fair comes in.
    pub(crate) fn new(judge: Option<Judge>) -> Book {
        Book { judge, blocks: BTreeMap::new() }
    }

    /// The opening of a pair, which depends on the seed, the pair's number and the judge alone. `None`: stopped.
    pub(crate) fn opening(
        &mut self,
        frame: OpeningFrame<'_>,
        pair: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Play>>, EvalError> {
        let block = pair / BLOCK;
        if !self.blocks.contains_key(&block) {
            let pairs = block * BLOCK..((block + 1) * BLOCK).min(frame.pairs);
            let Some(drawn) = draw(frame, pairs, self.judge.as_mut(), stop)? else {
                return Ok(None);
            };
            self.blocks.insert(block, drawn);
        }
        let place = (pair % BLOCK) as usize;
        Ok(self.blocks.get(&block).and_then(|openings| openings.get(place)).cloned())
    }
}

/// Draws the openings of these pairs. `None`: stopped.
fn draw(
    frame: OpeningFrame<'_>,
    pairs: Range<u64>,
    judge: Option<&mut Judge>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<Vec<Play>>>, EvalError> {
    let OpeningFrame { rule, rules, max_plays, seed, .. } = frame;
    let Some(judge) = judge else {
        let plays = |pair| Quest::start(rule, rules, seed, pair).plays;
        return Ok(Some(pairs.map(plays).collect()));
    };
    let first = pairs.start;
    let mut openings: Vec<Vec<Play>> = pairs.clone().map(|_| Vec::new()).collect();
    let mut next = pairs;
    let mut batch = Batch::default();
    let mut result = SearchResult::default();
    let mut desks: Vec<(Search, Option<Quest>)> =
        openings.iter().map(|_| (Search::new(&judge.search, max_plays), None)).collect();
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
                let pair = (open.pair - first) as usize;
                match open.judged(rule, rules, seed, f64::from(result.value)) {
                    Some(plays) => {
                        openings[pair] = plays;
                        *quest = None;
                    }
                    None => open.begin(rule, judge, search, seed),
                }
            }
        }
        if batch.owners().is_empty() {
            return Ok(Some(openings));
        }
        batch.evaluate(&mut *judge.evaluator)?;
        batch.deliver(|index, evaluation| desks[index].0.absorb(evaluation));
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
