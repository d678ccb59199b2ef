//! No circle of files: what a file uses does not lead back to it. Read from the text of the sources,
//! of any crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module by its names from the crate's root on.
type Names = Vec<String>;

/// What is imported: its name here, and its path.
type Imports = Vec<(String, Names)>;

/// What a file says, apart from its tests.
#[derive(Default)]
struct File {
    name: String,
    /// What its code names, from the crate's root on.
    uses: BTreeSet<Names>,
    /// What it imports for itself.
    imports: BTreeMap<String, Names>,
    /// What it passes on: under which name (`*` for all of a module), and what that is.
    passes_on: Imports,
    /// The names of its code, but for those in imports.
    words: BTreeSet<String>,
    /// What it defines.
    defines: BTreeSet<String>,
}

/// Identifiers, `::`, and single characters; no comments, texts or lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let from = |at: usize, end: &str| text[at..].find(end).map_or(text.len(), |i| at + i);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let start = at;
        if rest.starts_with("//") {
            at = from(at, "\n");
        } else if rest.starts_with("/*") {
            at = from(at, "*/") + 2;
        } else if rest.starts_with("r#\"") {
            at = from(at + 3, "\"#") + 2;
        } else if bytes[at] == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += 1 + usize::from(bytes[at] == b'\\');
            }
            at += 1;
        } else if rest.starts_with("'\\") {
            at = from(at + 3, "'") + 1;
        } else if bytes[at] == b'\'' {
            let mut chars = rest.char_indices().skip(1);
            let end = chars.nth(1).filter(|&(_, c)| c == '\'');
            at += end.map_or(1, |(i, _)| i + 1);
            // A lifetime.
            while end.is_none() && at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
        } else if is_word(bytes[at]) {
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            found.push(&text[start..at]);
        } else if rest.starts_with("::") {
            at += 2;
            found.push("::");
        } else {
            at += rest.chars().next().unwrap().len_utf8();
            if !bytes[start].is_ascii_whitespace() {
                found.push(&text[start..at]);
            }
        }
    }
    found
}

/// The token behind the bracket that closes the one at `open`.
fn behind(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// The leaves of `a::{b, c::{d as e}}`: their names here, and their paths. Returns where it ends.
fn leaves(tokens: &[&str], mut at: usize, before: &[String], out: &mut Imports) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens[at] {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = leaves(tokens, at, &path, out);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "as" => {
                out.push((tokens[at + 1].to_string(), path));
                return at + 2;
            }
            "," | "}" | ";" => {
                out.push((path.last().unwrap().clone(), path));
                return at;
            }
            "::" => {}
            "self" if !path.is_empty() => {}
            name => path.push(name.to_string()),
        }
        at += 1;
    }
}

impl File {
    /// Reads what is code for users: no tests. `module` is the file's own; adds files of tests to
    /// `tests`.
    fn read(name: &str, text: &str, module: &Names, tests: &mut BTreeSet<Names>) -> File {
        let tokens = tokens(text);
        let mut file = File { name: name.to_string(), ..File::default() };
        // Modules within the file, and the depths at which they end.
        let (mut inner, mut depth): (Vec<(usize, String)>, usize) = (Vec::new(), 0);
        let (mut at, mut public, mut paths) = (0, false, Vec::new());
        while at < tokens.len() {
            let here = || {
                let inner = inner.iter().map(|(_, name)| name.clone());
                module.iter().cloned().chain(inner).collect::<Names>()
            };
            let word = tokens[at];
            match word {
                "#" if tokens[at + 1] == "[" => {
                    let end = behind(&tokens, at + 1);
                    if tokens[at + 2] == "cfg" && tokens[at..end].contains(&"test") {
                        let item =
                            tokens[end..].iter().position(|token| matches!(*token, ";" | "{"));
                        let stop = end + item.unwrap();
                        if let ["mod", name, ";"] = tokens[end..=stop] {
                            let mut names = here();
                            names.push(name.to_string());
                            tests.insert(names);
                        }
                        at = if tokens[stop] == ";" || tokens[end..stop].contains(&"use") {
                            stop + tokens[stop..].iter().position(|token| *token == ";").unwrap()
                                + 1
                        } else {
                            behind(&tokens, stop)
                        };
                    } else {
                        at = end;
                    }
                    continue;
                }
                "pub" if tokens[at + 1] == "(" => {
                    public = true;
                    at = behind(&tokens, at + 1);
                    continue;
                }
                "pub" => {
                    public = true;
                    at += 1;
                    continue;
                }
                "use" => {
                    let mut found = Vec::new();
                    at = leaves(&tokens, at + 1, &[], &mut found);
                    for (name, path) in found {
                        let path = from_root(&here(), path);
                        if public {
                            file.passes_on.push((name, path));
                        } else {
                            file.uses.insert(path.clone());
                            file.imports.insert(name, path);
                        }
                    }
                    public = false;
                    continue;
                }
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    inner.retain(|(ends, _)| *ends <= depth);
                }
                "mod" if tokens.get(at + 2) == Some(&"{") => {
                    inner.push((depth + 1, tokens[at + 1].to_string()));
                }
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                | "macro_rules" => {
                    let name = if word == "macro_rules" { at + 2 } else { at + 1 };
                    file.defines.insert(tokens[name].to_string());
                }
                _ if tokens.get(at + 1) == Some(&"::") && (at == 0 || tokens[at - 1] != "::") => {
                    let mut path = vec![word.to_string()];
                    while let ["::", name, ..] = tokens[at + 1..] {
                        path.push(name.to_string());
                        at += 2;
                    }
                    file.words.extend(path.iter().cloned());
                    paths.push((here(), path));
                }
                "*" => {}
                _ => drop(file.words.insert(word.to_string())),
            }
            at += 1;
            public = false;
        }
        for (module, path) in paths {
            if let Some(imported) = file.imports.get(&path[0]) {
                file.uses.insert([&imported[..], &path[1..]].concat());
            } else {
                file.uses.insert(from_root(&module, path));
            }
        }
        file
    }
}

/// A path that is used in a module, from the crate's root on. One that begins with neither `crate`
/// nor `super` may begin with a child of the module; if not, it leads to no file.
fn from_root(module: &Names, path: Names) -> Names {
    let mut at = module.clone();
    let mut path = path.as_slice();
    loop {
        match path {
            [first, rest @ ..] if first == "super" => {
                at.pop();
                path = rest;
            }
            [first, rest @ ..] if first == "self" => path = rest,
            [first, rest @ ..] if first == "crate" => {
                at.clear();
                path = rest;
            }
            _ => break,
        }
    }
    at.extend_from_slice(path);
    at
}

/// The sources of a crate by their modules.
struct Sources(BTreeMap<Names, File>);

impl Sources {
    fn read(root: &Path) -> Sources {
        let (mut files, mut tests) = (BTreeMap::new(), BTreeSet::new());
        let mut texts = Vec::new();
        super::layers::sources(root, root, &mut texts);
        for (name, text) in texts {
            let mut module: Names =
                name.strip_suffix(".rs").unwrap().split('/').map(str::to_string).collect();
            if matches!(module.last().unwrap().as_str(), "mod" | "lib" | "main") {
                module.pop();
            }
            let file = File::read(&name, &text, &module, &mut tests);
            files.insert(module, file);
        }
        files.retain(|module, _| !tests.contains(module));
        Sources(files)
    }

    /// The file that has what a path names.
    fn file_of(&self, path: &[String]) -> Option<&File> {
        let (module, file) =
            (0..=path.len()).rev().find_map(|len| self.0.get_key_value(&path[..len]))?;
        let Some(name) = path.get(module.len()) else { return Some(file) };
        if file.defines.contains(name) {
            return Some(file);
        }
        for (as_name, from) in &file.passes_on {
            let from = match as_name.as_str() {
                "*" => [&from[..from.len() - 1], &path[module.len()..]].concat(),
                _ if as_name == name => [&from[..], &path[module.len() + 1..]].concat(),
                _ => continue,
            };
            // What a module within this file passes on leads to the same path.
            if from == path {
                continue;
            }
            // A path of another crate leads back to this module, which has no such name.
            let found = self.file_of(&from).filter(|found| found.name != file.name);
            if let Some(found) =
                found.filter(|found| as_name != "*" || found.defines.contains(name))
            {
                return Some(found);
            }
        }
        Some(file)
    }

    /// The files that a file uses.
    fn used_by(&self, file: &File) -> BTreeSet<&str> {
        // What is only passed on is no use. Whether a name comes by `*` is not seen.
        let passed_on = file.passes_on.iter().filter(|(name, _)| file.words.contains(name));
        let paths = file.uses.iter().chain(passed_on.map(|(_, path)| path));
        let files = paths.filter_map(|path| self.file_of(path));
        files.map(|used| used.name.as_str()).filter(|used| *used != file.name).collect()
    }
}

/// The circles of files below a directory, which is the root of a crate's sources: each as the files
/// that lead to each other.
pub(crate) fn circles(root: &Path) -> Vec<Vec<String>> {
    let sources = Sources::read(root);
    let uses: BTreeMap<&str, BTreeSet<&str>> =
        sources.0.values().map(|file| (file.name.as_str(), sources.used_by(file))).collect();
    let mut reached = uses.clone();
    for (from, found) in &mut reached {
        let mut todo = vec![*from];
        found.clear();
        while let Some(file) = todo.pop() {
            todo.extend(uses[file].iter().filter(|used| found.insert(**used)));
        }
    }
    let circle = |file: &str| -> Vec<String> {
        let others = reached[file].iter().filter(|other| reached[**other].contains(file));
        others.map(|other| other.to_string()).collect()
    };
    let circles: BTreeSet<_> = uses.keys().map(|file| circle(file)).collect();
    circles.into_iter().filter(|circle| !circle.is_empty()).collect()
}

/// Files of `(name, text)` in a directory of their own, and the circles among them.
#[cfg(test)]
fn circles_of(test: &str, files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let root =
        std::env::temp_dir().join(format!("bloomline-circles-{test}-{}", std::process::id()));
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = circles(&root);
    std::fs::remove_dir_all(root).unwrap();
    found
}

#[test]
fn a_planted_circle_is_found() {
    let lib = ("lib.rs", "mod a; mod b; mod c; pub use b::B;");
    let (b, c) =
        (("b.rs", "use super::c::C; pub struct B(C);"), ("c/mod.rs", "mod d; pub use d::C;"));
    let plain =
        ("c/d.rs", "// crate::a\n#[cfg(test)] mod tests { use crate::a::A; }\npub struct C;");
    let a = ("a.rs", "use crate::{B, c}; pub struct A(B, c::C);");
    assert!(circles_of("none", &[lib, a, b, c, plain]).is_empty());
    let planted = [
        "pub struct C; fn f() { crate::a::A; }",
        "use super::super::a::{self as other}; pub struct C;",
        "use crate::{a::A, b}; pub struct C;",
    ];
    for (i, text) in planted.iter().enumerate() {
        let found = circles_of(&i.to_string(), &[lib, a, b, c, ("c/d.rs", text)]);
        assert_eq!(found, [["a.rs", "b.rs", "c/d.rs"]], "{text}");
    }
    // Also from a file up to what `mod.rs` itself defines.
    let up = ("b/d.rs", "use super::B; pub struct D(B);");
    let here = ("b/mod.rs", "mod d; use d::D; pub struct B(D);");
    assert_eq!(circles_of("up", &[("lib.rs", "mod b;"), here, up]), [["b/d.rs", "b/mod.rs"]]);
}
