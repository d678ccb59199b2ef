//! The golden files: they are what the plain definition makes, byte for byte, and the
//! library reads the accepted ones with every backend and rejects the others with the
//! exact error. `BLESS=1 cargo test --test golden` writes them anew; `golden/README.md`
//! says what each file is.
//!
//! Those of other kinds are in `kinds/golden_KIND.rs`. All are made by `line.rs` and XXH3-64 alone
//! (`definition/mod.rs`): no kernel takes part, so a mistake that all kernels share would show.

use crate::committed;
use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, numbers, probes_of, seeded};

use bloomline::definition::line;
use bloomline::{Filter, Params, View, hash};
use std::fmt::Write as _;

// ---- what the files are ----

/// A filter of `inserted`, and 80 of them and 64 others to probe it with.
fn of_hashes(lines: usize, k: u32, seed: u64, inserted: &[u64]) -> (Vec<u8>, Vec<u64>) {
    let bytes = encode(&lines_of(lines, k, inserted), k, seed, inserted.len() as u64);
    (bytes, probes_of(inserted, 80, (48, u64::from(k) << 32 | lines as u64)))
}

fn accepted(files: &mut Golden) {
    let mut add = |name: &str, (bytes, probes)| files.accept(name, bytes, probes);
    // Every k, at about 12 bits per key.
    for k in 1..=line::MAX_K {
        let inserted = random_hashes(128, k.into());
        add(&format!("k{k:02}"), of_hashes(3, k, 0, &inserted));
    }
    // Line counts: one line only, powers of two, and others.
    for lines in [1, 2, 3, 5, 17, 64] {
        let inserted = random_hashes(lines * 51, lines as u64 + 100);
        add(&format!("lines{lines:03}"), of_hashes(lines, 6, 0, &inserted));
    }
    // Nothing in, and everything.
    add("empty", of_hashes(2, 6, 0, &[]));
    let full = encode(&[0xFF; 2 * 64], 6, 0, 0);
    add("full", (full, random_hashes(32, 7)));
    let full_16 = encode(&[0xFF; 64], 16, 0, 0);
    add("full-k16", (full_16, random_hashes(32, 8)));
    // All bits but one in each lane: a mask is found or missed by one bit.
    let almost: Vec<u8> = (0..2 * 64).map(|i| if i % 8 == 3 { 0xEF } else { 0xFF }).collect();
    for k in [1, 8, 16] {
        let bytes = encode(&almost, k, 0, 0);
        let probes = random_hashes(64, 9 + u64::from(k));
        add(&format!("almost-full-k{k:02}"), (bytes, probes));
    }
    for k in [6, 8, 16] {
        let name = format!("awkward-hashes-k{k:02}");
        add(&name, of_hashes(3, k, 0, &AWKWARD));
    }
    // The number of keys is a hint: 0 is "not known", and any other is as good.
    for (name, key_count) in [("key-count-unknown", 0), ("key-count-max", u64::MAX)] {
        let mut file = of_hashes(2, 6, 0, &random_hashes(60, 10));
        put(&mut file.0, KEY_COUNT, key_count);
        seal(&mut file.0);
        add(name, file);
    }
    // Byte keys under a seed; golden/keys.txt has hashes of the same kind.
    for (name, seed) in [("seed-one", 1), ("seed-max", u64::MAX), ("seed-high-bit", 1 << 63)] {
        let inserted = seeded(60, seed);
        add(name, of_hashes(2, 6, seed, &inserted));
    }
    // Lines that look like a footer: a reader that searches for the magic is misled.
    let inner = encode(&lines_of(1, 6, &random_hashes(40, 11)), 6, 5, 40);
    let nested = encode(&inner, 8, 0, 0);
    add("lines-like-a-footer", (nested, random_hashes(64, 12)));
}

fn rejected(files: &mut Golden) {
    // An intact filter of three lines, to be spoilt.
    let intact = Intact(encode(&lines_of(3, 6, &random_hashes(120, 20)), 6, 0, 120));
    let mut bad = Spoilt { files, intact: &intact };
    let bad_magic = u64::from_le_bytes(*b"BLMLINE\r");

    // 1. shorter than a footer
    bad.add("short-0", status::TRUNCATED, vec![]);
    bad.add("short-1", status::TRUNCATED, vec![0x0A]);
    bad.add("short-63", status::TRUNCATED, intact.0[256 - 63..].to_vec());
    // 2. magic
    bad.add("magic-zero-bytes", status::NOT_A_FILTER, vec![0; 64]);
    bad.with("magic-last-byte", status::NOT_A_FILTER, &[(MAGIC, bad_magic)]);
    bad.add("magic-first-byte", status::NOT_A_FILTER, intact.flipped(192 + MAGIC.start, 0x20));
    bad.add("magic-cut-by-one", status::NOT_A_FILTER, intact.0[..255].to_vec());
    bad.add("magic-cut-by-a-line", status::NOT_A_FILTER, intact.0[..192].to_vec());
    bad.add("magic-byte-appended", status::NOT_A_FILTER, [intact.0.clone(), vec![0]].concat());
    bad.add("magic-at-the-start", status::NOT_A_FILTER, {
        let bytes = intact.0.clone();
        [&bytes[192..], &bytes[..192]].concat()
    });
    // 3. version
    bad.each("version", status::VERSION, VERSION, &[0, 2, 0x0101, 0xFFFF]);
    // 4. the footer's checksum
    bad.add("footer-checksum-zero", status::CHECKSUM, intact.altered(FOOTER_CHECKSUM, 0));
    bad.add("footer-key-count-changed", status::CHECKSUM, intact.altered(KEY_COUNT, 121));
    bad.add("footer-seed-changed", status::CHECKSUM, intact.altered(SEED, 1));
    // 5. layout
    bad.each("layout", status::LAYOUT, LAYOUT, &[0, 0x7FFF, 0x0101, 0xFFFF]);
    // 6. reserved
    bad.with("reserved-lowest-bit", status::RESERVED, &[(RESERVED, 1)]);
    bad.with("reserved-highest-bit", status::RESERVED, &[(RESERVED, 1 << 63)]);
    // 7. k; the last two are good in their lowest byte
    bad.each("k", status::K, K, &[0, 17, 0xFFFF_FFFF, 0x0000_0106, 0x0600_0006]);
    // 8. line count: none; and those whose size overflows, of which the last two seem
    // right to a reader that computes 64 * (line_count + 1) in 64 bits: 0, and 256.
    bad.line_counts(&[0, u64::MAX, (1 << 57) - 1, 1 << 58, (1 << 58) - 1, (1 << 58) + 3]);
    bad.add("line-count-0-footer-only", status::LINE_COUNT, encode(&[], 6, 0, 0));
    // 9. length
    bad.add("length-footer-only", status::TRUNCATED, intact.0[192..].to_vec());
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.add("length-first-byte-gone", status::TRUNCATED, intact.0[1..].to_vec());
    bad.add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    bad.add("length-byte-in-front", status::TRUNCATED, [vec![0; 1], intact.0.clone()].concat());
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, 2)]);
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, 4)]);
    // 10. the lines' checksum
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-middle-byte-changed", 100, 0x10);
    bad.flip("lines-last-byte-changed", 191, 0x10);
    bad.add("lines-all-zero", status::CHECKSUM, {
        let mut bytes = intact.0.clone();
        bytes[..192].fill(0);
        bytes
    });
    let sum = get(&intact.0, LINES_CHECKSUM);
    let mut bytes = intact.altered(LINES_CHECKSUM, sum ^ 1);
    seal_footer(&mut bytes);
    bad.add("lines-checksum-changed", status::CHECKSUM, bytes);

    // The order: each breaks a rule and the one after it, and the earlier one counts.
    bad.add("order-1-2", status::TRUNCATED, vec![0; 63]);
    bad.with("order-2-3", status::NOT_A_FILTER, &[(MAGIC, bad_magic), (VERSION, 2)]);
    bad.add("order-3-4", status::VERSION, intact.unsealed(&[(VERSION, 2)]));
    bad.with("order-3-5", status::VERSION, &[(VERSION, 2), (LAYOUT, 0x7FFF)]);
    bad.add("order-4-5", status::CHECKSUM, intact.unsealed(&[(LAYOUT, 0x7FFF)]));
    bad.add("order-4-7", status::CHECKSUM, intact.unsealed(&[(K, 17)]));
    bad.add("order-4-8", status::CHECKSUM, intact.unsealed(&[(LINE_COUNT, 0)]));
    bad.add("order-4-9", status::CHECKSUM, intact.unsealed(&[(LINE_COUNT, 4)]));
    bad.with("order-5-6", status::LAYOUT, &[(LAYOUT, 0x7FFF), (RESERVED, 1)]);
    bad.with("order-5-7", status::LAYOUT, &[(LAYOUT, 0x7FFF), (K, 17)]);
    bad.with("order-6-7", status::RESERVED, &[(RESERVED, 1), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 17), (LINE_COUNT, 0)]);
    bad.order_of_lengths(2);
    bad.add("order-all", status::NOT_A_FILTER, vec![0xFF; 64]);
}

/// Hash and k to line index and mask.
fn vectors() -> String {
    let line_counts = [1, 2, 3, 17, 64, 1000, 0x1_0000_0001, (1 << 57) - 2];
    let hashes: Vec<u64> = AWKWARD.into_iter().chain(random_hashes(8, 30)).collect();
    let mut text = String::new();
    for (i, &hash) in hashes.iter().enumerate() {
        for k in 1..=line::MAX_K {
            let line_count = line_counts[(i + k as usize) % line_counts.len()];
            let index = line::line_index(hash, line_count);
            write!(text, "{hash:016x} {line_count} {k} {index}").unwrap();
            for lane in line::mask(hash, k) {
                write!(text, " {lane:016x}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

/// Keys to hashes: every length that takes another path through XXH3-64, and beside it.
fn keys() -> String {
    let lengths = (0..=20)
        .chain([24, 31, 32, 33, 48, 63, 64, 65, 95, 96, 97, 127, 128, 129, 143, 144, 145, 160])
        .chain([191, 192, 193, 224, 239, 240, 241, 255, 256, 257, 264, 299, 300]);
    let seeds = [0, 1, 0x9E37_79B9_7F4A_7C15, u64::MAX];
    let mut text = String::new();
    for (i, length) in lengths.enumerate() {
        let key: Vec<u8> =
            random_hashes(length, 40 + length as u64).iter().map(|&hash| hash as u8).collect();
        // Two seeds for each length, in turn; all four for those a reader meets most.
        let all = [0, 1, 8, 16];
        for (j, seed) in seeds.into_iter().enumerate() {
            if all.contains(&length) || (i + j).is_multiple_of(2) {
                let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
                let name = if key.is_empty() { "-" } else { &name };
                writeln!(text, "{name} {seed} {:016x}", hash(&key, seed)).unwrap();
            }
        }
    }
    text
}

/// What is asked for to the shape of the filter. No part of the format; but a program in
/// another language that asks for the same gets a filter that can be united with this one.
fn sizes() -> String {
    let keys = [0, 1, 10, 51, 52, 1000, 1_000_000, 123_456_789];
    let rates = [0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-9, 1e-15, 1e-22];
    let bits = [0.001, 0.5, 1.0, 4.0, 8.0, 9.9, 10.0, 12.5, 16.0, 20.0, 24.0, 40.0, 1000.0];
    let mut text = String::new();
    for keys in keys {
        for (what, values) in [("rate", &rates[..]), ("bits", &bits)] {
            for &value in values {
                let params = match what {
                    "rate" => Params::for_rate(keys, value),
                    _ => Params::for_bits(keys, value),
                };
                // Left out everywhere is what 32 bits cannot address.
                let sizes = params.map(|params| (params.line_count(), params.k()));
                if let Ok((lines @ ..0x1FF_FFFF, k)) = sizes {
                    writeln!(text, "{what} {keys} {value:?} {lines} {k}").unwrap();
                }
            }
        }
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("", 300 << 10);
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors()), ("keys.txt", keys()), ("sizes.txt", sizes())];
    files
}

golden_tests!(Filter);

#[test]
fn accepted_files_say_what_they_are() {
    for (name, bytes, _) in golden().accepted {
        for view in [View::open(&bytes).unwrap(), View::open_unverified(&bytes).unwrap()] {
            let params = view.params().unwrap();
            let found = [params.line_count(), params.k().into(), params.seed(), view.key_count()];
            assert_eq!(found[..], numbers(&bytes), "{name}");
            assert_eq!(view.lines(), &bytes[..bytes.len() - FOOTER_BYTES], "{name}");
        }
    }
}

#[test]
fn keys_have_their_hashes() {
    let text = std::fs::read_to_string(committed::directory("").join("keys.txt")).unwrap();
    let mut count = 0;
    for row in text.lines() {
        let fields: Vec<&str> = row.split(' ').collect();
        let [key, seed, expected] = fields[..] else { panic!("{row}") };
        let key: Vec<u8> = match key {
            "-" => vec![],
            hex => (0..hex.len() / 2)
                .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
                .collect(),
        };
        let (seed, expected) = (seed.parse().unwrap(), u64::from_str_radix(expected, 16).unwrap());
        assert_eq!(hash::hash(&key, seed), expected, "{row}");
        if let Ok(bytes) = <[u8; 8]>::try_from(&key[..]) {
            assert_eq!(hash::hash_u64(u64::from_le_bytes(bytes), seed), expected, "{row}");
        }
        count += 1;
    }
    println!("{count} keys");
    assert!(count > 100);
}
