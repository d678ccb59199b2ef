//! The code that pages show is that of programs, examples and tests, which are compiled and run. Other pages are run
//! as they stand: `walks`.

use super::read;

/// Pages, a language, the programs that have the page's first blocks of it, and whether they are all of
/// the program.
const PROGRAMS: [(&str, &str, &[&str], bool); 17] = [
    ("README.md", "rust", &["examples/twenty_lines.rs"], true),
    ("go/README.md", "go", &["go/example_test.go"], false),
    (
        "docs/how-to/columns.md",
        "rust",
        &[
            "tests/pages/columns/dictionary.rs",
            "tests/pages/columns/built.rs",
            "tests/pages/columns/selected.rs",
            "adapters/datafusion/examples/join.rs",
        ],
        false,
    ),
    ("docs/how-to/columns.md", "c", &["examples/c/columns.c"], false),
    ("docs/how-to/columns.md", "go", &["go/selection_example_test.go"], false),
    ("docs/how-to/durable.md", "rust", &["tests/pages/blocks/durable.rs"; 3], false),
    ("docs/how-to/durable.md", "c", &["examples/c/consumer.c"], false),
    ("docs/how-to/durable.md", "go", &["go/growing_example_test.go"], false),
    ("docs/how-to/own-tables.md", "rust", &["tests/pages/blocks/own_tables.rs"; 3], false),
    (
        "docs/PARQUET.md",
        "rust",
        &["tests/pages/blocks/parquet.rs", "adapters/parquet/examples/prune.rs"],
        false,
    ),
    ("docs/PARQUET.md", "c", &["c-tests/test_parquet.c"], false),
    ("docs/PARQUET.md", "cpp", &["c-tests/test_hpp_parquet.cpp"], false),
    ("docs/ENGINES.md", "cmake", &["docs/tutorials/rocksdb.md"], false),
    ("docs/ENGINES.md", "cpp", &["adapters/tests/test_pages.cc"; 2], false),
    ("docs/ENGINES.md", "c", &["adapters/tests/test_pages.cc"; 3], false),
    (
        "docs/ENGINES.md",
        "go",
        &[
            "go/pebblefilter/example_test.go",
            "go/goleveldbfilter/example_test.go",
            "go/pebblefilter/example_test.go",
        ],
        false,
    ),
    (
        "docs/ENGINES.md",
        "rust",
        &[
            "adapters/slatedb/src/lib.rs",
            "adapters/surrealkv/src/lib.rs",
            "adapters/slatedb/src/lib.rs",
        ],
        false,
    ),
];

/// Pages of which all code is that of a program. (Commands, output and formats are other blocks.)
const ALL_OF: [&str; 4] =
    ["docs/PARQUET.md", "docs/ENGINES.md", "docs/how-to/durable.md", "docs/how-to/own-tables.md"];

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter(move |(is, _)| *is == language).map(|block| block.1)
}

/// The first line of a block that the program lacks, or has only before an earlier line. Spaces at
/// the ends of lines do not count: a program indents. The examples of a crate's documentation are programs, too.
fn missing<'a>(block: &'a str, program: &str) -> Option<&'a str> {
    let mut lines = program.lines().map(|line| line.trim_start_matches("//!").trim());
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
            assert!(block.len() > 40, "{page}: {language} shows too little");
            if let Some(line) = missing(block, &program) {
                panic!("{file} does not have this line of {page}, or not in this order:\n{line}");
            }
            // The first line of the program is a comment about itself.
            let rest = program.split_once('\n').unwrap().1.trim();
            assert!(!whole || rest == block.trim(), "{page} does not show the whole of {file}");
        }
        let more = (language == "rust" || ALL_OF.contains(&page)) && blocks.next().is_some();
        assert!(!more, "{page} has more {language} than programs");
    }
}

/// The languages of a page's blocks that have no row.
fn without_programs<'a>(page: &str, text: &'a str) -> Vec<&'a str> {
    let fences = text.lines().filter_map(|line| line.trim_start().strip_prefix("```")).step_by(2);
    let code = fences.filter(|language| !["sh", "bash", "text"].contains(language));
    let has_row = |language: &str| PROGRAMS.iter().any(|row| row.0 == page && row.1 == language);
    code.filter(|language| !has_row(language)).collect()
}

#[test]
fn all_code_of_some_pages_is_in_programs() {
    for page in ALL_OF {
        assert_eq!(without_programs(page, &read(page)), [""; 0], "{page}");
    }
    let page = "```rust\n```\n  ```go\n  ```\n```text\n```\n";
    assert_eq!(without_programs("docs/PARQUET.md", page), ["go"]);
}

#[test]
fn wrong_code_is_found() {
    let program = "fn main() {\n    first();\n    second(); // two\n}\n";
    assert_eq!(missing("x();\n", "//! ```\n//! x();\n"), None);
    assert_eq!(missing("first();\n\nsecond(); // two\n", program), None);
    assert_eq!(missing("second(); // two\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nfirst();\n", program), Some("first();"));
    assert_eq!(missing("first();\nsecond();\n", program), Some("second();"));
    let page = "a\n```c\nx\n```\nb\n```go\ny\n```\n```c\nz\n```\n";
    assert!(blocks(page, "c").eq(["x\n", "z\n"]));
    assert!(blocks(page, "go").eq(["y\n"]));
    assert_eq!(blocks(page, "rust").next(), None);
}
