//! The golden files of static filters, in `golden/static/`: they are what
//! `src/layouts/static_line.rs` and XXH3-64 make, and no kernel, byte for byte; every backend reads
//! the accepted ones and builds the same, and the others are rejected with their error.
//! `BLESS=1 cargo test --test all golden_static` writes them anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, numbers, probes_of, seeded};
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
        let some = &hashes[..hashes.len().min(48)];
        let probes = probes_of(some, usize::MAX, (48, u64::from(rows)));
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
        let keys = seeded(90, 9);
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
    let mut bad = Spoilt { files, intact: &intact };
    bad.ends();
    bad.add("footer-levels-changed", status::CHECKSUM, intact.altered(RESERVED, 0));
    bad.with("layout-9", status::LAYOUT, &[(LAYOUT, 9)]);
    // A third level without a second, more without a third, too many, and bits above.
    for sizes in [0x100, 0x1_0000, 0x1_0056, 0x10_0156, 0xFF_0156, 1 << 24 | 86, 1 << 63] {
        bad.with(&format!("levels-{sizes:x}"), status::RESERVED, &[(RESERVED, sizes)]);
    }
    // The last is good in its lowest byte.
    bad.each("k", status::K, K, &[0, 1, 3, 17, 0x0000_0108]);
    bad.line_counts(&[0, (1 << 48) + 1, 1 << 58, (1 << 58) + 3, u64::MAX]);
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, 4)]);
    bad.with("length-a-level-less", status::TRUNCATED, &[(RESERVED, 86 | 1 << 8)]);
    bad.add(
        "length-a-level-more",
        status::TRUNCATED,
        intact.with(&[(RESERVED, 86 | 1 << 8 | 2 << 16)]),
    );
    bad.add(
        "length-a-longer-level",
        status::TRUNCATED,
        intact.with(&[(RESERVED, 171 | 1 << 8 | 1 << 16)]),
    );
    bad.with("length-lines-of-128", status::TRUNCATED, &[(K, 9)]);
    bad.with("length-most-lines", status::TRUNCATED, &[(LINE_COUNT, 1 << 48)]);
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.with("order-6-7", status::RESERVED, &[(RESERVED, 1 << 8), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 3), (LINE_COUNT, 0)]);
    bad.order_of_lengths(4);
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
