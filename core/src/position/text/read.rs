//! The parts of a position text, read one by one.

use super::{TextError, fault};
use crate::Color;
use crate::board::{Line, Spot, SpotSet, WIDTH, column_len, column_low};
use crate::position::stack::{Code, MAX_COUNT};
use crate::position::{AnnouncedAt, Phase, Position, Stage, rows};
use crate::rules::Potential;

pub(super) fn board(position: &mut Position, text: &str) -> Result<(), TextError> {
    let columns: Vec<&str> = text.split('/').collect();
    if columns.len() != WIDTH as usize {
        return fault("board", format!("{} columns, 7 expected (b to h)", columns.len()));
    }
    for (x, column) in (0..WIDTH).zip(columns) {
        let name = (b'b' + x as u8) as char;
        let mut y: i8 = 0;
        let mut rest = column;
        while let Some(letter) = rest.chars().next() {
            let item;
            (item, rest) = match letter {
                '(' => match rest.split_once(')') {
                    Some((inside, rest)) => (&inside[1..], rest),
                    None => return fault("board", format!("column {name}: \"(\" without \")\"")),
                },
                _ => rest.split_at(letter.len_utf8()),
            };
            if let Some(empty) = letter.to_digit(10) {
                y = y.saturating_add(empty as i8);
                continue;
            }
            let spot = (y < column_len(x)).then(|| Spot::at(x, column_low(x) + y)).flatten();
            let Some(spot) = spot else {
                return fault("board", format!("column {name} is too long"));
            };
            stack(position, spot, item)
                .map_err(|what| TextError { part: "board", fault: format!("{spot}: {what}") })?;
            y += 1;
        }
        if y != column_len(x) {
            return fault(
                "board",
                format!("column {name} has {y} spots, {} expected", column_len(x)),
            );
        }
    }
    Ok(())
}

fn stack(position: &mut Position, spot: Spot, items: &str) -> Result<(), String> {
    let (mut base, mut code): (Option<Color>, Option<Code>) = (None, None);
    let mut gipf = false;
    for (at, letter) in items.chars().enumerate() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let capital = letter.to_ascii_uppercase();
        match capital {
            'S' | 'G' if at == 0 => (base, gipf) = (Some(color), capital == 'G'),
            'S' | 'G' => return Err(format!("{letter} is not the lowest item of \"{items}\"")),
            _ => {
                let kind = u8::try_from(capital).ok().and_then(Potential::from_letter);
                let kind = kind.ok_or_else(|| format!("\"{letter}\" is no piece"))?;
                code =
                    Some(stacked(base, gipf, code, kind, color).ok_or_else(|| {
                        format!("{letter} cannot lie where it does in \"{items}\"")
                    })?);
            }
        }
    }
    match (code, base) {
        (Some(code), _) => position.put(spot, code),
        (None, Some(color)) => {
            position.owned[color.index()].insert(spot);
            if gipf {
                position.gipf.insert(spot);
            }
        }
        (None, None) => return Err("a stack without items".to_owned()),
    }
    Ok(())
}

/// The stack with one more potential on top, if the rules can bring it about (section 2).
fn stacked(
    base: Option<Color>,
    gipf: bool,
    below: Option<Code>,
    kind: Potential,
    color: Color,
) -> Option<Code> {
    let covers = matches!(kind, Potential::Dvonn | Potential::Punct);
    match below {
        Some(below) => {
            (covers && below.kind() == kind && below.top() != color && below.count() < MAX_COUNT)
                .then(|| below.covered())
        }
        None => (!gipf && (covers || base.is_none_or(|base| base == color)))
            .then(|| Code::new(base, kind, color, 1)),
    }
}

pub(super) fn hands(position: &mut Position, text: &str) -> Result<(), TextError> {
    let Some((white, black)) = text.split_once(',') else {
        return fault("hands", format!("\"{text}\" is not WHITE,BLACK"));
    };
    for (color, hand) in Color::ALL.into_iter().zip([white, black]) {
        let digits = hand.bytes().take_while(u8::is_ascii_digit).count();
        let (basics, mut rest) = hand.split_at(digits);
        position.basics[color.index()] = basics.parse().or_else(|_| {
            fault("hands", format!("\"{hand}\" does not begin with a number of basic pieces"))
        })?;
        position.potentials[color.index()] = [0; 5];
        while let Some(letter) = rest.chars().next() {
            let kind = Some(letter)
                .filter(char::is_ascii)
                .and_then(|letter| Potential::from_letter(letter as u8));
            let Some(kind) = kind else {
                return fault("hands", format!("\"{letter}\" in \"{hand}\" is no kind"));
            };
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            position.potentials[color.index()][kind.index()] = rest[1..=digits]
                .parse()
                .or_else(|_| fault("hands", format!("no number after {letter} in \"{hand}\"")))?;
            rest = &rest[digits + 1..];
        }
    }
    Ok(())
}

pub(super) fn stages(position: &mut Position, text: &str) -> Result<(), TextError> {
    let mut stages = text.chars();
    for stage in &mut position.stages {
        *stage = match stages.next() {
            Some('G') => Stage::G,
            Some('L') => Stage::L,
            Some('B') => Stage::B,
            _ => return fault("stages", format!("\"{text}\" is not two of G, L, B")),
        };
    }
    if stages.next().is_some() {
        return fault("stages", format!("\"{text}\" is not two of G, L, B"));
    }
    Ok(())
}

pub(super) fn phase(text: &str) -> Result<Phase, TextError> {
    Ok(match text {
        "t" => Phase::ExtraOwed,
        "m" => Phase::Regular,
        "x" => Phase::ExtraEarned,
        "rw" => Phase::Removal(Color::White),
        "rb" => Phase::Removal(Color::Black),
        "?" => Phase::Challenge,
        "=" => Phase::SideGame,
        "W" => Phase::Won(Color::White),
        "B" => Phase::Won(Color::Black),
        _ => return fault("phase", format!("\"{text}\" is none of t m x rw rb ? = W B")),
    })
}

pub(super) fn detail(position: &mut Position, text: &str) -> Result<(), TextError> {
    let mut play: Option<&str> = None;
    let mut at = AnnouncedAt::Regular;
    for pair in text.split(',') {
        let Some((key, value)) = pair.split_once('=') else {
            return fault("detail", format!("\"{pair}\" is not key=value"));
        };
        match (key, value) {
            ("e5", "w") => position.e5 = Some(Color::White),
            ("e5", "b") => position.e5 = Some(Color::Black),
            ("ch", names) => position.changed = spots(names)?,
            ("done", names) => lines(position, names)?,
            ("a", announced) => play = Some(announced),
            ("at", "t") => at = AnnouncedAt::ExtraOwed,
            ("at", "x") => at = AnnouncedAt::ExtraEarned,
            ("used", used) => match used.split_once('/').map(|(w, b)| (w.parse(), b.parse())) {
                Some((Ok(white), Ok(black))) => position.used = [white, black],
                _ => return fault("detail", format!("used \"{used}\" is not W/B")),
            },
            _ => return fault("detail", format!("\"{pair}\" is unknown")),
        }
    }
    if let Some(text) = play {
        position.announced = text
            .parse()
            .or_else(|_| fault("detail", format!("announced \"{text}\" is not a play")))?;
        position.announced_at = at;
    }
    Ok(())
}

fn spots(text: &str) -> Result<SpotSet, TextError> {
    let mut set = SpotSet::EMPTY;
    let mut rest = text;
    while !rest.is_empty() {
        let spot = rest.get(..2).and_then(|name| name.parse::<Spot>().ok());
        let Some(spot) = spot else {
            return fault("detail", format!("\"{text}\" is not a list of spots"));
        };
        set.insert(spot);
        rest = &rest[2..];
    }
    Ok(set)
}

/// A closed line belongs to the colour of its four neighbouring GIPF-pieces.
fn lines(position: &mut Position, text: &str) -> Result<(), TextError> {
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest
            .get(..4)
            .and_then(|name| Line::ALL.into_iter().find(|line| line.to_string() == name));
        let Some(line) = line else {
            return fault("detail", format!("done \"{text}\" is not a list of lines"));
        };
        for color in Color::ALL {
            let pieces = position.gipf_like_even_covered(color) & line.spots();
            if rows::fours(pieces, line.stride()) != 0 {
                position.closed[color.index()] |= 1 << line.index();
            }
        }
        rest = &rest[4..];
    }
    Ok(())
}

pub(super) fn mover(text: &str) -> Result<Color, TextError> {
    match text {
        "w" => Ok(Color::White),
        "b" => Ok(Color::Black),
        _ => fault("mover", format!("\"{text}\" is not w or b")),
    }
}
