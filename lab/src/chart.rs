//! Pictures as SVG, for light and dark pages: panels of points over logarithmic axes, named beside them.

use crate::font::width;
use std::fmt::Write;

/// With names of up to NAMES. Longer ones make it wider.
const WIDTH: f64 = 1024.0;
const HEIGHT: f64 = 470.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 380.0;
const LEFT: f64 = 60.0;
/// Room for the names beside a panel, and from the panel to where they begin.
const NAMES: f64 = 184.0;
const TO_NAMES: f64 = 15.0;
/// Beside a picture's text.
const MARGIN: f64 = 12.0;
/// Between the names of ticks.
const BETWEEN: f64 = 8.0;
const LINE: f64 = 14.0;

/// A colour on light pages, and on dark ones.
type Colour = (&'static str, [&'static str; 2]);

/// The page, and what is written or drawn on it. Colour 0 is this library's, 8 the limits'.
const PAGE: [&str; 2] = ["#ffffff", "#0d1117"];
const COLOURS: [Colour; 14] = [
    ("text", ["#1f2328", "#f0f6fc"]),
    (".soft, .small", ["#59636e", "#9198a1"]),
    (".ours", ["#0b61c4", "#58a6ff"]),
    (".other", ["#8a5a00", "#e3a33c"]),
    (".c0", ["#0b61c4", "#58a6ff"]),
    (".c1", ["#0e7490", "#a5d0ff"]),
    (".c2", ["#8a5a00", "#e3a33c"]),
    (".c3", ["#b02a37", "#ff7b72"]),
    (".c4", ["#bc4c00", "#ffa657"]),
    (".c5", ["#1a7f37", "#3fb950"]),
    (".c6", ["#8250df", "#bc8cff"]),
    (".c7", ["#bf3989", "#f778ba"]),
    (".c8", ["#59636e", "#9198a1"]),
    (".c9", ["#6e7781", "#7d8590"]),
];
const AXIS: [&str; 2] = ["#d1d9e0", "#3d444d"];

/// What all pictures share, for light pages (0) or dark ones (1). The sizes are those of `font`.
fn style(theme: usize) -> String {
    let (page, axis) = (PAGE[theme], AXIS[theme]);
    let mut style = String::from("text { font: 13px system-ui, sans-serif }\n");
    for (class, colours) in COLOURS {
        let colour = colours[theme];
        let _ = match class.starts_with(".c") || class.starts_with(".o") {
            true => writeln!(style, "{class} {{ fill: {colour}; stroke: {colour} }}"),
            false => writeln!(style, "{class} {{ fill: {colour} }}"),
        };
    }
    let _ = write!(
        style,
        ".head {{ font-weight: 600; font-size: 12px }}
.soft, .name {{ font-size: 12px }}
.small {{ font-size: 11px }}
.page {{ fill: {page} }}
.axis {{ stroke: {axis}; fill: none }}
.line {{ fill: none; stroke-width: 2 }}
.thin {{ fill: none; stroke-width: 1 }}
.limit {{ fill: none; stroke-width: 1.5; stroke-dasharray: 5 4 }}
.hollow {{ stroke-width: 2 }}
text[class] {{ stroke: none }}
path.line, path.thin, path.limit {{ fill: none }}
circle.hollow {{ fill: {page} }}
"
    );
    style
}

/// The picture for dark pages.
pub(crate) fn dark(svg: &str) -> String {
    svg.replace(&style(0), &style(1))
}

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
        let count = self.panels.len() as f64;
        let series = || self.panels.iter().flat_map(|panel| &panel.series);
        let longest = series().map(|series| width(&series.name, "name")).fold(0.0, f64::max);
        let names = NAMES.max((TO_NAMES + longest + MARGIN).ceil());
        let each = WIDTH / count - NAMES + names;
        let note: Vec<String> =
            self.note.iter().flat_map(|line| wrapped(line, each * count - 2.0 * MARGIN)).collect();
        let height = HEIGHT + LINE * note.len() as f64;
        let mut svg = begin(each * count, height, &self.title);
        text(&mut svg, MARGIN, 24.0, "head", &self.title);
        let points = || series().flat_map(|series| &series.points);
        let y = Scale::new(points().map(|point| point.1), false, BOTTOM, TOP);
        for (i, panel) in self.panels.iter().enumerate() {
            let left = each * i as f64 + LEFT;
            let right = each * (i + 1) as f64 - names;
            let x = Scale::new(points().map(|point| point.0), self.linear, left, right);
            let title =
                [self.y.0, &panel.title].join(if panel.title.is_empty() { "" } else { ", " });
            text(&mut svg, left - 48.0, TOP - 16.0, "soft", &title);
            self.axes(&mut svg, &x, &y);
            panel.draw(&mut svg, &x, &y);
        }
        for (i, line) in note.iter().enumerate() {
            text(&mut svg, MARGIN, BOTTOM + 66.0 + LINE * i as f64, "small", line);
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
            let half = width(name, "soft") / 2.0;
            if at - half >= last + BETWEEN {
                placed(svg, at, BOTTOM + 18.0, "middle", "soft", name);
                last = at + half;
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
            text(svg, x.to + TO_NAMES, place + 4.0, &class, &series.name);
        }
    }
}

/// The head of a picture.
pub(crate) fn begin(width: f64, height: f64, title: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <style>\n{}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
        style(0)
    )
}

/// A text in lines of at most so many pixels.
fn wrapped(text: &str, most: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is one");
        let longer = if last.is_empty() { word.to_string() } else { format!("{last} {word}") };
        match last.is_empty() || width(&longer, "small") <= most {
            true => *last = longer,
            false => lines.push(word.to_string()),
        }
    }
    lines
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
