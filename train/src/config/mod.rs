//! The configuration of a run: a TOML file, checked key by key, with overrides.
//!
//! A file passes three gates: every key is known and of its type and range ([`KEYS`] says which), the
//! sections deserialize, and the keys agree with each other. Every message is one line that names the key, the line and the cure.

mod agree;
mod diff;
mod error;
mod keys;
mod load;
mod mixes;
mod sections;
mod table;

pub use diff::{Difference, diff, fixed_keys};
pub use error::ConfigError;
pub use keys::{KEYS, Key, Kind};
pub use load::{LoadedConfig, Setting, apply, parse, parse_file, parse_settings};
pub use mixes::drawn_mixes;
pub use sections::{
    CheckpointsSection, Config, CpuPrecision, Decay, GatingMode, GatingSection, GpuPrecision,
    NetworkSection, ReportSection, RulesSection, RunSection, SelfPlaySection, StoreSection,
    TrainSection, WindowSection,
};

#[cfg(test)]
mod tests;
