//! Filters without a database.

use super::*;
use bloomline::{Error, Params, StaticParams};
use std::ops::Bound;
use std::process::Command;

const COUNTS: [usize; 15] = [0, 1, 2, 3, 7, 8, 9, 10, 64, 65, 100, 1000, 4097, 20_000, 200_000];
const BITS: [u32; 17] = [1, 2, 3, 5, 8, 10, 12, 15, 16, 20, 24, 50, 100, 371, 372, 1000, 95_000];

/// Keys of 0 to 40 bytes, sorted.
fn keys(count: usize) -> Vec<Vec<u8>> {
    let key = |i: u64| random(i).to_be_bytes().repeat(5)[..(random(i + 7) % 41) as usize].to_vec();
    let mut keys: Vec<Vec<u8>> = (0..count as u64).map(key).collect();
    keys.sort();
    keys
}

/// SlateDB's policy and the one in its place.
struct Both(slatedb::BloomFilterPolicy, BloomFilterPolicy);

impl Both {
    /// Of whole keys, of keys and prefixes, of prefixes, of nothing.
    fn of(bits_per_key: u32) -> [Both; 4] {
        let plain = || slatedb::BloomFilterPolicy::new(bits_per_key);
        let ours = || BloomFilterPolicy::new(bits_per_key);
        let prefixes = || plain().with_prefix_extractor(first_four());
        let our_prefixes = || ours().with_prefix_extractor(first_four());
        [
            Both(plain(), ours()),
            Both(prefixes(), our_prefixes()),
            Both(
                prefixes().with_whole_key_filtering(false),
                our_prefixes().with_whole_key_filtering(false),
            ),
            Both(plain().with_whole_key_filtering(false), ours().with_whole_key_filtering(false)),
        ]
    }
}

/// What is asked of a filter with these keys: they, their beginnings, others, ranges.
fn queries(keys: &[Vec<u8>]) -> Vec<FilterQuery> {
    let stored = keys.iter().take(200).cloned();
    let others = (0..200_u64).map(|i| random(i + (1 << 40)).to_be_bytes().to_vec());
    let asked = stored.chain(others).map(Bytes::from);
    let of_key = |key: Bytes| {
        [
            FilterQuery::prefix(key.slice(..key.len().min(4))),
            FilterQuery::prefix(key.slice(..key.len().min(3))),
            FilterQuery::prefix(key.clone()),
            FilterQuery::range(Bound::Included(key.clone()), Bound::Unbounded),
            FilterQuery::point(key),
        ]
    };
    asked.flat_map(of_key).collect()
}

/// Over sizes, bits per key and what is in the filter: bytes, sizes and answers are SlateDB's.
#[test]
fn filters_are_equal_to_the_byte() {
    let mut compared = 0;
    for count in COUNTS {
        let keys = keys(count);
        // Several versions of a key follow each other.
        let versions = keys.iter().flat_map(|key| vec![key.clone(); 1 + key.len() % 2]);
        let queries = queries(&keys);
        let (keys, stored): (Vec<Vec<u8>>, _) = (versions.collect(), count);
        for bits in BITS.into_iter().filter(|&bits| stored as u64 * u64::from(bits) < 5 << 20) {
            for Both(theirs, ours) in Both::of(bits) {
                let (their, our) = (filter(&theirs, &keys), filter(&ours, &keys));
                let what = format!("{count} keys, {bits} bits, {}", ours.name());
                assert_eq!(ours.name(), theirs.name());
                assert_eq!(ours.supports_prefix_queries(), theirs.supports_prefix_queries());
                assert_eq!(ours.supports_range_queries(), theirs.supports_range_queries());
                assert_eq!(ours.estimate_size(count), theirs.estimate_size(count), "{what}");
                let bytes = encoded(&*our);
                assert!(bytes == encoded(&*their), "{what}");
                assert_eq!(our.size(), their.size(), "{what}");
                let read = [ours.decode(&bytes), our.clamp_allocated_size(), our];
                let expected: Vec<bool> = queries.iter().map(|q| their.might_match(q)).collect();
                for our in read {
                    assert!(encoded(&*our) == bytes, "{what}");
                    for (query, &expected) in queries.iter().zip(&expected) {
                        // With these k is 0, or so large that filters are not probed; without hashes there are no bits.
                        let expected = expected || bits == 1 || bits > 371 || bytes.len() == 2;
                        assert_eq!(our.might_match(query), expected, "{what}: {query:?}");
                    }
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 600, "{compared}");
}

/// Filters that SlateDB's policy wrote.
#[test]
fn known_filters_are_written() {
    let policy = BloomFilterPolicy::new(10);
    let words = [b"hello".to_vec(), b"world".to_vec()];
    assert_eq!(encoded(&*filter(&policy, &words)), [0, 6, 0x94, 0x7A, 0xA0]);
    let numbers: Vec<Vec<u8>> = (0..10_u32).map(|i| i.to_be_bytes().to_vec()).collect();
    let expected = 0x0000_0620_AE2D_52E6_A132_94A0_34A1_2CD2_u128.to_be_bytes();
    assert_eq!(encoded(&*filter(&policy, &numbers)), expected[1..]);
}

/// Any bytes: the answers are SlateDB's, or "may be present" where k is of no filter that it writes, or bits lack.
#[test]
fn any_bytes_answer_as_in_slatedb() {
    let (theirs, ours) = (slatedb::BloomFilterPolicy::new(10), BloomFilterPolicy::new(10));
    let mut absent = 0;
    for probes in [0, 1, 2, 6, 30, 254, 255, 256, 257, 1536, 65_535_u16] {
        for len in (0..70).chain([100, 127, 128, 1000]) {
            // Mostly ones, so that the last bits of a key count.
            let bits = (0..len).map(|i| (random(i) | random(i + 1) | random(i + 2)) as u8);
            let bytes: Vec<u8> = probes.to_be_bytes().into_iter().chain(bits).collect();
            let (their, our) = (theirs.decode(&bytes), ours.decode(&bytes));
            assert_eq!(encoded(&*our), bytes);
            let known = (1..256).contains(&probes) && u64::from(probes) < 8 * len;
            for i in 0..200_u64 {
                let key = random(i).to_be_bytes();
                let expected = !known || has(&*their, &key);
                assert_eq!(has(&*our, &key), expected, "{probes} of {len} bytes, {i}");
                absent += usize::from(!expected);
            }
        }
    }
    assert!(absent > 20_000, "{absent}");
    for short in [&[][..], &[0], &[6], &[0, 6], &[0, 255]] {
        assert!(has(&*ours.decode(short), b"any"));
    }
}

/// With no bits per key SlateDB's policy panics at the first key; here all keys pass, for both.
#[test]
fn no_bits_lose_no_key() {
    let keys = keys(100);
    let ours = filter(&BloomFilterPolicy::new(0), &keys);
    let read_by_theirs = slatedb::BloomFilterPolicy::new(0).decode(&encoded(&*ours));
    assert!(keys.iter().all(|key| has(&*ours, key) && has(&*read_by_theirs, key)));
}

/// An extractor that says more than the key has is wrong, but costs no key.
#[test]
fn prefixes_longer_than_keys_lose_no_key() {
    struct TooLong;
    impl PrefixExtractor for TooLong {
        fn name(&self) -> &str {
            "too long"
        }

        fn prefix_len(&self, _: &PrefixTarget) -> Option<usize> {
            Some(6)
        }
    }
    let keys = [b"whole key".to_vec(), b"key".to_vec()];
    let extractor = || Arc::new(TooLong);
    let policies: [Arc<dyn FilterPolicy>; 3] = [
        Arc::new(BloomFilterPolicy::new(10).with_prefix_extractor(extractor())),
        Arc::new(BloomlinePolicy::plain(0.01).unwrap().with_prefix_extractor(extractor())),
        Arc::new(BloomlinePolicy::of_static(0.01).unwrap().with_prefix_extractor(extractor())),
    ];
    for policy in policies {
        let made = filter(&*policy, &keys);
        for filter in [policy.decode(&encoded(&*made)), made] {
            assert!(keys.iter().all(|key| has(&*filter, key) && has_prefix(&*filter, key)));
            assert!(has(&*filter, b"other key") && has_prefix(&*filter, b"other key"));
        }
    }
}

fn own(rate: f64) -> [BloomlinePolicy; 2] {
    [BloomlinePolicy::plain(rate).unwrap(), BloomlinePolicy::of_static(rate).unwrap()]
}

/// Bloomline's filters: no key is lost, few others pass, either policy reads both, sizes are as estimated.
#[test]
fn own_filters_have_their_keys_and_rates() {
    for count in COUNTS {
        let keys = keys(count);
        for rate in [0.05, 0.01, 0.001] {
            for policy in own(rate).map(|policy| policy.with_prefix_extractor(first_four())) {
                let made = filter(&policy, &keys);
                let bytes = encoded(&*made);
                let others = own(0.01).map(|p| p.with_seed(3).with_prefix_extractor(first_four()));
                let read = others.map(|other| other.decode(&bytes));
                for filter in read.into_iter().chain([made.clamp_allocated_size(), made]) {
                    assert_eq!(filter.size(), bytes.len());
                    assert!(encoded(&*filter) == bytes);
                    for key in &keys {
                        assert!(has(&*filter, key), "{count} keys, {rate}: {key:?}");
                        assert!(has_prefix(&*filter, key), "{count} keys, {rate}: {key:?}");
                        assert!(key.len() < 4 || has_prefix(&*filter, &key[..4]));
                    }
                    let key = |i: u64| random(i + (1 << 40)).to_le_bytes();
                    let passed = (0..10_000).filter(|&i| has(&*filter, &key(i))).count() as f64;
                    assert!(passed < 10_000.0 * rate * 1.2 + 30.0, "{count}, {rate}: {passed}");
                    let everything = (Bound::Unbounded, Bound::Unbounded);
                    let everything = FilterQuery::range(everything.0, everything.1);
                    assert!(filter.might_match(&everything));
                }
            }
            for policy in own(rate) {
                let mut distinct = keys.clone();
                distinct.dedup();
                let (size, estimate) =
                    (filter(&policy, &keys).size(), policy.estimate_size(distinct.len()));
                assert!(estimate >= size, "{count} keys, {rate}: {size} bytes, not {estimate}");
                assert!(estimate <= size + size / 20 + 256, "{count}, {rate}: {size}, {estimate}");
                assert!(!policy.supports_prefix_queries() && !policy.supports_range_queries());
            }
        }
    }
}

/// A static filter takes a quarter less than SlateDB's, with no more false positives.
#[test]
fn static_filters_take_a_quarter_less() {
    let keys: Vec<Vec<u8>> = (0..200_000).map(|i| random(i).to_be_bytes().to_vec()).collect();
    let built_in = filter(&slatedb::BloomFilterPolicy::new(10), &keys);
    let policy = BloomlinePolicy::of_static(0.0085).unwrap();
    let made = filter(&policy, &keys);
    assert!(made.size() * 100 <= built_in.size() * 75, "{} {}", made.size(), built_in.size());
    let passed = |filter: &dyn Filter| {
        (0..400_000_u64).filter(|&i| has(filter, &random(i + (1 << 40)).to_le_bytes())).count()
    };
    assert!(passed(&*made) <= passed(&*built_in));
}

/// The seed is that of the filter, whatever the policy has that reads it.
#[test]
fn seeds_are_those_of_the_filters() {
    let keys = keys(1000);
    for policy in own(0.01) {
        let plain = filter(&policy.clone(), &keys);
        let seeded = filter(&policy.clone().with_seed(42), &keys);
        assert!(encoded(&*plain) != encoded(&*seeded));
        let read = policy.decode(&encoded(&*seeded));
        assert!(keys.iter().all(|key| has(&*read, key)));
    }
    assert!(BloomlinePolicy::plain(0.0).is_err() && BloomlinePolicy::plain(1.0).is_err());
    assert!(BloomlinePolicy::of_static(1e-9).is_err());
    assert_eq!(Params::for_rate(1, 0.0).unwrap_err(), BloomlinePolicy::plain(0.0).unwrap_err());
    let (theirs, ours) = (StaticParams::for_rate(1, 2.0), BloomlinePolicy::of_static(2.0));
    assert_eq!(theirs.unwrap_err(), ours.unwrap_err());
}

/// A builder that has built a filter has forgotten what it added: the next filter has the prefix again.
#[test]
fn builders_are_used_again() {
    for policy in policies() {
        let mut builder = policy.builder();
        for key in [b"plum 1", b"plum 2"] {
            builder.add_entry(&entry(key));
            let made = builder.build();
            assert!(has(&*made, key) && has_prefix(&*made, b"plum"), "{}", policy.name());
            assert!(!has(&*made, b"plum 3"), "{}", policy.name());
        }
    }
}

/// A backend that there is not would leave tables without filters. The variable is read when a program is
/// loaded, so the test runs itself with it.
#[test]
fn unknown_backends_are_errors() {
    const NAME: &str = "BLOOMLINE_BACKEND";
    if std::env::var(NAME).is_ok_and(|name| name == "none-such") {
        assert!(matches!(BloomlinePolicy::plain(0.01), Err(Error::Backend)));
        assert!(matches!(BloomlinePolicy::of_static(0.01), Err(Error::Backend)));
        return;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "bytes::unknown_backends_are_errors"]).env(NAME, "none-such");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn names_say_which_keys_are_in_filters() {
    let policy = BloomlinePolicy::of_static(0.01).unwrap();
    assert_eq!(policy.name(), "bloomline");
    let prefixes = policy.clone().with_prefix_extractor(first_four());
    assert_eq!(prefixes.name(), "bloomline:p=four");
    assert!(prefixes.supports_prefix_queries());
    assert_eq!(prefixes.with_whole_key_filtering(false).name(), "bloomline:p=four:wh=0");
    assert_eq!(policy.with_whole_key_filtering(false).name(), "bloomline:wh=0");
}

/// A policy that only reads makes filters that let everything pass, in SlateDB's policy, too.
#[test]
fn policies_that_only_read_filter_nothing_new() {
    let keys = keys(100);
    let built_in = BloomFilterPolicy::new(10).reading_only();
    let made = filter(&built_in, &keys);
    assert_eq!(encoded(&*made), [0, 0, 0]);
    assert_eq!(built_in.estimate_size(1 << 40), 3);
    assert!(has(&*slatedb::BloomFilterPolicy::new(10).decode(&[0, 0, 0]), b"other"));
    assert!(has(&*made, b"other") && has(&*filter(&built_in, &[]), b"other"));
    let own = BloomlinePolicy::of_static(0.01).unwrap().reading_only();
    let made = filter(&own, &keys);
    assert_eq!((encoded(&*made), own.estimate_size(1 << 40)), (vec![], 0));
    assert!(has(&*made, b"other") && has(&*own.decode(&[]), b"other"));
    let written = encoded(&*filter(&BloomlinePolicy::plain(0.01).unwrap(), &keys));
    assert!(!has(&*own.decode(&written), b"other"));
}
