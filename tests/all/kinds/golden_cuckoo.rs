//! The golden files of cuckoo filters, in `golden/cuckoo/`: they are what `src/layouts/cuckoo.rs` and
//! XXH3-64 make, and no kernel, byte for byte; every backend reads the accepted ones, and the
//! others are rejected with their error. `BLESS=1 cargo test --test golden_cuckoo` writes them
//! anew. `golden/README.md` says what each file is.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, probes_of, seeded};

use bloomline::definition::cuckoo;
use bloomline::{CuckooFilter, CuckooParams};
use std::fmt::Write as _;

/// The lines of these hashes, of which the last `removed` have been removed again.
fn lines_of_cuckoo(line_count: usize, bits: u32, hashes: &[u64], removed: usize) -> Vec<u8> {
    let mut lines = vec![0; line_count * 64];
    for &hash in hashes {
        assert!(cuckoo::insert(&mut lines, bits, hash).is_some());
    }
    for &hash in &hashes[hashes.len() - removed..] {
        assert!(cuckoo::remove(&mut lines, bits, hash));
    }
    lines
}

fn accepted(files: &mut Golden) {
    let mut add = |name: String, bits: u32, lines: &[u8], seed: u64, count: u64, probes: &[u64]| {
        let probes = probes_of(probes, usize::MAX, (64, u64::from(bits)));
        files.accept(name, encode_cuckoo(lines, bits, seed, count), probes);
    };
    for bits in [8, 12, 16] {
        for line_count in [1, 2, 3, 7, 200] {
            // 80 % of the slots, and a fifth of them freed again.
            let keys = line_count * cuckoo::buckets(bits) as usize * 4 * 8 / 10;
            let hashes = random_hashes(keys, line_count as u64);
            let lines = lines_of_cuckoo(line_count, bits, &hashes, keys / 5);
            let count = keys - keys / 5;
            let some: Vec<u64> = hashes.into_iter().rev().take(80).collect();
            let name = format!("bits{bits:02}-lines{line_count}");
            add(name, bits, &lines, 0, count as u64, &some);
        }
        add(format!("bits{bits:02}-empty"), bits, &[0; 128], 0, 0, &[]);
        let awkward = lines_of_cuckoo(5, bits, &AWKWARD, 0);
        add(format!("bits{bits:02}-awkward-hashes"), bits, &awkward, 0, 16, &[]);
        // As full as it gets: inserts that moved others, and some that were refused.
        let mut full = vec![0; 4 * 64];
        let hashes = random_hashes(4 * 64, 77);
        let count =
            hashes.iter().filter(|&&hash| cuckoo::insert(&mut full, bits, hash).is_some()).count();
        add(format!("bits{bits:02}-full"), bits, &full, 0, count as u64, &hashes[..80]);
        // What no writer writes, and a reader answers all the same.
        add(format!("bits{bits:02}-all-ones"), bits, &[0xFF; 64], 0, 0, &[]);
        let keys = seeded(30, 9);
        let lines = lines_of_cuckoo(2, bits, &keys, 0);
        add(format!("bits{bits:02}-seed-nine"), bits, &lines, 9, u64::MAX, &keys);
    }
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    let intact =
        Intact(encode_cuckoo(&lines_of_cuckoo(3, 12, &random_hashes(60, 5), 0), 12, 0, 60));
    let mut bad = Spoilt { files, intact: &intact };
    bad.ends();
    bad.add("footer-key-count-changed", status::CHECKSUM, intact.altered(KEY_COUNT, 61));
    bad.with("reserved-lowest-bit", status::RESERVED, &[(RESERVED, 1)]);
    bad.with("reserved-highest-bit", status::RESERVED, &[(RESERVED, 1 << 63)]);
    // Cuckoo filters of another kind, which no release wrote.
    bad.with("layout-5", status::LAYOUT, &[(LAYOUT, 5)]);
    // k is 8, 12 or 16; the last is good in its lowest byte.
    bad.each("k", status::K, K, &[0, 1, 4, 7, 9, 10, 15, 17, 24, 0x0000_010C]);
    // The last four are those whose size is over the limit, overflows, or seems right when it
    // does.
    bad.line_counts(&[0, 1 << 32, u64::MAX, 1 << 58, (1 << 58) + 3]);
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, 2)]);
    bad.with("length-most-lines", status::TRUNCATED, &[(LINE_COUNT, (1 << 32) - 1)]);
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-spare-byte-changed", 63, 1);
    bad.with("order-6-7", status::RESERVED, &[(RESERVED, 1), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 6), (LINE_COUNT, 0)]);
    bad.order_of_lengths(2);
}

/// Hash, bits and line count to the fingerprint and the two buckets.
fn vectors() -> String {
    let line_counts = [1, 2, 3, 17, 64, 127, 128, 191, 1000, 0x0100_0001, cuckoo::MAX_LINES];
    let hashes: Vec<u64> = AWKWARD.into_iter().chain(random_hashes(24, 30)).collect();
    let mut text = String::new();
    for (i, &hash) in hashes.iter().enumerate() {
        for (j, bits) in [8, 12, 16].into_iter().enumerate() {
            for line_count in [line_counts[(i + j) % 11], line_counts[(i + j + 5) % 11]] {
                let fingerprint = cuckoo::fingerprint(hash, bits);
                let first = cuckoo::first(hash, bits, line_count);
                let other = cuckoo::other(first, fingerprint, bits, line_count);
                let (a, b, c, d) = (first.line, first.bucket, other.line, other.bucket);
                writeln!(text, "{hash:016x} {line_count} {bits} {fingerprint} {a} {b} {c} {d}")
                    .unwrap();
            }
        }
    }
    text
}

/// What filters take and refuse when they are full, what that costs, and that removals make room.
/// A row is a filter, an insert, a removal, or the lines that result.
fn refused() -> String {
    let mut text = String::new();
    for (bits, line_count) in [(8, 2), (12, 3), (16, 3)] {
        writeln!(text, "filter {bits} {line_count}").unwrap();
        let slots = (line_count * cuckoo::buckets(bits) * 4) as usize;
        let mut lines = vec![0; line_count as usize * 64];
        let (mut budget, mut present) = (cuckoo::Budget::default(), Vec::new());
        let mut others = random_hashes(3 * slots, u64::from(bits) + 50).into_iter();
        // One key again and again; then half as many again as there are slots; then some for each
        // that is removed.
        let copies = std::iter::repeat_n(others.next().unwrap(), 10);
        let many = others.by_ref().take(slots + slots / 2).collect::<Vec<_>>();
        let removals = std::iter::repeat_n((true, 0), slots / 4);
        let removals = removals.flat_map(|gone| [gone, (false, 0), (false, 0), (false, 0)]);
        let inserts = copies.chain(many).map(|hash| (false, hash));
        for (i, (removes, hash)) in inserts.chain(removals).enumerate() {
            if removes {
                let gone = present.remove(i * 7 % present.len());
                assert!(cuckoo::remove(&mut lines, bits, gone));
                writeln!(text, "remove {gone:016x}").unwrap();
                continue;
            }
            let hash = if hash == 0 { others.next().unwrap() } else { hash };
            let keys = present.len() as u64;
            let done = cuckoo::insert_within(&mut lines, bits, hash, budget.kicks(keys));
            match done.new {
                Some(_) => present.push(hash),
                None if done.kicks != 0 => budget.waste(done.kicks, keys),
                None => {}
            }
            let ok = u8::from(done.new.is_some());
            writeln!(text, "insert {hash:016x} {ok} {}", done.kicks).unwrap();
        }
        let hex: String = lines.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "lines {hex}").unwrap();
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("cuckoo", 200 << 10);
    files.check = None;
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors()), ("refused.txt", refused())];
    files.sorted()
}

golden_tests!(CuckooFilter);

/// A full filter takes, refuses and relocates as the definition says.
#[test]
fn full_filters_refuse_as_the_definition_says() {
    let mut filter = CuckooFilter::new(CuckooParams::new(1, 8, 0).unwrap()).unwrap();
    for row in refused().lines() {
        let fields: Vec<&str> = row.split(' ').collect();
        let hash = || u64::from_str_radix(fields[1], 16).unwrap();
        match fields[0] {
            "filter" => {
                let (bits, lines) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
                filter = CuckooFilter::new(CuckooParams::new(lines, bits, 0).unwrap()).unwrap();
            }
            "insert" => {
                let before = filter.kicks();
                let ok = u8::from(filter.insert_hash(hash()).is_ok());
                let kicks = filter.kicks() - before;
                assert_eq!(row, format!("insert {:016x} {ok} {kicks}", hash()));
            }
            "remove" => filter.remove_hash(hash()).unwrap(),
            _ => {
                let hex: String = filter.lines().iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(fields[1], hex);
            }
        }
    }
}
