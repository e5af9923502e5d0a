//! What a run ends with: how strong its player is, where everything lies, and what to do next.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use gipf_core::Rules;
use gipf_model::Checkpoint;
use gipf_model_torch::{Device, device_from_name};
use gipf_player::shipped::SHIPPED;
use gipf_selfplay::{
    BuiltIn, Contestant, Limit, Match, MatchConfig, MatchResult, Method, RulesEntry,
};
use serde::Serialize;

use super::follow_up::{FollowUp, quoted};
use super::selfplay::sampler;
use super::stop::StopFlag;
use crate::config::{Config, ReportSection, RunSection};
use crate::evaluators::{network, network_with};
use crate::progress::{Progress, human_count, human_time};
use crate::run::{RunFolder, State, atomic};

/// How often the matches' boards are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The `format` of `matches.json`.
const MATCHES_FORMAT: &str = "gipf-matches-1";

/// `matches.json`: the table that a run ends with.
#[derive(Debug, Serialize)]
struct MatchTable<'a> {
    format: &'static str,
    matches: Vec<PlayedMatch<'a>>,
}

/// A match of the newest player, A.
#[derive(Debug, Serialize)]
struct PlayedMatch<'a> {
    a: &'a str,
    b: &'a str,
    rules: String,
    /// Simulations a decision.
    nodes: u32,
    seed: u64,
    result: &'a MatchResult,
}

/// One line of the report's table.
#[derive(Debug)]
pub struct Standing {
    /// Against whom.
    pub opponent: String,
    /// How it went, seen from the run's newest player.
    pub result: MatchResult,
}

/// The seed of the match against the opponent of this number.
fn match_seed(config: &Config, opponent: usize) -> u64 {
    config.run.seed.wrapping_add(opponent as u64)
}

/// Plays the newest checkpoint against random, greedy, the run's first checkpoint and the player that comes with the program.
///
/// The matches go on at once, on a thread each; a stop ends all of them.
///
/// # Errors
/// A checkpoint cannot be loaded, or an evaluator fails.
pub fn matches(
    folder: &RunFolder,
    stop: &StopFlag,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Standing>> {
    let config = folder.config();
    if config.report.games == 0 {
        return Ok(Vec::new());
    }
    let newest = Checkpoint::load(&folder.checkpoint_path(folder.state.step))?;
    let first = folder.checkpoint_path(0);
    let first = if folder.state.step > 0 && first.is_file() {
        Some(Checkpoint::load(&first)?)
    } else {
        None
    };
    let device = device_from_name(&config.run.device)?;
    let rules = main_rules(config)?;
    let random = (BuiltIn::Random.name().to_owned(), built_in(BuiltIn::Random, config));
    let greedy = (BuiltIn::Greedy.name().to_owned(), built_in(BuiltIn::Greedy, config));
    let mut opponents = vec![random, greedy];
    if let Some(first) = &first {
        opponents.push((
            "its step-0 checkpoint".to_owned(),
            contestant("step 0", first, config, device)?,
        ));
    }
    if let Some((name, network)) = shipped_player(&rules)? {
        opponents.push((name.clone(), contestant(&name, &network, config, device)?));
    }
    let mut matches = Vec::new();
    for (index, (opponent, other)) in opponents.into_iter().enumerate() {
        let settings = MatchConfig {
            games: config.report.games,
            max_plays: config.rules.max_plays,
            run: folder.state.run_id.clone(),
            ..MatchConfig::new(rules, match_seed(config, index))
        };
        let newest_name = format!("step {}", folder.state.step);
        // The newest network judges the openings.
        let judge = network("judge", Method::Gumbel, &newest, device)?;
        let player = contestant(&newest_name, &newest, config, device)?;
        matches.push((opponent, Match::new(settings, vec![[player, other]], Some(judge))?));
    }
    let standings = play_at_once(matches, config.report.games, stop, progress)?;
    save(folder, &rules, &standings)?;
    Ok(standings)
}

/// The player that comes with the program and was trained on these rules before any others.
fn shipped_player(rules: &Rules) -> anyhow::Result<Option<(String, Checkpoint)>> {
    for player in SHIPPED {
        let network = player.checkpoint()?;
        if network.header.rules.first().is_some_and(|first| *first == rules.to_string()) {
            return Ok(Some((format!("shipped:{}", player.name), network)));
        }
    }
    Ok(None)
}

/// Writes `matches.json`.
fn save(folder: &RunFolder, rules: &Rules, standings: &[Standing]) -> anyhow::Result<()> {
    let config = folder.config();
    let matches = standings.iter().enumerate().map(|(index, standing)| PlayedMatch {
        a: &standing.result.a,
        b: &standing.result.b,
        rules: rules.to_string(),
        nodes: config.report.simulations,
        seed: match_seed(config, index),
        result: &standing.result,
    });
    let table = MatchTable { format: MATCHES_FORMAT, matches: matches.collect() };
    let path = folder.path().join("matches.json");
    atomic::write(&path, &serde_json::to_vec_pretty(&table)?, folder.disk_wait(), None)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Plays matches on a thread each and shows all of them.
fn play_at_once(
    matches: Vec<(String, Match)>,
    games: u32,
    stop: &StopFlag,
    progress: &mut Progress,
) -> anyhow::Result<Vec<Standing>> {
    progress.stage("matches");
    let boards: Vec<Mutex<MatchResult>> = matches.iter().map(|_| Mutex::default()).collect();
    let opponents: Vec<String> = matches.iter().map(|(opponent, _)| opponent.clone()).collect();
    let all = f64::from(games) * matches.len() as f64;
    thread::scope(|scope| {
        let threads: Vec<_> = matches
            .into_iter()
            .zip(&boards)
            .map(|((opponent, mut one), board)| {
                scope.spawn(move || -> anyhow::Result<Standing> {
                    let mut tell = |so_far: &MatchResult| board_of(board).clone_from(so_far);
                    let result = one.run(&|| stop.is_set(), &mut tell, &mut |_| {})?;
                    Ok(Standing { opponent, result })
                })
            })
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            let played: u64 = boards.iter().map(|board| board_of(board).games).sum();
            progress.update(Some(played as f64 / all), || {
                let line = |(opponent, board): (&String, &Mutex<MatchResult>)| {
                    let so_far = board_of(board);
                    if so_far.games == 0 {
                        return format!("{opponent} 0/{games}");
                    }
                    format!("{opponent} {}/{games} ({:.0}%)", so_far.games, 100.0 * so_far.score())
                };
                opponents.iter().zip(&boards).map(line).collect::<Vec<_>>().join(", ")
            });
            thread::sleep(LOOK);
        }
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .map_err(|_| anyhow!("a match broke down (a bug: its words are above)"))?
            })
            .collect()
    })
}

/// A board holds whole values only, so one left by a panicking thread is sound.
fn board_of(board: &Mutex<MatchResult>) -> MutexGuard<'_, MatchResult> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fixed rules that most of the run's games have; where all are drawn, rules that can be drawn.
pub fn main_rules(config: &Config) -> anyhow::Result<Rules> {
    let fixed = config.rules.rules.iter().filter_map(|entry| match entry {
        RulesEntry::Fixed(fixed) => Some(fixed),
        RulesEntry::Drawn(_) => None,
    });
    match fixed.max_by(|a, b| a.weight.total_cmp(&b.weight)) {
        Some(most) => most.rules.parse().with_context(|| format!("rules '{}'", most.rules)),
        None => sampler(config)?.rules().next().copied().context("no rules to play"),
    }
}

fn built_in(player: BuiltIn, config: &Config) -> Contestant {
    Contestant::built_in(player, Limit::nodes(config.report.simulations))
}

fn contestant(
    name: &str,
    checkpoint: &Checkpoint,
    config: &Config,
    device: Device,
) -> anyhow::Result<Contestant> {
    let precision = config.self_play.precision;
    let network = network_with(name, Method::Gumbel, checkpoint, device, precision)?;
    Ok(Contestant::network(network, Limit::nodes(config.report.simulations))?)
}

/// Writes the table, the folder, the report's `page` where there is one, and the next commands.
///
/// # Errors
/// `out` cannot be written.
pub fn write(
    folder: &RunFolder,
    next: &FollowUp,
    standings: &[Standing],
    page: Option<&Path>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let state = &folder.state;
    writeln!(
        out,
        "\nstep {}: {} games and {} positions{}, {} of training",
        state.step,
        human_count(state.games),
        human_count(state.positions),
        if state.records.is_none() { " of self-play" } else { "" },
        if state.seconds > 0.0 {
            human_time(state.seconds)
        } else {
            "an unmeasured time".to_owned()
        },
    )?;
    if !standings.is_empty() {
        write_standings(standings, &folder.config().report, out)?;
    }
    let path = folder.path().display();
    writeln!(out, "\nrun folder   {path}")?;
    writeln!(out, "checkpoint   {}", folder.checkpoint_path(state.step).display())?;
    if let Some(page) = page {
        writeln!(out, "report       {}", page.display())?;
    }
    writeln!(out, "\nnext:")?;
    let more = more_training(&folder.config().run, state);
    let given = if next.records.is_some() { ", when there are more games" } else { "" };
    writeln!(out, "  {}{more}    # train on{given}", next.go_on())?;
    let player = quoted(&format!("run:{path}@latest"));
    let program = quoted(&next.program);
    writeln!(out, "  {program} match {player} greedy    # let it play a match")?;
    let events = quoted(&folder.events().to_string_lossy());
    writeln!(out, "  tensorboard --logdir {events}    # look at the curves")
}

/// Writes the table of the matches, and whether they were stopped.
fn write_standings(
    standings: &[Standing],
    report: &ReportSection,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "\nthe new player, {} simulations a decision:", report.simulations)?;
    writeln!(
        out,
        "  {:<22} {:>6} {:>6} {:>6} {:>6} {:>7}  Elo (95%)",
        "against", "games", "won", "lost", "unfin.", "points"
    )?;
    for Standing { opponent, result } in standings {
        if result.games == 0 {
            writeln!(out, "  {opponent:<22} not played")?;
            continue;
        }
        let percent = format!("{:.1}%", 100.0 * result.score());
        writeln!(
            out,
            "  {opponent:<22} {:>6} {:>6} {:>6} {:>6} {percent:>7}  {}",
            result.games,
            result.a_total(),
            result.b_total(),
            result.unfinished,
            elo_text(result),
        )?;
    }
    if standings.iter().any(|standing| standing.result.games < u64::from(report.games)) {
        writeln!(
            out,
            "the matches were stopped before their {} games: this report is cut short",
            report.games
        )?;
    }
    Ok(())
}

/// The settings that let a run go on: the limits that it has reached, doubled.
fn more_training(run: &RunSection, state: &State) -> String {
    let mut more = Vec::new();
    if run.steps > 0 && state.step >= run.steps {
        more.push(format!("run.steps={}", 2 * run.steps));
    }
    if run.games > 0 && state.games >= run.games {
        more.push(format!("run.games={}", 2 * run.games));
    }
    // The last save point may lie just before the end.
    if run.minutes > 0.0 && state.seconds >= 0.99 * 60.0 * run.minutes {
        more.push(format!("run.minutes={}", 2.0 * run.minutes));
    }
    // The state has no processor time: where nothing else is used up, it may be.
    if more.is_empty() && run.cpu_minutes > 0.0 {
        more.push(format!("run.cpu_minutes={}", 2.0 * run.cpu_minutes));
    }
    more.iter().map(|setting| format!(" --set {setting}")).collect()
}

/// The first player's Elo lead with its 95% interval; where a side won everything there is only a bound.
pub fn elo_text(result: &MatchResult) -> String {
    let elo = result.elo();
    let signed = |value: f64| format!("{value:+.0}");
    match (elo.difference, elo.low, elo.high) {
        (Some(difference), low, high) => {
            let low = low.map_or("-inf".to_owned(), signed);
            let high = high.map_or("+inf".to_owned(), signed);
            format!("{difference:+.0} ({low} to {high})")
        }
        (None, Some(low), None) => format!("above {low:+.0}"),
        (None, None, Some(high)) => format!("below {high:+.0}"),
        (None, ..) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_that_was_not_played_has_no_numbers() {
        let standing = Standing { opponent: "greedy".to_owned(), result: MatchResult::default() };
        let report = ReportSection { games: 4, ..ReportSection::default() };
        let mut text = Vec::new();
        write_standings(&[standing], &report, &mut text).expect("writes");
        let text = String::from_utf8(text).expect("a text");
        assert!(text.contains("greedy                 not played\n"), "{text}");
        assert!(text.contains("cut short") && !text.contains("inf"), "{text}");
    }
}
