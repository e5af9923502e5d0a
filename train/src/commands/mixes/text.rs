//! The tables as text.

use std::io;

use gipf_player::messages::count_of;
use gipf_selfplay::study::{Design, Equilibrium, Interval, Verdict};

use crate::commands::Output;
use crate::mixes::{
    Change, GridTable, KindUse, MixLine, MixTable, RivalScore, end_words, interval, percent,
};

/// Writes what came of the games.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(tables: &[MixTable], changes: &[Change], out: Output) -> io::Result<()> {
    for (index, table) in tables.iter().enumerate() {
        if index > 0 {
            writeln!(out, "\n")?;
        }
        write_table(table, out)?;
    }
    if let [first, second] = tables {
        write_changes(first, second, changes, out)?;
    }
    Ok(())
}

fn write_table(table: &MixTable, out: Output) -> io::Result<()> {
    let setup = &table.setup;
    let design = match table.design {
        Design::Even => "evenly shared",
        Design::Adaptive => "where they decide something",
    };
    writeln!(
        out,
        "{}, {}, first {} plays drawn, seed {}: {} by {}, {design}, in {}",
        setup.player,
        setup.strength,
        setup.opening_plays,
        setup.seed,
        count_of(table.games as usize, "game"),
        count_of(table.lines.len(), "rules string"),
        count_of(table.rounds as usize, "round")
    )?;
    if table.games == 0 {
        writeln!(out, "no round is whole yet; the games are kept, and the same command goes on")?;
        return Ok(());
    }
    writeln!(out)?;
    let met = table.lines.iter().any(|line| !line.rivals.is_empty());
    let head = [
        "rules",
        "White",
        "95%",
        "in the table",
        "verdict",
        "games",
        "open.",
        "unfin.",
        "plays",
        "taken W/B",
        "swing",
        "turns",
        if met { "against rivals" } else { "" },
    ];
    let lines = table.ranking.iter().filter_map(|&index| table.lines.get(index));
    let rows = lines.map(cells).collect::<Vec<_>>();
    write_columns(&head, &rows, out)?;
    write_potentials(table, out)?;
    writeln!(out)?;
    write_statement(table, out)?;
    for grid in &table.grids {
        write_grid(table, grid, out)?;
    }
    Ok(())
}

fn cells(line: &MixLine) -> Vec<String> {
    let [white, black] = line.captured;
    // Without a game there is nothing to tell.
    let told = |text: String| if line.games > 0 { text } else { "-".to_owned() };
    vec![
        line.rules.clone(),
        told(percent(line.white)),
        told(interval(line.interval)),
        told(interval(line.bounds)),
        line.verdict.to_string(),
        line.games.to_string(),
        line.openings.to_string(),
        told(percent(line.unfinished)),
        told(format!("{:.1}", line.length)),
        told(format!("{white:.1}/{black:.1}")),
        line.swing.map_or("-".to_owned(), percent),
        line.turns.map_or("-".to_owned(), |turns| format!("{turns:.2}")),
        competence(line),
    ]
}

/// `alphabeta:3 85% (62 to 95), mcts:400 100% (84 to 100); not to be trusted`
fn competence(line: &MixLine) -> String {
    let score = |rival: &RivalScore| match rival.games {
        0 => format!("{} not met", rival.name),
        _ => format!("{} {:.0}% ({})", rival.name, 100.0 * rival.score, interval(rival.interval)),
    };
    let scores = line.rivals.iter().map(score).collect::<Vec<_>>().join(", ");
    let trust = if line.trusted == Some(false) { "; not to be trusted" } else { "" };
    format!("{scores}{trust}")
}

/// Rows below heads, the first column and the last to the left, the others to the right.
fn write_columns(head: &[&str], rows: &[Vec<String>], out: Output) -> io::Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let heads = head.iter().map(|name| (*name).to_owned()).collect();
    for row in [&heads].into_iter().chain(rows) {
        let mut text = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let last = column + 1 == head.len();
            text += &if column == 0 || last {
                format!("  {cell:<width$}")
            } else {
                format!("  {cell:>width$}")
            };
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

fn write_potentials(table: &MixTable, out: Output) -> io::Result<()> {
    let ranked = table.ranking.iter().filter_map(|&index| table.lines.get(index));
    let lines: Vec<&MixLine> = ranked.filter(|line| !line.potentials.is_empty()).collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\npotentials: used, kept to the end, lost to the other side, wasted by their own, in % of the mix"
    )?;
    let share = |it: &KindUse| {
        let whole = |share: f64| format!("{:.0}", 100.0 * share);
        let [used, kept, lost, wasted] = [it.used, it.kept, it.lost, it.wasted].map(whole);
        format!("{}{} {used} {kept} {lost} {wasted}", it.kind, it.count)
    };
    let side = |line: &MixLine, color: char| {
        let own = line.potentials.iter().filter(|it| it.color == color);
        own.map(share).collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| vec![line.rules.clone(), side(line, 'w'), side(line, 'b')])
        .collect();
    write_columns(&["rules", "White", "Black"], &rows, out)
}

fn write_statement(table: &MixTable, out: Output) -> io::Result<()> {
    writeln!(out, "White's score, at 95% for all of the table at once:")?;
    for (name, wanted) in [
        ("above 50%", Verdict::Above),
        ("below 50%", Verdict::Below),
        ("within 2% of 50%", Verdict::Within),
        ("undecided", Verdict::Undecided),
    ] {
        let lines = table.with_verdict(wanted);
        let rules: Vec<&str> = lines.iter().map(|line| &*line.rules).collect();
        let list = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(" ")) };
        writeln!(out, "  {:>3} {name}{list}", rules.len())?;
    }
    let named = |index: Option<usize>| index.and_then(|index| table.lines.get(index));
    if let Some(line) = named(table.fairest) {
        let Interval { low, high } = line.bounds;
        let farthest = (high - 0.5).max(0.5 - low);
        writeln!(out, "fairest   {}, at 95% within {} of 50%", line.rules, percent(farthest))?;
    }
    if let Some((line, swing)) = named(table.sharpest).and_then(|line| Some((line, line.swing?))) {
        writeln!(
            out,
            "sharpest  {}, the value moves by {} a decision",
            line.rules,
            percent(swing)
        )?;
    }
    if let Some(line) = named(table.longest) {
        writeln!(out, "longest   {}, {:.1} plays a game", line.rules, line.length)?;
    }
    let distrusted = table.lines.iter().filter(|line| line.trusted == Some(false)).count();
    if distrusted > 0 {
        writeln!(
            out,
            "not to be trusted: {distrusted} of {}, where the player is not known to be stronger than its rivals",
            table.lines.len()
        )?;
    }
    writeln!(out, "{}", end_words(table.end))
}

fn write_grid(table: &MixTable, grid: &GridTable, out: Output) -> io::Result<()> {
    writeln!(out, "\n{}: White's mix (lines) against Black's, White's score", grid.variant)?;
    let head: Vec<&str> = [""].into_iter().chain(grid.mixes.iter().map(String::as_str)).collect();
    let score = |&cell: &usize| table.lines.get(cell).map_or(String::new(), |it| percent(it.white));
    let row = |(mix, cells): (&String, &Vec<usize>)| {
        [mix.clone()].into_iter().chain(cells.iter().map(score)).collect()
    };
    let rows: Vec<Vec<String>> = grid.mixes.iter().zip(&grid.cells).map(row).collect();
    // The last column stands to the left in other tables; here all are numbers.
    let mut padded = head.clone();
    padded.push("");
    write_columns(&padded, &rows, out)?;
    let Some(Equilibrium { white, black, value }) = &grid.equilibrium else { return Ok(()) };
    let chosen = |shares: &[f64]| {
        let chosen = grid.mixes.iter().zip(shares).filter(|&(_, &share)| share >= 0.0005);
        chosen
            .map(|(mix, &share)| format!("{mix} {}", percent(share)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    writeln!(out, "equilibrium: White {}; Black {}", chosen(white), chosen(black))?;
    let bounds = grid.value_bounds.map_or(String::new(), |it| format!(" ({})", interval(it)));
    writeln!(out, "White's score then: {}{bounds}", percent(*value))
}

fn write_changes(
    first: &MixTable,
    second: &MixTable,
    changes: &[Change],
    out: Output,
) -> io::Result<()> {
    let name = |table: &MixTable| format!("{}, {}", table.setup.player, table.setup.strength);
    writeln!(out, "\n\n{} beside {}", name(first), name(second))?;
    let rows: Vec<Vec<String>> = first
        .ranking
        .iter()
        .filter_map(|&index| Some((index, first.lines.get(index)?, second.lines.get(index)?)))
        .map(|(index, one, other)| {
            let change = changes.iter().find(|change| change.line == index);
            let mark = match change {
                None => "",
                Some(Change { apart: true, .. }) => "changed; the scores differ",
                Some(_) => "changed",
            };
            let white = |line: &MixLine| match line.games {
                0 => "-".to_owned(),
                _ => percent(line.white),
            };
            vec![
                one.rules.clone(),
                white(one),
                one.verdict.to_string(),
                white(other),
                other.verdict.to_string(),
                mark.to_owned(),
            ]
        })
        .collect();
    write_columns(&["rules", "White", "verdict", "White", "verdict", ""], &rows, out)?;
    writeln!(
        out,
        "{} of {} verdicts change; of these {} scores are known to differ (intervals without a common score)",
        changes.len(),
        first.lines.len(),
        changes.iter().filter(|change| change.apart).count()
    )
}
