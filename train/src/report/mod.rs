//! The report of a run: one HTML file with everything in it, made from the run's folder alone, also while the run is trained.
//!
//! A part that is missing says which command makes it; a part that is damaged costs itself and one line at the top.

mod charts;
mod curves;
mod events;
mod facts;
mod games;
mod html;
mod mixes;
mod rated;
mod results;
mod settings;
mod strength;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::learner::quoted;
use crate::run::{RunView, atomic};
use crate::store::{self, DiskWait};

pub use mixes::{Example, MixesReport};

use games::ShownGame;
use html::{escape, fill, missing, script_json};
use strength::Strength;

/// Games that are shown unless another number is asked for.
pub const DEFAULT_GAMES: usize = 8;

/// Newest games of a run among which the shown ones are chosen.
const NEWEST: usize = 200;

/// Rated games among the shown ones, at most.
const RATED: usize = 2;

/// What every report holds near its beginning.
const MARK: &str = "<meta name=\"generator\" content=\"gipf report\">";

const TEMPLATE: &str = include_str!("template.html");
const CSS: &str = include_str!("page.css");
const BOARD: &str = include_str!("board.js");
const VIEWER: &str = include_str!("viewer.js");
/// What the viewer's script fills: it stands once on a page.
const VIEWER_BOX: &str = include_str!("viewer.html");

/// A report, not yet written.
#[derive(Debug)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Games in its viewer.
    pub games: usize,
    /// What could not be read, one line each; they also stand on the page.
    pub faults: Vec<String>,
}

impl Report {
    /// Makes the report of a run with at most `games` games, as its folder stands now. `program` is how its commands call this
    /// program.
    ///
    /// # Errors
    /// The data of the games cannot be written as JSON.
    pub fn of(run: &RunView, games: usize, program: &str) -> anyhow::Result<Self> {
        let mut faults = Vec::new();
        let name = quoted(&run.folder.to_string_lossy());
        let (curves, found) = events::read(&run.folder.join("events"));
        faults.extend(found);
        let history = results::history(&run.folder, &mut faults);
        let strength = Strength {
            ratings: results::ratings(&run.folder, &mut faults),
            matches: results::matches(&run.folder, &mut faults),
            gates: results::gates(&run.folder, &mut faults),
        };
        let go_on = format!("{program} train {name}/config.toml --run {name}");
        let sections = curves::sections(&curves, &history, &go_on, &mut faults);
        let shown = shown_games(run, games, &mut faults);
        let ratings = strength.section(program, &name, &mut faults);
        let no_games = if shown.is_empty() {
            missing("No games to show yet: training makes them.", &go_on)
        } else {
            String::new()
        };
        let html = fill(
            TEMPLATE,
            &[
                ("NAME", &escape(&run.config.run.name)),
                ("CSS", CSS),
                ("STRENGTH", &strength.headline(program, &name)),
                ("FACTS", &facts::list(run)),
                ("FAULTS", &fault_list(&faults)),
                ("RATINGS", &ratings),
                ("NO_GAMES", &no_games),
                ("TRAINING", &sections.training),
                ("SPEED", &sections.speed),
                ("PLAY", &sections.games),
                ("SETTINGS", &settings::section(run)),
                ("COMMAND", &escape(&format!("{program} report {name}"))),
                ("GAMES", &script_json(&shown)?),
                ("VIEWER_BOX", VIEWER_BOX),
                ("BOARD", BOARD),
                ("VIEWER", VIEWER),
            ],
        );
        Ok(Report { html, games: shown.len(), faults })
    }

    /// Writes the page as a whole or not at all.
    ///
    /// # Errors
    /// Any I/O error but a full disk, which is waited for.
    pub fn write(&self, path: &Path, wait: &DiskWait) -> io::Result<()> {
        atomic::write(path, self.html.as_bytes(), wait, None)
    }
}

/// Whether a file is a report, which a newer one may replace.
///
/// # Errors
/// It cannot be read.
pub fn is_report(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(1024).read_to_end(&mut head)?;
    Ok(head.windows(MARK.len()).any(|window| window == MARK.as_bytes()))
}

/// The run's own games, and in the last places rated ones where there are any.
fn shown_games(run: &RunView, count: usize, faults: &mut Vec<String>) -> Vec<ShownGame> {
    let own = match store::newest_records(&run.folder.join("games"), NEWEST) {
        Ok(found) => {
            faults.extend(found.faults);
            found.records
        }
        Err(error) => {
            faults.push(error.to_string());
            Vec::new()
        }
    };
    let rated = rated::newest(&run.folder, RATED.min(count / 2), faults);
    let rated = games::rated(&rated, faults);
    let mut shown = games::self_play(&own, count - rated.len(), faults);
    shown.extend(rated);
    shown
}

fn fault_list(faults: &[String]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let items: String = faults.iter().map(|fault| format!("<li>{}</li>", escape(fault))).collect();
    format!(
        "<div class=\"faults\" role=\"note\">Not everything could be read:<ul>{items}</ul></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_names_each_part_once_and_is_a_report() {
        for part in [
            "CSS",
            "STRENGTH",
            "FACTS",
            "FAULTS",
            "RATINGS",
            "NO_GAMES",
            "TRAINING",
            "SPEED",
            "PLAY",
            "SETTINGS",
            "COMMAND",
            "GAMES",
            "BOARD",
            "VIEWER",
            "VIEWER_BOX",
        ] {
            assert_eq!(TEMPLATE.matches(&format!("{{{{{part}}}}}")).count(), 1, "{part}");
        }
        assert!(TEMPLATE.find(MARK).is_some_and(|at| at + MARK.len() < 1024));
        assert!(![BOARD, VIEWER].concat().contains("</script") && !CSS.contains("</style"));
    }

    #[test]
    fn faults_are_listed_as_text() {
        assert_eq!(fault_list(&[]), "");
        assert!(fault_list(&["a <b>".to_owned()]).contains("<li>a &lt;b&gt;</li>"));
    }
}
