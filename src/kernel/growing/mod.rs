//! The lines of `layouts/growing.rs` on the backends.
//!
//! `find` probes a line, `edit` inserts and removes, `enter` inserts into a chain of them, `whole` takes lines
//! apart and puts them together, and `crowded` inserts by that. They are the same code on all backends but for
//! `select`, which says where the n-th 1 of a word is. `place` finds the line of a hash, `store` keeps lines in
//! chunks, `few` has room for the values of some lines, `single` finds the home of one key and asks it, in one
//! function. `shared` has the lines that threads read beside a writer, `sequence` the numbers by which they see
//! changes.
//! `splice` moves lines to another width without taking out their values, `moving` where that can be done.
//! `width` has what follows from the width of remainders. `batch` probes many lines, `avx2_find`
//! four at once and `avx512` eight; `avx512_find` probes one without a search, `avx512_one` for one key.
//! `avx512_whole` is `whole` with all remainders of `avx512_pack` at once. `avx2` and `avx512_edit` move remainders.
//! `tiles` probes many keys of a filter, wherever its lines are; `spans` are those of an encoded one. `regions` has
//! what `avx512_regions` finds the lines of eight keys by. `common` has the prefixes of a hash.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_find;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_edit;
#[cfg(target_arch = "x86_64")]
mod avx512_find;
#[cfg(target_arch = "x86_64")]
mod avx512_one;
#[cfg(target_arch = "x86_64")]
mod avx512_pack;
#[cfg(target_arch = "x86_64")]
mod avx512_regions;
#[cfg(target_arch = "x86_64")]
mod avx512_whole;
mod batch;
mod common;
mod crowded;
mod edit;
mod enter;
#[cfg(test)]
mod enter_tests;
pub(crate) mod few;
mod find;
pub(crate) mod moving;
pub(crate) mod place;
pub(crate) mod regions;
#[cfg(test)]
mod regions_tests;
mod select;
pub mod sequence;
pub(crate) mod shared;
pub(crate) mod single;
pub(crate) mod spans;
mod splice;
#[cfg(test)]
mod splice_tests;
mod store;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;
#[cfg(test)]
mod tiles_tests;
mod whole;
mod width;

use super::backend::Backend;
use super::choice::Kernels;
use super::tuning;
use crate::os::spare::Spare;

pub(crate) use crate::layouts::growing::Found;
pub(crate) use crate::line::Line;
pub(crate) use batch::Answers;
use crowded::{Close, Open};
#[cfg(test)]
use edit::{first, len};
pub(crate) use edit::{goes_on, last, set_goes_on};
pub(crate) use enter::{Entered, MOST_COPIES};
use enter::{FAR, NEAR, Out};
use regions::Regions;
use splice::{Moved, Task};
use store::Lines;
pub(crate) use store::SPARE;
pub(crate) use whole::OPENED;

/// Keys whose homes are found at once.
const EIGHT: usize = 8;

/// What a backend does for a line, whose words are in the CPU's byte order. All panic if `r`, the width of
/// remainders, is above 54. Damaged lines give some answer.
///
/// # Safety of the functions
/// This CPU runs the backend.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    find: unsafe fn(&Line, i64, u32) -> Found,
    find_mixed: unsafe fn(&Line, i64, u32) -> Found,
    count: unsafe fn(&Line, i64, u32) -> u32,
    insert: unsafe fn(&mut Line, i64, u32) -> bool,
    remove: unsafe fn(&mut Line, i64, u32) -> bool,
    find_many: unsafe fn(&[&Line], &[i64], &[u32]) -> Answers,
    find_mixed_many: unsafe fn(&[&Line], &[i64], &[u32]) -> Answers,
    locate: Option<Locate>,
    take_last: unsafe fn(&mut Line, u32) -> Option<i64>,
    enter: Enter,
    enter_mixed: Enter,
    open: Open,
    close: Close,
    splice: Splice,
}

/// Of the regions of a filter and hashes, eight at once: the line of each, its value there, and the width of
/// remainders, or those of the line behind it. Returns which have a line.
type Locate = for<'a> unsafe fn(
    &Regions<'a>,
    &[[u64; EIGHT]],
    &mut [[&'a Line; EIGHT]],
    &mut [[i64; EIGHT]],
    &mut [[u32; EIGHT]],
    bool,
) -> u64;
/// Of a chain, by the number of a line, a value there, the width of remainders, and by how much a value is
/// lower in the next line.
type Enter = unsafe fn(&mut Lines, usize, i64, u32, i64) -> Entered;
/// Of old lines and new ones, what is to be moved, and whether odd values are counted.
type Splice = unsafe fn(&Lines, &mut Lines, &Task, bool, &mut Spare) -> Option<Moved>;

impl Kernels {
    /// What the backend does for the lines of growing filters.
    pub(crate) fn of_growing(self) -> &'static Calls {
        if tuning::pdep_is_slow() {
            // No such core has AVX-512.
            return self.row_of(&WITHOUT_PDEP);
        }
        self.row_of(&CALLS)
    }
}

/// Finds the homes of eight keys at once.
#[derive(Clone, Copy)]
pub(crate) struct Eight(Locate);

impl Eight {
    /// Writes the line of each, its value there, and the width of remainders; if `behind`, those of the line behind
    /// its home. Returns which have a line. Those of the others are empty.
    ///
    /// # Panics
    /// If there are more than 64 keys, or more than places.
    #[inline(always)]
    pub(crate) fn locate<'a>(
        self,
        regions: &Regions<'a>,
        hashes: &[[u64; EIGHT]],
        lines: &mut [[&'a Line; EIGHT]],
        values: &mut [[i64; EIGHT]],
        widths: &mut [[u32; EIGHT]],
        behind: bool,
    ) -> u64 {
        // SAFETY: it is made of the calls of a backend of this CPU.
        unsafe { (self.0)(regions, hashes, lines, values, widths, behind) }
    }
}

impl Calls {
    /// Where to look for a value.
    #[inline(always)]
    pub(crate) fn find(&self, line: &Line, value: i64, r: u32) -> Found {
        // SAFETY: the calls are those of a backend of this CPU.
        unsafe { (self.find)(line, value, r) }
    }

    /// Where to look for the prefixes of a value of the full length.
    #[inline(always)]
    pub(crate) fn find_mixed(&self, line: &Line, value: i64, r: u32) -> Found {
        // SAFETY: as in `find`.
        unsafe { (self.find_mixed)(line, value, r) }
    }

    /// As [`Calls::find`], for up to 64 lines, with a value and a width of remainders for each.
    ///
    /// # Panics
    /// Unless there are as many of each, at most 64.
    #[inline(always)]
    pub(crate) fn find_many(&self, lines: &[&Line], values: &[i64], r: &[u32]) -> Answers {
        assert!(lines.len() == values.len() && lines.len() == r.len() && r.len() <= 64, "a tile");
        // SAFETY: as in `find`.
        unsafe { (self.find_many)(lines, values, r) }
    }

    /// As [`Calls::find_mixed`], for up to 64 lines, as [`Calls::find_many`].
    ///
    /// # Panics
    /// Unless there are as many of each, at most 64.
    #[inline(always)]
    pub(crate) fn find_mixed_many(&self, lines: &[&Line], values: &[i64], r: &[u32]) -> Answers {
        assert!(lines.len() == values.len() && lines.len() == r.len() && r.len() <= 64, "a tile");
        // SAFETY: as in `find`.
        unsafe { (self.find_mixed_many)(lines, values, r) }
    }

    /// What finds the homes of eight keys at once, if the backend has that.
    #[inline(always)]
    pub(crate) fn eight(&self) -> Option<Eight> {
        self.locate.map(Eight)
    }

    /// How often a line has a value.
    #[inline(always)]
    pub(crate) fn count(&self, line: &Line, value: i64, r: u32) -> u32 {
        // SAFETY: as in `find`.
        unsafe { (self.count)(line, value, r) }
    }

    /// Inserts a value. False if there is no room: the line is unchanged.
    #[inline(always)]
    pub(crate) fn insert(&self, line: &mut Line, value: i64, r: u32) -> bool {
        // SAFETY: as in `find`.
        unsafe { (self.insert)(line, value, r) }
    }

    /// Removes a value, once. False if the line does not have it.
    #[inline(always)]
    pub(crate) fn remove(&self, line: &mut Line, value: i64, r: u32) -> bool {
        // SAFETY: as in `find`.
        unsafe { (self.remove)(line, value, r) }
    }

    /// Takes out the last value.
    #[inline(always)]
    pub(crate) fn take_last(&self, line: &mut Line, r: u32) -> Option<i64> {
        // SAFETY: as in `find`.
        unsafe { (self.take_last)(line, r) }
    }

    /// Inserts a value into the chain of lines that begins with its home, in which a value is lower by
    /// `step` from one line to the next.
    #[inline(always)]
    pub(crate) fn enter(
        &self,
        lines: &mut Lines,
        home: usize,
        value: i64,
        r: u32,
        step: i64,
    ) -> Entered {
        // SAFETY: as in `find`.
        unsafe { (self.enter)(lines, home, value, r, step) }
    }

    /// As [`Calls::enter`], where a value is there if a prefix of it is.
    #[inline(always)]
    pub(crate) fn enter_mixed(
        &self,
        lines: &mut Lines,
        home: usize,
        value: i64,
        r: u32,
        step: i64,
    ) -> Entered {
        // SAFETY: as in `find`.
        unsafe { (self.enter_mixed)(lines, home, value, r, step) }
    }

    /// Writes the values of a line to `out`, in order, each with `start` added. Returns how many there
    /// are.
    #[inline(always)]
    pub(crate) fn open(&self, line: &Line, r: u32, start: u64, out: &mut [u64; OPENED]) -> usize {
        // SAFETY: as in `find`.
        unsafe { (self.open)(line, r, start, whole::room(out)) }
    }

    /// Makes a line of the first of these ascending values, from each of which `start` is taken: those
    /// below `limit`, and as many as fit. Returns the line, and how many it has.
    #[inline(always)]
    pub(crate) fn close(
        &self,
        values: &[u64],
        start: u64,
        limit: i64,
        goes_on: bool,
        r: u32,
    ) -> (Line, usize) {
        // SAFETY: as in `find`.
        unsafe { (self.close)(values, start, limit, goes_on, r) }
    }
}

/// The functions of a backend, by how it selects.
macro_rules! calls {
    ($select:ty, $many:expr, $mixed_many:expr, $locate:expr, $open:expr, $close:expr $(, $attribute:meta)?) => {{
        $(#[$attribute])?
        unsafe fn find(line: &Line, value: i64, r: u32) -> Found {
            // SAFETY: the caller's promise.
            unsafe { find::find::<$select, false>(line, value, r) }
        }
        $(#[$attribute])?
        unsafe fn find_mixed(line: &Line, value: i64, r: u32) -> Found {
            // SAFETY: the caller's promise.
            unsafe { find::find::<$select, true>(line, value, r) }
        }
        $(#[$attribute])?
        unsafe fn count(line: &Line, value: i64, r: u32) -> u32 {
            // SAFETY: the caller's promise.
            unsafe { find::count::<$select>(line, value, r) }
        }
        $(#[$attribute])?
        unsafe fn insert(line: &mut Line, value: i64, r: u32) -> bool {
            // SAFETY: the caller's promise.
            unsafe { edit::insert::<$select>(line, value, r) }
        }
        $(#[$attribute])?
        unsafe fn remove(line: &mut Line, value: i64, r: u32) -> bool {
            // SAFETY: the caller's promise.
            unsafe { edit::remove::<$select>(line, value, r) }
        }
        $(#[$attribute])?
        unsafe fn take_last(line: &mut Line, r: u32) -> Option<i64> {
            edit::take_last(line, r)
        }
        #[inline(never)]
        $(#[$attribute])?
        unsafe fn near(lines: &mut Lines, at: usize, out: Out, r: u32, step: i64) -> bool {
            // SAFETY: the caller's promise.
            unsafe {
                enter::carry::<$select, NEAR>(lines, at, out, (r, step), far, crowded)
            }
        }
        #[cold]
        #[inline(never)]
        $(#[$attribute])?
        unsafe fn far(lines: &mut Lines, at: usize, out: Out, r: u32, step: i64) -> bool {
            let no_further = |_: &mut Lines, _, _, _, _| false;
            // SAFETY: the caller's promise.
            unsafe {
                enter::carry::<$select, FAR>(lines, at, out, (r, step), no_further, crowded)
            }
        }
        #[cold]
        #[inline(never)]
        $(#[$attribute])?
        unsafe fn crowded(
            lines: &mut Lines,
            at: usize,
            out: Out,
            r: u32,
            step: i64,
            most: usize,
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe { enter::crowded(lines, at, out, (r, step), most, ($open, $close)) }
        }
        $(#[$attribute])?
        unsafe fn enter(
            lines: &mut Lines,
            home: usize,
            value: i64,
            r: u32,
            step: i64,
        ) -> Entered {
            // SAFETY: the caller's promise.
            unsafe { enter::enter::<$select, false>(lines, home, value, r, step, (near, crowded)) }
        }
        $(#[$attribute])?
        unsafe fn enter_mixed(
            lines: &mut Lines,
            home: usize,
            value: i64,
            r: u32,
            step: i64,
        ) -> Entered {
            // SAFETY: the caller's promise.
            unsafe { enter::enter::<$select, true>(lines, home, value, r, step, (near, crowded)) }
        }
        $(#[$attribute])?
        unsafe fn splice(
            old: &Lines,
            fresh: &mut Lines,
            task: &Task,
            odd: bool,
            spare: &mut Spare,
        ) -> Option<Moved> {
            // SAFETY: the caller's promise.
            unsafe { splice::splice::<$select>(old, fresh, task, odd, spare) }
        }
        Calls {
            find,
            find_mixed,
            find_many: $many,
            find_mixed_many: $mixed_many,
            locate: $locate,
            count,
            insert,
            remove,
            take_last,
            enter,
            enter_mixed,
            open: $open,
            close: $close,
            splice,
        }
    }};
}

/// Functions for many lines, one after the other.
macro_rules! many {
    ($name:ident, $mixed_name:ident, $select:ty $(, $attribute:meta)?) => {
        $(#[$attribute])?
        unsafe fn $name(lines: &[&Line], values: &[i64], r: &[u32]) -> Answers {
            // SAFETY: the caller's promise.
            unsafe { batch::each::<$select, false>(lines, values, r) }
        }
        $(#[$attribute])?
        unsafe fn $mixed_name(lines: &[&Line], values: &[i64], r: &[u32]) -> Answers {
            // SAFETY: the caller's promise.
            unsafe { batch::each::<$select, true>(lines, values, r) }
        }
    };
}

many!(by_bytes, mixed_by_bytes, select::Bytes);

#[cfg(target_arch = "x86_64")]
many!(
    by_bytes_avx2,
    mixed_by_bytes_avx2,
    select::Bytes,
    target_feature(enable = "avx2,bmi1,bmi2,popcnt")
);

const SCALAR: Calls =
    calls!(select::Bytes, by_bytes, mixed_by_bytes, None, whole::open, whole::close);

/// Those of each backend where the instruction that spreads bits is slow.
static WITHOUT_PDEP: [Calls; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, SCALAR),
    #[cfg(target_arch = "x86_64")]
    (
        Backend::Avx2,
        calls!(
            select::Bytes,
            by_bytes_avx2,
            mixed_by_bytes_avx2,
            None,
            whole::open,
            whole::close,
            target_feature(enable = "avx2,bmi1,bmi2,popcnt")
        ),
    ),
    #[cfg(target_arch = "x86_64")]
    (Backend::Avx512, SCALAR),
]);

/// Those of each backend.
static CALLS: [Calls; Backend::ALL.len()] = Backend::table([
    (Backend::Scalar, SCALAR),
    #[cfg(target_arch = "x86_64")]
    (
        Backend::Avx2,
        calls!(
            select::Pdep,
            avx2_find::find_many::<false>,
            avx2_find::find_many::<true>,
            None,
            whole::open,
            whole::close,
            target_feature(enable = "avx2,bmi1,bmi2,popcnt")
        ),
    ),
    #[cfg(target_arch = "x86_64")]
    (
        Backend::Avx512,
        Calls {
            find: avx512_find::find::<false>,
            find_mixed: avx512_find::find::<true>,
            ..calls!(
                avx512_edit::Wide,
                avx512::find_many::<false>,
                avx512::find_many::<true>,
                Some(avx512_regions::locate),
                avx512_whole::open,
                avx512_whole::close,
                target_feature(
                    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt"
                )
            )
        },
    ),
]);
