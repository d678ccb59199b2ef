//! Filters that were damaged, or cut off: no key of the database is lost.

use super::databases::{Open, ROOT};
use super::*;
use slatedb::object_store::memory::InMemory;
use slatedb::object_store::path::Path;
use slatedb::object_store::{ObjectStoreExt, PutPayload};
use slatedb::{FilterBuilder, bytes};
use std::sync::Mutex;

const KEYS: u64 = 300;

fn key(i: u64) -> Vec<u8> {
    format!("{:04}/{:08x}", i % 10, random(i) as u32).into_bytes()
}

/// A policy that reads other bytes than were written.
struct Damaging {
    policy: Arc<dyn FilterPolicy>,
    damage: Arc<Mutex<Damage>>,
}

#[derive(Clone, Copy)]
enum Damage {
    None,
    Cut(usize),
    /// A byte, and what is changed of it.
    Change(usize, u8),
    /// The number of bits of a key.
    Probes(u16),
}

impl FilterPolicy for Damaging {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        self.policy.builder()
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        let mut data = data.to_vec();
        match *self.damage.lock().unwrap() {
            Damage::None => {}
            Damage::Cut(len) => data.truncate(len),
            Damage::Change(at, change) => data[at] ^= change,
            Damage::Probes(probes) => data[..2].copy_from_slice(&probes.to_be_bytes()),
        }
        self.policy.decode(&data)
    }

    fn estimate_size(&self, num_keys: usize) -> usize {
        self.policy.estimate_size(num_keys)
    }
}

/// A database of one table that reads its filter again for each lookup, damaged.
async fn damaged(policy: Arc<dyn FilterPolicy>) -> (Open, Arc<Mutex<Damage>>) {
    let damage = Arc::new(Mutex::new(Damage::None));
    let policy = Arc::new(Damaging { policy, damage: damage.clone() });
    let open = Open::new(Arc::new(InMemory::new()), vec![policy], false, false).await;
    open.put_table((0..KEYS).map(key)).await;
    assert!(!open.has(b"0005/absent").await);
    assert_eq!(open.left_out("point"), 1);
    (open, damage)
}

async fn check(open: &Open, i: u64) {
    assert!(open.has(&key(i % KEYS)).await, "lost {i}");
    if i.is_multiple_of(16) {
        let prefix = format!("{:04}", i % 10);
        assert_eq!(open.scan(prefix.as_bytes()).await.len() as u64, KEYS / 10);
    }
}

/// Bloomline's filters: cut at every byte, and every byte changed.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_filters_lose_no_key() {
    for policy in policies().drain(1..) {
        let mut keys: Vec<_> = (0..KEYS).map(key).collect();
        keys.sort();
        let len = encoded(&*filter(&*policy, &keys)).len();
        let (open, damage) = damaged(policy).await;
        for cut in 0..len {
            *damage.lock().unwrap() = Damage::Cut(cut);
            for i in 0..3 {
                check(&open, 3 * cut as u64 + i).await;
            }
        }
        for byte in 0..len {
            for change in [1, 0x80, 0xFF, random(byte as u64) as u8 | 2] {
                *damage.lock().unwrap() = Damage::Change(byte, change);
                check(&open, 4 * byte as u64 + u64::from(change) % 4).await;
            }
        }
        // None of these filters answered.
        assert_eq!(open.left_out("point"), 1);
        assert!(!open.has(b"0005/absent").await);
        assert_eq!(open.left_out("point"), 1);
        *damage.lock().unwrap() = Damage::None;
        assert!(!open.has(b"0005/absent").await);
        assert_eq!(open.left_out("point"), 2);
        open.db.close().await.unwrap();
    }
}

/// The built-in bytes have no checksum of their own; numbers that no such filter has are found.
#[tokio::test(flavor = "multi_thread")]
async fn impossible_built_in_filters_lose_no_key() {
    let (open, damage) = damaged(policies().swap_remove(0)).await;
    let cuts = [0, 1, 2].map(Damage::Cut);
    let probes = [0, 256, 1000, 6 << 8, 32_768, 65_535].map(Damage::Probes);
    for change in cuts.into_iter().chain(probes) {
        *damage.lock().unwrap() = change;
        for i in 0..KEYS {
            check(&open, i).await;
        }
    }
    // Cuts elsewhere make another filter: it answers, and reads nothing outside.
    for cut in 3..400 {
        *damage.lock().unwrap() = Damage::Cut(cut);
        open.has(&key(cut as u64 % KEYS)).await;
    }
    open.db.close().await.unwrap();
}

/// The filter block in the table's file: every byte is changed, and it is shortened to every length, with zeros in
/// the place of its rest or with what is behind it. SlateDB reports it, or finds the key. The file stays as long as
/// it was: reads behind its end are tried again, without end.
#[tokio::test(flavor = "multi_thread")]
async fn damaged_files_lose_no_key() {
    for policy in policies() {
        let store = Arc::new(InMemory::new());
        let open = Open::new(store.clone(), vec![policy], false, false).await;
        open.put_table((0..KEYS).map(key)).await;
        let manifest = open.db.manifest();
        let table = &manifest.l0()[0].sst;
        let (start, len) = (table.info.filter_offset as usize, table.info.filter_len as usize);
        let path = Path::from(format!("{ROOT}/compacted/{}.sst", table.id.value()));
        let file = store.get(&path).await.unwrap().bytes().await.unwrap();
        let changed = |byte: usize| {
            let mut file = file.to_vec();
            file[start + byte] ^= random(byte as u64) as u8 | 1;
            file
        };
        let zeroed = |cut: usize| {
            let mut file = file.to_vec();
            file[start + cut..start + len].fill(0);
            file
        };
        let moved_up = |cut: usize| {
            let mut file = file.to_vec();
            file.copy_within(start + len.., start + cut);
            file
        };
        let (mut tried, mut reported, mut found) = (0, 0, 0);
        for at in 0..len {
            let all = [changed(at), zeroed(at), moved_up(at)];
            for damaged in all.into_iter().filter(|damaged| file != damaged[..]) {
                tried += 1;
                store.put(&path, PutPayload::from(damaged)).await.unwrap();
                match open.db.get(key(at as u64 % KEYS)).await {
                    Ok(value) => {
                        assert!(value.is_some(), "byte {at}");
                        found += 1;
                    }
                    Err(_) => reported += 1,
                }
            }
        }
        assert!(tried > 2 * len);
        assert_eq!((reported, found), (tried, 0));
        store.put(&path, PutPayload::from(bytes::Bytes::clone(&file))).await.unwrap();
        assert!(open.has(&key(0)).await);
        open.db.close().await.unwrap();
    }
}
