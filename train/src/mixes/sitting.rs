//! A study at work: rounds of games until its budget is used up, written down so that it goes on after anything.

use std::collections::HashSet;
use std::sync::Arc;

use gipf_core::Rules;
use gipf_selfplay::WorkerIdentity;
use gipf_selfplay::study::{Budget, Design, End, Study, StudyGame, Table};
use serde::{Deserialize, Serialize};

use super::book::Book;
use super::crew::Crew;
use super::error::MixesError;
use super::setup::Setup;
use super::summary::GameSummary;
use crate::identity::nonce;

const FORMAT: &str = "gipf-mixes-study-1";
/// Games of a rules string in a round at least.
const ROUND: u32 = 32;

/// A study as it is stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    rules: Vec<String>,
    study: Study,
}

/// Where a study stands while it is played.
#[derive(Debug, Clone, Copy)]
pub struct Course {
    /// Games of whole rounds, and of them those by this call.
    pub games: u64,
    /// Whole rounds.
    pub rounds: u64,
    /// Games of the round under way, and of them those that have ended.
    pub round: [u64; 2],
    /// Games that were played by this call.
    pub played: u64,
}

/// A study of a space with a book's games.
pub struct Sitting<'a> {
    book: &'a mut Book,
    name: String,
    rules: Vec<Rules>,
    identities: Vec<Arc<WorkerIdentity>>,
    study: Study,
    design: Design,
    /// The courses of the games that count, for each rules string.
    seen: Vec<HashSet<u64>>,
    played: u64,
}

impl<'a> Sitting<'a> {
    /// The study of these rules strings by a design: the stored one with a new budget, or a new one. Games that the book holds
    /// already are taken as the study asks for them.
    ///
    /// # Errors
    /// The stored study is damaged, or a number is out of its range.
    pub fn open(
        book: &'a mut Book,
        rules: &[Rules],
        design: Design,
        budget: Budget,
    ) -> Result<Self, MixesError> {
        let texts: Vec<String> = rules.iter().map(Rules::to_string).collect();
        let kind = match design {
            Design::Even => "even",
            Design::Adaptive => "adaptive",
        };
        let name = nonce(&format!("{kind} {}", texts.join(" ")));
        let study = match book.read_study::<Stored>(&name)? {
            None => Study::new(rules.len(), design, budget, ROUND)?,
            Some(stored) => {
                let damaged = |what: &str| MixesError::damaged(&book.study_path(&name), what);
                if stored.format != FORMAT {
                    return Err(damaged("it is of another version"));
                }
                if stored.rules != texts || stored.study.rules() != rules.len() {
                    return Err(damaged("it is a study of another space"));
                }
                let mut study = stored.study;
                study.set_budget(budget)?;
                study
            }
        };
        let setup = book.setup().clone();
        let identities = rules.iter().map(|rules| setup.identity(rules)).collect();
        let seen = vec![HashSet::new(); rules.len()];
        let rules = rules.to_vec();
        let mut sitting = Sitting { book, name, rules, identities, study, design, seen, played: 0 };
        if let Some((rules, number)) = sitting.lost() {
            // What is left is used again where the study comes to it, and what is gone is played again.
            let folder = sitting.book.folder().display();
            tracing::warn!(
                "{folder}: game {number} of {rules} is gone: what is gone is played again"
            );
            sitting.study = Study::new(sitting.rules.len(), design, budget, ROUND)?;
        }
        for index in 0..sitting.rules.len() {
            sitting.recall(index);
        }
        Ok(sitting)
    }

    /// A game that the study has counted and that is not there: its rules string and number.
    fn lost(&self) -> Option<(&Rules, u64)> {
        self.rules.iter().enumerate().find_map(|(index, rules)| {
            let mut numbers = 0..self.study.played(index);
            let number = numbers.find(|&number| self.game(index, number).is_none())?;
            Some((rules, number))
        })
    }

    /// Fills in the courses of a rules string's counted games.
    fn recall(&mut self, index: usize) {
        for number in 0..self.study.played(index) {
            if let Some(course) = self.game(index, number).map(|game| game.course) {
                self.seen[index].insert(course);
            }
        }
    }

    /// Plays rounds until the study is at its end (`true`) or `stop` says so (`false`); games of a round that was stopped are
    /// kept, and count once their round is whole. `tell` hears of each game that ends.
    ///
    /// # Errors
    /// A player fails, or files cannot be written.
    pub fn play(
        &mut self,
        crew: &mut Crew,
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Table, Course),
    ) -> Result<bool, MixesError> {
        self.save()?;
        while self.study.end().is_none() {
            let pending: Vec<StudyGame> = self.study.pending().collect();
            let missing = pending.iter().filter(|game| self.game(game.rules, game.game).is_none());
            let missing = missing.map(|game| {
                Setup::game(&self.rules[game.rules], &self.identities[game.rules], game.game)
            });
            let missing = missing.collect::<Result<Vec<_>, _>>()?;
            if !missing.is_empty() {
                let table = self.study.table();
                let mut course = Course {
                    games: self.study.games(),
                    rounds: self.study.rounds(),
                    round: [(pending.len() - missing.len()) as u64, pending.len() as u64],
                    played: self.played,
                };
                let book = &mut *self.book;
                crew.play(missing, stop, &mut |games| {
                    course.round[0] += games.len() as u64;
                    course.played += games.len() as u64;
                    book.add(games)?;
                    tell(&table, course);
                    Ok(())
                })?;
                self.played = course.played;
            }
            if pending.iter().any(|game| self.game(game.rules, game.game).is_none()) {
                return Ok(false);
            }
            self.close(&pending)?;
        }
        Ok(true)
    }

    /// Counts the games of a whole round, in their order: of equal ones the first counts.
    fn close(&mut self, pending: &[StudyGame]) -> Result<(), MixesError> {
        for &game in pending {
            let Some(summary) = self.game(game.rules, game.game) else { continue };
            let (opening, course, result) = (summary.opening, summary.course, summary.result);
            if self.seen[game.rules].insert(course) {
                self.study.report(game, opening, result)?;
            } else {
                self.study.report_repeated(game)?;
            }
        }
        self.save()
    }

    fn save(&self) -> Result<(), MixesError> {
        let stored = Stored {
            format: FORMAT.to_owned(),
            rules: self.rules.iter().map(Rules::to_string).collect(),
            study: self.study.clone(),
        };
        self.book.write_study(&self.name, &stored)
    }

    /// The rules strings.
    pub fn rules(&self) -> &[Rules] {
        &self.rules
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// How games are shared out.
    pub fn design(&self) -> Design {
        self.design
    }

    /// Why the study is over; `None` where it was stopped.
    pub fn end(&self) -> Option<End> {
        self.study.end()
    }

    /// The book.
    pub fn book(&self) -> &Book {
        self.book
    }

    /// The book, for games of other kinds.
    pub fn book_mut(&mut self) -> &mut Book {
        self.book
    }

    /// The number and the summary of each game of whole rounds by one rules string that counts, in order.
    pub fn counted(&self, rules: usize) -> Vec<(u64, &GameSummary)> {
        let mut seen = HashSet::new();
        let games = (0..self.study.played(rules))
            .filter_map(|number| Some((number, self.game(rules, number)?)));
        games.filter(|(_, game)| seen.insert(game.course)).collect()
    }

    /// What the records of a rules string's games say of their origin.
    pub fn identity(&self, rules: usize) -> &WorkerIdentity {
        &self.identities[rules]
    }

    fn game(&self, rules: usize, number: u64) -> Option<&GameSummary> {
        self.book.game(&self.identities[rules].worker, number)
    }
}
