//! The report of a study of mixes: one HTML file with the scores, grids, settings and games to play through.

mod forest;
mod grid;
mod lines;

use gipf_core::record::GameRecord;
use gipf_player::messages::count_of;
use gipf_selfplay::study::{Design, Verdict};

use super::games::{ShownGame, example};
use super::html::{escape, fill, grouped, script_json, table};
use super::{BOARD, CSS, VIEWER, VIEWER_BOX, fault_list};
use crate::mixes::{Change, MixTable, end_words};

const TEMPLATE: &str = include_str!("page.html");
const MIXES_CSS: &str = include_str!("page.css");

/// A game to play through.
#[derive(Debug, Clone)]
pub struct Example {
    /// The game, with its searches.
    pub record: GameRecord,
    /// What its rules string stands out by.
    pub reasons: Vec<&'static str>,
}

/// The report of one table or of two beside each other, not yet written.
#[derive(Debug)]
pub struct MixesReport {
    /// The page.
    pub html: String,
    /// What could not be shown, one line each; they also stand on the page.
    pub faults: Vec<String>,
}

impl MixesReport {
    /// Makes the report. `changed` are the rules strings whose verdict differs between two tables; `command` is what made them.
    ///
    /// # Errors
    /// The data of the games cannot be written as JSON.
    pub fn of(
        tables: &[MixTable],
        changed: &[Change],
        examples: &[Example],
        command: &str,
    ) -> anyhow::Result<Self> {
        let mut faults = Vec::new();
        let mut shown: Vec<ShownGame> = Vec::new();
        for it in examples {
            match example(&it.record, it.reasons.clone()) {
                Ok(game) => shown.push(game),
                Err(fault) => {
                    let (rules, number) = (&it.record.rules, it.record.id.seq);
                    faults.push(format!("game {number} of {rules}: {fault}"));
                }
            }
        }
        let players: Vec<&str> = tables.iter().map(|table| table.setup.player.as_str()).collect();
        let name = players.first().copied().unwrap_or_default();
        let no_games = "<p class=\"missing\">No games to show.</p>\n";
        let html = fill(
            TEMPLATE,
            &[
                ("NAME", &escape(name)),
                ("CSS", CSS),
                ("MIXES_CSS", MIXES_CSS),
                ("HEADLINE", &tables.iter().map(headline).collect::<String>()),
                ("FACTS", &facts(tables)),
                ("FAULTS", &fault_list(&faults)),
                ("FOREST", &forest::figure(tables)),
                ("CHANGES", &lines::changes(tables, changed)),
                ("LINES", &lines::sections(tables)),
                ("GRIDS", &grid::sections(tables)),
                ("SETTINGS", &settings(tables)),
                ("NO_GAMES", if shown.is_empty() { no_games } else { "" }),
                ("COMMAND", &escape(command)),
                ("GAMES", &script_json(&shown)?),
                ("VIEWER_BOX", VIEWER_BOX),
                ("BOARD", BOARD),
                ("VIEWER", VIEWER),
            ],
        );
        Ok(MixesReport { html, faults })
    }
}

/// What a table says, in a paragraph.
fn headline(table: &MixTable) -> String {
    let count = |verdict| table.with_verdict(verdict).len();
    let [above, below] = [Verdict::Above, Verdict::Below].map(count);
    let [within, undecided] = [Verdict::Within, Verdict::Undecided].map(count);
    let mut text = format!(
        "{}, {}, {}: {above} favour White, {below} favour Black, {within} are within 2% of even, {undecided} are undecided. \
         All of this holds at once with probability 95%.",
        table.setup.player,
        table.setup.strength,
        count_of(table.lines.len(), "rules string")
    );
    for (what, index) in
        [("fairest", table.fairest), ("sharpest", table.sharpest), ("longest", table.longest)]
    {
        if let Some(line) = index.and_then(|index| table.lines.get(index)) {
            text += &format!(" The {what} is {}.", line.rules);
        }
    }
    format!("<p class=\"strong\">{}</p>\n", escape(&text))
}

fn facts(tables: &[MixTable]) -> String {
    let games: u64 = tables.iter().map(|table| table.games).sum();
    let openings: u64 =
        tables.iter().flat_map(|table| &table.lines).map(|line| line.openings).sum();
    let repeated: u64 =
        tables.iter().flat_map(|table| &table.lines).map(|line| line.repeated).sum();
    let rules = tables.first().map_or(0, |table| table.lines.len());
    let facts = [
        ("Rules strings", grouped(rules)),
        ("Games", grouped(games)),
        ("Different openings", grouped(openings)),
        ("Repeated games, left out", grouped(repeated)),
    ];
    let item = |(name, value): &(&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
    };
    facts.iter().map(item).collect()
}

fn settings(tables: &[MixTable]) -> String {
    let head: Vec<String> = (1..=tables.len()).map(|number| format!("table {number}")).collect();
    let head: Vec<&str> = ["setting"].into_iter().chain(head.iter().map(String::as_str)).collect();
    let row = |name: &str, value: &dyn Fn(&MixTable) -> String| {
        [name.to_owned()].into_iter().chain(tables.iter().map(value)).collect::<Vec<_>>()
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let rows = [
        row("player", &|it| it.setup.player.clone()),
        row("SHA-256 of its network", &|it| known(&it.setup.network)),
        row("search", &|it| match it.setup.search.as_str() {
            "" => "none".to_owned(),
            search => search.to_owned(),
        }),
        row("numbers of the network", &|it| match it.setup.precision {
            Some(precision) => format!("{precision:?}").to_lowercase(),
            None => "none".to_owned(),
        }),
        row("strength", &|it| it.setup.strength.to_string()),
        row("drawn plays at the start", &|it| it.setup.opening_plays.to_string()),
        row("temperature of the draws", &|it| it.setup.temperature.to_string()),
        row("limit of plays", &|it| it.setup.max_plays.to_string()),
        row("seed", &|it| it.setup.seed.to_string()),
        row("games go", &|it| match it.design {
            Design::Even => "evenly to all".to_owned(),
            Design::Adaptive => "where they decide something".to_owned(),
        }),
        row("rounds", &|it| it.rounds.to_string()),
        row("games", &|it| grouped(it.games)),
        row("end", &|it| end_words(it.end).to_owned()),
    ];
    table("Who played, and how", &head, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_names_each_part_once() {
        for part in [
            "CSS",
            "MIXES_CSS",
            "HEADLINE",
            "FACTS",
            "FAULTS",
            "FOREST",
            "CHANGES",
            "LINES",
            "GRIDS",
            "SETTINGS",
            "NO_GAMES",
            "COMMAND",
            "GAMES",
            "VIEWER_BOX",
            "BOARD",
            "VIEWER",
        ] {
            assert_eq!(TEMPLATE.matches(&format!("{{{{{part}}}}}")).count(), 1, "{part}");
        }
        assert!(
            !MIXES_CSS.contains("</style") && !MIXES_CSS.contains('#'),
            "colours are the page's"
        );
    }
}
