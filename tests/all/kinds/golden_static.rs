//! The golden files of static filters, in `golden/static/`: they are what
//! `src/layouts/static_line.rs` and XXH3-64 make, and no kernel, byte for byte; every backend reads
//! the accepted ones and builds the same, and the others are rejected with their error.
//! `BLESS=1 cargo test --test all golden_static` writes them anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, golden_tests, numbers};
use bloomline::StaticFilter;
use bloomline::definition::static_line::{self, Levels};
use std::fmt::Write as _;

fn levels(line_count: u64, shares: [u8; 2], tail: u8) -> Levels {
    Levels { line_count, shares, tail }
}

fn accepted(files: &mut Golden) {
    let mut add = |name: String, rows: u32, levels: Levels, seed: u64, hashes: &[u64]| {
        let lines = static_line::build(hashes, levels, rows);
        let bytes = encode_static(&lines, rows, levels, seed, hashes.len() as u64);
        let others = random_hashes(48, u64::from(rows));
        let some = hashes.iter().take(48);
        let probes = some.chain(&others).chain(&AWKWARD).copied().collect();
        files.accept(name, bytes, probes);
    };
    for rows in 4..=16 {
        // As full as lines are, and four levels.
        let width = (static_line::OWN + static_line::extra_columns(rows)) as usize;
        let hashes = random_hashes(5 * width * 11 / 10, u64::from(rows));
        add(format!("rows{rows:02}"), rows, levels(5, [52, 200], 1), 0, &hashes);
    }
    for rows in [8, 12] {
        let name = |what: &str| format!("rows{rows:02}-{what}");
        add(name("empty"), rows, levels(1, [0; 2], 0), 0, &[]);
        add(name("one-key"), rows, levels(1, [0; 2], 0), 0, &[0x0123_4567_89AB_CDEF]);
        add(name("awkward-hashes"), rows, levels(2, [1, 1], 0), 0, &AWKWARD);
        // More keys than all levels can hold: those that all bump may be present.
        let many = random_hashes(500, 77);
        add(name("overfull"), rows, levels(1, [255, 255], 2), 0, &many);
        // No key where the high bits are not these.
        let close: Vec<u64> = random_hashes(100, 5).into_iter().map(|hash| hash >> 12).collect();
        add(name("one-position"), rows, levels(7, [100, 1], 0), 0, &close);
        let keys: Vec<u64> = (0..90).map(|i| hash(format!("key {i}").as_bytes(), 9)).collect();
        add(name("seed-nine"), rows, levels(2, [128, 1], 0), 9, &keys);
        add(name("most-levels"), rows, levels(3, [255, 255], 15), u64::MAX, &keys);
    }
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    let shape = levels(3, [86, 1], 1);
    let intact = Intact({
        let lines = static_line::build(&random_hashes(200, 5), shape, 8);
        encode_static(&lines, 8, shape, 0, 200)
    });
    let len = intact.0.clone().len();
    let mut add = |name: &str, status: u32, bytes: Vec<u8>| files.reject(name, status, bytes);
    add("short-63", status::TRUNCATED, intact.0[len - 63..].to_vec());
    add("magic-cut-by-a-line", status::NOT_A_FILTER, intact.0[..len - 64].to_vec());
    add("version-2", status::VERSION, intact.with(&[(VERSION, 2)]));
    add("footer-levels-changed", status::CHECKSUM, intact.altered(RESERVED, 0));
    add("layout-9", status::LAYOUT, intact.with(&[(LAYOUT, 9)]));
    // A third level without a second, more without a third, too many, and bits above.
    for sizes in [0x100, 0x1_0000, 0x1_0056, 0x10_0156, 0xFF_0156, 1 << 24 | 86, 1 << 63] {
        add(&format!("levels-{sizes:x}"), status::RESERVED, intact.with(&[(RESERVED, sizes)]));
    }
    // The last is good in its lowest byte.
    for k in [0, 1, 3, 17, 0x0000_0108] {
        add(&format!("k-{k}"), status::K, intact.with(&[(K, k)]));
    }
    for count in [0, (1 << 48) + 1, 1 << 58, (1 << 58) + 3, u64::MAX] {
        let name = format!("line-count-{count:x}");
        add(&name, status::LINE_COUNT, intact.with(&[(LINE_COUNT, count)]));
    }
    add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    add("length-one-line-more", status::TRUNCATED, intact.with(&[(LINE_COUNT, 4)]));
    add("length-a-level-less", status::TRUNCATED, intact.with(&[(RESERVED, 86 | 1 << 8)]));
    add(
        "length-a-level-more",
        status::TRUNCATED,
        intact.with(&[(RESERVED, 86 | 1 << 8 | 2 << 16)]),
    );
    add(
        "length-a-longer-level",
        status::TRUNCATED,
        intact.with(&[(RESERVED, 171 | 1 << 8 | 1 << 16)]),
    );
    add("length-lines-of-128", status::TRUNCATED, intact.with(&[(K, 9)]));
    add("length-most-lines", status::TRUNCATED, intact.with(&[(LINE_COUNT, 1 << 48)]));
    add("lines-first-byte-changed", status::CHECKSUM, intact.flipped(0, 0x10));
    add("order-6-7", status::RESERVED, intact.with(&[(RESERVED, 1 << 8), (K, 0)]));
    add("order-7-8", status::K, intact.with(&[(K, 3), (LINE_COUNT, 0)]));
    add("order-8-9", status::LINE_COUNT, intact.with(&[(LINE_COUNT, 0)])[64..].to_vec());
    add("order-9-10", status::TRUNCATED, Intact(intact.with(&[(LINE_COUNT, 4)])).flipped(0, 1));
}

/// Hash, rows and line count to coefficients, fingerprint, line, position and next hash.
fn vectors() -> String {
    let hashes: Vec<u64> = AWKWARD.into_iter().chain(random_hashes(10, 30)).collect();
    let mut text = String::new();
    for (i, &hash) in hashes.iter().enumerate() {
        for rows in [4 + i as u32 % 13, 4 + (5 * i as u32 + 6) % 13] {
            let count = [1, 3, 64, 1000, static_line::MAX_LINES][i % 5];
            let coefficients = static_line::coefficients(hash, rows);
            let fingerprint = static_line::fingerprint(hash, rows);
            let (line, position) = static_line::place(hash, count);
            let next = static_line::next_hash(hash);
            write!(text, "{hash:016x} {count} {rows} {coefficients:032x} {fingerprint} ").unwrap();
            writeln!(text, "{line} {position} {next:016x}").unwrap();
        }
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("static", 200 << 10);
    files.check = None;
    files.numbers = |bytes| [numbers(bytes), vec![get(bytes, RESERVED)]].concat();
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors())];
    files.sorted()
}

golden_tests!(StaticFilter);
