//! The data: full filters, and hashes and keys of which half are present. Uses the public
//! interface.

use super::memory::{Array, Memory};
use super::rounds::BATCH;
use bloomline::{Backend, Filter, Params, View, hash};

/// The sizes of the benchmarks: L1, L2, about the end of L2, and beyond.
pub(crate) const SIZES: [usize; 5] = [16 << 10, 256 << 10, 4 << 20, 64 << 20, 512 << 20];

/// Keys in a filter: 10 bits for each.
pub(crate) fn keys_for(bytes: usize) -> usize {
    bytes * 8 / 10
}

/// Hashes to probe a filter with: so many that they come by each line a few times
/// before they repeat, so that a filter that is larger than the caches is not all
/// of a sudden in them.
pub(crate) fn pool_len(bytes: usize) -> usize {
    (bytes / 64 * 4).clamp(1 << 11, 1 << 24)
}

/// A well mixed number for each number (the finaliser of splitmix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `len` hashes; the same for the same `stream`.
pub(crate) fn hashes(stream: u64, len: usize) -> Array<u64> {
    Array::from_fn(len, |i| hash_number(stream, i))
}

/// Hash `i` of a stream.
fn hash_number(stream: u64, i: usize) -> u64 {
    mix(mix(stream + 1).wrapping_add(i as u64))
}

/// `len` keys of 16 bytes.
pub(crate) fn keys(stream: u64, len: usize) -> Array<[u8; 16]> {
    let half = |i| u128::from(hash_number(stream, i));
    Array::from_fn(len, |i| (half(2 * i) << 64 | half(2 * i + 1)).to_le_bytes())
}

/// Whether probe number `i` is of a present key: half are, without a pattern.
fn is_in(i: usize) -> bool {
    mix(i as u64 ^ 0x5555) & 1 == 1
}

/// The items to insert into the filter.
fn present<T: Copy>(items: &[T]) -> Vec<T> {
    items.iter().enumerate().filter(|&(i, _)| is_in(i)).map(|(_, &item)| item).collect()
}

/// A full filter of so many bytes, with half of the probes in it and other keys
/// beside them; no more than `1 << 29`, which leaves very large ones less full.
pub(crate) fn full_filter(bytes: usize, k: u32, probes: &Probes, backend: Backend) -> Filter {
    let params = Params::new((bytes / 64) as u64, k, 0).unwrap();
    let mut filter = Filter::with_backend(params, backend).unwrap();
    let (hashes, keys) = (present(&probes.hashes), present(&probes.keys));
    filter.insert_hashes(&hashes);
    filter.insert_keys(&keys);
    let mut others = keys_for(bytes).min(1 << 29).saturating_sub(hashes.len() + keys.len());
    let mut stream = 1000;
    while others > 0 {
        let some = others.min(1 << 16);
        let some: Vec<u64> = (0..some).map(|i| hash_number(stream, i)).collect();
        filter.insert_hashes(&some);
        others -= some.len();
        stream += 1;
    }
    filter
}

/// The probes of a filter.
#[derive(Default)]
pub(crate) struct Probes {
    pub(crate) hashes: Array<u64>,
    /// Keys of 16 bytes, if wanted.
    pub(crate) keys: Array<[u8; 16]>,
    /// The hashes of the keys.
    pub(crate) key_hashes: Array<u64>,
}

impl Probes {
    /// Hashes for a filter of so many bytes.
    pub(crate) fn hashes(bytes: usize) -> Probes {
        let hashes = hashes(0, pool_len(bytes));
        Probes { hashes, ..Probes::default() }
    }

    /// Keys of 16 bytes for a filter of so many bytes.
    pub(crate) fn keys(bytes: usize) -> Probes {
        let keys = keys(0, pool_len(bytes));
        let key_hashes = Array::from_fn(keys.len(), |i| hash::hash(&keys[i], 0));
        Probes { keys, key_hashes, ..Probes::default() }
    }
}

/// The encoded form of a full filter: bytes that all backends and the loops that
/// only touch them share.
pub(crate) fn full_bytes(bytes: usize, k: u32, probes: &Probes) -> Memory {
    let best = Backend::available().last().expect("there is always a backend");
    let filter = full_filter(bytes, k, probes, best);
    let mut encoded = Memory::new(filter.encoded_len());
    filter.encode(&mut encoded).unwrap();
    encoded
}

/// The same bytes as each backend sees them.
pub(crate) fn views(encoded: &[u8]) -> Vec<View<'_>> {
    Backend::available().map(|backend| View::open_with_backend(encoded, backend).unwrap()).collect()
}

/// Filters that point lookups go through, as through the tables of an LSM tree.
pub(crate) const TABLES: usize = 8;

/// Filters, and pairs of hashes to look up: see [`chain`].
pub(crate) struct Lookups {
    pub(crate) tables: Vec<Memory>,
    pub(crate) hashes: Array<u64>,
}

impl Lookups {
    /// Filters of so many bytes each. Half of the hashes are in one of them.
    pub(crate) fn new(bytes: usize) -> Lookups {
        let hashes = hashes(0, pool_len(bytes));
        let table = |table: usize| {
            let its = Array::from_fn(hashes.len() / TABLES, |i| hashes[TABLES * i + table]);
            full_bytes(bytes, 6, &Probes { hashes: its, ..Probes::default() })
        };
        Lookups { tables: (0..TABLES).map(table).collect(), hashes }
    }

    /// The filters as a backend sees them.
    pub(crate) fn views(&self, backend: Backend) -> [View<'_>; TABLES] {
        std::array::from_fn(|i| View::open_with_backend(&self.tables[i], backend).unwrap())
    }
}

/// Lookups that wait for each other: the answer to one picks the first or the second
/// of the next pair. Neither the compiler nor the CPU can begin the next one before.
#[inline(always)]
pub(crate) fn chain(pairs: &[[u64; 2]], mut answer: impl FnMut(u64) -> usize) -> usize {
    let (mut pick, mut sum) = (0, 0);
    for pair in pairs {
        let answer = answer(pair[pick]);
        sum += answer;
        pick = answer & 1;
    }
    sum
}

/// A bitmap for the answers to a batch.
pub(crate) fn bitmap() -> [u64; BATCH / 64] {
    [0; BATCH / 64]
}

/// "256 KiB" and the like.
pub(crate) fn size_name(bytes: usize) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
