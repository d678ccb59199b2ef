//! The golden files of scalable filters, in `golden/scalable`: they are what the plain
//! definition makes, byte for byte; the library reads the accepted ones and rejects the others
//! with the exact error. `BLESS=1 cargo test --test golden_scalable committed` writes them anew.
//! `stages.txt` beside them, the sizes of the stages, is by the library itself.

use crate::definition::*;
use crate::golden_files::{Field, Golden, Intact, Spoilt, golden_tests, seeded};
use crate::kinds::scalable_bytes::*;

use bloomline::{Error, Filter, ScalableFilter, View};
use std::fmt::Write as _;

/// A stage of so many lines, with so many random keys.
fn stage(lines: usize, k: u32, keys: usize, capacity: u64) -> StageOf {
    StageOf::new(lines, k, capacity, &random_hashes(keys, (lines * 64 + k as usize) as u64))
}

fn accepted(files: &mut Golden) {
    let mut add = |name: &str, rate: f64, seed: u64, stages: &[StageOf], probes: Vec<u64>| {
        let bytes = encode_scalable(stages, rate, seed);
        files.accept(name, bytes, [probes, random_hashes(24, 41)].concat());
    };
    let random = |lines: usize, k: u32, keys: usize| {
        random_hashes(keys, (lines * 64 + k as usize) as u64).into_iter().step_by(7)
    };
    add("empty", 0.01, 0, &[stage(1, 8, 0, 32)], AWKWARD.to_vec());
    add("one-stage", 0.01, 0, &[stage(2, 8, 60, 64)], random(2, 8, 60).collect());
    // What the library makes of these: every stage full but the last.
    let grown =
        [stage(1, 8, 32, 32), stage(2, 8, 64, 64), stage(4, 9, 128, 128), stage(8, 9, 9, 256)];
    let probes = random(1, 8, 32).chain(random(4, 9, 128)).chain(random(8, 9, 9)).collect();
    add("four-stages", 0.01, 0, &grown, probes);
    // No writer makes these, and a reader takes them: stages of all k and sizes in any order.
    let odd: Vec<_> = (1..=16).map(|k| stage(1 + k as usize * 5 % 4, k, 20, k.into())).collect();
    add(
        "every-k",
        0.5,
        0,
        &odd,
        (1..=16).flat_map(|k| random(1 + k as usize * 5 % 4, k, 20)).collect(),
    );
    let many = vec![stage(1, 3, 2, 1); 64];
    add("sixty-four-stages", 0.999, 0, &many, random(1, 3, 2).collect());
    let hashes = seeded(40, u64::MAX);
    let filled = [StageOf::new(1, 10, 20, &hashes[..20]), StageOf::new(2, 11, 40, &hashes[20..])];
    add("seed-max", 1e-4, u64::MAX, &filled, hashes);
    let awkward = [StageOf::new(3, 6, 32, &AWKWARD[..8]), StageOf::new(3, 16, 64, &AWKWARD[8..])];
    add("awkward-hashes", 0.01, 0, &awkward, AWKWARD.to_vec());
    add("rate-least", 1e-15, 0, &[stage(1, 16, 5, 32)], random(1, 16, 5).collect());
    let almost_one = f64::from_bits(1f64.to_bits() - 1);
    add("rate-almost-one", almost_one, 0, &[stage(1, 1, 5, 32)], random(1, 1, 5).collect());
    // Overfull, as where there was no memory to grow; and no number that would count it.
    let mut full = stage(1, 4, 300, 32);
    add("overfull", 0.01, 0, &[full.clone()], random(1, 4, 300).collect());
    full.key_count = 0;
    full.capacity = u64::MAX;
    add("key-count-unknown", 0.01, 0, &[full], random(1, 4, 300).collect());
}

const LINES: usize = 7;
const TABLE: usize = 64 * LINES;
const BODY: usize = TABLE + 3 * 64;

fn rejected(files: &mut Golden) {
    // An intact filter of three stages, of 1, 2 and 4 lines, to be spoilt.
    let intact = Intact(encode_scalable(
        &[stage(1, 8, 32, 32), stage(2, 8, 64, 64), stage(4, 9, 50, 128)],
        0.01,
        0,
    ));
    let mut bad = Spoilt { files, intact: &intact };
    // With a field of the record of a stage changed, and checksums made right again.
    let record = |stage, fields: &[Field]| intact.record((TABLE, stage), fields, seal);

    bad.add("short-63", status::TRUNCATED, intact.0[BODY + 1..].to_vec());
    bad.add("magic-cut-by-one", status::NOT_A_FILTER, intact.0[..BODY + 63].to_vec());
    bad.add("magic-no-footer", status::NOT_A_FILTER, intact.0[..BODY].to_vec());
    bad.with("version-2", status::VERSION, &[(VERSION, 2)]);
    bad.add("footer-key-count-changed", status::CHECKSUM, intact.altered(KEY_COUNT, 1));
    for layout in [1, 2, 4, 5, 0x0103] {
        // For other layouts a filter, or not: for this one none in any case.
        bad.with(&format!("layout-{layout}"), status::LAYOUT, &[(LAYOUT, layout), (K, 8)]);
    }
    let below = 1e-15f64.to_bits() - 1;
    for (name, rate) in [
        ("zero", 0),
        ("minus-zero", 1 << 63),
        ("one", 1f64.to_bits()),
        ("too-small", below),
        ("negative", (-0.01f64).to_bits()),
        ("nan", f64::NAN.to_bits()),
        ("infinite", f64::INFINITY.to_bits()),
    ] {
        bad.with(&format!("rate-{name}"), status::RATE, &[(RESERVED, rate)]);
    }
    bad.each("stages", status::K, K, &[0, 65, 0x0100_0003]);
    // None; the first too many; and those whose 64 * (line_count + 4) is right in 64 bits.
    bad.line_counts(&[0, (1 << 57) - 4, (1 << 57) - 1, (1 << 58) + 7, (1 << 58) - 4, u64::MAX]);
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, 6)]);
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, 8)]);
    bad.with("length-one-stage-less", status::TRUNCATED, &[(K, 2)]);
    bad.with("length-one-stage-more", status::TRUNCATED, &[(K, 4)]);
    bad.add("length-first-byte-gone", status::TRUNCATED, intact.0[1..].to_vec());
    bad.add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    bad.add("length-footer-only", status::TRUNCATED, intact.0[BODY..].to_vec());
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-record-changed", TABLE, 0x10);
    bad.flip("lines-last-byte-changed", BODY - 1, 0x10);
    // Records, under checksums that are right.
    for (name, at) in [("first", 28), ("middle", 40), ("last", 63)] {
        let bytes = record(1, &[(at..at + 1, 1)]);
        bad.add(&format!("record-{name}-zero-byte"), status::RESERVED, bytes);
    }
    for k in [0, 17, 0x0100_0008] {
        bad.add(&format!("record-k-{k}"), status::K, record(1, &[(K, k)]));
    }
    for (stage, count) in
        [(0, 0), (0, 2), (0, 8), (1, 1), (2, 3), (2, 5), (2, 1 << 58), (0, u64::MAX)]
    {
        let name = format!("record-{stage}-line-count-{count:x}");
        bad.add(&name, status::LINE_COUNT, record(stage, &[(LINE_COUNT, count)]));
    }
    bad.add("record-capacity-0", status::LINE_COUNT, record(1, &[(CAPACITY, 0)]));

    bad.with("order-5-6", status::LAYOUT, &[(LAYOUT, 0x7FFF), (RESERVED, 0)]);
    bad.with("order-6-7", status::RATE, &[(RESERVED, 0), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 65), (LINE_COUNT, 0)]);
    bad.order_of_lengths(6);
    bad.flip("order-10-11", TABLE + 24, 8);
    bad.add("order-record-zero-byte-k", status::RESERVED, record(0, &[(K, 0), (28..29, 1)]));
    bad.add("order-record-k-line-count", status::K, record(0, &[(K, 0), (LINE_COUNT, 0)]));
    let first = Intact(record(0, &[(LINE_COUNT, 0)]));
    let bytes = first.record((TABLE, 1), &[(K, 0)], seal);
    bad.add("order-record-0-line-count-1-k", status::LINE_COUNT, bytes);
}

/// How filters grow that are made for so many keys at first: of each stage the number of keys
/// it is for, the lines, and k.
fn stages_text() -> String {
    let mut text = String::new();
    for (first, rate) in
        [(0, 0.01), (100, 0.01), (1000, 0.001), (777, 0.5), (64, 1e-6), (40, 1e-15)]
    {
        let mut filter = ScalableFilter::new(first, rate, 0).unwrap();
        let mut hashes = random_hashes(1 << 15, 50).into_iter();
        while filter.stages().len() < 6 {
            filter.insert_hash(hashes.next().unwrap()).unwrap();
        }
        let bytes = filter.to_bytes().unwrap();
        let table = &bytes[bytes.len() - 7 * 64..bytes.len() - 64];
        write!(text, "{first} {rate:e}").unwrap();
        for record in table.chunks(64) {
            let [lines, capacity, k] = [LINE_COUNT, CAPACITY, K].map(|field| get(record, field));
            write!(text, " {capacity} {lines} {k}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("scalable", 100 << 10);
    files.check = Some(|bytes, _| check_scalable(bytes));
    files.answer = |bytes, hash| u32::from(scalable_contains(bytes, hash));
    files.viewed = false;
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("stages.txt", stages_text())];
    files
}

golden_tests!(ScalableFilter);

/// They go on, or say that they cannot, and have the keys all the same.
#[test]
fn accepted_files_take_keys() {
    for (name, bytes, _) in golden().accepted {
        let mut filter = ScalableFilter::decode(&bytes).unwrap();
        assert_eq!(filter.target_rate().to_bits(), get(&bytes, RESERVED), "{name}");
        assert_eq!(filter.seed(), get(&bytes, SEED), "{name}");
        for hash in random_hashes(200, 60) {
            let _ = filter.insert_hash(hash);
            assert!(filter.contains_hash(hash), "{name}");
        }
        assert!(matches!(View::open_unverified(&bytes), Err(Error::Layout(_))), "{name}");
        assert!(matches!(Filter::decode(&bytes), Err(Error::Layout(_))), "{name}");
    }
}
