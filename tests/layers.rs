//! An import may only point down, and `unsafe` is only where it may be: the rules of
//! `CONTRIBUTING.md`, checked on the text of the sources.

use std::fs;
use std::path::Path;

/// The layers, lowest first: a file may use its own layer's neighbours below it.
const LAYERS: [&[&str]; 7] = [
    &["line", "classic", "fast_local", "atomic_line", "cuckoo", "environment", "error"],
    &["hash", "sizing", "stats", "params", "cuckoo_params"],
    &["kernel"],
    &["memory", "file", "format"],
    &["view", "filter", "cuckoo_filter", "builder", "engines"],
    &["concurrent", "counting", "scalable", "shards", "swap", "views", "window"],
    &["ffi"],
];

/// Within a layer, who may use whom.
const NEIGHBOURS: [(&str, &[&str]); 10] = [
    ("classic", &["line"]),
    ("fast_local", &["line"]),
    ("cuckoo", &["line"]),
    ("params", &["sizing", "hash"]),
    ("cuckoo_params", &["hash"]),
    ("format", &["memory"]),
    ("file", &["memory"]),
    ("filter", &["view"]),
    ("cuckoo_filter", &["view"]),
    ("shards", &["views"]),
];

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 15, "the sources are not where they were");
    found
}

/// The module that a file belongs to: `kernel` for `kernel/avx2.rs`.
fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|layer| layer.contains(&module));
    layer.unwrap_or_else(|| panic!("{module} is in no layer: add it to tests/layers.rs"))
}

#[test]
fn imports_point_down() {
    for (file, text) in all_sources() {
        let own = module(&file);
        if own == "lib" {
            continue;
        }
        for (at, _) in text.match_indices("crate::") {
            let rest = &text[at + "crate::".len()..];
            let used: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if used == own || !LAYERS.iter().any(|layer| layer.contains(&used.as_str())) {
                continue;
            }
            let neighbour =
                NEIGHBOURS.iter().any(|(who, whom)| *who == own && whom.contains(&&*used));
            assert!(
                layer(&used) < layer(own) || neighbour,
                "src/{file} uses {used}, which is not below it"
            );
        }
    }
}

#[test]
fn unsafe_is_where_it_may_be() {
    for (file, text) in all_sources() {
        let may = matches!(module(&file), "kernel" | "memory" | "environment" | "ffi")
            || file == "view/map.rs";
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let found = code.filter(|line| line.contains("unsafe ")).count();
        assert!(may || found == 0, "src/{file} contains unsafe");
    }
}

#[test]
fn files_say_what_they_are_and_are_small() {
    for (file, text) in all_sources() {
        assert!(text.starts_with("//! "), "src/{file} does not open with what it is");
        let lines = text.lines().count();
        assert!(lines <= 500, "src/{file} has {lines} lines: too long to read in one sitting");
    }
}
