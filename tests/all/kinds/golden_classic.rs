//! The golden files of classic filters, in `golden/classic/`: they are what `src/layouts/classic.rs` and
//! XXH3-64 make, and no kernel, byte for byte; the library reads the accepted ones, and rejects
//! the others with their error. `BLESS=1 cargo test --test golden_classic` writes them anew.
//! `golden/README.md` says what each file is.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, probes_of, seeded};
use crate::histories::Classic;

use bloomline::definition::classic;
use bloomline::{CountingFilter, CuckooFilter, Filter, Params, View};
use std::fmt::Write as _;

fn accepted(files: &mut Golden) {
    let mut add = |name: String, lines: usize, k: u32, seed: u64, hashes: &[u64]| {
        let probes = probes_of(hashes, 48, (48, u64::from(k) << 32 | lines as u64));
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
    let keys = seeded(60, u64::MAX);
    add("seed-max".into(), 2, 7, u64::MAX, &keys);
    let mut full = encode(&[0xFF; 64], 7, 0, 0);
    put(&mut full, LAYOUT, 6);
    seal(&mut full);
    files.accept("full", full, random_hashes(16, 1));
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    let intact = Intact(encode_classic(3, 7, 0, &random_hashes(150, 5)));
    let mut bad = Spoilt { files, intact: &intact };
    bad.ends();
    bad.add("footer-key-count-changed", status::CHECKSUM, intact.altered(KEY_COUNT, 1));
    // A filter of lines is not made one of this kind by its layout alone, nor the reverse.
    for layout in [1, 5] {
        bad.add(
            &format!("footer-layout-{layout}"),
            status::CHECKSUM,
            intact.altered(LAYOUT, layout),
        );
    }
    bad.with("layout-262", status::LAYOUT, &[(LAYOUT, 0x0106)]);
    bad.with("reserved-lowest-bit", status::RESERVED, &[(RESERVED, 1)]);
    bad.with("reserved-highest-bit", status::RESERVED, &[(RESERVED, 1 << 63)]);
    bad.each("k", status::K, K, &[0, 17, 0x0100_0007]);
    bad.line_counts(&[0, u64::MAX, 1 << 58, (1 << 58) + 3]);
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, 2)]);
    bad.add("length-with-counters", status::TRUNCATED, {
        let mut bytes = [&intact.0[..192], &[0; 768][..], &intact.0[192..]].concat();
        seal(&mut bytes);
        bytes
    });
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.with("order-6-7", status::RESERVED, &[(RESERVED, 1), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 17), (LINE_COUNT, 0)]);
    bad.order_of_lengths(2);
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
