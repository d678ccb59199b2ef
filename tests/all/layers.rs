//! An import may only point down, and `unsafe` is only where it may be: the rules of
//! `CONTRIBUTING.md`, checked on the text of the sources.

use super::circles::circles;
use std::fs;
use std::path::Path;

/// The layers, lowest first: a file may use its own module and those before it.
const LAYERS: [&str; 14] = [
    "line",
    "error",
    "key",
    "bitmap",
    "layouts",
    "os",
    "hash",
    "shape",
    "serialize",
    "format",
    "kernel",
    "engines",
    "filter",
    "ffi",
];

/// The same within `src/filter`, where `mod` is the plain filter. A file that is not listed is a kind
/// or its like: it stands at `KINDS`, over what all kinds share.
const FILTERS: [&str; 18] = [
    "keys",
    "probe",
    "select",
    "insert",
    "about",
    "view",
    "view_static",
    "owned",
    "view_engines",
    "views",
    "group",
    "shards",
    "builder",
    "mod",
    "parallel",
    KINDS,
    "composite",
    "map",
];

const KINDS: &str = "kinds";

/// The sources in a folder, by their path below `root`.
pub(crate) fn sources(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    sources(&root, &root, &mut found);
    assert!(found.len() > 15, "the sources are not where they were");
    found
}

/// The module that a file belongs to: `kernel` for `kernel/native/avx2.rs`.
fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

/// The names that follow `prefix` in the code, such as `line` in `use crate::line::Line`.
fn names_after<'t>(text: &'t str, prefix: &'static str) -> impl Iterator<Item = &'t str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(move |line| line.split(prefix).skip(1))
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
}

/// Where a name stands in a list of layers.
fn layer(layers: &[&str], name: &str) -> Option<usize> {
    layers.iter().position(|layer| *layer == name)
}

#[test]
fn imports_point_down() {
    for (file, text) in all_sources() {
        let own = module(&file);
        // The C face is over what `lib.rs` makes public, too; the library is what is beneath.
        if own == "lib" {
            continue;
        }
        let at = layer(&LAYERS, own);
        let at =
            at.unwrap_or_else(|| panic!("{own} is in no layer: add it to tests/all/layers.rs"));
        // What is only passed on is no use.
        let uses = text.lines().filter(|line| !line.starts_with("pub use "));
        for used in names_after(&uses.collect::<Vec<_>>().join("\n"), "crate::") {
            match layer(&LAYERS, used) {
                Some(below) => assert!(below <= at, "src/{file}: {used} is not below it"),
                None => assert_eq!(own, "ffi", "src/{file}: {used} is taken through lib.rs"),
            }
        }
    }
}

#[test]
fn filters_point_down() {
    let sources = all_sources();
    let files: Vec<String> = sources.iter().map(|(file, _)| file.clone()).collect();
    for (file, text) in &sources {
        let Some(own) = file.strip_prefix("filter/").map(module) else { continue };
        let kinds = layer(&FILTERS, KINDS);
        let at = layer(&FILTERS, own).or(kinds);
        // In the folder of a kind `super` is that kind.
        let siblings = (file.matches('/').count() == 1)
            .then(|| text.lines().filter_map(|line| line.strip_prefix("use super::")))
            .into_iter()
            .flatten()
            .map(|rest| rest.split("::").next().unwrap());
        for used in siblings.chain(names_after(text, "crate::filter::")) {
            // What is no file here is in `mod.rs`, such as `Filter`.
            let is_kind = files.contains(&format!("filter/{used}.rs"))
                || files.contains(&format!("filter/{used}/mod.rs"));
            let other = if is_kind { kinds } else { layer(&FILTERS, "mod") };
            let below = layer(&FILTERS, used).or(other);
            // One kind may be made of others; circles are found below.
            assert!(
                used == own || below < at || (below, at) == (kinds, kinds),
                "src/{file} uses {used}, which is not below it"
            );
        }
    }
}

/// C's face is over the filters. Only views reach into the kernels: C keeps their words, and probes
/// by functions that are chosen once.
#[test]
fn c_reaches_the_kernels_through_views_only() {
    for (file, text) in all_sources().iter().filter(|(file, _)| module(file) == "ffi") {
        // `views` asks views where their words lie.
        let may = file.starts_with("ffi/view/")
            || matches!(file.as_str(), "ffi/lines.rs" | "ffi/views.rs");
        let found = names_after(text, "crate::").any(|used| used == "kernel");
        assert!(may || !found, "src/{file} uses the kernels");
    }
}

/// What a file uses does not lead back to it: not among the library's files, nor the module's.
#[test]
fn no_files_lead_to_each_other() {
    for root in ["src", "modules/redis/src"] {
        let found = circles(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
        assert!(found.is_empty(), "{root}: these files lead to each other: {found:?}");
    }
}

#[test]
fn unsafe_is_where_it_may_be() {
    for (file, text) in all_sources() {
        let may = matches!(module(&file), "kernel" | "os" | "ffi") || file == "filter/map.rs";
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
