//! Rows of answers by compressing a register. (To memory the instruction is slow on Zen 4: so the
//! register is compressed, and stored whole.)

use std::arch::x86_64::*;

/// The lanes of the rows of a register that are there: all but at the end.
#[inline(always)]
fn there(len: usize, at: usize) -> u64 {
    if len - at >= 64 { u64::MAX } else { (1 << (len - at)) - 1 }
}

macro_rules! rows {
    ($select:ident, $refine:ident, $row:ident, $lanes:literal, $mask:ident, $feature:literal,
     $numbers:ident, $set:ident, $add:ident, $compress:ident, $load:ident, $store:ident, $store_all:ident) => {
        /// # Safety
        /// As for `Calls::select`.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $select(
            words: &[u64],
            len: usize,
            first: usize,
            to: *mut $row,
        ) -> usize {
            let mut rows = $add($numbers(), $set(first as _));
            let step = $set($lanes);
            let (mut at, mut done) = (to, 0);
            while done < len {
                let bits = (words[done / 64] >> (done % 64) & there(len, done)) as $mask;
                let left = $compress(bits, rows);
                let count = bits.count_ones() as usize;
                // SAFETY: at most as many rows are left as are done: there is room for the register, or
                // it is the last, of which only what is left is written.
                unsafe {
                    if len - done >= $lanes {
                        $store_all(at.cast(), left);
                    } else {
                        $store(at.cast(), there(count, 0) as $mask, left);
                    }
                    at = at.add(count);
                }
                rows = $add(rows, step);
                done += $lanes;
            }
            // SAFETY: both are of the caller's room.
            unsafe { at.offset_from(to) as usize }
        }

        /// # Safety
        /// As for `Calls::refine`.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn $refine(
            words: &[u64],
            len: usize,
            from: *const $row,
            to: *mut $row,
        ) -> usize {
            let (mut at, mut done) = (to, 0);
            while done < len {
                let bits = (words[done / 64] >> (done % 64) & there(len, done)) as $mask;
                let count = bits.count_ones() as usize;
                // SAFETY: only lanes that are there are loaded. What is stored ends before the rows that
                // come next: no more are left than are done.
                unsafe {
                    let rows = $load(there(len, done) as $mask, from.add(done).cast());
                    let left = $compress(bits, rows);
                    if len - done >= $lanes {
                        $store_all(at.cast(), left);
                    } else {
                        $store(at.cast(), there(count, 0) as $mask, left);
                    }
                    at = at.add(count);
                }
                done += $lanes;
            }
            // SAFETY: both are of the caller's array.
            unsafe { at.offset_from(to) as usize }
        }
    };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn numbers_32() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn numbers_16() -> __m512i {
    let even = _mm512_add_epi32(numbers_32(), numbers_32());
    let twice = _mm512_or_si512(even, _mm512_slli_epi32::<16>(even));
    _mm512_add_epi16(twice, _mm512_set1_epi32(0x0001_0000))
}

rows!(
    select_32,
    refine_32,
    u32,
    16,
    __mmask16,
    "avx512f,popcnt",
    numbers_32,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_maskz_compress_epi32,
    _mm512_maskz_loadu_epi32,
    _mm512_mask_storeu_epi32,
    _mm512_storeu_epi32
);
rows!(
    select_16,
    refine_16,
    u16,
    32,
    __mmask32,
    "avx512f,avx512bw,avx512vbmi2,popcnt",
    numbers_16,
    _mm512_set1_epi16,
    _mm512_add_epi16,
    _mm512_maskz_compress_epi16,
    _mm512_maskz_loadu_epi16,
    _mm512_mask_storeu_epi16,
    _mm512_storeu_epi16
);

/// # Safety
/// As for `Bytes`.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn bytes(words: &[u64], len: usize, to: *mut u8) {
    for (i, &word) in words.iter().enumerate() {
        let ones = _mm512_maskz_set1_epi8(word, 1);
        // SAFETY: only the bytes that there is room for.
        unsafe { _mm512_mask_storeu_epi8(to.add(64 * i).cast(), there(len, 64 * i), ones) };
    }
}
