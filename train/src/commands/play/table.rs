//! The table: two seats, a prompt, and the game between them.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use gipf_core::{Color, Play};
use gipf_player::drawing::{Style, hexagon};
use gipf_player::messages::count_of;
use gipf_player::refusal::refusal;
use gipf_player::situation::{holdings, situation, stage_rule};
use gipf_selfplay::{Player, Purpose};
use rand::Rng;

use super::super::fault::{check_new_file, is_taken};
use super::super::{Output, Usage, one_line, rules};
use super::choices::Choices;
use super::game::Game;
use super::lines::{Line, WORDS};
use super::seat::{Seat, choose, described, key, outcome_word, stopped};
use super::seat_name;

/// Names that are tried beside one that is taken.
const MOST_NAMES: u32 = 1000;

/// A game in the terminal. It reads lines from any reader and writes to any writer.
pub(super) struct Table<'a> {
    game: Game,
    seats: [Seat; 2],
    hints: Box<dyn Player>,
    input: &'a mut dyn BufRead,
    out: Output<'a>,
    /// Simulations a decision.
    pub(super) nodes: u32,
    /// Whether to draw in colours.
    pub(super) color: bool,
    /// Plays that whoever looks at the board has seen made.
    seen: usize,
    /// Stops the game when set, in the middle of a search too.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// Files of this game: they may be written again.
    saved: Vec<PathBuf>,
}

/// Whether the game goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    On,
    Stop,
}

impl<'a> Table<'a> {
    /// A table without colours, at 200 simulations a decision.
    pub(super) fn new(
        game: Game,
        seats: [Seat; 2],
        hints: Box<dyn Player>,
        input: &'a mut dyn BufRead,
        out: Output<'a>,
    ) -> Self {
        let seen = game.plays().len();
        Table {
            game,
            seats,
            hints,
            input,
            out,
            nodes: 200,
            color: false,
            seen,
            stop: None,
            saved: Vec::new(),
        }
    }

    /// Plays until the game ends, somebody stops it, or the input ends.
    ///
    /// # Errors
    /// The output cannot be written, the input cannot be read, or a computer player fails.
    pub(super) fn run(&mut self) -> anyhow::Result<()> {
        self.check_side_game(&self.game)?;
        let [white, black] = Color::ALL.map(|color| seat_name(color, &self.seats[color.index()]));
        writeln!(self.out, "{white}, {black}; rules {}", self.game.position().rules())?;
        if self.people().is_empty() {
            self.show_board()?;
        } else {
            writeln!(self.out, "type a play or its number in the list; help shows what else")?;
        }
        loop {
            if let Some(end) = self.game.end() {
                self.show_board()?;
                writeln!(self.out, "{end} ({})", count_of(self.plays(), "play"))?;
                return Ok(());
            }
            let step = match self.game.position().decider() {
                _ if stopped(self.stop.as_deref()) => Step::Stop,
                None => self.side_game()?,
                Some(color) => match self.seats[color.index()] {
                    Seat::Human => self.ask(Some(color))?,
                    Seat::Computer { .. } => self.computer(color)?,
                },
            };
            if step == Step::Stop {
                writeln!(self.out, "the game stops after {}", count_of(self.plays(), "play"))?;
                return Ok(());
            }
        }
    }

    /// Writes the game to a file, and says so. Where another process has made a file of this name while the game was played, the game
    /// goes beside it.
    ///
    /// # Errors
    /// The file or the output cannot be written.
    pub(super) fn save(&mut self, path: &Path, overwrite: bool) -> anyhow::Result<()> {
        let replace = overwrite || self.saved.iter().any(|saved| saved == path);
        let (mut place, mut number) = (path.to_owned(), 0);
        while let Err(error) = self.game.save(&place, replace) {
            if !is_taken(&error) || number == MOST_NAMES {
                return Err(error);
            }
            number += 1;
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            place = PathBuf::from(name);
        }
        writeln!(self.out, "saved {}", place.display())?;
        self.saved.push(place);
        Ok(())
    }

    /// The number of plays made.
    pub(super) fn plays(&self) -> usize {
        self.game.plays().len()
    }

    /// Writes the game to a new file, or again to one of its own.
    fn save_new(&mut self, path: &Path) -> anyhow::Result<()> {
        let own = self.saved.iter().any(|saved| saved == path);
        check_new_file(path, own.then_some(true))?;
        self.game.save(path, own)?;
        self.saved.push(path.to_owned());
        Ok(())
    }

    /// The colours that people play.
    fn people(&self) -> Vec<Color> {
        let human = |color: &Color| matches!(self.seats[color.index()], Seat::Human);
        Color::ALL.into_iter().filter(human).collect()
    }

    /// A search needs probabilities, which a side game played elsewhere has not.
    fn check_side_game(&self, game: &Game) -> anyhow::Result<()> {
        let searches = |seat: &Seat| matches!(seat, Seat::Computer { searches: true, .. });
        let rules = game.position().rules();
        if self.seats.iter().any(searches) && !rules.is_searchable() {
            return Err(Usage::error(format!(
                "rules {rules}: a network cannot play where side games are recorded; human, random and greedy can"
            )));
        }
        Ok(())
    }

    fn show_board(&mut self) -> anyhow::Result<()> {
        let plays = self.game.plays().len();
        // Whoever has seen everything looks at the last play.
        let since = if self.seen < plays { self.seen } else { plays.saturating_sub(1) };
        let style =
            Style { color: self.color, dot_names: true, marked: self.game.changed_since(since) };
        write!(self.out, "\n{}\n", hexagon(self.game.position(), &style))?;
        for color in Color::ALL {
            writeln!(self.out, "{color}: {}", holdings(self.game.position(), color))?;
        }
        self.seen = plays;
        Ok(())
    }

    /// A computer player decides.
    fn computer(&mut self, color: Color) -> anyhow::Result<Step> {
        self.out.flush()?;
        let Seat::Computer { player, .. } = &mut self.seats[color.index()] else {
            return Ok(Step::On);
        };
        let before = *self.game.position();
        let choice = choose(player.as_mut(), &self.game, self.nodes, self.stop.as_deref())?;
        if stopped(self.stop.as_deref()) {
            return Ok(Step::Stop);
        }
        writeln!(self.out, "{color} plays {}", described(&choice))?;
        self.game.play(choice.play);
        // Without a person the board is drawn after each turn.
        let turn_over = self.game.position().mover() != before.mover();
        if self.people().is_empty() && turn_over && self.game.end().is_none() {
            self.show_board()?;
        }
        Ok(Step::On)
    }

    /// A side game is due: chance draws its outcome between computer players, people are asked.
    fn side_game(&mut self) -> anyhow::Result<Step> {
        let recorded = !self.game.position().rules().is_searchable();
        if recorded || !self.people().is_empty() {
            return self.ask(None);
        }
        self.draw_outcome()?;
        Ok(Step::On)
    }

    /// Lets chance decide; false where it has no probabilities.
    fn draw_outcome(&mut self) -> anyhow::Result<bool> {
        let mut outcomes = Vec::new();
        self.game.position().outcomes(&mut outcomes);
        let mut rest = key(&self.game)
            .stream(self.game.plays().len() as u32, Purpose::Outcome)
            .random::<f64>();
        let drawn = outcomes.iter().find(|(_, chance)| {
            rest -= chance;
            rest < 0.0
        });
        // Rounding may leave a rest behind the last one.
        let Some(&(play, _)) = drawn.or(outcomes.last()) else { return Ok(false) };
        let mover = self.game.position().mover();
        writeln!(self.out, "chance decides: {mover} {} ({play})", outcome_word(play))?;
        self.game.play(play);
        Ok(true)
    }

    /// Asks until a person has made a play, changed the game or stopped it; `color` is absent for a side game's outcome.
    fn ask(&mut self, color: Option<Color>) -> anyhow::Result<Step> {
        self.show_board()?;
        writeln!(self.out, "{}", situation(self.game.position()))?;
        if color.is_none() && self.game.position().rules().is_searchable() {
            writeln!(self.out, "or draw to let chance decide")?;
        }
        let choices = Choices::of(self.game.position());
        loop {
            match color {
                Some(color) => write!(self.out, "{color}> ")?,
                None => write!(self.out, "side game> ")?,
            }
            let Some(text) = self.read_line()? else { return Ok(Step::Stop) };
            let answer = match Line::parse(&text) {
                Ok(Line::Quit) => return Ok(Step::Stop),
                Ok(Line::Number(number)) => match choices.get(number) {
                    Some(play) => self.make(play),
                    None => Err(format!("the list has 1 to {} (list shows it)", choices.len())),
                },
                Ok(Line::Play(play)) => self.make(play),
                Ok(Line::Draw) if color.is_some() => {
                    Err("there is no side game to decide".to_owned())
                }
                Ok(Line::Draw) => match self.draw_outcome()? {
                    true => Ok(true),
                    false => Err("a recorded side game has no chances: =w, =t or =l".to_owned()),
                },
                Ok(Line::Undo) => self.undo(),
                Ok(Line::Load(path)) => self.load(&path),
                Ok(other) => self.tell(&other, &choices).map(|()| Ok(false))?,
                Err(fault) => Err(fault),
            };
            match answer {
                Ok(true) => return Ok(Step::On),
                Ok(false) => {}
                Err(fault) => writeln!(self.out, "{}", one_line(&fault))?,
            }
        }
    }

    /// The next line; `None` at the end of the input.
    fn read_line(&mut self) -> anyhow::Result<Option<String>> {
        self.out.flush()?;
        let mut bytes = Vec::new();
        if self.input.read_until(b'\n', &mut bytes).context("cannot read the input")? == 0 {
            writeln!(self.out)?;
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn make(&mut self, play: Play) -> Result<bool, String> {
        if let Some(why) = refusal(self.game.position(), play) {
            return Err(format!("{play} is not legal: {why}"));
        }
        self.game.play(play);
        self.seen = self.game.plays().len();
        Ok(true)
    }

    fn undo(&mut self) -> Result<bool, String> {
        let people = self.people();
        if !self.game.undo(&people) {
            return Err("there is nothing of yours to take back".to_owned());
        }
        self.seen = self.game.plays().len();
        Ok(true)
    }

    fn load(&mut self, path: &Path) -> Result<bool, String> {
        let game = Game::load(path).and_then(|game| self.check_side_game(&game).map(|()| game));
        let mut game = game.map_err(|error| one_line(&format!("{error:#}")))?;
        // The table's seed and limit stay, unless the game is longer already.
        game.max_plays = self.game.max_plays.max(game.plays().len() as u32);
        game.seed = self.game.seed;
        self.game = game;
        self.seen = self.game.plays().len();
        Ok(true)
    }

    /// The words that change nothing.
    fn tell(&mut self, line: &Line, choices: &Choices) -> anyhow::Result<()> {
        match line {
            Line::Help => {
                for (word, about) in WORDS {
                    writeln!(self.out, "  {word:<12} {about}")?;
                }
            }
            Line::List(page) => {
                let pages = choices.pages();
                if *page > pages {
                    writeln!(self.out, "the list ends on page {pages}")?;
                }
                for line in choices.page(*page) {
                    writeln!(self.out, "{line}")?;
                }
                if *page < pages {
                    writeln!(self.out, "page {page} of {pages}; list {} shows the next", page + 1)?;
                }
            }
            Line::Moves => {
                for turn in self.game.turns() {
                    writeln!(self.out, "{turn}")?;
                }
                writeln!(self.out, "{}", self.game.position())?;
            }
            Line::Hint if self.game.position().is_chance() => {
                writeln!(self.out, "nobody can say how a side game ends")?;
            }
            Line::Hint => match self.hint() {
                Ok(text) => writeln!(self.out, "{text}")?,
                Err(error) => writeln!(self.out, "{}", one_line(&format!("{error:#}")))?,
            },
            Line::Rules => {
                for (name, text) in rules::lines(self.game.position().rules()) {
                    writeln!(self.out, "{name:<10} {text}")?;
                }
                for color in Color::ALL {
                    if let Some(rule) = stage_rule(self.game.position(), color) {
                        writeln!(self.out, "{:<10} {rule}", "stages")?;
                    }
                }
                writeln!(self.out, "{}", situation(self.game.position()))?;
            }
            Line::Save(path) => match self.save_new(path) {
                Ok(()) => writeln!(self.out, "saved {}", path.display())?,
                Err(error) => writeln!(self.out, "{}", one_line(&format!("{error:#}")))?,
            },
            _ => {}
        }
        Ok(())
    }

    fn hint(&mut self) -> anyhow::Result<String> {
        let choice = choose(self.hints.as_mut(), &self.game, self.nodes, self.stop.as_deref())?;
        Ok(format!("{} would play {}", self.hints.name(), described(&choice)))
    }
}
