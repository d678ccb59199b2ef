//! `docs/how-to/troubleshooting.md` has every error: its message, and its name in Rust, C and Go.

use super::{none, read};

const PAGE: &str = "docs/how-to/troubleshooting.md";

/// What stands between two texts, each time.
fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| Some(rest.split_once(after)?.0)).collect()
}

/// A message as the page has it: what differs by version stands for itself by three dots.
fn is_said(page: &str, message: &str) -> bool {
    let whole = format!("| {message} |");
    let (start, _) = message.split_once(": ").unwrap_or((message, ""));
    let shorter = format!("| {start}: ... |");
    let (start, _) = message.split_once(" (").unwrap_or((message, ""));
    let bracketed = format!("| {start} (...) |");
    [whole, shorter, bracketed].iter().any(|form| page.contains(form))
}

fn messages_missing(page: &str) -> Vec<String> {
    let code = [read("src/error.rs"), read("src/ffi/status.rs")].join("\n");
    let go = [read("go/errors.go"), read("go/internal/format/footer.go")].join("\n");
    let mut messages: Vec<&str> = between(&code, " c\"", "\"").into_iter().collect();
    messages.extend(between(&go, "errors.New(\"bloomline: ", "\")"));
    assert!(messages.len() > 50, "{}", messages.len());
    messages.retain(|message| !is_said(page, message));
    messages.into_iter().map(String::from).collect()
}

fn names_missing(page: &str) -> Vec<String> {
    let header = read("include/bloomline.h");
    let mut names: Vec<String> =
        between(&header, "#define BLOOMLINE_ERR_", " ").into_iter().map(String::from).collect();
    let errors = read("src/error.rs");
    let variants = between(&errors, "pub enum Error {", "\n}\n")[0];
    let variant = |line: &str| {
        let name = line.strip_prefix("    ")?;
        let is_one = name.starts_with(|c: char| c.is_ascii_uppercase());
        is_one.then(|| super::words(name).next().unwrap().to_string())
    };
    names.extend(variants.lines().filter_map(variant));
    names.extend(between(&read("go/errors.go"), "\n\tErr", " ").iter().map(|n| format!("Err{n}")));
    assert!(names.len() > 75, "{}", names.len());
    names.retain(|name| !page.contains(&format!("`{name}`")));
    names
}

#[test]
fn every_error_is_explained() {
    let page = read(PAGE);
    none("messages that the page lacks", messages_missing(&page));
    none("names that the page lacks", names_missing(&page));
}

#[test]
fn a_missing_error_is_found() {
    let page = read(PAGE);
    let without = page.replace("| the filter is full |", "| the filter is filled |");
    assert_eq!(messages_missing(&without), ["the filter is full"; 2]);
    let without = page.replace("`ErrFull`", "");
    assert_eq!(names_missing(&without), ["ErrFull"]);
}

/// A name stands in the row of its message.
#[test]
fn names_stand_by_their_messages() {
    let (page, status, errors) = (read(PAGE), read("src/ffi/status.rs"), read("src/error.rs"));
    let name = |text: &str| super::words(text).next().unwrap_or_default().to_string();
    let texts: Vec<(String, &str)> = errors
        .split("fn text(")
        .nth(1)
        .unwrap()
        .split(" Error::")
        .filter_map(|arm| Some((name(arm), *between(arm, " c\"", "\"").first()?)))
        .collect();
    let mut seen = 0;
    for line in status.split("BLOOMLINE_ERR_").skip(1) {
        let line = line.split('\n').next().unwrap();
        let message = match (line.split_once(" = "), line.split_once(" => c\"")) {
            (_, Some((_, text))) => text.split('"').next().unwrap(),
            (Some((_, row)), _) => {
                let Some((_, text)) = texts.iter().find(|text| text.0 == name(row)) else {
                    continue;
                };
                *text
            }
            _ => continue,
        };
        let start = message.split([':', '(']).next().unwrap().trim();
        let row = page.lines().find(|line| line.starts_with(&format!("| {start}")));
        let row = row.unwrap_or_else(|| panic!("no row begins with {start}"));
        let name = name(line);
        assert!(
            row.contains(&format!("`{name}`")),
            "{name} is not in the row of its message: {row}"
        );
        seen += 1;
    }
    assert!(seen >= 32, "{seen}");
}
