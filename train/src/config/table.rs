//! The key-by-key check of a parsed TOML table against the table of keys.

use super::error::ConfigError;
use super::keys::{KEYS, Key, Kind};
use super::mixes::{check_mixes, number};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value stands, for messages.
pub(super) struct Source<'a> {
    /// The file's name, or `--set`.
    pub(super) file: &'a str,
    /// The text that was parsed.
    pub(super) text: &'a str,
    /// Whether the text is an override: then the place is the override itself, not a line.
    pub(super) setting: Option<&'a str>,
}

impl Source<'_> {
    fn place(&self, span: &Range<usize>) -> String {
        self.setting.map_or_else(
            || format!("line {}", line_of(self.text, span.start)),
            |setting| format!("{setting:?}"),
        )
    }

    fn written(&self, span: &Range<usize>) -> String {
        let text = self
            .text
            .get(span.clone())
            .unwrap_or("")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if text.chars().count() <= 60 {
            text
        } else {
            text.chars().take(60).chain("...".chars()).collect()
        }
    }

    pub(super) fn value_error(
        &self,
        name: &str,
        span: &Range<usize>,
        wanted: String,
    ) -> ConfigError {
        ConfigError::Value {
            file: self.file.to_owned(),
            key: name.to_owned(),
            line: self.place(span),
            value: self.written(span),
            wanted,
        }
    }

    pub(super) fn unknown(&self, name: String, span: &Range<usize>, hint: String) -> ConfigError {
        ConfigError::UnknownKey {
            file: self.file.to_owned(),
            key: name,
            line: self.place(span),
            hint,
        }
    }
}

/// Line number (from 1) of a byte offset.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// Checks every key of a whole file.
pub(super) fn check_table(table: &DeTable<'_>, source: &Source<'_>) -> Result<(), ConfigError> {
    for (section, value) in table {
        let name = section.get_ref().as_ref();
        if !KEYS.iter().any(|key| key.section() == name) {
            return Err(source.unknown(name.to_owned(), &section.span(), section_hint(name)));
        }
        let DeValue::Table(keys) = value.get_ref() else {
            let wanted = format!("expected a section, written [{name}]");
            return Err(source.value_error(name, &value.span(), wanted));
        };
        for (leaf, value) in keys {
            let full = format!("{name}.{}", leaf.get_ref());
            let Some(key) = Key::find(&full) else {
                let hint = key_hint(name, leaf.get_ref());
                return Err(source.unknown(full, &leaf.span(), hint));
            };
            check_value(key, value, source)?;
        }
    }
    Ok(())
}

/// Checks one value against its key.
pub(super) fn check_value(
    key: &Key,
    value: &Spanned<DeValue<'_>>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    let span = value.span();
    let wrong = || source.value_error(key.name, &span, expected(key));
    let outside = || source.value_error(key.name, &span, format!("allowed are {}", allowed(key)));
    match key.kind {
        Kind::Whole(low, high) => {
            let DeValue::Integer(number) = value.get_ref() else { return Err(wrong()) };
            let number =
                u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| outside())?;
            if (low..=high).contains(&number) { Ok(()) } else { Err(outside()) }
        }
        Kind::Number(low, high) => {
            let text = match value.get_ref() {
                DeValue::Float(number) => number.as_str(),
                DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
                _ => return Err(wrong()),
            };
            // A NaN is in no range.
            let number: f64 = text.parse().map_err(|_| outside())?;
            if (low..=high).contains(&number) { Ok(()) } else { Err(outside()) }
        }
        Kind::Switch => value.get_ref().as_bool().map(|_| ()).ok_or_else(wrong),
        Kind::Choice(words) => {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            if words.contains(&text) { Ok(()) } else { Err(outside()) }
        }
        Kind::Device => {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            let numbered =
                text.strip_prefix("cuda:").is_some_and(|number| number.parse::<u8>().is_ok());
            if numbered || ["cpu", "cuda", "auto"].contains(&text) {
                Ok(())
            } else {
                Err(outside())
            }
        }
        Kind::Name => {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let good =
                (1..=64).contains(&text.len()) && text.chars().all(plain) && !text.starts_with('.');
            if good { Ok(()) } else { Err(outside()) }
        }
        Kind::Growth if value.get_ref().as_str() == Some("") => Ok(()),
        Kind::Architecture | Kind::Growth => {
            let text = value.get_ref().as_str().ok_or_else(wrong)?;
            let size =
                |digits: &str| digits.parse::<u32>().ok().filter(|n| n.to_string() == digits);
            match text.split_once('x').map(|(blocks, channels)| (size(blocks), size(channels))) {
                Some((Some(1..=64), Some(8..=1024))) => Ok(()),
                _ => Err(outside()),
            }
        }
        Kind::Rules => check_rules(key, value, source),
    }
}

/// Type and range in words.
pub(super) fn expected(key: &Key) -> String {
    let (name, allowed) = (key.type_name(), allowed(key));
    if name == allowed { format!("expected {name}") } else { format!("expected {name}: {allowed}") }
}

fn allowed(key: &Key) -> String {
    let unit = if key.unit.is_empty() { String::new() } else { format!(" ({})", key.unit) };
    format!("{}{unit}", key.range())
}

fn check_rules(
    key: &Key,
    value: &Spanned<DeValue<'_>>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    let wrong = |name: &str, span: &Range<usize>| source.value_error(name, span, expected(key));
    match value.get_ref() {
        DeValue::String(text) => check_rules_text(key.name, text, &value.span(), source),
        DeValue::Array(list) if list.is_empty() => Err(wrong(key.name, &value.span())),
        DeValue::Array(list) => {
            for (index, entry) in list.iter().enumerate() {
                let name = format!("{}[{index}]", key.name);
                let DeValue::Table(fields) = entry.get_ref() else {
                    return Err(wrong(&name, &entry.span()));
                };
                check_rules_entry(&name, fields, &entry.span(), source)?;
            }
            Ok(())
        }
        _ => Err(wrong(key.name, &value.span())),
    }
}

fn check_rules_entry(
    name: &str,
    fields: &DeTable<'_>,
    span: &Range<usize>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    let (mut named, mut drawn) = (false, false);
    for (field, value) in fields {
        match (field.get_ref().as_ref(), value.get_ref()) {
            ("rules", DeValue::String(text)) => {
                named = true;
                check_rules_text(&format!("{name}.rules"), text, &value.span(), source)?;
            }
            ("rules", _) => {
                return Err(source.value_error(
                    &format!("{name}.rules"),
                    &value.span(),
                    "expected a rules string".into(),
                ));
            }
            ("mixes", _) => {
                drawn = true;
                check_mixes(&format!("{name}.mixes"), value, source)?;
            }
            ("weight", DeValue::Integer(_) | DeValue::Float(_)) => {
                let weight = number(value, source);
                if !weight.is_some_and(|weight| (1e-6..=1e6).contains(&weight)) {
                    let wanted = "allowed are 0.000001 to 1000000".to_owned();
                    return Err(source.value_error(
                        &format!("{name}.weight"),
                        &value.span(),
                        wanted,
                    ));
                }
            }
            ("weight", _) => {
                return Err(source.value_error(
                    &format!("{name}.weight"),
                    &value.span(),
                    "expected a number".into(),
                ));
            }
            (other, _) => {
                let hint = nearest(other, ["rules", "mixes", "weight"]).map_or_else(
                    || "an entry has rules or mixes, and weight".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                return Err(source.unknown(format!("{name}.{other}"), &field.span(), hint));
            }
        }
    }
    let wanted = match (named, drawn) {
        (true, false) | (false, true) => return Ok(()),
        (true, true) => "an entry has either rules or mixes",
        (false, false) => "an entry needs rules = \"...\" or mixes = { ... }",
    };
    Err(source.value_error(name, span, wanted.into()))
}

fn check_rules_text(
    name: &str,
    text: &str,
    span: &Range<usize>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    match text.parse::<gipf_core::Rules>() {
        Err(error) => Err(source.value_error(name, span, error.to_string())),
        Ok(rules) if !rules.is_searchable() => {
            let wanted = "recorded side games are for people at a board, a run cannot play them";
            Err(source.value_error(name, span, wanted.to_owned()))
        }
        Ok(_) => Ok(()),
    }
}

/// The nearest of the candidates, if one is near enough to be a slip.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= 2.max(candidate.len().min(word.len()) / 3))
        .map(|(_, candidate)| candidate)
}

/// The names of the sections, in order.
fn sections() -> Vec<&'static str> {
    let mut names: Vec<_> = KEYS.iter().map(Key::section).collect();
    names.dedup();
    names
}

fn section_hint(name: &str) -> String {
    if let Some(near) = nearest(name, sections()) {
        return format!("did you mean \"{near}\"?");
    }
    // A key that lost its section.
    if let Some(leaf) = nearest(name, KEYS.iter().map(Key::leaf)) {
        let owners =
            KEYS.iter().filter(|key| key.leaf() == leaf).map(|key| format!("\"{}\"", key.name));
        return format!("did you mean {}?", owners.collect::<Vec<_>>().join(" or "));
    }
    format!("the sections are {}", sections().join(", "))
}

/// What the dotted key may have been meant to be.
pub(super) fn key_hint(section: &str, leaf: &str) -> String {
    let own = || KEYS.iter().filter(|key| key.section() == section);
    if own().next().is_none() {
        return section_hint(section);
    }
    if let Some(elsewhere) = KEYS.iter().find(|key| key.leaf() == leaf) {
        return format!("did you mean \"{}\"?", elsewhere.name);
    }
    if let Some(near) = nearest(leaf, own().map(Key::leaf)) {
        return format!("did you mean \"{near}\"?");
    }
    if let Some(near) = nearest(leaf, KEYS.iter().map(Key::leaf)) {
        let name = KEYS.iter().find(|key| key.leaf() == near).map_or(near, |key| key.name);
        return format!("did you mean \"{name}\"?");
    }
    format!("the keys of [{section}] are {}", own().map(Key::leaf).collect::<Vec<_>>().join(", "))
}
