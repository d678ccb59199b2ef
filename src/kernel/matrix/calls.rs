//! What each backend does for a matrix: the code of `words` and `transpose`, compiled with its instructions.

use super::super::backend::Backend;
#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::batch::{Groups, batch};
#[cfg(not(target_arch = "x86_64"))]
use super::pair;
use super::transpose::{self, Plain};
use super::words::{Asked, WIDE, Word, and, any, one, wide};

/// The AND of the rows that the key of a hash reads in a group. Writes it to `out`, if that is not NULL,
/// as words in the order of the row; counts its bits. If `live` is not NULL, only columns whose bit is
/// set there count. Bits behind the last column never do.
///
/// # Safety of the function
/// This CPU runs the backend. `group` is where the words asked for begin in the first row of a whole
/// group, and each row has them; there are as many words in `live` and `out`, unless they are NULL.
pub(super) type And =
    unsafe fn(asked: &Asked, group: *const u8, hash: u64, live: *const u64, out: *mut u64) -> usize;

/// [`And`] for many hashes: writes the answers to one behind those to another, and counts them all. If the
/// groups are `far`, it prefetches.
///
/// # Safety of the function
/// This CPU runs the backend. All groups are whole. There are as many words in `live` as a row has, unless it is
/// NULL, and in `out` as rows of as many hashes have.
pub(super) type Batch = unsafe fn(
    asked: &Asked,
    groups: Groups,
    hashes: &[u64],
    far: bool,
    live: *const u64,
    out: &mut [u64],
) -> usize;

/// Whether any bit of the AND of rows is set: as [`And`], without `out`.
pub(super) type Any =
    unsafe fn(asked: &Asked, group: *const u8, hash: u64, live: *const u64) -> bool;

/// What a backend does for a matrix.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    /// For rows of one word.
    one: And,
    and: And,
    /// For rows of many cache lines that the caches do not hold.
    wide: And,
    pub(super) any: Any,
    pub(super) batch: Batch,
    #[cfg(feature = "matrix")]
    pub(crate) transpose: transpose::Calls,
}

impl Calls {
    /// For rows of which so many words are asked for.
    pub(super) fn and(&self, words: usize) -> And {
        if words == 1 { self.one } else { self.and }
    }

    /// The same of whole rows, which lie in memory if they are far.
    pub(super) fn whole(&self, words: usize, far: bool) -> And {
        if far && words >= WIDE { self.wide } else { self.and(words) }
    }
}

/// The functions of a backend, by the type that does the work.
macro_rules! calls {
    ($words:ty, $transpose:ty $(, $attribute:meta)*) => {{
        $(#[$attribute])*
        unsafe fn and_by(
            asked: &Asked,
            group: *const u8,
            hash: u64,
            live: *const u64,
            out: *mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { and::<$words>(asked, group, hash, live, out) }
        }
        $(#[$attribute])*
        unsafe fn wide_by(
            asked: &Asked,
            group: *const u8,
            hash: u64,
            live: *const u64,
            out: *mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { wide::<$words>(asked, group, hash, live, out) }
        }
        $(#[$attribute])*
        unsafe fn one_by(
            asked: &Asked,
            group: *const u8,
            hash: u64,
            live: *const u64,
            out: *mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { one::<$words>(asked, group, hash, live, out) }
        }
        $(#[$attribute])*
        unsafe fn any_by(
            asked: &Asked,
            group: *const u8,
            hash: u64,
            live: *const u64,
        ) -> bool {
            // SAFETY: the caller's promise, handed on.
            unsafe { any::<$words>(asked, group, hash, live) }
        }
        $(#[$attribute])*
        unsafe fn batch_by(
            asked: &Asked,
            groups: Groups,
            hashes: &[u64],
            far: bool,
            live: *const u64,
            out: &mut [u64],
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { batch::<$words>(asked, groups, hashes, far, live, out) }
        }
        Calls {
            one: one_by,
            and: and_by,
            wide: wide_by,
            any: any_by,
            batch: batch_by,
            #[cfg(feature = "matrix")]
            transpose: transpose::calls!($transpose $(, $attribute)*),
        }
    }};
}

/// Those of each backend. Without matrices, the columns of one have plain code.
pub(super) static CALLS: [Calls; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, calls!(Word, Plain)),
    #[cfg(not(target_arch = "x86_64"))]
    (Backend::Portable, calls!(pair::Pair, Plain)),
    #[cfg(all(feature = "matrix", target_arch = "x86_64"))]
    (Backend::Avx2, calls!(avx2::Avx2, avx2::Avx2, target_feature(enable = "avx2,bmi2,popcnt"))),
    #[cfg(all(feature = "matrix", target_arch = "x86_64"))]
    (
        Backend::Avx512,
        calls!(
            avx512::Avx512,
            avx512::Avx512,
            target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,gfni,popcnt"
            )
        ),
    ),
]);
