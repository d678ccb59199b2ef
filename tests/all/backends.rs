//! Every backend against the plain definition in `src/line.rs`: whole filter bytes
//! after inserts, and all answers. Prints the backends that ran, and fails if one
//! that `BLOOMLINE_REQUIRE_BACKENDS` names is missing.

use crate::definition::fewer;
use crate::plans;

use bloomline::definition::line;
use bloomline::{Backend, Filter, Params, View, hash};
use proptest::prelude::*;

/// The backends to test: all that this CPU has.
fn backends() -> Vec<Backend> {
    let available: Vec<_> = Backend::available().collect();
    let names: Vec<_> = available.iter().map(|backend| backend.name()).collect();
    println!("backends exercised: {}", names.join(", "));
    if let Ok(required) = std::env::var("BLOOMLINE_REQUIRE_BACKENDS") {
        for name in required.split(',').filter(|name| !name.is_empty()) {
            assert!(Backend::from_name(name).is_some(), "there is no backend called {name:?}");
            assert!(names.contains(&name), "backend {name} is required, and this CPU lacks it");
        }
    }
    available
}

/// The scripts read the rows of `src/kernel/backend.rs` as text. A backend that they missed would not
/// be required.
#[test]
#[cfg(target_os = "linux")]
fn scripts_know_all_backends() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/required-backends.sh");
    let output = std::process::Command::new("bash").args([script, "--all"]).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<_> = listed.trim_end().split(',').collect();
    assert!(listed.iter().all(|name| Backend::from_name(name).is_some()), "{listed:?}");
    for backend in Backend::available() {
        assert!(listed.contains(&backend.name()), "{listed:?} lacks {}", backend.name());
    }
}

/// Hashes that are anything but random, and some that are.
fn hashes(count: usize, seed: u64) -> Vec<u64> {
    let odd = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1, 0xFFFF_FFFF, 0xFFFF_FFFF_0000_0000, 1 << 32];
    let bits = (0..64).map(|i| 1u64 << i);
    let low = (0..64).map(|i| u64::MAX >> i);
    let equal_halves = (0..32).map(|i: u64| i * 0x0101_0101_0101_0101);
    let random = (0..).map(|i| hash::hash_u64(i, seed));
    odd.into_iter().chain(bits).chain(low).chain(equal_halves).chain(random).take(count).collect()
}

/// The definition's filter.
fn lines_by_definition(lines: usize, k: u32, hashes: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; lines * line::LINE_BYTES];
    for &hash in hashes {
        line::insert(&mut bytes, k, hash);
    }
    bytes
}

fn bitmap_by_definition(lines: &[u8], k: u32, hashes: &[u64]) -> Vec<u64> {
    let word = |hashes: &[u64]| {
        hashes
            .iter()
            .rev()
            .fold(0, |word, &hash| word << 1 | u64::from(line::contains(lines, k, hash)))
    };
    hashes.chunks(64).map(word).collect()
}

fn params(lines: usize, k: u32) -> Params {
    Params::new(lines as u64, k, 7).unwrap()
}

#[test]
fn bytes_and_answers_for_every_k_and_size() {
    for backend in backends() {
        for k in 1..=line::MAX_K {
            for lines in [1, 2, 3, 5, 64, 1000, 4097] {
                let (inserted, others) = (hashes(700, 1), hashes(1400, 2));
                let expected = lines_by_definition(lines, k, &inserted);

                let mut one_by_one = Filter::with_backend(params(lines, k), backend).unwrap();
                for &hash in &inserted {
                    let present = line::contains(one_by_one.lines(), k, hash);
                    assert_eq!(one_by_one.insert_hash(hash), !present, "{hash:#x} was new");
                }
                assert!(one_by_one.lines() == expected, "{backend:?} k={k} lines={lines}");

                let mut batch = Filter::with_backend(params(lines, k), backend).unwrap();
                batch.insert_hashes(&inserted);
                assert!(batch.lines() == expected, "{backend:?} k={k} lines={lines}, batch");

                let bitmap = bitmap_by_definition(&expected, k, &others);
                let mut answers = vec![u64::MAX; bitmap.len()];
                let count = batch.contains_hashes(&others, &mut answers);
                assert_eq!(answers, bitmap, "{backend:?} k={k} lines={lines}");
                assert_eq!(count as u32, bitmap.iter().map(|word| word.count_ones()).sum::<u32>());
                for (i, &hash) in others.iter().enumerate() {
                    let expected = bitmap[i / 64] >> (i % 64) & 1 == 1;
                    assert_eq!(batch.contains_hash(hash), expected, "{backend:?} k={k} {hash:#x}");
                }
            }
        }
    }
}

/// Above the sizes where prefetching begins, in and out of huge pages.
#[test]
fn large_filters() {
    let all = hashes(400_000, 3);
    for backend in backends() {
        for (megabytes, k) in [(4, 6), (8, 8), (40, 6), (40, 12)] {
            let lines = megabytes * 16384 + 1;
            let inserted = &all[..200_000];
            let expected = lines_by_definition(lines, k, inserted);
            let mut filter = Filter::with_backend(params(lines, k), backend).unwrap();
            filter.insert_hashes(inserted);
            assert!(filter.lines() == expected, "{backend:?} {megabytes} MiB k={k}");
            for count in [0, 1, 7, 63, 64, 65, 127, 128, 129, 192, 200, 255, 256, 257, 5000] {
                let probes = &all[199_000..][..count];
                let bitmap = bitmap_by_definition(&expected, k, probes);
                let mut answers = vec![u64::MAX; bitmap.len()];
                filter.contains_hashes(probes, &mut answers);
                assert_eq!(answers, bitmap, "{backend:?} {megabytes} MiB k={k} count={count}");
            }
        }
    }
}

/// Batch lengths about those where something else begins: a block of 64, the 128 keys ahead
/// that are asked for, the 256 that are hashed in one go.
const LENGTHS: [usize; 22] = [
    191, 192, 193, 255, 256, 257, 319, 320, 321, 383, 384, 385, 447, 448, 449, 511, 512, 513, 640,
    641, 1000, 1025,
];

#[test]
fn every_batch_length() {
    for backend in backends() {
        for k in [1, 6, 8, 9, 16] {
            for count in (0..=130).chain(LENGTHS) {
                let inserted = hashes(count, 4);
                let expected = lines_by_definition(37, k, &inserted);
                let probes: Vec<u64> = hashes(2000, 5).split_off(2000 - count);
                let bitmap = bitmap_by_definition(&expected, k, &probes);
                for plan in plans::PLANS {
                    let case = format!("{backend:?} k={k} count={count} {plan:?}");
                    let mut filter = Filter::with_backend(params(37, k), backend).unwrap();
                    plans::insert(&mut filter, &inserted, plan);
                    assert!(filter.lines() == expected, "{case}");
                    // A word more than needed: it must be left alone.
                    let mut answers = vec![0xABCD; bitmap.len() + 1];
                    plans::contains(filter.view(), &probes, plan, &mut answers);
                    assert_eq!(answers[..bitmap.len()], bitmap, "{case}");
                    assert_eq!(answers[bitmap.len()], 0xABCD);
                }
            }
        }
    }
}

/// Keys of every length, one by one and in batches of every length: the same as
/// their hashes.
#[test]
fn keys_are_their_hashes() {
    let bytes: Vec<u8> = (0..3000u32).map(|i| (i * 7) as u8).collect();
    let keys: Vec<&[u8]> = (0..1025).map(|i| &bytes[i..i + i * 5 / 2 % 999]).collect();
    let step = if fewer() { 13 } else { 1 };
    for backend in backends() {
        // Without prefetch, with it, and with both kinds of it.
        for (lines, counts) in [
            (200, Vec::from_iter((0..=130).step_by(step).chain(LENGTHS))),
            (8 * 16384, Vec::from_iter([1, 63, 64, 127, 128, 129].into_iter().chain(LENGTHS))),
            (33 * 16384, vec![130, 192, 385, 1025]),
        ] {
            // Large filters are made and compared, which takes the time.
            let step = if fewer() && lines > 200 { 5 } else { 1 };
            for count in counts.into_iter().rev().step_by(step) {
                let params = params(lines, 6).with_seed(99);
                let keys = &keys[..count];
                let key_hashes: Vec<u64> = keys.iter().map(|key| hash::hash(key, 99)).collect();
                let mut by_key = Filter::with_backend(params, backend).unwrap();
                by_key.insert_keys(keys);
                let mut by_hash = Filter::with_backend(params, backend).unwrap();
                by_hash.insert_hashes(&key_hashes);
                assert!(by_key.lines() == by_hash.lines(), "{backend:?} count={count}");
                let mut answers = [vec![1; count.div_ceil(64)], vec![2; count.div_ceil(64)]];
                assert_eq!(by_key.contains_keys(keys, &mut answers[0]), count);
                assert_eq!(by_key.contains_hashes(&key_hashes, &mut answers[1]), count);
                assert_eq!(answers[0], answers[1]);
            }
        }
    }
}

/// Keys of every short length, all alike and with others among them.
#[test]
fn keys_of_like_length() {
    let bytes: Vec<u8> = (0..3000u32).map(|i| (i * 11) as u8).collect();
    for backend in backends() {
        for seed in [0, 0xFEDC_BA98_7654_3210] {
            for (one, two) in (0..=40).flat_map(|len| [(len, len), (len, len + 1), (len, 8)]) {
                let len = |i| if i % 16 == 9 { two } else { one };
                let keys: Vec<&[u8]> = (0..100).map(|i| &bytes[i * 7..][..len(i)]).collect();
                let key_hashes: Vec<u64> = keys.iter().map(|key| hash::hash(key, seed)).collect();
                let params = params(77, 6).with_seed(seed);
                let mut filter = Filter::with_backend(params, backend).unwrap();
                filter.insert_keys(&keys);
                let expected = lines_by_definition(77, 6, &key_hashes);
                assert!(filter.lines() == expected, "{backend:?} {one} and {two} bytes");
                let mut answers = [0; 2];
                assert_eq!(filter.contains_keys(&keys, &mut answers), 100, "{backend:?} {one}");
            }
        }
    }
}

/// An encoded filter at every distance from a cache line.
#[test]
fn every_misalignment() {
    let inserted = hashes(500, 6);
    for backend in backends() {
        for k in [6, 8, 11] {
            let mut filter = Filter::with_backend(params(29, k), backend).unwrap();
            filter.insert_hashes(&inserted);
            let encoded = filter.to_bytes().unwrap();
            let bitmap = bitmap_by_definition(filter.lines(), k, &hashes(900, 7));
            for offset in 0..64 {
                let mut buffer = vec![0xEE; offset];
                buffer.extend_from_slice(&encoded);
                let view = View::open_with_backend(&buffer[offset..], backend).unwrap();
                let mut answers = vec![0; bitmap.len()];
                view.contains_hashes(&hashes(900, 7), &mut answers);
                assert_eq!(answers, bitmap, "{backend:?} k={k} offset={offset}");
            }
        }
    }
}

/// One hash against many views is each view's own answer.
#[test]
fn one_hash_many_views() {
    let filters: Vec<Filter> = (0..130)
        .map(|i| {
            let mut filter = Filter::new(params(i % 40 + 1, i as u32 % 16 + 1)).unwrap();
            filter.insert_hashes(&hashes(i * 3, i as u64));
            filter
        })
        .collect();
    let views: Vec<View<'_>> = filters.iter().map(Filter::view).collect();
    for count in 0..=views.len() {
        for hash in hashes(20, 8) {
            let mut bitmap = vec![u64::MAX; count.div_ceil(64)];
            let set = bloomline::views_contain_hash(&views[..count], hash, &mut bitmap);
            for (i, filter) in filters[..count].iter().enumerate() {
                let expected = line::contains(filter.lines(), filter.params().k(), hash);
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected);
            }
            assert_eq!(set as u32, bitmap.iter().map(|word| word.count_ones()).sum::<u32>());
            if count % 64 != 0 {
                assert_eq!(bitmap[count / 64] >> (count % 64), 0);
            }
        }
    }
}

/// No backend reads or writes a byte beside the lines it is given.
#[cfg(unix)]
#[test]
fn nothing_beside_the_lines_is_touched() {
    let probes = hashes(500, 9);
    for backend in backends() {
        for lines in [1, 2, 63] {
            let len = (lines + 1) * line::LINE_BYTES;
            let mut filter = Filter::with_backend(params(lines, 6), backend).unwrap();
            filter.insert_hashes(&probes[..100]);
            // The footer is the 64 bytes behind the lines: poison there shows an
            // over-read only in an answer, so a guard page is put there instead.
            let guard = GuardPages::new(len - line::LINE_BYTES);
            guard.bytes().copy_from_slice(filter.lines());
            let view = View::of_lines(guard.bytes(), filter.params(), 0).unwrap();
            let mut answers = vec![0; probes.len().div_ceil(64)];
            view.contains_hashes(&probes, &mut answers);
            assert_eq!(answers, bitmap_by_definition(filter.lines(), 6, &probes));
            probes.iter().for_each(|&hash| {
                assert_eq!(view.contains_hash(hash), line::contains(filter.lines(), 6, hash));
            });
            let guard = GuardPages::new(len);
            let built = bloomline::block_build(&filter.params(), &probes[..100], guard.bytes());
            assert_eq!(built.unwrap(), len);
            assert!(guard.bytes()[..len - 64] == *filter.lines());
        }
    }
}

/// Bytes that end where a page ends that may not be touched.
#[cfg(unix)]
struct GuardPages {
    start: *mut u8,
    pages: usize,
    len: usize,
}

#[cfg(unix)]
#[allow(unsafe_code)]
impl GuardPages {
    const PAGE: usize = 65536;

    fn new(len: usize) -> GuardPages {
        let pages = len.div_ceil(Self::PAGE) * Self::PAGE + 2 * Self::PAGE;
        // SAFETY: a new mapping; only its inner pages are made accessible.
        let start = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(std::ptr::null_mut(), pages, libc::PROT_NONE, flags, -1, 0);
            assert!(start != libc::MAP_FAILED);
            let inner = start.cast::<u8>().add(Self::PAGE);
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(inner.cast(), pages - 2 * Self::PAGE, rights), 0);
            start.cast()
        };
        GuardPages { start, pages, len }
    }

    #[allow(clippy::mut_from_ref)]
    fn bytes(&self) -> &mut [u8] {
        // SAFETY: accessible pages that only this test uses, one slice at a time.
        unsafe {
            let end = self.start.add(self.pages - Self::PAGE);
            std::slice::from_raw_parts_mut(end.sub(self.len), self.len)
        }
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
impl Drop for GuardPages {
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`.
        unsafe { libc::munmap(self.start.cast(), self.pages) };
    }
}

/// Where the test was to run: set by the scripts that cross-build it.
#[test]
fn runs_where_it_should() {
    if let Ok(arch) = std::env::var("BLOOMLINE_EXPECT_ARCH") {
        assert_eq!(std::env::consts::ARCH, arch);
    }
    if let Ok(endian) = std::env::var("BLOOMLINE_EXPECT_ENDIAN") {
        assert_eq!(if cfg!(target_endian = "big") { "big" } else { "little" }, endian);
    }
}

proptest! {
    #[test]
    fn any_keys_any_shape(
        inserted in prop::collection::vec(any::<u64>(), 0..300),
        probed in prop::collection::vec(any::<u64>(), 0..300),
        lines in 1usize..200,
        k in 1u32..=16,
    ) {
        let expected = lines_by_definition(lines, k, &inserted);
        let bitmap = bitmap_by_definition(&expected, k, &probed);
        for backend in Backend::available() {
            let mut filter = Filter::with_backend(params(lines, k), backend).unwrap();
            filter.insert_hashes(&inserted);
            prop_assert!(filter.lines() == expected);
            let mut answers = vec![0; bitmap.len()];
            filter.contains_hashes(&probed, &mut answers);
            prop_assert_eq!(&answers, &bitmap);
            // What is in is never denied.
            let mut all = vec![0; inserted.len().div_ceil(64)];
            prop_assert_eq!(filter.contains_hashes(&inserted, &mut all), inserted.len());
        }
    }
}
