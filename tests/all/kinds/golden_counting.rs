//! The golden files of counting filters, in `golden/counting`: they are what the plain
//! definition makes, byte for byte; the library reads the accepted ones, with counters and
//! as plain views, and rejects the others with the exact error. `BLESS=1 cargo test --test
//! golden_counting committed` writes them anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, golden_tests};
use crate::histories::definition::{Counting, Model};

use bloomline::definition::line;
use bloomline::{CountingFilter, Filter, View};

/// A filter of `inserted`, a hash for each time that a key is in: its bytes and probes.
fn of_hashes(lines: usize, k: u32, seed: u64, inserted: &[u64]) -> (Vec<u8>, Vec<u64>) {
    let bytes = Model::bytes(&Counting::of(lines, k, seed, inserted));
    let others = random_hashes(32, u64::from(k) << 32 | lines as u64);
    let some = inserted.iter().step_by(inserted.len().div_ceil(48).max(1));
    (bytes, some.chain(&others).chain(&AWKWARD).copied().collect())
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
    let inserted: Vec<u64> =
        (0..60).map(|i| hash(format!("key {i}").as_bytes(), u64::MAX)).collect();
    add("seed-max", of_hashes(2, 6, u64::MAX, &inserted));
}

const LINES: usize = 3;
const BODY: usize = LINES * 320;

/// An intact filter of three lines, to be spoilt.
fn intact() -> Vec<u8> {
    Model::bytes(&Counting::of(LINES, 6, 0, &random_hashes(100, 340)))
}

fn rejected(files: &mut Golden) {
    let intact = Intact(intact());
    let mut add = |name: &str, status: u32, bytes: Vec<u8>| files.reject(name, status, bytes);

    add("magic-cut-by-one", status::NOT_A_FILTER, intact.0[..BODY + 63].to_vec());
    add("magic-lines-and-counters-only", status::NOT_A_FILTER, intact.0[..BODY].to_vec());
    add("layout-32767", status::LAYOUT, intact.with(&[(LAYOUT, 0x7FFF)]));
    add("layout-258", status::LAYOUT, intact.with(&[(LAYOUT, 0x0102)]));
    add("reserved-lowest-bit", status::RESERVED, intact.with(&[(RESERVED, 1)]));
    add("reserved-highest-bit", status::RESERVED, intact.with(&[(RESERVED, 1 << 63)]));
    for k in [0, 17, 0x0100_0006] {
        add(&format!("k-{k}"), status::K, intact.with(&[(K, k)]));
    }
    // None; the first too many; the most that layout 1 may have; and one whose 64 * (5 * line_count
    // + 1) is right in 64 bits.
    for count in [0, ((1 << 57) - 2) / 5 + 1, (1 << 57) - 2, (1 << 58) + 3, u64::MAX] {
        let name = format!("line-count-{count:x}");
        add(&name, status::LINE_COUNT, intact.with(&[(LINE_COUNT, count)]));
    }
    // As long as a plain filter of so many lines, and lengths beside the right one.
    add("length-no-counters", status::TRUNCATED, {
        let mut bytes = [&intact.0[..64 * LINES], &intact.0[BODY..]].concat();
        seal(&mut bytes);
        bytes
    });
    add("length-counters-only", status::TRUNCATED, intact.0[64 * LINES..].to_vec());
    add("length-first-byte-gone", status::TRUNCATED, intact.0[1..].to_vec());
    add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    add("length-counters-of-a-line-gone", status::TRUNCATED, {
        let mut bytes = intact.0.clone();
        bytes.drain(BODY - 256..BODY);
        seal(&mut bytes);
        bytes
    });
    add("length-line-count-of-all-lines", status::TRUNCATED, intact.with(&[(LINE_COUNT, 15)]));
    add("length-one-line-less", status::TRUNCATED, intact.with(&[(LINE_COUNT, 2)]));
    // What is before the footer altered.
    for (name, at) in [("line", 0), ("counter", 64 * LINES), ("last-byte", BODY - 1)] {
        add(&format!("lines-{name}-changed"), status::CHECKSUM, intact.flipped(at, 0x10));
    }
    // Counters that do not agree with the lines, under checksums that are right.
    add("counters-all-zero", status::CHECKSUM, intact.changed(|body| body[64 * LINES..].fill(0)));
    add(
        "counters-without-lines",
        status::CHECKSUM,
        intact.changed(|body| body[..64 * LINES].fill(0)),
    );
    for (name, from, to) in [("first", 0, 512 * LINES), ("last", 512 * LINES - 1, 0)] {
        for set in [0, 1] {
            let what = if set == 1 { "missing" } else { "too-many" };
            add(&format!("counters-{name}-{what}"), status::CHECKSUM, {
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
    add("order-4-5", status::CHECKSUM, intact.unsealed(&[(LAYOUT, 0x7FFF)]));
    add("order-5-6", status::LAYOUT, intact.with(&[(LAYOUT, 0x7FFF), (RESERVED, 1)]));
    add("order-6-7", status::RESERVED, intact.with(&[(RESERVED, 1), (K, 0)]));
    add("order-7-8", status::K, intact.with(&[(K, 17), (LINE_COUNT, 0)]));
    add("order-8-9", status::LINE_COUNT, intact.with(&[(LINE_COUNT, 0)])[64..].to_vec());
    add("order-9-11", status::TRUNCATED, {
        let mut bytes = intact.changed(|body| body[64 * LINES..].fill(0));
        put(&mut bytes, LINE_COUNT, 2);
        seal(&mut bytes);
        bytes
    });
}

fn golden() -> Golden {
    let mut files = Golden::new("counting", 150 << 10);
    files.answer = |bytes, hash| <Counting as Model>::open(bytes).count(hash).into();
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
