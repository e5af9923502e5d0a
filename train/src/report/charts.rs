//! Charts: drawn by plotters as SVG, then coloured by the page.
//!
//! plotters writes fixed colours. Each ink of a chart has a colour that stands for it there; in the finished SVG it becomes
//! a class, so that the page's style sheet colours it for light and dark.

use std::collections::BTreeMap;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::html::{details, escape, grouped, table};

/// Size of a chart in its own units; a page scales it, on a phone down to three quarters.
const SIZE: (u32, u32) = (420, 250);
/// Height of letters, as plotters counts it.
const LETTERS: u32 = 15;
/// Points of a line that are drawn: more are drawn as the means of neighbours.
const MOST_POINTS: usize = 240;
/// Rows of the table under a chart: of more, evenly spaced ones are shown.
const MOST_ROWS: usize = 40;
/// Lines of one chart that have a colour of their own.
const COLORS: usize = 6;

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Whole things: steps, games, plays.
    Count,
    /// A number as it is.
    Number,
    /// A share, 0 to 1, shown in per cent.
    Share,
    /// Elo points.
    Elo,
}

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

/// What a stroke or letter of a chart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ink {
    Text,
    Grid,
    Axis,
    Line(usize),
}

impl Ink {
    fn all() -> impl Iterator<Item = Ink> {
        [Ink::Text, Ink::Grid, Ink::Axis].into_iter().chain((0..COLORS).map(Ink::Line))
    }

    fn class(self) -> String {
        match self {
            Ink::Text => "text".to_owned(),
            Ink::Grid => "grid".to_owned(),
            Ink::Axis => "axis".to_owned(),
            Ink::Line(index) => format!("line{}", index % COLORS),
        }
    }

    /// The colour that stands for the ink until the SVG is finished.
    fn color(self) -> RGBColor {
        RGBColor(
            1,
            2,
            match self {
                Ink::Text => 0,
                Ink::Grid => 1,
                Ink::Axis => 2,
                Ink::Line(index) => 3 + (index % COLORS) as u8,
            },
        )
    }
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

impl Unit {
    /// A number as it stands in tables and descriptions.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Unit::Count if value.abs() >= 1000.0 => {
                let sign = if value < 0.0 { "-" } else { "" };
                format!("{sign}{}", grouped(value.abs().round() as u64))
            }
            Unit::Count => plain(value, 1),
            Unit::Number => plain(value, if value.abs() < 0.01 { 6 } else { 3 }),
            Unit::Share => format!("{:.1}%", 100.0 * value),
            Unit::Elo => format!("{value:+.0}"),
        }
    }

    /// A number beside an axis on which numbers are `step` apart.
    fn label(self, value: f64, step: f64) -> String {
        match self {
            Unit::Count if value.abs() >= 1e6 => format!("{}M", plain(value / 1e6, 2)),
            Unit::Count if value.abs() >= 1e4 => format!("{}k", plain(value / 1e3, 1)),
            Unit::Share => format!("{}%", plain(100.0 * value, decimals(100.0 * step))),
            Unit::Elo => plain(value, 0),
            _ => plain(value, decimals(step)),
        }
    }
}

/// Digits behind the point that tell numbers `step` apart from each other.
fn decimals(step: f64) -> usize {
    if step > 0.0 { (-step.log10().floor()).clamp(0.0, 8.0) as usize } else { 0 }
}

/// A number with so many digits behind the point, without zeros at its end.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
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

    fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            self.draw(&area).map_err(|error| anyhow::anyhow!("chart '{}': {error}", self.title))?;
        }
        for ink in Ink::all() {
            let RGBColor(r, g, b) = ink.color();
            for (attribute, kind) in [("fill", "f"), ("stroke", "s")] {
                let stand_in = format!("{attribute}=\"#{r:02X}{g:02X}{b:02X}\"");
                svg = svg.replace(&stand_in, &format!("class=\"{kind}-{}\"", ink.class()));
            }
        }
        let drawing = svg.find('>').map_or("", |end| &svg[end + 1..]);
        let (id, (width, height)) = (&self.id, SIZE);
        Ok(format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-text\">{}</desc>{drawing}",
            escape(&self.title),
            escape(&self.description())
        ))
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let ((left, right), (bottom, top)) = self.ranges();
        let label = |ink: Ink| ("sans-serif", LETTERS).into_font().color(&ink.color());
        let top_margin = if self.marks.is_empty() { 8 } else { 24 };
        let mut chart = ChartBuilder::on(area)
            .margin_top(top_margin)
            .margin_right(14)
            .margin_left(4)
            .margin_bottom(2)
            .x_label_area_size(38)
            .y_label_area_size(50)
            .build_cartesian_2d(left..right, bottom..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(5)
            .y_labels(5)
            .x_desc(self.x.name)
            .x_label_formatter(&|x| self.x.unit.label(*x, (right - left) / 5.0))
            .y_label_formatter(&|y| self.y.unit.label(*y, (top - bottom) / 5.0))
            .axis_style(Ink::Axis.color())
            .bold_line_style(Ink::Grid.color())
            .light_line_style(TRANSPARENT)
            .label_style(label(Ink::Text))
            .axis_desc_style(label(Ink::Text))
            .draw()?;
        for (x, name) in &self.marks {
            let line = PathElement::new([(*x, bottom), (*x, top)], Ink::Grid.color());
            chart.draw_series([line])?;
            let (x, y) = chart.backend_coord(&(*x, top));
            let place = label(Ink::Text).pos(plotters::style::text_anchor::Pos::new(
                plotters::style::text_anchor::HPos::Center,
                plotters::style::text_anchor::VPos::Bottom,
            ));
            area.draw_text(name, &place, (x, y - 3))?;
        }
        for (_, y) in &self.levels {
            let ends = [(left, *y), (right, *y)];
            let style = Ink::Text.color().stroke_width(1);
            chart.draw_series(DashedLineSeries::new(ends, 4, 4, style))?;
        }
        for (ink, line) in self.lines() {
            let (points, style) = (line.thinned(), ink.color().stroke_width(2));
            let path = points.iter().map(|point| (point.x, point.y));
            chart.draw_series(LineSeries::new(path, style))?;
            let bars = points.iter().filter_map(|point| point.interval.map(|ends| (point, ends)));
            chart.draw_series(bars.map(|(point, (low, high))| {
                // An end without a bound goes to the chart's edge.
                let (low, high) = (low.unwrap_or(bottom).max(bottom), high.unwrap_or(top).min(top));
                ErrorBar::new_vertical(point.x, low, point.y, high, ink.color().filled(), 7)
            }))?;
            if let [only] = points[..] {
                chart.draw_series([Circle::new((only.x, only.y), 3, ink.color().filled())])?;
            }
        }
        area.present()
    }

    /// From where to where both axes go.
    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        let points = || self.lines().flat_map(|(_, line)| line.points.iter());
        let ends = |point: &Point| {
            let (low, high) = point.interval.unwrap_or_default();
            [Some(point.y), low, high].into_iter().flatten()
        };
        let ys = points().flat_map(ends).chain(self.levels.iter().map(|(_, y)| *y));
        let x = spread(points().map(|point| point.x), 0.0);
        let (low, high) = spread(ys, 0.06);
        let y = match self.y.unit {
            // Shares keep to their bounds, and what cannot be negative does not go below zero.
            Unit::Share => (low.max(0.0), high.min(1.0)),
            Unit::Count => (low.max(0.0), high),
            Unit::Number | Unit::Elo => (low, high),
        };
        (x, y)
    }
}

/// The least and the greatest number, moved apart by a share of their distance; never the same.
fn spread(numbers: impl Iterator<Item = f64>, share: f64) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers.filter(|number| number.is_finite()) {
        (low, high) = (low.min(number), high.max(number));
    }
    if low > high {
        return (0.0, 1.0);
    }
    let room = (high - low) * share;
    if high - low > 1e-12 * (high.abs() + low.abs()) && high > low {
        (low - room, high + room)
    } else {
        let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        (low - room, high + room)
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

    #[test]
    fn ranges_and_labels() {
        assert_eq!(spread([].into_iter(), 0.1), (0.0, 1.0));
        assert_eq!(spread([2.0, f64::NAN].into_iter(), 0.1), (1.8, 2.2));
        assert_eq!(spread([0.0].into_iter(), 0.1), (-1.0, 1.0));
        assert_eq!(Unit::Count.label(15_000.0, 5_000.0), "15k");
        assert_eq!(Unit::Count.label(1_500_000.0, 500_000.0), "1.5M");
        assert_eq!(Unit::Share.label(0.25, 0.1), "25%");
        assert_eq!(Unit::Number.label(0.0030, 0.0005), "0.003");
        assert_eq!(
            (Unit::Number.text(0.000_3), Unit::Count.text(405_600.0)),
            ("0.0003".into(), "405,600".into())
        );
        assert_eq!((Unit::Elo.text(-12.4), plain(-0.001, 2)), ("-12".to_owned(), "0".to_owned()));
    }
}
