//! Who gets the games of the next round.

use serde::{Deserialize, Serialize};

use super::estimate::{FIRST_UNITS, Interval, Tally, anytime_margin};
use super::verdict::{TABLE_ERROR, Verdict, WITHIN};

/// A rules string gets at most this part of the games that it has had, or the smallest round if that is more: so it plays at
/// most about an eighth more games than its verdict needs.
const GROWTH: u64 = 8;
/// What those get that are far from a decision, as a part of what the others may get.
const FAR_SHARE: u64 = 4;
/// Games an opening, in the mean, from which on a rules string's openings count as used up: were they drawn evenly, one in
/// 3,000 games would have a new one. More games would make no new units, and the interval would stay about as it is.
const MOST_AN_OPENING: u64 = 8;
/// Units beyond which no verdict is looked for: a score is never nearer than [`WITHIN`] / 2 to every boundary at once, which
/// takes some 40,000 units of a table of 100.
const MOST_UNITS: u64 = 1 << 32;

/// How games are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// Every rules string gets the same number of games.
    Even,
    /// Games go where they decide something, see [`Study`](super::Study).
    Adaptive,
}

/// When a study ends. The caller can stop it after any game: the results are those of the last whole round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Budget {
    /// So many games in all, those of earlier sittings included; the adaptive design ends sooner where more games would decide
    /// nothing.
    Games(u64),
    /// When every interval of the table is narrower than this share of the points, above 0 to 1.
    Width(f64),
    /// Without a limit: the adaptive design ends when everything is decided, the even one never.
    Open,
}

/// Why a study gets no more games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Every rules string has its verdict (adaptive design).
    Decided,
    /// Every interval is narrow enough.
    Narrow,
    /// The budget is used up; the even design may leave fewer games than there are rules strings.
    Spent,
    /// Games are left, but not enough for the verdict of any rules string that is undecided (adaptive design).
    TooClose,
    /// The rules strings that are undecided, or not narrow enough, have had eight games an opening in the mean: it takes more
    /// different openings, not more games.
    NoOpenings,
}

/// A rules string after the last whole round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    pub(super) tally: Tally,
    /// Games that repeated another one: they used up the budget and are not in the tally.
    #[serde(default)]
    pub(super) repeated: u64,
    /// What the rounds have left of its interval among the table's.
    pub(super) bounds: Interval,
}

impl Progress {
    /// Games played, those that repeated another one included.
    pub(super) fn played(&self) -> u64 {
        self.tally.games() + self.repeated
    }

    fn is_used_up(&self) -> bool {
        self.played() > MOST_AN_OPENING * self.tally.units()
    }
}

/// The games of the next round for each rules string: at least one in all.
pub(super) fn next_round(
    lines: &[Progress],
    design: Design,
    budget: Budget,
    round: u32,
) -> Result<Vec<u64>, End> {
    let played: u64 = lines.iter().map(Progress::played).sum();
    let left = match budget {
        Budget::Games(games) => games.saturating_sub(played),
        Budget::Width(_) | Budget::Open => u64::MAX,
    };
    let wide = |line: &Progress| match budget {
        Budget::Width(width) => line.bounds.width() >= width,
        Budget::Games(_) | Budget::Open => false,
    };
    if matches!(budget, Budget::Width(_)) {
        let mut wide = lines.iter().filter(|line| wide(line)).peekable();
        if wide.peek().is_none() {
            return Err(End::Narrow);
        }
        if wide.all(Progress::is_used_up) {
            return Err(End::NoOpenings);
        }
    }
    let most = |line: &Progress| u64::from(round).max(line.played() / GROWTH);
    if design == Design::Even {
        let each = lines.iter().map(most).max().unwrap_or(0).min(left / lines.len().max(1) as u64);
        return if each == 0 { Err(End::Spent) } else { Ok(vec![each; lines.len()]) };
    }

    let alpha = TABLE_ERROR / lines.len().max(1) as f64;
    let mut open: Vec<(u64, usize)> = Vec::new();
    let (mut undecided, mut without_openings) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let needs = match budget {
            Budget::Width(width) if wide(line) => needs_for_width(line, width, alpha),
            Budget::Games(_) | Budget::Open if Verdict::of(line.bounds) == Verdict::Undecided => {
                needs_for_verdict(line, alpha)
            }
            _ => continue,
        };
        undecided += 1;
        if line.is_used_up() {
            without_openings += 1;
        } else if needs.at_best <= left {
            open.push((needs.likely, index));
        }
    }
    if undecided == 0 {
        return Err(End::Decided);
    }
    if left == 0 {
        return Err(End::Spent);
    }
    if open.is_empty() {
        return Err(if without_openings == undecided { End::NoOpenings } else { End::TooClose });
    }
    open.sort_unstable();
    let mut games = vec![0; lines.len()];
    let half = open.len().div_ceil(2);
    let mut together = 0u64;
    for (place, &(likely, index)) in open.iter().enumerate() {
        let share = most(&lines[index]).min(likely.max(u64::from(round)));
        together = together.saturating_add(likely);
        // New ones have no estimate to be judged by; their need is 0, so they come first and all at once.
        let new = lines[index].tally.units() < FIRST_UNITS;
        let near = new || place == 0 || (place < half && together <= left);
        games[index] = if near { share } else { share.div_ceil(FAR_SHARE) };
    }
    fit(&mut games, left);
    Ok(games)
}

/// Cuts the shares down in proportion, where they are more than the games that are left (1 or more).
fn fit(games: &mut [u64], left: u64) {
    let total: u64 = games.iter().sum();
    if total <= left {
        return;
    }
    let wanted = games.to_vec();
    for share in games.iter_mut() {
        *share = (u128::from(*share) * u128::from(left) / u128::from(total)) as u64;
    }
    // What rounding leaves over goes out singly, so that the last games are played too.
    let mut rest = left - games.iter().sum::<u64>();
    for (share, wanted) in games.iter_mut().zip(wanted) {
        if rest > 0 && *share < wanted {
            *share += 1;
            rest -= 1;
        }
    }
}

/// How many more games a rules string takes.
struct Needs {
    /// If its score is what it seems.
    likely: u64,
    /// If its score lies a standard error farther from the boundaries than it seems.
    at_best: u64,
}

fn needs_for_verdict(line: &Progress, alpha: f64) -> Needs {
    let tally = &line.tally;
    if tally.units() < FIRST_UNITS {
        return Needs { likely: 0, at_best: 0 };
    }
    let off = (tally.mean() - 0.5).abs();
    // An interval of this margin lies on one side of 1/2, or within the margin of it.
    let distance = off.max(WITHIN - off);
    let at_best = distance + tally.standard_error();
    Needs { likely: more_games(line, alpha, distance), at_best: more_games(line, alpha, at_best) }
}

fn needs_for_width(line: &Progress, width: f64, alpha: f64) -> Needs {
    let likely = more_games(line, alpha, 0.5 * width);
    Needs { likely, at_best: 0 }
}

/// Games until the time-uniform interval's margin is this small, if variance and games an opening stay as they are.
fn more_games(line: &Progress, alpha: f64, margin: f64) -> u64 {
    let tally = &line.tally;
    let (units, variance) = (tally.units().max(1), tally.variance());
    let enough = |units: u64| anytime_margin(units, variance, alpha) < margin;
    let mut high = units;
    while high < MOST_UNITS && !enough(high) {
        high *= 2;
    }
    let mut low = units;
    while low < high {
        let middle = u64::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    let games_a_unit = line.played().max(1) as f64 / units as f64;
    ((high - units) as f64 * games_a_unit).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gipf_core::record::GameResult;

    /// A rules string with so many games won in turn that its score is `won / of`.
    fn tally(games: u64, won: u64, of: u64) -> Tally {
        let mut tally = Tally::default();
        for game in 0..games {
            let result = if game % of < won { GameResult::White } else { GameResult::Black };
            tally.add(game, result);
        }
        tally
    }

    fn lines(tallies: &[Tally]) -> Vec<Progress> {
        let alpha = TABLE_ERROR / tallies.len() as f64;
        let line = |tally: &Tally| Progress {
            bounds: tally.anytime_interval(alpha),
            tally: tally.clone(),
            repeated: 0,
        };
        tallies.iter().map(line).collect()
    }

    #[test]
    fn the_games_needed_are_those_after_which_the_interval_is_narrow_enough() {
        let mut line = lines(&[tally(1000, 11, 20)]).remove(0);
        let more = more_games(&line, 0.01, 0.05);
        let margin = |units| anytime_margin(units, line.tally.variance(), 0.01);
        assert!(margin(1000 + more) < 0.05 && margin(1000 + more - 1) >= 0.05, "{more}");
        assert_eq!(more_games(&line, 0.01, 0.2), 0);
        // Where every other game repeats one, twice as many are needed.
        line.repeated = 1000;
        assert_eq!(more_games(&line, 0.01, 0.05), 2 * more);
    }

    #[test]
    fn even_rounds_are_the_same_for_all_and_use_no_more_than_the_budget() {
        let tallies = [tally(1600, 1, 2), tally(1600, 9, 10), tally(1600, 1, 2)];
        let plan = |budget| next_round(&lines(&tallies), Design::Even, budget, 32);
        assert_eq!(plan(Budget::Open), Ok(vec![200; 3]));
        assert_eq!(plan(Budget::Games(4900)), Ok(vec![33; 3]));
        assert_eq!(plan(Budget::Games(4802)), Err(End::Spent));
        assert_eq!(plan(Budget::Games(100)), Err(End::Spent));
        assert_eq!(plan(Budget::Width(0.5)), Err(End::Narrow));
        assert_eq!(plan(Budget::Width(0.05)), Ok(vec![200; 3]));
    }

    #[test]
    fn adaptive_rounds_leave_out_the_decided_and_prefer_the_nearest() {
        // Decided at once; near to it; far from it; too close for any budget that is not large.
        let tallies =
            [tally(3200, 9, 10), tally(3200, 53, 100), tally(3200, 21, 40), tally(3200, 51, 100)];
        let lines = lines(&tallies);
        let plan = |budget| next_round(&lines, Design::Adaptive, budget, 32);
        let Ok(open) = plan(Budget::Open) else { panic!("games are needed") };
        assert_eq!((open[0], open[2], open[3]), (0, 400, 100));
        assert!((32..=400).contains(&open[1]), "no more than it needs: {open:?}");
        // 3,000 more games are not enough for the last.
        let Ok(few) = plan(Budget::Games(15_800)) else { panic!("games are needed") };
        assert!(few[0] == 0 && few[1] > 0 && few[2] > 0 && few[3] == 0, "{few:?}");
        assert_eq!(plan(Budget::Games(12_800)), Err(End::Spent));
        assert_eq!(plan(Budget::Games(1)), Err(End::Spent));
        // By width the decided go on too.
        assert!(plan(Budget::Width(0.01)).is_ok_and(|games| games.iter().all(|&games| games > 0)));
        let decided = [tally(3200, 9, 10), tally(3200, 1, 10)];
        let plan = next_round(&self::lines(&decided), Design::Adaptive, Budget::Open, 32);
        assert_eq!(plan, Err(End::Decided));
        let close = [tally(3200, 9, 10), tally(3200, 51, 100)];
        let plan = next_round(&self::lines(&close), Design::Adaptive, Budget::Games(7000), 32);
        assert_eq!(plan, Err(End::TooClose));
    }

    #[test]
    fn without_new_openings_no_more_games_are_played() {
        let mut stuck = Tally::default();
        for game in 0..201 {
            stuck.add(game % 25, if game % 2 == 0 { GameResult::White } else { GameResult::Black });
        }
        let tallies = [stuck, tally(200, 11, 20)];
        let plan =
            |tallies: &[Tally], design, budget| next_round(&lines(tallies), design, budget, 32);
        for budget in [Budget::Open, Budget::Games(100_000), Budget::Width(0.01)] {
            assert_eq!(plan(&tallies, Design::Adaptive, budget).map(|games| games[0]), Ok(0));
            assert_eq!(plan(&tallies[..1], Design::Adaptive, budget), Err(End::NoOpenings));
        }
        assert_eq!(plan(&tallies[..1], Design::Even, Budget::Width(0.01)), Err(End::NoOpenings));
        // A game that repeats another one brings no opening either.
        let mut repeating = lines(&tallies[1..]);
        repeating[0].repeated = 1401;
        let plan_one = |lines: &[Progress]| next_round(lines, Design::Adaptive, Budget::Open, 32);
        assert_eq!(plan_one(&repeating), Err(End::NoOpenings));
        repeating[0].repeated = 1400;
        assert!(plan_one(&repeating).is_ok());
        assert_eq!(plan(&tallies, Design::Even, Budget::Width(0.01)), Ok(vec![32; 2]));
    }

    #[test]
    fn a_small_budget_is_shared_by_all_that_are_new() {
        let new = vec![Tally::default(); 100];
        let plan = |games| next_round(&lines(&new), Design::Adaptive, Budget::Games(games), 32);
        assert_eq!(plan(3200), Ok(vec![32; 100]));
        assert_eq!(plan(250).map(|games| (games[0], games[99])), Ok((3, 2)));
        assert_eq!(plan(7).map(|games| games.iter().sum()), Ok(7u64));
    }
}
