//! From text to a checked configuration: file, overrides, agreement of the keys.

use super::agree;
use super::error::ConfigError;
use super::keys::{Key, Kind};
use super::sections::Config;
use super::table::{Source, check_table, check_value, expected, key_hint, line_of};
use gipf_selfplay::RulesEntry;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Longest file that is read as a configuration, in bytes.
const LONGEST: u64 = 1 << 20;

/// One override, `key=value`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// Value as TOML text.
    pub value: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// A configuration with the exact text it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// File and overrides together.
    pub config: Config,
    /// The file alone.
    pub file: Config,
    /// The file's exact text.
    pub text: String,
    /// The overrides, in the order given.
    pub settings: Vec<Setting>,
    /// Where the file lies.
    pub path: PathBuf,
}

impl LoadedConfig {
    /// Reads and checks a file, then applies the overrides (`key=value`).
    ///
    /// # Errors
    /// Every [`ConfigError`]: the file is missing, is no TOML, has a key or a value that is not allowed, or an override has.
    pub fn load(path: &Path, settings: &[String]) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| ConfigError::Read {
            path: name.clone(),
            reason: error.to_string(),
            hint: match error.kind() {
                io::ErrorKind::NotFound => presets(path),
                _ => String::new(),
            },
        })?;
        let settings = parse_settings(settings)?;
        let file = read(&text, &name, &[])?;
        let config = read(&text, &name, &settings)?;
        agree::check(&config, &name)?;
        Ok(Self { config, file, text, settings, path: path.to_owned() })
    }

    /// How many keys the file sets; the others have their defaults.
    pub fn keys_set(&self) -> usize {
        let table: toml::Table = self.text.parse().unwrap_or_default();
        table.values().filter_map(toml::Value::as_table).map(toml::Table::len).sum()
    }
}

/// The text of a file, of at most [`LONGEST`] bytes.
fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other(format!(
            "it is longer than {LONGEST} bytes, so it is no configuration"
        )));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is no UTF-8 text"))
}

/// Which configurations there are instead of a missing file: those of the folder it was looked for in, where one is
/// named, else the presets.
fn presets(path: &Path) -> String {
    let named = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    for folder in named.into_iter().chain([Path::new("configs")]) {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".toml") && !name.starts_with('.'))
            .collect();
        names.sort();
        names.truncate(8);
        if !names.is_empty() {
            return format!("; {} holds {}", folder.display(), names.join(", "));
        }
    }
    "; the presets are the files configs/*.toml of the project".to_owned()
}

/// Parses and checks a whole configuration; `name` stands for the file in messages.
///
/// # Errors
/// As [`LoadedConfig::load`], but for reading.
pub fn parse(text: &str, name: &str, settings: &[Setting]) -> Result<Config, ConfigError> {
    let config = read(text, name, settings)?;
    agree::check(&config, name)?;
    Ok(config)
}

/// Parses and checks a file key by key, without the agreement of the keys, which overrides may bring about.
///
/// # Errors
/// As [`parse`].
pub fn parse_file(text: &str, name: &str) -> Result<Config, ConfigError> {
    read(text, name, &[])
}

/// The configuration after overrides; checks them and the agreement of the keys.
///
/// # Errors
/// An override of an unknown key, or with a value that is not allowed.
pub fn apply(config: &Config, settings: &[Setting]) -> Result<Config, ConfigError> {
    let text = toml::to_string(config)
        .map_err(|error| syntax("the run's configuration", error.to_string()))?;
    parse(&text, "the run's configuration", settings)
}

fn syntax(place: impl Into<String>, reason: String) -> ConfigError {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    ConfigError::Syntax { place: place.into(), reason }
}

/// Parses and checks key by key, without the agreement of the keys.
fn read(text: &str, name: &str, settings: &[Setting]) -> Result<Config, ConfigError> {
    let broken = |error: &toml::de::Error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        syntax(format!("{name}, line {line},"), error.message().to_owned())
    };
    let spanned = DeTable::parse(text).map_err(|error| broken(&error))?;
    check_table(spanned.get_ref(), &Source { file: name, text, setting: None })?;
    let mut table: toml::Table = toml::from_str(text).map_err(|error| broken(&error))?;
    for setting in settings {
        let value: toml::Table = toml::from_str(&format!("v = {}", setting.value))
            .map_err(|error| syntax("--set", error.to_string()))?;
        let (section, leaf) = setting.key.split_once('.').unwrap_or(("", &setting.key));
        let section =
            table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        if let (toml::Value::Table(section), Some(value)) = (section, value.get("v")) {
            section.insert(leaf.to_owned(), value.clone());
        }
    }
    let mut config: Config = table.try_into().map_err(|error: toml::de::Error| broken(&error))?;
    // Equal rules in two spellings must not look like a change when a run is resumed.
    for entry in &mut config.rules.rules {
        if let RulesEntry::Fixed(entry) = entry
            && let Ok(rules) = entry.rules.parse::<gipf_core::Rules>()
        {
            entry.rules = rules.to_string();
        }
    }
    Ok(config)
}

/// Splits and checks overrides. A text value may stand without quotes: `network.architecture=6x64`.
///
/// # Errors
/// One is not `key=value`, has an unknown key, or a value of the wrong type or outside its range.
pub fn parse_settings(texts: &[String]) -> Result<Vec<Setting>, ConfigError> {
    texts.iter().map(|text| parse_setting(text)).collect()
}

fn parse_setting(text: &str) -> Result<Setting, ConfigError> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(ConfigError::Setting { text: text.to_owned() });
    };
    let (name, value) = (name.trim(), value.trim());
    let Some(key) = Key::find(name) else {
        let (section, leaf) = name.split_once('.').unwrap_or((name, ""));
        return Err(ConfigError::UnknownKey {
            file: "--set".to_owned(),
            key: name.to_owned(),
            line: format!("{text:?}"),
            hint: key_hint(section, leaf),
        });
    };
    let textual = !matches!(key.kind, Kind::Whole(..) | Kind::Number(..) | Kind::Switch);
    // Quotes are the shell's, so a bare word is a text; a list of rules keeps its TOML form.
    let bare = textual && !value.starts_with(['"', '\'', '[']);
    let value =
        if bare { toml::Value::String(value.to_owned()).to_string() } else { value.to_owned() };
    let source = Source { file: "--set", text: &value, setting: Some(text) };
    let bad = |value: &str| ConfigError::Value {
        file: "--set".to_owned(),
        key: key.name.to_owned(),
        line: format!("{text:?}"),
        value: if value.is_empty() { "empty".to_owned() } else { value.to_owned() },
        wanted: expected(key),
    };
    if value.contains('\n') {
        return Err(bad("several lines"));
    }
    let parsed = DeValue::parse(&value).map_err(|_| bad(&value))?;
    check_value(key, &parsed, &source)?;
    Ok(Setting { key: key.name.to_owned(), value })
}
