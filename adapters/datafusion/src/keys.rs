//! What the two sides of a join share: the keys that one side has, and the filter of them for the other.

use crate::hashes::{Class, Hasher};
use bloomline::{Filter, Params};
use datafusion::execution::memory_pool::MemoryReservation;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The keys of a join's build side. Until all of them are there, and if they do not come, every key may be
/// present: there is no filter to be asked.
#[derive(Debug)]
pub(crate) struct BuildKeys {
    /// What the columns of the key are hashed as.
    pub(crate) classes: Vec<Class>,
    pub(crate) hasher: Hasher,
    rate: f64,
    parts: Mutex<Parts>,
    filter: OnceLock<Filter>,
    off: AtomicBool,
    pub(crate) usefulness: Usefulness,
}

/// What the partitions of the build side have brought.
#[derive(Debug, Default)]
struct Parts {
    begun: Vec<bool>,
    done: Vec<Vec<u64>>,
    /// For the hashes, then for the filter.
    memory: Option<MemoryReservation>,
}

impl BuildKeys {
    pub(crate) fn new(classes: Vec<Class>, rate: f64) -> Result<BuildKeys, bloomline::Error> {
        Ok(BuildKeys {
            classes,
            hasher: Hasher::new(0)?,
            rate,
            parts: Mutex::default(),
            filter: OnceLock::new(),
            off: AtomicBool::new(false),
            usefulness: Usefulness::default(),
        })
    }

    /// The filter of all keys, if there is one.
    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.filter.get().filter(|_| !self.off.load(Relaxed))
    }

    /// Leaves the join without a filter from here on.
    pub(crate) fn give_up(&self) {
        self.off.store(true, Relaxed);
        let mut parts = self.lock();
        parts.done = Vec::new();
        parts.memory = None;
    }

    pub(crate) fn gave_up(&self) -> bool {
        self.off.load(Relaxed)
    }

    /// Notes that a partition of so many is read. One that is read again may have other rows than before, and
    /// keys cannot tell which run they are of: there is no filter then.
    pub(crate) fn begin(&self, partition: usize, partitions: usize) {
        let mut parts = self.lock();
        if parts.begun.is_empty() {
            parts.begun = vec![false; partitions];
        }
        let again = match parts.begun.get_mut(partition) {
            Some(begun) => mem::replace(begun, true),
            None => true,
        };
        let others = parts.begun.len() != partitions;
        drop(parts);
        if again || others {
            self.give_up();
        }
    }

    /// Takes the hashes of a whole partition; after the last makes the filter, and returns its bytes.
    pub(crate) fn finish(&self, hashes: Vec<u64>, memory: MemoryReservation) -> Option<usize> {
        let mut parts = self.lock();
        if self.gave_up() {
            return None;
        }
        parts.done.push(hashes);
        match &mut parts.memory {
            Some(all) => all.grow(memory.free()),
            none => *none = Some(memory),
        }
        if parts.done.len() < parts.begun.len() {
            return None;
        }
        let done = mem::take(&mut parts.done);
        let keys: usize = done.iter().map(Vec::len).sum();
        let filter = Params::for_rate(keys.max(1) as u64, self.rate).and_then(|params| {
            let memory = parts.memory.as_ref().map(|memory| memory.try_grow(params.bytes()));
            match memory {
                Some(Err(_)) => Ok(None),
                _ => Filter::new(params).map(Some),
            }
        });
        let Ok(Some(mut filter)) = filter else {
            drop(parts);
            self.give_up();
            return None;
        };
        for hashes in done {
            filter.insert_hashes(&hashes);
        }
        let bytes = filter.params().bytes();
        if let Some(memory) = &parts.memory {
            memory.resize(bytes);
        }
        self.filter.get_or_init(|| filter);
        Some(bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a filter drops enough rows to be worth asking. It is shared by the threads that ask; what they lose
/// to each other changes when it is asked, and no answer.
#[derive(Debug, Default)]
pub(crate) struct Usefulness {
    asked: AtomicU64,
    passed: AtomicU64,
    skips: AtomicU64,
}

impl Usefulness {
    /// So many rows are looked at before it is judged.
    const SAMPLE: u64 = 1 << 16;
    /// So many batches go unasked before it is tried again.
    const SKIPS: u64 = 64;

    /// Whether the next batch is to be asked.
    pub(crate) fn is_asked(&self) -> bool {
        let skips = self.skips.load(Relaxed);
        if skips > 0 {
            self.skips.store(skips - 1, Relaxed);
        }
        skips == 0
    }

    /// Notes that of so many rows so many passed: more than half is not worth it.
    pub(crate) fn note(&self, asked: usize, passed: usize) {
        let asked = self.asked.fetch_add(asked as u64, Relaxed) + asked as u64;
        let passed = self.passed.fetch_add(passed as u64, Relaxed) + passed as u64;
        if asked >= Usefulness::SAMPLE {
            self.asked.store(0, Relaxed);
            self.passed.store(0, Relaxed);
            if passed > asked / 2 {
                self.skips.store(Usefulness::SKIPS, Relaxed);
            }
        }
    }
}
