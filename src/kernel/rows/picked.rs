//! Hashes of those integers of a column whose rows are picked: values go from memory into lanes one by one,
//! as fast as into an array, and are hashed there. Only with AVX-512: by AVX2 that takes longer than an array.

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

impl<R> Picked<R> {
    /// Hashes the values of these rows of a column.
    ///
    /// # Safety
    /// As for the functions.
    pub(super) unsafe fn hash(&self, column: Integers<'_>, rows: &[R], seed: u64, out: &mut [u64]) {
        // SAFETY: the caller's promise; integers without a sign are of the same size and alignment.
        unsafe {
            match column {
                Integers::U32(values) => (self.of_u32)(values, rows, seed, out),
                Integers::U64(values) => (self.of_u64)(values, rows, seed, out),
                Integers::I32(values) => {
                    let values = from_raw_parts(values.as_ptr().cast(), values.len());
                    (self.of_u32)(values, rows, seed, out)
                }
                Integers::I64(values) => {
                    let values = from_raw_parts(values.as_ptr().cast(), values.len());
                    (self.of_u64)(values, rows, seed, out)
                }
            }
        }
    }
}

/// How many rows a column has.
pub(super) fn rows_of(column: Integers<'_>) -> usize {
    match column {
        Integers::U32(values) => values.len(),
        Integers::I32(values) => values.len(),
        Integers::U64(values) => values.len(),
        Integers::I64(values) => values.len(),
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx512 {
    use super::super::number::Number;
    use super::Picked;
    use crate::kernel::hashes::avx512::{hashes, start, twice};
    use std::arch::x86_64::*;

    /// Values in a register.
    const LANES: usize = 8;

    macro_rules! picked {
        ($name:ident, $value:ident, $len:literal, $words:ident) => {
            /// # Safety
            /// As for [`Picked`].
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            unsafe fn $name<R: Number>(values: &[$value], rows: &[R], seed: u64, out: &mut [u64]) {
                let (flip, len) = start(seed, $len);
                let (eights, rest) = rows.as_chunks::<LANES>();
                let mut to = out.as_mut_ptr().cast::<i64>();
                // SAFETY: the caller's promise: there is a value for each row, and room for its hash.
                unsafe {
                    for eight in eights {
                        _mm512_storeu_epi64(to, hashes($words(values, eight), flip, len));
                        to = to.add(LANES);
                    }
                    if let Some(&first) = rest.first() {
                        let mut eight = [first; LANES];
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
    unsafe fn words_of_u64<R: Number>(values: &[u64], rows: &[R; LANES]) -> __m512i {
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
    unsafe fn words_of_u32<R: Number>(values: &[u32], rows: &[R; LANES]) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { twice(lanes!(_mm256_setr_epi32, values, rows as i32: 0, 1, 2, 3, 4, 5, 6, 7)) }
    }
}
