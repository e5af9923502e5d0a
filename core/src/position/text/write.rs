//! The text of a position.

use crate::Color;
use crate::board::{Line, Spot, WIDTH, column_len, column_low};
use crate::position::{AnnouncedAt, Phase, Position, Stage};
use crate::rules::Potential;
use std::fmt::{self, Write as _};

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for x in 0..WIDTH {
            if x > 0 {
                f.write_char('/')?;
            }
            write_column(self, x, f)?;
        }
        for color in Color::ALL {
            f.write_char(if color == Color::White { ' ' } else { ',' })?;
            write!(f, "{}", self.hand_basic(color))?;
            for kind in Potential::ALL {
                let count = self.hand_potentials(color)[kind.index()];
                if count > 0 {
                    write!(f, "{}{count}", kind.letter())?;
                }
            }
        }
        let [white, black] = self.stages.map(Stage::letter);
        write!(f, " {white}{black} {} ", self.mover.letter())?;
        f.write_str(match self.phase {
            Phase::ExtraOwed => "t",
            Phase::Regular => "m",
            Phase::ExtraEarned => "x",
            Phase::Removal(Color::White) => "rw",
            Phase::Removal(Color::Black) => "rb",
            Phase::Challenge => "?",
            Phase::SideGame => "=",
            Phase::Won(Color::White) => "W",
            Phase::Won(Color::Black) => "B",
        })?;
        write_detail(self, f)
    }
}

fn write_column(position: &Position, x: i8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut empty = 0;
    for y in column_low(x)..column_low(x) + column_len(x) {
        let stack = Spot::at(x, y).and_then(|spot| position.stack(spot));
        let Some(stack) = stack else {
            empty += 1;
            continue;
        };
        if empty > 0 {
            write!(f, "{empty}")?;
            empty = 0;
        }
        let items = usize::from(stack.count) + usize::from(stack.base.is_some());
        if items > 1 {
            f.write_char('(')?;
        }
        if let Some((color, gipf)) = stack.base {
            f.write_char(piece(if gipf { 'G' } else { 'S' }, color))?;
        }
        let mut color = stack.first;
        for _ in 0..stack.count {
            f.write_char(piece(stack.potential.map_or('?', Potential::letter), color))?;
            color = color.other();
        }
        if items > 1 {
            f.write_char(')')?;
        }
    }
    if empty > 0 {
        write!(f, "{empty}")?;
    }
    Ok(())
}

fn piece(letter: char, color: Color) -> char {
    if color == Color::White { letter } else { letter.to_ascii_lowercase() }
}

fn write_detail(position: &Position, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if position.is_over() {
        return Ok(());
    }
    let mut separator = ' ';
    let mut pair = |f: &mut fmt::Formatter<'_>, key: &str, value: &dyn fmt::Display| {
        let written = write!(f, "{separator}{key}={value}");
        separator = ',';
        written
    };
    if let Some(color) = position.e5 {
        pair(f, "e5", &color.letter())?;
    }
    if !position.changed.is_empty() {
        pair(f, "ch", &position.changed)?;
    }
    let closed = position.closed_lines();
    if closed != 0 {
        let mut lines: Vec<String> = Line::ALL
            .into_iter()
            .filter(|line| closed >> line.index() & 1 != 0)
            .map(|line| line.to_string())
            .collect();
        lines.sort();
        pair(f, "done", &lines.concat())?;
    }
    if let Some(play) = position.announced() {
        pair(f, "a", &play)?;
        match position.announced_at {
            AnnouncedAt::Regular => {}
            AnnouncedAt::ExtraOwed => pair(f, "at", &'t')?,
            AnnouncedAt::ExtraEarned => pair(f, "at", &'x')?,
        }
    }
    if position.used != [0; 2] {
        let [white, black] = position.used;
        pair(f, "used", &format_args!("{white}/{black}"))?;
    }
    Ok(())
}
