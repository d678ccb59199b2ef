//! Rows of answers, one after the other.

use super::number::Number;

/// Each row is written where the next one that is left goes: no branch depends on an answer.
///
/// # Safety
/// As for `Calls::select`.
pub(super) unsafe fn select<R: Number>(
    words: &[u64],
    len: usize,
    first: usize,
    to: *mut R,
) -> usize {
    let mut at = 0;
    for i in 0..len {
        // SAFETY: at most as many are left as there were rows before: there is room for `len`.
        unsafe { to.add(at).write(R::of(first + i)) };
        at += (words[i / 64] >> (i % 64) & 1) as usize;
    }
    at
}

/// The largest of these rows. (`max` of an iterator is a branch for each row.)
///
/// # Safety
/// None is needed.
#[inline(always)]
pub(super) unsafe fn last<R: Number>(rows: &[R]) -> R {
    rows.iter().fold(R::of(0), |last, &row| last.max(row))
}

/// # Safety
/// As for `Calls::refine`.
pub(super) unsafe fn refine<R: Number>(
    words: &[u64],
    len: usize,
    from: *const R,
    to: *mut R,
) -> usize {
    let mut at = 0;
    for i in 0..len {
        // SAFETY: row `i` of `len`; it is read before it is written, and nothing behind it is.
        unsafe { to.add(at).write(from.add(i).read()) };
        at += (words[i / 64] >> (i % 64) & 1) as usize;
    }
    at
}

/// # Safety
/// As for `Bytes`.
pub(super) unsafe fn bytes(words: &[u64], len: usize, to: *mut u8) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // SAFETY: the caller's room.
    let out = unsafe {
        to.write_bytes(0, len);
        std::slice::from_raw_parts_mut(to, len)
    };
    for (i, out) in out.chunks_mut(8).enumerate() {
        let bits = words[i / 8] >> (8 * (i % 8)) & 0xFF;
        // Bit j in byte j, then 1 for it.
        let alone = bits.wrapping_mul(EACH) & 0x8040_2010_0804_0201;
        let ones = alone.wrapping_add(0x7F * EACH) >> 7 & EACH;
        out.copy_from_slice(&ones.to_le_bytes()[..out.len()]);
    }
}
