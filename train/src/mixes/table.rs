//! What a study says: a line for each rules string, the ranking, and the equilibria of its grids.

use gipf_core::{Color, Potential, Rules};
use gipf_selfplay::study::{Design, End, Equilibrium, Interval, Space, Standing, Table, Verdict};
use serde::Serialize;

use super::fates::Fates;
use super::rivals::RivalScore;
use super::setup::Setup;
use super::sitting::Sitting;
use super::summary::GameSummary;

/// The results of a study.
#[derive(Debug, Clone, Serialize)]
pub struct MixTable {
    /// Who played and how.
    pub setup: Setup,
    /// How games were shared out.
    pub design: Design,
    /// Whole rounds.
    pub rounds: u64,
    /// Games of whole rounds, those that repeated another one included.
    pub games: u64,
    /// Why it is over; `None` where it was stopped.
    pub end: Option<End>,
    /// A line for each rules string, in the order of the space.
    pub lines: Vec<MixLine>,
    /// The lines by White's score, the highest first.
    pub ranking: Vec<usize>,
    /// The line that is surest to be near 1/2.
    pub fairest: Option<usize>,
    /// The line whose value swings most.
    pub sharpest: Option<usize>,
    /// The line with the longest games.
    pub longest: Option<usize>,
    /// White's mixes against Black's.
    pub grids: Vec<GridTable>,
}

/// One rules string of a study.
#[derive(Debug, Clone, Serialize)]
pub struct MixLine {
    /// The rules string.
    pub rules: String,
    /// Games that count.
    pub games: u64,
    /// Games that were the same as another one, play for play; they count for nothing.
    pub repeated: u64,
    /// Different openings, the independent samples.
    pub openings: u64,
    /// White's score, 0 to 1.
    pub white: f64,
    /// Its 95% interval on its own, as if the number of games had been fixed.
    pub interval: Interval,
    /// Its interval among all of the table, which covers all scores at once, at every round, with probability 95%.
    pub bounds: Interval,
    /// What `bounds` says.
    pub verdict: Verdict,
    /// Share of the games that are unfinished.
    pub unfinished: f64,
    /// Plays a game.
    pub length: f64,
    /// Basic pieces taken from White and from Black a game.
    pub captured: [f64; 2],
    /// Change of the search's value from one decision to the next, in points, 0 to 1; `None` where nothing was searched.
    pub swing: Option<f64>,
    /// How often a game the side ahead came to be behind; `None` where nothing was searched.
    pub turns: Option<f64>,
    /// What became of the potentials of each colour and kind.
    pub potentials: Vec<KindUse>,
    /// The player's scores against players without a network.
    pub rivals: Vec<RivalScore>,
    /// Whether the player is known to be stronger than every rival; `None` where none was met.
    pub trusted: Option<bool>,
}

/// What became of the potentials of one colour and kind: shares of those in the mix, which sum to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KindUse {
    /// `w` or `b`.
    pub color: char,
    /// The kind's letter.
    pub kind: char,
    /// Potentials of the mix.
    pub count: u8,
    /// See [`Fates::used`].
    pub used: f64,
    /// See [`Fates::kept`].
    pub kept: f64,
    /// See [`Fates::lost`].
    pub lost: f64,
    /// See [`Fates::wasted`].
    pub wasted: f64,
}

/// White's mixes against Black's.
#[derive(Debug, Clone, Serialize)]
pub struct GridTable {
    /// The rules string without mixes.
    pub variant: String,
    /// The mixes of both.
    pub mixes: Vec<String>,
    /// `cells[white][black]`: the line.
    pub cells: Vec<Vec<usize>>,
    /// How each side should choose its mix; `None` before every cell has a game.
    pub equilibrium: Option<Equilibrium>,
    /// Between which values the game lies if all scores lie in their intervals among the table.
    pub value_bounds: Option<Interval>,
}

impl MixTable {
    /// What the whole rounds of a study say. `rivals` are the scores for each rules string; none where no rivals were met.
    pub fn new(sitting: &Sitting<'_>, space: &Space, rivals: &[Vec<RivalScore>]) -> Self {
        let study = sitting.study();
        let table = study.table();
        let line = |(standing, rules): (&Standing, &Rules)| {
            let counted = sitting.counted(standing.rules);
            let games: Vec<&GameSummary> = counted.into_iter().map(|(_, game)| game).collect();
            let rivals = rivals.get(standing.rules).cloned().unwrap_or_default();
            MixLine::new(standing, rules, &games, rivals)
        };
        let lines: Vec<MixLine> = table.standings.iter().zip(sitting.rules()).map(line).collect();
        let most = |value: &dyn Fn(&MixLine) -> Option<f64>| {
            let values = lines.iter().enumerate().filter(|(_, line)| line.games > 0);
            let values = values.filter_map(|(index, line)| Some((value(line)?, index)));
            // The first of equals.
            values.fold(None, |best: Option<(f64, usize)>, (value, index)| match best {
                Some((most, _)) if value <= most => best,
                _ => Some((value, index)),
            })
        };
        let sharpest = most(&|line| line.swing).map(|(_, index)| index);
        let longest = most(&|line| Some(line.length)).map(|(_, index)| index);
        MixTable {
            setup: sitting.book().setup().clone(),
            design: sitting.design(),
            rounds: study.rounds(),
            games: study.games(),
            end: study.end(),
            ranking: table.ranking().iter().map(|line| line.rules).collect(),
            fairest: table.fairest().map(|line| line.rules),
            sharpest,
            longest,
            grids: grids(space, &table),
            lines,
        }
    }

    /// The lines with this verdict, by White's score.
    pub fn with_verdict(&self, verdict: Verdict) -> Vec<&MixLine> {
        let ranked = self.ranking.iter().filter_map(|&index| self.lines.get(index));
        ranked.filter(|line| line.verdict == verdict).collect()
    }
}

impl MixLine {
    fn new(
        standing: &Standing,
        rules: &Rules,
        games: &[&GameSummary],
        rivals: Vec<RivalScore>,
    ) -> Self {
        let count = games.len().max(1) as f64;
        let mean = |of: &dyn Fn(&GameSummary) -> f64| {
            // An empty sum is -0, which would show.
            games.iter().map(|game| of(game)).sum::<f64>() / count + 0.0
        };
        let steps: u32 = games.iter().map(|game| game.swings.1).sum();
        let swings: f64 = games.iter().map(|game| game.swings.0).sum();
        let searched = steps > 0;
        MixLine {
            rules: rules.to_string(),
            games: standing.games,
            repeated: standing.repeated,
            openings: standing.units,
            white: standing.mean,
            interval: standing.interval,
            bounds: standing.bounds,
            verdict: standing.verdict,
            unfinished: mean(&|game| f64::from(u8::from(game.result.for_white() == 0))),
            length: mean(&|game| f64::from(game.plays)),
            captured: [0, 1].map(|color| mean(&|game| f64::from(game.captured[color]))),
            swing: searched.then(|| swings / f64::from(steps)),
            turns: searched.then(|| mean(&|game| f64::from(game.turns))),
            potentials: potentials(rules, games),
            trusted: (!rivals.is_empty()).then(|| rivals.iter().all(RivalScore::is_won)),
            rivals,
        }
    }
}

fn potentials(rules: &Rules, games: &[&GameSummary]) -> Vec<KindUse> {
    let mut uses = Vec::new();
    for color in Color::ALL {
        for kind in Potential::ALL {
            let number = rules.mix(color)[kind.index()];
            if number == 0 || games.is_empty() {
                continue;
            }
            let all = f64::from(number) * games.len() as f64;
            let share = |of: fn(&Fates) -> u8| {
                let fates = games.iter().map(|game| &game.fates[color.index()][kind.index()]);
                fates.map(|fates| f64::from(of(fates))).sum::<f64>() / all
            };
            uses.push(KindUse {
                color: color.letter(),
                kind: kind.letter(),
                count: number,
                used: share(|fates| fates.used),
                kept: share(|fates| fates.kept),
                lost: share(|fates| fates.lost),
                wasted: share(|fates| fates.wasted),
            });
        }
    }
    uses
}

fn grids(space: &Space, table: &Table) -> Vec<GridTable> {
    let each = |grid: &gipf_selfplay::study::Grid| {
        let matrix = |of: &dyn Fn(&Standing) -> f64| -> Option<Vec<Vec<f64>>> {
            let score = |&cell: &usize| table.standings.get(cell).filter(|line| line.games > 0);
            let row = |row: &Vec<usize>| row.iter().map(|cell| score(cell).map(of)).collect();
            grid.cells.iter().map(row).collect()
        };
        let solved = |of: &dyn Fn(&Standing) -> f64| Equilibrium::of(&matrix(of)?).ok();
        let low = solved(&|line| line.bounds.low);
        let high = solved(&|line| line.bounds.high);
        GridTable {
            variant: grid.variant.clone(),
            mixes: grid.mixes.clone(),
            cells: grid.cells.clone(),
            equilibrium: solved(&|line| line.mean),
            value_bounds: low
                .zip(high)
                .map(|(low, high)| Interval { low: low.value, high: high.value }),
        }
    };
    space.grids().iter().map(each).collect()
}
