//! Hashes of those integers of a column whose rows are picked: values go from memory into lanes one by one,
//! as fast as into an array, and are hashed there. Only with AVX-512: by AVX2 that takes longer than an array.

use super::super::choice::Kernels;
use super::RowNumber;
use crate::hash::KeyHash;
use crate::key::Integers;
use std::slice::from_raw_parts;

/// Writes the XXH3-64 hashes of the values of so many rows.
///
/// # Safety of the functions
/// This CPU runs the backend. There are as many rows as hashes, and a value for each row.
#[derive(Clone, Copy)]
pub struct Picked<R: 'static> {
    of_u64: unsafe fn(values: &[u64], rows: &[R], seed: u64, out: &mut [u64]),
    of_u32: unsafe fn(values: &[u32], rows: &[R], seed: u64, out: &mut [u64]),
}

/// Hashes the values of these rows. False, and nothing is written, where that is not faster than by
/// putting them side by side first.
///
/// # Panics
/// If the column lacks a row; if `out` is not as long as `rows`.
pub(crate) fn hash_picked<R: RowNumber>(
    hash: KeyHash,
    column: Integers<'_>,
    rows: &[R],
    out: &mut [u64],
) -> bool {
    let (KeyHash::Xxh3(seed), Ok(kernels)) = (hash, Kernels::active()) else { return false };
    hash_by(kernels, seed, column, rows, out)
}

/// The same by a backend, of XXH3-64.
pub(super) fn hash_by<R: RowNumber>(
    kernels: Kernels,
    seed: u64,
    column: Integers<'_>,
    rows: &[R],
    out: &mut [u64],
) -> bool {
    let Some(picked) = R::picked(kernels.number()) else { return false };
    assert_eq!(rows.len(), out.len(), "one output per row");
    let last = super::last(kernels, rows);
    let has_all = |len: usize| last.is_none_or(|last| last.number() < len);
    let of_u64 = |values: &[u64], out: &mut [u64]| {
        assert!(has_all(values.len()), "a value for each row");
        // SAFETY: this CPU runs the backend, since its kernels exist; the rest was checked above.
        unsafe { (picked.of_u64)(values, rows, seed, out) }
    };
    let of_u32 = |values: &[u32], out: &mut [u64]| {
        assert!(has_all(values.len()), "a value for each row");
        // SAFETY: as above.
        unsafe { (picked.of_u32)(values, rows, seed, out) }
    };
    match column {
        Integers::U32(values) => of_u32(values, out),
        Integers::U64(values) => of_u64(values, out),
        Integers::I32(values) => {
            // SAFETY: the same integers, without a sign; of one size and alignment.
            of_u32(unsafe { from_raw_parts(values.as_ptr().cast(), values.len()) }, out)
        }
        Integers::I64(values) => {
            // SAFETY: as above.
            of_u64(unsafe { from_raw_parts(values.as_ptr().cast(), values.len()) }, out)
        }
    }
    true
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx512 {
    use super::super::number::Number;
    use super::Picked;
    use crate::kernel::hashes::avx512::{hashes, start, twice};
    use std::arch::x86_64::*;

    /// Values in a register.
    const AT_ONCE: usize = 8;

    macro_rules! picked {
        ($name:ident, $value:ident, $len:literal, $words:ident) => {
            /// # Safety
            /// As for [`Picked`].
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            unsafe fn $name<R: Number>(values: &[$value], rows: &[R], seed: u64, out: &mut [u64]) {
                let (flip, len) = start(seed, $len);
                let (eights, rest) = rows.as_chunks::<AT_ONCE>();
                let mut to = out.as_mut_ptr().cast::<i64>();
                // SAFETY: the caller's promise: there is a value for each row, and room for its hash.
                unsafe {
                    for eight in eights {
                        _mm512_storeu_epi64(to, hashes($words(values, eight), flip, len));
                        to = to.add(AT_ONCE);
                    }
                    if let Some(&first) = rest.first() {
                        let mut eight = [first; AT_ONCE];
                        eight[..rest.len()].copy_from_slice(rest);
                        let last = ((1_u32 << rest.len()) - 1) as __mmask8;
                        let hashes = hashes($words(values, &eight), flip, len);
                        _mm512_mask_storeu_epi64(to, last, hashes);
                    }
                }
            }
        };
    }

    picked!(of_u64, u64, 8, words_of_u64);
    picked!(of_u32, u32, 4, words_of_u32);

    impl<R: Number> Picked<R> {
        pub(in super::super) const AVX512: Picked<R> =
            Picked { of_u64: of_u64::<R>, of_u32: of_u32::<R> };
    }

    /// The values of these rows, a lane for each. Written out: an array of them would go through memory, in
    /// pieces that are not one load then.
    macro_rules! lanes {
        ($set:ident, $values:ident, $rows:ident as $lane:ident: $($i:literal),+) => {
            $set($(*$values.get_unchecked($rows[$i].number()) as $lane),+)
        };
    }

    /// # Safety
    /// There is a value for each row.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn words_of_u64<R: Number>(values: &[u64], rows: &[R; AT_ONCE]) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            _mm512_rol_epi64::<32>(
                lanes!(_mm512_setr_epi64, values, rows as i64: 0, 1, 2, 3, 4, 5, 6, 7),
            )
        }
    }

    /// # Safety
    /// There is a value for each row.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn words_of_u32<R: Number>(values: &[u32], rows: &[R; AT_ONCE]) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { twice(lanes!(_mm256_setr_epi32, values, rows as i32: 0, 1, 2, 3, 4, 5, 6, 7)) }
    }
}
