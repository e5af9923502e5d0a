//! A position drawn as text: the hexagon with White below, pieces as the letters of the position text (rules, section 10).

use gipf_core::{Color, Position, Spot, SpotSet};

/// Columns a to i.
const COLUMNS: usize = 9;
/// Characters a column takes.
const WIDTH: usize = 6;
/// Text rows: column e's nine points, two rows apart.
const ROWS: usize = 17;
/// A longer stack is written out below the board.
const LONGEST_STACK: usize = 4;

/// How a board is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Pieces in the colours of a terminal (ANSI): White's yellow, Black's cyan.
    pub color: bool,
    /// The dots by their names, so that every entry can be read off the board.
    pub dot_names: bool,
    /// Spots to stand out: reversed where there are colours, in brackets elsewhere.
    pub marked: SpotSet,
}

/// What stands in one place of the drawing.
#[derive(Clone, Debug, Default)]
struct Cell {
    text: String,
    /// ANSI codes, joined by `;`; empty for none.
    codes: &'static str,
    marked: bool,
}

/// The board, one line a text row, then the column letters, and whose turn it is.
///
/// Dots are `·`, empty spots `.`; a stack is its letters from bottom to top, upper case White's.
///
/// ```
/// let rules: gipf_core::Rules = "standard".parse()?;
/// let board = gipf_player::drawing::board(&rules.start());
/// assert!(board.contains('G') && board.contains("white to decide"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn board(position: &Position) -> String {
    let mut out = hexagon(position, &Style::default());
    let text = position.to_string();
    let rest: Vec<&str> = text.split(' ').skip(1).collect();
    out += &format!("\n{}\n", rest.join(" "));
    out += &match (position.winner(), position.decider()) {
        (Some(winner), _) => format!("won by {}\n", name(winner)),
        (None, Some(decider)) => format!("{} to decide\n", name(decider)),
        (None, None) => "a side game's outcome is due\n".to_owned(),
    };
    out
}

/// The board alone: text rows from the top, the column letters, and a line for each stack too long for its place, which
/// shows its lowest and its top letter only.
pub fn hexagon(position: &Position, style: &Style) -> String {
    let text = position.to_string();
    let spots = columns(text.split(' ').next().unwrap_or_default());
    let mut cells = vec![vec![Cell::default(); COLUMNS]; ROWS];
    let mut long = String::new();
    for Point { column, number, on_rim } in points() {
        let name = name_of(column, number);
        // Row 0 is the top: e9 stands there, e1 in the last row.
        cells[ROWS + 1 - 2 * number - column.abs_diff(4)][column] = if on_rim {
            faint(if style.dot_names { name } else { "·".to_owned() })
        } else {
            let stack = spots.get(column - 1).and_then(|spots| spots.get(number - 2));
            let stack = stack.map_or("", String::as_str);
            if stack.chars().count() > LONGEST_STACK {
                long += &format!("{name}: {stack}\n");
            }
            spot(position, &name, stack, style)
        };
    }
    let mut out = String::new();
    for row in &cells {
        push_row(&mut out, row, style.color);
    }
    let letters: Vec<Cell> = ('a'..='i').map(|letter| faint(letter.to_string())).collect();
    push_row(&mut out, &letters, style.color);
    out + &long
}

/// A point of the board: a spot, or on the rim a dot.
struct Point {
    /// 0 to 8 for a to i.
    column: usize,
    /// From 1.
    number: usize,
    on_rim: bool,
}

/// Every point, column by column.
fn points() -> impl Iterator<Item = Point> {
    (0..COLUMNS).flat_map(|column| {
        let last = COLUMNS - column.abs_diff(4);
        (1..=last).map(move |number| {
            let on_rim = column == 0 || column == COLUMNS - 1 || number == 1 || number == last;
            Point { column, number, on_rim }
        })
    })
}

fn faint(text: String) -> Cell {
    Cell { text, codes: "2", marked: false }
}

/// The cell of a spot with this stack, `.` where it is empty.
fn spot(position: &Position, name: &str, stack: &str, style: &Style) -> Cell {
    let spot: Option<Spot> = name.parse().ok();
    let owner = spot.and_then(|spot| position.owner(spot));
    let short = match (stack.chars().next(), stack.chars().next_back()) {
        (Some(low), Some(top)) if stack.chars().count() > LONGEST_STACK => format!("{low}…{top}"),
        _ => stack.to_owned(),
    };
    let marked = spot.is_some_and(|spot| style.marked.contains(spot));
    Cell {
        text: if marked && !style.color { format!("[{short}]") } else { short },
        codes: match owner {
            Some(Color::White) => "1;33",
            Some(Color::Black) => "1;36",
            None => "2",
        },
        marked,
    }
}

/// The name of a point: column letter and number.
fn name_of(column: usize, number: usize) -> String {
    let letter = ('a'..='i').nth(column).unwrap_or('i');
    format!("{letter}{number}")
}

fn name(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

fn push_row(out: &mut String, cells: &[Cell], color: bool) {
    let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
    for (at, cell) in cells.iter().take(last).enumerate() {
        let room = WIDTH.saturating_sub(cell.text.chars().count());
        // As `{:^}` centres: the odd blank goes to the right.
        let left = room / 2;
        out.push_str(&" ".repeat(left));
        if color && !cell.text.is_empty() {
            let reversed = if cell.marked { ";7" } else { "" };
            *out += &format!("\x1b[{}{reversed}m{}\x1b[0m", cell.codes, cell.text);
        } else {
            out.push_str(&cell.text);
        }
        if at + 1 < last {
            out.push_str(&" ".repeat(room - left));
        }
    }
    out.push('\n');
}

/// The stacks of columns b to h, each from its low to its high spot; `.` where a spot is empty.
fn columns(board: &str) -> Vec<Vec<String>> {
    board.split('/').map(column).collect()
}

fn column(text: &str) -> Vec<String> {
    let mut stacks = Vec::new();
    let mut open: Option<String> = None;
    for character in text.chars() {
        match (character, open.as_mut()) {
            ('(', _) => open = Some(String::new()),
            (')', _) => stacks.extend(open.take()),
            (letter, Some(stack)) => stack.push(letter),
            (digit, None) if digit.is_ascii_digit() => {
                let empty = digit.to_digit(10).unwrap_or(0) as usize;
                stacks.extend(std::iter::repeat_n(".".to_owned(), empty));
            }
            (letter, None) => stacks.push(letter.to_string()),
        }
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_and_empty_spots_are_read() {
        assert_eq!(column("2(sT)G1"), [".", ".", "sT", "G", "."]);
    }

    #[test]
    fn the_standard_start_has_its_corners() -> Result<(), Box<dyn std::error::Error>> {
        let rules: gipf_core::Rules = "standard".parse()?;
        let drawn = board(&rules.start());
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[0].trim(), "·", "e9 is a dot");
        assert_eq!(
            lines[2].split_whitespace().collect::<Vec<_>>(),
            ["·", "g", "·"],
            "e8 is Black's"
        );
        assert_eq!(
            lines[14].split_whitespace().collect::<Vec<_>>(),
            ["·", "G", "·"],
            "e2 is White's"
        );
        assert_eq!(drawn.matches('·').count(), 24);
        assert_eq!(drawn.matches('G').count(), 3);
        assert_eq!(lines[ROWS].split_whitespace().count(), COLUMNS);
        Ok(())
    }

    #[test]
    fn names_marks_and_colors() -> Result<(), Box<dyn std::error::Error>> {
        let rules: gipf_core::Rules = "standard+D6".parse()?;
        let position = Position::parse(&rules, "1gg1/5/6/(sDdDd)g(SdD)4/6/5/2G1 8,8 BB w m")?;
        let marked = SpotSet::of("e3".parse()?) | SpotSet::of("e6".parse()?);
        let drawn = hexagon(&position, &Style { marked, dot_names: true, ..Style::default() });
        for part in ["e9", "a1", "i5", "[g]", "[.]", "s…d", "SdD", "\ne2: sDdDd\n"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
        assert!(drawn.lines().all(|line| line.trim_end() == line && line.chars().count() <= 54));
        let colored = hexagon(&position, &Style { marked, color: true, dot_names: true });
        assert!(colored.contains("\x1b[1;36;7mg\x1b[0m") && colored.contains("\x1b[1;33mG\x1b[0m"));
        let mut plain = String::new();
        let mut inside = false;
        for character in colored.chars() {
            match character {
                '\x1b' => inside = true,
                'm' if inside => inside = false,
                other if !inside => plain.push(other),
                _ => {}
            }
        }
        let unmarked = hexagon(&position, &Style { dot_names: true, ..Style::default() });
        assert_eq!(plain, unmarked, "colours take no room");
        Ok(())
    }
}
