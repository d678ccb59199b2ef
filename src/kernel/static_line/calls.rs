//! The functions of a backend that are jumped to, for one key and for a few: so the code before them stays
//! short.

/// These functions, each compiled with these attributes. Nearly all are cold: those of bumped keys because they
/// seldom are, and the code before them is laid out for the others; those of a few keys because nothing else keeps
/// the compiler from inlining a function with more instructions than the one that names it.
macro_rules! calls {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn any_rows(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::any_rows::<Self>(single, hash) }
        }

        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn of_class<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::levels::first::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn other_rows<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::other_rows::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn bumped<const ROWS: u32>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::bumped::<ROWS, Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn third(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::one_key::third::<Self>(single, hash) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn some_keys<const ROWS: u32, const N: usize>(
            single: &Single<'_>,
            hashes: *const u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe { super::few_keys::some_keys::<ROWS, N, Self>(single, hashes, word) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn keys_from_bumped<const ROWS: u32, const LAST: usize>(
            single: &Single<'_>,
            hashes: *const u64,
            hits: u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                super::few_keys::keys_from_bumped::<ROWS, LAST, Self>(single, hashes, hits, word)
            }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_keys<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise: so many are there.
            unsafe {
                let hashes = std::slice::from_raw_parts(hashes, count);
                super::few_keys::few_keys::<ROWS, Self>(single, hashes, word)
            }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn one_by_one<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe { super::few_keys::one_by_one::<ROWS, Self>(single, hashes, count, word) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_of_other_rows<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe { super::few_keys::few_of_other_rows::<ROWS, Self>(single, hashes, count, word) }
        }

        $(#[$attribute])*
        #[cold]
        #[inline(never)]
        unsafe extern "C" fn few_bumped<const ROWS: u32>(
            single: &Single<'_>,
            hashes: *const u64,
            bumped: u64,
            hits: u64,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                super::few_keys::few_bumped::<ROWS, Self>(single, hashes, bumped, hits, word)
            }
        }
    };
}
pub(super) use calls;
