//! White's mixes against Black's: heat maps and equilibria.

use std::fmt::Write;

use gipf_selfplay::study::Equilibrium;

use crate::mixes::{GridTable, MixTable, percent};
use crate::report::html::{escape, table};

/// A score this far from one half, or farther, has the full colour.
const FULL: f64 = 0.25;
/// The full colour's share of its ink, in per cent: letters on it can still be read.
const MOST_INK: f64 = 55.0;

/// The grids of all tables; a line of text where there are none.
pub(super) fn sections(tables: &[MixTable]) -> String {
    let grids = |table: &MixTable| -> String {
        table.grids.iter().map(|grid| section(table, grid)).collect()
    };
    let out: String = tables.iter().map(grids).collect();
    if out.is_empty() {
        return "<p class=\"missing\">No grid was asked for: <code>--space grid:T6,Z6</code> plays each mix against each.</p>\n".to_owned();
    }
    out
}

fn section(result: &MixTable, grid: &GridTable) -> String {
    let caption = format!(
        "{}: White's score with the mix of the line against the mix of the column; {}, {}",
        grid.variant, result.setup.player, result.setup.strength
    );
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table class=\"heat\">\n<caption>{0}</caption>\n<thead><tr><th scope=\"col\">White, Black</th>",
        escape(&caption)
    );
    // Writing to a text cannot fail.
    for mix in &grid.mixes {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(mix));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (mix, cells) in grid.mixes.iter().zip(&grid.cells) {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(mix));
        for line in cells.iter().filter_map(|&cell| result.lines.get(cell)) {
            out += &if line.games == 0 {
                "<td>-</td>".to_owned()
            } else {
                let side = if line.white >= 0.5 { "white" } else { "black" };
                format!(
                    "<td class=\"{side}\" style=\"--share: {:.0}%\" title=\"{:.1}% to {:.1}% among the table\">{:.1}%</td>",
                    ink(line.white),
                    100.0 * line.bounds.low,
                    100.0 * line.bounds.high,
                    100.0 * line.white
                )
            };
        }
        out += "</tr>\n";
    }
    out += "</tbody>\n</table>\n</div>\n";
    out + &equilibrium(grid)
}

/// How much of the colour a score has, in per cent.
fn ink(score: f64) -> f64 {
    MOST_INK * ((score - 0.5).abs() / FULL).min(1.0)
}

fn equilibrium(grid: &GridTable) -> String {
    let Some(Equilibrium { white, black, value }) = &grid.equilibrium else { return String::new() };
    let mixes = grid.mixes.iter().zip(white).zip(black);
    let rows: Vec<Vec<String>> = mixes
        .filter(|&((_, &white), &black)| white.max(black) >= 0.0005)
        .map(|((mix, &white), &black)| vec![mix.clone(), percent(white), percent(black)])
        .collect();
    let bounds = grid.value_bounds.map_or(String::new(), |it| {
        format!(
            ", and between {} and {} if every score lies in its interval among the table",
            percent(it.low),
            percent(it.high)
        )
    });
    let text = format!(
        "If both choose their mixes without knowing the other's, neither can do better than this; White then scores {}{bounds}.",
        percent(*value)
    );
    let caption = format!("{}: how often each side chooses a mix", grid.variant);
    format!("<p>{}</p>\n{}", escape(&text), table(&caption, &["mix", "White", "Black"], &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_grows_with_the_distance_from_one_half() {
        assert_eq!([0.5, 0.75, 1.0, 0.25].map(ink), [0.0, MOST_INK, MOST_INK, MOST_INK]);
        assert!(ink(0.55) > 0.0 && ink(0.55) < ink(0.6));
    }
}
