//! Commands that pages name exist: targets of make and their variables, benchmarks, tests and examples
//! of cargo, and its features.

use super::{code, none, pages, read, root};

/// What is wrong with the commands of make in a piece of code.
fn wrong_make(code: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, make) in code.match_indices("make ") {
        // Not CMake.
        if code[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
            continue;
        }
        let command = &code[at + make.len()..];
        let command = command.split(['`', '#', ';', '|', '&', '(', ')']).next().unwrap();
        let mut words = command.split_whitespace().peekable();
        let mut makefile = "Makefile".to_string();
        if words.peek() == Some(&"-C") {
            words.next();
            makefile = format!("{}/Makefile", words.next().unwrap_or_default());
        }
        if !root().join(&makefile).exists() {
            wrong.push(format!("make {command}: no {makefile}"));
            continue;
        }
        let makefile = read(makefile);
        for word in words.filter(|word| !word.starts_with('-')) {
            let known = match word.split_once('=') {
                Some((variable, _)) => super::words(&makefile).any(|word| word == variable),
                None => makefile.lines().any(|line| {
                    line.split_once(':').is_some_and(|(targets, rest)| {
                        !rest.starts_with('=') && targets.split(' ').any(|target| target == word)
                    })
                }),
            };
            if !known {
                wrong.push(format!("make {}: {word}", command.trim()));
            }
        }
    }
    wrong
}

/// What is wrong with the commands of cargo in a piece of code.
fn wrong_cargo(code: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for command in code.split("cargo ").skip(1) {
        let words: Vec<&str> = command.split_whitespace().collect();
        for pair in words.windows(2) {
            let name = pair[1];
            let candidates: &[String] = &match pair[0] {
                "--example" => ["examples/{}.rs", "lab/examples/{}.rs", "lab/examples/{}/main.rs"]
                    .map(|place| place.replace("{}", name))
                    .to_vec(),
                "--bench" => vec![format!("benches/{name}.rs"), format!("benches/{name}/main.rs")],
                "--test" => vec![format!("tests/{name}.rs"), format!("tests/{name}/main.rs")],
                "--manifest-path" => vec![name.to_string()],
                _ => continue,
            };
            if !candidates.iter().any(|file| root().join(file).exists()) {
                wrong.push(format!("cargo {}: {name}", command.trim()));
            }
        }
        for pair in words.windows(2).filter(|pair| pair[0] == "--features") {
            let declared = |line: &str| line.starts_with(&format!("{} = [", pair[1]));
            if !read("Cargo.toml").lines().any(declared) {
                wrong.push(format!("cargo {}: {}", command.trim(), pair[1]));
            }
        }
    }
    wrong
}

#[test]
fn commands_exist() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in pages().into_iter().filter(|page| page != "CHANGELOG.md") {
        let text = read(&page);
        for code in code(&text).into_iter().filter(|code| !code.contains("redis.conf")) {
            let code = code.trim();
            seen += usize::from(code.starts_with("make ") || code.starts_with("cargo "));
            let found = wrong_make(code).into_iter().chain(wrong_cargo(code));
            wrong.extend(found.map(|what| format!("{page}: {what}")));
        }
    }
    assert!(seen > 60, "{seen}: the test sees none");
    none("these commands do not exist", wrong);
}

#[test]
fn wrong_commands_are_found() {
    for wrong in
        ["make no-such", "make lab NOSUCH=1", "make -C c-tests no-such", "make -C nowhere x"]
    {
        assert_eq!(wrong_make(wrong).len(), 1, "{wrong}");
    }
    for right in [
        "make lab WRITE=1",
        "make -j2 test-all",
        "make -C c-tests size",
        "make",
        "(make redis)",
        "cmake -B x",
    ] {
        assert_eq!(wrong_make(right).len(), 0, "{right}");
    }
    for wrong in
        ["cargo run --example none", "cargo bench --bench none", "cargo add --features none"]
    {
        assert_eq!(wrong_cargo(wrong).len(), 1, "{wrong}");
    }
    assert_eq!(wrong_cargo("cargo run --release --example crawler 5").len(), 0);
}
