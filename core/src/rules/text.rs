//! Rules strings, read and written (rules, section 3).

use super::{Challenge, Potential, Rules, SideGame, Variant};
use crate::Color;
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// A rules string that is none; the message names the part at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rules string \"{text}\": {fault}")]
pub struct RulesError {
    /// The string, shortened to 80 characters.
    pub text: String,
    /// What is wrong with which part.
    pub fault: String,
}

const ALL_KINDS: u8 = 0b11111;
const ULTIMATE: ([u8; 2], [[u8; 5]; 2]) = ([21; 2], [[3; 5]; 2]);

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Rules, RulesError> {
        parse(text).map_err(|fault| RulesError { text: text.chars().take(80).collect(), fault })
    }
}

fn parse(text: &str) -> Result<Rules, String> {
    let mut parts = text.split(';');
    let mut rules = parse_game(parts.next().unwrap_or_default())?;
    parse_options(parts, &mut rules)?;
    Ok(rules)
}

/// `VARIANT[:N[/M]][+MIX[|MIX]]`.
fn parse_game(text: &str) -> Result<Rules, String> {
    let (head, mixes) = match text.split_once('+') {
        Some((head, mixes)) => (head, Some(mixes)),
        None => (text, None),
    };
    let (name, pieces) = match head.split_once(':') {
        Some((name, pieces)) => (name, Some(pieces)),
        None => (head, None),
    };
    if name == "ultimate" {
        if pieces.is_some() || mixes.is_some() {
            return Err("\"ultimate\" takes no \":\" and no \"+\" part".to_owned());
        }
        let (basic, mix) = ULTIMATE;
        let variant = Variant::Tournament;
        return Ok(Rules { variant, basic, mix, punct_convert: false, challenge: None });
    }
    let variant = Variant::ALL.into_iter().find(|v| v.name() == name).ok_or_else(|| {
        format!("unknown variant \"{name}\" (basic, standard, tournament or ultimate)")
    })?;
    let basic = match pieces {
        None => [variant.default_basic(); 2],
        Some(pieces) => match pieces.split_once('/') {
            None => [parse_pieces(pieces, variant)?; 2],
            Some((white, black)) => [parse_pieces(white, variant)?, parse_pieces(black, variant)?],
        },
    };
    let mix = match mixes {
        None => [[0; 5]; 2],
        Some(mixes) => match mixes.split_once('|') {
            None => [parse_mix(mixes)?; 2],
            Some((white, black)) => [parse_mix(white)?, parse_mix(black)?],
        },
    };
    for color in Color::ALL {
        let total: u8 = mix[color.index()].iter().sum();
        if total == 15 && basic[color.index()] < 21 {
            return Err(format!("{color} has 15 potentials, so it must have 21 basic pieces"));
        }
    }
    Ok(Rules { variant, basic, mix, punct_convert: false, challenge: None })
}

fn parse_pieces(text: &str, variant: Variant) -> Result<u8, String> {
    let low = variant.default_basic();
    parse_number(text).filter(|n| (u32::from(low)..=21).contains(n)).map(|n| n as u8).ok_or_else(
        || format!("number of basic pieces \"{text}\" is not {low} to 21 ({})", variant.name()),
    )
}

/// A decimal number without leading zeros, sign or other characters.
fn parse_number(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let leading_zero = text.len() > 1 && text.starts_with('0');
    if plain && !leading_zero { text.parse().ok() } else { None }
}

fn parse_mix(text: &str) -> Result<[u8; 5], String> {
    if text.is_empty() {
        return Err("a mix is empty".to_owned());
    }
    let mut mix = [0; 5];
    let mut next_kind = 0;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let kind = Some(letter)
            .filter(char::is_ascii)
            .and_then(|letter| Potential::from_letter(letter as u8))
            .ok_or_else(|| format!("mix \"{text}\": \"{letter}\" is no kind of T Z D Y P"))?;
        if kind.index() < next_kind {
            return Err(format!("mix \"{text}\": kinds go in the order T Z D Y P, each once"));
        }
        next_kind = kind.index() + 1;
        rest = &rest[1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let count = &rest[..digits];
        rest = &rest[digits..];
        mix[kind.index()] = parse_number(count)
            .filter(|n| *n <= 6)
            .ok_or_else(|| format!("mix \"{text}\": count \"{count}\" of {letter} is not 0 to 6"))?
            as u8;
    }
    match mix.iter().sum::<u8>() {
        0..=15 => Ok(mix),
        total => Err(format!("mix \"{text}\" has {total} potentials, more than 15")),
    }
}

fn parse_options<'a>(
    parts: impl Iterator<Item = &'a str>,
    rules: &mut Rules,
) -> Result<(), String> {
    let (mut challenge, mut limit, mut kinds, mut punct) = (None, None, None, None);
    for part in parts {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("option \"{part}\" is not of the form key=value"))?;
        let slot = match key {
            "challenge" => &mut challenge,
            "limit" => &mut limit,
            "kinds" => &mut kinds,
            "punct" => &mut punct,
            _ => {
                return Err(format!("unknown option \"{key}\" (challenge, limit, kinds or punct)"));
            }
        };
        if slot.replace(value).is_some() {
            return Err(format!("option \"{key}\" stands twice"));
        }
    }
    rules.punct_convert = match punct {
        None | Some("neutralize") => false,
        Some("convert") => true,
        Some(other) => return Err(format!("punct \"{other}\" is not neutralize or convert")),
    };
    let Some(challenge) = challenge else {
        return match (limit, kinds) {
            (Some(_), _) => Err("option \"limit\" stands without \"challenge\"".to_owned()),
            (_, Some(_)) => Err("option \"kinds\" stands without \"challenge\"".to_owned()),
            _ => Ok(()),
        };
    };
    let (side_game, chance) = parse_side_game(challenge)?;
    let limit = match limit {
        None => 0,
        Some(text) => parse_number(text)
            .filter(|n| *n > 0)
            .ok_or_else(|| format!("limit \"{text}\" is not a number from 1 to {}", u32::MAX))?,
    };
    let kinds = kinds.map_or(Ok(ALL_KINDS), parse_kinds)?;
    rules.challenge = Some(Challenge { side_game, kinds, limit, chance });
    Ok(())
}

fn parse_side_game(text: &str) -> Result<(SideGame, [u32; 3]), String> {
    let plain = match text {
        "rps" => Some(SideGame::Rps),
        "coin" => Some(SideGame::Coin),
        "recorded" => Some(SideGame::Recorded),
        _ => None,
    };
    if let Some(side_game) = plain {
        return Ok((side_game, [0; 3]));
    }
    let list = text.strip_prefix("chance:").ok_or_else(|| {
        format!("challenge \"{text}\" is not rps, coin, recorded or chance:W/T/L")
    })?;
    let parts: Vec<&str> = list.split('/').collect();
    let &[win, tie, loss] = parts.as_slice() else {
        return Err(format!("challenge \"{text}\": three probabilities W/T/L are needed"));
    };
    let chance = [parse_probability(win)?, parse_probability(tie)?, parse_probability(loss)?];
    if chance.iter().map(|p| u64::from(*p)).sum::<u64>() != ONE {
        return Err(format!("challenge \"{text}\": the probabilities do not sum to 1"));
    }
    Ok((SideGame::Chance, chance))
}

/// A probability of 1 in the units of [`Challenge::chance`].
const ONE: u64 = 1_000_000_000;

/// A decimal from 0 to 1 with at most nine places, in units of 1e-9, so that sums are exact.
fn parse_probability(text: &str) -> Result<u32, String> {
    let fault =
        || format!("probability \"{text}\" is not a decimal from 0 to 1 with at most nine places");
    let (whole, places) = match text.split_once('.') {
        Some((_, "")) => return Err(fault()),
        Some((whole, places)) => (whole, places.trim_end_matches('0')),
        None => (text, ""),
    };
    if places.len() > 9 || !places.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fault());
    }
    let whole = parse_number(whole).ok_or_else(fault)?;
    let places: u32 = format!("{places:0<9}").parse().map_err(|_| fault())?;
    u32::try_from(u64::from(whole) * ONE + u64::from(places))
        .ok()
        .filter(|p| u64::from(*p) <= ONE)
        .ok_or_else(fault)
}

fn parse_kinds(text: &str) -> Result<u8, String> {
    let mut kinds = 0;
    for letter in text.chars() {
        let kind = Some(letter)
            .filter(char::is_ascii)
            .and_then(|letter| Potential::from_letter(letter as u8))
            .ok_or_else(|| format!("kinds \"{text}\": \"{letter}\" is no kind of T Z D Y P"))?;
        if kinds >> kind.index() != 0 {
            return Err(format!("kinds \"{text}\": kinds go in the order T Z D Y P, each once"));
        }
        kinds |= 1 << kind.index();
    }
    if kinds == 0 { Err("kinds is empty".to_owned()) } else { Ok(kinds) }
}

/// The canonical rules string: what is the default is left out.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variant == Variant::Tournament && (self.basic, self.mix) == ULTIMATE {
            f.write_str("ultimate")?;
        } else {
            f.write_str(self.variant.name())?;
            let [white, black] = self.basic;
            if white != black {
                write!(f, ":{white}/{black}")?;
            } else if white != self.variant.default_basic() {
                write!(f, ":{white}")?;
            }
            let [white, black] = self.mix;
            if white != black {
                write!(f, "+{}|{}", MixText(white), MixText(black))?;
            } else if white != [0; 5] {
                write!(f, "+{}", MixText(white))?;
            }
        }
        if let Some(challenge) = &self.challenge {
            write_challenge(f, challenge)?;
        }
        if self.punct_convert {
            f.write_str(";punct=convert")?;
        }
        Ok(())
    }
}

fn write_challenge(f: &mut fmt::Formatter<'_>, challenge: &Challenge) -> fmt::Result {
    match challenge.side_game {
        SideGame::Rps => f.write_str(";challenge=rps")?,
        SideGame::Coin => f.write_str(";challenge=coin")?,
        SideGame::Recorded => f.write_str(";challenge=recorded")?,
        SideGame::Chance => {
            let [w, t, l] = challenge.chance.map(f64::from).map(|p| p / 1e9);
            write!(f, ";challenge=chance:{w}/{t}/{l}")?;
        }
    }
    if challenge.limit > 0 {
        write!(f, ";limit={}", challenge.limit)?;
    }
    if challenge.kinds != ALL_KINDS {
        f.write_str(";kinds=")?;
        for kind in Potential::ALL.into_iter().filter(|k| challenge.covers(*k)) {
            f.write_char(kind.letter())?;
        }
    }
    Ok(())
}

/// A mix in text: kinds with their counts, `T0` for none at all.
struct MixText([u8; 5]);

impl fmt::Display for MixText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == [0; 5] {
            return f.write_str("T0");
        }
        for kind in Potential::ALL {
            let count = self.0[kind.index()];
            if count > 0 {
                write!(f, "{}{count}", kind.letter())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_strings() {
        for (text, canonical) in [
            ("standard:18", "standard"),
            ("basic:15/15", "basic"),
            ("basic:15/18", "basic:15/18"),
            ("standard+T6|T6", "standard+T6"),
            ("standard+T6|Z0", "standard+T6|T0"),
            ("standard+T0", "standard"),
            ("standard+T4Z0D4", "standard+T4D4"),
            ("tournament:21+T3Z3D3Y3P3", "ultimate"),
            ("ultimate;punct=convert", "ultimate;punct=convert"),
            ("standard+P6;punct=neutralize", "standard+P6"),
            ("basic+Z4;kinds=TZDYP;limit=2;challenge=coin", "basic+Z4;challenge=coin;limit=2"),
            ("basic+Z4;kinds=Z;challenge=chance:0.50/0.25/.25", ""),
            (
                "basic+Z4;kinds=Z;challenge=chance:0.50/0.25/0.25",
                "basic+Z4;challenge=chance:0.5/0.25/0.25;kinds=Z",
            ),
            ("basic;challenge=chance:1/0/0", "basic;challenge=chance:1/0/0"),
            (
                "basic;challenge=chance:0.333333333/0.333333333/0.333333334",
                "basic;challenge=chance:0.333333333/0.333333333/0.333333334",
            ),
        ] {
            let parsed = text.parse::<Rules>();
            if canonical.is_empty() {
                assert!(parsed.is_err(), "{text}");
                continue;
            }
            let rules = parsed.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(rules.to_string(), canonical);
            assert_eq!(canonical.parse(), Ok(rules), "the canonical form means the same");
        }
    }

    #[test]
    fn errors_name_the_part_at_fault() {
        for (text, part) in [
            ("Basic", "variant \"Basic\""),
            ("basic:14", "\"14\""),
            ("basic:18/014", "\"014\""),
            ("standard+T7", "\"7\" of T"),
            ("standard+T4T2", "order"),
            ("standard+É4", "\"É\""),
            ("tournament:21/18+T3Z3D3Y3P3", "Black has 15"),
            ("standard;limit=2", "\"limit\" stands without"),
            ("standard;challenge=rps;limit=0", "limit \"0\""),
            ("standard;challenge=rps;kinds=ZT", "order"),
            ("standard;challenge=chance:0.5/0.5/0.5", "sum to 1"),
            ("standard;challenge=chance:0.5/0.5", "three"),
            ("standard;challenge=chance:1.1/0/0", "\"1.1\""),
            ("standard;challenge=chance:5000000000/0/0", "\"5000000000\""),
            ("standard;colour=red", "\"colour\""),
        ] {
            let error = text.parse::<Rules>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
