//! A version is said in one place, and the others agree with it.

use super::{none, pages, read};

/// The numbers behind a word, such as "1.89" of "Rust 1.89 or later".
fn numbers<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(word).skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        (number.contains('.')).then_some(number)
    })
}

/// The value of the first line that begins so.
fn value(file: &str, start: &str) -> String {
    let text = read(file);
    let line = text.lines().find(|line| line.starts_with(start));
    let line = line.unwrap_or_else(|| panic!("{file} has no {start}"));
    line[start.len()..].trim_matches([' ', '=', '"']).to_string()
}

/// Major and minor number of the Go that a module needs.
fn go(module: &str) -> String {
    let version = value(&format!("{module}/go.mod"), "go ");
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// The pages, and what else names versions to people.
fn texts() -> Vec<(String, String)> {
    let others = ["Makefile", "CMakeLists.txt", ".ci/run"].map(String::from);
    let pages = pages().into_iter().filter(|page| page != "CHANGELOG.md");
    pages.chain(others).map(|file| (file.clone(), read(file))).collect()
}

#[test]
fn rust_and_go() {
    let rust = value("Cargo.toml", "rust-version");
    assert_eq!(value("modules/redis/Cargo.toml", "rust-version"), rust);
    let datafusion = value("adapters/datafusion/Cargo.toml", "rust-version");
    let core = go("go");
    for same in ["go/pebblefilter", "go/goleveldbfilter"] {
        assert_eq!(go(same), core, "{same}");
    }
    let redis = go("go/redisfilter");
    assert_eq!(go("go/examples/guard"), redis);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (file, text) in texts() {
        let of_rust = numbers(&text, "Rust ").chain(numbers(&text, "Rust** "));
        for found in of_rust {
            seen += 1;
            if found != rust && found != datafusion {
                wrong.push(format!(
                    "{file}: Rust {found}, and Cargo.toml has {rust}, DataFusion {datafusion}"
                ));
            }
        }
        for found in numbers(&text, "Go ").filter(|found| *found != "1.27") {
            seen += 1;
            if found != core && found != redis {
                wrong.push(format!(
                    "{file}: Go {found}, and go.mod has {core}, redisfilter {redis}"
                ));
            }
        }
    }
    assert!(seen >= 10, "{seen}");
    none("versions differ", wrong);
}

#[test]
fn this_library() {
    let version = value("Cargo.toml", "version");
    for file in ["README.md", "docs/SUPPORT.md"] {
        let text = read(file).to_lowercase();
        assert!(
            text.contains(&format!("version {version}"))
                || text.contains(&format!("version is {version}")),
            "{file}"
        );
    }
    let abi = value("include/bloomline.h", "#define BLOOMLINE_ABI_VERSION");
    let support = read("docs/SUPPORT.md");
    assert!(support.contains(&format!("ABI version {abi}, in `libbloomline.so.{abi}`")));
    let statuses = read("include/bloomline.h").matches("#define BLOOMLINE_ERR_").count();
    assert!(support.contains(&format!("| 0 to {statuses} |")), "0 to {statuses}");
    assert!(read("docs/FORMAT.md").contains("| version | 1 |"));
    assert!(support.contains("format version 1"));
}

#[test]
fn engines() {
    let header = read("adapters/rocksdb/filter_bits.h");
    let first = numbers(&header, "RocksDB before ").next().unwrap();
    let last = numbers(&header, "RocksDB after ").next().unwrap();
    let page = read("docs/ENGINES.md");
    assert!(page.contains(&format!("| RocksDB {first} to ")), "{first}");
    assert!(page.contains(&format!(" to {last} |")), "{last}");
    for file in ["CHANGELOG.md", "adapters/rocksdb/bloomline_rocksdb.h"] {
        assert!(read(file).contains(&format!("{first} to {last}")), "{file}");
    }
    assert!(
        read("docs/how-to/troubleshooting.md")
            .contains(&format!("RocksDB after {last} is not known"))
    );
    let pebble = read("go/pebblefilter/go.mod");
    let pebble = pebble.split("cockroachdb/pebble/v2 v").nth(1).unwrap();
    let pebble = pebble.split_whitespace().next().unwrap();
    assert!(page.contains(&format!(" {pebble}: ")), "{pebble}");
}

#[test]
fn numbers_are_found() {
    let text = "Rust 1.89 or later. Go 1.24, Rust 2. Rust 1.90.";
    assert_eq!(numbers(text, "Rust ").collect::<Vec<_>>(), ["1.89", "1.90"]);
    assert_eq!(numbers(text, "Go ").collect::<Vec<_>>(), ["1.24"]);
}
