//! A position drawn as text: the hexagon with White below, pieces as the letters of the position text (rules, section 10).

use gipf_core::Position;

/// Columns a to i.
const COLUMNS: usize = 9;
/// Characters a column takes.
const WIDTH: usize = 6;
/// Text rows: column e's nine points, two rows apart.
const ROWS: usize = 17;

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
    let text = position.to_string();
    let mut fields = text.split(' ');
    let spots = columns(fields.next().unwrap_or_default());
    let mut cells = vec![vec![String::new(); COLUMNS]; ROWS];
    for column in 0..COLUMNS {
        let distance = column.abs_diff(4);
        let points = COLUMNS - distance;
        for number in 1..=points {
            let on_rim = column == 0 || column == COLUMNS - 1 || number == 1 || number == points;
            let cell = if on_rim {
                "·".to_owned()
            } else {
                spots
                    .get(column - 1)
                    .and_then(|spots| spots.get(number - 2))
                    .cloned()
                    .unwrap_or_default()
            };
            // Row 0 is the top: e9 stands there, e1 in the last row.
            cells[ROWS + 1 - 2 * number - distance][column] = cell;
        }
    }
    let mut out = String::new();
    for row in &cells {
        push_row(&mut out, row.iter().map(String::as_str));
    }
    let letters: Vec<String> = ('a'..='i').map(String::from).collect();
    push_row(&mut out, letters.iter().map(String::as_str));
    let rest: Vec<&str> = fields.collect();
    out += &format!("\n{}\n", rest.join(" "));
    out += &match (position.winner(), position.decider()) {
        (Some(winner), _) => format!("won by {}\n", name(winner)),
        (None, Some(decider)) => format!("{} to decide\n", name(decider)),
        (None, None) => "a side game's outcome is due\n".to_owned(),
    };
    out
}

fn name(color: gipf_core::Color) -> &'static str {
    match color {
        gipf_core::Color::White => "white",
        gipf_core::Color::Black => "black",
    }
}

fn push_row<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    let line: String = cells.map(|cell| format!("{cell:^WIDTH$}")).collect();
    out.push_str(line.trim_end());
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
}
