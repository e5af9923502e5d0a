//! A study under way: rounds of games, their results, and the table.

use std::collections::BTreeMap;

use gipf_core::record::GameResult;
use serde::{Deserialize, Serialize};

use super::estimate::{Interval, Tally};
use super::plan::{Budget, Design, End, Progress, next_round};
use super::space::MOST_RULES;
use super::verdict::{Standing, TABLE_ERROR, Table};

/// Most games of a rules string in the smallest round.
const MOST_ROUND: u32 = 1_000_000;

/// Rules strings that games are played by until their verdicts are known.
///
/// Games are shared out in rounds. What the next round is depends on the games of all whole rounds before it, not on the
/// order in which they ended; and the table is that of the last whole round. So a study is the same for any number of
/// threads, and can be stored at any moment and gone on with.
///
/// The adaptive design leaves out what is decided. It sorts the others by the games that their verdicts would still take if
/// scores are what they seem. The nearer half, as far as the budget pays for all of their verdicts together, gets a full
/// share (the smallest round, or an eighth of the games they have had), the others a quarter of it, so that nobody starves
/// whose first games misled. Those whose verdicts would take more games than the budget has left, even if their scores lay
/// a standard error farther from every boundary, and those whose openings are used up get nothing; when nobody else is left
/// the study ends, and what is left of the budget is saved. Whatever the design does, intervals and verdicts hold: they are valid at every number of games of each rules string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Study {
    design: Design,
    budget: Budget,
    smallest_round: u32,
    rounds: u64,
    lines: Vec<Progress>,
    /// The games of the round under way for each rules string, or why there is none.
    plan: Result<Vec<u64>, End>,
    /// Its games that have ended.
    ended: BTreeMap<StudyGame, Ended>,
}

/// One game of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyGame {
    /// The rules string's number, from 0.
    pub rules: usize,
    /// The game's number among those by this rules string, from 0 without gaps.
    pub game: u64,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    opening: u64,
    result: GameResult,
    /// It repeats another game, play for play.
    #[serde(default)]
    repeated: bool,
}

/// What a study cannot do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StudyError {
    /// A number out of its range.
    #[error("{what} is {value}: allowed are {allowed}")]
    Range {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: String,
        /// Its range.
        allowed: String,
    },
    /// A game that the round under way does not have.
    #[error("game {game} of rules string {rules} is not one of this round's")]
    NotOfThisRound {
        /// The rules string's number.
        rules: usize,
        /// The game's number.
        game: u64,
    },
    /// A game that ended before.
    #[error("game {game} of rules string {rules} has ended before")]
    Twice {
        /// The rules string's number.
        rules: usize,
        /// The game's number.
        game: u64,
    },
    /// A stored study that contradicts itself.
    #[error("the stored study: {0}")]
    Stored(String),
}

impl Study {
    /// A study of so many rules strings, 1 to [`MOST_RULES`], before its first game. `smallest_round` is the number of games
    /// that each gets in the first round, 1 to 1,000,000; later rounds are larger where a rules string has had many games.
    ///
    /// # Errors
    /// A number out of its range.
    pub fn new(
        rules: usize,
        design: Design,
        budget: Budget,
        smallest_round: u32,
    ) -> Result<Study, StudyError> {
        check("rules", rules as u64, MOST_RULES as u64)?;
        check("smallest_round", u64::from(smallest_round), u64::from(MOST_ROUND))?;
        check_budget(budget)?;
        let line = Progress { tally: Tally::default(), repeated: 0, bounds: Interval::ALL };
        let lines = vec![line; rules];
        let ended = BTreeMap::new();
        let plan = Err(End::Spent);
        let mut study = Study { design, budget, smallest_round, rounds: 0, lines, plan, ended };
        study.plan_round();
        Ok(study)
    }

    /// Another budget, so that a study that ended goes on. A round under way stays as it is.
    ///
    /// # Errors
    /// A number out of its range.
    pub fn set_budget(&mut self, budget: Budget) -> Result<(), StudyError> {
        check_budget(budget)?;
        self.budget = budget;
        if self.plan.is_err() {
            self.plan_round();
        }
        Ok(())
    }

    /// The number of rules strings.
    pub fn rules(&self) -> usize {
        self.lines.len()
    }

    /// Whole rounds.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Games of whole rounds, those that repeated another one included.
    pub fn games(&self) -> u64 {
        self.lines.iter().map(Progress::played).sum()
    }

    /// Games of whole rounds by one rules string, those that repeated another one included: their numbers are those below it.
    /// 0 beyond the last rules string.
    pub fn played(&self, rules: usize) -> u64 {
        self.lines.get(rules).map_or(0, Progress::played)
    }

    /// Why there are no more games; `None` while there are.
    pub fn end(&self) -> Option<End> {
        self.plan.as_ref().err().copied()
    }

    /// The games of the round under way that have not ended, in order; none when the study is at its end.
    pub fn pending(&self) -> impl Iterator<Item = StudyGame> {
        let planned = self.plan.iter().flatten().zip(&self.lines).enumerate();
        planned
            .flat_map(|(rules, (&games, line))| {
                let first = line.played();
                (first..first + games).map(move |game| StudyGame { rules, game })
            })
            .filter(|game| !self.ended.contains_key(game))
    }

    /// Takes a game's result, in any order within the round. `opening` is a key of the game's first plays, by which games
    /// count as alike. Tells whether the round is whole with it: then the table is new, and so are the pending games.
    ///
    /// # Errors
    /// A game that is not pending; nothing is changed then.
    pub fn report(
        &mut self,
        game: StudyGame,
        opening: u64,
        result: GameResult,
    ) -> Result<bool, StudyError> {
        self.take(game, Ended { opening, result, repeated: false })
    }

    /// Takes a game that was the same, play for play, as another one by its rules string: it is a part of the budget, but it
    /// tells nothing, and no score counts it. Otherwise as [`Study::report`].
    ///
    /// # Errors
    /// A game that is not pending; nothing is changed then.
    pub fn report_repeated(&mut self, game: StudyGame) -> Result<bool, StudyError> {
        let nothing = Ended { opening: 0, result: GameResult::Unfinished, repeated: true };
        self.take(game, nothing)
    }

    fn take(&mut self, game: StudyGame, ended: Ended) -> Result<bool, StudyError> {
        let StudyGame { rules, game: number } = game;
        let planned = self.plan.as_ref().ok().and_then(|plan| plan.get(rules)).copied();
        let first = self.played(rules);
        if !(first..first + planned.unwrap_or(0)).contains(&number) {
            return Err(StudyError::NotOfThisRound { rules, game: number });
        }
        if self.ended.contains_key(&game) {
            return Err(StudyError::Twice { rules, game: number });
        }
        self.ended.insert(game, ended);
        let whole = self.plan.iter().flatten().sum::<u64>() == self.ended.len() as u64;
        if whole {
            self.close_round();
        }
        Ok(whole)
    }

    /// What the whole rounds say.
    pub fn table(&self) -> Table {
        let standing = |(rules, line): (usize, &Progress)| Standing::new(rules, line);
        Table { standings: self.lines.iter().enumerate().map(standing).collect() }
    }

    /// The games of whole rounds by one rules string; `None` beyond the last one.
    pub fn tally(&self, rules: usize) -> Option<&Tally> {
        self.lines.get(rules).map(|line| &line.tally)
    }

    fn close_round(&mut self) {
        let alpha = TABLE_ERROR / self.lines.len() as f64;
        for (game, Ended { opening, result, repeated }) in std::mem::take(&mut self.ended) {
            let line = &mut self.lines[game.rules];
            if repeated {
                line.repeated += 1;
            } else {
                line.tally.add(opening, result);
            }
        }
        let planned = self.plan.as_deref().unwrap_or_default();
        for (line, _) in self.lines.iter_mut().zip(planned).filter(|&(_, &games)| games > 0) {
            let now = line.tally.anytime_interval(alpha).rounded();
            // All of them cover the score with the probability promised, so what they have in common does. Two that
            // have nothing in common show that one of them does not; then the one of more games counts.
            line.bounds = now.common(&line.bounds).unwrap_or(now);
        }
        self.rounds += 1;
        self.plan_round();
    }

    fn plan_round(&mut self) {
        self.plan = next_round(&self.lines, self.design, self.budget, self.smallest_round);
    }
}

fn check(what: &'static str, value: u64, most: u64) -> Result<(), StudyError> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(StudyError::Range { what, value: value.to_string(), allowed: format!("1 to {most}") })
}

fn check_budget(budget: Budget) -> Result<(), StudyError> {
    match budget {
        Budget::Width(width) if !(width > 0.0 && width <= 1.0) => {
            let allowed = "numbers above 0, at most 1".to_owned();
            Err(StudyError::Range { what: "width", value: width.to_string(), allowed })
        }
        Budget::Games(games) => check("games", games, u64::MAX),
        Budget::Width(_) | Budget::Open => Ok(()),
    }
}

/// A study as it is stored: one that was read is checked, then it is a [`Study`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    design: Design,
    budget: Budget,
    smallest_round: u32,
    rounds: u64,
    lines: Vec<Progress>,
    /// Empty when the study is at its end.
    plan: Vec<u64>,
    ended: Vec<(StudyGame, Ended)>,
}

impl From<Study> for Saved {
    fn from(study: Study) -> Saved {
        Saved {
            design: study.design,
            budget: study.budget,
            smallest_round: study.smallest_round,
            rounds: study.rounds,
            lines: study.lines,
            plan: study.plan.unwrap_or_default(),
            ended: study.ended.into_iter().collect(),
        }
    }
}

impl TryFrom<Saved> for Study {
    type Error = StudyError;

    fn try_from(saved: Saved) -> Result<Study, StudyError> {
        let Saved { design, budget, smallest_round, rounds, lines, plan, ended } = saved;
        let mut study = Study::new(lines.len(), design, budget, smallest_round)?;
        let stored = |fault: String| Err(StudyError::Stored(fault));
        let sound = |bounds: &Interval| {
            0.0 <= bounds.low && bounds.low <= bounds.high && bounds.high <= 1.0
        };
        if let Some(wrong) = lines.iter().position(|line| !sound(&line.bounds)) {
            return stored(format!(
                "rules string {wrong} has bounds that are no interval from 0 to 1"
            ));
        }
        let sum = |sum: u64, line: &Progress| {
            sum.checked_add(line.repeated)?.checked_add(line.tally.games())
        };
        if lines.iter().try_fold(0, sum).is_none() {
            return stored("its games are more than can be counted".to_owned());
        }
        study.rounds = rounds;
        study.lines = lines;
        study.plan_round();
        if plan.is_empty() {
            return if ended.is_empty() {
                Ok(study)
            } else {
                stored("games without a round".to_owned())
            };
        }
        // With the games before, so that no game's number overflows.
        let total = plan.iter().try_fold(study.games(), |sum, &games| sum.checked_add(games));
        let before = study.games() + ended.len() as u64;
        if plan.len() != study.rules() || total.is_none_or(|total| total <= before) {
            return stored("its round has not the games that it must have".to_owned());
        }
        study.plan = Ok(plan);
        for (game, ended) in ended {
            study.take(game, ended)?;
        }
        Ok(study)
    }
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
