//! Keys and their hashes.

use super::boundary::*;
use crate::key::KeyBytes;
use std::ptr;

/// One key of a batch: 'len' bytes at 'data'. The empty key is allowed; its 'data' may
/// be NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bloomline_bytes {
    /// Where the bytes are; any alignment.
    pub data: *const u8,
    /// How many bytes.
    pub len: usize,
}

/// A key to be hashed; one that is not there is taken for the empty key.
///
/// # Safety
/// As for `boundary::bytes`.
#[inline(always)]
pub(super) unsafe fn key_or_empty<'a>(key: *const c_void, len: usize) -> &'a [u8] {
    // SAFETY: the same contract.
    unsafe { bytes(key, len) }.unwrap_or(&[])
}

/// A `bloomline_bytes` of a caller who vouches for it. Only [`keys_at`] makes these.
#[repr(transparent)]
pub(super) struct Key(pub(super) bloomline_bytes);

// SAFETY: bytes that nobody writes meanwhile, as who called `keys_at` vouches.
unsafe impl Sync for Key {}

impl Key {
    /// NULL with a length, or a length that no memory has: bytes that are not there.
    #[inline(always)]
    pub(super) fn is_broken(&self) -> bool {
        (self.0.data.is_null() & (self.0.len != 0)) | (self.0.len > isize::MAX as usize)
    }

    /// The bytes, if they are there.
    #[inline(always)]
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        // Two calls for two branches: else it is a choice made with many instructions.
        if self.0.data.is_null() {
            return self.empty();
        }
        if self.0.len > isize::MAX as usize {
            return broken();
        }
        // SAFETY: not NULL and not too long; bytes need no alignment, and who called
        // `keys_at` vouches that they are there for as long as the keys are used.
        Some(unsafe { std::slice::from_raw_parts(self.0.data, self.0.len) })
    }

    /// The key without bytes, if it is one.
    #[cold]
    #[inline(never)]
    fn empty(&self) -> Option<&[u8]> {
        (self.0.len == 0).then_some(&[])
    }
}

#[cold]
#[inline(never)]
fn broken<'a>() -> Option<&'a [u8]> {
    None
}

impl KeyBytes for Key {
    /// The bytes; none if they are not there.
    #[inline(always)]
    fn key_bytes(&self) -> impl AsRef<[u8]> {
        self.bytes().unwrap_or_default()
    }

    #[inline(always)]
    fn elsewhere(&self) -> Option<*const u8> {
        Some(self.0.data)
    }
}

/// One key; `None` if the pointer is NULL.
///
/// # Safety
/// As for [`keys_at`], unless NULL.
#[inline(always)]
pub(super) unsafe fn key_at<'a>(key: *const bloomline_bytes) -> Option<&'a Key> {
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    unsafe { shared(key.cast::<Key>()) }
}

/// An array of keys; `None` if it is NULL with a count.
///
/// # Safety
/// As for `boundary::slice`, and each key that is not NULL points at `len` initialized
/// bytes that nobody writes during `'a`.
pub(super) unsafe fn keys_at<'a>(keys: *const bloomline_bytes, count: usize) -> Option<&'a [Key]> {
    // SAFETY: the same contract; a `Key` is a `bloomline_bytes` in memory.
    unsafe { slice(keys.cast::<Key>(), count) }
}

/// Writes `count` hashes to `out`, made a stack buffer at a time by `hash(range, buffer)`.
///
/// Through the buffer `out` may be uninitialized, and may be the very array that the
/// hashes are made from.
///
/// # Safety
/// `out` has room for `count` hashes that nobody else touches.
pub(super) unsafe fn write_hashes(
    out: *mut u64,
    count: usize,
    mut hash: impl FnMut(std::ops::Range<usize>, &mut [u64]),
) {
    let mut buffer = [0; 64];
    let mut done = 0;
    while done < count {
        let now = (count - done).min(buffer.len());
        hash(done..done + now, &mut buffer[..now]);
        // SAFETY: `done + now <= count`, and the caller vouches for that much room.
        unsafe { ptr::copy_nonoverlapping(buffer.as_ptr(), out.add(done), now) };
        done += now;
    }
}

exports! {
/// bloomline_random_seed() writes a random number of the operating system to 'out': a seed for a
/// filter whose keys an attacker can choose. With a known seed, such as 0, an attacker finds false
/// positives, and keys that all fall on one line, within milliseconds.
///
/// A seed stops keys chosen beforehand. It does not stop an attacker who can probe the filter and
/// see the answers, or read its bytes, which hold the seed: XXH3 is not a cryptographic hash.
/// Against that, hash keys by SipHash with a secret key, and use the functions that take hashes.
///
/// Errors: BLOOMLINE_ERR_IO if the system has no random numbers.
fn bloomline_random_seed(out: *mut u64) -> bloomline_status {
    write_result(&(), out, |()| Ok(crate::hash::random_seed()?))
}

/// bloomline_hash() returns the hash of the 'len' bytes at 'key': XXH3-64 with 'seed', on every
/// CPU. A filter with that seed uses it for its keys.
fn bloomline_hash(key: *const c_void, len: usize, seed: u64) -> u64 {
    crate::hash::hash(key_or_empty(key, len), seed)
}

/// bloomline_hash_u64() returns the hash of an integer key: that of its 8 bytes in little-endian
/// order, on every CPU. Hash integers before you pass them to functions that take hashes: the line
/// and bits of a key depend on all 64 bits of its hash. Small integers leave most of them zero.
fn bloomline_hash_u64(key: u64, seed: u64) -> u64 {
    crate::hash::hash_u64(key, seed)
}

/// bloomline_hash_batch() writes the hashes of 'n' keys to 'out', in order: those of
/// bloomline_hash(). bloomline_hash_u64_batch() does so for integers as bloomline_hash_u64(); 'out'
/// may then be the array of integers itself. bloomline_hash_u32_batch() hashes integers by their 4
/// bytes in little-endian order, so a number has another hash there than as 8 bytes. They do
/// nothing if either array is NULL.
fn bloomline_hash_batch(keys: *const bloomline_bytes, n: usize, seed: u64, out: *mut u64) {
    let Some(keys) = keys_at(keys, n) else {
        return;
    };
    if out.is_null() || !out.is_aligned() {
        return;
    }
    write_hashes(out, n, |range, buffer| {
        crate::hash::hash_batch(&keys[range], seed, buffer);
    });
}
fn bloomline_hash_u64_batch(keys: *const u64, n: usize, seed: u64, out: *mut u64) {
    hash_integers(keys, n, seed, out)
}
fn bloomline_hash_u32_batch(keys: *const u32, n: usize, seed: u64, out: *mut u64) {
    hash_integers(keys, n, seed, out)
}
}

/// Hashes an array of integers, which may be `out`.
///
/// # Safety
/// `keys` as for `boundary::slice`, `out` as for [`write_hashes`]; the same memory only if
/// integers are as long as hashes.
unsafe fn hash_integers<K: crate::Key>(keys: *const K, n: usize, seed: u64, out: *mut u64) {
    // Looked at as a slice one buffer at a time, since `out` may be the same memory.
    // Only the pointer is checked here, the slice is gone before any write.
    // SAFETY: the same contract.
    if unsafe { slice(keys, n) }.is_none() || !is_there(out.cast_const()) {
        return;
    }
    // SAFETY: the same contract; each part of the array is read before the same part is written.
    unsafe {
        write_hashes(out, n, |range, buffer| {
            let keys = std::slice::from_raw_parts(keys.add(range.start), range.len());
            crate::hash::hash_batch(keys, seed, buffer);
        });
    }
}
