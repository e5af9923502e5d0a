//! The tables as lines of values separated by commas (RFC 4180).

use crate::mixes::{KindUse, MixLine, MixTable};

/// A head, then a line for each table and rules string, in the order of the space.
pub(super) fn text(tables: &[MixTable]) -> String {
    let names = || {
        let mut names: Vec<&str> = Vec::new();
        let lines = tables.iter().flat_map(|table| &table.lines);
        for rival in lines.flat_map(|line| &line.rivals) {
            if !names.contains(&rival.name.as_str()) {
                names.push(&rival.name);
            }
        }
        names
    };
    let names = names();
    let mut head: Vec<String> = [
        "player",
        "strength",
        "rules",
        "games",
        "repeated",
        "openings",
        "white",
        "low",
        "high",
        "table_low",
        "table_high",
        "verdict",
        "unfinished",
        "length",
        "captured_white",
        "captured_black",
        "swing",
        "turns",
        "potentials",
    ]
    .map(str::to_owned)
    .to_vec();
    for name in &names {
        head.extend(["score", "low", "high"].map(|part| format!("{name} {part}")));
    }
    head.push("trusted".to_owned());
    let lines = tables.iter().flat_map(|table| {
        let names = &names;
        table.lines.iter().map(move |line| row(table, line, names))
    });
    [head].into_iter().chain(lines).map(|cells| joined(&cells)).collect()
}

fn row(table: &MixTable, line: &MixLine, rivals: &[&str]) -> Vec<String> {
    // Without a game there is nothing to tell.
    let share = |value: f64| if line.games > 0 { format!("{value:.6}") } else { String::new() };
    let known = |value: Option<f64>| value.map(share).unwrap_or_default();
    let [white, black] = line.captured;
    let mut cells = vec![
        table.setup.player.clone(),
        table.setup.strength.to_string(),
        line.rules.clone(),
        line.games.to_string(),
        line.repeated.to_string(),
        line.openings.to_string(),
        share(line.white),
        share(line.interval.low),
        share(line.interval.high),
        share(line.bounds.low),
        share(line.bounds.high),
        line.verdict.to_string(),
        share(line.unfinished),
        share(line.length),
        share(white),
        share(black),
        known(line.swing),
        known(line.turns),
        line.potentials.iter().map(potential).collect::<Vec<_>>().join("; "),
    ];
    for name in rivals {
        let score = line.rivals.iter().find(|rival| rival.name == *name && rival.games > 0);
        let part = |value: Option<f64>| value.map(share).unwrap_or_default();
        cells.push(part(score.map(|score| score.score)));
        cells.push(part(score.map(|score| score.interval.low)));
        cells.push(part(score.map(|score| score.interval.high)));
    }
    cells.push(line.trusted.map_or("", |trusted| if trusted { "yes" } else { "no" }).to_owned());
    cells
}

/// `w T6 used 0.41 kept 0.2 lost 0.3 wasted 0.09`
fn potential(it: &KindUse) -> String {
    let KindUse { color, kind, count, used, kept, lost, wasted } = it;
    format!("{color} {kind}{count} used {used:.3} kept {kept:.3} lost {lost:.3} wasted {wasted:.3}")
}

fn joined(cells: &[String]) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes_are_kept_apart() {
        let cells = ["a", "b,c", "d\"e"].map(str::to_owned);
        assert_eq!(joined(&cells), "a,\"b,c\",\"d\"\"e\"\r\n");
        assert!(text(&[]).starts_with("player,strength,rules,games,"));
    }
}
