//! The policy with surrealkv's own bytes, against that one and the definition.

use crate::definition::{self, key, keys};
use crate::policy::surrealkvs_own;
use bloomline_surrealkv::BuiltinFilter;
use surrealkv::FilterPolicy;

const COUNTS: [u64; 16] =
    [0, 1, 2, 3, 7, 8, 9, 50, 51, 100, 1_000, 13_107, 13_108, 40_000, 100_000, 200_000];

fn hashes(policy: &dyn FilterPolicy, keys: &[Vec<u8>]) -> Vec<u64> {
    keys.iter().map(|key| policy.key_hash(key)).collect()
}

#[test]
fn bytes_and_answers_are_those_of_surrealkvs_own_policy() {
    let (theirs, ours) = (surrealkvs_own(), BuiltinFilter::default());
    assert_eq!(ours.name(), theirs.name());
    for count in COUNTS {
        let present: Vec<_> = (0..count).map(key).collect();
        let filter = ours.create_filter(&present);
        assert!(filter == theirs.create_filter(&present), "{count} keys");
        assert!(filter == definition::filter(&present, 10), "{count} keys: the definition");
        let hashes = hashes(&ours, &present);
        assert!(filter == ours.create_filter_from_hashes(&hashes), "{count} hashes");
        assert!(filter == theirs.create_filter_from_hashes(&hashes), "{count} of their hashes");
        let others = (0..5_000).map(|number| key(number + (1 << 40)));
        for key in present.iter().cloned().chain(others).filter(|_| count > 0) {
            let answer = theirs.may_contain(&filter, &key);
            assert_eq!(ours.may_contain(&filter, &key), answer, "{count} keys, {key:x?}");
        }
        assert!(present.iter().all(|key| ours.may_contain(&filter, key)));
    }
}

#[test]
fn hashes_are_those_of_surrealkvs_own_policy() {
    let (theirs, ours) = (surrealkvs_own(), BuiltinFilter::default());
    let bytes: Vec<u8> = (0..=255).rev().collect();
    let parts = (0..100).flat_map(|start| (start..=256).map(move |end| start..end));
    for part in parts.map(|part| &bytes[part]) {
        assert_eq!(ours.key_hash(part), theirs.key_hash(part), "{part:x?}");
        assert_eq!(ours.key_hash(part), definition::hash(part).into(), "{part:x?}");
    }
}

/// surrealkv offers 10 bits per key only, but reads filters of any number.
#[test]
fn other_bits_per_key() {
    let theirs = surrealkvs_own();
    let others = keys(1 << 40..(1 << 40) + 300);
    for bits_per_key in 1..=60 {
        let ours = BuiltinFilter::new(bits_per_key);
        for count in [1, 5, 300] {
            let present = keys(0..count);
            let filter = ours.create_filter(&present);
            assert!(filter == definition::filter(&present, bits_per_key), "{bits_per_key} bits");
            assert!(filter == ours.create_filter_from_hashes(&hashes(&ours, &present)));
            for key in present.iter().chain(&others) {
                let answer = definition::contains(&filter, key);
                // A policy of other bits reads them as well.
                assert_eq!(BuiltinFilter::default().may_contain(&filter, key), answer);
                assert_eq!(theirs.may_contain(&filter, key), answer);
            }
        }
    }
    let none = (BuiltinFilter::new(0), BuiltinFilter::new(1));
    assert_eq!(none.0, none.1);
}

#[test]
fn partitions_are_those_of_surrealkvs_own_policy() {
    let (theirs, ours) = (surrealkvs_own(), BuiltinFilter::default());
    for bytes in [0, 1, 2, 100, 4096, 16_384, 1 << 20] {
        assert_eq!(ours.filter_keys_per_partition(bytes), theirs.filter_keys_per_partition(bytes));
    }
    assert!(ours.filter_keys_per_partition(usize::MAX) > 1 << 40);
}

/// Cut, damaged and foreign bytes get the answers of surrealkv's own policy. Filters without bits are the
/// exception: it says "absent".
#[test]
fn damaged_bytes_get_the_same_answers() {
    let (theirs, ours) = (surrealkvs_own(), BuiltinFilter::default());
    let (present, others) = (keys(0..100), keys(1000..1100));
    let filter = ours.create_filter(&present);
    let same = |bytes: &[u8], what: &str| {
        for key in present.iter().chain(&others) {
            let answer = ours.may_contain(bytes, key);
            assert_eq!(answer, definition::contains(bytes, key), "{what}: the definition");
            assert_eq!(answer, bytes.len() < 2 || theirs.may_contain(bytes, key), "{what}");
        }
    };
    for len in 0..filter.len() {
        same(&filter[..len], &format!("cut to {len}"));
        same(&filter[len..], &format!("without the first {len}"));
        for bit in 0..8 {
            let mut damaged = filter.clone();
            damaged[len] ^= 1 << bit;
            same(&damaged, &format!("bit {bit} of byte {len}"));
        }
    }
    for k in 0..=255 {
        let mut damaged = filter.clone();
        *damaged.last_mut().unwrap() = k;
        same(&damaged, &format!("k = {k}"));
        let all = [&damaged[..], &[k]].concat();
        same(&all, &format!("k = {k} behind the filter"));
        if k == 0 || k > 30 {
            assert!(others.iter().all(|key| ours.may_contain(&damaged, key)), "k = {k}");
        }
    }
}
