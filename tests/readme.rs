//! The examples in the README are the files that are compiled and run, to the letter.

use std::fs;
use std::path::Path;

#[test]
fn examples_are_the_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let examples =
        ["examples/c/twenty_lines.c", "examples/cpp/twenty_lines.cpp", "examples/twenty_lines.rs"];
    for file in examples {
        let code = fs::read_to_string(root.join(file)).unwrap();
        assert!(readme.contains(file), "the README does not name {file}");
        assert!(readme.contains(&format!("\n{code}```\n")), "the README does not show {file}");
    }
}

/// Every file or folder that a page links to is there.
#[test]
fn links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/CHOOSING.md",
        "docs/DESIGN.md",
        "docs/ENGINES.md",
        "docs/FORMAT.md",
        "examples/README.md",
        "go/README.md",
        "golden/README.md",
    ] {
        let folder = root.join(page).parent().unwrap().to_path_buf();
        let text = fs::read_to_string(root.join(page)).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let file = link.split('#').next().unwrap();
            let elsewhere = file.is_empty() || file.contains("://");
            assert!(elsewhere || folder.join(file).exists(), "{page} links to {file}");
        }
    }
}
