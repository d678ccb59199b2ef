//! Databases that change their policy, there and back.

use crate::policy::{Counted, Policy, surrealkvs_own};
use crate::store::{Dir, Map, Store, key, mostly_absent};
use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter, TransitionFilter};
use std::ops::Range;
use std::sync::Arc;
use surrealkv::RibbonFilter;

const LARGE: usize = 100 << 20;
const KEYS: u64 = 50_000;

fn present(numbers: Range<u64>) -> impl Iterator<Item = u64> {
    numbers.map(|number| 2 * number)
}

fn absent(numbers: Range<u64>) -> impl Iterator<Item = Vec<u8>> {
    numbers.map(|number| key(2 * number + 1))
}

/// The filters that either of these wrote are asked by the other, and nothing is written anew.
#[tokio::test(flavor = "multi_thread")]
async fn surrealkvs_own_policy_and_ours_read_each_others_tables() {
    let own = || -> [Policy; 2] { [surrealkvs_own(), Arc::new(BuiltinFilter::default())] };
    for (writer, reader) in own().into_iter().zip(own().into_iter().rev()) {
        let dir = Dir::new();
        let mut map = Map::new();
        let store = Store::open(&dir, writer.clone(), LARGE);
        store.write(&mut map, present(0..KEYS), "value").await;
        store.compact();
        let counted = Counted::new(reader);
        let store = store.reopened(counted.clone(), LARGE).await;
        store.has_all(&map);
        assert_eq!(counted.answers().absent, 0);
        store.lacks(absent(0..KEYS));
        mostly_absent(counted.answers(), KEYS as usize, 0.012);
        assert_eq!(counted.made(), Vec::<Vec<u8>>::new(), "tables were written anew");
        // A table of each.
        store.write(&mut map, present(KEYS..2 * KEYS), "value").await;
        let counted = Counted::new(writer);
        let store = store.reopened(counted.clone(), LARGE).await;
        store.has_all(&map);
        counted.answers();
        store.lacks(absent(0..2 * KEYS));
        mostly_absent(counted.answers(), 2 * KEYS as usize, 0.012);
        store.close().await;
    }
}

/// Each policy opens what all before it wrote. Tables of other names are read without their filters until
/// they are compacted; tables of its own name have theirs.
#[tokio::test(flavor = "multi_thread")]
async fn databases_go_through_all_policies_and_back() {
    let plain = BloomlineFilter::for_rate(0.01).unwrap();
    let smaller = BloomlineFilter::static_for_rate(0.01).unwrap();
    let policies: [Policy; 8] = [
        surrealkvs_own(),
        Arc::new(smaller.clone()),
        Arc::new(RibbonFilter::new(10)),
        Arc::new(plain.clone()),
        Arc::new(smaller.with_seed(1).unwrap()),
        Arc::new(BuiltinFilter::default()),
        Arc::new(plain),
        surrealkvs_own(),
    ];
    let dir = Dir::new();
    let (mut map, mut count) = (Map::new(), 0);
    let mut before = String::new();
    for (round, policy) in policies.into_iter().enumerate() {
        let same_name = before == policy.name();
        before = policy.name().into();
        let counted = Counted::new(policy);
        let store = Store::open(&dir, counted.clone(), LARGE);
        store.has_all(&map);
        store.lacks(absent(0..count));
        let answers = counted.answers();
        let expected = if same_name { count as usize } else { 0 };
        assert!(answers.absent >= expected * 9 / 10, "{before} in round {round}: {answers:?}");
        if !same_name {
            assert_eq!(answers.asked, 0, "{before} in round {round} has filters of another");
        }
        store.write(&mut map, present(count..count + 10_000), &format!("round {round}")).await;
        count += 10_000;
        // The new table has filters.
        let store = store.reopened(counted.clone(), LARGE).await;
        store.has_all(&map);
        store.lacks(absent(count - 10_000..count));
        assert!(counted.answers().absent > 9_000, "{before} in round {round}");
        store.compact();
        store.has_all(&map);
        store.has_ranges(&map);
        counted.answers();
        store.lacks(absent(0..count));
        mostly_absent(counted.answers(), count as usize, 0.03);
        store.close().await;
    }
}

/// A database changes over and back: no step reads a table without its filter but surrealkv's own policy, which
/// cannot read the new ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_transition_keeps_the_old_filters() {
    let new = BloomlineFilter::static_for_rate(0.01).unwrap();
    let (dir, mut map) = (Dir::new(), Map::new());
    let store = Store::open(&dir, surrealkvs_own(), LARGE);
    store.write(&mut map, present(0..KEYS), "old").await;
    store.compact();

    let counted = Counted::new(Arc::new(TransitionFilter::new(new.clone())));
    let store = store.reopened(counted.clone(), LARGE).await;
    store.lacks(absent(0..KEYS));
    mostly_absent(counted.answers(), KEYS as usize, 0.012);
    store.write(&mut map, present(KEYS..2 * KEYS), "new").await;
    let store = store.reopened(counted.clone(), LARGE).await;
    assert!(!counted.made().is_empty());
    store.has_all(&map);
    counted.answers();
    store.lacks(absent(0..2 * KEYS));
    mostly_absent(counted.answers(), 2 * KEYS as usize, 0.012);

    // Back, and there again.
    let own = Counted::new(surrealkvs_own());
    let store = store.reopened(own.clone(), LARGE).await;
    store.has_all(&map);
    own.answers();
    // The new table has keys on both sides of some of the old ones, so its filter is asked too.
    store.lacks(absent(0..KEYS));
    assert!(own.answers().absent >= KEYS as usize * 98 / 100);
    let store = store.reopened(counted.clone(), LARGE).await;
    store.compact();
    counted.answers();
    store.lacks(absent(0..2 * KEYS));
    mostly_absent(counted.answers(), 2 * KEYS as usize, 0.0079);
    let store = store.reopened(own, LARGE).await;
    store.has_all(&map);
    store.has_ranges(&map);
    store.close().await;
}
