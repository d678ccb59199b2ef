//! `docs/FORMAT.md` and the pages in `docs/format/` say what the library does: their tables, the worked
//! example, and the reader in Python that was written from them.

use crate::definition::*;
use bloomline::definition::line;
use bloomline::{Filter, Params, View};
use std::path::{Path, PathBuf};

fn in_the_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    // A checkout may have given it the line ends of the system.
    std::fs::read_to_string(in_the_project(path)).unwrap().replace("\r\n", "\n")
}

fn page() -> String {
    read("docs/FORMAT.md")
}

/// The pages of the other layouts, with their names: what is in the folder.
fn pages_of_layouts() -> Vec<(String, String)> {
    std::fs::read_dir(in_the_project("docs/format"))
        .unwrap()
        .map(|file| format!("format/{}", file.unwrap().file_name().to_str().unwrap()))
        .map(|name| (name.clone(), read(&format!("docs/{name}"))))
        .collect()
}

/// The cells of the table rows that have as many as asked for and begin with a number.
fn rows(page: &str, cells: usize) -> Vec<Vec<&str>> {
    page.lines()
        .filter_map(|row| row.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| row.split(" | ").map(str::trim).collect::<Vec<_>>())
        .filter(|row| row.len() == cells && row[0].parse::<usize>().is_ok())
        .collect()
}

#[test]
fn the_page_s_tables() {
    let page = page();
    let fields = [
        ("`key_count`", KEY_COUNT),
        ("`line_count`", LINE_COUNT),
        ("`seed`", SEED),
        ("`k`", K),
        ("`layout`", LAYOUT),
        ("`version`", VERSION),
        ("`reserved`", RESERVED),
        ("`lines_checksum`", LINES_CHECKSUM),
        ("`footer_checksum`", FOOTER_CHECKSUM),
        ("`magic`", MAGIC),
    ];
    let table = rows(&page, 5);
    assert_eq!(table.len(), fields.len(), "the table of the footer");
    for (row, (name, range)) in table.iter().zip(fields) {
        let size = range.len().to_string();
        assert_eq!(row[..2], [range.start.to_string(), size], "{row:?}");
        assert_eq!(row[3], name);
    }
    let rules = [
        ("`TRUNCATED`", status::TRUNCATED),
        ("`NOT_A_FILTER`", status::NOT_A_FILTER),
        ("`VERSION`", status::VERSION),
        ("`CHECKSUM`", status::CHECKSUM),
        ("`LAYOUT`", status::LAYOUT),
        ("`RESERVED`", status::RESERVED),
        ("`K`", status::K),
        ("`LINE_COUNT`", status::LINE_COUNT),
        ("`TRUNCATED`", status::TRUNCATED),
        ("`CHECKSUM`", status::CHECKSUM),
        ("`CHECKSUM`", status::CHECKSUM),
    ];
    let table = rows(&page, 4);
    assert_eq!(table.len(), rules.len(), "the table of what is rejected");
    for (i, (row, (name, number))) in table.iter().zip(rules).enumerate() {
        assert_eq!(row[0], (i + 1).to_string());
        assert_eq!(row[2..], [name, &number.to_string()], "rule {}", i + 1);
    }
    for constant in [line::C1, line::C2] {
        assert!(page.contains(&format!("0x{constant:X}")), "a multiplier is on the page");
    }
}

/// Each layout but the first, which `docs/FORMAT.md` has, has a section of a page, and a link to that.
#[test]
fn the_pages_of_layouts() {
    let page = page();
    let list = page.split_once("## The other layouts").unwrap().1.split("\n## ").next().unwrap();
    let listed: Vec<&str> = rows(list, 2).iter().map(|row| row[0]).collect();
    assert_eq!(listed, ["2", "3", "4", "6", "7", "8", "9", "10", "11"]);
    let pages = pages_of_layouts();
    for row in rows(list, 2) {
        let heading = format!(": layout {}\n", row[0]);
        let (name, _) = pages.iter().find(|(_, text)| text.contains(&heading)).expect(&heading);
        assert!(row[1].contains(&format!("]({name}#")), "{row:?}");
        assert!(row[1].contains(&format!("-layout-{})", row[0])), "{row:?}");
    }
    // A rule that differs stands on the page of its layout, after that of the number before.
    for (name, text) in &pages {
        let (_, rules) = text.split_once("\n## What a reader MUST reject\n").expect(name);
        let rules: Vec<(usize, usize)> = rows(rules, 3)
            .iter()
            .filter_map(|row| Some((row[0].parse().ok()?, row[1].parse().ok()?)))
            .collect();
        assert!(!rules.is_empty() && rules.is_sorted(), "{name}: {rules:?}");
        for (layout, _) in rules {
            assert!(text.contains(&format!(": layout {layout}\n")), "{name}: {layout}");
        }
    }
}

/// The statuses that the pages name with their numbers are those.
#[test]
fn the_pages_statuses() {
    let text: String = pages_of_layouts().into_iter().map(|(_, text)| text).collect();
    let mut found = 0;
    for after in text.split("tatus `").skip(1) {
        let (name, rest) = after.split_once('`').unwrap();
        let Some(number) = rest.strip_prefix(", ") else { continue };
        let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap();
        let Ok(number) = number[..digits].parse::<u32>() else { continue };
        let expected = match name {
            "RATE" => status::RATE,
            "OUT_OF_MEMORY" => status::OUT_OF_MEMORY,
            "TRUNCATED" => status::TRUNCATED,
            "NOT_A_FILTER" => status::NOT_A_FILTER,
            "VERSION" => status::VERSION,
            "CHECKSUM" => status::CHECKSUM,
            "RESERVED" => status::RESERVED,
            "GENERATIONS" => status::GENERATIONS,
            "COLUMNS" => status::COLUMNS,
            "SEQUENCE" => status::SEQUENCE,
            other => panic!("{other} is no status that this test knows"),
        };
        assert_eq!(number, expected, "{name}");
        found += 1;
    }
    assert!(found >= 10, "{found}");
}

/// The header of a journal's record, field by field.
#[test]
fn the_page_s_journals() {
    let page = read("docs/format/growing.md");
    let section = page.split_once("## Journals of growing filters").unwrap().1;
    use crate::kinds::journal_bytes::of_record as at;
    for (field, range) in [
        ("magic", at::MAGIC),
        ("version", at::VERSION),
        ("kind", at::KIND),
        ("zero", at::ZERO),
        ("len", at::LEN),
        ("sequence", at::SEQUENCE),
        ("base", at::BASE),
        ("origin", at::ORIGIN),
        ("content_checksum", at::CONTENT_CHECKSUM),
        ("header_checksum", at::CHECKSUM),
    ] {
        let number = match field {
            "magic" => "bytes".to_string(),
            _ => format!("u{}", 8 * range.len()),
        };
        let start = [range.start.to_string(), number, field.to_string()];
        let is_it = |line: &str| line.split_whitespace().take(3).eq(start.iter());
        assert!(section.lines().any(is_it), "{start:?}");
    }
    assert!(section.contains("42 4C 4D 4A 52 4E 4C 0A: \"BLMJRNL\""));
    assert_eq!([0x42, 0x4C, 0x4D, 0x4A, 0x52, 0x4E, 0x4C, 0x0A], *b"BLMJRNL\n");
}

#[test]
fn the_page_s_worked_example() {
    let page = page();
    let hex = |field: &str| u64::from_str_radix(field.strip_prefix("0x").unwrap(), 16).unwrap();

    // Rows of "key hash g start".
    let mut filter = Filter::new(Params::new(1, 6, 0).unwrap()).unwrap();
    for row in page.lines() {
        let fields: Vec<&str> = row.split_whitespace().collect();
        let [key, hash, g, start] = fields[..] else { continue };
        if !hash.starts_with("0x") || !g.starts_with("0x") {
            continue;
        }
        assert_eq!(bloomline::hash::hash(key.as_bytes(), 0), hex(hash), "hash of {key}");
        assert_eq!(hex(hash).wrapping_mul(line::C1), hex(g), "g of {key}");
        assert_eq!(hex(g) >> 61, start.parse::<u64>().unwrap(), "g >> 61 of {key}");
        filter.insert(key.as_bytes());
    }
    assert_eq!(filter.key_count(), 2, "keys of the example");

    // Rows of "offset  8 bytes  8 bytes".
    let mut dump = Vec::new();
    for row in page.lines() {
        let fields: Vec<&str> = row.split_whitespace().collect();
        if fields.len() == 17 && usize::from_str_radix(fields[0], 16) == Ok(dump.len()) {
            let bytes = fields[1..].iter().map(|byte| u8::from_str_radix(byte, 16).unwrap());
            dump.extend(bytes);
        }
    }
    assert_eq!(dump, filter.to_bytes().unwrap(), "the dump on the page");
    assert_eq!(check(&dump, true), status::OK);
    for field in [LINES_CHECKSUM, FOOTER_CHECKSUM] {
        assert!(page.contains(&format!("`0x{:016x}`", get(&dump, field))), "a checksum");
    }

    // Rows of "lane, bit of each key, value".
    let masks =
        ["apple", "pear"].map(|key| line::mask(bloomline::hash::hash(key.as_bytes(), 0), 6));
    let mut lanes = 0;
    for row in page.lines() {
        let fields: Vec<&str> = row.split_whitespace().collect();
        let [lane, first, second, value] = fields[..] else { continue };
        let (Ok(lane), true) = (lane.parse::<usize>(), value.starts_with("0x")) else { continue };
        for (bit, mask) in [first, second].into_iter().zip(masks) {
            let expected = bit.parse().map_or(0, |bit: u32| 1 << bit);
            assert_eq!(mask[lane], expected, "lane {lane}");
        }
        assert_eq!(hex(value).to_le_bytes(), dump[8 * lane..][..8], "lane {lane}");
        lanes += 1;
    }
    assert_eq!(lanes, 8, "lanes of the example");

    let view = View::open(&dump).unwrap();
    assert!(view.contains(b"apple") && view.contains(b"pear") && !view.contains(b"plum"));
    let plum = bloomline::hash::hash(b"plum", 0);
    assert!(page.contains(&format!("{plum:#018x}")) && line::mask(plum, 6)[2] == 1 << 23);
}

/// A reader that shares nothing with the library but the page agrees with all of it.
#[test]
fn a_reader_written_from_the_page() {
    let output = std::process::Command::new("python3")
        .args(["tests/format_reader.py", "golden", "docs/FORMAT.md"])
        .current_dir(in_the_project("."))
        // Where the tests run under an emulator, its libraries are not Python's.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("this test needs python3 in the PATH");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("worked example"));
}
