//! Kernels: a layout's operations on whole batches, one file per instruction set.
//!
//! * `batch` is the loop that all share, `prefetch` the hints and when they pay.
//! * `native`, `fast_local`, `cuckoo` and `static_line` are a layout each, `scattered` those whose bits lie
//!   anywhere. In a layout's folder `scalar`, `portable`, `avx2` and `avx512` each say how one
//!   line, and one block of 64 keys, is done.
//! * `few` answers a few keys by their bytes.
//! * `parallel` inserts with several threads.
//! * `shared` says what is probed: bytes that other threads may insert into; `atomic_line` is
//!   the step by which they do.
//! * `single` is one key at a time.
//! * `words` is an opened filter as C keeps it.
//! * `backend` has the names of the backends, `table` their kernels, `lines` what kernels know of a
//!   filter's lines.
//! * This file asks `detect` what the CPU has, once per process, and hands out a [`Kernel`]: a
//!   table of functions. Only the detection of an instruction set returns its kernel, which is the
//!   safety argument of all calls.
//!
//! To add a backend: a file with its [`batch::Ops`], a [`Backend`] variant, its kernels
//! in `Backend::kernels` (`table`). `CONTRIBUTING.md` has the steps.
#![allow(unsafe_code)]

pub mod atomic_line;
mod backend;
mod batch;
mod cuckoo;
#[cfg(target_arch = "x86_64")]
mod detect;
mod fast_local;
mod few;
mod lines;
mod native;
mod parallel;
mod prefetch;
mod scattered;
mod shared;
mod single;
pub(crate) mod static_line;
mod table;
#[cfg(feature = "capi")]
mod words;

pub use backend::Backend;
use batch::Adjacent;
pub(crate) use batch::{ADJACENT, Hashes, Keys, RING, TILE};
#[cfg(feature = "capi")]
pub(crate) use fast_local::{ContainsKey, Others, contains_key};
pub(crate) use few::FewHashes;
#[cfg(feature = "capi")]
pub(crate) use few::hash_of;
use lines::Lines;
pub(crate) use parallel::threads_for;
pub use prefetch::Prefetch;
pub(crate) use prefetch::{FAR_VIEWS, KEY_BY_KEY, ahead, prefetch_all};
#[cfg(feature = "capi")]
pub(crate) use scattered::leveldb_contains;
pub(crate) use shared::Probed;
use single::Calls;
pub(crate) use single::{OwnLines, Single};
use table::Table;
#[cfg(feature = "capi")]
pub(crate) use words::{OfWords, STRIDE, Words};

use crate::bitmap::AnswerWords;
use crate::error::Error;
use crate::line::LINE_BYTES;
use crate::os::environment::{self, Setting};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a filter's bits lie in its bytes. The numbers go into a `bloomline_view` of C, which
/// lives no longer than the process: they may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The lines of `line.rs`.
    Native = 1,
    /// RocksDB's since format version 5: `layouts/fast_local.rs`.
    FastLocal = 2,
    /// RocksDB's before, with lines of 64 bytes; Pebble's.
    Legacy64 = 3,
    /// The same with lines of 128 bytes.
    Legacy128 = 4,
    /// The same with lines of 256 bytes.
    Legacy256 = 5,
    /// LevelDB's: bits anywhere.
    LevelDb = 6,
    /// The lines of `layouts/cuckoo.rs`; the bits of a fingerprint stand for k.
    Cuckoo = 7,
    /// The bits of `layouts/classic.rs`, anywhere.
    Classic = 8,
    /// The first level of `layouts/static_line.rs`; the others lie behind it. Rows and sizes of the
    /// levels stand for k, as `static_line::pack` has them.
    Static = 9,
}

/// The functions of a backend for a layout. It exists only if this CPU can run it.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    backend: Backend,
    layout: Layout,
    /// What a view of C keeps: the number of the layout, or of shared lines of that layout.
    #[cfg_attr(not(feature = "capi"), expect(dead_code))]
    number: u16,
    line_log2: u32,
    prefetch: fn(Lines, u64),
    /// For k below 8, for 8, up to 12 and above: all that a layout tells apart.
    calls: [Calls; 4],
    insert_few: unsafe fn(&mut [u8], u32, &[u64]),
    insert_batch: unsafe fn(Lines, Hashes<'_>, Prefetch),
    probe_batch: unsafe fn(Lines, Hashes<'_>, Prefetch, &mut [u64]) -> usize,
    absent: Absent,
}

/// [`Kernel::number`] of shared native lines, and of shared classic filters.
const SHARED_NATIVE: u16 = 10;
const SHARED_CLASSIC: u16 = 11;

/// In which of several lines keys lack bits: how the lines lie, the first of each key and of those
/// ahead, hashes, a byte for each key.
type Absent = unsafe fn(&Adjacent, &[usize], &[u64], &mut [[u8; 8]]);

/// A backend that this CPU can run: only detection makes it, so all its kernels may be called.
/// It is the backend's number in `Backend::ALL`, and in the tables.
#[derive(Clone, Copy)]
pub(crate) struct Kernels(usize);

/// One more than the number of the backend in use; 0 before the first use, and if there is none.
/// Threads that come first at once all choose, and choose the same. None waits, so no `fork` leaves
/// a child waiting for a thread that it does not have.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

impl Kernels {
    /// The kernel of a layout. Where the compiler knows the layout, only that one is linked.
    #[inline(always)]
    pub(crate) fn of(self, layout: Layout) -> &'static Kernel {
        let table = match layout {
            Layout::Native => &table::NATIVE,
            Layout::FastLocal => &table::FAST_LOCAL,
            Layout::Legacy64 => &table::LEGACY_64,
            Layout::Legacy128 => &table::LEGACY_128,
            Layout::Legacy256 => &table::LEGACY_256,
            Layout::LevelDb => &table::LEVEL_DB,
            Layout::Cuckoo => &table::CUCKOO,
            Layout::Classic => &table::CLASSIC,
            Layout::Static => &table::STATIC,
        };
        self.row_of(table)
    }

    /// The kernel of that [`Kernel::number`].
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn numbered(self, number: u16) -> Option<&'static Kernel> {
        table::ALL.get(usize::from(number).wrapping_sub(1)).map(|table| self.row_of(table))
    }

    #[inline(always)]
    fn row_of(self, table: &Table) -> &'static Kernel {
        // SAFETY: detection found it, and tables have a row for each backend that it can find.
        unsafe { table.get_unchecked(self.0) }
    }

    /// The kernels in use, chosen once per process.
    #[inline]
    pub(crate) fn active() -> Result<Kernels, Error> {
        Kernels::chosen().or_else(Kernels::choose).ok_or(Error::Backend)
    }

    /// The same if they have been chosen already, as for anything that has been opened.
    #[inline(always)]
    pub(crate) fn chosen() -> Option<Kernels> {
        // Only `choose` writes here, after detection. No other memory depends on it.
        match ACTIVE.load(Ordering::Relaxed) {
            0 => None,
            more => Some(Kernels(more - 1)),
        }
    }

    #[cold]
    fn choose() -> Option<Kernels> {
        if environment::PREFETCH.get() == Setting::Unknown {
            return None;
        }
        let kernels = match environment::BACKEND.get() {
            Setting::Unset => Backend::ALL.into_iter().rev().find_map(Backend::kernels),
            Setting::Value(index) => Backend::ALL[index].kernels(),
            Setting::Unknown => None,
        }?;
        ACTIVE.store(kernels.0 + 1, Ordering::Relaxed);
        Some(kernels)
    }
}

impl Kernel {
    /// The same functions as another backend's.
    const fn under(&self, backend: Backend) -> Kernel {
        Kernel { backend, ..*self }
    }

    /// The same functions for shared lines.
    const fn for_shared(&self) -> Kernel {
        let number = match self.layout {
            Layout::Classic => SHARED_CLASSIC,
            _ => SHARED_NATIVE,
        };
        Kernel { number, ..*self }
    }

    /// The kernel that probes the same filter while other threads insert into it: where no vector is
    /// needed, by atomic loads of aligned lanes. It does not insert.
    #[inline]
    pub(crate) fn shared(&'static self) -> &'static Kernel {
        match self.layout {
            Layout::Native => table::SHARED_NATIVE[self.backend as usize],
            Layout::Classic => table::SHARED_CLASSIC[self.backend as usize],
            _ => self,
        }
    }

    /// The kernel in use for a layout.
    #[inline]
    pub(crate) fn active(layout: Layout) -> Result<&'static Kernel, Error> {
        Ok(Kernels::active()?.of(layout))
    }

    /// A line of a filter with this k is `1 << line_log2(k)` bytes.
    #[inline(always)]
    fn line_log2(&self, k: u32) -> u32 {
        match self.layout {
            Layout::Static => static_line::line_log2(k),
            _ => self.line_log2,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// Sets the bits of many keys, in order.
    #[inline]
    pub(crate) fn insert_batch(&self, lines: &mut [u8], k: u32, hashes: Hashes<'_>) {
        match hashes {
            Hashes::Given(hashes) if hashes.len() <= KEY_BY_KEY => {
                // SAFETY: as in `insert`.
                unsafe { (self.insert_few)(lines, k, hashes) }
            }
            _ => self.insert_tiles(lines, k, hashes),
        }
    }

    #[inline(never)]
    fn insert_tiles(&self, lines: &mut [u8], k: u32, hashes: Hashes<'_>) {
        // Where lines lie across two cache lines, a key touches as many as in twice the bytes.
        let straddle = !lines.as_ptr().addr().is_multiple_of(LINE_BYTES);
        let plan = Prefetch::to_insert(lines.len() << u32::from(straddle));
        if Prefetch::all_to_insert(lines.len(), hashes.len()) {
            prefetch_all(lines);
        }
        self.insert_batch_with(lines, k, hashes, plan);
    }

    /// The same with a given prefetch, for the benchmarks.
    pub(crate) fn insert_batch_with(
        &self,
        lines: &mut [u8],
        k: u32,
        hashes: Hashes<'_>,
        plan: Prefetch,
    ) {
        let lines = Lines::writable(lines, k, self.line_log2(k));
        // SAFETY: as in `insert`.
        unsafe { (self.insert_batch)(lines, hashes, plan) }
    }

    /// Answers many keys: a bit each in `bitmap`, first in the lowest bit of the
    /// first word; counts the ones. The last word's unused bits become zero.
    ///
    /// # Panics
    /// If `bitmap` has not a word for each 64 keys.
    #[inline(never)]
    pub(crate) fn probe_batch(
        &self,
        lines: Probed<'_>,
        k: u32,
        hashes: Hashes<'_>,
        bitmap: &mut [u64],
    ) -> usize {
        let plan = match hashes.len() {
            ..=TILE => Prefetch::to_probe_few(lines.len()),
            _ => Prefetch::to_probe(lines.len()),
        };
        self.probe_batch_with(lines, k, hashes, plan, bitmap)
    }

    /// The same with a given prefetch, for the benchmarks.
    pub(crate) fn probe_batch_with(
        &self,
        lines: Probed<'_>,
        k: u32,
        hashes: Hashes<'_>,
        plan: Prefetch,
        bitmap: &mut [u64],
    ) -> usize {
        let bitmap = bitmap.words(hashes.len());
        let lines = self.readable(lines, k);
        // SAFETY: as in `contains`.
        unsafe { (self.probe_batch)(lines, hashes, plan, bitmap) }
    }

    /// Answers 1 to [`KEY_BY_KEY`] keys into a word, as [`Kernel::probe_batch`] does, without a tile.
    #[inline(always)]
    pub(crate) fn probe_few(
        &self,
        single: &Single<'_>,
        k: u32,
        hashes: &[u64],
        word: &mut u64,
    ) -> usize {
        let calls = self.calls(k);
        debug_assert!(
            single.is_nothing() || single.is_called_by(calls),
            "lines of this kernel and k"
        );
        // SAFETY: this CPU runs the kernel, since it exists, and `single` is of it and of k.
        unsafe { single.few(calls.few, hashes, word) }
    }

    /// For each key a byte of `out`: bit `j` is clear if line `j` of its native lines has all its
    /// bits, `j` below `count`, at most [`ADJACENT`]. The first line of key `i` begins at byte
    /// `first[i]`, the others `stride` bytes behind each other. Places past the hashes are
    /// prefetched.
    ///
    /// # Panics
    /// If there are fewer places or bytes of answers than hashes, or not all lines in `lines`.
    pub(crate) fn absent(
        &self,
        lines: &[u8],
        (count, stride): (usize, usize),
        k: u32,
        first: &[usize],
        hashes: &[u64],
        out: &mut [[u8; 8]],
    ) {
        debug_assert_eq!(self.layout, Layout::Native);
        let fits = (1..=ADJACENT).contains(&count) && first.len() >= hashes.len();
        assert!(fits, "a place for each hash");
        assert!(out.len() == hashes.len().div_ceil(8));
        let reach = (count - 1) * stride + LINE_BYTES;
        let last = lines.len().checked_sub(reach);
        let inside = first.iter().fold(true, |all, &at| all & (Some(at) <= last));
        assert!(inside, "lines of the filter");
        let base = lines.as_ptr();
        let lines = Adjacent { base, steps: std::array::from_fn(|j| j.min(count - 1) * stride), k };
        // SAFETY: as in `contains`; all lines were found to be in the slice.
        unsafe { (self.absent)(&lines, first, hashes, out) }
    }

    /// Asks for the line of a hash, or its lines, to be probed soon. Does nothing else.
    #[inline]
    pub(crate) fn prefetch(&self, lines: Probed<'_>, k: u32, hash: u64) {
        (self.prefetch)(self.readable(lines, k), hash);
    }

    #[inline(always)]
    fn readable(&self, lines: Probed<'_>, k: u32) -> Lines {
        Lines::new(lines.start().cast_mut(), lines.len(), k, self.line_log2(k))
    }
}
