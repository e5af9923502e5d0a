//! How the baselines climb: alpha-beta at each depth against the one below and against greedy, alpha-beta at 50 ms a
//! decision, and MCTS against greedy. Every opening of four random plays is played twice with colours swapped.
//!
//! ```text
//! cargo run --release -p gipf-selfplay --features threads --example baseline_climb -- docs/results/baselines.json [GAMES] [THREADS] [WORD]
//! ```
//!
//! The file is written after every pairing, and a pairing that it holds with as many games is not played again; with WORD only pairings whose
//! line contains it are played. Times are processor time of the player's thread, so that other work on the machine does not
//! count.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gipf_core::{Color, DEFAULT_MAX_PLAYS, Play, Position, Rules};
use gipf_selfplay::{Budget, BuiltIn, Clock, GameState, Player, Purpose, RandomKey, Score};
use rand::{Rng, RngCore};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const RULES: [&str; 3] = ["standard", "tournament", "standard+T4Z4D4"];
const OPENING_PLAYS: u32 = 4;
const SEED: u64 = 1;
/// The time of one decision where no depth bounds it.
const DECISION: Duration = Duration::from_millis(50);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the file holds.
#[derive(Default, Serialize, Deserialize)]
struct Results {
    command: String,
    seed: u64,
    opening_plays: u32,
    max_plays: u32,
    pairings: Vec<Pairing>,
}

/// One pairing's games, from `a`'s side.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Pairing {
    rules: String,
    a: String,
    b: String,
    games: u64,
    won: u64,
    lost: u64,
    unfinished: u64,
    score: f64,
    mean_plays: f64,
    a_side: Side,
    b_side: Side,
}

/// Means over one side's searched decisions, those with a single play left aside.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Side {
    decisions: u64,
    /// Decisions proven won or lost, which end a search early.
    proven: u64,
    milliseconds: f64,
    /// The longest decision in milliseconds.
    longest: f64,
    nodes: f64,
    /// Plays looked ahead: of alpha-beta the depth finished, of MCTS the length of the expected line.
    depth: f64,
    /// The same over the decisions that are not proven.
    depth_unproven: f64,
}

impl Side {
    fn add(&mut self, other: &Side) {
        self.decisions += other.decisions;
        self.proven += other.proven;
        self.milliseconds += other.milliseconds;
        self.nodes += other.nodes;
        self.depth += other.depth;
        self.depth_unproven += other.depth_unproven;
        self.longest = self.longest.max(other.longest);
    }

    fn mean(self) -> Side {
        let per = |sum: f64| sum / self.decisions.max(1) as f64;
        Side {
            milliseconds: per(self.milliseconds),
            nodes: per(self.nodes),
            depth: per(self.depth),
            depth_unproven: self.depth_unproven / (self.decisions - self.proven).max(1) as f64,
            ..self
        }
    }
}

/// The processor time of this thread, [`DECISION`] of it.
struct Processor {
    started: Duration,
}

impl Processor {
    fn new() -> Processor {
        Processor { started: Processor::now() }
    }

    fn now() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

impl Clock for Processor {
    fn elapsed(&self) -> Duration {
        Processor::now() - self.started
    }

    fn limit(&self) -> Option<Duration> {
        Some(DECISION)
    }
}

/// A game's winner, its length and what the two sides spent, White's first.
struct Game {
    winner: Option<Color>,
    plays: u32,
    sides: [Side; 2],
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("give the file of the results")?;
    let games: u64 = arguments.get(1).map_or(Ok(200), |text| text.parse())?;
    let threads: usize = arguments.get(2).map_or(Ok(2), |text| text.parse())?;
    let word = arguments.get(3).map_or("", String::as_str);
    let mut results = match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Results::default(),
    };
    results.command = "cargo run --release -p gipf-selfplay --features threads --example baseline_climb -- docs/results/baselines.json".to_owned();
    (results.seed, results.opening_plays, results.max_plays) =
        (SEED, OPENING_PLAYS, DEFAULT_MAX_PLAYS);
    for (rules, a, b) in ladder() {
        let name = format!("{rules}: {a} against {b}");
        let same =
            |pairing: &Pairing| (&*pairing.rules, &*pairing.a, &*pairing.b) == (rules, &*a, &*b);
        let known = |pairing: &Pairing| same(pairing) && pairing.games >= games;
        if !name.contains(word) || results.pairings.iter().any(known) {
            continue;
        }
        let pairing = play(rules, &a, &b, games, threads)?;
        println!(
            "{name}: {:.1}% ({} won, {} lost, {} unfinished), {:.0} plays, {:.2} ms at depth {:.2} (unproven {:.2}) against {:.2} ms, longest {:.2} ms",
            100.0 * pairing.score,
            pairing.won,
            pairing.lost,
            pairing.unfinished,
            pairing.mean_plays,
            pairing.a_side.milliseconds,
            pairing.a_side.depth,
            pairing.a_side.depth_unproven,
            pairing.b_side.milliseconds,
            pairing.a_side.longest,
        );
        results.pairings.retain(|pairing| !same(pairing));
        results.pairings.push(pairing);
        write(Path::new(path), &results)?;
    }
    Ok(())
}

/// All pairings, the cheap ones first.
fn ladder() -> Vec<(&'static str, String, String)> {
    let mut pairings = Vec::new();
    for rules in RULES {
        pairings.push((rules, "alphabeta:1".to_owned(), "greedy".to_owned()));
        pairings.push((rules, "mcts:2000".to_owned(), "greedy".to_owned()));
    }
    for depth in 1..=5 {
        for rules in RULES {
            let below = format!("alphabeta:{depth}");
            pairings.push((rules, format!("alphabeta:{}", depth + 1), below));
        }
    }
    for rules in RULES {
        pairings.push((rules, "alphabeta".to_owned(), "alphabeta:4".to_owned()));
    }
    pairings
}

fn write(path: &Path, results: &Results) -> Result<(), Failure> {
    let draft = path.with_extension("json.new");
    std::fs::write(&draft, serde_json::to_string_pretty(results)? + "\n")?;
    Ok(std::fs::rename(draft, path)?)
}

/// Plays a pairing; game `2 k` and game `2 k + 1` have the same opening, `a` is White in the former.
fn play(rules: &str, a: &str, b: &str, games: u64, threads: usize) -> Result<Pairing, Failure> {
    let parsed: Rules = rules.parse()?;
    let (white, black): (BuiltIn, BuiltIn) = (a.parse()?, b.parse()?);
    let next = AtomicU64::new(0);
    let done: Mutex<BTreeMap<u64, Game>> = Mutex::default();
    std::thread::scope(|scope| {
        let work = || -> Result<(), Failure> {
            let mut players = [white.player(), black.player()];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= games {
                    return Ok(());
                }
                let swapped = number % 2 == 1;
                let game = one(&parsed, &mut players, swapped, number)?;
                done.lock().map_err(|_| "a thread failed")?.insert(number, game);
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed")?)
    })?;
    let mut pairing =
        Pairing { rules: rules.to_owned(), a: a.to_owned(), b: b.to_owned(), ..Pairing::default() };
    let mut plays = 0;
    for (number, game) in done.into_inner().map_err(|_| "a thread failed")? {
        let a_color = if number % 2 == 1 { Color::Black } else { Color::White };
        pairing.games += 1;
        match game.winner {
            Some(winner) if winner == a_color => pairing.won += 1,
            Some(_) => pairing.lost += 1,
            None => pairing.unfinished += 1,
        }
        plays += u64::from(game.plays);
        pairing.a_side.add(&game.sides[a_color.index()]);
        pairing.b_side.add(&game.sides[a_color.other().index()]);
    }
    let count = pairing.games.max(1) as f64;
    pairing.score = (pairing.won as f64 + 0.5 * pairing.unfinished as f64) / count;
    pairing.mean_plays = plays as f64 / count;
    (pairing.a_side, pairing.b_side) = (pairing.a_side.mean(), pairing.b_side.mean());
    Ok(pairing)
}

/// One game; the first player is White unless `swapped`.
fn one(
    rules: &Rules,
    players: &mut [Box<dyn Player>; 2],
    swapped: bool,
    number: u64,
) -> Result<Game, Failure> {
    let (opening, key) =
        (RandomKey { seed: SEED, game: number / 2 }, RandomKey { seed: SEED + 1, game: number });
    let (mut position, mut plays): (Position, Vec<Play>) = (rules.start(), Vec::new());
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    let mut sides = [Side::default(); 2];
    players.iter_mut().for_each(|player| player.new_game());
    while !position.is_over() && plays.len() < DEFAULT_MAX_PLAYS as usize {
        let ply = plays.len() as u32;
        let play = if position.is_chance() {
            position.outcomes(&mut outcomes);
            let mut rest = key.stream(ply, Purpose::Outcome).random::<f64>();
            let drawn = outcomes.iter().find(|(_, probability)| {
                rest -= probability;
                rest < 0.0
            });
            drawn.or(outcomes.last()).ok_or("a side game without outcomes")?.0
        } else if ply < OPENING_PLAYS {
            position.actions(&mut actions);
            let draw = opening.stream(ply, Purpose::OpeningPlay).next_u64();
            actions[(draw % actions.len() as u64) as usize]
        } else {
            let color = position.decider().ok_or("nobody decides")?;
            let player = &mut players[color.index() ^ usize::from(swapped)];
            let state =
                GameState { position: &position, plays: &plays, max_plays: DEFAULT_MAX_PLAYS, key };
            let clock = Processor::new();
            let choice = player.choose(&state, &Budget::time(&clock))?;
            let spent = clock.elapsed().as_secs_f64() * 1e3;
            if let Some(thought) = &choice.thought {
                let side = &mut sides[color.index()];
                side.decisions += 1;
                side.milliseconds += spent;
                side.longest = side.longest.max(spent);
                side.nodes += thought.nodes as f64;
                side.depth += f64::from(thought.depth);
                if matches!(thought.score, Some(Score::Proven(_))) {
                    side.proven += 1;
                } else {
                    side.depth_unproven += f64::from(thought.depth);
                }
            }
            choice.play
        };
        position.try_play(play)?;
        plays.push(play);
    }
    Ok(Game { winner: position.winner(), plays: plays.len() as u32, sides })
}
