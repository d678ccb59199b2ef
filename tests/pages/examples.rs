//! Every public type of the Rust crate, and every module, has an example in its documentation.

use super::{files, none, read};

/// Modules without one: the sizes of single layouts.
const NONE: [&str; 3] =
    ["bloomline::sizing::cascade", "bloomline::sizing::classic", "bloomline::sizing::static_line"];

/// Whether documentation has a block of Rust. Every other fence ends a block.
fn has_block<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    let fences =
        lines.filter_map(|line| line.trim_start_matches(['/', '!', ' ']).strip_prefix("```"));
    fences.step_by(2).any(|language| language.is_empty())
}

/// Whether the documentation above a line has an example.
fn above(lines: &[&str], at: usize) -> bool {
    let before = lines[..at].iter().rev().map(|line| line.trim());
    let count = before.take_while(|line| !line.is_empty()).count();
    let lines = lines[at - count..at].iter().map(|line| line.trim());
    has_block(lines.filter(|line| line.starts_with("///")))
}

/// Whether a source has an example of a type: at its declaration, or at a block of its methods.
fn has_type(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().collect();
    (0..lines.len()).any(|at| {
        let line = lines[at].trim_start();
        let declared =
            ["pub struct ", "pub enum ", "pub trait ", "impl "].into_iter().any(|start| {
                line.strip_prefix(start).is_some_and(|rest| super::words(rest).next() == Some(name))
            });
        declared && above(&lines, at)
    })
}

/// Whether a source has an example of a module: in its first comment, or where it is declared.
fn has_module(file: &str, source: &str, path: &str) -> bool {
    let name = path.rsplit("::").next().unwrap();
    let place = path.replace("bloomline", "").replace("::", "/");
    let own = file.ends_with(&format!("{place}.rs")) || file.ends_with(&format!("{place}/mod.rs"));
    let lines: Vec<&str> = source.lines().collect();
    let head = lines.iter().take_while(|line| line.starts_with("//!"));
    let declared = format!("pub mod {name} {{");
    own && has_block(head.copied())
        || (0..lines.len()).any(|at| lines[at] == declared && above(&lines, at))
}

/// Public types and modules, by their paths, and whether they are modules.
fn public(api: &str) -> Vec<(String, bool)> {
    let item = |line: &str| {
        let line = line.rsplit("] ").next()?.strip_prefix("pub ")?;
        let (kind, path) = line.split_once(' ')?;
        let end = path.find(['<', '(', ' ']).unwrap_or(path.len());
        let path = path[..end].trim_end_matches(':').to_string();
        ["struct", "enum", "trait", "mod"].contains(&kind).then_some((path, kind == "mod"))
    };
    api.lines().filter_map(item).filter(|(path, _)| path.starts_with("bloomline")).collect()
}

fn missing(items: &[(String, bool)], sources: &[(String, String)]) -> Vec<String> {
    let without = items.iter().filter(|(path, is_module)| {
        let name = path.rsplit("::").next().unwrap();
        !sources.iter().any(|(file, source)| {
            if *is_module { has_module(file, source, path) } else { has_type(source, name) }
        })
    });
    without.map(|(path, _)| path.clone()).collect()
}

fn sources() -> Vec<(String, String)> {
    let is_own = |file: &String| {
        file.starts_with("src/") && file.ends_with(".rs") && !file.starts_with("src/ffi/")
    };
    files().into_iter().filter(is_own).map(|file| (file.clone(), read(&file))).collect()
}

#[test]
fn public_items_have_examples() {
    let items = public(&read("packaging/api.txt"));
    assert!(items.len() > 50, "{}", items.len());
    let found = missing(&items, &sources());
    none(
        "no example",
        found.iter().filter(|path| !NONE.contains(&path.as_str())).cloned().collect(),
    );
    let gone = NONE.into_iter().filter(|path| !found.iter().any(|other| other == path));
    none("exceptions that are none", gone.map(String::from).collect());
}

#[test]
fn a_missing_example_is_found() {
    let mut sources = sources();
    for (file, source) in &mut sources {
        if file == "src/filter/window/mod.rs" || file == "src/engines/leveldb.rs" {
            *source = source.replace("```", "");
        }
    }
    let items = public(
        "pub struct bloomline::Window\npub mod bloomline::engines::leveldb\npub enum bloomline::Kind",
    );
    assert_eq!(items.len(), 3);
    assert!(has_block("//! ```text\n//! x\n//! ```\n//! ```\n//! ```".lines()));
    assert!(!has_block("//! ```text\n//! x\n//! ```".lines()));
    assert_eq!(missing(&items, &sources), ["bloomline::Window", "bloomline::engines::leveldb"]);
}
