//! Views of C that were opened, and words that are none.

use super::*;
use crate::ffi::views::bloomline_views_contain_hash;
use crate::{Filter, Params};

fn filter() -> Filter {
    let mut filter = Filter::new(Params::new(3, 6, 7).unwrap()).unwrap();
    filter.insert(b"in");
    filter
}

#[test]
fn a_view_survives_its_words() {
    let filter = filter();
    let view = pack(&filter.view());
    // SAFETY: the filter is alive.
    let back = unsafe { unpack(&view) }.expect("these are the words of a view");
    assert_eq!(back.params(), Some(filter.params()));
    assert_eq!(back.key_count(), filter.key_count());
    assert_eq!(back.lines(), filter.lines());
    assert_eq!(back.hash(b"in"), filter.view().hash(b"in"));
    assert!(back.contains(b"in"));
    let out = (0..64u64).find(|key| !filter.contains(&key.to_le_bytes())).unwrap();
    assert!(!back.contains(&out.to_le_bytes()));
}

#[test]
fn words_that_are_not_a_view_are_recognized() {
    let filter = filter();
    let view = pack(&filter.view());
    for byte in 0..=255 {
        let scribbled = bloomline_view { opaque: [u64::from_ne_bytes([byte; 8]); 8] };
        // SAFETY: refused; were it not, the test fails one way or another.
        assert!(unsafe { unpack(&scribbled) }.is_none(), "all bytes {byte:#x}");
    }
    for word in 0..size_of::<Words>() / 8 {
        for bit in 0..64 {
            let mut damaged = view;
            damaged.opaque[word] ^= 1 << bit;
            // SAFETY: as above.
            assert!(unsafe { unpack(&damaged) }.is_none(), "word {word}, bit {bit}");
        }
        let mut half_written = view;
        half_written.opaque[word..].fill(0);
        // SAFETY: as above.
        assert!(unsafe { unpack(&half_written) }.is_none(), "words from {word} on are zero");
    }
}

#[test]
fn words_that_are_some_places_off_are_recognized() {
    // A pointer into an array of views that is some words off.
    let view = pack(&filter().view());
    for by in 1..8 {
        let mut off = view;
        off.opaque.rotate_left(by);
        // SAFETY: refused; were it not, the test fails one way or another.
        assert!(unsafe { unpack(&off) }.is_none(), "{by} words off");
    }
}

#[test]
fn the_stand_in_always_says_yes() {
    let always = View::anything().unwrap();
    assert!((0..1000).all(|key: u64| always.contains_hash(crate::hash::hash_u64(key, 0))));
}

#[test]
fn doubtful_views_among_many_are_present() {
    let empty = Filter::new(Params::new(3, 6, 7).unwrap()).unwrap();
    let hash = empty.view().hash(b"nowhere");
    for count in [1, 8, 63, 64, 65, 130] {
        let mut views = vec![pack(&empty.view()); count];
        for view in views.iter_mut().step_by(3) {
            view.opaque = [0; 8];
        }
        let mut bitmap = vec![u64::MAX; count.div_ceil(64)];
        // SAFETY: all pointers are to live arrays of the lengths given.
        let present = unsafe {
            bloomline_views_contain_hash(views.as_ptr(), count, hash, bitmap.as_mut_ptr())
        };
        assert_eq!(present, count.div_ceil(3));
        for i in 0..bitmap.len() * 64 {
            let expected = i < count && i % 3 == 0;
            assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected, "view {i} of {count}");
        }
    }
}

/// Views in several words of the bitmap, where each word's are alike, but not those of all.
#[test]
fn views_that_hash_otherwise_are_found_in_any_word() {
    let filter = |seed| Filter::new(Params::new(3, 6, seed).unwrap()).unwrap();
    let (usual, other) = (filter(7), filter(8));
    let hash = usual.view().hash(b"nowhere");
    for count in [2, 8, 64, 65, 130, 200] {
        for odd in [0, 1, count / 2, count - 1] {
            let mut views = vec![pack(&usual.view()); count];
            let mut bitmap = vec![u64::MAX; count.div_ceil(64)];
            let mut present = |views: &[bloomline_view]| {
                // SAFETY: all pointers are to live arrays of the lengths given.
                unsafe {
                    bloomline_views_contain_hash(views.as_ptr(), count, hash, bitmap.as_mut_ptr())
                }
            };
            assert_eq!(present(&views), 0);
            views[odd] = pack(&other.view());
            assert_eq!(present(&views), count, "view {odd} of {count}");
            views[odd / 64 * 64..].fill(pack(&other.view()));
            let expected = if odd < 64 { 0 } else { count };
            assert_eq!(present(&views), expected, "views from {odd} of {count} on");
        }
    }
}

/// Filters of many shapes, some of them alike, answer as each does by itself.
#[test]
fn views_answer_as_each_does() {
    for k in [1, 6, 8, 9, 16] {
        let filters: Vec<Filter> = (0..70)
            .map(|i| {
                let k = if i % 9 == 8 { 17 - k } else { k };
                let mut filter = Filter::new(Params::new(1 + i % 5, k, 7).unwrap()).unwrap();
                (0..20 * i).for_each(|key| _ = filter.insert(&key));
                filter
            })
            .collect();
        let views: Vec<bloomline_view> =
            filters.iter().map(|filter| pack(&filter.view())).collect();
        for (from, key) in (0..views.len()).flat_map(|from| [(from, 3), (from, 1000)]) {
            let (views, filters) = (&views[from..], &filters[from..]);
            let hash = filters[0].hash(&key);
            let mut bitmap = [u64::MAX; 2];
            // SAFETY: all pointers are to live arrays of the lengths given.
            let present = unsafe {
                let bitmap = bitmap.as_mut_ptr();
                bloomline_views_contain_hash(views.as_ptr(), views.len(), hash, bitmap)
            };
            let expected = |i: usize| filters.get(i).is_some_and(|filter| filter.contains(&key));
            assert_eq!(present, (0..filters.len()).filter(|&i| expected(i)).count());
            for i in 0..views.len().div_ceil(64) * 64 {
                assert_eq!(bitmap[i / 64] >> (i % 64) & 1 == 1, expected(i), "view {i}, k {k}");
            }
        }
    }
}
