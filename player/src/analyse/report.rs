//! What `analyse` prints of a game.

use std::io::{self, Write};

use gipf_core::Color;
use serde_json::{Value, json};

use crate::analysis::JudgedPlay;
use crate::games::PlayedGame;
use crate::games::files::Place;
use crate::messages::count_of;

/// From so many expected points lost on a play is marked `?`, and `??`.
const MARKS: [(f32, &str); 2] = [(0.25, "??"), (0.1, "?")];

/// How one side played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Side {
    /// Decisions between two plays or more.
    decisions: u32,
    /// Those at which it played as the player would have.
    best: u32,
    /// Those marked `?` or `??`.
    mistakes: u32,
    /// Expected points lost.
    lost: f64,
}

impl Side {
    /// Takes a decision of this side in.
    pub(super) fn count(&mut self, play: &JudgedPlay) {
        let best = play.lost == 0.0 && play.play == play.best;
        let mistake = !mark(play).is_empty();
        let (best, mistakes) = (u32::from(best), u32::from(mistake));
        self.add(&Side { decisions: 1, best, mistakes, lost: f64::from(play.lost) });
    }

    /// Takes in how it played in another game.
    pub(super) fn add(&mut self, other: &Side) {
        self.decisions += other.decisions;
        self.best += other.best;
        self.mistakes += other.mistakes;
        self.lost += other.lost;
    }

    /// Hundredths of a point lost on average.
    fn mean(&self) -> f64 {
        100.0 * self.lost / f64::from(self.decisions.max(1))
    }
}

fn mark(play: &JudgedPlay) -> &'static str {
    MARKS.iter().find(|(from, _)| play.lost >= *from).map_or("", |(_, mark)| mark)
}

/// The game, and the columns of its plays.
pub(super) fn write_head(
    place: Place<'_>,
    game: &PlayedGame,
    out: &mut dyn Write,
) -> io::Result<()> {
    let length = count_of(game.plays.len(), "play");
    writeln!(out, "{place}: {}, {length}, {}", game.rules(), result(game))?;
    writeln!(out, "  play side    %won  lost  made           best           expected then")
}

fn result(game: &PlayedGame) -> String {
    game.last().winner().map_or("unfinished".to_owned(), |color| format!("{color} won"))
}

/// One decision.
pub(super) fn write_play(play: &JudgedPlay, out: &mut dyn Write) -> io::Result<()> {
    let (made, best) = (play.play.to_string(), play.best.to_string());
    let (value, lost) = (100.0 * play.value, 100.0 * play.lost);
    let line: Vec<String> = play.line.iter().skip(1).take(4).map(ToString::to_string).collect();
    let text = format!(
        "{:>6} {:<6} {value:>5.1} {lost:>5.1}  {:<14} {best:<14} {}",
        play.index + 1,
        play.color.to_string(),
        format!("{made} {}", mark(play)),
        line.join(" ")
    );
    writeln!(out, "{}", text.trim_end())
}

/// How both sides played.
pub(super) fn write_sides(sides: &[Side; 2], out: &mut dyn Write) -> io::Result<()> {
    for (color, side) in Color::ALL.into_iter().zip(sides) {
        writeln!(
            out,
            "{color}: {:.2} points lost in {} ({:.1} of 100 each), {} best, {} marked",
            side.lost,
            count_of(side.decisions as usize, "decision"),
            side.mean(),
            side.best,
            side.mistakes
        )?;
    }
    Ok(())
}

/// The game as JSON: values and losses in expected points, 0 to 1.
pub(super) fn json(
    place: Place<'_>,
    game: &PlayedGame,
    plays: &[JudgedPlay],
    sides: &[Side; 2],
) -> Value {
    let texts =
        |plays: &[gipf_core::Play]| plays.iter().map(ToString::to_string).collect::<Vec<_>>();
    let of_play = |play: &JudgedPlay| {
        json!({
            "number": play.index + 1,
            "side": play.color.to_string(),
            "play": play.play.to_string(),
            "value": play.value,
            "best": play.best.to_string(),
            "lost": play.lost,
            "line": texts(&play.line),
        })
    };
    let of_side = |side: &Side| {
        json!({
            "decisions": side.decisions, "best": side.best, "mistakes": side.mistakes, "lost": side.lost,
        })
    };
    json!({
        "file": place.path.display().to_string(),
        "game": place.number,
        "rules": game.rules().to_string(),
        "result": result(game),
        "plays": plays.iter().map(of_play).collect::<Vec<_>>(),
        "white": of_side(&sides[0]),
        "black": of_side(&sides[1]),
    })
}
