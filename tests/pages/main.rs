//! What the pages say is there: links, headings, commands, functions, files, versions, figures,
//! error messages, and the code that they show. Each check is also given a fault, which it must find.
// Pages are the same on every CPU, and the sizes they state need 64 bits.
#![cfg(all(target_pointer_width = "64", target_endian = "little"))]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

mod blocks;
mod code;
mod columns;
mod commands;
mod errors;
mod examples;
mod figures;
mod kinds;
mod links;
mod names;
mod pictures;
mod versions;
mod walks;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: impl AsRef<Path>) -> String {
    let path = root().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files of the repository, by their paths in it, without what is built or fetched.
fn files() -> Vec<String> {
    const NOT: [&str; 6] = ["target", ".git", "corpus", "artifacts", "results", "__pycache__"];
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if NOT.contains(&name.as_str()) {
                continue;
            }
            let path = folder.join(&name);
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// The pages: every Markdown file.
fn pages() -> Vec<String> {
    let pages: Vec<String> = files().into_iter().filter(|file| file.ends_with(".md")).collect();
    assert!(pages.len() >= 20, "{pages:?}");
    pages
}

/// The text of the files in which names are declared, and words are found.
fn sources() -> String {
    const KINDS: [&str; 16] = [
        "rs", "h", "hpp", "c", "cc", "cpp", "go", "s", "py", "sh", "toml", "cmake", "in", "txt",
        "yml", "mod",
    ];
    let is_source = |file: &&String| {
        let name = file.rsplit('/').next().unwrap();
        let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
        let own = file.starts_with("tests/pages/") || file.starts_with("golden/");
        !own && (KINDS.contains(&kind) || ["Makefile", "run"].contains(&name))
    };
    let texts: Vec<String> = files().iter().filter(is_source).map(read).collect();
    assert!(texts.len() > 300, "{}", texts.len());
    texts.join("\n")
}

/// The code that a page shows: what is between backticks, and the lines of fenced or indented blocks.
fn code(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fence = None;
    let mut after_blank = true;
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language) };
        } else if let Some(language) = fence {
            if language != "text" {
                found.push(line);
            }
        } else if line.starts_with("    ") && after_blank {
            found.push(line);
            continue; // the next line of the block follows on it
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
        after_blank = line.trim().is_empty();
    }
    assert!(fence.is_none(), "a fence is not closed");
    found
}

/// The words of a text that can be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn set<'a>(words: impl Iterator<Item = &'a str>) -> HashSet<&'a str> {
    words.collect()
}

/// Fails with all that is wrong, each with its page.
fn none(what: &str, wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{what}:\n  {}", wrong.join("\n  "));
}

#[test]
fn code_of_a_page_is_found() {
    let page = "a `b` c\n\n    d e\n    f\n\ng\n```c\nh\n```\n```text\ni\n```\n`j`, `k`\n";
    assert_eq!(code(page), ["b", "    d e", "    f", "h", "j", "k"]);
}
