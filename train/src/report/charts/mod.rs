//! Charts: drawn by plotters as SVG, then coloured by the page; each with its numbers as a table.

mod draw;
mod unit;

use std::collections::BTreeMap;

use super::html::{details, escape, table};
use draw::Ink;

pub(super) use unit::Unit;

/// Points of a line that are drawn: more are drawn as the means of neighbours.
const MOST_POINTS: usize = 240;
/// Rows of the table under a chart: of more, evenly spaced ones are shown.
const MOST_ROWS: usize = 40;

/// One axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What it shows, with its unit.
    pub(super) name: &'static str,
    /// How its numbers are written.
    pub(super) unit: Unit,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Where on the horizontal axis.
    pub(super) x: f64,
    /// The value.
    pub(super) y: f64,
    /// Its interval, where it has one; an end that is `None` has no bound.
    pub(super) interval: Option<(Option<f64>, Option<f64>)>,
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its name in the legend.
    pub(super) name: String,
    /// Its points, ascending in x; none makes no line.
    pub(super) points: Vec<Point>,
}

/// A chart before it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    /// The id of its element, unlike any other's: letters, digits and hyphens.
    pub(super) id: String,
    /// What it shows.
    pub(super) title: String,
    /// The horizontal axis.
    pub(super) x: Axis,
    /// The vertical axis.
    pub(super) y: Axis,
    /// Its lines.
    pub(super) lines: Vec<Line>,
    /// Marks along the top, such as minutes over steps.
    pub(super) marks: Vec<(f64, String)>,
    /// Horizontal lines with their names.
    pub(super) levels: Vec<(String, f64)>,
}

impl Point {
    /// A point without an interval.
    pub(super) const fn new(x: f64, y: f64) -> Self {
        Point { x, y, interval: None }
    }
}

impl Line {
    /// A line through plain points.
    pub(super) fn through(name: &str, points: &[(f64, f64)]) -> Self {
        let points = points.iter().map(|&(x, y)| Point::new(x, y)).collect();
        Line { name: name.to_owned(), points }
    }

    /// At most [`MOST_POINTS`] points: means of neighbours where there are more.
    fn thinned(&self) -> Vec<Point> {
        let size = self.points.len().div_ceil(MOST_POINTS).max(1);
        if size == 1 {
            return self.points.clone();
        }
        let mean = |points: &[Point], of: fn(&Point) -> f64| {
            points.iter().map(of).sum::<f64>() / points.len() as f64
        };
        self.points
            .chunks(size)
            .map(|chunk| Point::new(mean(chunk, |point| point.x), mean(chunk, |point| point.y)))
            .collect()
    }
}

impl Chart {
    /// The chart as a figure: title, legend, drawing, and its numbers as a table to open. `None` where no line has a point.
    ///
    /// # Errors
    /// plotters cannot draw it.
    pub(super) fn figure(&self) -> anyhow::Result<Option<String>> {
        if self.lines.iter().all(|line| line.points.is_empty()) {
            return Ok(None);
        }
        let mut out = format!("<figure id=\"{}\">\n", self.id);
        out += &format!("<figcaption>{}</figcaption>\n", escape(&self.title));
        out += &self.legend();
        out += &self.svg()?;
        let head: Vec<&str> =
            [self.x.name].into_iter().chain(self.lines().map(|(_, line)| &*line.name)).collect();
        out += &details("The numbers", &table(&self.title, &head, &self.rows()));
        Ok(Some(out + "</figure>\n"))
    }

    /// The lines that have points, with their inks.
    fn lines(&self) -> impl Iterator<Item = (Ink, &Line)> {
        let drawn = self.lines.iter().filter(|line| !line.points.is_empty());
        drawn.enumerate().map(|(index, line)| (Ink::Line(index), line))
    }

    /// Names of the lines; none where there is but one, which the title names.
    fn legend(&self) -> String {
        if self.lines().count() < 2 && self.levels.is_empty() {
            return String::new();
        }
        let mut out = "<ul class=\"legend\">".to_owned();
        for (ink, line) in self.lines() {
            out += &format!(
                "<li><span class=\"swatch {}\"></span>{}</li>",
                ink.class(),
                escape(&line.name)
            );
        }
        if !self.levels.is_empty() {
            out += "<li><span class=\"swatch level\"></span>players that do not learn</li>";
        }
        out + "</ul>\n"
    }

    fn rows(&self) -> Vec<Vec<String>> {
        // Bits of floats that are not negative sort as the numbers do.
        let mut rows: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let columns = self.lines().count();
        for (column, (_, line)) in self.lines().enumerate() {
            for point in &line.points {
                let row = rows
                    .entry(point.x.max(0.0).to_bits())
                    .or_insert_with(|| vec![String::new(); columns]);
                row[column] = self.value_text(point);
            }
        }
        let every = rows.len().div_ceil(MOST_ROWS).max(1);
        let last = rows.len().saturating_sub(1);
        rows.into_iter()
            .enumerate()
            .filter(|(index, _)| (last - index).is_multiple_of(every))
            .map(|(_, (x, cells))| {
                [self.x.unit.text(f64::from_bits(x))].into_iter().chain(cells).collect()
            })
            .collect()
    }

    fn value_text(&self, point: &Point) -> String {
        let value = self.y.unit.text(point.y);
        let Some((low, high)) = point.interval else { return value };
        let end = |end: Option<f64>| end.map_or("no bound".to_owned(), |end| self.y.unit.text(end));
        format!("{value} ({} to {})", end(low), end(high))
    }

    /// What the drawing says, for those who cannot see it.
    fn description(&self) -> String {
        let mut parts = Vec::new();
        for (_, line) in self.lines() {
            if let (Some(first), Some(last)) = (line.points.first(), line.points.last()) {
                parts.push(format!(
                    "{}: {} at {} {}, {} at {}",
                    line.name,
                    self.value_text(first),
                    self.x.name,
                    self.x.unit.text(first.x),
                    self.value_text(last),
                    self.x.unit.text(last.x)
                ));
            }
        }
        let levels =
            self.levels.iter().map(|(name, y)| format!("{name}: {}", self.y.unit.text(*y)));
        parts.extend(levels);
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> Chart {
        Chart {
            id: "a-chart".to_owned(),
            title: "Loss & <gain>".to_owned(),
            x: Axis { name: "steps", unit: Unit::Count },
            y: Axis { name: "loss", unit: Unit::Number },
            lines,
            marks: vec![(60.0, "2 min".to_owned())],
            levels: Vec::new(),
        }
    }

    #[test]
    fn every_ink_is_a_class_and_no_colour_is_fixed() {
        let two = [
            Line::through("train", &[(50.0, 2.0), (100.0, 1.0)]),
            Line::through("held out <b>", &[(100.0, 1.5)]),
        ];
        let figure = chart(two.into()).figure().expect("draws").expect("a figure");
        for part in [
            "class=\"s-line0\"",
            "class=\"f-line1\"",
            "class=\"f-text\"",
            "class=\"s-grid\"",
            "viewBox=\"0 0 420 250\"",
            "Loss &amp; &lt;gain&gt;",
            "held out &lt;b&gt;",
            "2 min",
            "<desc id=\"a-chart-text\">train: 2 at steps 50, 1 at 100; ",
            "<tr><th scope=\"row\">100</th><td>1</td><td>1.5</td></tr>",
        ] {
            assert!(figure.contains(part), "{part} in {figure}");
        }
        for part in ["#0102", "#000000", "#FFFFFF", "http", "<b>", " width=\"420\""] {
            assert!(!figure.contains(part), "{part} in {figure}");
        }
        assert_eq!(figure.matches("<svg").count(), figure.matches("</svg>").count());
        assert_eq!(chart(vec![Line::through("train", &[])]).figure().expect("draws"), None);
    }

    #[test]
    fn long_lines_are_thinned_to_means() {
        let points: Vec<(f64, f64)> = (0..1000).map(|x| (f64::from(x), f64::from(x % 2))).collect();
        let thinned = Line::through("a", &points).thinned();
        assert!(thinned.len() <= MOST_POINTS && thinned.len() > MOST_POINTS / 2);
        // Chunks of five: two or three ones in five.
        assert!(thinned.iter().all(|point| (0.4..=0.6).contains(&point.y)));
        let rows = chart(vec![Line::through("a", &points)]).rows();
        assert!(rows.len() <= MOST_ROWS && rows.last().is_some_and(|row| row[0] == "999"));
    }

    #[test]
    fn intervals_without_a_bound_reach_the_edge() {
        let point = Point { x: 1.0, y: 300.0, interval: Some((Some(250.0), None)) };
        let mut chart = chart(vec![Line { name: "run".to_owned(), points: vec![point] }]);
        chart.y.unit = Unit::Elo;
        chart.levels = vec![("greedy".to_owned(), 100.0)];
        let figure = chart.figure().expect("draws").expect("a figure");
        assert!(figure.contains("+300 (+250 to no bound)"), "{figure}");
        assert!(figure.contains("greedy: +100"), "{figure}");
        let (_, (low, high)) = chart.ranges();
        assert!(low < 100.0 && high > 300.0);
    }
}
