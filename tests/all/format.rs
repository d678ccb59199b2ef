//! The native format against damage, in every layout: every truncation, every bit flipped, every kind offered
//! to the readers of the others; every alignment, fields of any value. What is not an intact filter is never
//! opened, and the error is the one that `docs/FORMAT.md` names.

use crate::definition;
use crate::directory::Directory;
use crate::kinds::cascade_bytes::*;
use crate::kinds::growing_bytes::seal_growing;
use crate::kinds::{ALL, check_of};
use crate::mapped;

use bloomline::{
    CascadeView, CountingFilter, CuckooFilter, CuckooParams, Error, Filter, GrowingView,
    MatrixView, Params, StaticFilter, StaticParams, View, Window,
};
use definition::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn in_the_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Golden files of every kind: one line and many, k small and large, empty and full.
fn samples() -> Vec<(String, Vec<u8>)> {
    let plain =
        ["k06", "k16", "lines001", "lines017", "empty", "full", "seed-max", "key-count-max"];
    let plain = plain.map(|name| format!("golden/accepted/{name}.bloomline"));
    let read = |name: String| (name.clone(), std::fs::read(in_the_project(&name)).unwrap());
    let mut all: Vec<_> = plain.map(read).into();
    let names = |path: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(in_the_project(path)).unwrap();
        entries.map(|entry| format!("{path}/{}", entry.unwrap().file_name().display())).collect()
    };
    for kind in names("golden") {
        let accepted = format!("{kind}/accepted");
        if !in_the_project(&accepted).is_dir() {
            continue;
        }
        // One that is cut may end with what looks like a footer.
        let is_sample = |name: &String| name.ends_with(".bloomline") && !name.contains("-footer");
        let files = names(&accepted).into_iter().filter(is_sample);
        // One of each length, of which the least, a middling and a large one.
        let files: BTreeMap<usize, _> = files
            .map(read)
            .map(|file| (file.1.len(), file))
            .filter(|(len, _)| *len < 9000)
            .collect();
        let files: Vec<_> = files.into_values().collect();
        // Journals are no filters.
        if files.is_empty() {
            continue;
        }
        let chosen = BTreeSet::from([0, files.len() / 2, files.len() - 1]);
        all.extend(chosen.into_iter().map(|i| files[i].clone()));
    }
    all
}

/// A reader that checks all: which layouts it takes, and the status that it gives of bytes and of a file.
type Reader = (&'static str, &'static [u64], Status<[u8]>, Status<Path>);
type Status<T> = Box<dyn Fn(&T) -> u32 + Send + Sync>;

fn reader<A, B, C, D>(name: &'static str, layouts: &'static [u64], read: A, load: B) -> Reader
where
    A: Fn(&[u8]) -> Result<C, Error> + Send + Sync + 'static,
    B: Fn(&Path) -> Result<D, Error> + Send + Sync + 'static,
{
    let status = move |bytes: &[u8]| status_of_result(&read(bytes).map(drop));
    (name, layouts, Box::new(status), Box::new(move |path| status_of_result(&load(path))))
}

/// Those of every kind, and of the views.
static READERS: LazyLock<Vec<Reader>> = LazyLock::new(|| {
    let mut all: Vec<Reader> = Vec::new();
    for kind in ALL {
        if all.iter().all(|(name, ..)| *name != kind.type_name) {
            all.push(reader(kind.type_name, kind.layouts, kind.decode, kind.load));
        }
    }
    let view = |bytes: &[u8]| View::open(bytes).map(drop);
    all.push(reader("View", &[1, 2, 6, 7, 8], view, mapped::open));
    let view = |bytes: &[u8]| CascadeView::open(bytes).map(drop);
    all.push(reader("CascadeView", &[9], view, mapped::open_cascade));
    let view = |bytes: &[u8]| GrowingView::open(bytes).map(drop);
    all.push(reader("GrowingView", &[11], view, mapped::open_growing));
    let view = |bytes: &[u8]| MatrixView::open(bytes).map(drop);
    all.push(reader("MatrixView", &[10], view, mapped::open_matrix));
    all
});

/// And the one that does not look at the lines.
static UNVERIFIED: LazyLock<Reader> = LazyLock::new(|| {
    let view = |bytes: &[u8]| View::open_unverified(bytes).map(drop);
    reader("unverified", &[1, 2, 6, 7, 8], view, mapped::open_unverified)
});

/// All that reads bytes gives this status, if it takes filters of that layout; an unverified
/// view gives `unverified`. What takes others gives `elsewhere`.
fn assert_readers(
    bytes: &[u8],
    layout: u64,
    (status, unverified, elsewhere): (u32, u32, u32),
    what: &str,
) {
    let all = READERS.iter().map(|reader| (reader, status));
    for ((name, layouts, read, _), status) in all.chain([(&*UNVERIFIED, unverified)]) {
        let expected = if layouts.contains(&layout) { status } else { elsewhere };
        assert_eq!(read(bytes), expected, "{what}, {name}");
    }
}

fn layouts_of_kinds() -> BTreeSet<u64> {
    ALL.iter().flat_map(|kind| kind.layouts.iter().copied()).collect()
}

// ---- damage ----

#[test]
fn every_kind_has_its_readers() {
    let mut layouts = BTreeSet::new();
    for (name, bytes) in samples() {
        let layout = get(&bytes, LAYOUT);
        assert_readers(&bytes, layout, (status::OK, status::OK, status::LAYOUT), &name);
        layouts.insert(layout);
    }
    assert_eq!(layouts, layouts_of_kinds());
}

#[test]
fn truncated_at_every_length() {
    let mut cut = 0;
    for (name, bytes) in samples() {
        let layout = get(&bytes, LAYOUT);
        for len in 0..bytes.len() {
            let expected = if len < 64 { status::TRUNCATED } else { status::NOT_A_FILTER };
            let what = format!("{name} cut to {len}");
            assert_readers(&bytes[..len], layout, (expected, expected, expected), &what);
            // From the front the footer stays, and tells that something is missing.
            let from = bytes.len() - len;
            let elsewhere = if len < 64 { status::TRUNCATED } else { status::LAYOUT };
            let expected = (status::TRUNCATED, status::TRUNCATED, elsewhere);
            assert_readers(&bytes[from..], layout, expected, &format!("{name} from {from}"));
            cut += 2;
        }
    }
    println!("{cut} truncations rejected");
}

/// Where a byte lies decides what its damage is called.
fn status_of_damage_at(at: usize, len: usize) -> u32 {
    match (at + FOOTER_BYTES).checked_sub(len) {
        Some(at) if MAGIC.contains(&at) => status::NOT_A_FILTER,
        Some(at) if VERSION.contains(&at) => status::VERSION,
        _ => status::CHECKSUM,
    }
}

#[test]
fn every_bit_flipped() {
    let mut flips = 0;
    let all = [0x01, 0x55, 0xFF, 0x80, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40];
    for (name, mut bytes) in samples() {
        let layout = get(&bytes, LAYOUT);
        for at in 0..bytes.len() {
            let status = status_of_damage_at(at, bytes.len());
            let expected = if at < bytes.len() - FOOTER_BYTES {
                (status, status::OK, status::LAYOUT)
            } else {
                (status, status, status)
            };
            // Where there are fewer, each byte gets another one.
            let given = if fewer() { &all[at % all.len()..][..1] } else { &all[..] };
            for flip in given {
                bytes[at] ^= flip;
                assert_readers(&bytes, layout, expected, &format!("{name}, byte {at} ^ {flip:#x}"));
                bytes[at] ^= flip;
                flips += 1;
            }
        }
    }
    println!("{flips} flips rejected");
}

/// With checksums made right over the damage, the rules behind them are reached: what the definition
/// says of the bytes.
#[test]
fn every_bit_flipped_and_sealed() {
    for (name, mut bytes) in samples() {
        let layout = get(&bytes, LAYOUT);
        let Some(expected) = check_of(layout) else {
            continue; // any lines are a filter
        };
        let takes = |(_, layouts, ..): &&Reader| layouts.contains(&layout);
        let (_, _, read, _) = READERS.iter().find(takes).unwrap();
        // A matrix has long groups of rows that are all alike.
        let (len, step) = (bytes.len(), if layout == 10 || fewer() { 7 } else { 1 });
        for at in (0..len - FOOTER_BYTES).step_by(step).chain(len - FOOTER_BYTES..len) {
            // Where there are fewer, each byte gets another one.
            let all = [0x01, 0x10, 0x80, 0xFF];
            for flip in if fewer() { &all[at % all.len()..][..1] } else { &all[..] } {
                bytes[at] ^= flip;
                let mut sealed = bytes.clone();
                let in_body = at < bytes.len() - FOOTER_BYTES;
                match layout {
                    9 if in_body => seal_cascade(&mut sealed),
                    11 if in_body => seal_growing(&mut sealed),
                    _ => seal(&mut sealed),
                }
                let (status, what) = (expected(&sealed), format!("{name}, byte {at} ^ {flip:#x}"));
                if in_body {
                    assert_readers(&sealed, layout, (status, status::OK, status::LAYOUT), &what);
                } else {
                    assert_eq!(read(&sealed), status, "{what}");
                }
                if let (4, Ok(mut window)) = (layout, Window::decode(&sealed)) {
                    window.insert_hash(at as u64);
                    if window.generations() > 1 {
                        window.rotate();
                    }
                    assert!(window.contains_hash(at as u64), "{what}: lines and state may be any");
                }
                bytes[at] ^= flip;
            }
        }
    }
}

/// What reads a file says of it what the reader of its bytes does: of every file cut at every
/// length, and with a bit of every byte flipped.
#[test]
fn files_cut_and_altered() {
    let directory = Directory::new("altered");
    let path = directory.file("filter");
    let compare = |bytes: &[u8], what: String| {
        std::fs::write(&path, bytes).unwrap();
        for (name, _, read, load) in READERS.iter().chain([&*UNVERIFIED]) {
            assert_eq!(load(&path), read(bytes), "{what}, {name}");
        }
    };
    let mut layouts = BTreeSet::new();
    for (name, mut bytes) in samples() {
        if !layouts.insert(get(&bytes, LAYOUT)) {
            continue; // one of each
        }
        // Each makes a file. The footers are at the end.
        let step = if fewer() { 97 } else { bytes.len().div_ceil(250) };
        let places = |end: usize| (0..end).step_by(step).chain(end.saturating_sub(70)..end);
        for len in places(bytes.len() + 1) {
            compare(&bytes[..len], format!("{name} cut to {len}"));
        }
        for at in places(bytes.len()) {
            bytes[at] ^= 1 << (at % 8);
            compare(&bytes, format!("{name}, byte {at}"));
            bytes[at] ^= 1 << (at % 8);
        }
    }
    assert_eq!(layouts, layouts_of_kinds());
}

/// What an unverified view of damaged lines promises, in every layout that has views: the
/// answers are the definition's on the bytes that are there. So keys of other bits are never
/// lost, nor is any key of a Bloom filter by a bit that became 1, nor by a counter.
#[test]
fn unverified_views_of_damaged_lines() {
    let (params, hashes) = (Params::new(3, 6, 0).unwrap(), random_hashes(100, 1));
    let mut plain = Filter::new(params).unwrap();
    let mut classic = crate::definition::classic_filter(params).unwrap();
    let mut counting = CountingFilter::new(params).unwrap();
    let mut cuckoo = CuckooFilter::new(CuckooParams::new(3, 12, 0).unwrap()).unwrap();
    plain.insert_hashes(&hashes);
    classic.insert_hashes(&hashes);
    counting.insert_hashes(&hashes);
    cuckoo.insert_hashes(&hashes).unwrap();
    let fixed =
        StaticFilter::build(StaticParams::for_rate(100, 0.01).unwrap(), &hashes, 1).unwrap();
    let encoded = [plain.to_bytes(), classic.to_bytes(), counting.to_bytes(), cuckoo.to_bytes()];
    for filter in encoded.into_iter().chain([fixed.to_bytes()]) {
        let mut bytes = filter.unwrap();
        let (layout, mut lost) = (get(&bytes, LAYOUT), 0);
        let lines = if layout == 8 { fixed.lines().len() } else { 3 * 64 };
        for at in 0..bytes.len() - FOOTER_BYTES {
            for flip in (0..8).map(|bit| 1 << bit).chain([0x55, 0xFF]) {
                let only_set = bytes[at] & flip == 0 && layout < 7;
                bytes[at] ^= flip;
                let view = View::open_unverified(&bytes).unwrap();
                assert_eq!(view.lines(), &bytes[..lines]);
                let mut bitmap = [0; 2];
                view.contains_hashes(&hashes, &mut bitmap);
                for (i, &hash) in hashes.iter().enumerate() {
                    let in_it = view.contains_hash(hash);
                    assert_eq!(in_it, answer(&bytes, hash), "layout {layout}, byte {at}");
                    assert_eq!(in_it, bitmap[i / 64] >> (i % 64) & 1 == 1);
                    assert!(in_it || !only_set && at < lines, "layout {layout}, byte {at}");
                    lost += usize::from(!in_it);
                }
                bytes[at] ^= flip;
            }
        }
        println!("layout {layout}: {lost} keys lost");
        assert!(lost > 0, "damage that costs nothing shows nothing");
    }
}

#[test]
fn every_alignment() {
    for (name, bytes) in samples().into_iter().filter(|(_, bytes)| View::open(bytes).is_ok()) {
        let hashes = random_hashes(200, 2);
        for offset in 0..=64 {
            let mut buffer = vec![0xEE; offset];
            buffer.extend_from_slice(&bytes);
            buffer.extend_from_slice(&[0xEE; 7]);
            let bytes = &buffer[offset..][..bytes.len()];
            let view = View::open(bytes).unwrap();
            for &hash in &hashes {
                assert_eq!(view.contains_hash(hash), answer(bytes, hash), "{name} at {offset}");
            }
            if let Ok(filter) = Filter::decode(bytes) {
                assert_eq!(filter.lines(), view.lines());
            }
        }
    }
}

/// All that opens bytes gives this status; an unverified view gives `unverified`.
fn assert_status(bytes: &[u8], status: u32, unverified: u32, what: &str) {
    assert_eq!(status_of_result(&View::open(bytes)), status, "{what}");
    assert_eq!(status_of_result(&Filter::decode(bytes)), status, "{what}, decoded");
    assert_eq!(status_of_result(&View::open_unverified(bytes)), unverified, "{what}, unverified");
}

/// Values that are right, nearly right, or wrong by much, for any field.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..20,
        2 => (0u32..64).prop_map(|bit| 1 << bit),
        2 => (0u32..64, 0u64..6).prop_map(|(bit, more)| (1u64 << bit).wrapping_add(more)),
        1 => (0u32..64).prop_map(|bit| u64::MAX >> bit),
        2 => any::<u64>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: definition::cases(4000), failure_persistence: None, ..Default::default() })]

    /// Any values in any fields, with checksums that are right or not.
    #[test]
    fn any_footer(
        fields in prop::collection::vec((0usize..10, value()), 0..4),
        lines in 0usize..6,
        sealed in 0u8..4,
        cut in 0usize..8,
    ) {
        let mut bytes = encode(&vec![0x5A; lines * 64], 6, 0, 0);
        let all = [
            KEY_COUNT, LINE_COUNT, SEED, K, LAYOUT, VERSION, RESERVED, LINES_CHECKSUM,
            FOOTER_CHECKSUM, MAGIC,
        ];
        for (field, value) in fields {
            put(&mut bytes, all[field].clone(), value);
        }
        // `tests/all/kinds/golden_cuckoo.rs` and `golden_static.rs` have these layouts.
        prop_assume!(!matches!(get(&bytes, LAYOUT), 7 | 8));
        match sealed {
            0 => {}
            1 => seal_footer(&mut bytes),
            _ => seal(&mut bytes),
        }
        let bytes = if cut == 7 { &bytes[1..] } else { &bytes[..] };
        assert_status(bytes, check(bytes, true), check(bytes, false), "by the definition");
    }

    /// Bytes that are nothing at all, some with the magic behind them.
    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..300), magic in any::<bool>()) {
        if magic {
            bytes.extend_from_slice(&MAGIC_BYTES);
        }
        assert_status(&bytes, check(&bytes, true), check(&bytes, false), "by the definition");
    }
}

/// The largest line count is not too large, only more than there are bytes for.
#[test]
fn line_counts_at_the_limit() {
    let limit = isize::MAX as u64 / 64 - 1;
    for (count, expected) in [
        (limit, status::TRUNCATED),
        (limit + 1, status::LINE_COUNT),
        // In 32 bits, 64 * (count + 1) is 256: the length that there is.
        ((1 << 26) + 3, if limit < 1 << 26 { status::LINE_COUNT } else { status::TRUNCATED }),
    ] {
        let mut bytes = encode(&[0; 192], 6, 0, 0);
        put(&mut bytes, LINE_COUNT, count);
        seal(&mut bytes);
        assert_status(&bytes, expected, expected, &format!("line count {count}"));
        assert_eq!(check(&bytes, true), expected);
    }
}

// ---- writing ----

#[test]
fn written_filters_are_the_definition_s() {
    for (lines, k, seed) in [(1, 1, 0), (3, 6, 5), (64, 8, u64::MAX), (33, 16, 1 << 63)] {
        let hashes = random_hashes(lines * 40, seed);
        let params = Params::new(lines as u64, k, seed).unwrap();
        let expected = encode(&lines_of(lines, k, &hashes), k, seed, hashes.len() as u64);
        let mut filter = Filter::new(params).unwrap();
        filter.insert_hashes(&hashes);
        assert_eq!(filter.encoded_len(), expected.len());
        assert!(filter.to_bytes().unwrap() == expected);

        let mut buffer = vec![0xEE; expected.len() + 9];
        let built = bloomline::block_build(&params, &hashes, &mut buffer).unwrap();
        assert!(buffer[..built] == expected);

        let decoded = Filter::decode(&expected).unwrap();
        assert_eq!(decoded.params(), params);
        assert_eq!(decoded.key_count(), hashes.len() as u64);
        assert!(decoded.to_bytes().unwrap() == expected);
    }
}
