//! `include/bloomline.h` is what the sources say: generated again here and compared.
//! `BLESS=1`, which is what `make header` sets, writes it instead.
//!
//! cbindgen makes the declarations and this file puts them in order: a section for each
//! file of `src/ffi`, with its types beside its functions, between the text of
//! `cbindgen.toml`. (`cbindgen:ignore` on a `mod` keeps a file out of its parent's section.)
//! cbindgen is a dependency of the tests only, and only where the library is built for the machine
//! that it is built on.
#![cfg(all(feature = "capi", target_arch = "x86_64", unix))]
#![allow(unsafe_code)]

use bloomline as _;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

// Declared, since Rust programs cannot reach them.
unsafe extern "C" {
    fn bloomline_version() -> *const c_char;
    fn bloomline_abi_version() -> u32;
}

/// The sections of the header: heading, and the file of `src/ffi`. The other files, which are kinds, come
/// between the two lists by name, each under its own first line, which is that of the overview, too.
const FIRST: [(&str, &str); 23] = [
    ("Status", "status.rs"),
    ("Version and backend", "version.rs"),
    ("Memory", "allocator.rs"),
    ("Hashes of keys", "hash.rs"),
    ("Size and shape of a filter", "params.rs"),
    ("Encoded filters: their kinds, and how they are written", "encode.rs"),
    ("Filters", "filter/mod.rs"),
    ("Filters: probes", "filter/probe.rs"),
    ("Views: filters in caller-owned bytes", "view/mod.rs"),
    ("Views of filters", "filter/view.rs"),
    ("Views: their parameters, lines and rates", "view/about.rs"),
    ("Views: several keys, and a function chosen once", "view/keys.rs"),
    ("Views: columns, and the rows that may be present", "select.rs"),
    ("Views: columns of any type, also with nulls", "column.rs"),
    ("Several filters at once: one set split over them", "shards.rs"),
    ("Several filters at once: one key in each", "views.rs"),
    ("Several filters at once: prepared", "group.rs"),
    ("Several filters at once: one shape, side by side", "matrix/mod.rs"),
    ("Matrices: probes", "matrix/probe.rs"),
    ("Matrices: batches of keys", "matrix/keys.rs"),
    ("Matrices: their shape, and single ranges of encoded ones", "matrix/range.rs"),
    ("Blocks: filters built into the caller's buffer", "block.rs"),
    ("Lines: filters in the caller's own memory", "lines.rs"),
];
const LAST: [(&str, &str); 4] = [
    ("Encoded filters that are opened: files, and bytes", "map.rs"),
    ("Filter blocks of other engines", "engines.rs"),
    ("Filters of Parquet: header and bits", "parquet.rs"),
    ("Split blocks of Kudu, Impala, Doris and Velox", "split_blocks.rs"),
];

/// The kinds that have a file: heading and file.
fn kinds() -> Vec<(String, String)> {
    let (mut all, ffi) = (Vec::new(), root().join("src/ffi"));
    let files = std::fs::read_dir(&ffi).unwrap().map(|entry| entry.unwrap().file_name());
    let mut kinds: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    kinds.sort();
    for file in kinds.into_iter().filter(|file| file.ends_with(".rs")) {
        let source = std::fs::read_to_string(ffi.join(&file)).unwrap();
        let is_listed = FIRST.iter().chain(&LAST).any(|(_, listed)| *listed == file);
        if !is_listed && source.contains("exports! {\n///") {
            let first = source.lines().next().unwrap().trim_start_matches("//! ");
            all.push((first.trim_end_matches('.').replace('`', ""), file));
        }
    }
    all
}

/// The sections in their order.
fn sections() -> Vec<(String, String)> {
    let listed = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(heading, file)| (heading.to_string(), file.to_string())).collect()
    };
    [listed(&FIRST), kinds(), listed(&LAST)].concat()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header_path() -> PathBuf {
    root().join("include/bloomline.h")
}

/// The header in the tree, whatever line ends a checkout gave it. The first call writes it
/// if that is asked for.
fn committed() -> String {
    static BLESS: Once = Once::new();
    let path = header_path();
    BLESS.call_once(|| {
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, generated()).unwrap();
            println!("wrote {}", path.display());
        }
    });
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; `make header` makes it", path.display()))
        .replace("\r\n", "\n")
}

fn generated() -> String {
    let mut config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut header = config.header.take().expect("cbindgen.toml has a header").trim().to_owned();
    let trailer = config.trailer.take().expect("cbindgen.toml has a trailer");
    let overview = kinds().into_iter().map(|(heading, _)| {
        let (name, what) = heading.split_once(": ").expect("a kind's file says what it is");
        format!(" *   {name:21} {what}\n")
    });
    header = header.replace(" * KINDS\n", &overview.collect::<String>());
    for (heading, file) in sections() {
        let mut section = Vec::new();
        let source =
            expanded(&std::fs::read_to_string(root().join("src/ffi").join(&file)).unwrap());
        let plain = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header_section.rs");
        std::fs::write(&plain, source).unwrap();
        cbindgen::Builder::new()
            .with_config(config.clone())
            .with_src(plain)
            .generate()
            .unwrap_or_else(|error| panic!("{file}: {error}"))
            .write(&mut section);
        let section = tidy(std::str::from_utf8(&section).unwrap());
        let rule = "-".repeat(86 - heading.len());
        write!(header, "\n\n/* {heading} {rule} */\n\n{}", section.trim()).unwrap();
    }
    header + "\n\n" + trailer.trim_start()
}

/// A source with the functions of `exports!` and the rows of `handle!` as what they stand for:
/// cbindgen sees no macros.
fn expanded(source: &str) -> String {
    let (source, mut out, mut inside, mut body) = (with_rows(source), String::new(), false, false);
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        match line {
            "exports! {" => inside = true,
            "}" if inside && !body => inside = false,
            _ if inside && line.starts_with("fn ") => {
                // The whole head: to its brace.
                let mut head = line.to_owned();
                while !head.ends_with(['{', '}']) {
                    head += lines.next().expect("a function has a body");
                }
                body = head.ends_with('{');
                out += if head.contains("-> bloomline_status") { "#[must_use]\n" } else { "" };
                out += &format!("#[unsafe(no_mangle)]\npub unsafe extern \"C\" {head}\n");
            }
            _ => {
                body &= line != "}";
                out += &format!("{line}\n");
            }
        }
    }
    assert!(!inside, "exports that do not end");
    out
}

/// A source with the rows of `handle!` as functions in `exports!`, by the arms of
/// `src/ffi/handle.rs`.
fn with_rows(source: &str) -> String {
    let macros = std::fs::read_to_string(root().join("src/ffi/handle.rs")).unwrap();
    let (mut out, mut handle, mut comment) = (String::new(), None, String::new());
    for line in source.lines() {
        let words: Vec<&str> = line.trim_end_matches(';').split(' ').collect();
        match (handle, &words[..]) {
            (None, ["handle!", "{", name, argument]) => {
                handle = Some((name.split('(').next().unwrap(), *argument));
            }
            (None, _) => out += &format!("{line}\n"),
            (Some(_), ["}"]) => handle = None,
            (Some(_), _) if line.starts_with("///") => comment += &format!("{line}\n"),
            (Some((name, argument)), _) => {
                for row in line.split_terminator(';') {
                    let (verb, function) = row.trim().split_once(' ').expect("a verb and a name");
                    let arm = format!("    ({verb} [$($doc:tt)*] ");
                    let body =
                        macros.split_once(&arm).unwrap_or_else(|| panic!("no arm: {verb}")).1;
                    let body = body.split_once("        $($doc)*\n").unwrap().1;
                    let body = body.split_once("\n    }}").unwrap().0.replace("\n        ", "\n");
                    let body = body.replace("$crate::ffi::", "").replace("std::ffi::", "");
                    let body = body.replace("$name", function).replace("$handle", name);
                    let body = body.replace("$kind::", "");
                    out += "exports! {\n";
                    out += &(comment.clone() + body.trim_start()).replace("$this", argument);
                    out += "\n}\n\n";
                    comment.clear();
                }
            }
        }
    }
    assert!(handle.is_none() && comment.is_empty(), "rows that do not end");
    out
}

/// Takes out of the comments the `# Safety` sections, which end them: they are for Rust, and
/// what C must keep to is in the text before them and at the top of the header. Then puts
/// comments of one line on one line, names types by their typedef everywhere, marks functions, and
/// puts those without a comment under the one before.
fn tidy(section: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut skipping = false;
    for line in section.lines() {
        let text = line.trim();
        if text == "* # Safety" {
            skipping = true;
            while kept.last().is_some_and(|line| line.trim() == "*") {
                kept.pop();
            }
        }
        skipping &= text != "*/";
        if skipping {
            continue;
        }
        if let ("*/", [.., first, only]) = (text, &mut kept[..])
            && first.trim() == "/**"
            && first.len() + only.trim().len() + 2 <= 100
        {
            *first += only.trim().strip_prefix('*').expect("a line of a comment");
            *first += " */";
            kept.pop();
            continue;
        }
        // The arguments of a function, as many to a line as there is room for.
        if let Some(last) = kept.last_mut()
            && last.ends_with(',')
            && !last.trim().starts_with('*')
        {
            let text = text.replace("struct bloomline_", "bloomline_");
            if last.len() + 1 + text.len() <= 100 {
                *last += " ";
                *last += &text;
            } else {
                kept.push(format!("    {text}"));
            }
            continue;
        }
        let declaration = !text.starts_with("typedef") && !text.starts_with('*');
        let function = line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains('(');
        let mut mark = if declaration && function { "BLOOMLINE_API " } else { "" };
        if kept.last().is_some_and(|last| last == "BLOOMLINE_MUST_USE") {
            kept.pop();
            mark = "BLOOMLINE_CHECKED ";
        }
        // Without a comment, it is under that of the function before.
        if !mark.is_empty() && kept.last().is_some_and(String::is_empty) {
            kept.pop();
        }
        let line = match declaration {
            true => mark.to_owned() + &line.replace("struct bloomline_", "bloomline_"),
            false => line.into(),
        };
        match line.split_once('(') {
            Some((name, arguments)) if !mark.is_empty() && line.len() > 100 => {
                kept.extend([format!("{name}("), format!("    {arguments}")]);
            }
            _ => kept.push(line),
        }
    }
    kept.join("\n")
}

#[test]
fn the_header_is_current() {
    let (committed, generated) = (committed(), generated());
    for (number, (there, here)) in committed.lines().zip(generated.lines()).enumerate() {
        assert_eq!(there, here, "include/bloomline.h, line {}: run `make header`", number + 1);
    }
    assert_eq!(committed, generated, "include/bloomline.h is out of date: run `make header`");
}

/// The texts of all files in a folder and the folders in it.
fn sources_in(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_in(&path, found);
        } else {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_exported_function_is_in_the_header() {
    let header = committed();
    let mut functions = 0;
    let mut sources = Vec::new();
    sources_in(&root().join("src/ffi"), &mut sources);
    // The arms of `handle!` are no functions; its rows are.
    sources.retain(|source| !source.contains("macro_rules! "));
    for source in sources.iter().map(|source| expanded(source)) {
        for definition in source.split("#[unsafe(no_mangle)]").skip(1) {
            let definition = definition.trim_start();
            let name = definition
                .strip_prefix("pub unsafe extern \"C\" fn ")
                .and_then(|rest| rest.split('(').next())
                .unwrap_or_else(|| panic!("not an exported function: {definition:.60}"));
            assert!(name.starts_with("bloomline_"), "{name}");
            let declared = [format!(" {name}("), format!(" *{name}(")].iter().any(|text| {
                header.lines().any(|line| !line.starts_with(" *") && line.contains(text))
            });
            assert!(declared, "{name} is exported but not in the header");
            functions += 1;
        }
    }
    println!("{functions} functions");
    assert!(
        functions >= 50,
        "only {functions} functions found: is this still how they are written?"
    );
}

fn is_function(line: &str) -> bool {
    line.starts_with("BLOOMLINE_API ") || line.starts_with("BLOOMLINE_CHECKED ")
}

#[test]
fn the_overview_names_every_kind() {
    // What the functions of these names do belongs to no kind of filter or of storage.
    let others = [
        "abi", "backend", "encoded", "engine", "hash", "leveldb", "params", "random", "rocksdb",
        "set", "shard", "shards", "status", "version", "views",
    ];
    let header = committed();
    let (overview, declarations) = header.split_once("#ifndef BLOOMLINE_H").unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for line in declarations.lines().filter(|line| is_function(line)) {
        let name = line.split('(').next().unwrap().rsplit("bloomline_").next().unwrap();
        let kind = name.split('_').next().unwrap();
        if !others.contains(&kind) {
            kinds.insert(kind);
        }
    }
    assert!(kinds.len() >= 14 && kinds.contains("static"), "{kinds:?}");
    for kind in kinds {
        let line = |line: &str| {
            line.strip_prefix(&format!(" *   bloomline_{kind}"))
                .is_some_and(|rest| rest.starts_with([' ', '_']))
        };
        assert!(
            overview.lines().any(line),
            "bloomline_{kind} is not in the overview of bloomline.h"
        );
    }
}

/// A status that is ignored can be a false negative: a key that was not inserted.
#[test]
fn every_status_must_be_used() {
    let mut functions = 0;
    for (number, line) in committed().lines().enumerate() {
        let unmarked = line.starts_with("BLOOMLINE_API bloomline_status ");
        assert!(!unmarked, "line {}: #[must_use] is missing: {line}", number + 1);
        functions += usize::from(line.starts_with("BLOOMLINE_CHECKED bloomline_status "));
    }
    assert!(functions >= 80, "only {functions} functions with a status found");
}

/// Its own, or that of the functions before it.
#[test]
fn every_function_has_a_comment() {
    let mut before = String::new();
    for (number, line) in committed().lines().enumerate() {
        if is_function(line) {
            let function = before.ends_with(");") && !before.starts_with("typedef");
            assert!(before.ends_with("*/") || function, "line {}: {line}", number + 1);
        }
        before = line.to_owned();
    }
}

#[test]
fn no_rust_is_left_in_the_comments() {
    for (number, line) in committed().lines().enumerate() {
        for rust in ["# Safety", "[`", "`]", "::", "&self", "Option<"] {
            assert!(!line.contains(rust), "line {}: {line}", number + 1);
        }
        assert!(line.chars().count() <= 100, "line {} is too long: {line}", number + 1);
    }
}

/// The number that the header defines a name as.
fn defined(name: &str) -> u32 {
    let header = committed();
    let prefix = format!("#define {name} ");
    let mut values = header.lines().filter_map(|line| line.strip_prefix(&prefix));
    let value = values.next().unwrap_or_else(|| panic!("{name} is not defined"));
    assert_eq!(values.next(), None, "{name} is defined twice");
    value.parse().unwrap_or_else(|_| panic!("{name} is {value}"))
}

#[test]
fn the_versions_agree() {
    let header = ["MAJOR", "MINOR", "PATCH"]
        .map(|part| defined(&format!("BLOOMLINE_VERSION_{part}")).to_string())
        .join(".");
    assert_eq!(header, env!("CARGO_PKG_VERSION"), "the header against Cargo.toml");
    // SAFETY: these take no pointers; the text is static and NUL-terminated.
    let (version, abi) = unsafe { (CStr::from_ptr(bloomline_version()), bloomline_abi_version()) };
    assert_eq!(header, version.to_str().unwrap(), "the header against the library");
    assert_eq!(defined("BLOOMLINE_ABI_VERSION"), abi, "the header against the library");
    let symbol = format!("BLOOMLINE_API void bloomline_abi_{abi}(void);");
    assert!(committed().lines().any(|line| line == symbol), "the header does not have {symbol}");
}
