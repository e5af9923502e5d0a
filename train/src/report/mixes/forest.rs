//! The forest plot: White's score by each rules string with its intervals.

use std::fmt::Write;

use gipf_selfplay::study::{Interval, WITHIN};

use crate::mixes::MixTable;
use crate::report::html::escape;

/// Width of the drawing in its own units, and of the columns for names and scores.
const WIDTH: f64 = 900.0;
const NAMES: f64 = 230.0;
const SCORES: f64 = 120.0;
/// Height of a line with one table, and what each further table adds.
const LINE: f64 = 22.0;
const MORE: f64 = 14.0;
const TOP: f64 = 26.0;
/// Letters of a rules string that fit.
const LETTERS: usize = 34;
/// Scores at least this far on either side of one half are in the picture.
const LEAST: f64 = 0.1;

/// The plot of one table or of two of one space, in the order of the first one's ranking; a line of text where nothing was played.
pub(super) fn figure(tables: &[MixTable]) -> String {
    let Some(first) = tables.first() else { return String::new() };
    let order: Vec<usize> = first
        .ranking
        .iter()
        .copied()
        .filter(|&index| lines(tables, index).any(|line| line.games > 0))
        .collect();
    if order.is_empty() {
        return "<p class=\"missing\">No round is whole yet.</p>\n".to_owned();
    }
    let scale = Scale::of(tables, &order);
    let row = LINE + MORE * (tables.len() as f64 - 1.0);
    let height = TOP + row * order.len() as f64 + 8.0;
    let mut out = legend(tables);
    // Writing to a text cannot fail.
    let _ = write!(
        out,
        "<svg class=\"forest\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"forest-title\">\n\
         <title id=\"forest-title\">White's score by {} rules strings with intervals; the numbers are in the table below.</title>\n",
        order.len()
    );
    out += &scale.ground(height);
    for (place, &index) in order.iter().enumerate() {
        let top = TOP + row * place as f64;
        let doubt = lines(tables, index).any(|line| line.trusted == Some(false));
        let name = lines(tables, index).next().map_or("", |line| &line.rules);
        let _ = write!(
            out,
            "<g{}><title>{}</title><text x=\"0\" y=\"{:.1}\">{}</text>",
            if doubt { " class=\"doubt\"" } else { "" },
            escape(name),
            top + 0.5 * row + 4.0,
            escape(&shortened(name))
        );
        for (number, line) in lines(tables, index).enumerate() {
            let y = top + 0.5 * LINE + MORE * number as f64;
            let ink = format!("line{number}");
            for (class, Interval { low, high }) in
                [("among", line.bounds), ("alone", line.interval)]
            {
                let _ = write!(
                    out,
                    "<line class=\"{class} s-{ink}\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                    scale.x(low),
                    scale.x(high)
                );
            }
            let _ = write!(
                out,
                "<circle class=\"f-{ink}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\"/><text class=\"score\" x=\"{WIDTH}\" y=\"{:.1}\">{:.1}%, {}</text>",
                scale.x(line.white),
                y + 4.0,
                100.0 * line.white,
                line.verdict
            );
        }
        out += "</g>\n";
    }
    out + "</svg>\n"
}

fn lines(tables: &[MixTable], index: usize) -> impl Iterator<Item = &crate::mixes::MixLine> {
    tables.iter().filter_map(move |table| table.lines.get(index))
}

fn legend(tables: &[MixTable]) -> String {
    if tables.len() < 2 {
        return String::new();
    }
    let item = |(number, table): (usize, &MixTable)| {
        let name = format!("{}, {}", table.setup.player, table.setup.strength);
        format!("<li><span class=\"swatch line{number}\"></span>{}</li>", escape(&name))
    };
    let items: String = tables.iter().enumerate().map(item).collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// From which score to which the drawing goes, one half in the middle.
struct Scale {
    reach: f64,
}

impl Scale {
    /// Far enough for every score and every interval of its own.
    fn of(tables: &[MixTable], order: &[usize]) -> Scale {
        let far = |it: Interval| (it.high - 0.5).max(0.5 - it.low);
        let all = order.iter().flat_map(|&index| lines(tables, index));
        let reach = all.map(|line| far(line.interval)).fold(LEAST, f64::max);
        Scale { reach: (reach * 1.05).min(0.5) }
    }

    /// Where a score lies; those beyond the ends lie on them.
    fn x(&self, score: f64) -> f64 {
        let share = ((score - 0.5) / self.reach).clamp(-1.0, 1.0);
        NAMES + (WIDTH - NAMES - SCORES) * 0.5 * (1.0 + share)
    }

    /// The band around one half, lines of the grid and their scores.
    fn ground(&self, height: f64) -> String {
        let (left, right) = (self.x(0.5 - WITHIN), self.x(0.5 + WITHIN));
        let mut out = format!(
            "<rect class=\"band\" x=\"{left:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.0}\"/>\n",
            right - left,
            height - TOP
        );
        let step = if self.reach > 0.3 { 10 } else { 5 };
        for percent in (0..=100).step_by(step) {
            let score = f64::from(percent) / 100.0;
            if (score - 0.5).abs() > self.reach {
                continue;
            }
            let class = if percent == 50 { "half" } else { "grid" };
            let x = self.x(score);
            out += &format!(
                "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{height:.0}\"/><text class=\"scale\" x=\"{x:.1}\" y=\"14\">{percent}%</text>\n"
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_lie_where_they_belong() {
        let scale = Scale { reach: 0.2 };
        let middle = NAMES + (WIDTH - NAMES - SCORES) / 2.0;
        assert_eq!(scale.x(0.5), middle);
        assert_eq!((scale.x(0.3), scale.x(0.1)), (NAMES, NAMES));
        assert!((scale.x(0.7) - (WIDTH - SCORES)).abs() < 1e-9);
        assert_eq!(scale.x(1.0), WIDTH - SCORES);
        let ground = scale.ground(100.0);
        assert!(ground.contains(">30%<") && ground.contains(">50%<") && !ground.contains(">25%<"));
        assert_eq!(shortened("standard+T6"), "standard+T6");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), LETTERS);
    }
}
