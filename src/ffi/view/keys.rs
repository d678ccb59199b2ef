//! Views probed as engines probe: for one key through a function that is chosen once, and for
//! several, in an array or by pointers.

use super::super::batch::{contains_few, contains_many_keys, few, one_key};
use super::super::boundary::*;
use super::super::hash::{Key, bloomline_bytes, key_at};
use super::{bloomline_view, bloomline_view_contains, opened, opened_of_rocksdb};
use crate::hash::xxph3::xxph3;
use crate::hash::{KeyHash, of_bytes};
use crate::kernel::{
    ContainsKey, KEY_BY_KEY, Kernel, Layout, OfWords, TILE, Words, contains_key, singly,
};
use std::hint::black_box;
use std::ptr::null;
use std::slice::{from_mut, from_raw_parts};

/// A function that answers as bloomline_view_contains(), for views of one kind: from
/// bloomline_view_contains_fn().
pub type bloomline_contains_fn = Option<
    unsafe extern "C" fn(view: *const bloomline_view, key: *const c_void, len: usize) -> bool,
>;

exports! {
/// bloomline_view_contains_fn() returns a function that answers as bloomline_view_contains() for
/// this view, without the checks of each call: a cached RocksDB filter takes a fifth less time.
/// Pass it only this view or a copy, while its bytes are valid, and a NULL key only if 'len' is 0.
/// It checks none of that.
///
/// Never returns NULL. If 'view' is NULL or not opened, or nothing is saved, returns
/// bloomline_view_contains().
fn bloomline_view_contains_fn(view: *const bloomline_view) -> bloomline_contains_fn {
    let view = opened_of_rocksdb(view);
    let quick: Option<ContainsKey<bloomline_view>> =
        view.and_then(|view| contains_key(view.backend()));
    Some(quick.unwrap_or(bloomline_view_contains))
}

/// bloomline_view_contains_keys() is bloomline_view_contains_hashes() for keys by their bytes.
fn bloomline_view_contains_keys(
    view: *const bloomline_view, keys: *const bloomline_bytes, n: usize, bitmap: *mut u64,
) -> usize {
    let one = |key, len| bloomline_view_contains(view, key, len);
    if let Some(maybe) = one_key(n, one, keys, bitmap) {
        return maybe;
    }
    contains_more_keys(view, keys, n, bitmap)
}
}

/// The rest of [`bloomline_view_contains_keys`], apart.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_more_keys(
    view: *const bloomline_view,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    unsafe {
        if let (Some(view), Some((array, word))) = (shared(view), few(keys.cast(), n, bitmap))
            && let Some(kernel) = view.words().listed_kernel()
        {
            if matches!(kernel.layout(), Layout::Native | Layout::FastLocal) {
                return contains_few_keys(view.words(), kernel, array.iter().map(Key::bytes), word);
            }
            if n <= singly::HASHED && matches!(kernel.layout(), Layout::Static | Layout::Cuckoo) {
                return contains_keys_singly(view, keys, n, bitmap);
            }
        }
        contains_other_keys(view, keys, n, bitmap)
    }
}

/// The same for a few keys of lines whose single keys are called: each is hashed and probed before the next, so no
/// hash goes through memory, and there is no way to the function for a few keys.
///
/// # Safety
/// As there; the view is open, and keys are hashed by XXH3. There are up to [`FEW`](super::super::batch::FEW) keys,
/// and no pointer is NULL.
#[inline(never)]
unsafe extern "C" fn contains_keys_singly(
    view: &bloomline_view,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    let words = view.words();
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    let (single, keys) = unsafe { (words.single(), from_raw_parts(keys.cast::<Key>(), n)) };
    let (mut bits, mut present) = (0, 0);
    // From the last one on: no answer needs a shift of its own.
    for key in keys.iter().rev() {
        // Read each time: else what the hash makes of it for every length is computed before the first key.
        // SAFETY: it is there.
        let seed = unsafe { words.seed_at().read_volatile() };
        let maybe = key.bytes().is_none_or(|key| single.call(of_bytes(key, seed)));
        bits = bits << 1 | u64::from(maybe);
        present += usize::from(maybe);
    }
    // SAFETY: the same contract.
    unsafe { *bitmap = bits };
    present
}

/// The same for other layouts, apart: the usual ones need none of its registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_other_keys(
    view: *const bloomline_view,
    keys: *const bloomline_bytes,
    n: usize,
    bitmap: *mut u64,
) -> usize {
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    unsafe {
        if let (Some((keys, word)), Some(view)) = (few(keys.cast(), n, bitmap), shared(view))
            && let words = view.words()
            && let Some(OfWords { kernel, .. }) = words.open()
        {
            let keys = keys.iter().map(Key::bytes);
            let (single, (detail, hash, _)) = (words.single(), words.shape());
            let probe =
                |hashes: &[u64], word: &mut u64| kernel.probe_few(single, detail, hashes, word);
            // Told once: for each key that takes ten instructions.
            return match hash {
                KeyHash::Xxh3(seed) => contains_few(keys, |key| of_bytes(key, seed), word, probe),
                hash => contains_few(keys, |key| hash.hash(key), word, probe),
            };
        }
        contains_many_keys(move || opened(view), keys, n, bitmap)
    }
}

/// More keys of a RocksDB filter go another way in [`bloomline_view_contains_each`].
const FEW_EACH: usize = 16;

const _: () = assert!(FEW_EACH <= KEY_BY_KEY);

exports! {
/// bloomline_view_contains_each() probes for 'n' keys that lie anywhere, such as those of a RocksDB
/// MultiGet: 'keys' is an array of pointers to them. It writes whether key i may be present to
/// present[i]. One or two keys are probed one by one. Of more keys, up to 64 at a time have their
/// lines prefetched together. If the filter is in the cache, a loop of bloomline_view_contains()
/// takes less time for up to 2 keys, and for up to 7 keys of at most 16 bytes. For many keys
/// bloomline_view_contains_keys() is faster.
///
/// If 'view' is NULL or not opened, or 'keys' is NULL, all keys may be present; so may a key whose
/// pointer is NULL. If 'present' is NULL, nothing is written.
fn bloomline_view_contains_each(
    view: *const bloomline_view, keys: *const *const bloomline_bytes, n: usize, present: *mut bool,
) {
    if n > singly::ANYWHERE || keys.is_null() || present.is_null() {
        contains_more_each(view, keys, n, present);
    } else if n == 1 {
        contains_one_of_each(view, keys, present);
    } else {
        contains_one_by_one(view, keys, n, present);
    }
}

/// bloomline_view_fewest_each() returns from how many keys on bloomline_view_contains_each() is
/// faster than a loop of the function that bloomline_view_contains_fn() returns. It was measured
/// with this backend for filters of this size, with keys of up to some 16 bytes. SIZE_MAX if the
/// loop does not take longer. An engine asks once, when it opens the filter.
///
/// Returns SIZE_MAX if 'view' is NULL or not opened.
fn bloomline_view_fewest_each(view: *const bloomline_view) -> usize {
    guard_or(usize::MAX, || {
        let view = opened(view);
        view.map_or(usize::MAX, |view| view.fewest_together())
    })
}
}

/// Probes for one key of [`bloomline_view_contains_each`].
///
/// # Safety
/// As there; the pointers are not NULL.
#[inline(never)]
unsafe extern "C" fn contains_one_of_each(
    view: *const bloomline_view,
    key: *const *const bloomline_bytes,
    present: *mut bool,
) {
    // SAFETY: the same contract.
    unsafe {
        let maybe = shared(key.read_unaligned())
            .is_none_or(|key| bloomline_view_contains(view, key.data.cast(), key.len));
        present.write(maybe);
    }
}

/// The same for each of them.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_one_by_one(
    view: *const bloomline_view,
    keys: *const *const bloomline_bytes,
    n: usize,
    present: *mut bool,
) {
    for i in 0..n {
        // SAFETY: the same contract.
        unsafe { contains_one_of_each(view, keys.add(i), present.add(i)) };
    }
}

/// The rest of [`bloomline_view_contains_each`], apart: so one key saves no registers.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe extern "C" fn contains_more_each(
    view: *const bloomline_view,
    keys: *const *const bloomline_bytes,
    n: usize,
    present: *mut bool,
) {
    // SAFETY: the same contract.
    unsafe {
        if (1..=FEW_EACH).contains(&n)
            && let (Some(view), Some(keys)) = (shared(view), slice(keys, n))
            && !present.is_null()
            && let Some(kernel) = view.words().listed_kernel()
            && matches!(kernel.layout(), Layout::Native | Layout::FastLocal)
        {
            let (each, mut word) = (keys.iter().map(|&key| key_at(key)?.bytes()), 0);
            contains_few_keys(view.words(), kernel, each, &mut word);
            write_each(word, n, present);
        } else if (1..=TILE).contains(&n)
            && let (Some(view), Some(keys)) = (opened_of_rocksdb(view), slice(keys, n))
            && !present.is_null()
        {
            let keys = keys.iter().map(|&key| key_at(key)?.bytes());
            write_each(view.contains_few_of_rocksdb(keys), n, present);
        } else if !present.is_null() {
            contains_each_apart(view, keys, n, present);
        }
    }
}

/// The rest of [`bloomline_view_contains_each`], apart: so RocksDB's way has the registers.
///
/// # Safety
/// As there; there is room for the answers.
#[inline(never)]
unsafe fn contains_each_apart(
    view: *const bloomline_view,
    keys: *const *const bloomline_bytes,
    n: usize,
    present: *mut bool,
) {
    // SAFETY: the same contract.
    unsafe {
        let Some(keys) = slice(keys, n) else {
            return present.write_bytes(1, n);
        };
        if n <= TILE
            && let Some(view) = opened(view)
        {
            let (keys, mut word) = (keys.iter().map(|&key| key_at(key)?.bytes()), 0);
            let probe =
                |hashes: &[u64], word: &mut u64| view.contains_hashes(hashes, from_mut(word));
            contains_few(keys, |key| view.hash(key), &mut word, probe);
            return write_bits(word, n, present);
        }
        for (i, keys) in keys.chunks(TILE).enumerate() {
            let mut bytes = [BROKEN; TILE];
            for (bytes, &key) in bytes.iter_mut().zip(keys) {
                *bytes = key.as_ref().copied().unwrap_or(BROKEN);
            }
            let mut answers = 0;
            bloomline_view_contains_keys(view, bytes.as_ptr(), keys.len(), &raw mut answers);
            write_bits(answers, keys.len(), present.add(i * TILE));
        }
    }
}

/// [`write_each`] in few instructions: that once more would be a page of code.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn write_bits(mut bits: u64, count: usize, out: *mut bool) {
    for i in 0..count {
        // SAFETY: the same contract.
        unsafe { out.add(i).write(bits & 1 == 1) };
        // Not seen through.
        bits = black_box(bits >> 1);
    }
}

/// A key that is not there: it may be in any filter.
const BROKEN: bloomline_bytes = bloomline_bytes { data: null(), len: 1 };

/// Writes the low `count` bits of a word, up to 64, one to a byte.
///
/// # Safety
/// There is room for so many.
#[inline(always)]
unsafe fn write_each(bits: u64, count: usize, out: *mut bool) {
    for i in (0..count).step_by(8) {
        // The eight bits in each of eight bytes; of byte j bit j stays, and carries to the top.
        let bytes = ((bits >> i & 0xFF) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        let mut bytes = ((bytes + 0x7F7F_7F7F_7F7F_7F7F) >> 7) & 0x0101_0101_0101_0101;
        // SAFETY: the caller vouches for the room; a bool is a byte of 0 or 1.
        unsafe {
            if i + 8 <= count {
                out.add(i).cast::<[u8; 8]>().write(bytes.to_le_bytes());
                continue;
            }
            for i in i..count {
                out.add(i).write(bytes & 1 == 1);
                bytes >>= 8;
            }
        }
    }
}

/// Answers 1 to [`KEY_BY_KEY`](crate::kernel::KEY_BY_KEY) keys of native lines or RocksDB's, by the kernel of
/// these words, into a word. Returns how many may be present. A missing key may be.
///
/// # Safety
/// As for [`unpack`]; the words are sound.
#[inline(always)]
unsafe fn contains_few_keys<'k>(
    words: &Words,
    kernel: &Kernel,
    keys: impl Iterator<Item = Option<&'k [u8]>>,
    word: &mut u64,
) -> usize {
    // SAFETY: the same contract.
    let single = unsafe { words.single() };
    let (_, seed) = words.hashing();
    let probe =
        |hashes: &[u64], word: &mut u64| kernel.probe_few(single, words.detail(), hashes, word);
    match kernel.layout() {
        Layout::FastLocal => contains_few(keys, xxph3, word, probe),
        _ => contains_few(keys, |key| of_bytes(key, seed), word, probe),
    }
}
