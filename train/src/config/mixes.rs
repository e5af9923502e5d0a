//! Entries `{ mixes = { … }, weight }` of `rules.rules`: their key-by-key check, and what a network learns from them.

use super::error::ConfigError;
use super::sections::Config;
use super::table::{Source, nearest};
use gipf_model::DrawnMixes;
use gipf_selfplay::{MixDraw, RulesEntry};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The kinds of mixes that a run draws game by game, each once.
pub fn drawn_mixes(config: &Config) -> Vec<DrawnMixes> {
    let mut found = Vec::new();
    for entry in &config.rules.rules {
        let RulesEntry::Drawn(entry) = entry else { continue };
        let MixDraw { variant, punct, .. } = &entry.mixes;
        let mixes = DrawnMixes { variant: variant.clone(), punct_convert: punct == "convert" };
        if !found.contains(&mixes) {
            found.push(mixes);
        }
    }
    found
}

/// Checks the table of a drawn mix: known keys, their types, and ranges that can be met.
pub(super) fn check_mixes(
    name: &str,
    value: &Spanned<DeValue<'_>>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    let DeValue::Table(fields) = value.get_ref() else {
        let wanted = "expected a table { variant, kinds, total, per_kind, unequal, basic, punct }";
        return Err(source.value_error(name, &value.span(), wanted.to_owned()));
    };
    let draw = read(name, fields, source)?;
    draw.validate().map_err(|error| {
        // Ranges that cannot be met together may be the defaults of keys that are not written.
        let written = fields.iter().find(|(field, _)| field.get_ref().as_ref() == error.key);
        match written {
            Some((_, value)) => {
                source.value_error(&format!("{name}.{}", error.key), &value.span(), error.wanted)
            }
            None => source.value_error(name, &value.span(), error.to_string()),
        }
    })
}

fn read(name: &str, fields: &DeTable<'_>, source: &Source<'_>) -> Result<MixDraw, ConfigError> {
    let mut draw = MixDraw::default();
    for (field, value) in fields {
        let key = field.get_ref().as_ref();
        let (span, full) = (value.span(), format!("{name}.{key}"));
        let wrong = |wanted: &str| source.value_error(&full, &span, format!("expected {wanted}"));
        let text = || value.get_ref().as_str().map(str::to_owned);
        let range =
            || range(value.get_ref()).ok_or_else(|| wrong("two whole numbers, [least, most]"));
        match key {
            "variant" => draw.variant = text().ok_or_else(|| wrong("a text in quotes"))?,
            "punct" => draw.punct = text().ok_or_else(|| wrong("a text in quotes"))?,
            "kinds" => draw.kinds = range()?,
            "total" => draw.total = range()?,
            "per_kind" => draw.per_kind = range()?,
            "basic" => {
                draw.basic = Some(whole(value.get_ref()).ok_or_else(|| wrong("a whole number"))?);
            }
            "unequal" => {
                draw.unequal = number(value, source).ok_or_else(|| wrong("a number: 0 to 1"))?;
            }
            _ => return Err(source.unknown(full, &field.span(), hint(key))),
        }
    }
    Ok(draw)
}

fn hint(key: &str) -> String {
    nearest(key, MixDraw::KEYS).map_or_else(
        || format!("mixes has {}", MixDraw::KEYS.join(", ")),
        |near| format!("did you mean \"{near}\"?"),
    )
}

fn range(value: &DeValue<'_>) -> Option<[u8; 2]> {
    let [low, high] = value.as_array()?.as_ref() else { return None };
    Some([whole(low.get_ref())?, whole(high.get_ref())?])
}

/// A whole number; one that is beyond every range as 255, which no range allows.
fn whole(value: &DeValue<'_>) -> Option<u8> {
    let DeValue::Integer(number) = value else { return None };
    Some(
        u64::from_str_radix(number.as_str(), number.radix())
            .map_or(u8::MAX, |number| u8::try_from(number).unwrap_or(u8::MAX)),
    )
}

/// A decimal number as written.
pub(super) fn number(value: &Spanned<DeValue<'_>>, source: &Source<'_>) -> Option<f64> {
    let span: Range<usize> = value.span();
    match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => {
            source.text.get(span)?.replace('_', "").parse().ok()
        }
        _ => None,
    }
}
