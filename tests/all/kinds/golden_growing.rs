//! The golden files of growing filters, in `golden/growing/`: they are what `src/layouts/growing.rs` and
//! XXH3-64 make, and no kernel, byte for byte; every backend reads the accepted ones, and the others are
//! rejected with their error. `BLESS=1 cargo test --test all golden_growing` writes them anew.

use crate::definition::*;
use crate::golden_files::{
    Field, Golden, Intact, Spoilt, answers_are, golden_tests, numbers, seeded,
};
use crate::kinds::growing_bytes::*;
use crate::kinds::growing_model::*;
use bloomline::definition::growing;
use bloomline::{Backend, Error, GrowingFilter, GrowingView};
use std::fmt::Write as _;

/// A filter of these keys, for so many at this rate.
fn of(keys: u64, rate: f64, seed: u64, hashes: &[u64]) -> Growing {
    let mut filter = Growing::new(keys, rate, seed);
    hashes.iter().for_each(|&hash| _ = filter.insert(hash, 0));
    filter
}

/// One whose keys have prefixes that are longer by as many bits as their place in the list says.
fn mixed(keys: u64, lengths: [u32; 16], hashes: &[&[u64]]) -> Growing {
    let mut filter = Growing::unbounded(keys, 0.01, 3);
    filter.lengths = lengths;
    for (length, hashes) in (0..).zip(hashes) {
        hashes.iter().for_each(|&hash| _ = filter.insert(hash, length));
    }
    filter
}

/// Hashes that all belong into a line or a few.
fn tight(count: u64) -> Vec<u64> {
    (0..count).map(|i| 0x4321_0000_0000_0000 + (i << 40)).collect()
}

/// Hashes at the end, behind which there are few lines.
fn last(count: u64) -> Vec<u64> {
    (0..count).map(|i| u64::MAX - (i << 40)).collect()
}

/// A name, and the bytes, with hashes to probe.
fn accepted(files: &mut Golden) {
    let mut add = |name: &str, bytes: Vec<u8>, keys: &[u64]| {
        let (others, step) = (random_hashes(24, 9), keys.len() / 40 + 1);
        let probes = keys.iter().step_by(step).chain(&others).chain(&AWKWARD).copied().collect();
        files.accept(name, bytes, probes);
    };
    let keys = random_hashes(12_000, 1);
    add("none", of(100, 0.01, 0, &[]).encode(), &[]);
    add("one", of(1, 0.5, 0, &keys[..1]).encode(), &keys[..1]);
    add("awkward-hashes", of(16, 0.01, 0, &AWKWARD).encode(), &[]);
    for (rate, name) in [(0.5, "half"), (0.01, "hundredth"), (1e-6, "millionth")] {
        add(&format!("rate-{name}"), of(300, rate, 0, &keys[..300]).encode(), &keys[..300]);
    }
    add("few-of-many", of(1 << 40, 0.01, 0, &keys[..90]).encode(), &keys[..90]);
    add("longest-prefixes", of(1 << 52, 0.0078125, 0, &keys[..50]).encode(), &keys[..50]);
    add("more-than-expected", of(20, 0.01, 0, &keys[..2000]).encode(), &keys[..2000]);
    add("regions", of(12_000, 0.01, 0, &keys).encode(), &keys);
    let with_seed = seeded(90, 9);
    add("seed-nine", of(90, 0.01, 9, &with_seed).encode(), &with_seed);
    let repeated: Vec<u64> =
        (0..40).flat_map(|i| vec![keys[i]; 1 << (i % 8)]).chain(keys[40..90].to_vec()).collect();
    add("repeated", of(1000, 0.01, 0, &repeated).encode(), &repeated);
    // No line has room for all of them.
    let (few, tight) = (&keys[..200], tight(400));
    add("crowded", of(1 << 30, 0.01, 0, &[few, &tight].concat()).encode(), &tight);
    add("crowded-at-the-end", of(1 << 30, 0.01, 0, &last(150)).encode(), &last(150));
    let ends = [[0; 300], [u64::MAX; 300]].concat();
    add("repeated-at-the-ends", of(100, 0.01, 0, &ends).encode(), &ends);
    add("crowded-regions", of(12_000, 0.01, 0, &[&keys, &tight[..]].concat()).encode(), &tight);
    // Of several lengths. The shortest are too short for a bucket.
    let lists: Vec<&[u64]> = keys[..1200].chunks(150).collect();
    add("lengths", mixed(150, [3; 16], &lists[..4]).encode(), &keys[..600]);
    add("lengths-short", mixed(20, [7; 16], &lists).encode(), &keys[..1200]);
    let mut repeated = mixed(20, [2; 16], &[&[keys[3]; 20], &[keys[3]; 20], &keys[..60]]);
    add("lengths-repeated", repeated.encode(), &keys[..60]);
    repeated.lengths = [9; 16];
    add("lengths-none-of-the-longest", repeated.encode(), &keys[..60]);
    let tight: [&[u64]; 3] = [&keys[..100], &tight[..300], &tight[100..400]];
    add("lengths-crowded", mixed(100, [2; 16], &tight).encode(), &[tight[1], tight[2]].concat());
    let (early, late) = (last(80), last(300));
    let crowd = mixed(1 << 30, [2; 16], &[&keys[..20], &early, &late[80..]]);
    add("lengths-crowded-at-the-end", crowd.encode(), &late);
    let mut lengths = [4; 16];
    lengths[3..9].fill(5);
    let quarters: Vec<&[u64]> = keys.chunks(3000).collect();
    let four = mixed(3000, lengths, &quarters).encode();
    add("lengths-of-regions", four, &keys);
    // No writer makes these, and a reader takes them: lines that are wider or narrower than need be.
    let all = of(400, 0.1, 0, &keys[..400]);
    for (name, u, r) in [("narrow", 64, 3), ("wide", 1500, 6), ("wider", 5000, 6)] {
        let width = Width { u, r, length: 0 };
        add(&format!("other-{name}"), all.encode_as(&all.counts, &[width]), &keys[..400]);
    }
    let some = of(1000, 0.1, 0, &keys[..200]);
    let widths = [Width { u: 700, r: 5, length: 0 }; 16];
    add("other-regions", some.encode_as(&some.counts, &widths), &keys[..200]);
}

/// An intact filter to be spoilt: 16 regions, prefixes of two lengths, a stash and further copies.
fn intact() -> Growing {
    let keys = random_hashes(12_000, 5);
    let crowd = [tight(700), vec![keys[0]; 30]].concat();
    mixed(3000, [3; 16], &[&keys[..4000], &crowd, &[], &keys[4000..]])
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    let small = of(1 << 30, 0.01, 0, &[random_hashes(40, 4), last(150), vec![7; 20]].concat());
    let intact = Intact(small.encode());
    let len = intact.0.len();
    let blocks = get(&intact.0, LINE_COUNT);
    let table = 64 * blocks as usize;
    let record = |number, fields: &[Field]| intact.record((table, number), fields, seal_growing);
    let mut bad = Spoilt { files, intact: &intact };
    bad.ends();
    bad.add("footer-seed-changed", status::CHECKSUM, intact.altered(SEED, 1));
    bad.each("layout", status::LAYOUT, LAYOUT, &[5, 0x010B]);
    bad.each("regions", status::K, K, &[0, 2, 15, 17, 0x0100_0001]);
    bad.line_counts(&[0, (1 << 57) - 3, 1 << 58, u64::MAX]);
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, blocks - 1)]);
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, blocks + 1)]);
    bad.with("length-sixteen-regions", status::TRUNCATED, &[(K, 16)]);
    bad.with("length-most-lines", status::TRUNCATED, &[(LINE_COUNT, (1 << 57) - 4)]);
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.add("length-footer-only", status::TRUNCATED, intact.0[len - 64..].to_vec());
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-last-byte-changed", table - 1, 0x10);
    bad.with("records-checksum-changed", status::CHECKSUM, &[(RESERVED, 0)]);
    let bytes = intact.changed(|body| body[table + 8] ^= 1);
    bad.add("records-line-count-changed", status::CHECKSUM, bytes);
    for at in [44, 63] {
        bad.add(&format!("filter-zero-{at}"), status::RESERVED, record(1, &[(at..at + 1, 1)]));
    }
    for prefixes in [0, 1008, small.prefixes + 1, (1 << 59) + 16, 1 << 63] {
        let name = format!("filter-prefixes-{prefixes:x}");
        bad.add(&name, status::RESERVED, record(1, &[(of_filter::PREFIXES, prefixes)]));
    }
    bad.add("filter-keys", status::RESERVED, record(1, &[(of_filter::KEYS, small.prefixes + 1)]));
    for lengths in [48, 64, 65, u32::MAX.into()] {
        let name = format!("filter-lengths-{lengths}");
        bad.add(&name, status::RESERVED, record(1, &[(of_filter::LENGTHS, lengths)]));
    }
    for (name, rate) in [("0", 0.0), ("1", 1.0), ("negative", -0.5), ("nan", f64::NAN)] {
        let name = format!("filter-rate-{name}");
        bad.add(&name, status::RATE, record(1, &[(of_filter::RATE, rate.to_bits())]));
    }
    for at in [32, 63] {
        bad.add(&format!("region-zero-{at}"), status::RESERVED, record(0, &[(at..at + 1, 1)]));
    }
    for u in [0, 1, 63, (1 << 59) + 1, u64::MAX] {
        bad.add(&format!("region-u-{u:x}"), status::RESERVED, record(0, &[(of_region::U, u)]));
    }
    for r in [0, 1, 14, 55, u32::MAX.into()] {
        bad.add(&format!("region-r-{r}"), status::RESERVED, record(0, &[(of_region::R, r)]));
    }
    bad.add("region-length", status::RESERVED, record(0, &[(of_region::LENGTH, 1)]));
    let lines = get(&intact.0[..table + 64], of_region::LINES);
    for (name, count) in [("none", 0), ("too-few", lines - 5), ("too-many", lines + 1)] {
        let name = format!("region-lines-{name}");
        bad.add(&name, status::LINE_COUNT, record(0, &[(of_region::LINES, count)]));
    }
    bad.add("region-lines-most", status::LINE_COUNT, record(0, &[(of_region::LINES, u64::MAX)]));
    bad.add("region-first", status::LINE_COUNT, record(0, &[(of_region::FIRST, 1)]));
    for (name, field) in [("stash", of_filter::STASH), ("copies", of_filter::COPIES)] {
        for count in [1000, u64::MAX / 16 + 1, u64::MAX] {
            let name = format!("filter-{name}-{count:x}");
            bad.add(&name, status::LINE_COUNT, record(1, &[(field.clone(), count)]));
        }
    }
    bad.add("filter-stash-0", status::LINE_COUNT, record(1, &[(of_filter::STASH, 0)]));
    // Lines and lists that no writer leaves, under checksums that are right.
    let region = 64 * lines as usize;
    let full = (0..lines as usize).find(|line| intact.0[64 * line] & 64 > 0).unwrap() * 64;
    bad.add("lines-breaks-off", status::CHECKSUM, intact.changed(|body| body[full] &= !64));
    bad.add("lines-last-goes-on", status::CHECKSUM, intact.changed(|body| body[region - 64] |= 64));
    bad.add("lines-one-key-less", status::CHECKSUM, intact.changed(|body| body[full] -= 1));
    bad.add("lines-one-key-more", status::CHECKSUM, intact.changed(|body| body[full] += 1));
    bad.add("lines-out-of-place", status::CHECKSUM, {
        intact.changed(|body| body.copy_within(full..full + 64, region - 64))
    });
    bad.add("lines-behind-the-end", status::CHECKSUM, {
        intact.changed(|body| body[region - 64..region].fill(0xFF))
    });
    let (stash, copies) = (region, region + 16 * stash_of(&intact.0));
    for (name, at, byte) in [
        ("stash-count-0", stash + 8, 0),
        ("stash-out-of-order", stash + 2, 0xFF),
        ("stash-too-high", stash + 7, 0xFF),
        ("copies-count-0", copies + 8, 0),
        ("copies-of-none", copies, 0x55),
    ] {
        let name = format!("lines-{name}");
        let bytes = intact.changed(|body| body[at] = byte);
        assert!(bytes != intact.0, "{name}");
        bad.add(&name, status::CHECKSUM, bytes);
    }
    bad.add("lines-copies-too-many", status::CHECKSUM, {
        intact.changed(|body| body[copies + 8..copies + 16].fill(0xFF))
    });
    let padded = of(100, 0.01, 0, &[7; 20]).encode();
    let padded = Intact(padded);
    let end = 64 * get(&padded.0, LINE_COUNT) as usize;
    bad.add("lines-not-zero-behind", status::CHECKSUM, padded.changed(|body| body[end - 1] = 1));

    bad.with("order-5-7", status::LAYOUT, &[(LAYOUT, 0x7FFF), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 3), (LINE_COUNT, 0)]);
    bad.order_of_lengths(blocks - 1);
    let bytes = Intact(record(0, &[(of_region::R, 0)])).flipped(0, 1);
    bad.add("order-10-11", status::CHECKSUM, bytes);
    let both = |of_all: Field, of_one: Field| {
        Intact(record(1, &[of_all])).record((table, 0), &[of_one], seal_growing)
    };
    bad.add("order-filter-rate", status::RESERVED, {
        record(1, &[(of_filter::PREFIXES, 1), (of_filter::RATE, 0)])
    });
    bad.add("order-rate-region", status::RATE, both((of_filter::RATE, 0), (of_region::R, 0)));
    bad.add("order-region-lines", status::RESERVED, {
        record(0, &[(of_region::R, 0), (of_region::LINES, 0)])
    });
    bad.add("order-region-stash", status::LINE_COUNT, {
        both((of_filter::STASH, 0), (of_region::FIRST, 1))
    });
}

fn stash_of(bytes: &[u8]) -> usize {
    get(&bytes[..bytes.len() - 64], of_filter::STASH) as usize
}

/// Where keys of some hashes are, in lines of some widths.
fn vectors() -> String {
    let mut text = String::new();
    for hash in AWKWARD.into_iter().chain(random_hashes(8, 30)) {
        for (w, u) in [(1024, 64), (100_003, 777), ((1 << 59) - 16, 1 << 40)] {
            let prefix = growing::prefix(hash, w);
            let (line, offset) = growing::place(prefix, u);
            writeln!(text, "{hash:016x} {w} {u} {} {line} {offset}", growing::region(hash))
                .unwrap();
        }
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("growing", 500 << 10);
    files.check = Some(check_growing);
    files.answer = |bytes, hash| u32::from(growing_contains(bytes, hash));
    files.again = Some(|bytes| Growing::open(bytes).encode());
    files.numbers = numbers;
    files.viewed = false;
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors())];
    files.sorted()
}

golden_tests!(GrowingFilter);

/// Some have a stash, of one length and of several.
#[test]
fn some_are_crowded() {
    let names = golden().accepted.into_iter().filter(|(_, bytes, _)| stash_of(bytes) > 0);
    let names: Vec<String> = names.map(|(name, ..)| name).collect();
    assert!(names.len() > 2 && names.iter().any(|name| name.starts_with("lengths")), "{names:?}");
}

/// What all writers make of a set is what is in the files, but for those named so.
#[test]
fn equal_sets_have_equal_bytes() {
    for (name, bytes, _) in golden().accepted {
        let again = Growing::open(&bytes).encode();
        assert_eq!(again == bytes, !name.starts_with("other-"), "{name}");
        let filter = GrowingFilter::decode(&bytes).unwrap_or_else(|_| panic!("{name}"));
        assert_eq!(filter.encoded_len(), again.len(), "{name}");
        assert!(filter.prefixes().eq(Growing::open(&bytes).counts), "{name}");
    }
}

#[test]
fn views_of_every_backend_read_them() {
    let files = golden();
    for (name, bytes, probes) in &files.accepted {
        // At every alignment, of which some are slower.
        let mut shifted = vec![0; 1];
        shifted.extend(bytes);
        for backend in Backend::available() {
            for bytes in [&bytes[..], &shifted[1..]] {
                let view = GrowingView::open_with_backend(bytes, backend).unwrap();
                answers_are(&view, probes, |hash| (files.answer)(bytes, hash) > 0, name);
                let found = [view.regions() as u64, view.seed(), view.key_count()];
                assert_eq!(found, [K, SEED, KEY_COUNT].map(|field| get(bytes, field)), "{name}");
                assert!(view.prefixes().eq(Growing::open(bytes).counts), "{name}");
            }
        }
    }
    files.are_rejected_by(&["lines-"], |bytes, verify| {
        if verify {
            return status_of_result(&GrowingView::open(bytes));
        }
        let view = GrowingView::open_unverified(bytes);
        // Whatever the lines are, it answers, and reads nothing else.
        if let Ok(view) = &view {
            answers_are(view, &random_hashes(200, 3), |hash| view.contains_hash(hash), "");
            _ = (view.estimated_rate(), view.prefixes().count());
        }
        status_of_result(&view)
    });
}

/// The intact filter of many lines, with any one byte changed under checksums that are right: what the
/// definition says of it, all readers say.
#[test]
fn any_byte_changed() {
    let intact = intact().encode();
    assert!(stash_of(&intact) > 0 && get(&intact, K) == 16);
    let mut state = 11;
    for _ in 0..if fewer() { 20 } else { 600 } {
        let mut bytes = intact.clone();
        let at = next_random(&mut state) as usize % (bytes.len() - 64);
        bytes[at] ^= 1 << (next_random(&mut state) % 8);
        seal_growing(&mut bytes);
        let expected = check_growing(&bytes, true);
        assert_eq!(status_of_result(&GrowingFilter::decode(&bytes)), expected, "{at}");
        assert_eq!(status_of_result(&GrowingView::open(&bytes[..])), expected, "{at}");
        if let Ok(view) = GrowingView::open_unverified(&bytes[..]) {
            let hashes = random_hashes(100, at as u64);
            answers_are(&view, &hashes, |hash| growing_contains(&bytes, hash), &at.to_string());
        }
    }
}

/// Any bytes as lines, of any widths: nothing panics, and the answers are the definition's.
#[test]
fn any_lines() {
    let mut state = 12;
    for round in 0..cases(300) {
        let filter =
            if round % 2 == 0 { Growing::new(500, 0.1, 0) } else { mixed(200, [3; 16], &[]) };
        let mut bytes = filter.encode();
        let table = 64 * get(&bytes, LINE_COUNT) as usize;
        let length = get(&bytes[..table + 64], of_region::LENGTH);
        let (u, r) = if round % 2 == 0 { (640, 4) } else { (1 << 14, 8 + u64::from(round) % 7) };
        let homes = (filter.prefixes << length).div_ceil(u);
        let mut lines = vec![0; 64 * homes as usize];
        for line in lines.chunks_mut(8) {
            let any = next_random(&mut state) & next_random(&mut state);
            line.copy_from_slice(&any.to_le_bytes());
        }
        lines.extend(&bytes[table..]);
        bytes = lines;
        put(&mut bytes, LINE_COUNT, homes);
        let record = 64 * (homes as usize + 1);
        put(&mut bytes[..record], of_region::LINES, homes);
        put(&mut bytes[..record], of_region::U, u);
        put(&mut bytes[..record], of_region::R, r);
        seal_growing(&mut bytes);
        assert_eq!(check_growing(&bytes, false), status::OK, "{round}");
        let expected = check_growing(&bytes, true);
        assert_eq!(status_of_result(&GrowingFilter::decode(&bytes)), expected, "{round}");
        let view = GrowingView::open_unverified(&bytes[..]).unwrap();
        let hashes = random_hashes(200, round.into());
        answers_are(&view, &hashes, |hash| growing_contains(&bytes, hash), &round.to_string());
        assert!((0.0..=1.0).contains(&view.estimated_rate()) && view.prefixes().count() > 0);
    }
}

/// The first line of each region, damaged so that its values lie before the region.
#[test]
fn values_before_their_region() {
    let intact = intact().encode();
    let table = 64 * get(&intact, LINE_COUNT) as usize;
    for region in 1..=get(&intact, K) as usize {
        let mut bytes = intact.clone();
        let first = get(&bytes[..table + 64 * region], of_region::FIRST) as usize;
        bytes[64 * first + 1] = 0x80;
        let view = GrowingView::open_unverified(&bytes[..]).unwrap();
        assert!((0.0..=1.0).contains(&view.estimated_rate()) && view.prefixes().count() > 0);
    }
}

/// Short prefixes that cover all hashes, as nobody's filter has them: each becomes several, but their lines do
/// not become ever more.
#[test]
fn short_prefixes_of_all_hashes() {
    let mut filter = Growing { prefixes: 1024, longer: Some(20), ..mixed(10, [20; 16], &[]) };
    for key in 0..8 * 1024 {
        filter.insert((key / 8) << 54, 0);
    }
    let width = Width { u: 1 << 29, r: 23, length: 20 };
    let bytes = filter.encode_as(&filter.counts, &[width]);
    let decoded = GrowingFilter::decode(&bytes).unwrap();
    assert!(random_hashes(1000, 13).into_iter().all(|hash| decoded.contains_hash(hash)));
    let taken = decoded.memory_usage();
    assert!(taken < 16 << 20, "{taken} bytes, of {}", bytes.len());
}

/// Prefixes that are far shorter than those of another region, as nobody's filter has them: they would become many
/// times as many as there are keys. That is refused, with none of them made.
#[test]
fn short_prefixes_that_would_become_very_many() {
    let mut filter = Growing { prefixes: 1024, longer: Some(49), ..mixed(10, [49; 16], &[]) };
    for key in 0..1 << 17 {
        filter.counts.insert(filter.normal(key << 43, 49), 1);
    }
    for prefix in 64..1024 {
        filter.counts.insert(filter.normal(prefix << 54, 0), 1);
    }
    let mut widths = [Width { u: 1 << 52, r: 51, length: 49 }; 16];
    widths[0] = Width { u: 1 << 41, r: 38, length: 49 };
    let bytes = filter.encode_as(&filter.counts, &widths);
    assert_eq!(check_growing(&bytes, true), status::OK);
    assert_eq!(GrowingFilter::decode(&bytes).unwrap_err(), Error::OutOfMemory);
    // A view makes none.
    let view = GrowingView::open(&bytes[..]).unwrap();
    assert!(
        random_hashes(1000, 13).into_iter().all(|hash| hash >> 60 == 0 || view.contains_hash(hash))
    );
}

/// Bytes may state that a key is there almost 2^64 times. More such keys wrap no count, and a filter of them
/// has bytes that readers take.
#[test]
fn counts_up_to_the_highest_number() {
    let keys = random_hashes(100, 14);
    for (length, mut model) in [
        (0, of(1000, 0.01, 0, &keys)),
        // The key's prefix is so short that it becomes several.
        (0, Growing { lengths: [9; 16], ..mixed(10, [9; 16], &[&keys]) }),
        (9, Growing { lengths: [9; 16], ..mixed(10, [9; 16], &[&keys]) }),
    ] {
        model.counts.insert(model.normal(keys[0], length), u64::MAX - 200);
        model.key_count = u64::MAX - 3;
        let width = Width { u: 1 << 16, r: 14, length: model.lengths[0] };
        let bytes = match length {
            0 if model.longer.is_some() => model.encode_as(&model.counts, &[width]),
            _ => model.encode(),
        };
        assert_eq!(check_growing(&bytes, true), status::OK);
        let read = || GrowingFilter::decode(&bytes).unwrap();
        let (mut filter, mut merged, other) = (read(), read(), read());
        for key in [[keys[0]; 300], [keys[1]; 300]].as_flattened() {
            filter.insert_hash(*key).unwrap();
        }
        merged.union(&other).unwrap();
        for filter in [filter, merged] {
            assert_eq!(filter.key_count(), u64::MAX);
            let counts = [0, 1].map(|key| filter.count_hash(keys[key]));
            assert!(counts[0] >= u64::MAX - 200 && counts[1] > 1, "{counts:?}");
            let bytes = filter.to_bytes().unwrap();
            assert_eq!(check_growing(&bytes, true), status::OK);
            let mut again = GrowingFilter::decode(&bytes).unwrap();
            assert!(again.count_hash(keys[0]) > 1 << 58 && again.count_hash(keys[1]) == counts[1]);
            for key in &keys {
                assert!(again.contains_hash(*key) && again.remove_hash(*key).is_ok());
            }
            assert!(again.contains_hash(keys[0]) && again.contains_hash(keys[1]));
        }
    }
}

/// Many keys of one region, and a few of others: its prefixes are far longer than theirs.
#[test]
fn regions_of_very_different_lengths() {
    let keys = random_hashes(cases(60_000) as usize, 15);
    for (few, shift) in [(40, 4), (2000, 4), (40, 7)] {
        let mut filter = GrowingFilter::unbounded(20, 0.01, 0).unwrap();
        let (early, late) = keys.split_at(few);
        early.iter().for_each(|&hash| _ = filter.insert_hash(hash).unwrap());
        let late = late.iter().map(|hash| hash >> shift | 3 << 60);
        late.clone().for_each(|hash| _ = filter.insert_hash(hash).unwrap());
        let bytes = filter.to_bytes().unwrap();
        assert_eq!(check_growing(&bytes, true), status::OK, "{few} and {shift}");
        assert!(Growing::open(&bytes).encode() == bytes, "{few} and {shift}");
        let decoded = GrowingFilter::decode(&bytes).unwrap();
        assert!(
            early.iter().all(|&hash| growing_contains(&bytes, hash) && decoded.contains_hash(hash))
        );
        assert!(late.clone().all(|hash| decoded.contains_hash(hash)));
        assert!(decoded.to_bytes().unwrap() == bytes);
    }
}
