//! A space of rules strings to be studied, read from short forms.

use std::collections::HashMap;

use gipf_core::Rules;

use super::pattern::{Pattern, Side, assignments};
use crate::mixes::mix_text;
use crate::player::nearest_name;
use crate::spec::searchable;

/// The most rules strings that a space may hold.
pub const MOST_RULES: usize = 10_000;

/// The forms with counts, by their number of kinds less one.
const TUPLES: [&str; 5] = ["singles", "pairs", "triples", "quadruples", "quintuples"];
/// The words that a text can begin with, each with an example.
const FORMS: [(&str, &str); 11] = [
    ("singles", "singles:6"),
    ("pairs", "pairs:4+4"),
    ("triples", "triples:4+4+4"),
    ("quadruples", "quadruples:3+3+3+3"),
    ("quintuples", "quintuples:3+3+3+3+3"),
    ("grid", "grid:T6,Z6,T4Z4"),
    ("pieces", "pieces:18-21"),
    ("basic", "basic:18/15"),
    ("standard", "standard+T6|T0"),
    ("tournament", "tournament+?4?4"),
    ("ultimate", "ultimate"),
];

/// Different rules strings in a stable order: that of the texts, and within a form the order T Z D Y P, White's side before
/// Black's. Each stands where it first appears.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    rules: Vec<Rules>,
    grids: Vec<Grid>,
    places: HashMap<Rules, usize>,
}

/// A form `grid:…` of a space, applied to one variant: each of White's mixes against each of Black's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The rules string without mixes.
    pub variant: String,
    /// The mixes, each once, in canonical form; the same for both colours.
    pub mixes: Vec<String>,
    /// `cells[white][black]`: the number of the rules string among those of the space.
    pub cells: Vec<Vec<usize>>,
}

/// Why a text is no space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// A word that no form begins with.
    #[error("space \"{text}\": unknown form; the nearest is \"{nearest}\"")]
    Unknown {
        /// The text.
        text: String,
        /// An example of the nearest form.
        nearest: &'static str,
    },
    /// A form that is not written as it must be.
    #[error("space \"{text}\": {fault}; a form like it is \"{example}\"")]
    Form {
        /// The text.
        text: String,
        /// What is wrong.
        fault: String,
        /// An example of the form.
        example: &'static str,
    },
    /// Rules that do not exist or cannot be searched; the reason names the rules string.
    #[error("space \"{text}\": {fault}")]
    Rules {
        /// The text.
        text: String,
        /// What is wrong with which rules string.
        fault: String,
    },
    /// A variant that forms cannot be applied to.
    #[error(
        "variant \"{variant}\": {fault}; it must be basic, standard or tournament, such as \"standard\" or \"basic:18/15\""
    )]
    Variant {
        /// The variant.
        variant: String,
        /// What is wrong.
        fault: String,
    },
    /// A form without a variant to apply it to.
    #[error("space \"{0}\": no variant is given to apply it to, such as \"standard\"")]
    NoVariant(String),
    /// No text, or empty ones.
    #[error("the space is empty: it takes rules strings or forms such as \"singles:6\"")]
    Empty,
    /// Too large.
    #[error("space \"{0}\": with it there are more than {MOST_RULES} rules strings")]
    TooMany(String),
}

impl Space {
    /// Reads a space. Each text is one or more of these, separated by commas:
    ///
    /// | form | rules strings, for each variant |
    /// |---|---|
    /// | `singles:6` | each kind alone, 6 of it; both colours have the same mix |
    /// | `pairs:4+4`, `triples:4+4+4`, … | each choice of so many kinds with these counts, in every order where they differ |
    /// | `grid:T6,Z6,T4Z4` | each of the mixes for White against each for Black (`T0`: none), `VARIANT+A\|B` |
    /// | `pieces:18-21` | each number of basic pieces for White with each for Black, `VARIANT:N/M` |
    /// | a rules string | itself, without the variants |
    /// | a rules string with `?` for kinds | each choice of different kinds in their place, on each side by itself: `tournament+?4?4`, `standard+?6\|T0` |
    ///
    /// A variant is a rules string without mixes: `standard`, `basic:18/15`, `tournament;punct=convert`.
    ///
    /// # Errors
    /// The first text or variant that is wrong, with what is wrong and the nearest known form; rules strings that do not
    /// exist or cannot be searched; more than [`MOST_RULES`] rules strings, or none.
    pub fn parse<T: AsRef<str>, V: AsRef<str>>(
        texts: &[T],
        variants: &[V],
    ) -> Result<Space, SpaceError> {
        let variants = variants
            .iter()
            .map(|variant| Bare::parse(variant.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        let mut space = Space::default();
        for text in texts {
            let mut items = text.as_ref().split(',').map(str::trim).peekable();
            while let Some(item) = items.next() {
                if item.is_empty() {
                    continue;
                }
                // Only mixes begin with a capital letter: they belong to the grid before them.
                let mut whole = item.to_owned();
                while item.starts_with("grid:")
                    && let Some(mix) = items.next_if(|item| starts_as_mix(item))
                {
                    whole = format!("{whole},{mix}");
                }
                space.add(&whole, &variants)?;
            }
        }
        if space.rules.is_empty() { Err(SpaceError::Empty) } else { Ok(space) }
    }

    /// The rules strings; `Display` writes each in canonical form.
    pub fn rules(&self) -> &[Rules] {
        &self.rules
    }

    /// The grids, in the order of the texts.
    pub fn grids(&self) -> &[Grid] {
        &self.grids
    }

    fn add(&mut self, text: &str, variants: &[Bare]) -> Result<(), SpaceError> {
        let word = text.split([':', '+', ';']).next().unwrap_or_default();
        let Some(&(_, example)) = FORMS.iter().find(|(name, _)| *name == word) else {
            return Err(unknown(text, word));
        };
        let malformed = |fault: String| SpaceError::Form { text: text.to_owned(), fault, example };
        let form = word.len() + 1;
        if let Some(kinds) = TUPLES.iter().position(|name| *name == word) {
            let counts =
                counts(text.get(form..).unwrap_or_default(), kinds + 1).map_err(malformed)?;
            let mixes = assignments([None; 5], &counts);
            return self.for_each(text, variants, |space, variant| {
                mixes
                    .iter()
                    .try_for_each(|&mix| space.push(text, &variant.with([mix; 2])).map(drop))
            });
        }
        match word {
            "grid" => {
                let mixes = grid_mixes(text.get(form..).unwrap_or_default()).map_err(malformed)?;
                self.for_each(text, variants, |space, variant| space.grid(text, variant, &mixes))
            }
            "pieces" => {
                let [low, high] = range(text.get(form..).unwrap_or_default()).map_err(malformed)?;
                self.for_each(text, variants, |space, variant| {
                    for white in low..=high {
                        for black in low..=high {
                            let with = variant.with_pieces(white, black).map_err(malformed)?;
                            space.push(text, &with)?;
                        }
                    }
                    Ok(())
                })
            }
            _ if text.contains('?') => {
                let pattern = Pattern::parse(text).map_err(malformed)?;
                pattern.rules().try_for_each(|rules| self.push(text, &rules).map(drop))
            }
            _ => self.push(text, text).map(drop),
        }
    }

    fn for_each(
        &mut self,
        text: &str,
        variants: &[Bare],
        mut add: impl FnMut(&mut Space, &Bare) -> Result<(), SpaceError>,
    ) -> Result<(), SpaceError> {
        if variants.is_empty() {
            return Err(SpaceError::NoVariant(text.to_owned()));
        }
        variants.iter().try_for_each(|variant| add(self, variant))
    }

    fn grid(&mut self, text: &str, variant: &Bare, mixes: &[Side]) -> Result<(), SpaceError> {
        let mut cells = Vec::with_capacity(mixes.len());
        for &white in mixes {
            let row = mixes.iter().map(|&black| self.push(text, &variant.with([white, black])));
            cells.push(row.collect::<Result<Vec<_>, _>>()?);
        }
        let mixes = mixes.iter().map(|&mix| mix_text(mix)).collect();
        self.grids.push(Grid { variant: variant.canonical.clone(), mixes, cells });
        Ok(())
    }

    /// Adds a rules string unless it is there, and tells its number.
    fn push(&mut self, text: &str, rules: &str) -> Result<usize, SpaceError> {
        let fault = |fault: String| SpaceError::Rules { text: text.to_owned(), fault };
        let rules: Rules = rules.parse().map_err(|error| fault(format!("{error}")))?;
        let rules = searchable(rules).map_err(|error| fault(error.to_string()))?;
        if let Some(&place) = self.places.get(&rules) {
            return Ok(place);
        }
        let place = self.rules.len();
        if place == MOST_RULES {
            return Err(SpaceError::TooMany(text.to_owned()));
        }
        self.places.insert(rules, place);
        self.rules.push(rules);
        Ok(place)
    }
}

/// A rules string without mixes, cut where a mix would stand.
struct Bare {
    canonical: String,
    head: String,
    options: String,
}

impl Bare {
    fn parse(text: &str) -> Result<Bare, SpaceError> {
        let fault = |fault: String| SpaceError::Variant { variant: text.to_owned(), fault };
        let rules: Rules = text.parse().map_err(|error| fault(format!("{error}")))?;
        if text.contains('+') || text.starts_with("ultimate") {
            return Err(fault("it has mixes of its own".to_owned()));
        }
        let (head, options) = text.split_at(text.find(';').unwrap_or(text.len()));
        let (head, options) = (head.to_owned(), options.to_owned());
        Ok(Bare { canonical: rules.to_string(), head, options })
    }

    fn with(&self, [white, black]: [Side; 2]) -> String {
        format!("{}+{}|{}{}", self.head, mix_text(white), mix_text(black), self.options)
    }

    fn with_pieces(&self, white: u8, black: u8) -> Result<String, String> {
        if self.head.contains(':') {
            return Err(format!("variant \"{}\" has numbers of pieces already", self.head));
        }
        Ok(format!("{}:{white}/{black}{}", self.head, self.options))
    }
}

fn unknown(text: &str, word: &str) -> SpaceError {
    let names = FORMS.map(|(name, _)| name);
    let nearest = match nearest_name(word, &names) {
        // A mix on its own is most likely meant for a grid.
        None if starts_as_mix(text) => Some("grid".to_owned()),
        nearest => nearest,
    };
    let form = FORMS.iter().find(|(name, _)| Some(*name) == nearest.as_deref());
    let (_, nearest) = form.unwrap_or(&FORMS[0]);
    SpaceError::Unknown { text: text.to_owned(), nearest }
}

fn starts_as_mix(item: &str) -> bool {
    item.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '?')
}

/// `4+4`: so many counts of 1 to 6.
fn counts(text: &str, kinds: usize) -> Result<Vec<u8>, String> {
    let counts: Vec<&str> = text.split('+').collect();
    if counts.len() != kinds {
        return Err(format!("{kinds} counts joined by \"+\" are needed"));
    }
    let count = |text: &&str| match text.as_bytes() {
        [digit @ b'1'..=b'6'] => Ok(digit - b'0'),
        _ => Err(format!("count \"{text}\" is not 1 to 6")),
    };
    counts.iter().map(count).collect()
}

/// `T6,Z6`: mixes, each once.
fn grid_mixes(text: &str) -> Result<Vec<Side>, String> {
    let mut mixes = Vec::new();
    for mix in text.split(',') {
        let [mix] = Pattern::side(mix)?[..] else {
            return Err(format!("mix \"{mix}\" has a \"?\", which a grid does not take"));
        };
        if !mixes.contains(&mix) {
            mixes.push(mix);
        }
    }
    Ok(mixes)
}

/// `15-18`: the smaller number first. Which numbers a variant allows the rules say.
fn range(text: &str) -> Result<[u8; 2], String> {
    let fault = || format!("\"{text}\" is no range of numbers of basic pieces");
    let (low, high) = text.split_once('-').ok_or_else(fault)?;
    let number = |text: &str| {
        text.parse().ok().filter(|number: &u8| number.to_string() == text).ok_or_else(fault)
    };
    let range = [number(low)?, number(high)?];
    if range[0] > range[1] { Err("the smaller number comes first".to_owned()) } else { Ok(range) }
}

#[cfg(test)]
#[path = "space_tests.rs"]
mod tests;
