//! Names in the pages' code are declared: C functions, methods, types, options, files.

use super::{code, files, none, pages, read, set, sources, words};
use std::collections::HashSet;

/// Names of other programs, which only pages have.
const ELSEWHERE: &str = "XXH3_64bits_withSeed overcommit_memory ContextTimeoutEnabled ErrPermission \
    LINE_INDEX NEXT_HASH LAYER_HASH OTHER_LINE OTHER_BUCKET guard_open kindData drop_slow \
    x.c blocklist.c main.cpp new-lines SetFlags leveldb/c.h go/avx2 redis-cli redis-benchmark proto-max-bulk-len";

struct Names<'a> {
    /// Of all that is declared or used in sources.
    words: HashSet<&'a str>,
    /// Public types of the Rust crate, and behind `::` what they have.
    types: HashSet<&'a str>,
    methods: HashSet<&'a str>,
    /// Types of C++, and its functions.
    cpp: (HashSet<&'a str>, HashSet<&'a str>),
    /// Names with hyphens in sources, variables of the build, and the words of the module for Redis.
    options: HashSet<&'a str>,
    variables: HashSet<&'a str>,
    redis: HashSet<&'a str>,
    files: &'a [String],
}

fn elsewhere(word: &str) -> bool {
    ELSEWHERE.split_whitespace().any(|name| name == word)
}

/// Whether a word is a name, not a word of English.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    let camel =
        word.chars().zip(letters).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    first && word.len() > 3 && (word.trim_matches('_').contains('_') || camel)
}

/// Whether a piece of code is the path of a file or folder of this repository.
fn is_path(word: &str) -> bool {
    const KINDS: [&str; 14] = [
        ".rs", ".h", ".hpp", ".c", ".cc", ".cpp", ".go", ".py", ".sh", ".md", ".toml", ".csv",
        ".svg", ".supp",
    ];
    const FOLDERS: [&str; 16] = [
        "src/",
        "docs/",
        "go/",
        "tests/",
        "c-tests/",
        "adapters/",
        "modules/",
        "lab/",
        "benches/",
        "golden/",
        "examples/",
        "scripts/",
        "packaging/",
        "fuzz/",
        "include/",
        ".github/",
    ];
    let plain = !word.contains(['*', '$', '<', '@', ':', '{', '=', '(', ')', '+'])
        && !word.starts_with('/');
    let elsewhere = word.contains("path/to")
        || word.contains("/...")
        || word.starts_with("target/")
        || word.starts_with("..");
    let of_here = KINDS.iter().any(|kind| word.len() > kind.len() && word.ends_with(kind))
        || FOLDERS.iter().any(|folder| word.starts_with(folder));
    plain && !elsewhere && of_here
}

impl Names<'_> {
    fn has_file(&self, word: &str) -> bool {
        let word = word.trim_start_matches("./").trim_end_matches('/');
        // A part in capitals is a name of the reader's choice.
        if word.split(['/', '.', '_']).any(|part| ["NAME", "KIND"].contains(&part)) {
            return true;
        }
        let (behind, inside) = (format!("/{word}"), format!("{word}/"));
        self.files.iter().any(|file| {
            file == word
                || file.ends_with(&behind)
                || file.starts_with(&inside)
                || file.contains(&format!("/{inside}"))
        })
    }

    /// Whether a word is no option, such as `--quick`, `bf-layout` and `BL.ADD`, or is one that there is.
    fn has_option(&self, word: &str) -> bool {
        if let Some((_, command)) =
            word.split_once('.').filter(|(set, _)| ["BF", "CF", "BL"].contains(set))
        {
            let name = command.rsplit('.').next().unwrap();
            let is_one = !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase());
            return !is_one || self.redis.contains(name);
        }
        let letters = word.trim_start_matches('-');
        let is_one =
            letters.contains('-') && letters.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        !is_one || letters.ends_with('-') || self.options.contains(letters)
    }

    /// What is wrong with a piece of code. Pages for those who change the library name what is private.
    fn wrong(&self, code: &str, private: bool) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut rest = String::new();
        for word in code.split(|c: char| c.is_whitespace() || ",;\"'|&!".contains(c)) {
            let word = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.', ':']);
            if !is_path(word) {
                rest.extend([word, " "]);
            } else if !self.has_file(word) && !elsewhere(word) {
                wrong.push(format!("no file {word}"));
            }
        }
        for word in words(&rest).filter(|word| is_name(word)) {
            let known = self.words.contains(word)
                || elsewhere(word)
                || self.words.contains(format!("BLOOMLINE_ERR_{word}").as_str())
                || word.ends_with('_') && self.words.iter().any(|name| name.starts_with(word));
            if !known {
                wrong.push(format!("no name {word}"));
            }
        }
        for word in rest.split([' ', '=', '[', ']', '(', ')']) {
            if !self.has_option(word) && !elsewhere(word) {
                wrong.push(format!("no command or option {word}"));
            }
        }
        for word in rest.split(' ').filter_map(|word| Some(word.split_once('=')?.0)) {
            let is_variable = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
            if is_variable && !self.variables.contains(word) {
                wrong.push(format!("no variable {word}"));
            }
        }
        let parts: Vec<&str> = rest.split("::").collect();
        for pair in parts.windows(2) {
            let (Some(of), Some(name)) = (words(pair[0]).last(), words(pair[1]).next()) else {
                continue;
            };
            let joined = pair[0].ends_with(of) && pair[1].starts_with(name);
            let known = self.methods.contains(format!("{of}::{name}").as_str())
                || self.cpp.0.contains(of) && self.cpp.1.contains(name)
                || private && self.words.contains(name);
            if joined && self.types.contains(of) && !known {
                wrong.push(format!("no {of}::{name}"));
            }
        }
        wrong
    }
}

/// Calls a function with all names.
fn with_names<R>(work: impl FnOnce(&Names<'_>) -> R) -> R {
    let (sources, files) = (sources(), files());
    let rust = ["<'a>", "<T>", "<B>", "<'a, O>", "<'a, C>"].into_iter();
    let rust = rust.fold(read("packaging/api.txt"), |api, generic| api.replace(generic, ""));
    let cpp = read("include/bloomline.hpp");
    let calls = cpp.split('(').filter_map(|before| words(before).last());
    let classes =
        ["class ", "using ", "struct "].into_iter().flat_map(|before| cpp.split(before).skip(1));
    let classes = classes.filter_map(|behind| words(behind).next());
    let is_build = |file: &&String| {
        ["Makefile", "CMakeLists.txt"].iter().any(|name| file.ends_with(name))
            || file.starts_with("scripts/")
    };
    let build: String = files.iter().filter(is_build).map(read).collect();
    let redis = files.iter().filter(|file| file.starts_with("modules/redis/src/"));
    let redis = redis.map(read).collect::<String>();
    let paths = rust.lines().filter_map(|line| line.split("bloomline::").nth(1));
    let paths =
        paths.map(|path| path.split(['(', '<', ' ', '=']).next().unwrap().trim_end_matches(':'));
    let mut methods = HashSet::new();
    let mut types = HashSet::new();
    for path in paths {
        let parts: Vec<&str> = path.rsplitn(3, "::").collect();
        if let [name, of, ..] = parts[..] {
            methods.insert(&path[path.len() - of.len() - 2 - name.len()..]);
            types.extend(of.starts_with(|c: char| c.is_ascii_uppercase()).then_some(of));
        }
        types.extend(
            parts.first().filter(|part| part.starts_with(|c: char| c.is_ascii_uppercase())),
        );
    }
    work(&Names {
        words: set(words(&sources)),
        types,
        methods,
        cpp: (set(classes), set(calls)),
        options: set(sources
            .split(|c: char| !c.is_ascii_lowercase() && c != '-')
            .map(|word| word.trim_matches('-'))),
        variables: set(words(&build)),
        redis: set(words(&redis)),
        files: &files,
    })
}

#[test]
fn names_exist() {
    let wrong = with_names(|names| {
        let mut wrong = Vec::new();
        for page in pages().iter().filter(|page| *page != "CHANGELOG.md") {
            let text = read(page);
            let private = ["CONTRIBUTING.md", "docs/DESIGN.md"].contains(&page.as_str())
                || page.starts_with("docs/design/");
            // The column of calls of other crates.
            let own: String = match page.as_str() {
                "docs/how-to/move.md" => {
                    text.lines().map(|line| format!("{}\n", own_column(line))).collect()
                }
                _ => text,
            };
            for code in code(&own) {
                wrong.extend(
                    names
                        .wrong(code, private)
                        .into_iter()
                        .map(|what| format!("{page}: {what}: {code}")),
                );
            }
        }
        wrong
    });
    none("names that nothing has", wrong);
}

/// A row of a table with three columns, without the first two.
fn own_column(line: &str) -> &str {
    let columns: Vec<&str> = line.trim_end_matches('|').split(" | ").collect();
    if line.starts_with("| ") && columns.len() == 3 { columns[2] } else { line }
}

#[test]
fn wrong_names_are_found() {
    with_names(|names| {
        for wrong in [
            "bloomline_no_such()",
            "Filter::no_such",
            "insert_no_such",
            "NoSuchType",
            "src/none.rs",
            "scripts/none.sh",
            "BLOOMLINE_NONE_SUCH",
            "bloomline_nosuch_",
            "Params::no_such(1)",
            "Kind::none",
            "BL.NOSUCH key",
            "no-such-choice",
            "--no-such-flag",
            "NOSUCH=1",
        ] {
            assert!(!names.wrong(wrong, false).is_empty(), "{wrong}");
        }
        for right in [
            "bloomline_filter_new()",
            "Filter::insert",
            "insert_keys",
            "ConcurrentFilter",
            "src/line.rs",
            "prefetch.rs",
            "BLOOMLINE_BACKEND",
            "bloomline_filter_",
            "Params::for_rate(1, 0.01)",
            "BL.MADDHASH key",
            "max-filter-bytes",
            "--quick",
            "PARTS=speed",
        ] {
            assert_eq!(names.wrong(right, false), [""; 0], "{right}");
        }
    });
}
