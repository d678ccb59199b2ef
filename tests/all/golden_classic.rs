//! The golden files of classic filters, in `golden/classic/`: they are what `src/layouts/classic.rs` and
//! XXH3-64 make, and no kernel, byte for byte; the library reads the accepted ones, and rejects
//! the others with their error. `BLESS=1 cargo test --test golden_classic` writes them anew.
//! `golden/README.md` says what each file is.

use crate::committed;
use crate::definition;

use bloomline::{Backend, CountingFilter, CuckooFilter, Filter, Params, View, classic};
use definition::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn accepted() -> BTreeMap<String, (Vec<u8>, Vec<u64>)> {
    let mut files = BTreeMap::new();
    let mut add = |name: String, lines: usize, k: u32, seed: u64, hashes: &[u64]| {
        let others = random_hashes(48, u64::from(k) << 32 | lines as u64);
        let some = hashes.iter().step_by(hashes.len().div_ceil(48).max(1));
        let probes = some.chain(&others).chain(&AWKWARD).copied().collect();
        files.insert(name, (encode_classic(lines, k, seed, hashes), probes));
    };
    for k in 1..=16 {
        let keys = 1024 / k as usize * 7 / 10;
        add(format!("k{k:02}"), 2, k, 0, &random_hashes(keys, u64::from(k) + 400));
    }
    for lines in [1, 3, 5, 17] {
        add(format!("lines{lines:03}"), lines, 7, 0, &random_hashes(51 * lines, lines as u64));
    }
    add("empty".into(), 2, 7, 0, &[]);
    for k in [7, 16] {
        add(format!("awkward-hashes-k{k:02}"), 3, k, 0, &AWKWARD);
    }
    let keys: Vec<u64> = (0..60).map(|i| hash(format!("key {i}").as_bytes(), u64::MAX)).collect();
    add("seed-max".into(), 2, 7, u64::MAX, &keys);
    let mut full = encode(&[0xFF; 64], 7, 0, 0);
    put(&mut full, LAYOUT, 6);
    seal(&mut full);
    files.insert("full".into(), (full, random_hashes(16, 1)));
    files
}

/// What is rejected, with its status.
fn rejected() -> BTreeMap<String, (Vec<u8>, u32)> {
    let intact = || encode_classic(3, 7, 0, &random_hashes(150, 5));
    let with = |fields: &[(std::ops::Range<usize>, u64)]| {
        let mut bytes = intact();
        for (field, value) in fields {
            put(&mut bytes, field.clone(), *value);
        }
        seal(&mut bytes);
        bytes
    };
    let mut files = BTreeMap::new();
    let mut add = |name: &str, status: u32, bytes: Vec<u8>| {
        files.insert(name.to_owned(), (bytes, status));
    };
    add("short-63", status::TRUNCATED, intact()[256 - 63..].to_vec());
    add("magic-cut-by-a-line", status::NOT_A_FILTER, intact()[..192].to_vec());
    add("version-2", status::VERSION, with(&[(VERSION, 2)]));
    add("footer-key-count-changed", status::CHECKSUM, {
        let mut bytes = intact();
        put(&mut bytes, KEY_COUNT, 1);
        bytes
    });
    // A filter of lines is not made one of this kind by its layout alone, nor the reverse.
    for layout in [1, 5] {
        add(&format!("footer-layout-{layout}"), status::CHECKSUM, {
            let mut bytes = intact();
            put(&mut bytes, LAYOUT, layout);
            bytes
        });
    }
    add("layout-262", status::LAYOUT, with(&[(LAYOUT, 0x0106)]));
    add("reserved-lowest-bit", status::RESERVED, with(&[(RESERVED, 1)]));
    add("reserved-highest-bit", status::RESERVED, with(&[(RESERVED, 1 << 63)]));
    for k in [0, 17, 0x0100_0007] {
        add(&format!("k-{k}"), status::K, with(&[(K, k)]));
    }
    for count in [0, u64::MAX, 1 << 58, (1 << 58) + 3] {
        let name = format!("line-count-{count:x}");
        add(&name, status::LINE_COUNT, with(&[(LINE_COUNT, count)]));
    }
    add("length-first-line-gone", status::TRUNCATED, intact()[64..].to_vec());
    add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact()].concat());
    add("length-one-line-less", status::TRUNCATED, with(&[(LINE_COUNT, 2)]));
    add("length-with-counters", status::TRUNCATED, {
        let mut bytes = [&intact()[..192], &[0; 768][..], &intact()[192..]].concat();
        seal(&mut bytes);
        bytes
    });
    add("lines-first-byte-changed", status::CHECKSUM, {
        let mut bytes = intact();
        bytes[0] ^= 0x10;
        bytes
    });
    add("order-6-7", status::RESERVED, with(&[(RESERVED, 1), (K, 0)]));
    add("order-7-8", status::K, with(&[(K, 17), (LINE_COUNT, 0)]));
    add("order-8-9", status::LINE_COUNT, with(&[(LINE_COUNT, 0)])[64..].to_vec());
    add("order-9-10", status::TRUNCATED, {
        let mut bytes = with(&[(LINE_COUNT, 2)]);
        bytes[0] ^= 1;
        bytes
    });
    files
}

/// Hash and line count to the positions.
fn vectors() -> String {
    let line_counts = [1, 2, 3, 17, 1000, (1 << 32) - 1, 0x0100_0001, (1 << 55) - 1];
    let hashes = AWKWARD.into_iter().chain(random_hashes(24, 30));
    let mut text = String::new();
    for (i, hash) in hashes.enumerate() {
        let line_count = line_counts[i % 8];
        write!(text, "{hash:016x} {line_count}").unwrap();
        for position in classic::positions(hash, 16, 512 * line_count) {
            write!(text, " {position}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// The shape of the filter for so many keys, as `sizes.txt` of the lines has it.
fn sizes() -> String {
    let mut text = String::new();
    for keys in [0, 1, 10, 51, 53, 54, 1000, 1_000_000, 123_456_789] {
        let rates = [0.99, 0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-15, 1e-22];
        let bits = [0.001, 1.0, 4.0, 8.0, 9.6, 10.0, 12.5, 16.0, 20.0, 24.0, 40.0, 1000.0];
        let rates = rates.map(|rate| ("rate", rate, Params::classic_for_rate(keys, rate)));
        let bits = bits.map(|bits| ("bits", bits, Params::classic_for_bits(keys, bits)));
        for (what, value, params) in rates.into_iter().chain(bits) {
            // Left out everywhere is what 32 bits cannot address.
            let sizes = params.map(|params| (params.line_count(), params.k()));
            if let Ok((lines @ ..0x1FF_FFFF, k)) = sizes {
                writeln!(text, "{what} {keys} {value:?} {lines} {k}").unwrap();
            }
        }
    }
    text
}

/// All files: their names and bytes.
fn all() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut manifest = String::new();
    for (name, (bytes, probes)) in accepted() {
        let [line_count, k, seed, key_count] =
            [LINE_COUNT, K, SEED, KEY_COUNT].map(|field| get(&bytes, field));
        let name = format!("accepted/{name}.bloomline");
        writeln!(manifest, "accepted {name} {line_count} {k} {seed} {key_count}").unwrap();
        let mut answers = String::new();
        for hash in probes {
            writeln!(answers, "{hash:016x} {}", u8::from(answer(&bytes, hash))).unwrap();
        }
        files.insert(format!("{name}.probes"), answers.into_bytes());
        files.insert(name, bytes);
    }
    for (name, (bytes, status)) in rejected() {
        let name = format!("rejected/{name}.bloomline");
        writeln!(manifest, "rejected {name} {status}").unwrap();
        files.insert(name, bytes);
    }
    files.insert("MANIFEST".into(), manifest.into_bytes());
    files.insert("vectors.txt".into(), vectors().into_bytes());
    files.insert("sizes.txt".into(), sizes().into_bytes());
    files
}

#[test]
fn committed_files_are_what_the_definition_makes() {
    committed::are_what_is_made("classic", &all(), 150 << 10);
}

#[test]
fn accepted_files_are_read() {
    for (name, (bytes, probes)) in accepted() {
        let filter = Filter::decode(&bytes).unwrap();
        assert!(filter.is_classic() && filter.to_bytes().unwrap() == bytes, "{name}");
        let [line_count, k, seed] = [LINE_COUNT, K, SEED].map(|field| get(&bytes, field));
        let params = Params::new(line_count, k as u32, seed).unwrap();
        assert_eq!((filter.params(), filter.key_count()), (params, get(&bytes, KEY_COUNT)));
        let opened = [View::open(&bytes).unwrap(), View::open_unverified(&bytes).unwrap()];
        let by_backend =
            Backend::available().map(|backend| View::open_with_backend(&bytes, backend).unwrap());
        for view in by_backend.chain(opened).chain([filter.view()]) {
            assert_eq!((view.params(), view.classic_params()), (None, Some(params)), "{name}");
            let mut bitmap = vec![0; probes.len().div_ceil(64)];
            view.contains_hashes(&probes, &mut bitmap);
            for (i, &hash) in probes.iter().enumerate() {
                let expected = answer(&bytes, hash);
                assert_eq!(view.contains_hash(hash), expected, "{name} {hash:x}");
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected, "{name} {hash:x}");
            }
        }
        // Nothing else takes it for its own.
        assert_eq!(status_of_result(&CountingFilter::decode(&bytes)), status::LAYOUT);
        assert_eq!(status_of_result(&CuckooFilter::decode(&bytes)), status::LAYOUT);
    }
}

#[test]
fn rejected_files_give_their_error() {
    let mut seen = std::collections::BTreeSet::new();
    for (name, (bytes, status)) in rejected() {
        assert_eq!(check(&bytes, true), status, "{name}, by the definition");
        assert_eq!(status_of_result(&View::open(&bytes)), status, "{name}");
        assert_eq!(status_of_result(&Filter::decode(&bytes)), status, "{name}, decoded");
        let unverified = if name.starts_with("lines-") { status::OK } else { status };
        assert_eq!(status_of_result(&View::open_unverified(&bytes)), unverified, "{name}");
        seen.insert(status);
    }
    assert!(seen.into_iter().eq([4, 5, 11, 12, 13, 14, 15, 16]));
}
