//! The numbers of the tables, and what changes between two of them.

use crate::mixes::{Change, KindUse, MixLine, MixTable, RivalScore, interval, percent};
use crate::report::html::table;

/// A table of numbers for each table.
pub(super) fn sections(tables: &[MixTable]) -> String {
    let section = |result: &MixTable| {
        let caption = format!("{}, {}", result.setup.player, result.setup.strength);
        let head = [
            "rules",
            "White",
            "95%",
            "in the table",
            "verdict",
            "games",
            "openings",
            "repeated",
            "unfinished",
            "plays",
            "taken from White",
            "from Black",
            "swing",
            "turns",
            "potentials",
            "against rivals",
            "trust",
        ];
        let lines = result.ranking.iter().filter_map(|&index| result.lines.get(index));
        let rows: Vec<Vec<String>> = lines.map(row).collect();
        // The head's only difference from other tables: numbers do not wrap.
        table(&caption, &head, &rows).replacen("<table>", "<table class=\"numbers\">", 1)
    };
    tables.iter().map(section).collect()
}

fn row(line: &MixLine) -> Vec<String> {
    let [white, black] = line.captured;
    vec![
        line.rules.clone(),
        percent(line.white),
        interval(line.interval),
        interval(line.bounds),
        line.verdict.to_string(),
        line.games.to_string(),
        line.openings.to_string(),
        line.repeated.to_string(),
        percent(line.unfinished),
        format!("{:.1}", line.length),
        format!("{white:.1}"),
        format!("{black:.1}"),
        line.swing.map_or("-".to_owned(), percent),
        line.turns.map_or("-".to_owned(), |turns| format!("{turns:.2}")),
        line.potentials.iter().map(potential).collect::<Vec<_>>().join("; "),
        line.rivals.iter().map(rival).collect::<Vec<_>>().join("; "),
        match line.trusted {
            None => "-".to_owned(),
            Some(true) => "yes".to_owned(),
            Some(false) => "not to be trusted".to_owned(),
        },
    ]
}

/// `White T6: used 41%, kept 20%, lost 30%, wasted 9%`
fn potential(it: &KindUse) -> String {
    let color = if it.color == 'w' { "White" } else { "Black" };
    let whole = |share: f64| format!("{:.0}%", 100.0 * share);
    format!(
        "{color} {}{}: used {}, kept {}, lost {}, wasted {}",
        it.kind,
        it.count,
        whole(it.used),
        whole(it.kept),
        whole(it.lost),
        whole(it.wasted)
    )
}

fn rival(it: &RivalScore) -> String {
    if it.games == 0 {
        return format!("{}: not met", it.name);
    }
    format!("{} {} ({}, {} games)", it.name, percent(it.score), interval(it.interval), it.games)
}

/// Which verdicts differ between two tables; nothing where there is one table.
pub(super) fn changes(tables: &[MixTable], changed: &[Change]) -> String {
    let [first, second] = tables else { return String::new() };
    let name = |table: &MixTable| format!("{}, {}", table.setup.player, table.setup.strength);
    if changed.is_empty() {
        return format!(
            "<h3>What changes</h3>\n<p>No verdict differs between the {} rules strings of both tables.</p>\n",
            first.lines.len()
        );
    }
    let rows: Vec<Vec<String>> = changed
        .iter()
        .map(|change| {
            let [one, other] =
                [0, 1].map(|at| format!("{}, {}", percent(change.white[at]), change.verdicts[at]));
            let apart = if change.apart { "yes" } else { "no" };
            vec![change.rules.clone(), one, other, apart.to_owned()]
        })
        .collect();
    let (one, other) = (name(first), name(second));
    let head = ["rules", &one, &other, "scores known to differ"];
    let caption = format!("{} of {} verdicts differ", changed.len(), first.lines.len());
    format!("<h3>What changes</h3>\n{}", table(&caption, &head, &rows))
}
