//! 200,000 keys in a database, by each policy: flushed, read again after a restart, compacted, with prefixes.

use super::*;
use slatedb::config::{
    CompactorOptions, FlushOptions, FlushType, Settings, SizeTieredCompactionSchedulerOptions,
    WriteOptions,
};
use slatedb::db_stats::{FILTER_KIND_LABEL, SST_FILTER_NEGATIVE_COUNT};
use slatedb::object_store::ObjectStore;
use slatedb::object_store::local::LocalFileSystem;
use slatedb::{Db, WriteBatch};
use slatedb_common::metrics::{DefaultMetricsRecorder, MetricValue};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const ROOT: &str = "db";

/// A folder for one test, empty.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("slatedb-{name}"));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::new(LocalFileSystem::new_with_prefix(&self.0).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// An open database, with what it counts.
pub(crate) struct Open {
    pub(crate) db: Db,
    counters: Arc<DefaultMetricsRecorder>,
}

impl Open {
    pub(crate) async fn new(
        store: Arc<dyn ObjectStore>,
        policies: Vec<Arc<dyn FilterPolicy>>,
        compacting: bool,
        cached: bool,
    ) -> Open {
        let soon = Duration::from_millis(20);
        let scheduler = SizeTieredCompactionSchedulerOptions {
            min_compaction_sources: 2,
            max_compaction_sources: 64,
            ..Default::default()
        };
        let mut compactor = CompactorOptions {
            poll_interval: soon,
            commit_compacted_interval: soon,
            scheduler_options: scheduler.into(),
            ..Default::default()
        };
        if let Some(worker) = &mut compactor.worker {
            worker.compactions_poll_interval = soon;
        }
        let settings = Settings {
            min_filter_keys: 0,
            manifest_poll_interval: soon,
            compactor_options: compacting.then_some(compactor),
            ..Default::default()
        };
        let counters = Arc::new(DefaultMetricsRecorder::new());
        let mut builder = Db::builder(ROOT, store)
            .with_settings(settings)
            .with_filter_policies(policies)
            .with_metrics_recorder(counters.clone());
        if !cached {
            builder = builder.with_db_cache_disabled();
        }
        Open { db: builder.build().await.unwrap(), counters }
    }

    /// How often a filter said that a table has nothing of what was asked: "point", "prefix" or "range".
    pub(crate) fn left_out(&self, kind: &str) -> u64 {
        let counters = self.counters.snapshot();
        let label = [(FILTER_KIND_LABEL, kind)];
        match counters.by_name_and_labels(SST_FILTER_NEGATIVE_COUNT, &label).map(|m| &m.value) {
            Some(MetricValue::Counter(count)) => *count,
            other => panic!("no counter, but {other:?}"),
        }
    }

    /// Puts keys into one table of their own; the value is the key.
    pub(crate) async fn put_table(&self, keys: impl IntoIterator<Item = Vec<u8>>) {
        let mut batch = WriteBatch::new();
        for key in keys {
            batch.put(&key, &key);
        }
        let options = WriteOptions::default();
        let _ = self.db.write_with_options(batch, &options).await.unwrap();
        let table = FlushOptions { flush_type: FlushType::MemTable };
        self.db.flush_with_options(table).await.unwrap();
    }

    pub(crate) async fn has(&self, key: &[u8]) -> bool {
        let value = self.db.get(key).await.unwrap();
        assert!(value.as_ref().is_none_or(|value| value == key));
        value.is_some()
    }

    /// The keys with a prefix.
    pub(crate) async fn scan(&self, prefix: &[u8]) -> Vec<Vec<u8>> {
        let mut found = self.db.scan_prefix(prefix, ..).await.unwrap();
        let mut keys = Vec::new();
        while let Some(row) = found.next().await.unwrap() {
            keys.push(row.key.to_vec());
        }
        keys
    }

    /// The tables that no compaction has taken yet, and the sorted runs.
    pub(crate) fn tables(&self) -> (usize, usize) {
        let manifest = self.db.manifest();
        (manifest.l0().len(), manifest.compacted().len())
    }

    /// Waits until all tables are in one sorted run.
    pub(crate) async fn compacted(&self) {
        for _ in 0..3000 {
            if self.tables() == (0, 1) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("not compacted within a minute: {:?}", self.tables());
    }
}

const KEYS: u64 = 200_000;
const TABLES: u64 = 4;
/// The prefixes, of four bytes; every other is of no key.
const PREFIXES: u64 = 400;

fn key(i: u64) -> Vec<u8> {
    format!("{:04}/{:016x}", 2 * (random(i) % PREFIXES), random(i)).into_bytes()
}

/// A key that is not there, between those that are.
fn absent(i: u64) -> Vec<u8> {
    format!("{:04}/{:016x}!", 2 * (random(i) % PREFIXES), random(i)).into_bytes()
}

/// Looks up every `step`th key, finds all of them by their prefixes, and asks for others. Returns how many
/// of 10,000 lookups and of the scans each table's filter answered.
async fn check(open: &Open, step: usize) -> (u64, u64) {
    let scans = open.left_out("prefix");
    for i in (0..KEYS).step_by(step) {
        assert!(open.has(&key(i)).await, "lost {i}");
    }
    let found = open.left_out("point");
    for i in 0..10_000 {
        assert!(!open.has(&absent(i)).await);
    }
    let mut rows = 0;
    for prefix in 0..2 * PREFIXES {
        let prefix = format!("{prefix:04}");
        let keys = open.scan(prefix.as_bytes()).await;
        assert!(keys.iter().all(|key| key.starts_with(prefix.as_bytes())));
        rows += keys.len() as u64;
    }
    assert_eq!(rows, KEYS);
    // A prefix that is too short for the extractor.
    assert_eq!(
        open.scan(b"00").await.len(),
        (0..KEYS).filter(|&i| key(i).starts_with(b"00")).count()
    );
    let mut all = open.db.scan::<std::ops::RangeFull>(..).await.unwrap();
    let mut rows = 0;
    while all.next().await.unwrap().is_some() {
        rows += 1;
    }
    assert_eq!(rows, KEYS);
    assert_eq!(open.left_out("range"), 0);
    (open.left_out("point") - found, open.left_out("prefix") - scans)
}

async fn no_key_is_lost(policy: Arc<dyn FilterPolicy>, folder: &str) {
    let folder = Folder::new(folder);
    let policies = || vec![Arc::clone(&policy)];
    let open = Open::new(folder.store(), policies(), false, true).await;
    for table in 0..TABLES {
        open.put_table((0..KEYS).filter(|i| i % TABLES == table).map(key)).await;
    }
    assert_eq!(open.tables(), (TABLES as usize, 0));
    let (lookups, scans) = check(&open, 8).await;
    assert!(lookups > 10_000 * TABLES * 97 / 100, "{lookups} of {}", 10_000 * TABLES);
    assert!(scans > PREFIXES * TABLES * 97 / 100, "{scans}");
    open.db.close().await.unwrap();

    // After a restart filters are read.
    let open = Open::new(folder.store(), policies(), false, true).await;
    assert_eq!(open.tables(), (TABLES as usize, 0));
    assert_eq!(check(&open, 1).await, (lookups, scans));
    open.db.close().await.unwrap();

    // After a compaction there are others.
    let open = Open::new(folder.store(), policies(), true, true).await;
    open.compacted().await;
    let (lookups, scans) = check(&open, 8).await;
    assert!(lookups > 9700 && scans > PREFIXES * 97 / 100, "{lookups}, {scans}");
    open.db.close().await.unwrap();
    let open = Open::new(folder.store(), policies(), false, true).await;
    assert_eq!(open.tables(), (0, 1));
    assert_eq!(check(&open, 1).await, (lookups, scans));
    open.db.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_lost_by_the_built_in_bytes() {
    no_key_is_lost(policies().swap_remove(0), "built-in").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_lost_by_plain_filters() {
    no_key_is_lost(policies().swap_remove(1), "plain").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_is_lost_by_static_filters() {
    no_key_is_lost(policies().swap_remove(2), "static").await;
}
