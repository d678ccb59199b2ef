//! A store with static filters beside one with surrealkv's own: 200,000 keys (or the argument), then as many
//! lookups of keys that are there, and of keys that are not.
//!
//! cargo run --release --example store [KEYS]
//!
//! It prints what the filters take, and how many lookups of absent keys they answered without a read.

use bloomline_surrealkv::BloomlineFilter;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use surrealkv::{FilterPolicy, Mode, Options, TreeBuilder, inspect};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A policy that counts how often a filter said that a key is absent.
struct Counting {
    policy: Arc<dyn FilterPolicy>,
    absent: AtomicUsize,
}

impl FilterPolicy for Counting {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        let answer = self.policy.may_contain(filter, key);
        self.absent.fetch_add(usize::from(!answer), Relaxed);
        answer
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        self.policy.create_filter(keys)
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        self.policy.key_hash(key)
    }

    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        self.policy.create_filter_from_hashes(hashes)
    }

    fn filter_keys_per_partition(&self, partition_bytes: usize) -> usize {
        self.policy.filter_keys_per_partition(partition_bytes)
    }
}

fn key(number: usize) -> Vec<u8> {
    format!("user/{number:012}").into_bytes()
}

/// The bytes of the filters of all tables in a folder.
fn filter_bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sum += filter_bytes(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "sst") {
            sum += inspect::dump_sst(&path, false, false)?.filter_size;
        }
    }
    Ok(sum)
}

async fn run(
    what: &str,
    folder: PathBuf,
    policy: Arc<dyn FilterPolicy>,
    keys: usize,
) -> Result<()> {
    let policy = Arc::new(Counting { policy, absent: AtomicUsize::new(0) });
    let tree = TreeBuilder::new()
        .with_path(folder.clone())
        .with_filter_policy(Some(policy.clone()))
        .build()?;
    let numbers: Vec<usize> = (0..keys).map(|number| 2 * number).collect();
    let start = Instant::now();
    for batch in numbers.chunks(10_000) {
        let mut transaction = tree.begin()?;
        for &number in batch {
            transaction.set(key(number), format!("value {number}").into_bytes())?;
        }
        transaction.commit().await?;
    }
    tree.compact_range(None, None, &Default::default())?;
    let written = start.elapsed();

    let transaction = tree.begin_with_mode(Mode::ReadOnly)?;
    for &number in &numbers {
        assert!(transaction.get(key(number))?.is_some(), "key {number} is lost");
    }
    policy.absent.store(0, Relaxed);
    let start = Instant::now();
    for &number in &numbers {
        assert!(transaction.get(key(number + 1))?.is_none());
    }
    let (absent, asked) = (policy.absent.load(Relaxed), start.elapsed());
    println!(
        "{what:14} {} bytes of filters; {keys} keys written in {written:.2?}; of {keys} absent keys {absent} \
         known by the filters, {:.0} ns each",
        filter_bytes(&folder)?,
        asked.as_nanos() as f64 / keys as f64
    );
    drop(transaction);
    tree.close().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let keys = match std::env::args().nth(1) {
        Some(keys) => keys.replace(['_', ','], "").parse()?,
        None => 200_000,
    };
    let theirs = Options::default().filter_policy.ok_or("surrealkv has no policy")?;
    let ours = Arc::new(BloomlineFilter::static_for_rate(0.01)?);
    for (what, policy) in [("surrealkv's own", theirs), ("static filters", ours as _)] {
        let name = format!("bloomline-store-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let done = run(what, folder.clone(), policy, keys).await;
        // Whatever happened, the store is no longer needed.
        std::fs::remove_dir_all(&folder)?;
        done?;
    }
    Ok(())
}
