//! Pictures as SVG, for light and dark pages: panels of points over logarithmic axes, named beside them.

use std::fmt::Write;

const WIDTH: f64 = 1024.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 380.0;
const LEFT: f64 = 60.0;
/// Room for the names beside a panel.
const NAMES: f64 = 184.0;
const LINE: f64 = 14.0;

/// What all pictures share. Colour 0 is this library's, 8 the limits'.
pub(crate) const STYLE: &str = "
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .head { font-weight: 600; font-size: 12px }
    .soft { fill: #59636e; font-size: 12px }
    .name { font-size: 12px }
    .small { fill: #59636e; font-size: 11px }
    .page { fill: #fff }
    .axis { stroke: #d1d9e0; fill: none }
    .line { fill: none; stroke-width: 2 }
    .thin { fill: none; stroke-width: 1 }
    .limit { fill: none; stroke-width: 1.5; stroke-dasharray: 5 4 }
    .hollow { stroke-width: 2 }
    .ours, .c0 { fill: #0b61c4; stroke: #0b61c4; color: #0b61c4 }
    .other, .c2 { fill: #8a5a00; stroke: #8a5a00 }
    .c1 { fill: #5aa0e6; stroke: #5aa0e6 }
    .c3 { fill: #b02a37; stroke: #b02a37 }
    .c4 { fill: #d9622b; stroke: #d9622b }
    .c5 { fill: #1a7f37; stroke: #1a7f37 }
    .c6 { fill: #8250df; stroke: #8250df }
    .c7 { fill: #bf3989; stroke: #bf3989 }
    .c8 { fill: #59636e; stroke: #59636e }
    .c9 { fill: #8c959f; stroke: #8c959f }
    text[class] { stroke: none }
    path.line, path.thin, path.limit { fill: none }
    circle.hollow { fill: #fff }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .soft, .small { fill: #9198a1 }
      .page, circle.hollow { fill: #0d1117 }
      .axis { stroke: #3d444d }
      .ours, .c0 { fill: #58a6ff; stroke: #58a6ff }
      .other, .c2 { fill: #e3a33c; stroke: #e3a33c }
      .c1 { fill: #a5d0ff; stroke: #a5d0ff }
      .c3 { fill: #ff7b72; stroke: #ff7b72 }
      .c4 { fill: #ffa657; stroke: #ffa657 }
      .c5 { fill: #3fb950; stroke: #3fb950 }
      .c6 { fill: #bc8cff; stroke: #bc8cff }
      .c7 { fill: #f778ba; stroke: #f778ba }
      .c8 { fill: #9198a1; stroke: #9198a1 }
      .c9 { fill: #6e7681; stroke: #6e7681 }
      text[class] { stroke: none }
      circle.hollow { fill: #0d1117 }
    }
";

/// How points are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A line with dots.
    Line,
    /// A dashed line.
    Limit,
    /// A thin line.
    Thin,
    /// Dots.
    Full,
    /// A dot and a circle that belong together; or only the circle.
    Pair,
}

pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) colour: usize,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) mark: Mark,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) series: Vec<Series>,
}

/// What an axis shows, and its ticks.
pub(crate) type Axis = (&'static str, Vec<(f64, String)>);

pub(crate) struct Picture {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Whether x is; y is logarithmic.
    pub(crate) linear: bool,
    pub(crate) panels: Vec<Panel>,
    /// The machine, the versions and the command.
    pub(crate) note: Vec<String>,
}

/// From values to places.
struct Scale {
    linear: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, linear: bool, from: f64, to: f64) -> Scale {
        let low = values.clone().fold(f64::INFINITY, f64::min) / 1.1;
        let high = values.fold(0.0, f64::max) * 1.1;
        Scale { linear, low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let part = match self.linear {
            true => (value - self.low) / (self.high - self.low),
            false => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + (self.to - self.from) * part
    }

    fn ticks<'a>(&'a self, axis: &'a Axis) -> impl Iterator<Item = (f64, &'a str)> {
        let inside = |tick: &&(f64, String)| (self.low..=self.high).contains(&tick.0);
        axis.1.iter().filter(inside).map(|(value, name)| (self.at(*value), name.as_str()))
    }
}

impl Picture {
    pub(crate) fn draw(&self) -> String {
        let height = HEIGHT + LINE * self.note.len() as f64;
        let mut svg = begin(WIDTH, height, &self.title);
        text(&mut svg, 12.0, 24.0, "head", &self.title);
        let points =
            || self.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
        let y = Scale::new(points().map(|point| point.1), false, BOTTOM, TOP);
        let each = WIDTH / self.panels.len() as f64;
        for (i, panel) in self.panels.iter().enumerate() {
            let left = each * i as f64 + LEFT;
            let right = each * (i + 1) as f64 - NAMES;
            let x = Scale::new(points().map(|point| point.0), self.linear, left, right);
            let title =
                [self.y.0, &panel.title].join(if panel.title.is_empty() { "" } else { ", " });
            text(&mut svg, left - 48.0, TOP - 16.0, "soft", &title);
            self.axes(&mut svg, &x, &y);
            panel.draw(&mut svg, &x, &y);
        }
        for (i, line) in self.note.iter().enumerate() {
            text(&mut svg, 12.0, BOTTOM + 66.0 + LINE * i as f64, "small", line);
        }
        svg + "</svg>\n"
    }

    fn axes(&self, svg: &mut String, x: &Scale, y: &Scale) {
        for (at, name) in y.ticks(&self.y) {
            let _ =
                writeln!(svg, "<path class=\"axis\" d=\"M{:.1} {at:.1}H{:.1}\"/>", x.from, x.to);
            placed(svg, x.from - 6.0, at + 4.0, "end", "soft", name);
        }
        let mut last = f64::NEG_INFINITY;
        for (at, name) in x.ticks(&self.x) {
            let _ = writeln!(svg, "<path class=\"axis\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/>");
            if at - last > 30.0 {
                placed(svg, at, BOTTOM + 18.0, "middle", "soft", name);
                last = at;
            }
        }
        placed(svg, (x.from + x.to) / 2.0, BOTTOM + 38.0, "middle", "soft", self.x.0);
    }
}

impl Panel {
    fn draw(&self, svg: &mut String, x: &Scale, y: &Scale) {
        // Each name stands beside the last point of its series, and below the name before.
        let mut names = Vec::new();
        for series in &self.series {
            let places: Vec<(f64, f64)> =
                series.points.iter().map(|&(a, b)| (x.at(a), y.at(b))).collect();
            let Some(&(_, last)) = places.last() else { continue };
            let colour = format!("c{}", series.colour);
            let class = match series.mark {
                Mark::Line => "line",
                Mark::Limit => "limit",
                Mark::Thin | Mark::Full | Mark::Pair => "thin",
            };
            if series.mark != Mark::Full {
                let path: Vec<String> =
                    places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let path = path.join("L");
                let _ = writeln!(svg, "<path class=\"{colour} {class}\" d=\"M{path}\"/>");
            }
            for (i, (x, y)) in places.iter().enumerate() {
                let (class, radius) = match series.mark {
                    Mark::Line => ("", 2.5),
                    Mark::Pair if i + 1 == places.len() => ("hollow", 4.0),
                    Mark::Full | Mark::Pair => ("", 4.0),
                    Mark::Limit | Mark::Thin => break,
                };
                let _ = writeln!(
                    svg,
                    "<circle class=\"{colour} {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"
                );
            }
            names.push((last, places.last().map_or(0.0, |place| place.0), series));
        }
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = TOP - LINE;
        let overflow = (names.len() as f64 * LINE) - (BOTTOM - TOP);
        for (i, (at, from, series)) in names.iter().enumerate() {
            // So low that there is room for the rest.
            let rest = (names.len() - i) as f64 * LINE;
            let place = at.max(below + LINE).min(BOTTOM + LINE - rest + overflow.max(0.0));
            below = place;
            let _ = writeln!(
                svg,
                "<path class=\"axis\" d=\"M{:.1} {at:.1}L{:.1} {:.1}\"/>",
                from + 4.0,
                x.to + 12.0,
                place
            );
            let class = format!("name c{}", series.colour);
            text(svg, x.to + 15.0, place + 4.0, &class, &series.name);
        }
    }
}

/// The head of a picture.
pub(crate) fn begin(width: f64, height: f64, title: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    )
}

pub(crate) fn text(svg: &mut String, x: f64, y: f64, class: &str, text: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(svg, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
}

/// The same, that ends at the place ("end") or has it in its middle ("middle").
pub(crate) fn placed(svg: &mut String, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        escaped(text)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
