//! The golden files of windows, in `golden/window`: they are what the plain definition makes,
//! byte for byte; the library reads the accepted ones, and rejects the others with the exact
//! error. `BLESS=1 cargo test --test golden_window committed` writes them anew.

use crate::definition::*;
use crate::golden_files::{Golden, Intact, Spoilt, golden_tests, numbers, probes_of, seeded};
use crate::kinds::window_bytes::*;

use bloomline::definition::line;
use bloomline::{CountingFilter, Filter, Window};
use std::ops::Range;

/// A window after `slices` slices, in each of which so many keys were inserted.
fn filled(
    shape: (usize, usize),
    k: u32,
    seed: u64,
    slices: u64,
    keys: usize,
) -> (WindowState, Vec<u64>) {
    let mut state = WindowState::new(shape.0, shape.1, k, seed);
    let hashes = random_hashes(slices as usize * keys, u64::from(k) << 32 | shape.1 as u64);
    for (slice, hashes) in hashes.chunks(keys.max(1)).enumerate() {
        state.advance_to(slice as u64 + 1);
        state.insert_all(hashes);
    }
    (state, hashes)
}

fn accepted(files: &mut Golden) {
    let mut add = |name: &str, state: WindowState, inserted: &[u64]| {
        let probes = probes_of(inserted, 60, (24, state.slice));
        files.accept(name, state.encode(), probes);
    };
    for k in 1..=line::MAX_K {
        let (state, hashes) = filled((3, 1), k, 0, 5, 20);
        add(&format!("k{k:02}"), state, &hashes);
    }
    for generations in [1, 2, 5, 8] {
        for lines in [1, 2, 3] {
            let (state, hashes) = filled((generations, lines), 6, 0, 11, 15);
            add(&format!("generations{generations}-lines{lines}"), state, &hashes);
        }
    }
    // In slice 0, and before there have been as many slices as there are generations.
    add("empty", WindowState::new(4, 2, 6, 0), &[]);
    let (mut state, hashes) = filled((6, 2), 6, 0, 3, 20);
    add("young", state.clone(), &hashes);
    // A jump that leaves one key generation, and one that leaves none.
    state.advance_to(8);
    add("jump-of-5", state.clone(), &hashes);
    state.advance_to(1000);
    add("jump-of-all", state.clone(), &hashes);
    state.slice = u64::MAX;
    state.insert(hashes[0]);
    add("last-slice", state, &hashes);
    for (name, limit) in [("rotates-after-7", 7), ("rotates-after-max", u64::MAX)] {
        let mut state = WindowState::new(3, 2, 8, 0);
        state.limit = limit;
        let hashes = random_hashes(40, 9);
        state.insert_all(&hashes);
        add(name, state, &hashes);
    }
    let (mut state, hashes) = filled((2, 2), 6, 0, 3, 30);
    state.key_counts = vec![u64::MAX, 2];
    add("key-counts-max", state.clone(), &hashes);
    state.key_counts = vec![0; 2];
    add("key-counts-unknown", state, &hashes);
    let mut state = WindowState::new(2, 2, 6, u64::MAX);
    let hashes = seeded(60, u64::MAX);
    state.insert_all(&hashes);
    add("seed-max", state, &hashes);
    for k in [6, 8, 16] {
        let mut state = WindowState::new(2, 3, k, 0);
        state.insert_all(&AWKWARD);
        add(&format!("awkward-hashes-k{k:02}"), state, &[]);
    }
}

const LINES: usize = 3 * 2 * 64;
const BODY: usize = LINES + 16 + 3 * 8;

fn rejected(files: &mut Golden) {
    // An intact window of 3 generations of 2 lines, to be spoilt.
    let intact = Intact(filled((3, 2), 6, 0, 4, 30).0.encode());
    let mut bad = Spoilt { files, intact: &intact };
    // Some bytes before the footer taken out, and checksums made right again.
    let without = |range: Range<usize>| {
        let mut bytes = intact.0.clone();
        bytes.drain(range);
        seal(&mut bytes);
        bytes
    };

    bad.add("short-63", status::TRUNCATED, intact.0[BODY + 1..].to_vec());
    bad.add("magic-cut-by-one", status::NOT_A_FILTER, intact.0[..BODY + 63].to_vec());
    bad.add("magic-no-footer", status::NOT_A_FILTER, intact.0[..BODY].to_vec());
    bad.with("version-2", status::VERSION, &[(VERSION, 2)]);
    bad.with("layout-32767", status::LAYOUT, &[(LAYOUT, 0x7FFF)]);
    bad.with("layout-260", status::LAYOUT, &[(LAYOUT, 0x0104)]);
    for generations in [0, 1 << 32, (1 << 32) + 3, u64::MAX] {
        let name = format!("generations-{generations:x}");
        bad.with(&name, status::GENERATIONS, &[(RESERVED, generations)]);
    }
    bad.each("k", status::K, K, &[0, 17, 0x0100_0006]);
    // None; the first too many; the most that layout 1 may have; and one whose 192 * line_count is
    // right in 64 bits.
    bad.line_counts(&[0, ((1 << 63) - 1 - 104) / 192 + 1, (1 << 57) - 2, (1 << 58) + 2, u64::MAX]);
    let most = u32::MAX.into();
    let many = [(RESERVED, most), (LINE_COUNT, (1 << 31) / 64 + 1)];
    bad.add("line-count-of-many-generations", status::LINE_COUNT, intact.with(&many));
    for (name, fields) in [
        ("generations-1", (RESERVED, 1)),
        ("generations-2", (RESERVED, 2)),
        ("generations-4", (RESERVED, 4)),
        ("generations-most", (RESERVED, 1 << 16)),
        ("lines-1", (LINE_COUNT, 1)),
        ("lines-3", (LINE_COUNT, 3)),
        ("lines-of-all", (LINE_COUNT, 6)),
    ] {
        bad.with(&format!("length-{name}"), status::TRUNCATED, &[fields]);
    }
    bad.add("length-first-byte-gone", status::TRUNCATED, intact.0[1..].to_vec());
    bad.add("length-line-in-front", status::TRUNCATED, [vec![0; 64], intact.0.clone()].concat());
    bad.add("length-no-lines", status::TRUNCATED, without(0..LINES));
    bad.add("length-no-state", status::TRUNCATED, without(LINES..BODY));
    bad.add("length-no-key-counts", status::TRUNCATED, without(LINES + 16..BODY));
    bad.add("length-last-key-count-gone", status::TRUNCATED, without(BODY - 8..BODY));
    bad.add("length-footer-only", status::TRUNCATED, without(0..BODY));
    bad.flip("lines-first-byte-changed", 0, 0x10);
    bad.flip("lines-last-line-changed", LINES - 1, 0x10);
    bad.flip("lines-slice-changed", LINES, 0x10);
    bad.flip("lines-key-count-changed", BODY - 1, 0x10);
    bad.add("order-3-4", status::VERSION, intact.unsealed(&[(VERSION, 2)]));
    bad.add("order-4-5", status::CHECKSUM, intact.unsealed(&[(LAYOUT, 0x7FFF)]));
    bad.with("order-5-6", status::LAYOUT, &[(LAYOUT, 0x7FFF), (RESERVED, 0)]);
    bad.with("order-6-7", status::GENERATIONS, &[(RESERVED, 0), (K, 0)]);
    bad.with("order-6-8", status::GENERATIONS, &[(RESERVED, 0), (LINE_COUNT, 0)]);
    bad.with("order-7-8", status::K, &[(K, 17), (LINE_COUNT, 0)]);
    bad.order_of_lengths(3);
}

fn golden() -> Golden {
    let mut files = Golden::new("window", 150 << 10);
    files.check = Some(|bytes, _| check_window(bytes));
    files.answer = |bytes, hash| u32::from(WindowState::decode(bytes).contains(hash));
    files.numbers = |bytes| {
        let state = WindowState::decode(bytes);
        [numbers(bytes), vec![state.lines.len() as u64, state.slice, state.limit]].concat()
    };
    files.viewed = false;
    accepted(&mut files);
    rejected(&mut files);
    files
}

golden_tests!(Window);

/// They go on from there as the definition does, and are nothing else.
#[test]
fn accepted_files_take_keys_as_the_definition_does() {
    for (name, bytes, probes) in golden().accepted {
        let (mut window, mut state) =
            (Window::decode(&bytes).unwrap(), WindowState::decode(&bytes));
        for hash in probes {
            assert_eq!(window.insert_hash(hash), state.insert(hash), "{name}");
        }
        assert!(window.to_bytes().unwrap() == state.encode(), "{name}");
        assert!(Filter::decode(&bytes).is_err() && CountingFilter::decode(&bytes).is_err());
    }
}
