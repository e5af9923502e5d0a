//! How two configurations differ, key by key.

use super::keys::{KEYS, Key};
use super::load::Setting;
use super::sections::Config;
use std::fmt;

/// One key that differs between a run and a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Dotted key.
    pub key: &'static str,
    /// Value in the run.
    pub run: String,
    /// Value in the file.
    pub file: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in the run, {} in the file", self.key, self.run, self.file)
    }
}

/// Every key whose values differ, in the order of [`KEYS`].
pub fn diff(run: &Config, file: &Config) -> Vec<Difference> {
    let (Ok(run), Ok(file)) = (toml::Table::try_from(run), toml::Table::try_from(file)) else {
        return Vec::new();
    };
    KEYS.iter()
        .filter_map(|key| {
            let (run, file) = (value_of(&run, key), value_of(&file, key));
            (run != file).then_some(Difference { key: key.name, run, file })
        })
        .collect()
}

/// The value of a key as TOML text on one line.
fn value_of(table: &toml::Table, key: &Key) -> String {
    let value = table.get(key.section()).and_then(|section| section.get(key.leaf()));
    value.map_or_else(|| "nothing".to_owned(), |value| value.to_string().replace('\n', " "))
}

/// The overrides that a run which has begun must refuse.
pub fn fixed_keys(settings: &[Setting]) -> Vec<&'static str> {
    KEYS.iter()
        .filter(|key| key.fixed && settings.iter().any(|setting| setting.key == key.name))
        .map(|key| key.name)
        .collect()
}
