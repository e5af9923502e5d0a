//! A player's games by a space: against itself, then against its rivals.

use std::time::{Duration, Instant};

use gipf_core::Rules;
use gipf_model_torch::Device;
use gipf_selfplay::study::{Budget, Space, Table, Verdict};
use gipf_selfplay::{BuiltIn, Contestant};

use super::{Args, Played, refusal};
use crate::commands::players::{Patience, PlayerSpec, Terms, threads};
use crate::learner::StopFlag;
use crate::mixes::{
    Book, Course, Crew, MixTable, Rival, RivalScore, Setup, Sitting, Strength, chosen_games,
};
use crate::progress::{Progress, human_time};
use crate::report::Example;
use crate::store::DiskWait;

/// One table: who plays, and how.
pub(super) struct Column {
    pub(super) spec: PlayerSpec,
    pub(super) setup: Setup,
}

/// What all tables of a call have in common.
pub(super) struct Work<'a> {
    pub(super) args: &'a Args,
    pub(super) space: &'a Space,
    pub(super) rivals: &'a [BuiltIn],
    pub(super) device: Device,
    pub(super) stop: &'a StopFlag,
}

impl Work<'_> {
    /// Plays what the budget allows and says what came of it.
    pub(super) fn play(
        &self,
        column: &Column,
        wait: &DiskWait,
        progress: &mut Progress,
    ) -> anyhow::Result<Played> {
        let (args, setup) = (self.args, &column.setup);
        let on_gpu = self.device != Device::Cpu && column.spec.checkpoint().is_some();
        let timed = matches!(setup.strength, Strength::Movetime(_));
        let threads = threads(args.threads, timed, on_gpu)?;
        let mut book = Book::open(&args.dir, setup.clone(), wait.clone()).map_err(refusal)?;
        let before = book.games();
        let (budget, design) = (args.budget(self.space), args.design());
        let mut sitting = Sitting::open(&mut book, self.space.rules(), design, budget)?;
        progress.stage(&format!("{}, {}", setup.player, setup.strength));
        if before > 0 {
            progress.note(&format!("{before} games are there already"));
        }
        if sitting.end().is_none() && !self.stop.is_set() {
            let mut crew = self.crew(column, threads)?;
            let begun = Instant::now();
            let limit = args.minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes));
            let stop = || self.stop.is_set() || limit.is_some_and(|limit| begun.elapsed() >= limit);
            sitting.play(&mut crew, &stop, &mut |table, course| {
                let seconds = begun.elapsed().as_secs_f64();
                let minutes = limit.map(|limit| seconds / limit.as_secs_f64());
                let games = match budget {
                    Budget::Games(games) => Some(
                        (course.games + course.round[0]) as f64 / games.max(course.games) as f64,
                    ),
                    Budget::Width(_) | Budget::Open => None,
                };
                let done = minutes.into_iter().chain(games).reduce(f64::max);
                progress.update(done, || progress_text(table, course, budget, seconds));
            })?;
        }
        let scores = self.compete(column, &mut sitting, threads, progress)?;
        let table = MixTable::new(&sitting, self.space, &scores);
        let examples = match args.html {
            Some(_) => self.examples(&sitting, &table)?,
            None => Vec::new(),
        };
        Ok((table, examples))
    }

    /// The players of the games against itself, for each thread.
    fn crew(&self, column: &Column, threads: u32) -> anyhow::Result<Crew> {
        let (mut networks, mut players, mut simulations) = (Vec::new(), Vec::new(), 1);
        let rules = self.first_rules();
        for _ in 0..threads {
            match column.spec.contestant(self.terms(&column.setup, rules))? {
                Contestant::Network { network, simulations: each } => {
                    simulations = each;
                    networks.push(network);
                }
                Contestant::Player { player, .. } => players.push(player),
            }
        }
        if networks.is_empty() {
            let step = column.spec.checkpoint().map_or(0, |checkpoint| checkpoint.header.step);
            return Ok(Crew::of_players(players, step, &column.setup));
        }
        Ok(Crew::of_networks(networks, simulations, &column.setup)?)
    }

    fn terms<'t>(&self, setup: &Setup, rules: &'t Rules) -> Terms<'t> {
        Terms {
            rules,
            limit: setup.strength.limit(),
            device: self.device,
            precision: self.args.precision,
            patience: Patience::default(),
        }
    }

    /// Any rules of the space: no player that plays here is bound to some.
    fn first_rules(&self) -> &Rules {
        // A space is never empty.
        &self.space.rules()[0]
    }

    /// The player's scores against its rivals by each rules string.
    fn compete(
        &self,
        column: &Column,
        sitting: &mut Sitting<'_>,
        threads: u32,
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<Vec<RivalScore>>> {
        let games = self.args.competence;
        let rivals: Vec<Rival<'_>> =
            self.rivals.iter().map(|&rival| self.rival(column, rival, threads)).collect();
        let all = self.space.rules().len() as u64 * rivals.len() as u64 * u64::from(games);
        if !rivals.is_empty() {
            progress.stage(&format!("{} against its rivals", column.setup.player));
        }
        let mut ended = 0u64;
        for rules in self.space.rules() {
            for rival in &rivals {
                if self.stop.is_set() {
                    break;
                }
                let stop = || self.stop.is_set();
                let before = rival.score(sitting.book(), rules, games).games;
                ended += before;
                let name = rival.name.as_str();
                rival.play(sitting.book_mut(), rules, games, &stop, &mut || {
                    ended += 1;
                    let done = ended as f64 / all as f64;
                    progress.update(Some(done), || {
                        format!("{ended} of {all} games, now {rules} against {name}")
                    });
                })?;
            }
        }
        let scores = |rules: &Rules| {
            let score = |rival: &Rival<'_>| rival.score(sitting.book(), rules, games);
            rivals.iter().map(score).collect()
        };
        Ok(self.space.rules().iter().map(scores).collect())
    }

    fn rival<'r>(&'r self, column: &'r Column, rival: BuiltIn, threads: u32) -> Rival<'r> {
        let pairs = move |rules: &Rules| {
            let terms = self.terms(&column.setup, rules);
            let pair = |_| {
                let rival = PlayerSpec::BuiltIn(rival).contestant(terms)?;
                Ok([column.spec.contestant(terms)?, rival])
            };
            (0..threads.min(self.args.competence)).map(pair).collect()
        };
        let judge = || column.spec.judge(self.device);
        Rival { name: rival.to_string(), pairs: Box::new(pairs), judge: Box::new(judge) }
    }

    fn examples(&self, sitting: &Sitting<'_>, table: &MixTable) -> anyhow::Result<Vec<Example>> {
        let chosen = chosen_games(sitting, table, usize::from(self.args.examples));
        let wanted: Vec<(String, u64)> =
            chosen.iter().map(|game| (game.worker.clone(), game.number)).collect();
        let records = sitting.book().records(&wanted)?;
        let example = |(record, game): (_, crate::mixes::ChosenGame)| Example {
            record,
            reasons: game.reasons,
        };
        Ok(records.into_iter().zip(chosen).map(example).collect())
    }
}

/// The live line: rounds, games, how many are decided, and the pace.
fn progress_text(table: &Table, course: Course, budget: Budget, seconds: f64) -> String {
    let Course { games, rounds, round: [ended, of], played } = course;
    let rules = table.standings.len();
    let decided = rules - table.count(Verdict::Undecided);
    let all = games + ended;
    let mut text = match budget {
        Budget::Games(budget) => format!("{all} of at most {budget} games"),
        Budget::Width(_) | Budget::Open => format!("{all} games"),
    };
    text += &format!(
        ", round {} ({ended} of {of}), {decided} of {rules} decided, {:.1} games/s, {}",
        rounds + 1,
        played as f64 / seconds.max(1e-3),
        human_time(seconds)
    );
    text
}
