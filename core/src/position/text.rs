//! Position texts, read and written (rules, section 10).

use super::stack::MAX_COUNT;
use super::{AnnouncedAt, Code, Phase, Position, Stage};
use crate::Color;
use crate::board::{Line, Spot, SpotSet, WIDTH, column_len, column_low};
use crate::play::{Play, PlayKind};
use crate::rules::{Potential, Rules, Variant};
use std::fmt::{self, Write as _};

/// A position text that is none, or that the rules do not allow; the message names the part at
/// fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("position text, {part}: {fault}")]
pub struct TextError {
    /// The part: board, hands, stages, mover, phase, detail, or whole text.
    pub part: &'static str,
    /// What is wrong with it.
    pub fault: String,
}

/// Texts are cut in messages; no position is longer than this.
const MAX_TEXT: usize = 600;

fn fault<T>(part: &'static str, fault: impl Into<String>) -> Result<T, TextError> {
    Err(TextError { part, fault: fault.into() })
}

impl Position {
    /// Reads a position text; its `Display` writes exactly the same text again.
    ///
    /// # Errors
    /// A text of another form, or a position that the rules cannot mean: too many pieces, a phase
    /// without a decision, a game that would be over.
    pub fn parse(rules: &Rules, text: &str) -> Result<Position, TextError> {
        if text.len() > MAX_TEXT {
            return fault("whole text", format!("longer than {MAX_TEXT} characters"));
        }
        let parts: Vec<&str> = text.split(' ').collect();
        let (board, hands, stages, mover, phase, detail) = match *parts.as_slice() {
            [board, hands, stages, mover, phase] => (board, hands, stages, mover, phase, None),
            [board, hands, stages, mover, phase, detail] => {
                (board, hands, stages, mover, phase, Some(detail))
            }
            _ => {
                let n = parts.len();
                return fault(
                    "whole text",
                    format!("BOARD HANDS STAGES MOVER PHASE [DETAIL] expected, {n} parts found"),
                );
            }
        };
        let mut position = Position::empty(rules);
        read_board(&mut position, board)?;
        read_hands(&mut position, hands)?;
        read_stages(&mut position, stages)?;
        position.mover = match mover {
            "w" => Color::White,
            "b" => Color::Black,
            _ => return fault("mover", format!("\"{mover}\" is not w or b")),
        };
        position.phase = read_phase(phase)?;
        if let Some(detail) = detail {
            read_detail(&mut position, detail)?;
        }
        check(&position)?;
        let again = position.to_string();
        if again != text {
            return fault("whole text", format!("this position is written \"{again}\""));
        }
        Ok(position)
    }
}

// Reading

fn read_board(position: &mut Position, text: &str) -> Result<(), TextError> {
    let columns: Vec<&str> = text.split('/').collect();
    if columns.len() != WIDTH as usize {
        return fault("board", format!("{} columns, 7 expected (b to h)", columns.len()));
    }
    for (x, column) in (0..WIDTH).zip(columns) {
        let name = (b'b' + x as u8) as char;
        let mut y = 0;
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
                y += empty as i8;
                continue;
            }
            let spot = (y < column_len(x)).then(|| Spot::at(x, column_low(x) + y)).flatten();
            let Some(spot) = spot else {
                return fault("board", format!("column {name} is too long"));
            };
            read_stack(position, spot, item)
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

fn read_stack(position: &mut Position, spot: Spot, items: &str) -> Result<(), String> {
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

fn read_hands(position: &mut Position, text: &str) -> Result<(), TextError> {
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

fn read_stages(position: &mut Position, text: &str) -> Result<(), TextError> {
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

fn read_phase(text: &str) -> Result<Phase, TextError> {
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

fn read_detail(position: &mut Position, text: &str) -> Result<(), TextError> {
    let mut play: Option<&str> = None;
    let mut at = AnnouncedAt::Regular;
    for pair in text.split(',') {
        let Some((key, value)) = pair.split_once('=') else {
            return fault("detail", format!("\"{pair}\" is not key=value"));
        };
        match (key, value) {
            ("e5", "w") => position.e5 = Some(Color::White),
            ("e5", "b") => position.e5 = Some(Color::Black),
            ("ch", spots) => position.changed = read_spots(spots)?,
            ("done", lines) => read_lines(position, lines)?,
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

fn read_spots(text: &str) -> Result<SpotSet, TextError> {
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
fn read_lines(position: &mut Position, text: &str) -> Result<(), TextError> {
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
            if super::rows::fours(pieces, line.stride()) != 0 {
                position.closed[color.index()] |= 1 << line.index();
            }
        }
        rest = &rest[4..];
    }
    Ok(())
}

// What the rules cannot mean

fn check(position: &Position) -> Result<(), TextError> {
    for color in Color::ALL {
        check_pieces(position, color)?;
        check_stage(position, color)?;
    }
    if position.rules().challenge().is_none()
        && matches!(position.phase(), Phase::Challenge | Phase::SideGame)
    {
        return fault("phase", "the rules have no challenges");
    }
    for color in Color::ALL {
        let limit = position.rules().challenge().map_or(0, |c| c.limit);
        if u32::from(position.used[color.index()]) > limit {
            return fault("detail", format!("{color} has used more challenges than it had"));
        }
    }
    if position.is_over() {
        return Ok(());
    }
    check_decision(position)?;
    let mut trimmed = *position;
    trimmed.trim_turn_memory();
    if trimmed != *position {
        return fault("detail", "ch or done names what no four neighbouring GIPF-pieces need");
    }
    Ok(())
}

fn check_pieces(position: &Position, color: Color) -> Result<(), TextError> {
    let me = color.index();
    let mut basics = position.basics[me];
    let mut potentials = position.potentials[me];
    for spot in position.occupied() {
        if !position.complex.contains(spot) {
            if position.owned[me].contains(spot) {
                basics = basics.saturating_add(1 + u8::from(position.gipf.contains(spot)));
            }
            continue;
        }
        let code = position.code(spot);
        if code.base() == Some(color) {
            basics = basics.saturating_add(1);
        }
        let count = code.count();
        let mine = if code.first() == color { count.div_ceil(2) } else { count / 2 };
        let kind = code.kind().index();
        potentials[kind] = potentials[kind].saturating_add(mine);
    }
    let rules = position.rules();
    if basics > rules.basic(color) {
        let most = rules.basic(color);
        return fault("whole text", format!("{color} has {basics} basic pieces of {most}"));
    }
    for kind in Potential::ALL {
        let (have, most) = (potentials[kind.index()], rules.mix(color)[kind.index()]);
        if have > most {
            return fault("whole text", format!("{color} has {have} {} of {most}", kind.letter()));
        }
    }
    if rules.variant() == Variant::Basic && position.gipf.intersects(position.owned(color)) {
        return fault("board", "there are no GIPF-pieces in basic");
    }
    Ok(())
}

fn check_stage(position: &Position, color: Color) -> Result<(), TextError> {
    let (rules, stage) = (position.rules(), position.stage(color));
    if stage == Stage::G && rules.variant() != Variant::Tournament {
        return fault("stages", format!("stage G of {color} is for tournament"));
    }
    if stage == Stage::L && !rules.has_potentials(color) {
        return fault("stages", format!("stage L of {color}, which has no potentials"));
    }
    if stage == Stage::B && position.hand_potentials(color) != [0; 5] {
        return fault("stages", format!("stage B of {color}, which has potentials in hand"));
    }
    let needs_gipf = match rules.variant() {
        Variant::Basic => false,
        Variant::Standard => true,
        Variant::Tournament => stage != Stage::G,
    };
    if needs_gipf && !position.is_over() && position.gipf_count(color) == 0 {
        return fault("board", format!("{color} has no GIPF-piece, so the game would be over"));
    }
    Ok(())
}

/// The phase must fit what is on the board.
fn check_decision(position: &Position) -> Result<(), TextError> {
    match position.phase() {
        Phase::ExtraOwed | Phase::ExtraEarned => {
            if position.tamsk_on_e5() != Some(position.mover()) {
                let mover = position.mover();
                return fault("phase", format!("no TAMSK-stack of {mover} stands on e5"));
            }
        }
        Phase::Regular => {
            if !position.has_regular_play() {
                let mover = position.mover();
                return fault(
                    "phase",
                    format!("{mover} has no regular play, so it would have lost"),
                );
            }
        }
        Phase::Removal(color) => {
            if !position.has_due_row(color) {
                return fault("phase", format!("{color} has no row to deal with"));
            }
            if color != position.mover() && position.has_due_row(position.mover()) {
                return fault("phase", "the mover's rows go first");
            }
        }
        Phase::Challenge | Phase::SideGame => check_announced(position)?,
        Phase::Won(_) => {}
    }
    if position.e5.is_some() && position.e5 != position.tamsk_on_e5() {
        return fault("detail", "e5 names a colour without a TAMSK-stack there");
    }
    Ok(())
}

fn check_announced(position: &Position) -> Result<(), TextError> {
    let mut before = *position;
    before.announced = Play::PASS;
    before.phase = match position.announced_at {
        AnnouncedAt::Regular => Phase::Regular,
        AnnouncedAt::ExtraOwed => Phase::ExtraOwed,
        AnnouncedAt::ExtraEarned => Phase::ExtraEarned,
    };
    let kind = match position.announced.kind() {
        PlayKind::Move { kind, .. } => kind,
        PlayKind::Extra(_) if position.tamsk_on_e5() == Some(position.mover()) => Potential::Tamsk,
        _ => return fault("detail", "no announced move of a potential (a=PLAY)"),
    };
    if !before.is_legal(position.announced) {
        let play = position.announced;
        return fault("detail", format!("the announced move {play} is not legal"));
    }
    let challenge = position.rules().challenge();
    if !challenge.is_some_and(|challenge| challenge.covers(kind)) {
        return fault("detail", format!("moves of {} cannot be challenged", kind.letter()));
    }
    Ok(())
}

// Writing

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
