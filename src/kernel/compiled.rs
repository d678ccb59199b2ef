//! What a kernel is made of: the shared code of a layout, compiled with the instructions of a backend.
//! `table` has the names that the macro takes.

/// The table of one backend: each function is the shared code compiled with the
/// backend's instructions, once for each of the types that do the work, by k: those of
/// `one` for single keys, those of `many` for batches.
macro_rules! kernel {
    ($backend:ident, $layout:ident, $(#[$attribute:meta])*
        one: $one:ty $(, $k1:pat => $ops1:ty)*; many: $first:ty $(, $k:pat => $ops:ty)*) => {{
        $(#[$attribute])*
        unsafe extern "C" fn insert<O: Ops>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise, handed on.
            unsafe { O::insert_one(single, hash) }
        }
        $(#[$attribute])*
        unsafe extern "C" fn contains<O: Ops>(single: &Single<'_>, hash: u64) -> bool {
            // SAFETY: the caller's promise, handed on.
            unsafe { O::contains_one(single, hash) }
        }
        $(#[$attribute])*
        unsafe extern "C" fn few<O: Ops>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                match count {
                    2.. if !O::SHORT => {
                        batch::probe_few::<O>(single, from_raw_parts(hashes, count), word)
                    }
                    _ if single.is_nothing() => batch::anything(count, word),
                    1 => O::probe_few(single, from_raw_parts(hashes, 1), word),
                    2 => O::probe_few(single, from_raw_parts(hashes, 2), word),
                    4 => O::probe_few(single, from_raw_parts(hashes, 4), word),
                    _ => more::<O>(single, hashes, count, word),
                }
            }
        }
        // Apart, so that one, two and four keys, each in straight code, save few registers.
        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn more<O: Ops>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise.
            unsafe {
                match count {
                    3 if O::THREE => O::probe_few(single, from_raw_parts(hashes, 3), word),
                    _ => many::<O>(single, hashes, count, word),
                }
            }
        }
        $(#[$attribute])*
        #[inline(never)]
        unsafe extern "C" fn many<O: Ops>(
            single: &Single<'_>,
            hashes: *const u64,
            count: usize,
            word: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise; those before do the others.
            unsafe {
                assert_unchecked(count > 2);
                batch::probe_few::<O>(single, from_raw_parts(hashes, count), word)
            }
        }
        #[cfg(feature = "capi")]
        $(#[$attribute])*
        unsafe extern "C" fn views<O: Ops>(
            views: *const Words,
            count: usize,
            hash: u64,
            contains: Call,
            answers: &mut u64,
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe { words::views::<O>(views, count, hash, contains, answers) }
        }
        const fn calls(k: u32) -> Calls {
            const fn of<O: Ops>() -> Calls {
                Calls {
                    insert: insert::<O>,
                    contains: contains::<O>,
                    few: few::<O>,
                    #[cfg(feature = "capi")]
                    views: views::<O>,
                    rows: O::ROWS,
                }
            }
            match k {
                $($k1 => of::<$ops1>(),)*
                _ => of::<$one>(),
            }
        }
        $(#[$attribute])*
        unsafe fn insert_few(lines: &mut [u8], k: u32, hashes: &[u64]) {
            let plan = Prefetch::to_insert(lines.len());
            let lines = Lines::writable(lines, k, <$first>::line_log2(k));
            // SAFETY: the caller's promise, handed on.
            unsafe {
                match lines.k() {
                    $($k1 => batch::insert_few::<$ops1>(lines, hashes, plan),)*
                    _ => batch::insert_few::<$one>(lines, hashes, plan),
                }
            }
        }
        $(#[$attribute])*
        unsafe fn insert_batch(lines: Lines, hashes: Hashes<'_>, plan: Prefetch) {
            // Code for 8 alone is worth its size where keys are probed, not here.
            // SAFETY: the caller's promise, handed on.
            unsafe {
                match if lines.k() == 8 { 7 } else { lines.k() } {
                    $($k => batch::insert::<$ops>(lines, hashes, plan),)*
                    _ => batch::insert::<$first>(lines, hashes, plan),
                }
            }
        }
        $(#[$attribute])*
        unsafe fn probe_batch(
            lines: Lines,
            hashes: Hashes<'_>,
            plan: Prefetch,
            bitmap: &mut [u64],
        ) -> usize {
            // SAFETY: the caller's promise, handed on.
            unsafe {
                match lines.k() {
                    $($k => <$ops>::probe_batch(lines, hashes, plan, bitmap),)*
                    _ => <$first>::probe_batch(lines, hashes, plan, bitmap),
                }
            }
        }
        const KERNEL: Kernel = Kernel {
            backend: Backend::$backend,
            layout: Layout::$layout,
            number: Layout::$layout as u16,
            reads: <$first as Ops>::READS,
            line_log2: <$first>::LINE_LOG2,
            prefetch: <$first>::prefetch::<INTO_L1>,
            calls: [calls(1), calls(8), calls(12), calls(16)],
            insert_few,
            insert_batch,
            probe_batch,
            composite: None,
        };
        &KERNEL
    }};
    ($backend:ident, $layout:ident, $(#[$attribute:meta])* $first:ty $(, $k:pat => $ops:ty)*) => {
        kernel!($backend, $layout, $(#[$attribute])*
            one: $first $(, $k => $ops)*; many: $first $(, $k => $ops)*)
    };
}
pub(super) use kernel;
