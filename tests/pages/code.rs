//! Programs in the READMEs are those that are compiled and run; those of other pages are run as they stand: `walks`.

use super::read;

/// Pages, a language, the programs that have the page's first blocks of it, and whether they are all of
/// the program.
const PROGRAMS: [(&str, &str, &[&str], bool); 5] = [
    ("README.md", "rust", &["examples/twenty_lines.rs"], true),
    ("go/README.md", "go", &["go/example_test.go"], false),
    (
        "docs/how-to/columns.md",
        "rust",
        &[
            "tests/pages/columns/built.rs",
            "tests/pages/columns/selected.rs",
            "adapters/datafusion/examples/join.rs",
        ],
        false,
    ),
    ("docs/how-to/columns.md", "c", &["examples/c/columns.c"], false),
    ("docs/how-to/columns.md", "go", &["go/selection_example_test.go"], false),
];

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter(move |(is, _)| *is == language).map(|block| block.1)
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
    for (page, language, programs, whole) in PROGRAMS {
        let text = read(page);
        let mut blocks = blocks(&text, language);
        for file in programs {
            let program = read(file);
            let block = blocks.next().unwrap_or_else(|| panic!("{page}: no {language} of {file}"));
            assert!(block.lines().count() >= 4, "{page}: {language} shows too little");
            if let Some(line) = missing(block, &program) {
                panic!("{file} does not have this line of {page}, or not in this order:\n{line}");
            }
            // The first line of the program is a comment about itself.
            let rest = program.split_once('\n').unwrap().1.trim();
            assert!(!whole || rest == block.trim(), "{page} does not show the whole of {file}");
        }
        let more = language == "rust" && blocks.next().is_some();
        assert!(!more, "{page} has more {language} than programs");
    }
}

#[test]
fn wrong_code_is_found() {
    let program = "fn main() {\n    first();\n    second(); // two\n}\n";
    assert_eq!(missing("first();\n\nsecond(); // two\n", program), None);
    assert_eq!(missing("second(); // two\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nsecond();\n", program), Some("second();"));
    let page = "a\n```c\nx\n```\nb\n```go\ny\n```\n```c\nz\n```\n";
    assert!(blocks(page, "c").eq(["x\n", "z\n"]));
    assert!(blocks(page, "go").eq(["y\n"]));
    assert_eq!(blocks(page, "rust").next(), None);
}
