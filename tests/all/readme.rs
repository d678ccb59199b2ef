//! The README's lines of code are lines of programs that are compiled and run, and what the pages
//! link to is there.

use std::fs;
use std::path::Path;

/// Each language that the README shows, and the program that has its lines, in their order.
const EXAMPLES: [(&str, &str); 4] = [
    ("rust", "examples/twenty_lines.rs"),
    ("c", "examples/c/twenty_lines.c"),
    ("cpp", "examples/cpp/twenty_lines.cpp"),
    ("go", "go/example_test.go"),
];

const PAGES: [&str; 14] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/CHOOSING.md",
    "docs/RUST.md",
    "docs/DESIGN.md",
    "docs/ENGINES.md",
    "docs/FORMAT.md",
    "docs/PERFORMANCE.md",
    "docs/REDIS.md",
    "docs/SCALING.md",
    "examples/README.md",
    "go/README.md",
    "golden/README.md",
];

/// A README is read to its end if it is short.
const MOST_LINES: usize = 150;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The fenced blocks of a page: language and text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = page.split("```").collect();
    assert!(parts.len() % 2 == 1, "a fence is not closed");
    parts.iter().skip(1).step_by(2).map(|part| part.split_once('\n').unwrap()).collect()
}

/// The first line of a block that the program lacks, or has only before an earlier line. Spaces at
/// the ends of lines do not count: a program indents.
fn missing<'a>(block: &'a str, program: &str) -> Option<&'a str> {
    let mut lines = program.lines().map(str::trim);
    let wanted = block.lines().map(str::trim).filter(|line| !line.is_empty());
    wanted.into_iter().find(|wanted| !lines.any(|line| line == *wanted))
}

#[test]
fn code_is_in_the_examples() {
    let readme = read("README.md");
    let blocks = blocks(&readme);
    let shown: Vec<&str> = blocks.iter().map(|(language, _)| *language).collect();
    assert_eq!(shown, EXAMPLES.map(|(language, _)| language), "one block for each language");
    for ((language, block), (_, file)) in blocks.iter().zip(EXAMPLES) {
        assert!(block.lines().count() >= 4, "the block of {language} shows too little");
        assert!(readme.contains(&format!("]({file})")), "the README does not link to {file}");
        if let Some(line) = missing(block, &read(file)) {
            panic!("{file} does not have this line of the README, or not in this order:\n{line}");
        }
    }
}

/// The comparison above finds what it is for.
#[test]
fn wrong_code_is_found() {
    let program = "fn main() {\n    first();\n    second(); // two\n}\n";
    assert_eq!(missing("first();\n\nsecond(); // two\n", program), None);
    assert_eq!(missing("second(); // two\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nsecond();\n", program), Some("second();"));
    assert_eq!(blocks("a\n```c\nx\n```\nb\n```go\ny\n```\n"), [("c", "x\n"), ("go", "y\n")]);
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines < MOST_LINES, "README.md has {lines} lines");
}

/// The links of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap())
}

/// Every file or folder that a page links to is there.
#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut dead = Vec::new();
    for page in PAGES {
        let folder = root.join(page).parent().unwrap().to_path_buf();
        for link in links(&read(page)) {
            let file = link.split('#').next().unwrap();
            let elsewhere = file.is_empty() || file.contains("://");
            if !elsewhere && !folder.join(file).exists() {
                dead.push(format!("{page}: {file}"));
            }
        }
    }
    assert!(dead.is_empty(), "links to what is not there: {dead:#?}");
}

/// What a heading is called in a link: lower case, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Every heading that a page links to is there.
#[test]
fn links_to_headings_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for page in PAGES {
        let folder = root.join(page).parent().unwrap().to_path_buf();
        let text = read(page);
        for link in links(&text).filter(|link| !link.contains("://")) {
            let Some((file, wanted)) = link.split_once('#') else { continue };
            let target = if file.is_empty() { root.join(page) } else { folder.join(file) };
            let target = fs::read_to_string(target).unwrap();
            let headings = target.lines().filter(|line| line.starts_with('#'));
            let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#')));
            assert!(anchors.any(|anchor| anchor == wanted), "{page} links to {link}");
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} links to headings: the test sees none");
}
