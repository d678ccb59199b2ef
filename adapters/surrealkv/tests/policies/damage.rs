//! Damaged filters in real stores: on the disk, and written so, with a checksum that matches.

use crate::policy::{Counted, Policy, surrealkvs_own};
use crate::store::{Dir, Map, Store, key};
use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter, TransitionFilter};
use std::sync::Arc;
use surrealkv::{FilterPolicy, RibbonFilter};

const LARGE: usize = 1 << 20;
/// So many that each of the filters takes a few hundred bytes at most.
const KEYS: u64 = 60;

fn policies() -> [Policy; 4] {
    let plain = BloomlineFilter::for_rate(0.01).unwrap();
    let smaller = BloomlineFilter::static_for_rate(0.01).unwrap();
    let transition = TransitionFilter::new(plain.clone());
    [Arc::new(BuiltinFilter::default()), Arc::new(transition), Arc::new(plain), Arc::new(smaller)]
}

/// A store of some keys in one table, closed; what is in it, and its filter.
async fn closed(dir: &Dir, policy: Arc<Counted>) -> (Map, Vec<u8>) {
    let store = Store::open(dir, policy.clone(), LARGE);
    let mut map = Map::new();
    store.write(&mut map, 0..KEYS, "value").await;
    store.close().await;
    let filter = policy.made().pop().expect("a filter");
    (map, filter)
}

/// The store verifies a checksum of each filter that it reads, and does without the filter if it fails.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_damaged_on_the_disk() {
    for policy in policies() {
        let (dir, counted) = (Dir::new(), Counted::new(policy));
        let (map, filter) = closed(&dir, counted.clone()).await;
        let [table] = &dir.tables()[..] else { panic!("more than one table") };
        let whole = std::fs::read(table).unwrap();
        let start = whole.windows(filter.len()).position(|part| part == filter).unwrap();
        // With the type of compression and the checksum behind it.
        for at in start..start + filter.len() + 5 {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(table, damaged).unwrap();
            let store = Store::open(&dir, counted.clone(), LARGE);
            store.has_all(&map);
            assert_eq!(counted.answers().asked, 0, "{}: byte {at}", counted.name());
            store.close().await;
        }
        std::fs::write(table, whole).unwrap();
        let store = Store::open(&dir, counted.clone(), LARGE);
        store.has_all(&map);
        assert_eq!(counted.answers().asked, KEYS as usize);
        store.close().await;
    }
}

/// What a policy is asked of bytes that some other code wrote under its name.
async fn written_so(policy: Policy, change: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static) {
    let (dir, counted) = (Dir::new(), Counted::changing(policy, change));
    let (map, _) = closed(&dir, counted.clone()).await;
    let store = Store::open(&dir, counted.clone(), LARGE);
    store.has_all(&map);
    store.lacks((1000..1010).map(|number| key(3 * number)));
    let answers = counted.answers();
    assert!(answers.asked >= KEYS as usize && answers.absent == 0, "{answers:?}");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_filters_with_a_checksum_that_matches() {
    for policy in &policies()[2..] {
        let keys: Vec<_> = (0..KEYS).map(key).collect();
        let len = policy.create_filter(&keys).len();
        for cut in (0..len).step_by(3) {
            written_so(policy.clone(), move |filter| filter[..cut].into()).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_that_no_policy_can_read() {
    let [builtin, transition, own, _] = policies();
    for k in [0, 31, 127, 128, 255] {
        let change = move |mut filter: Vec<u8>| {
            *filter.last_mut().unwrap() = k;
            filter
        };
        written_so(builtin.clone(), change).await;
        written_so(own.clone(), change).await;
        // Of its own filters that byte has the one value.
        if k != 255 {
            written_so(transition.clone(), change).await;
        }
    }
    for bytes in [vec![], vec![7], vec![0xFF; 4096]] {
        let (one, other) = (bytes.clone(), bytes);
        written_so(builtin.clone(), move |_| one.clone()).await;
        written_so(own.clone(), move |_| other.clone()).await;
    }
    let keys: Vec<_> = (1000..1100).map(key).collect();
    let foreign =
        [surrealkvs_own().create_filter(&keys), RibbonFilter::new(10).create_filter(&keys)];
    for foreign in foreign {
        written_so(own.clone(), move |_| foreign.clone()).await;
    }
}
