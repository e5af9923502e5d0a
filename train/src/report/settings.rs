//! The settings of a run: every key in force, and what was changed on the way.

use super::html::{details, table};
use crate::config::KEYS;
use crate::run::RunView;

/// The section on settings.
pub(super) fn section(run: &RunView) -> String {
    let mut out = String::new();
    let changes: Vec<Vec<String>> = run
        .settings
        .iter()
        .map(|it| vec![it.step.to_string(), it.key.clone(), it.value.clone()])
        .collect();
    out += &if changes.is_empty() {
        "<p>Nothing was changed on the command line: all keys are as in <code>config.toml</code>.</p>\n".to_owned()
    } else {
        table("Changed by --set", &["at step", "key", "value"], &changes)
    };
    let Ok(in_force) = toml::Table::try_from(&run.config) else { return out };
    let rows = KEYS.iter().map(|key| {
        let value = in_force.get(key.section()).and_then(|section| section.get(key.leaf()));
        vec![
            key.name.to_owned(),
            value.map_or_else(String::new, |value| value.to_string().replace('\n', " ")),
            key.unit.to_owned(),
            key.about.to_owned(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let all = table("Every key in force", &["key", "value", "unit", "meaning"], &rows);
    out + &details("Every key in force", &all)
}
