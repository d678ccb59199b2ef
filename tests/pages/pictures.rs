//! Pictures: no text is cut or lies on another with any usual font, text and lines stand out from the page, and
//! each picture is there for light and for dark pages.

#[path = "../../lab/src/font.rs"]
mod font;

use super::{files, none, pages, read};
use std::collections::HashSet;

/// The least contrast of text, and of what is drawn, with the page.
const CONTRAST: f64 = 4.5;

fn svgs() -> Vec<String> {
    files().into_iter().filter(|file| file.ends_with(".svg")).collect()
}

/// What stands behind a name and before a quotation mark.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name)
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{name}: {tag}"))
}

/// A text of a picture: from, to, the line it stands on, itself.
type Text = (f64, f64, f64, String);

/// The texts of a picture, with the most room they take.
fn texts(svg: &str) -> Vec<Text> {
    let tags = svg.split("<text").skip(1);
    let texts = tags.map(|rest| {
        let (tag, rest) = rest.split_once('>').unwrap();
        let text = rest.split("</text>").next().unwrap().replace("&lt;", "<").replace("&amp;", "&");
        let (x, y) = (number(tag, "x"), number(tag, "y"));
        let width = font::width(&text, attribute(tag, "class").unwrap_or_default());
        let from = match attribute(tag, "text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        (from, from + width, y, text)
    });
    texts.collect()
}

/// The texts that leave the picture, or lie on others of their line.
fn cut(svg: &str) -> Vec<String> {
    let size: Vec<f64> =
        attribute(svg, "viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let texts = texts(svg);
    assert!(texts.len() > 10, "{}", texts.len());
    let mut wrong = Vec::new();
    for (i, (from, to, y, text)) in texts.iter().enumerate() {
        if *from < 0.0 || *to > size[2] || *y > size[3] - 3.0 {
            wrong.push(format!("{text} leaves the picture: {from:.0} to {to:.0} of {}", size[2]));
        }
        for (other_from, other_to, other_y, other) in &texts[..i] {
            if (y - other_y).abs() < 6.0 && from < other_to && other_from < to {
                wrong.push(format!("{text} lies on {other}"));
            }
        }
    }
    wrong
}

/// The luminance of a colour such as #1f2328, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The colours that do not stand out from the page; its own, and those of the grid, need not.
fn faint(svg: &str) -> Vec<String> {
    let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let colours = style.lines().filter_map(|line| {
        let (class, rest) = line.split_once(" { ")?;
        let colour = rest.split('#').nth(1)?;
        Some((class.trim(), format!("#{}", &colour[..6])))
    });
    let colours: Vec<(&str, String)> = colours.collect();
    let page = &colours.iter().find(|(class, _)| *class == ".page").expect("a page").1;
    assert!(colours.len() > 10, "{colours:?}");
    let shown =
        colours.iter().filter(|(class, _)| ![".page", ".axis", "circle.hollow"].contains(class));
    let faint = shown.filter(|(_, colour)| contrast(colour, page) < CONTRAST);
    faint.map(|(class, colour)| format!("{class}: {:.1}", contrast(colour, page))).collect()
}

#[test]
fn text_is_whole_and_stands_out() {
    let mut wrong = Vec::new();
    for file in svgs() {
        let svg = read(&file);
        let found = cut(&svg).into_iter().chain(faint(&svg));
        wrong.extend(found.map(|what| format!("{file}: {what}")));
    }
    none("pictures that cannot be read", wrong);
}

/// The picture without its colours.
fn drawn(svg: &str) -> (&str, &str) {
    let (head, rest) = svg.split_once("<style>").unwrap();
    (head, rest.split_once("</style>").unwrap().1)
}

#[test]
fn each_is_there_for_both_themes_and_shown() {
    let svgs = svgs();
    assert!(svgs.len() >= 10, "{svgs:?}");
    for light in svgs.iter().filter(|file| !file.ends_with("-dark.svg")) {
        let (light, dark) = (read(light), read(light.replace(".svg", "-dark.svg")));
        assert!(
            drawn(&light) == drawn(&dark) && light != dark,
            "the themes differ in more than colours"
        );
    }
    let mut shown = HashSet::new();
    for page in pages() {
        let text = read(&page);
        assert!(!text.contains(".svg)"), "{page}: a picture without <picture>");
        for picture in text.split("<picture>").skip(1) {
            let picture = picture.split("</picture>").next().unwrap();
            let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
            let (light, dark) =
                (attribute(picture, "src").unwrap(), attribute(picture, "srcset").unwrap());
            assert!(!attribute(picture, "alt").unwrap().is_empty(), "{page}: {light}");
            for name in [light, dark] {
                let path = format!("{folder}/{name}");
                shown.insert(path.trim_start_matches('/').to_string());
            }
        }
    }
    let known: HashSet<String> = svgs.into_iter().collect();
    assert_eq!(shown, known, "shown, and there");
}

#[test]
fn faults_of_pictures_are_found() {
    let svg = read("docs/benchmarks/speed.svg");
    assert_eq!(cut(&svg), [""; 0]);
    assert!(!cut(&svg.replace(" K<", " kibibytes<")).is_empty());
    assert!(!cut(&svg.replace("fast_multiblock64", "fast_multiblock64_and_more")).is_empty());
    assert_eq!(faint(&svg.replace("#59636e", "#8c959f")).len(), 2);
    assert_eq!(contrast("#000000", "#ffffff").round(), 21.0);
}
