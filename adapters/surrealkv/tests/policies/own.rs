//! The policy with Bloomline's filters: bytes, sizes, rates, and bytes that it cannot read.

use crate::definition::keys;
use crate::policy::surrealkvs_own;
use bloomline::{OwnedView, View};
use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter, Error, TransitionFilter};
use std::process::Command;
use surrealkv::{FilterPolicy, RibbonFilter};

/// Policies of both kinds, at several rates.
fn policies() -> Vec<BloomlineFilter> {
    let plain = [0.2, 0.01, 1e-4].map(BloomlineFilter::for_rate);
    let smaller = [0.05, 0.01, 1e-4].map(BloomlineFilter::static_for_rate);
    plain.into_iter().chain(smaller).map(Result::unwrap).collect()
}

fn seeded(policy: &BloomlineFilter, seed: u64) -> BloomlineFilter {
    policy.clone().with_seed(seed).unwrap()
}

#[test]
fn keys_and_hashes_give_the_same_bytes() {
    for policy in policies() {
        for policy in [seeded(&policy, 7), policy] {
            for count in [0, 1, 2, 10, 1_000, 20_000] {
                let present = keys(0..count);
                let hashes: Vec<u64> = present.iter().map(|key| policy.key_hash(key)).collect();
                let filter = policy.create_filter(&present);
                assert!(filter == policy.create_filter_from_hashes(&hashes), "{policy:?} {count}");
                // Whole, both checksums included.
                let view = View::open(&filter).unwrap();
                assert_eq!(view.key_count(), count);
                for (key, &hash) in present.iter().zip(&hashes) {
                    assert!(policy.may_contain(&filter, key), "{policy:?} {count}");
                    assert!(view.contains_hash(hash));
                }
                if count == 0 {
                    assert!(!policy.may_contain(&filter, b"apple"));
                }
            }
        }
    }
}

/// A store passes the hash of each version of a key, one behind the other.
#[test]
fn versions_of_a_key_count_once() {
    for policy in policies() {
        let once: Vec<u64> = keys(0..5_000).iter().map(|key| policy.key_hash(key)).collect();
        let versions: Vec<u64> = once.iter().flat_map(|&hash| [hash; 5]).collect();
        let filter = policy.create_filter_from_hashes(&once);
        assert!(filter == policy.create_filter_from_hashes(&versions), "{policy:?}");
    }
}

/// Any of the policies reads the filters of all.
#[test]
fn policies_read_each_others_filters() {
    let present = keys(0..3_000);
    let all = policies();
    let all: Vec<_> = all.iter().map(|policy| seeded(policy, 1)).chain(all.clone()).collect();
    for (maker, reader) in all.iter().zip(all.iter().cycle().skip(4)) {
        assert_eq!(maker.name(), reader.name());
        let filter = maker.create_filter(&present);
        assert!(present.iter().all(|key| reader.may_contain(&filter, key)));
        let others = keys(1 << 40..(1 << 40) + 1_000);
        let maybe = others.iter().filter(|key| reader.may_contain(&filter, key)).count();
        assert!(maybe < 300, "{maker:?} read by {reader:?}: {maybe}");
    }
}

#[test]
fn rates_are_those_asked_for() {
    let (present, absent) = (keys(0..20_000), keys(1 << 40..(1 << 40) + 200_000));
    for policy in policies() {
        let filter = policy.create_filter(&present);
        let maybe = absent.iter().filter(|key| policy.may_contain(&filter, key)).count();
        let rate = maybe as f64 / absent.len() as f64;
        assert!(rate < 1.05 * policy.rate() + 5e-5, "{policy:?}: {rate}");
        assert!(rate > 0.7 * policy.rate() - 5e-5, "{policy:?}: {rate}");
    }
}

/// At the rate of surrealkv's own policy, or a lower one.
#[test]
fn static_filters_take_a_quarter_less_than_surrealkvs_own() {
    let theirs = surrealkvs_own();
    let (present, absent) = (keys(0..17_000), keys(1 << 40..(1 << 40) + 200_000));
    let rate = |policy: &dyn FilterPolicy, filter: &[u8]| {
        absent.iter().filter(|key| policy.may_contain(filter, key)).count() as f64 / 200_000.0
    };
    let own = theirs.create_filter(&present);
    let own_rate = rate(&*theirs, &own);
    let policy = BloomlineFilter::static_for_rate(0.01).unwrap();
    let filter = policy.create_filter(&present);
    let (size, rate) = (filter.len() as f64 / own.len() as f64, rate(&policy, &filter));
    assert!(size <= 0.75, "{size}");
    assert!(rate <= own_rate, "{rate} against {own_rate}");
}

/// As many keys as are asked for fill a partition, and no more.
#[test]
fn partitions_are_filled() {
    for policy in policies() {
        for bytes in [4096, 16_384, 65_536, 1 << 20] {
            let count = policy.filter_keys_per_partition(bytes);
            let len = policy.create_filter(&keys(0..count as u64)).len();
            let filled = len as f64 / bytes as f64;
            assert!((0.92..=1.04).contains(&filled), "{policy:?}, {bytes} bytes: {filled}");
        }
        for bytes in [0, 1, 64, 65] {
            assert!((1..=2).contains(&policy.filter_keys_per_partition(bytes)));
        }
        assert!(policy.filter_keys_per_partition(usize::MAX) > 1 << 40);
    }
}

#[test]
fn impossible_rates() {
    for rate in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        assert!(matches!(BloomlineFilter::for_rate(rate), Err(Error::Rate(_))), "{rate}");
        assert!(matches!(BloomlineFilter::static_for_rate(rate), Err(Error::Rate(_))), "{rate}");
    }
    assert!(matches!(BloomlineFilter::static_for_rate(1e-6), Err(Error::RateTooSmall(_))));
    assert_eq!(BloomlineFilter::static_for_rate(0.01).unwrap().rate(), 1.0 / 128.0);
}

/// A backend that there is not would leave tables without filters. The variable is read when a program is
/// loaded, so the test runs itself with it.
#[test]
fn unknown_backends_are_errors() {
    const NAME: &str = "BLOOMLINE_BACKEND";
    if std::env::var(NAME).is_ok_and(|name| name == "none-such") {
        assert!(matches!(BloomlineFilter::for_rate(0.01), Err(Error::Backend)));
        assert!(matches!(BloomlineFilter::static_for_rate(0.01), Err(Error::Backend)));
        return;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "own::unknown_backends_are_errors"]).env(NAME, "none-such");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// A filter that was cut anywhere, or whose footer is damaged anywhere, may contain every key.
#[test]
fn cut_filters_may_contain_everything() {
    let (present, others) = (keys(0..200), keys(1000..1020));
    for policy in policies() {
        let filter = policy.create_filter(&present);
        let anything = |bytes: &[u8], what: &str| {
            for key in present[..20].iter().chain(&others) {
                assert!(policy.may_contain(bytes, key), "{policy:?}, {what}");
            }
        };
        for len in 0..filter.len() {
            anything(&filter[..len], &format!("cut to {len}"));
            if len > 0 {
                anything(&filter[len..], &format!("without the first {len}"));
            }
        }
        for at in filter.len() - 64..filter.len() {
            for bit in 0..8 {
                // The lines' checksum is not looked at.
                let mut damaged = filter.clone();
                damaged[at] ^= 1 << bit;
                anything(&damaged, &format!("bit {bit} of byte {at}"));
            }
        }
        for more in [1, 64] {
            anything(&[&filter[..], &vec![0; more]].concat(), "zeros behind it");
            anything(&[&vec![0; more], &filter[..]].concat(), "zeros in front of it");
        }
        for byte in [0, 0xFF, 0x0A] {
            for len in [1, 2, 63, 64, 65, 128, 129, 1000] {
                anything(&vec![byte; len], "one byte repeated");
            }
        }
        for foreign in [surrealkvs_own(), std::sync::Arc::new(RibbonFilter::new(10))] {
            anything(&foreign.create_filter(&keys(5000..5200)), foreign.name());
        }
    }
}

/// Damaged lines can lose no keys but those of the line, and no probe leaves the bytes. Opening a filter
/// with its checksum, as a program of its own can, finds each such bit.
#[test]
fn damaged_lines_are_found_by_the_checksum() {
    let present = keys(0..200);
    for policy in policies() {
        let filter = policy.create_filter(&present);
        for at in 0..filter.len() - 64 {
            let mut damaged = filter.clone();
            damaged[at] ^= 0x10;
            let lost = present.iter().filter(|key| !policy.may_contain(&damaged, key)).count();
            assert!(lost < present.len(), "{policy:?}, byte {at}");
            assert!(OwnedView::open(damaged).is_err(), "{policy:?}, byte {at}");
        }
    }
}

/// The filters of a policy for databases that change over: its own, with a byte behind them that tells
/// surrealkv's own policy that it cannot read them; and that one's.
#[test]
fn transitions_read_both() {
    let (theirs, present, absent) =
        (surrealkvs_own(), keys(0..2_000), keys(1 << 40..(1 << 40) + 2_000));
    for new in policies() {
        let policy = TransitionFilter::new(new.clone());
        assert_eq!(policy.name(), theirs.name());
        let hashes: Vec<u64> = present.iter().map(|key| policy.key_hash(key)).collect();
        let filter = policy.create_filter(&present);
        assert!(filter == policy.create_filter_from_hashes(&hashes));
        let Some((&255, encoded)) = filter.split_last() else { panic!("no mark") };
        assert!(encoded == new.create_filter(&present));
        let old = theirs.create_filter(&present);
        for key in present.iter().chain(&absent) {
            assert_eq!(policy.may_contain(&filter, key), new.may_contain(encoded, key));
            assert_eq!(policy.may_contain(&old, key), theirs.may_contain(&old, key));
            assert!(theirs.may_contain(&filter, key));
            assert!(BuiltinFilter::default().may_contain(&filter, key));
        }
        let count = policy.filter_keys_per_partition(16_384);
        assert!(policy.create_filter(&keys(0..count as u64)).len() <= 17_000);
        for bytes in [&[][..], &[255], &[0, 255], &[255; 64], &[255; 4096]] {
            assert!(policy.may_contain(bytes, b"apple"));
        }
    }
}
