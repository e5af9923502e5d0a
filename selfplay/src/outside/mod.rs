//! Programs from outside as players: they speak UGI on their standard input and output.

mod fault;
mod process;

use std::time::{Duration, Instant};

use gipf_core::{Play, Position, Rules};
use rand::RngCore;

pub use fault::{OutsideError, OutsideFault};

use crate::budget::{Budget, Clock};
use crate::player::{Choice, GameState, Player, PlayerError, actions_of};
use crate::random::{Purpose, RandomKey};
use fault::echo;
use process::{Process, Silence};

/// The time of a decision that nothing bounds.
const UNLIMITED: Duration = Duration::from_secs(1);
/// How often a clock without a limit is asked whether it was stopped.
const POLL: Duration = Duration::from_millis(10);

/// What a program from outside must keep to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideConfig {
    /// The rules that it is asked about when it is started; others may follow.
    pub rules: Rules,
    /// Time from its start to `ugiok`, and to `readyok` wherever it is asked.
    pub ready: Duration,
    /// Time for a decision that has no limit of time.
    pub hang: Duration,
    /// Time beyond the limit of a decision, for what lies between the program's clock and this one.
    pub grace: Duration,
    /// Its standard error is this process's own; otherwise it is dropped.
    pub show_errors: bool,
}

impl OutsideConfig {
    /// 10 s to be ready, 60 s for a decision without a limit, half a second of grace, nothing shown.
    pub fn new(rules: Rules) -> OutsideConfig {
        OutsideConfig {
            rules,
            ready: Duration::from_secs(10),
            hang: Duration::from_secs(60),
            grace: Duration::from_millis(500),
            show_errors: false,
        }
    }
}

/// A program that plays, asked play by play over UGI. Each decision sends the whole game, so one program can play several
/// games in turns; it hears of `uginewgame`, with a seed of the game's own, wherever another game goes on.
///
/// A program that is late, ends, answers what is no legal play or floods its output is killed with all its children, and
/// the decision fails as [`PlayerError::Forfeit`] with the reason. The next decision starts it anew.
pub struct OutsidePlayer {
    command: String,
    words: Vec<String>,
    config: OutsideConfig,
    name: String,
    engine: Option<Engine>,
    actions: Vec<Play>,
}

/// The program while it runs.
struct Engine {
    process: Process,
    /// `id name`, empty where it says none.
    name: String,
    /// The options that it lists, in lower case.
    options: Vec<String>,
    /// What was set last.
    rules: Option<Rules>,
    max_plays: Option<u32>,
    game: Option<RandomKey>,
    /// The last `info string error`, since the last `readyok`.
    complaint: Option<String>,
}

impl OutsidePlayer {
    /// Starts a program and asks whether it speaks UGI and plays by the rules. The command line is split into words as a
    /// shell does it, quotes included; no shell runs it.
    ///
    /// # Errors
    /// The program cannot be started, does not answer in time, or refuses the rules; one line says which.
    pub fn start(command: &str, config: OutsideConfig) -> Result<OutsidePlayer, OutsideError> {
        let words = shlex::split(command)
            .filter(|words| words.first().is_some_and(|program| !program.is_empty()))
            .ok_or_else(|| OutsideError::Command(echo(command)))?;
        let mut player = OutsidePlayer {
            command: echo(command),
            words,
            config,
            name: String::new(),
            engine: None,
            actions: Vec::new(),
        };
        let engine = player.launch()?;
        player.name = if engine.name.is_empty() { echo(command) } else { engine.name.clone() };
        player.engine = Some(engine);
        Ok(player)
    }

    /// Starts the program, up to its first `readyok`.
    fn launch(&self) -> Result<Engine, OutsideError> {
        let process = Process::start(&self.words, self.config.show_errors)
            .map_err(|error| OutsideError::Start { command: self.command.clone(), error })?;
        let mut engine = Engine {
            process,
            name: String::new(),
            options: Vec::new(),
            rules: None,
            max_plays: None,
            game: None,
            complaint: None,
        };
        engine
            .introduce(&self.config)
            .map_err(|fault| OutsideError::Fault { command: self.command.clone(), fault })?;
        Ok(engine)
    }

    fn ask(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Play, OutsideError> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.launch()?,
        };
        // An engine at fault is dropped here, and so killed.
        let play = engine
            .decide(game, budget, &self.config)
            .map_err(|fault| OutsideError::Fault { command: self.command.clone(), fault })?;
        self.engine = Some(engine);
        Ok(play)
    }
}

impl Player for OutsidePlayer {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn new_game(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.game = None;
        }
    }

    fn choose(&mut self, game: &GameState<'_>, budget: &Budget<'_>) -> Result<Choice, PlayerError> {
        actions_of(game.position, &mut self.actions)?;
        self.ask(game, budget)
            .map(Choice::unsearched)
            .map_err(|error| PlayerError::Forfeit(error.to_string()))
    }
}

impl Drop for OutsidePlayer {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.process.dismiss();
        }
    }
}

impl Engine {
    fn introduce(&mut self, config: &OutsideConfig) -> Result<(), OutsideFault> {
        self.process.say("ugi");
        let deadline = Instant::now() + config.ready;
        loop {
            let line = self.line(deadline, "ugiok", config.ready)?;
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["id", "name", name @ ..] => self.name = echo(&name.join(" ")),
                ["option", "name", name, ..] => self.options.push(name.to_ascii_lowercase()),
                ["ugiok"] => break,
                _ => {}
            }
        }
        self.set_rules(&config.rules);
        self.ready(config)?;
        let refusal = match self.complaint.take() {
            Some(complaint) => Some(complaint),
            None if self.knows("rules") || config.rules.to_string() == "standard" => None,
            None => Some("it has no option Rules".to_owned()),
        };
        match refusal {
            Some(reason) => Err(OutsideFault::Rules { rules: config.rules.to_string(), reason }),
            None => Ok(()),
        }
    }

    fn knows(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }

    /// Sets an option that it lists; a program that lacks one of the common options plays without.
    fn set(&self, option: &str, value: &dyn std::fmt::Display) {
        if self.knows(&option.to_ascii_lowercase()) {
            self.process.say(&format!("setoption name {option} value {value}"));
        }
    }

    fn set_rules(&mut self, rules: &Rules) {
        if self.rules != Some(*rules) {
            self.rules = Some(*rules);
            self.set("Rules", rules);
        }
    }

    /// Waits until it has done with everything said so far; what it wrote before is over.
    fn ready(&mut self, config: &OutsideConfig) -> Result<(), OutsideFault> {
        self.complaint = None;
        self.process.say("isready");
        let deadline = Instant::now() + config.ready;
        while self.line(deadline, "readyok", config.ready)? != "readyok" {}
        Ok(())
    }

    /// The next line; what an `info string error` says is kept.
    fn line(
        &mut self,
        deadline: Instant,
        wanted: &'static str,
        limit: Duration,
    ) -> Result<String, OutsideFault> {
        let line = self
            .process
            .line(deadline)
            .map_err(|silence| OutsideFault::silence(silence, wanted, limit))?;
        if let Some(complaint) = line.strip_prefix("info string error") {
            self.complaint = Some(echo(complaint.trim()));
        }
        Ok(line)
    }

    fn decide(
        &mut self,
        game: &GameState<'_>,
        budget: &Budget<'_>,
        config: &OutsideConfig,
    ) -> Result<Play, OutsideFault> {
        let (place, max_plays) = place(game);
        self.set_rules(game.position.rules());
        if self.max_plays != Some(max_plays) {
            self.max_plays = Some(max_plays);
            self.set("MaxPlays", &max_plays);
        }
        if self.game != Some(game.key) {
            self.game = Some(game.key);
            // The game's own seed: 0 would mean the clock, and not every program takes 64 bits.
            let seed = game.key.stream(0, Purpose::Player).next_u32().max(1);
            self.set("Seed", &seed);
            self.process.say("uginewgame");
        }
        self.process.say(&place);
        self.ready(config)?;
        if let Some(reason) = self.complaint.take() {
            return Err(OutsideFault::Rules { rules: game.position.rules().to_string(), reason });
        }
        let text = self.best_move(budget, config)?;
        let play: Play = text.parse().map_err(|_| OutsideFault::NoPlay(echo(&text)))?;
        if game.position.is_legal(play) {
            Ok(game.position.action_for(play))
        } else {
            Err(OutsideFault::IllegalPlay(echo(&text)))
        }
    }

    /// Lets it think, and returns what stands after `bestmove`.
    fn best_move(
        &mut self,
        budget: &Budget<'_>,
        config: &OutsideConfig,
    ) -> Result<String, OutsideFault> {
        let time = budget
            .clock
            .and_then(|clock| Some(clock.limit()?.saturating_sub(clock.elapsed())))
            .or_else(|| (budget.nodes.is_none() && budget.depth.is_none()).then_some(UNLIMITED));
        let limit = time.map_or(config.hang, |time| time + config.grace);
        let asked = Instant::now();
        let mut deadline = asked + limit;
        self.process.say(&go_line(budget, time));
        let mut stopped = false;
        loop {
            if !stopped && budget.clock.is_some_and(Clock::is_stopped) {
                stopped = true;
                self.process.say("stop");
                deadline = deadline.min(Instant::now() + config.grace);
            }
            let poll = Instant::now() + POLL;
            let until =
                if stopped || budget.clock.is_none() { deadline } else { deadline.min(poll) };
            let line = match self.process.line(until) {
                Ok(line) => line,
                Err(Silence::Late) if until < deadline => continue,
                Err(silence) => {
                    let limit = deadline.saturating_duration_since(asked);
                    return Err(OutsideFault::silence(silence, "bestmove", limit));
                }
            };
            if let Some(rest) = line.strip_prefix("bestmove") {
                return Ok(rest.split_whitespace().next().unwrap_or_default().to_owned());
            }
        }
    }
}

/// The limits of a budget as a `go` line.
fn go_line(budget: &Budget<'_>, time: Option<Duration>) -> String {
    let mut line = "go".to_owned();
    for (word, count) in [("nodes", budget.nodes), ("depth", budget.depth)] {
        if let Some(count) = count {
            line += &format!(" {word} {count}");
        }
    }
    if let Some(time) = time {
        line += &format!(" movetime {}", time.as_millis().max(1));
    }
    line
}

/// The line that sets up the position, and the limit of plays that belongs to it. A game from the start of its rules is
/// told play by play; the plays of another one do not lead to its position from there, so it is told as a text, with the
/// plays that are left.
fn place(game: &GameState<'_>) -> (String, u32) {
    let mut position: Position = game.position.rules().start();
    let from_start = game.plays.iter().all(|&play| position.try_play(play).is_ok())
        && position == *game.position;
    if !from_start {
        let left = game.max_plays.saturating_sub(game.ply()).max(1);
        return (format!("position fen {}", game.position), left);
    }
    let mut line = "position startpos".to_owned();
    if !game.plays.is_empty() {
        line += " moves";
    }
    for play in game.plays {
        line += &format!(" {play}");
    }
    (line, game.max_plays)
}
