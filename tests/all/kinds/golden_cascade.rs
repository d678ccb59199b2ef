//! The golden files of cascades, in `golden/cascade/`: they are what `src/layouts/cascade.rs`,
//! `static_line.rs` beside it and XXH3-64 make, and no kernel, byte for byte; every backend reads the
//! accepted ones, and the others are rejected with their error.
//! `BLESS=1 cargo test --test all golden_cascade` writes them anew.

use crate::definition::*;
use crate::golden_files::{
    Field, Golden, Intact, Spoilt, answers_are, golden_tests, numbers, probes_of, seeded,
};
use crate::kinds::cascade_bytes::*;
use bloomline::definition::cascade::{self, Layer, layer_hash};
use bloomline::definition::static_line::{self, Levels};
use bloomline::{Backend, Cascade, CascadeView};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn cascade_of(included: &[u64], excluded: &[u64], rows: u32, seed: u64) -> Vec<u8> {
    encode_cascade(&layers_of_sets(included, excluded, rows).expect("disjoint sets"), seed)
}

/// A layer that no key made: of these lines.
fn layer(rows: u32, levels: Levels, lines: Vec<u8>) -> (Layer, [u64; 2]) {
    (Layer { rows, levels, lines }, [0; 2])
}

/// One line. If it is zero, it bumps all keys, so it passes them.
const ONE: Levels = Levels { line_count: 1, shares: [0; 2], tail: 0 };

/// A name, and the bytes, with hashes to probe.
fn accepted(files: &mut Golden) {
    let mut add = |name: &str, bytes: Vec<u8>, keys: &[u64]| {
        let probes = probes_of(keys, usize::MAX, (24, 9));
        files.accept(name, bytes, probes);
    };
    // Sets of which many keys pass: of both some that end in each of the layers.
    for rows in [4, 5, 8, 9, 16] {
        let (included, excluded) = (random_hashes(300, rows.into()), random_hashes(1500, 77));
        let bytes = cascade_of(&included, &excluded, rows, 0);
        let mut ends = BTreeSet::new();
        let mut probes = [&included[..40], &excluded[..40]].concat();
        let layers = layers_of(&bytes);
        for &hash in included.iter().chain(&excluded) {
            if ends.insert(end(&layers, hash)) {
                probes.push(hash);
            }
        }
        add(&format!("rows{rows:02}"), bytes, &probes);
    }
    let (few, more) = (random_hashes(40, 1), random_hashes(60, 2));
    add("none", cascade_of(&[], &[], 4, 0), &[]);
    add("none-included", cascade_of(&[], &more, 4, 0), &more);
    add("none-excluded", cascade_of(&few, &[], 4, 0), &few);
    add("one-of-each", cascade_of(&few[..1], &more[..1], 4, 0), &[few[0], more[0]]);
    add("zero-and-ones", cascade_of(&[0], &[u64::MAX], 4, 0), &[]);
    add("ones-and-zero", cascade_of(&[u64::MAX], &[0], 4, 0), &[]);
    add("awkward-hashes", cascade_of(&AWKWARD[..8], &AWKWARD[8..], 5, 0), &[]);
    let keys = seeded(90, 9);
    add("seed-nine", cascade_of(&keys[..30], &keys[30..], 6, 9), &keys);
    // No writer makes these, and a reader takes them: any rows in any layer, up to 32 layers, lines
    // that pass everything, counts that are not so.
    add("bumps-all-1", encode_cascade(&[layer(4, ONE, vec![0; 64])], 0), &few);
    add("bumps-all-2", encode_cascade(&vec![layer(8, ONE, vec![0; 64]); 2], 0), &few);
    add("bumps-all-32", encode_cascade(&vec![layer(5, ONE, vec![0; 64]); 32], u64::MAX), &few);
    let mut odd = Vec::new();
    for rows in 4..=16 {
        let levels = Levels { line_count: 1, shares: [1, 255], tail: rows as u8 % 3 };
        let hashes: Vec<u64> =
            few.iter().map(|&hash| layer_hash(hash, rows as usize - 4)).collect();
        let mut layer = layer(rows, levels, static_line::build(&hashes, levels, rows));
        layer.1 = [u64::MAX, 7];
        odd.push(layer);
    }
    add("every-rows", encode_cascade(&odd, 3), &few);
}

/// The first layer that does not pass a hash, or the number of layers.
fn end(layers: &[Layer], hash: u64) -> usize {
    let passes = |(i, layer): (usize, &Layer)| {
        static_line::contains(&layer.lines, layer.levels, layer.rows, layer_hash(hash, i))
    };
    layers.iter().enumerate().take_while(|&layer| passes(layer)).count()
}

/// What is rejected, with its status.
fn rejected(files: &mut Golden) {
    // An intact cascade to be spoilt: of layers of 6 and more lines, the first of 9 rows.
    let intact = Intact(cascade_of(&random_hashes(200, 5), &random_hashes(9000, 6), 9, 0));
    let len = intact.0.len();
    let (layers, lines) = (get(&intact.0, K), get(&intact.0, LINE_COUNT));
    let table = 64 * lines as usize;
    // With fields of the record of a layer changed, and all checksums made right again.
    let record = |layer, fields: &[Field]| intact.record((table, layer), fields, seal_cascade);
    let mut bad = Spoilt { files, intact: &intact };
    bad.ends();
    bad.add("footer-seed-changed", status::CHECKSUM, intact.altered(SEED, 1));
    bad.each("layout", status::LAYOUT, LAYOUT, &[5, 0x0109]);
    bad.each("layers", status::K, K, &[0, 33, 0x0100_0000 + layers]);
    bad.line_counts(&[0, (1 << 57) - 1 - layers, 1 << 58, u64::MAX]);
    bad.with("length-one-line-less", status::TRUNCATED, &[(LINE_COUNT, lines - 1)]);
    bad.with("length-one-line-more", status::TRUNCATED, &[(LINE_COUNT, lines + 1)]);
    bad.with("length-one-layer-less", status::TRUNCATED, &[(K, layers - 1)]);
    bad.with("length-one-layer-more", status::TRUNCATED, &[(K, layers + 1)]);
    bad.with("length-most-lines", status::TRUNCATED, &[(LINE_COUNT, (1 << 57) - 2 - layers)]);
    bad.add("length-first-line-gone", status::TRUNCATED, intact.0[64..].to_vec());
    bad.add("length-footer-only", status::TRUNCATED, intact.0[len - 64..].to_vec());
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-last-byte-changed", table - 1, 0x10);
    // Records, under a checksum of the lines that is right.
    bad.with("records-checksum-changed", status::CHECKSUM, &[(RESERVED, 0)]);
    let bytes = intact.changed(|body| body[table] ^= 1);
    bad.add("records-key-count-changed", status::CHECKSUM, bytes);
    for at in [28, 31, 40, 63] {
        bad.add(&format!("record-zero-{at}"), status::RESERVED, record(1, &[(at..at + 1, 1)]));
    }
    for sizes in [0x100, 0x1_0000, 0x1_0040, 0x10_4040, 1 << 24 | 64, 1 << 63] {
        let name = format!("record-levels-{sizes:x}");
        bad.add(&name, status::RESERVED, record(0, &[(RESERVED, sizes)]));
    }
    for rows in [0, 3, 17, 0x0000_0104] {
        bad.add(&format!("record-k-{rows}"), status::K, record(1, &[(K, rows)]));
    }
    for (layer, count) in [(0, 0), (0, (1 << 48) + 1), (0, 1 << 58), (1, u64::MAX)] {
        let name = format!("record-{layer}-line-count-{count:x}");
        bad.add(&name, status::LINE_COUNT, record(layer, &[(LINE_COUNT, count)]));
    }
    bad.add("record-lines-left-over", status::LINE_COUNT, record(0, &[(K, 8)]));
    bad.add("record-lines-too-many", status::LINE_COUNT, record(1, &[(K, 9)]));
    bad.add("record-most-lines", status::LINE_COUNT, record(0, &[(LINE_COUNT, 1 << 48)]));
    let last = layers as usize - 1;
    bad.add("record-last-too-many", status::LINE_COUNT, record(last, &[(LINE_COUNT, 9)]));

    bad.with("order-5-7", status::LAYOUT, &[(LAYOUT, 0x7FFF), (K, 0)]);
    bad.with("order-7-8", status::K, &[(K, 33), (LINE_COUNT, 0)]);
    bad.order_of_lengths(lines - 1);
    let bytes = Intact(record(0, &[(K, 3)])).flipped(0, 1);
    bad.add("order-10-11", status::CHECKSUM, bytes);
    let bytes = Intact(record(0, &[(K, 3)])).with(&[(RESERVED, 0)]);
    bad.add("order-11-record", status::CHECKSUM, bytes);
    bad.add("order-record-zero-k", status::RESERVED, record(0, &[(28..29, 1), (K, 0)]));
    bad.add("order-record-levels-k", status::RESERVED, record(0, &[(RESERVED, 0x100), (K, 0)]));
    bad.add("order-record-k-line-count", status::K, record(0, &[(K, 0), (LINE_COUNT, 0)]));
    let first = Intact(record(0, &[(LINE_COUNT, 0)]));
    let bytes = first.record((table, 1), &[(K, 0)], seal_cascade);
    bad.add("order-record-0-1", status::LINE_COUNT, bytes);
}

/// The hash of a key in each of some layers.
fn vectors() -> String {
    let mut text = String::new();
    for hash in AWKWARD.into_iter().chain(random_hashes(8, 30)) {
        for layer in [0, 1, 2, 3, 17, cascade::MAX_LAYERS - 1] {
            writeln!(text, "{hash:016x} {layer} {:016x}", layer_hash(hash, layer)).unwrap();
        }
    }
    text
}

/// What the library builds of so many random keys, and of which length and checksum that is. So other
/// languages can build the same.
fn built() -> String {
    let mut text = String::new();
    for (n, m, seed) in
        [(0, 0, 0), (1, 1, 0), (100, 0, 5), (3000, 100, 0), (500, 9000, 7), (2000, 200_000, 0)]
    {
        let cascade = Cascade::build(&random_hashes(n, 1), &random_hashes(m, 2), seed, 1).unwrap();
        let bytes = cascade.to_bytes().unwrap();
        writeln!(text, "{n} {m} {seed} {} {:016x}", bytes.len(), hash(&bytes, 0)).unwrap();
    }
    text
}

fn golden() -> Golden {
    let mut files = Golden::new("cascade", 200 << 10);
    files.check = Some(check_cascade);
    files.answer = |bytes, hash| u32::from(cascade::contains(&layers_of(bytes), hash));
    files.numbers = |bytes| {
        let first = &bytes[..64 * (get(bytes, LINE_COUNT) as usize + 1)];
        [numbers(bytes), vec![get(first, TESTED)]].concat()
    };
    files.viewed = false;
    accepted(&mut files);
    rejected(&mut files);
    files.texts = vec![("vectors.txt", vectors()), ("built.txt", built())];
    files.sorted()
}

golden_tests!(Cascade);

#[test]
fn views_of_every_backend_read_them() {
    let files = golden();
    for (name, bytes, probes) in &files.accepted {
        for backend in Backend::available() {
            let view = CascadeView::open_with_backend(&bytes[..], backend).unwrap();
            answers_are(&view, probes, |hash| (files.answer)(bytes, hash) > 0, name);
            let found = [view.layer_count() as u64, view.seed(), view.included_count()];
            assert_eq!(found, [K, SEED, KEY_COUNT].map(|field| get(bytes, field)), "{name}");
        }
    }
    files.are_rejected_by(&["lines-"], |bytes, verify| match verify {
        true => status_of_result(&CascadeView::open(bytes)),
        false => status_of_result(&CascadeView::open_unverified(bytes)),
    });
}

/// The probes end in each of many layers.
#[test]
fn probes_end_in_many_layers() {
    let ends = golden().accepted.into_iter().map(|(_, bytes, probes)| {
        let layers = layers_of(&bytes);
        probes.into_iter().map(|hash| end(&layers, hash)).collect::<BTreeSet<_>>().len()
    });
    assert!(ends.max() >= Some(4));
}
