//! Databases that change from one policy to another.

use super::databases::{Folder, Open};
use super::*;
use slatedb::bytes::BufMut;
use slatedb::object_store::memory::InMemory;

const KEYS: u64 = 20_000;

fn key(i: u64) -> Vec<u8> {
    format!("{:04}/{:016x}", 2 * (random(i) % 100), random(i)).into_bytes()
}

/// Finds all keys that were put, and returns how many of 2,000 lookups and of 100 scans each table's filter
/// answered.
async fn check(open: &Open, keys: u64) -> (u64, u64) {
    for i in 0..keys {
        assert!(open.has(&key(i)).await, "lost {i}");
    }
    let before = (open.left_out("point"), open.left_out("prefix"));
    for i in 0..2000 {
        assert!(!open.has(&[key(i), b"!".to_vec()].concat()).await);
    }
    for prefix in 0..100 {
        assert!(open.scan(format!("{:04}", 2 * prefix + 1).as_bytes()).await.is_empty());
    }
    (open.left_out("point") - before.0, open.left_out("prefix") - before.1)
}

fn built_in() -> Vec<Arc<dyn FilterPolicy>> {
    let policy = slatedb::BloomFilterPolicy::new(10);
    vec![Arc::new(policy.with_prefix_extractor(first_four()))]
}

/// SlateDB's policy, the one in its place, and SlateDB's again: all filters answer all the time.
#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_policy_and_back() {
    let folder = Folder::new("and-back");
    let ours = || vec![policies().swap_remove(0)];
    for (opened, policies) in [built_in(), ours(), built_in(), ours()].into_iter().enumerate() {
        let open = Open::new(folder.store(), policies, false, true).await;
        let tables = opened as u64 + 1;
        open.put_table((0..KEYS).map(|i| key(opened as u64 * KEYS + i))).await;
        let (lookups, scans) = check(&open, tables * KEYS).await;
        assert!(lookups > tables * 1950 && scans > tables * 97, "{lookups}, {scans}");
        open.db.close().await.unwrap();
    }
    // The last one without a table that it wrote itself, and the filters that SlateDB makes of all.
    let open = Open::new(folder.store(), ours(), false, true).await;
    let ours = check(&open, 4 * KEYS).await;
    open.db.close().await.unwrap();
    let open = Open::new(folder.store(), built_in(), false, true).await;
    assert_eq!(check(&open, 4 * KEYS).await, ours);
    open.db.close().await.unwrap();
}

/// From SlateDB's policy to static filters, with a policy that only reads for the old tables, and back.
#[tokio::test(flavor = "multi_thread")]
async fn to_static_filters_and_back() {
    let store = Arc::new(InMemory::new());
    let open = Open::new(store.clone(), built_in(), false, true).await;
    open.put_table((0..KEYS).map(key)).await;
    open.db.close().await.unwrap();

    let own = || BloomlinePolicy::of_static(0.01).unwrap().with_prefix_extractor(first_four());
    let built_in_bytes = || BloomFilterPolicy::new(10).with_prefix_extractor(first_four());
    let both = || -> Vec<Arc<dyn FilterPolicy>> {
        vec![Arc::new(own()), Arc::new(built_in_bytes().reading_only())]
    };
    let open = Open::new(store.clone(), both(), false, true).await;
    open.put_table((KEYS..2 * KEYS).map(key)).await;
    let (lookups, scans) = check(&open, 2 * KEYS).await;
    assert!(lookups > 2 * 1950 && scans > 2 * 97, "{lookups}, {scans}");
    open.db.close().await.unwrap();

    // Without it the filters of old tables are not used; nothing else changes.
    let open = Open::new(store.clone(), vec![Arc::new(own())], false, true).await;
    let (lookups, scans) = check(&open, 2 * KEYS).await;
    assert!((1950..=2000).contains(&lookups) && scans <= 100, "{lookups}, {scans}");
    open.db.close().await.unwrap();

    // SlateDB's policy reads its own, and the byte that policies write which only read.
    let open = Open::new(store.clone(), built_in(), false, true).await;
    let (lookups, scans) = check(&open, 2 * KEYS).await;
    assert!((1950..=2000).contains(&lookups) && scans <= 100, "{lookups}, {scans}");
    open.db.close().await.unwrap();

    // Compacted, all tables have static filters.
    let open = Open::new(store.clone(), both(), true, true).await;
    open.compacted().await;
    open.db.close().await.unwrap();
    let open = Open::new(store, vec![Arc::new(own())], false, true).await;
    assert_eq!(open.tables(), (0, 1));
    let (lookups, scans) = check(&open, 2 * KEYS).await;
    assert!((1950..=2000).contains(&lookups) && scans > 97, "{lookups}, {scans}");
    open.db.close().await.unwrap();
}

/// A policy that nobody knows, of which tables have filters: they are not read.
struct Foreign;

impl FilterPolicy for Foreign {
    fn name(&self) -> &str {
        "foreign"
    }

    fn builder(&self) -> Box<dyn slatedb::FilterBuilder> {
        Box::new(Foreign)
    }

    fn decode(&self, _: &[u8]) -> Arc<dyn Filter> {
        Arc::new(Foreign)
    }

    fn estimate_size(&self, _: usize) -> usize {
        7
    }
}

impl slatedb::FilterBuilder for Foreign {
    fn add_entry(&mut self, _: &RowEntry) {}

    fn build(&mut self) -> Arc<dyn Filter> {
        Arc::new(Foreign)
    }
}

impl Filter for Foreign {
    fn might_match(&self, _: &FilterQuery) -> bool {
        true
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        writer.put_slice(b"foreign");
    }

    fn size(&self) -> usize {
        7
    }

    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        Arc::new(Foreign)
    }
}

/// Tables of a foreign policy, of it and Bloomline's together, and of other prefixes.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_filters_cost_no_key() {
    for policy in policies() {
        let store = Arc::new(InMemory::new());
        let three: Arc<dyn PrefixExtractor> = Arc::new(First(3, "three"));
        let others: [Vec<Arc<dyn FilterPolicy>>; 4] = [
            vec![Arc::new(Foreign)],
            vec![Arc::new(Foreign), policy.clone()],
            vec![Arc::new(BloomFilterPolicy::new(10).with_prefix_extractor(three.clone()))],
            vec![Arc::new(BloomlinePolicy::plain(0.01).unwrap().with_prefix_extractor(three))],
        ];
        for (opened, policies) in (0..).zip(others) {
            let open = Open::new(store.clone(), policies, false, true).await;
            open.put_table((0..KEYS).map(|i| key(opened * KEYS + i))).await;
            open.db.close().await.unwrap();
        }
        let open = Open::new(store, vec![policy], false, true).await;
        let (lookups, scans) = check(&open, 4 * KEYS).await;
        // Of one table of the four.
        assert!((1950..=2000).contains(&lookups) && scans > 97 && scans <= 100);
        open.db.close().await.unwrap();
    }
}
