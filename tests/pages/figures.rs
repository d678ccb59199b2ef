//! Figures of the README: those of speed are of `docs/benchmarks/speed.csv`, those of sizes of the
//! library. `BLESS=1` writes the first.

use super::{read, root};
use bloomline::{Params, sizing};
use std::fmt::Write as _;
use std::fs;

/// The size of the filters in the README's tables.
const BYTES: &str = "67108864";

/// Columns of the README, and what they are in the file.
const COLUMNS: [(&str, &[&str]); 4] = [
    ("build", &["insert batch", "insert", "insert one"]),
    ("one", &["probe one", "single"]),
    ("four", &["batch of 4"]),
    ("many", &["probe batch", "batch"]),
];

/// The limit in a column: one inlined touch, and the fastest loop over many.
const TOUCH: &str = "touch";

struct Row<'a> {
    sized: &'a str,
    name: &'a str,
    what: &'a str,
    mix: &'a str,
    bits: f64,
    rate: f64,
    ns: f64,
}

/// The rows of one size of filters.
fn rows(csv: &str) -> Vec<Row<'_>> {
    let mut lines = csv.lines();
    let head =
        "filter_bytes,keys,sized_by,contender,what,probes,bits_per_key,false_positives,ns_median";
    assert!(lines.next().unwrap().starts_with(head), "the columns of the file are others");
    lines
        .filter(|line| line.starts_with(BYTES))
        .map(|line| {
            // A name is quoted, and may have commas.
            let (front, rest) = line.split_once(",\"").unwrap();
            let (name, rest) = rest.split_once("\",").unwrap();
            let rest: Vec<&str> = rest.split(',').collect();
            let number = |text: &str| text.parse().unwrap_or(f64::NAN);
            Row {
                sized: front.rsplit(',').next().unwrap(),
                name,
                what: rest[0],
                mix: rest[1],
                bits: number(rest[2]),
                rate: number(rest[3]),
                ns: number(rest[4]),
            }
        })
        .collect()
}

/// Two digits, as the tables have them.
fn short(ns: f64) -> String {
    if ns < 9.95 { format!("{ns:.1}") } else { format!("{ns:.0}") }
}

/// The cells of a row of the README: what the file has, or nothing.
fn cell(rows: &[Row<'_>], name: &str, sized: &[&str], column: &str) -> String {
    for size in sized {
        let of = |row: &&Row<'_>| {
            row.sized == *size && (row.mix.is_empty() || row.mix == "half present")
        };
        let own: Vec<&Row<'_>> = rows.iter().filter(of).filter(|row| row.name == name).collect();
        let found = match column {
            "bits per key" => own.first().map(|row| format!("{:.1}", row.bits)),
            "false positives" => own.first().map(|row| format!("{:.2} %", row.rate * 100.0)),
            _ => {
                let whats = COLUMNS.iter().find(|(head, _)| *head == column).expect(column).1;
                let of = |what: &&str| own.iter().find(|row| row.what == *what);
                whats.iter().find_map(of).map(|row| short(row.ns))
            }
        };
        if let Some(found) = found {
            return found;
        }
    }
    String::new()
}

/// The cells of the limit.
fn limit(rows: &[Row<'_>], sized: &[&str], column: &str) -> String {
    let Some((_, whats)) = COLUMNS.iter().find(|(head, _)| *head == column) else {
        return String::new();
    };
    let touches = rows.iter().filter(|row| {
        row.sized == sized[0]
            && row.name.starts_with("touch")
            && whats.contains(&row.what)
            && (row.mix.is_empty() || row.mix == "half present")
    });
    touches.map(|row| row.ns).min_by(f64::total_cmp).map(short).unwrap_or_default()
}

/// The README with the figures of the file in the two tables that a comment announces.
fn with_figures(readme: &str, csv: &str) -> String {
    let rows = rows(csv);
    let mut out = String::new();
    let mut sized: Option<&[&str]> = None;
    let mut heads: Vec<&str> = Vec::new();
    for line in readme.lines() {
        if line.contains("<!-- figures") {
            let rate: &[&str] = &["rate 0.01", "10 bits per key"];
            let memory: &[&str] = &["10 bits per key"];
            sized = Some(if line.contains("at 1 %") { rate } else { memory });
        } else if !heads.is_empty() && !line.starts_with('|') {
            (sized, heads) = (None, Vec::new());
        } else if let Some(sized) = sized
            && let Some(inner) = line.strip_prefix("| ")
        {
            let cells: Vec<&str> = inner.trim_end_matches('|').split('|').map(str::trim).collect();
            if heads.is_empty() {
                heads = cells;
            } else {
                let name = cells[0].split('`').nth(1).expect("a name in backticks");
                let new = heads.iter().zip(&cells).map(|(head, cell)| match *head {
                    "type" | "filter" | "what it does" => cell.to_string(),
                    head if name == TOUCH => limit(&rows, sized, head),
                    head => cell_of(&rows, name, sized, head),
                });
                let mut row = String::from("|");
                for cell in new {
                    let _ = write!(row, " {cell}{}|", if cell.is_empty() { "" } else { " " });
                }
                out.push_str(&row);
                out.push('\n');
                continue;
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// As `cell`, by the README's names of contenders.
fn cell_of(rows: &[Row<'_>], name: &str, sized: &[&str], head: &str) -> String {
    let known: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let full = known.iter().find(|known| {
        **known == name
            || known.ends_with(&format!(", {name}"))
            || known.starts_with(&format!("{name} of "))
    });
    full.map_or(String::new(), |full| cell(rows, full, sized, head))
}

/// The README's figures of a matrix, as `docs/benchmarks/matrix.csv` has them.
fn of_matrix(csv: &str) -> String {
    let ns = |what: &str| {
        let begin = format!("512,1048576,\"{what}\",");
        let line = csv.lines().find_map(|line| line.strip_prefix(&begin)).expect("its row");
        let ns = line.split(',').next().unwrap().parse::<f64>().unwrap().round() as u64;
        let digits = ns.to_string();
        match digits.len() {
            0..=3 => digits,
            len => format!("{},{}", &digits[..len - 3], &digits[len - 3..]),
        }
    };
    format!(
        "(one key in 512 filters of 1 MiB takes {} ns, in a loop over them {} ns)",
        ns("Matrix"),
        ns("loop")
    )
}

#[test]
fn figures_of_a_matrix_are_of_its_file() {
    let (readme, right) = (read("README.md"), of_matrix(&read("docs/benchmarks/matrix.csv")));
    assert!(readme.contains(&right), "the README should say: {right}");
    assert!(!readme.replace(&right, "").contains("key in 512 filters"));
}

#[test]
fn figures_are_of_the_file() {
    let readme = read("README.md");
    let new = with_figures(&readme, &read("docs/benchmarks/speed.csv"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(root().join("README.md"), new).unwrap();
    } else {
        let differ = readme.lines().zip(new.lines()).find(|(old, new)| old != new);
        assert_eq!(differ, None, "BLESS=1 cargo test --release --test pages figures::figures");
        assert!(new.matches("| `").count() >= 9);
    }
}

#[test]
fn another_figure_is_found() {
    let (readme, csv) = (read("README.md"), read("docs/benchmarks/speed.csv"));
    let right = with_figures(&readme, &csv);
    let other = csv.replace(&format!("{BYTES},"), "1,");
    assert_ne!(with_figures(&readme, &other), right);
    let row = right.lines().find(|line| line.starts_with("| `Filter` ")).unwrap();
    assert!(row.split('|').filter(|cell| cell.trim().parse::<f64>().is_ok()).count() == 4, "{row}");
}

/// A size as the table has it.
fn size(bytes: usize) -> String {
    let (value, unit) = if bytes >= 500_000_000 { (1e9, "GB") } else { (1e6, "MB") };
    let value = bytes as f64 / value;
    let digits = if value < 4.0 { 2 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// What is wrong with the table of sizes.
fn wrong_sizes(readme: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let table = readme.split("## Sizes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rates = [0.1, 0.01, 0.001, 0.0001];
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(lines[0], "| keys | 10 % | 1 % | 0.1 % | 0.01 % |");
    assert!(lines.len() >= 4);
    for line in &lines[1..] {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        for (rate, cell) in rates.iter().zip(&cells[1..]) {
            let right = match cells[0].replace(',', "").parse::<u64>() {
                Ok(keys) => size(Params::for_rate(keys, *rate).unwrap().bytes()),
                Err(_) => format!("{:.1}", sizing::bits_for_rate(*rate).unwrap().0),
            };
            if *cell != right {
                wrong.push(format!("{}, {rate}: {cell}, not {right}", cells[0]));
            }
        }
    }
    wrong
}

#[test]
fn sizes_are_the_librarys() {
    super::none("wrong sizes", wrong_sizes(&read("README.md")));
}

#[test]
fn a_wrong_size_is_found() {
    let readme = read("README.md");
    let right = wrong_sizes(&readme).len();
    assert_eq!(wrong_sizes(&readme.replace("| 15.6 |", "| 15.5 |")).len(), right + 1);
}
