//! Other people's records: the official notation of the designer's site, and the game archive's.
//!
//! A file is a list of numbered moves, `12. xd7*,e7,f6,h4;a5-f4 / a2-f6`: White's, then Black's.
//! Lines or line ends from `#` on are comments. A move is parts joined by `;`:
//!
//! | part | meaning |
//! |---|---|
//! | `e2` | a piece enters on `e2` without pushing |
//! | `e1-e4` | a piece enters from `e1`; the last stack it moves ends on `e4` |
//! | `i3-h3` | the archive's form: dot and first spot, pushing or not |
//! | `G…`, `T…` | what enters: a GIPF-piece or a loaded piece |
//! | `W…`, `B…` | the archive's colour, after the kind: `GWi3-h3` |
//! | `xc6*,d6,Gf6*` | a complete capture; `*` an opponent's piece, `G` a GIPF-piece |
//! | `x` | a short capture, where only one is possible |
//!
//! Captures of rows that the opponent's turn made stand before the entry, those of one's own after
//! it. A GIPF-only row that is not captured is left standing (rules, section 7). Moves of potentials,
//! extra moves, challenges and outcomes, for which that notation has no signs, are this project's
//! plays (rules, section 10).

use crate::Color;
use crate::board::{Entry, Spot, SpotSet};
use crate::play::{EntryKind, Play, PlayKind};
use crate::position::{Phase, Position};
use crate::rules::{Potential, Rules};

mod write;

pub use write::write_official;

/// A game read from the official notation.
#[derive(Clone, Debug)]
pub struct OfficialGame {
    /// Its plays by this project's rules, declined rows included.
    pub plays: Vec<Play>,
    /// The position after the last one.
    pub last: Position,
}

/// A move that is not one, that the rules forbid, or that could mean several things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("move {number}, {color}, \"{text}\": {fault}")]
pub struct NotationError {
    /// The move's number; the first is 1.
    pub number: u32,
    /// Whose move it is.
    pub color: Color,
    /// The part at fault, shortened to 60 characters.
    pub text: String,
    /// What is wrong with it.
    pub fault: String,
}

/// One move of the list.
struct Move<'a> {
    number: u32,
    color: Color,
    text: &'a str,
}

/// Guesses the variant of a record that does not name its rules: tournament if a GIPF-piece is
/// entered first, else standard.
pub fn guess_rules(text: &str) -> &'static str {
    let gipf = words(text).find(|word| !is_number(word)).is_some_and(|word| word.starts_with('G'));
    if gipf { "tournament" } else { "standard" }
}

/// Replays a game in official notation.
///
/// # Errors
/// The first move that is malformed, illegal or ambiguous, with its number.
pub fn read_official(rules: &Rules, text: &str) -> Result<OfficialGame, NotationError> {
    let mut game = OfficialGame { plays: Vec::new(), last: rules.start() };
    for step in moves(text)? {
        for part in step.text.split(';') {
            game.part(step.color, part).map_err(|fault| step.error(part, fault))?;
        }
        game.finish_move(step.color).map_err(|fault| step.error(step.text, fault))?;
    }
    Ok(game)
}

impl Move<'_> {
    fn error(&self, text: &str, fault: String) -> NotationError {
        let text = text.chars().take(60).collect();
        NotationError { number: self.number, color: self.color, text, fault }
    }
}

// The list of moves

fn words(text: &str) -> impl Iterator<Item = &str> {
    // Some editors begin a file with a mark of its encoding.
    text.trim_start_matches('\u{feff}')
        .lines()
        .flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace())
}

fn is_number(word: &str) -> bool {
    word.strip_suffix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn moves(text: &str) -> Result<Vec<Move<'_>>, NotationError> {
    let mut moves: Vec<Move<'_>> = Vec::new();
    // What may come next: a number, White's move, a slash or a new number, Black's move.
    let (mut number, mut due, mut slash) = (0, None, false);
    for word in words(text) {
        let color = due.unwrap_or(Color::White);
        let here = Move { number: number.max(1), color, text: word };
        if is_number(word) {
            if due == Some(Color::White) || slash {
                return Err(here.error(word, "a move was expected".to_owned()));
            }
            number += 1;
            if *word != format!("{number}.") {
                let fault = format!("number {number} was expected");
                return Err(Move { number, ..here }.error(word, fault));
            }
            (due, slash) = (Some(Color::White), false);
        } else if word == "/" {
            if due != Some(Color::Black) || slash {
                return Err(here.error(word, "a slash without White's move".to_owned()));
            }
            slash = true;
        } else {
            let color = match due {
                Some(color) if color == Color::White || slash => color,
                _ => return Err(here.error(word, "a number or a slash was expected".to_owned())),
            };
            moves.push(Move { number, color, text: word });
            (due, slash) = (Some(Color::Black).filter(|_| color == Color::White), false);
        }
    }
    Ok(moves)
}

// The parts of a move

impl OfficialGame {
    fn play(&mut self, play: Play) -> Result<(), String> {
        self.last.try_play(play).map_err(|error| error.to_string())?;
        self.plays.push(play);
        Ok(())
    }

    fn part(&mut self, color: Color, part: &str) -> Result<(), String> {
        if self.last.is_over() {
            return Err("the game is over".to_owned());
        }
        if let Some(list) = part.strip_prefix('x').filter(|list| *list != "-") {
            return self.capture(color, list);
        }
        if let Some(play) = part.parse::<Play>().ok().filter(|play| !is_entry(*play)) {
            return self.play(play);
        }
        self.leave_gipf_rows()?;
        if self.last.phase() != Phase::Regular || self.last.mover() != color {
            return Err(format!("it is not {color}'s turn to enter a piece"));
        }
        let play = self.entry(color, part)?;
        self.play(play)
    }

    /// After a move its own GIPF-only rows that were not captured stand; another row is an error.
    fn finish_move(&mut self, color: Color) -> Result<(), String> {
        while self.last.phase() == Phase::Removal(color) && self.last.mover() == color {
            self.decline()?;
        }
        Ok(())
    }

    fn leave_gipf_rows(&mut self) -> Result<(), String> {
        while let Phase::Removal(_) = self.last.phase() {
            self.decline()?;
        }
        Ok(())
    }

    fn decline(&mut self) -> Result<(), String> {
        if self.last.is_legal(Play::DECLINE) {
            return self.play(Play::DECLINE);
        }
        let owner = self.last.decider().unwrap_or(self.last.mover());
        Err(format!("a row of {owner} must be captured first"))
    }

    // Entries

    fn entry(&self, color: Color, text: &str) -> Result<Play, String> {
        let (kind, place) = entry_kind(text);
        let place = match place.strip_prefix(['W', 'B']) {
            Some(rest) if place.starts_with(if color == Color::White { 'W' } else { 'B' }) => rest,
            Some(_) => return Err(format!("it is {color}'s turn")),
            None => place,
        };
        let way = match place.split_once('-') {
            None => self.entry_without_push(place)?,
            Some((dot, spot)) => self.entry_from(dot, spot)?,
        };
        Ok(Play::enter(kind, way))
    }

    fn entry_without_push(&self, name: &str) -> Result<Entry, String> {
        let spot: Spot = name.parse().map_err(|error| format!("{error}"))?;
        if self.last.occupied().contains(spot) {
            return Err(format!("{spot} is occupied, so the dot must be named"));
        }
        Entry::first_onto(spot).ok_or_else(|| format!("{spot} is not next to a dot"))
    }

    fn entry_from(&self, dot: &str, name: &str) -> Result<Entry, String> {
        let spot: Spot = name.parse().map_err(|error| format!("{error}"))?;
        let from_dot: Vec<Entry> =
            Entry::ALL.into_iter().filter(|way| way.dot_name() == dot).collect();
        if from_dot.is_empty() {
            return Err(format!("\"{dot}\" is not a dot"));
        }
        let on_line = |way: &&Entry| way.line().spots().contains(spot);
        let way = from_dot
            .iter()
            .find(on_line)
            .ok_or_else(|| format!("{spot} lies on no line from {dot}"))?;
        let Some(path) = way.path(self.last.occupied()) else {
            return Err(format!("the line from {dot} through {spot} is full"));
        };
        let end = if way.first_spot() == path.first().unwrap_or(spot) {
            path.last()
        } else {
            path.first()
        };
        if spot == way.first_spot() || Some(spot) == end {
            return Ok(*way);
        }
        let end = end.map_or_else(String::new, |end| end.to_string());
        Err(format!("the last piece moved from {dot} ends on {end}, not on {spot}"))
    }

    // Captures

    fn capture(&mut self, color: Color, list: &str) -> Result<(), String> {
        if self.last.phase() != Phase::Removal(color) {
            return Err(format!("{color} has no row to capture"));
        }
        let mut legal = Vec::new();
        self.last.legal_plays(&mut legal);
        legal.retain(|play| *play != Play::DECLINE);
        if list.is_empty() {
            return match legal.as_slice() {
                [only] => self.play(*only),
                _ => Err(format!("ambiguous: {} captures are possible", legal.len())),
            };
        }
        let taken = self.captured(color, list)?;
        let removals = sequence(&self.last, color, taken)
            .ok_or_else(|| format!("no row of {color} is captured so"))?;
        removals.into_iter().try_for_each(|play| self.play(play))
    }

    /// The spots of a complete capture; its signs must fit what stands there.
    fn captured(&self, color: Color, list: &str) -> Result<SpotSet, String> {
        let mut taken = SpotSet::EMPTY;
        for item in list.split(',') {
            let (name, theirs) = match item.strip_suffix('*') {
                Some(name) => (name, true),
                None => (item, false),
            };
            let (name, gipf) = match name.strip_prefix('G') {
                Some(name) => (name, true),
                None => (name, false),
            };
            let spot: Spot = name.parse().map_err(|error| format!("{error}"))?;
            let owner = if theirs { color.other() } else { color };
            if self.last.owner(spot) != Some(owner) {
                return Err(format!("no piece of {owner} stands on {spot}"));
            }
            if self.last.gipfs().contains(spot) != gipf {
                let what = if gipf { "no GIPF-piece" } else { "a GIPF-piece" };
                return Err(format!("{what} stands on {spot}"));
            }
            taken.insert(spot);
        }
        Ok(taken)
    }
}

fn is_entry(play: Play) -> bool {
    matches!(play.kind(), PlayKind::Enter { .. })
}

/// What enters, and the rest of the text.
fn entry_kind(text: &str) -> (EntryKind, &str) {
    let kind = match text.bytes().next() {
        Some(b'G') => Some(EntryKind::Gipf),
        Some(letter) => Potential::from_letter(letter).map(EntryKind::Loaded),
        None => None,
    };
    match kind {
        Some(kind) => (kind, &text[1..]),
        None => (EntryKind::Basic, text),
    }
}

/// Removals of a colour, one after the other, that together take exactly these spots.
fn sequence(position: &Position, color: Color, taken: SpotSet) -> Option<Vec<Play>> {
    if taken.is_empty() {
        return Some(Vec::new());
    }
    if position.phase() != Phase::Removal(color) {
        return None;
    }
    let mut legal = Vec::new();
    position.legal_plays(&mut legal);
    legal.into_iter().find_map(|play| {
        let PlayKind::Remove(part) = play.kind() else { return None };
        if !part.is_subset(taken) {
            return None;
        }
        let mut next = *position;
        next.play(play);
        let mut plays = sequence(&next, color, taken - part)?;
        plays.insert(0, play);
        Some(plays)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rules: &str, text: &str) -> Result<OfficialGame, String> {
        read_official(&rules.parse().unwrap(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_of_an_entry_mean_the_same() {
        let official = read("tournament", "1. Ge2 / Ge1-e3\n2. Ge1-e4").unwrap();
        let archive = read("tournament", "1. GWe1-e2 / GBe1-e2 2. GWe1-e2").unwrap();
        assert_eq!(official.last, archive.last);
        assert_eq!(guess_rules("# a game\n 1. Ge2"), "tournament");
        assert_eq!(guess_rules("1. e2"), "standard");
    }

    #[test]
    fn captures_short_complete_and_owed() {
        let before = "1. e1-e3 / b4 2. e1-e4 / h4 ";
        let game = |text: &str| read("basic", &format!("{before}{text}"));
        let short = game("3. e1-e5;x").unwrap();
        assert_eq!(short.last, game("3. e1-e5;xe2,e3,e4,e5").unwrap().last);
        assert_eq!(short.last.owned(Color::White).len(), 2);
        for (text, fault) in [
            ("3. e1-e5", "a row of White must be captured"),
            ("3. e1-e5;xe2,e3,e4", "no row of White"),
            ("3. e1-e5;xe2*,e3,e4,e5", "no piece of Black stands on e2"),
            ("3. e1-e5;xGe2,e3,e4,e5", "no GIPF-piece stands on e2"),
            ("3. e1-e6", "ends on e5"),
            ("3. e2", "occupied"),
            ("3. Be1-e2", "White's turn"),
            ("3. e5", "not next to a dot"),
            ("3. x;e1-e5", "no row"),
            ("3. k9-e5", "not a dot"),
            ("4. e1-e5", "number 3"),
            ("3. e1-e5;x e3", "a number or a slash"),
            ("3. / e3", "slash"),
            ("3. 4. e3", "a move was expected"),
        ] {
            let error = game(text).expect_err(text);
            assert!(error.contains(fault), "{text}: {error}");
            assert!(error.starts_with("move 3") || error.starts_with("move 2"), "{error}");
        }
    }

    #[test]
    fn a_choice_that_is_not_named_is_ambiguous() {
        let error = read("standard", "1. e1-e3 / b4 2. e1-e4 / h4 3. e1-e5;x").expect_err("two");
        assert!(error.contains("ambiguous"), "{error}");
    }
}
