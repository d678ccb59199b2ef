//! Pages whose blocks are run as they stand, by `tests/walk.py`, and the target of make that does it.

use super::{none, pages, read};

const WALKS: [(&str, &str); 9] = [
    ("docs/tutorials/rust.md", "test-rust"),
    ("docs/tutorials/c.md", "test-c"),
    ("docs/tutorials/cpp.md", "test-c"),
    ("docs/tutorials/go.md", "test-go"),
    ("docs/tutorials/rocksdb.md", "test-engines"),
    ("docs/tutorials/redis.md", "test-redis"),
    ("docs/how-to/choose-a-size.md", "test-rust"),
    ("docs/how-to/share-a-file.md", "test-rust"),
    ("docs/how-to/threads.md", "test-rust"),
];

/// What `tests/walk.py` takes for commands, output and files.
const LANGUAGES: [&str; 9] = ["sh", "bash", "text", "rust", "c", "cpp", "go", "cmake", "toml"];

/// The languages of a page's blocks.
fn languages(page: &str) -> Vec<&str> {
    let fences = page.lines().filter_map(|line| line.strip_prefix("```"));
    fences.step_by(2).collect()
}

/// The recipe of a target, with the line that names it.
fn recipe<'a>(makefile: &'a str, target: &str) -> &'a str {
    let start = makefile.find(&format!("\n{target}:")).unwrap_or_else(|| panic!("no {target}"));
    makefile[start + 1..].split("\n\n").next().unwrap()
}

fn not_walked(makefile: &str) -> Vec<String> {
    let walked = |(page, target): &&(&str, &str)| {
        let recipe = recipe(makefile, target);
        let mut lines = recipe.lines().filter(|line| line.contains("tests/walk.py"));
        lines.any(|line| line.split(' ').any(|word| word == *page))
    };
    let missing = WALKS.iter().filter(|walk| !walked(walk));
    missing.map(|(page, target)| format!("{page} by make {target}")).collect()
}

/// Pages of commands that are to be followed step by step.
fn not_listed(pages: &[String]) -> Vec<String> {
    let to_follow = |page: &&String| {
        page.starts_with("docs/tutorials/")
            || page.starts_with("docs/how-to/") && languages(&read(page)).contains(&"sh")
    };
    let listed = |page: &str| WALKS.iter().any(|walk| walk.0 == page);
    pages.iter().filter(to_follow).filter(|page| !listed(page)).cloned().collect()
}

#[test]
fn pages_to_follow_are_walked() {
    none("no target walks these", not_walked(&read("Makefile")));
    none("pages that no target walks", not_listed(&pages()));
    for (page, _) in WALKS {
        let text = read(page);
        let found = languages(&text);
        assert!(found.len() >= 3 && found.contains(&"text"), "{page}: {found:?}");
        let other = found.iter().find(|language| !LANGUAGES.contains(language));
        assert_eq!(other, None, "{page}");
    }
}

#[test]
fn a_page_that_is_not_walked_is_found() {
    let makefile = read("Makefile").replace(" docs/tutorials/cpp.md", "");
    assert_eq!(not_walked(&makefile), ["docs/tutorials/cpp.md by make test-c"]);
    assert_eq!(not_listed(&["docs/tutorials/none.md".into()]), ["docs/tutorials/none.md"]);
    assert_eq!(languages("```sh\nx\n```\na\n```text\n```\n"), ["sh", "text"]);
}
