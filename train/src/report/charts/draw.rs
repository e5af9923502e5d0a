//! Drawing a chart.
//!
//! plotters writes fixed colours. Each ink of a chart has a colour that stands for it there; in the finished SVG it becomes
//! a class, so that the page's style sheet colours it for light and dark.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Chart, Point, Unit};
use crate::report::html::escape;

/// Size of a chart in its own units; a page scales it, on a phone down to three quarters.
const SIZE: (u32, u32) = (420, 250);
/// Height of letters, as plotters counts it.
const LETTERS: u32 = 15;
/// Lines of one chart that have a colour of their own.
const COLORS: usize = 6;

/// What a stroke or letter of a chart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    Grid,
    Axis,
    Line(usize),
}

impl Ink {
    fn all() -> impl Iterator<Item = Ink> {
        [Ink::Text, Ink::Grid, Ink::Axis].into_iter().chain((0..COLORS).map(Ink::Line))
    }

    /// The class of the page's style sheet that colours it.
    pub(super) fn class(self) -> String {
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

impl Chart {
    /// The drawing, with its title and its description for those who cannot see it.
    pub(super) fn svg(&self) -> anyhow::Result<String> {
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
            let place = label(Ink::Text).pos(Pos::new(HPos::Center, VPos::Bottom));
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
    pub(super) fn ranges(&self) -> ((f64, f64), (f64, f64)) {
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

    #[test]
    fn ranges_are_never_empty() {
        assert_eq!(spread([].into_iter(), 0.1), (0.0, 1.0));
        assert_eq!(spread([2.0, f64::NAN].into_iter(), 0.1), (1.8, 2.2));
        assert_eq!(spread([0.0].into_iter(), 0.1), (-1.0, 1.0));
    }
}
