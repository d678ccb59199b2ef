//! The golden files of counting filters, in `golden/counting`: they are what the plain
//! definition makes, byte for byte; the library reads the accepted ones, with counters and
//! as plain views, and rejects the others with the exact error. `BLESS=1 cargo test --test
//! golden_counting committed` writes them anew.

use crate::committed;
use crate::definition;

use bloomline::{Backend, CountingFilter, Filter, View, line};
use definition::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// An accepted file: its bytes, and hashes to probe and count.
struct Accepted {
    name: String,
    bytes: Vec<u8>,
    probes: Vec<u64>,
}

impl Accepted {
    /// A filter of `inserted`, a hash for each time that a key is in.
    fn of_hashes(name: &str, lines: usize, k: u32, seed: u64, inserted: &[u64]) -> Accepted {
        let counters = counters_of(lines, k, inserted);
        let lines_of = lines_of(lines, k, inserted);
        let bytes = encode_counting(&lines_of, &counters, k, seed, inserted.len() as u64);
        let others = random_hashes(32, u64::from(k) << 32 | lines as u64);
        let some = inserted.iter().step_by(inserted.len().div_ceil(48).max(1));
        let probes = some.chain(&others).chain(&AWKWARD).copied().collect();
        Accepted::new(name, bytes, probes)
    }

    fn new(name: &str, bytes: Vec<u8>, probes: Vec<u64>) -> Accepted {
        Accepted { name: format!("accepted/{name}.bloomline"), bytes, probes }
    }

    fn body(&self) -> (&[u8], &[u8]) {
        let body = self.bytes.len() - FOOTER_BYTES;
        self.bytes[..body].split_at(body / 5)
    }

    fn k(&self) -> u32 {
        get(&self.bytes, K) as u32
    }
}

/// The keys number 0 to `count` - 1, number i as often as `times` says.
fn repeated(count: usize, seed: u64, times: impl Fn(usize) -> usize) -> Vec<u64> {
    let keys = random_hashes(count, seed).into_iter().enumerate();
    keys.flat_map(|(i, hash)| std::iter::repeat_n(hash, times(i))).collect()
}

fn accepted() -> Vec<Accepted> {
    let mut files = Vec::new();
    for k in 1..=line::MAX_K {
        let inserted = repeated(60, u64::from(k) + 200, |i| 1 + usize::from(i % 5 == 0));
        files.push(Accepted::of_hashes(&format!("k{k:02}"), 2, k, 0, &inserted));
    }
    for lines in [1, 3, 5, 8] {
        let inserted = random_hashes(lines * 40, lines as u64 + 300);
        files.push(Accepted::of_hashes(&format!("lines{lines:03}"), lines, 6, 0, &inserted));
    }
    files.push(Accepted::of_hashes("empty", 2, 6, 0, &[]));
    // Counters up to 15, at 15, and what would go past it.
    let inserted = repeated(20, 310, |i| i + 1);
    files.push(Accepted::of_hashes("saturated", 2, 6, 0, &inserted));
    // The same after all keys were removed: what is 15 stays, and its bits stay set.
    let mut stuck = counters_of(2, 6, &inserted);
    for byte in &mut stuck {
        let keep = |nibble: u8| if nibble == 15 { 15 } else { 0 };
        *byte = keep(*byte & 15) | keep(*byte >> 4) << 4;
    }
    let lines: Vec<u8> = stuck
        .chunks(4)
        .map(|four| (0..8).map(|bit| (four[bit / 2] >> (4 * (bit % 2)) & 1) << bit).sum())
        .collect();
    let probes = inserted.into_iter().step_by(3).collect();
    files.push(Accepted::new("stuck", encode_counting(&lines, &stuck, 6, 0, 0), probes));
    for (name, counter) in [("full-of-1", 0x11), ("full-of-15", 0xFF), ("full-of-8", 0x88)] {
        let bytes = encode_counting(&[0xFF; 64], &[counter; 256], 6, 0, 0);
        files.push(Accepted::new(name, bytes, random_hashes(16, 320)));
    }
    for k in [6, 8, 16] {
        let name = format!("awkward-hashes-k{k:02}");
        files.push(Accepted::of_hashes(&name, 3, k, 0, &AWKWARD));
    }
    let mut unknown = Accepted::of_hashes("key-count-unknown", 1, 6, 0, &random_hashes(30, 330));
    put(&mut unknown.bytes, KEY_COUNT, 0);
    seal(&mut unknown.bytes);
    files.push(unknown);
    let inserted: Vec<u64> =
        (0..60).map(|i| hash(format!("key {i}").as_bytes(), u64::MAX)).collect();
    files.push(Accepted::of_hashes("seed-max", 2, 6, u64::MAX, &inserted));
    files
}

struct Rejected {
    name: String,
    bytes: Vec<u8>,
    status: u32,
}

const LINES: usize = 3;
const BODY: usize = LINES * 320;

/// An intact filter of three lines, to be spoilt.
fn intact() -> Vec<u8> {
    let hashes = random_hashes(100, 340);
    let lines = lines_of(LINES, 6, &hashes);
    encode_counting(&lines, &counters_of(LINES, 6, &hashes), 6, 0, 100)
}

fn rejected() -> Vec<Rejected> {
    let mut files = Vec::new();
    let mut add = |name: &str, status: u32, bytes: Vec<u8>| {
        files.push(Rejected { name: format!("rejected/{name}.bloomline"), bytes, status });
    };
    let with = |fields: &[(Range<usize>, u64)]| {
        let mut bytes = intact();
        for (field, value) in fields {
            put(&mut bytes, field.clone(), *value);
        }
        seal(&mut bytes);
        bytes
    };
    // The same with some bytes before the footer changed, and checksums made right again.
    let changed = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = intact();
        change(&mut bytes[..BODY]);
        seal(&mut bytes);
        bytes
    };
    let unsealed = |fields: &[(Range<usize>, u64)]| {
        let mut bytes = with(fields);
        let sum = get(&bytes, FOOTER_CHECKSUM);
        put(&mut bytes, FOOTER_CHECKSUM, !sum);
        bytes
    };

    add("magic-cut-by-one", status::NOT_A_FILTER, intact()[..BODY + 63].to_vec());
    add("magic-lines-and-counters-only", status::NOT_A_FILTER, intact()[..BODY].to_vec());
    add("layout-32767", status::LAYOUT, with(&[(LAYOUT, 0x7FFF)]));
    add("layout-258", status::LAYOUT, with(&[(LAYOUT, 0x0102)]));
    add("reserved-lowest-bit", status::RESERVED, with(&[(RESERVED, 1)]));
    add("reserved-highest-bit", status::RESERVED, with(&[(RESERVED, 1 << 63)]));
    for k in [0, 17, 0x0100_0006] {
        add(&format!("k-{k}"), status::K, with(&[(K, k)]));
    }
    // None; the first too many; the most that layout 1 may have; and one whose
    // 64 * (5 * line_count + 1) is right in 64 bits.
    for count in [0, ((1 << 57) - 2) / 5 + 1, (1 << 57) - 2, (1 << 58) + 3, u64::MAX] {
        let name = format!("line-count-{count:x}");
        add(&name, status::LINE_COUNT, with(&[(LINE_COUNT, count)]));
    }
    // As long as a plain filter of so many lines, and lengths beside the right one.
    add("length-no-counters", status::TRUNCATED, {
        let mut bytes = [&intact()[..64 * LINES], &intact()[BODY..]].concat();
        seal(&mut bytes);
        bytes
    });
    add("length-counters-only", status::TRUNCATED, intact()[64 * LINES..].to_vec());
    add("length-first-byte-gone", status::TRUNCATED, intact()[1..].to_vec());
    add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact()].concat());
    add("length-counters-of-a-line-gone", status::TRUNCATED, {
        let mut bytes = intact();
        bytes.drain(BODY - 256..BODY);
        seal(&mut bytes);
        bytes
    });
    add("length-line-count-of-all-lines", status::TRUNCATED, with(&[(LINE_COUNT, 15)]));
    add("length-one-line-less", status::TRUNCATED, with(&[(LINE_COUNT, 2)]));
    // What is before the footer altered.
    for (name, at) in [("line", 0), ("counter", 64 * LINES), ("last-byte", BODY - 1)] {
        add(&format!("lines-{name}-changed"), status::CHECKSUM, {
            let mut bytes = intact();
            bytes[at] ^= 0x10;
            bytes
        });
    }
    // Counters that do not agree with the lines, under checksums that are right.
    add("counters-all-zero", status::CHECKSUM, changed(&|body| body[64 * LINES..].fill(0)));
    add("counters-without-lines", status::CHECKSUM, changed(&|body| body[..64 * LINES].fill(0)));
    for (name, from, to) in [("first", 0, 512 * LINES), ("last", 512 * LINES - 1, 0)] {
        for set in [0, 1] {
            let what = if set == 1 { "missing" } else { "too-many" };
            add(&format!("counters-{name}-{what}"), status::CHECKSUM, {
                changed(&|body| {
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
    add("order-4-5", status::CHECKSUM, unsealed(&[(LAYOUT, 0x7FFF)]));
    add("order-5-6", status::LAYOUT, with(&[(LAYOUT, 0x7FFF), (RESERVED, 1)]));
    add("order-6-7", status::RESERVED, with(&[(RESERVED, 1), (K, 0)]));
    add("order-7-8", status::K, with(&[(K, 17), (LINE_COUNT, 0)]));
    add("order-8-9", status::LINE_COUNT, with(&[(LINE_COUNT, 0)])[64..].to_vec());
    add("order-9-11", status::TRUNCATED, {
        let mut bytes = changed(&|body| body[64 * LINES..].fill(0));
        put(&mut bytes, LINE_COUNT, 2);
        seal(&mut bytes);
        bytes
    });
    files
}

/// All files: their names under `golden/counting` and their bytes.
fn all() -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut manifest = String::new();
    for file in accepted() {
        let (name, bytes) = (&file.name, &file.bytes);
        let [line_count, k, seed, key_count] =
            [LINE_COUNT, K, SEED, KEY_COUNT].map(|field| get(bytes, field));
        writeln!(manifest, "accepted {name} {line_count} {k} {seed} {key_count}").unwrap();
        let mut probes = String::new();
        for &hash in &file.probes {
            writeln!(probes, "{hash:016x} {}", count(file.body().1, file.k(), hash)).unwrap();
        }
        files.insert(format!("{name}.probes"), probes.into_bytes());
        files.insert(file.name, file.bytes);
    }
    for file in rejected() {
        writeln!(manifest, "rejected {} {}", file.name, file.status).unwrap();
        files.insert(file.name, file.bytes);
    }
    files.insert("MANIFEST".into(), manifest.into_bytes());
    files
}

#[test]
fn committed_files_are_what_the_definition_makes() {
    committed::are_what_is_made("counting", &all(), 150 << 10);
}

#[test]
fn accepted_files_are_read() {
    for file in accepted() {
        let (name, bytes, k) = (&file.name, &file.bytes, file.k());
        assert_eq!(check(bytes, true), status::OK, "{name}");
        let (lines, counters) = file.body();
        let filter = CountingFilter::decode(bytes).unwrap();
        assert_eq!(filter.to_bytes().unwrap(), *bytes, "{name}");
        assert_eq!(filter.key_count(), get(bytes, KEY_COUNT), "{name}");
        assert_eq!(filter.params().line_count(), get(bytes, LINE_COUNT), "{name}");
        for &hash in &file.probes {
            let count = count(counters, k, hash);
            assert_eq!(filter.count_hash(hash), count, "{name} {hash:016x}");
            assert_eq!(filter.contains_hash(hash), count > 0, "{name} {hash:016x}");
            assert_eq!(line::contains(lines, k, hash), count > 0, "{name} {hash:016x}");
        }
        // And as a plain filter.
        let plain = encode(lines, k, get(bytes, SEED), get(bytes, KEY_COUNT));
        assert_eq!(Filter::decode(bytes).unwrap().to_bytes().unwrap(), plain, "{name}");
        let open = |backend| View::open_with_backend(bytes, backend).unwrap();
        let views = Backend::available().map(open);
        for view in views.chain([View::open(bytes).unwrap(), View::open_unverified(bytes).unwrap()])
        {
            assert!(view.lines() == lines && view.params().unwrap() == filter.params(), "{name}");
            assert_eq!(view.key_count(), filter.key_count(), "{name}");
            let mut bitmap = vec![0; file.probes.len().div_ceil(64)];
            view.contains_hashes(&file.probes, &mut bitmap);
            for (i, &hash) in file.probes.iter().enumerate() {
                let answer = count(counters, k, hash) > 0;
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, answer, "{name} {hash:016x}");
            }
        }
    }
}

#[test]
fn rejected_files_give_their_error() {
    for Rejected { name, bytes, status } in rejected() {
        assert_eq!(check(&bytes, true), status, "{name}, by the definition");
        assert_eq!(status_of_result(&View::open(&bytes)), status, "{name}");
        assert_eq!(status_of_result(&Filter::decode(&bytes)), status, "{name}, plain");
        assert_eq!(status_of_result(&CountingFilter::decode(&bytes)), status, "{name}, counting");
        let verified_only = name.contains("/lines-") || name.contains("/counters-");
        let unverified = if verified_only { status::OK } else { status };
        assert_eq!(status_of_result(&View::open_unverified(&bytes)), unverified, "{name}");
    }
}
