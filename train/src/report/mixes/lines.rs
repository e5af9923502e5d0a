//! The numbers of the tables, and what changes between two of them.

use crate::mixes::{Change, KindUse, MixLine, MixTable, RivalScore, interval, percent};
use crate::report::html::{details, table};

/// The numbers of each table, its potentials and its rivals.
pub(super) fn sections(tables: &[MixTable]) -> String {
    tables.iter().map(|result| numbers(result) + &potentials(result) + &rivals(result)).collect()
}

fn name(result: &MixTable) -> String {
    format!("{}, {}", result.setup.player, result.setup.strength)
}

fn ranked(result: &MixTable) -> impl Iterator<Item = &MixLine> {
    result.ranking.iter().filter_map(|&index| result.lines.get(index))
}

fn numbers(result: &MixTable) -> String {
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
        "trust",
    ];
    let rows: Vec<Vec<String>> = ranked(result).map(row).collect();
    table(&name(result), &head, &rows)
}

fn row(line: &MixLine) -> Vec<String> {
    let [white, black] = line.captured;
    let told = |text: String| if line.games > 0 { text } else { "-".to_owned() };
    vec![
        line.rules.clone(),
        told(percent(line.white)),
        told(interval(line.interval)),
        told(interval(line.bounds)),
        line.verdict.to_string(),
        line.games.to_string(),
        line.openings.to_string(),
        line.repeated.to_string(),
        told(percent(line.unfinished)),
        told(format!("{:.1}", line.length)),
        told(format!("{white:.1}")),
        told(format!("{black:.1}")),
        line.swing.map_or("-".to_owned(), percent),
        line.turns.map_or("-".to_owned(), |turns| format!("{turns:.2}")),
        match line.trusted {
            None => "-".to_owned(),
            Some(true) => "yes".to_owned(),
            Some(false) => "not to be trusted".to_owned(),
        },
    ]
}

/// What became of the potentials; nothing where no rules string has any.
fn potentials(result: &MixTable) -> String {
    let row = |line: &MixLine, it: &KindUse| {
        let color = if it.color == 'w' { "White" } else { "Black" };
        let mut cells = vec![line.rules.clone(), format!("{color} {}{}", it.kind, it.count)];
        cells.extend([it.used, it.kept, it.lost, it.wasted].map(percent));
        cells
    };
    let rows: Vec<Vec<String>> = ranked(result)
        .flat_map(|line| line.potentials.iter().map(move |it| row(line, it)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let caption = format!("{}: what became of the potentials", name(result));
    let head = ["rules", "potentials", "used", "kept", "lost", "wasted"];
    details(&caption, &table(&caption, &head, &rows))
}

/// The player's scores against its rivals; nothing where it met none.
fn rivals(result: &MixTable) -> String {
    let row = |line: &MixLine, it: &RivalScore| {
        let (score, bounds) = match it.games {
            0 => ("not met".to_owned(), String::new()),
            _ => (percent(it.score), interval(it.interval)),
        };
        vec![line.rules.clone(), it.name.clone(), it.games.to_string(), score, bounds]
    };
    let rows: Vec<Vec<String>> =
        ranked(result).flat_map(|line| line.rivals.iter().map(move |it| row(line, it))).collect();
    if rows.is_empty() {
        return String::new();
    }
    let caption = format!("{}: its score against rivals", name(result));
    details(&caption, &table(&caption, &["rules", "rival", "games", "score", "95%"], &rows))
}

/// Which verdicts differ between two tables; nothing where there is one table.
pub(super) fn changes(tables: &[MixTable], changed: &[Change]) -> String {
    let [first, second] = tables else { return String::new() };
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
