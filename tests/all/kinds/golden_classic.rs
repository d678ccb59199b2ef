//! The golden files of classic filters, in `golden/classic/`: they are what `src/layouts/classic.rs` and
//! XXH3-64 make, and no kernel, byte for byte; the library reads the accepted ones, and rejects
//! the others with their error. `BLESS=1 cargo test --test golden_classic` writes them anew.
//! `golden/README.md` says what each file is.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, golden_tests};
use crate::histories::Classic;

use bloomline::definition::classic;
use bloomline::{CountingFilter, CuckooFilter, Filter, Params, View};
use std::fmt::Write as _;

fn accepted(files: &mut Golden) {
    let mut add = |name: String, lines: usize, k: u32, seed: u64, hashes: &[u64]| {
        let others = random_hashes(48, u64::from(k) << 32 | lines as u64);
        let some = hashes.iter().step_by(hashes.len().div_ceil(48).max(1));
        let probes = some.chain(&others).chain(&AWKWARD).copied().collect();
        files.accept(name, encode_classic(lines, k, seed, hashes), probes);
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
    files.accept("full", full, random_hashes(16, 1));
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    let intact = Intact(encode_classic(3, 7, 0, &random_hashes(150, 5)));
    let mut add = |name: &str, status: u32, bytes: Vec<u8>| files.reject(name, status, bytes);
    add("short-63", status::TRUNCATED, intact.0[256 - 63..].to_vec());
    add("magic-cut-by-a-line", status::NOT_A_FILTER, intact.0[..192].to_vec());
    add("version-2", status::VERSION, intact.with(&[(VERSION, 2)]));
    add("footer-key-count-changed", status::CHECKSUM, intact.altered(KEY_COUNT, 1));
    // A filter of lines is not made one of this kind by its layout alone, nor the reverse.
    for layout in [1, 5] {
        add(&format!("footer-layout-{layout}"), status::CHECKSUM, intact.altered(LAYOUT, layout));
    }
    add("layout-262", status::LAYOUT, intact.with(&[(LAYOUT, 0x0106)]));
    add("reserved-lowest-bit", status::RESERVED, intact.with(&[(RESERVED, 1)]));
    add("reserved-highest-bit", status::RESERVED, intact.with(&[(RESERVED, 1 << 63)]));
    for k in [0, 17, 0x0100_0007] {
        add(&format!("k-{k}"), status::K, intact.with(&[(K, k)]));
    }
    for count in [0, u64::MAX, 1 << 58, (1 << 58) + 3] {
        let name = format!("line-count-{count:x}");
        add(&name, status::LINE_COUNT, intact.with(&[(LINE_COUNT, count)]));
    }
    add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    add("length-one-line-less", status::TRUNCATED, intact.with(&[(LINE_COUNT, 2)]));
    add("length-with-counters", status::TRUNCATED, {
        let mut bytes = [&intact.0[..192], &[0; 768][..], &intact.0[192..]].concat();
        seal(&mut bytes);
        bytes
    });
    add("lines-first-byte-changed", status::CHECKSUM, intact.flipped(0, 0x10));
    add("order-6-7", status::RESERVED, intact.with(&[(RESERVED, 1), (K, 0)]));
    add("order-7-8", status::K, intact.with(&[(K, 17), (LINE_COUNT, 0)]));
    add("order-8-9", status::LINE_COUNT, intact.with(&[(LINE_COUNT, 0)])[64..].to_vec());
    add("order-9-10", status::TRUNCATED, Intact(intact.with(&[(LINE_COUNT, 2)])).flipped(0, 1));
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

fn golden() -> Golden {
    let mut files = Golden::new("classic", 150 << 10);
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors()), ("sizes.txt", sizes())];
    files.sorted()
}

golden_tests!(Classic);

/// Nothing else takes it for its own.
#[test]
fn it_is_no_other_kind() {
    for (name, bytes, _) in golden().accepted {
        let params = View::open(&bytes).unwrap().params().unwrap();
        assert!(
            params.is_classic() && params == Filter::decode(&bytes).unwrap().params(),
            "{name}"
        );
        assert_eq!(status_of_result(&CountingFilter::decode(&bytes)), status::LAYOUT);
        assert_eq!(status_of_result(&CuckooFilter::decode(&bytes)), status::LAYOUT);
    }
}
