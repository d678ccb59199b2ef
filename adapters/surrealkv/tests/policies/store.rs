//! The policies in real stores: writes, flushes, compactions, deletions, ranges, restarts. What a store
//! answers is compared with a map.

use crate::policy::{Answers, Counted, Policy, surrealkvs_own};
use bloomline_surrealkv::{BloomlineFilter, BuiltinFilter};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use surrealkv::{LSMIterator, Mode, Tree, TreeBuilder, inspect};

/// A folder that is removed at the end.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new() -> Dir {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let name = format!("bloomline-surrealkv-{}-{number}", std::process::id());
        Dir(std::env::temp_dir().join(name))
    }

    /// The files of its tables.
    pub fn tables(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.extension() {
                    _ if path.is_dir() => folders.push(path),
                    Some(extension) if extension == "sst" => found.push(path),
                    _ => {}
                }
            }
        }
        found
    }

    /// The bytes of all filters.
    pub fn filter_bytes(&self) -> u64 {
        let size = |path: &Path| inspect::dump_sst(path, false, false).unwrap().filter_size;
        self.tables().iter().map(|path| size(path)).sum()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        // It may not exist.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A store, and what must be in it.
pub struct Store<'a> {
    pub tree: Tree,
    dir: &'a Dir,
}

pub type Map = BTreeMap<Vec<u8>, Vec<u8>>;

impl<'a> Store<'a> {
    /// Opens a store whose tables come of memtables of this size.
    pub fn open(dir: &'a Dir, policy: Policy, memtable: usize) -> Store<'a> {
        let builder = TreeBuilder::new().with_path(dir.0.clone()).with_max_memtable_size(memtable);
        Store { tree: builder.with_filter_policy(Some(policy)).build().unwrap(), dir }
    }

    pub async fn reopened(self, policy: Policy, memtable: usize) -> Store<'a> {
        self.close().await;
        Store::open(self.dir, policy, memtable)
    }

    pub async fn close(&self) {
        self.tree.close().await.unwrap();
    }

    pub async fn write(&self, map: &mut Map, numbers: impl Iterator<Item = u64>, value: &str) {
        let numbers: Vec<u64> = numbers.collect();
        for batch in numbers.chunks(5_000) {
            let mut transaction = self.tree.begin().unwrap();
            for &number in batch {
                let (key, value) = (key(number), format!("{value} {number}").into_bytes());
                transaction.set(&key, &value).unwrap();
                map.insert(key, value);
            }
            transaction.commit().await.unwrap();
        }
    }

    pub async fn delete(&self, map: &mut Map, numbers: impl Iterator<Item = u64>) {
        let mut transaction = self.tree.begin().unwrap();
        for key in numbers.map(key) {
            transaction.delete(&key).unwrap();
            map.remove(&key);
        }
        transaction.commit().await.unwrap();
    }

    pub async fn delete_range(&self, map: &mut Map, range: Range<Vec<u8>>) {
        let mut transaction = self.tree.begin().unwrap();
        transaction.delete_range(&range.start, &range.end).unwrap();
        transaction.commit().await.unwrap();
        map.retain(|key, _| !range.contains(key));
    }

    pub fn compact(&self) {
        self.tree.compact_range(None, None, &Default::default()).unwrap();
    }

    /// Gets each key.
    pub fn has_all(&self, map: &Map) {
        let transaction = self.tree.begin_with_mode(Mode::ReadOnly).unwrap();
        for (key, value) in map {
            let found = transaction.get(key).unwrap();
            assert_eq!(found.as_ref(), Some(value), "lost: {}", String::from_utf8_lossy(key));
        }
    }

    /// Gets keys that are not there.
    pub fn lacks(&self, keys: impl Iterator<Item = Vec<u8>>) {
        let transaction = self.tree.begin_with_mode(Mode::ReadOnly).unwrap();
        for key in keys {
            assert_eq!(transaction.get(&key).unwrap(), None);
        }
    }

    /// Reads ranges forwards and backwards: all keys, those of a prefix, some from the middle of a table.
    pub fn has_ranges(&self, map: &Map) {
        let prefix =
            |prefix: &str| prefix.as_bytes().to_vec()..[prefix.as_bytes(), &[0xFF]].concat();
        let all = vec![0]..vec![0xFF; 8];
        for range in [all, prefix("user/"), prefix("order/00"), prefix("x"), key(4_711)..key(9_000)]
        {
            let expected: Vec<_> = map.range(range.clone()).collect();
            let transaction = self.tree.begin_with_mode(Mode::ReadOnly).unwrap();
            let mut iterator = transaction.range(&range.start, &range.end).unwrap();
            let mut found = Vec::new();
            let mut more = iterator.seek_first().unwrap();
            while more {
                found.push((iterator.key().user_key().to_vec(), iterator.value().unwrap()));
                more = iterator.next().unwrap();
            }
            let found: Vec<_> = found.iter().map(|(key, value)| (key, value)).collect();
            assert!(found == expected, "{range:?}: {} of {}", found.len(), expected.len());
            let (mut backwards, mut more) = (0, iterator.seek_last().unwrap());
            while more {
                backwards += 1;
                more = iterator.prev().unwrap();
            }
            assert_eq!(backwards, expected.len(), "{range:?}, backwards");
        }
    }
}

/// The key of a number: a prefix of three, digits, bytes of any value. Keys of near numbers are in the same
/// table.
pub fn key(number: u64) -> Vec<u8> {
    let prefix = ["user/", "order/", "z"][number as usize % 3];
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    let digits = format!("{number:08}");
    [prefix.as_bytes(), digits.as_bytes(), &mixed[..mixed[7] as usize % 8]].concat()
}

/// Nothing but filters is asked for these keys, each by one table: most are absent.
pub fn mostly_absent(answers: Answers, lookups: usize, rate: f64) {
    assert!(answers.asked >= lookups * 9 / 10, "filters were not asked: {answers:?}");
    let maybe = answers.asked - answers.absent;
    assert!((maybe as f64) < 1.5 * rate * answers.asked as f64, "{answers:?}");
}

const KEYS: u64 = 200_000;
/// Some tables of level 0, and compactions in the background.
const SMALL: usize = 4 << 20;

/// Even numbers are keys, odd ones never.
fn even(numbers: Range<u64>) -> impl Iterator<Item = u64> {
    numbers.map(|number| 2 * number)
}

fn absent(numbers: Range<u64>) -> impl Iterator<Item = Vec<u8>> {
    numbers.map(|number| key(2 * number + 1))
}

async fn no_key_is_lost(policy: Policy, rate: f64) {
    let (dir, counted) = (Dir::new(), Counted::new(policy));
    let store = Store::open(&dir, counted.clone(), SMALL);
    let mut map = Map::new();
    store.write(&mut map, even(0..KEYS), "first").await;
    store.write(&mut map, even(0..KEYS).step_by(7), "second").await;
    store.has_all(&map);
    let store = store.reopened(counted.clone(), SMALL).await;
    assert!(dir.tables().len() > 1, "one table only");
    store.has_all(&map);
    store.has_ranges(&map);
    let answers = counted.answers();
    store.lacks(absent(0..KEYS));
    assert!(counted.answers().absent > KEYS as usize * 9 / 10, "{answers:?}");

    store.compact();
    assert!(counted.made().len() > 2, "one partition only");
    counted.answers();
    store.lacks(absent(0..KEYS));
    mostly_absent(counted.answers(), KEYS as usize, rate);
    store.has_all(&map);
    store.has_ranges(&map);

    store.delete(&mut map, even(0..KEYS).step_by(10)).await;
    store.delete_range(&mut map, key(30_000)..key(60_000)).await;
    store.write(&mut map, even(KEYS..KEYS + 20_000), "third").await;
    let store = store.reopened(counted.clone(), SMALL).await;
    store.has_all(&map);
    store.lacks(even(0..KEYS).step_by(10).map(key));
    store.has_ranges(&map);

    store.compact();
    let store = store.reopened(counted.clone(), SMALL).await;
    counted.answers();
    store.has_all(&map);
    store.has_ranges(&map);
    assert!(counted.answers().asked >= map.len());
    store.lacks(absent(0..KEYS));
    mostly_absent(counted.answers(), KEYS as usize, rate);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn surrealkvs_bytes_lose_no_key() {
    no_key_is_lost(Arc::new(BuiltinFilter::default()), 0.012).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_filters_lose_no_key() {
    no_key_is_lost(Arc::new(BloomlineFilter::for_rate(0.01).unwrap()), 0.01).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn static_filters_lose_no_key() {
    let policy = BloomlineFilter::static_for_rate(0.01).unwrap();
    no_key_is_lost(Arc::new(policy.with_seed(42).unwrap()), 0.0079).await;
}

/// The filters of the same tables, and what all of them take.
async fn filters_of(policy: Policy) -> (Vec<Vec<u8>>, u64) {
    let (dir, counted) = (Dir::new(), Counted::new(policy));
    // One table.
    let store = Store::open(&dir, counted.clone(), 200 << 20);
    store.write(&mut Map::new(), even(0..KEYS), "value").await;
    store.compact();
    store.close().await;
    (counted.made(), dir.filter_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_have_the_same_filters_as_by_surrealkvs_own_policy() {
    let theirs = filters_of(surrealkvs_own()).await;
    assert!(theirs.0.len() > 10, "{} filters", theirs.0.len());
    assert!(filters_of(Arc::new(BuiltinFilter::default())).await == theirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_with_static_filters_take_a_quarter_less_for_them() {
    let (_, theirs) = filters_of(surrealkvs_own()).await;
    for (policy, most) in [
        (BloomlineFilter::static_for_rate(0.01).unwrap(), 0.75),
        (BloomlineFilter::for_rate(0.01).unwrap(), 1.01),
    ] {
        let (made, ours) = filters_of(Arc::new(policy.clone())).await;
        let (part, largest) = (ours as f64 / theirs as f64, made.iter().map(Vec::len).max());
        println!("{policy:?}: {ours} bytes of filters for {theirs}, {part:.3}");
        assert!(part < most, "{policy:?}: {part}");
        // A partition grows by one block of data after it is full.
        assert!(largest < Some(16_384 + 4096), "{policy:?}: {largest:?}");
    }
}
