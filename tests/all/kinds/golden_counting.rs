//! The golden files of counting filters, in `golden/counting`: they are what the plain
//! definition makes, byte for byte; the library reads the accepted ones, with counters and
//! as plain views, and rejects the others with the exact error. `BLESS=1 cargo test --test
//! golden_counting committed` writes them anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, probes_of, seeded};
use crate::histories::definition::{Counting, Model};

use bloomline::definition::line;
use bloomline::{CountingFilter, Filter, View};

/// A filter of `inserted`, a hash for each time that a key is in: its bytes and probes.
fn of_hashes(lines: usize, k: u32, seed: u64, inserted: &[u64]) -> (Vec<u8>, Vec<u64>) {
    let bytes = Model::bytes(&Counting::of(lines, k, seed, inserted));
    (bytes, probes_of(inserted, 48, (32, u64::from(k) << 32 | lines as u64)))
}

/// The keys number 0 to `count` - 1, number i as often as `times` says.
fn repeated(count: usize, seed: u64, times: impl Fn(usize) -> usize) -> Vec<u64> {
    let keys = random_hashes(count, seed).into_iter().enumerate();
    keys.flat_map(|(i, hash)| std::iter::repeat_n(hash, times(i))).collect()
}

fn accepted(files: &mut Golden) {
    let mut add = |name: &str, (bytes, probes)| files.accept(name, bytes, probes);
    for k in 1..=line::MAX_K {
        let inserted = repeated(60, u64::from(k) + 200, |i| 1 + usize::from(i % 5 == 0));
        add(&format!("k{k:02}"), of_hashes(2, k, 0, &inserted));
    }
    for lines in [1, 3, 5, 8] {
        let inserted = random_hashes(lines * 40, lines as u64 + 300);
        add(&format!("lines{lines:03}"), of_hashes(lines, 6, 0, &inserted));
    }
    add("empty", of_hashes(2, 6, 0, &[]));
    // Counters up to 15, at 15, and what would go past it.
    let inserted = repeated(20, 310, |i| i + 1);
    add("saturated", of_hashes(2, 6, 0, &inserted));
    // The same after all keys were removed: what is 15 stays, and its bits stay set.
    let mut stuck = Counting::of(2, 6, 0, &inserted);
    inserted.iter().for_each(|&hash| assert!(Model::remove(&mut stuck, hash)));
    let probes = inserted.into_iter().step_by(3).collect();
    add("stuck", (Model::bytes(&stuck), probes));
    for (name, counter) in [("full-of-1", 0x11), ("full-of-15", 0xFF), ("full-of-8", 0x88)] {
        let bytes = encode_counting(&[0xFF; 64], &[counter; 256], 6, 0, 0);
        add(name, (bytes, random_hashes(16, 320)));
    }
    for k in [6, 8, 16] {
        let name = format!("awkward-hashes-k{k:02}");
        add(&name, of_hashes(3, k, 0, &AWKWARD));
    }
    let mut unknown = of_hashes(1, 6, 0, &random_hashes(30, 330));
    put(&mut unknown.0, KEY_COUNT, 0);
    seal(&mut unknown.0);
    add("key-count-unknown", unknown);
    let inserted = seeded(60, u64::MAX);
    add("seed-max", of_hashes(2, 6, u64::MAX, &inserted));
}

const LINES: usize = 3;
const BODY: usize = LINES * 320;

fn rejected(files: &mut Golden) {
    // An intact filter of three lines, to be spoilt.
    let intact = Intact(Model::bytes(&Counting::of(LINES, 6, 0, &random_hashes(100, 340))));
    let mut bad = Spoilt { files, intact: &intact };

    bad.add("magic-cut-by-one", status::NOT_A_FILTER, intact.0[..BODY + 63].to_vec());
    bad.add("magic-lines-and-counters-only", status::NOT_A_FILTER, intact.0[..BODY].to_vec());
    bad.with("layout-32767", status::LAYOUT, &[(LAYOUT, 0x7FFF)]);
    bad.with("layout-258", status::LAYOUT, &[(LAYOUT, 0x0102)]);
    bad.with("reserved-lowest-bit", status::RESERVED, &[(RESERVED, 1)]);
    bad.with("reserved-highest-bit", status::RESERVED, &[(RESERVED, 1 << 63)]);
    bad.each("k", status::K, K, &[0, 17, 0x0100_0006]);
    // None; the first too many; the most that layout 1 may have; and one whose 64 * (5 * line_count
    // + 1) is right in 64 bits.
    bad.line_counts(&[0, ((1 << 57) - 2) / 5 + 1, (1 << 57) - 2, (1 << 58) + 3, u64::MAX]);
    // As long as a plain filter of so many lines, and lengths beside the right one.
    bad.add("length-no-counters", status::TRUNCATED, {
        let mut bytes = [&intact.0[..64 * LINES], &intact.0[BODY..]].concat();
        seal(&mut bytes);
        bytes
    });
    bad.add("length-counters-only", status::TRUNCATED, intact.0[64 * LINES..].to_vec());
    bad.add("length-first-byte-gone", status::TRUNCATED, intact.0[1..].to_vec());
    bad.add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    bad.add("length-counters-of-a-line-gone", status::TRUNCATED, {
        let mut bytes = intact.0.clone();
        bytes.drain(BODY - 256..BODY);
        seal(&mut bytes);
        bytes
    });
    bad.with("length-line-count-of-all-lines", status::TRUNCATED, &[(LINE_COUNT, 15)]);
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, 2)]);
    // What is before the footer altered.
    bad.flip("lines-line-changed", 0, 0x10);
    bad.flip("lines-counter-changed", 64 * LINES, 0x10);
    bad.flip("lines-last-byte-changed", BODY - 1, 0x10);
    // Counters that do not agree with the lines, under checksums that are right.
    bad.add(
        "counters-all-zero",
        status::CHECKSUM,
        intact.changed(|body| body[64 * LINES..].fill(0)),
    );
    let bytes = intact.changed(|body| body[..64 * LINES].fill(0));
    bad.add("counters-without-lines", status::CHECKSUM, bytes);
    for (name, from, to) in [("first", 0, 512 * LINES), ("last", 512 * LINES - 1, 0)] {
        for set in [0, 1] {
            let what = if set == 1 { "missing" } else { "too-many" };
            bad.add(&format!("counters-{name}-{what}"), status::CHECKSUM, {
                intact.changed(|body| {
                    let bit_is = |bit: &usize| body[bit / 8] >> (bit % 8) & 1 == set;
                    let bit =
                        if from < to { (from..to).find(bit_is) } else { (to..=from).rfind(bit_is) };
                    let bit = bit.unwrap();
                    let counter = &mut body[64 * LINES + bit / 2];
                    *counter = *counter & !(15 << (4 * (bit % 2))) | (1 - set) << (4 * (bit % 2));
                })
            });
        }
    }
    bad.add("order-4-5", status::CHECKSUM, intact.unsealed(&[(LAYOUT, 0x7FFF)]));
    bad.with("order-5-6", status::LAYOUT, &[(LAYOUT, 0x7FFF), (RESERVED, 1)]);
    bad.with("order-6-7", status::RESERVED, &[(RESERVED, 1), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 17), (LINE_COUNT, 0)]);
    bad.add("order-8-9", status::LINE_COUNT, intact.with(&[(LINE_COUNT, 0)])[64..].to_vec());
    let bytes = Intact(intact.changed(|body| body[64 * LINES..].fill(0)));
    bad.add("order-9-11", status::TRUNCATED, bytes.with(&[(LINE_COUNT, 2)]));
}

fn golden() -> Golden {
    let mut files = Golden::new("counting", 150 << 10);
    files.answer = |bytes, hash| Counting::count_in(bytes, hash).into();
    accepted(&mut files);
    rejected(&mut files);
    files
}

golden_tests!(CountingFilter);

/// They count, and are plain filters, too.
#[test]
fn counts_and_plain_filters_are_those_of_the_definition() {
    let files = golden();
    for (name, bytes, probes) in &files.accepted {
        let filter = CountingFilter::decode(bytes).unwrap();
        for &hash in probes {
            assert_eq!(filter.count_hash(hash), (files.answer)(bytes, hash), "{name} {hash:016x}");
        }
        let (seed, key_count) = (get(bytes, SEED), get(bytes, KEY_COUNT));
        let lines = &bytes[..(bytes.len() - FOOTER_BYTES) / 5];
        let plain = encode(lines, get(bytes, K) as u32, seed, key_count);
        assert_eq!(Filter::decode(bytes).unwrap().to_bytes().unwrap(), plain, "{name}");
        let view = View::open(bytes).unwrap();
        assert!(view.lines() == lines && view.params().unwrap() == filter.params());
    }
    for (name, bytes, status) in files.rejected {
        assert_eq!(status_of_result(&Filter::decode(&bytes)), status, "{name}, plain");
    }
}
