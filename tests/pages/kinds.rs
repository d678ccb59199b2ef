//! `CONTRIBUTING.md` lists the files that a new kind of filter is added to: those that name all kinds.

use super::{files, none, read};

/// Kinds of which each has a word of its own.
const WORDS: [&str; 6] = ["counting", "cuckoo", "scalable", "window", "cascade", "growing"];

/// Files that name them all, and need no row for another: written by commands, or with examples.
const OTHERS: [&str; 16] = [
    "include/bloomline.h",
    "packaging/abi.txt",
    "packaging/api.txt",
    // What some kinds have alike.
    "src/kernel/prefetch.rs",
    "src/ffi/view/mod.rs",
    "modules/redis/src/finish.rs",
    "modules/redis/tests/test_files.py",
    "c-tests/probes.h",
    "c-tests/test_hpp.cpp",
    "go/doc.go",
    "go/kinds_example_test.go",
    "go/kinds_test.go",
    "go/room_linux_test.go",
    "tests/all/histories/library.rs",
    "tests/all/histories/scripts.rs",
    "tests/all/verbs.rs",
];

/// Files that the page names for kinds of which they have something.
const SOME: [&str; 18] = [
    "src/error.rs",
    "src/ffi/status.rs",
    "src/filter/about.rs",
    "src/filter/composite.rs",
    "src/filter/map.rs",
    "src/filter/opened.rs",
    "src/kernel/layout.rs",
    "src/kernel/mod.rs",
    "src/kernel/table.rs",
    "src/layouts/mod.rs",
    "go/batch.go",
    "go/errors.go",
    "go/format.go",
    "go/stats.go",
    "go/view.go",
    "go/whole.go",
    "modules/redis/src/image.rs",
    "modules/redis/src/object.rs",
];

fn is_list(file: &str) -> bool {
    let code = [".rs", ".h", ".hpp", ".c", ".cpp", ".go", ".py", ".toml", ".sh", ".txt"];
    // This file is none.
    let is_code = code.iter().any(|end| file.ends_with(end)) && file != "tests/pages/kinds.rs";
    // What `make go` copies is no source.
    let is_data = ["golden/", "go/clib/"].iter().any(|folder| file.starts_with(folder))
        || file.contains("testdata/");
    is_code && !is_data && {
        let text = read(file).to_lowercase();
        WORDS.iter().all(|word| text.contains(word))
    }
}

/// The section that lists them.
fn listed(page: &str) -> &str {
    page.split_once("\n## To add a kind\n").unwrap().1.split("\n## ").next().unwrap()
}

#[test]
fn the_files_of_a_kind_are_listed() {
    let page = read("CONTRIBUTING.md");
    let lists: Vec<String> = files().into_iter().filter(|file| is_list(file)).collect();
    assert!(lists.len() > 10, "{lists:?}");
    let is_named = |file: &str| listed(&page).contains(&format!("`{file}`"));
    let missing = lists.iter().filter(|file| !OTHERS.contains(&&***file) && !is_named(file));
    none("lists of kinds that CONTRIBUTING.md does not name", missing.cloned().collect());
    let gone = OTHERS.iter().filter(|file| !lists.iter().any(|list| list == *file));
    none("exceptions that are none", gone.map(|file| file.to_string()).collect());
    // What is named has a row for each kind, or no row would be missed.
    let named = listed(&page).split('`').skip(1).step_by(2);
    let rows =
        named.filter(|name| name.contains('/') && name.contains('.') && !name.contains("NAME"));
    let without =
        rows.filter(|file| !file.ends_with(".md") && !is_list(file) && !SOME.contains(file));
    none("files without all kinds", without.map(String::from).collect());
    let some = SOME.iter().filter(|file| !is_named(file) || is_list(file));
    none(
        "files of some kinds that are not named, or have all",
        some.map(|file| file.to_string()).collect(),
    );
    let stranger = SOME.iter().filter(|file| {
        let text = read(file).to_lowercase();
        !WORDS.iter().any(|word| text.contains(word))
    });
    none("files of some kinds that have none", stranger.map(|file| file.to_string()).collect());
}

#[test]
fn a_list_that_is_not_named_is_found() {
    let page = read("CONTRIBUTING.md").replace("`c-tests/kinds.h`", "");
    assert!(is_list("c-tests/kinds.h") && !listed(&page).contains("`c-tests/kinds.h`"));
}
