//! Patches: which filters they fit, whatever changed in them; records that are there twice; seeds. And the numbers
//! of records.

use crate::definition::*;
use bloomline::{Error, GrowingFilter};

/// A record that was appended twice is passed over, as `replay` does.
#[test]
fn patches_of_repeated_records() {
    let mut filter = GrowingFilter::new(100, 0.01, 0).unwrap();
    let (mut journal, mut records) = (Vec::new(), Vec::new());
    for sequence in 1..=3_u64 {
        filter.insert_hash(sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15)).unwrap();
        let start = journal.len();
        filter.save_changed(&mut journal, sequence).unwrap();
        records.push(journal[start..].to_vec());
    }
    let last = [&journal[..], &records[2]].concat();
    assert_eq!(GrowingFilter::patch_since(&last, 3), Ok(&[][..]), "it is up to date");
    for repeated in 0..2 {
        let bytes = [&journal[..], &records[repeated]].concat();
        assert_eq!(GrowingFilter::replay(&bytes[..]).unwrap().sequence, 3);
        for sequence in 0..3 {
            let mut copy =
                GrowingFilter::replay(&records.concat()[..records[0].len()]).unwrap().filter;
            if sequence == 2 {
                assert_eq!(copy.apply_patch(&records[1]), Ok(2));
            }
            let patch = GrowingFilter::patch_since(&bytes, sequence).unwrap();
            assert_eq!(copy.apply_patch(patch), Ok(3), "{repeated}, {sequence}");
            assert!(copy == filter);
        }
    }
}

/// Views keep the seed of their filter.
#[test]
fn a_patch_keeps_the_seed() {
    let (mut one, mut other) =
        (GrowingFilter::new(100, 0.01, 1).unwrap(), GrowingFilter::new(100, 0.01, 2).unwrap());
    other.insert("apple").unwrap();
    let (mut journal, mut patch) = (Vec::new(), Vec::new());
    one.save_whole(&mut journal, 1).unwrap();
    let mut copy = GrowingFilter::replay(&journal[..]).unwrap().filter;
    other.save_whole(&mut patch, 2).unwrap();
    assert_eq!(copy.apply_patch(&patch), Err(Error::Mismatch));
    assert!(copy == one);
    assert!(GrowingFilter::replay(&patch[..]).unwrap().filter == other);
    let both = GrowingFilter::replay(&[journal, patch].concat()[..]).unwrap();
    assert!(both.filter == other);
}

type Change = fn(&mut GrowingFilter);

/// Changes that no record of changes has.
fn unsaid() -> [(&'static str, Change); 6] {
    [
        ("clear", |filter| filter.clear()),
        ("union", |filter| filter.union(&with_pear()).unwrap()),
        ("intersect", |filter| filter.intersect(&with_pear()).unwrap()),
        ("difference", |filter| filter.difference(&with_pear()).unwrap()),
        ("many", |filter| (0..9000).for_each(|hash| _ = filter.insert_hash(hash << 50).unwrap())),
        ("at once", |filter| filter.insert_hashes(&random_hashes(9000, 3)).unwrap()),
    ]
}

fn with_pear() -> GrowingFilter {
    GrowingFilter::new(900, 0.01, 0).unwrap().with_keys(["pear"]).unwrap()
}

/// Also if the record is a whole filter, since more changed than is kept.
#[test]
fn numbers_ascend_whatever_changes() {
    for (name, change) in unsaid() {
        let mut filter = with_pear();
        let mut journal = Vec::new();
        filter.save_whole(&mut journal, 5).unwrap();
        change(&mut filter);
        let len = journal.len();
        for sequence in [0, 5] {
            let refused = filter.save_changed(&mut journal, sequence);
            assert_eq!(refused, Err(Error::Sequence { last: 5, given: sequence }), "{name}");
        }
        assert_eq!((journal.len(), filter.saved_sequence()), (len, None), "{name}");
        filter.save_changed(&mut journal, 6).unwrap();
        let read = GrowingFilter::replay(&journal[..]).unwrap();
        assert!(read.sequence == 6 && read.filter == filter, "{name}");
    }
}

/// A whole filter takes the place of one that has nothing of its own, and of no other.
#[test]
fn a_patch_drops_no_keys_of_the_filters_own() {
    let (mut published, mut journal) = (with_pear(), Vec::new());
    published.save_whole(&mut journal, 1).unwrap();
    let mut patch = Vec::new();
    published.insert("plum").unwrap();
    published.save_whole(&mut patch, 2).unwrap();
    let refused = |last| Err(Error::Sequence { last, given: 2 });
    let first = || GrowingFilter::replay(&journal[..]).unwrap().filter;
    for (name, change) in unsaid() {
        let mut copy = first();
        copy.insert("apple").unwrap();
        assert_eq!(copy.apply_patch(&patch), refused(1));
        change(&mut copy);
        let before = copy.to_bytes().unwrap();
        assert_eq!(copy.apply_patch(&patch), refused(1), "{name}");
        assert!(copy.to_bytes().unwrap() == before, "{name}");
    }
    // What was never saved.
    let mut own = with_pear();
    assert_eq!(own.apply_patch(&patch), refused(0));
    let mut empty = GrowingFilter::new(900, 0.01, 0).unwrap();
    for copy in [&mut first(), &mut empty] {
        assert_eq!(copy.apply_patch(&patch), Ok(2));
        assert!(*copy == published);
    }
}
