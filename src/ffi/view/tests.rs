//! Views of C that were opened, and words that are none.

use super::*;
use crate::ffi::shards::bloomline_views_contain_hash;
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
