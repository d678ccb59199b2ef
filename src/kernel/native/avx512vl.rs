//! Single keys of the `avx512` backend: registers of 256 bits.

use super::super::batch::Ops;
use super::super::lines::Lines;
use super::super::single::Single;
use super::halves;
use super::scalar::all_rows;

/// Half a line in a register.
pub(in crate::kernel) struct Avx512Vl<const CLASS: u8>;

impl<const CLASS: u8> Ops for Avx512Vl<CLASS> {
    const ROWS: Option<usize> = Some(halves::tag::<CLASS>());

    #[inline(always)]
    unsafe fn insert(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::insert::<CLASS, true>(lines.line(hash), all_rows(lines.k()), hash) }
    }

    #[inline(always)]
    unsafe fn contains(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::contains::<CLASS, true>(lines.line(hash), all_rows(lines.k()), hash) }
    }

    #[inline(always)]
    unsafe fn contains_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::contains_one::<CLASS, true>(single, hash) }
    }

    #[inline(always)]
    unsafe fn insert_one(single: &Single<'_>, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { halves::insert_one::<CLASS, true>(single, hash) }
    }
}
