//! How wide text in a picture is at most: whoever looks at it has fonts of their own.

/// Widths of the characters from the space to the tilde, in hundredths of the font's size: of each the
/// widest in DejaVu Sans, Liberation Sans (as wide as Arial) and Open Sans.
const REGULAR: [u16; 95] = [
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 56, 84, 32, 37, 32, 37, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 91, 76,
    79, 67, 79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 37, 40, 84, 56, 58, 62, 64, 55, 64, 62, 36,
    64, 64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 56, 64, 84,
];

/// The same of their bold faces.
const BOLD: [u16; 95] = [
    35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 55, 84, 38, 42, 38, 42, 70, 70, 70, 70, 70, 70, 70,
    70, 70, 70, 40, 40, 84, 84, 84, 62, 100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 56, 78, 64, 100,
    84, 86, 74, 86, 78, 73, 69, 82, 78, 111, 78, 73, 73, 46, 42, 46, 84, 56, 61, 68, 72, 60, 72,
    68, 44, 72, 72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72,
    56, 72, 84,
];

/// The most pixels that a text of a class takes. The sizes are those of `chart::style`.
pub(crate) fn width(text: &str, class: &str) -> f64 {
    let (size, widths) = match class.split(' ').next().unwrap_or_default() {
        "head" => (12.0, &BOLD),
        "soft" | "name" => (12.0, &REGULAR),
        "small" => (11.0, &REGULAR),
        _ => (13.0, &REGULAR),
    };
    let of = |letter: char| {
        let place = (letter as usize).checked_sub(' ' as usize);
        // Others are as wide as the size, which is more than most.
        place.and_then(|place| widths.get(place)).map_or(100, |&width| width)
    };
    text.chars().map(|letter| f64::from(of(letter))).sum::<f64>() * size / 100.0
}
