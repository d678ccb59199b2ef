//! Cuckoo filters with AVX-512, 8 keys to a register.
//! Reached only through the detection in `kernel`.

use super::super::lines::Lines;
use super::bucket::{ANY, bits, ones, read};
use super::staged::{self, GROUP, Group, Places, Vectors};
use crate::layouts::cuckoo::{ANY_PAGE, PAGE, STEP, buckets, last_page};
use crate::line::line_index;
use std::arch::asm;
use std::arch::x86_64::*;
use std::hint::black_box;

/// 8 keys to a register.
pub(in crate::kernel) struct Avx512;

impl Vectors for Avx512 {
    const FEWEST: usize = 17;

    #[inline(always)]
    unsafe fn places(count: u64, bits: u32, hashes: &[u64; GROUP]) -> Places {
        let mut places = [Group([0; GROUP]); 2];
        // SAFETY: the caller vouches for the CPU; a group is 64 aligned bytes.
        unsafe {
            let hashes = _mm512_loadu_si512(hashes.as_ptr().cast());
            let [first, other] = self::places(count, bits, hashes);
            _mm512_store_si512(places[0].0.as_mut_ptr().cast(), first);
            _mm512_store_si512(places[1].0.as_mut_ptr().cast(), other);
        }
        places
    }

    #[inline(always)]
    unsafe fn compare(bits: u32, hashes: &[u64; GROUP], words: &[Group; 2]) -> u8 {
        // SAFETY: as above.
        unsafe {
            let hashes = _mm512_loadu_si512(hashes.as_ptr().cast());
            let first = _mm512_load_si512(words[0].0.as_ptr().cast());
            let other = _mm512_load_si512(words[1].0.as_ptr().cast());
            self::compare(bits, hashes, first, other)
        }
    }

    // 16 MiB. In the cache keys that wait for each other would take 1.3 of the time, others 0.9.
    const LINES_OF_ONE: Option<u64> = Some(1 << 18);

    #[inline(always)]
    unsafe fn one<const BITS: u32>(lines: Lines, hash: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self::one::<BITS>(lines, hash) }
    }

    const FEWEST_OF_GROUPS: usize = 5;

    /// Buckets go from their lines into vectors: through memory, a vector would have to wait for eight stores.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
    unsafe fn groups_alone(lines: Lines, hashes: &[u64]) -> u64 {
        let (bits, mut hits) = (bits::<ANY>(lines), 0);
        for (number, hashes) in hashes.chunks(GROUP).enumerate() {
            let some = u8::MAX >> (GROUP - hashes.len());
            // SAFETY: the caller vouches for the CPU and for the lines. The places past the end are those of hash 0,
            // which every filter has.
            unsafe {
                let hashes = _mm512_maskz_loadu_epi64(some, hashes.as_ptr().cast());
                let places = self::places(lines.count(), bits, hashes);
                let [first, other] = match bits {
                    8 => places.map(|places| buckets_at::<8>(lines, places)),
                    _ => places.map(|places| buckets_at::<16>(lines, places)),
                };
                let found = self::compare(bits, hashes, first, other) & some;
                hits |= u64::from(found) << (GROUP * number);
            }
        }
        hits
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
    unsafe fn tile_alone(lines: Lines, hashes: &[u64]) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { staged::tile::<Self>(lines, hashes) }
    }
}

/// [`Vectors::one`]: both buckets are found, and compared, in vector registers.
///
/// A CPU runs out of flags and of integer registers before it has looked as far ahead as it could, so the fewer of
/// them a key takes, and the fewer instructions, the more misses overlap. If each key waits for the one before, what
/// goes from one kind of register to the other takes longer, which shows in the cache.
///
/// # Safety
/// The CPU has the instructions. The lines can be read; that of the hash is [before the
/// last page](super::bucket::is_near_end).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn one<const BITS: u32>(lines: Lines, hash: u64) -> bool {
    let all = |value: u64| _mm_set1_epi64x(value as i64);
    let here = _mm_cvtsi64_si128(line_index(hash, lines.count()) as i64);
    let hash = all(hash);
    let fingerprint = _mm_max_epu64(_mm_and_si128(hash, all((1 << BITS) - 1)), all(1));
    let m = _mm_mul_epu32(fingerprint, all(STEP.into()));

    let mut near = _mm_test_epi64_mask(fingerprint, all(ANY_PAGE - 1));
    // Else the compiler takes one instruction with this mask for two.
    // SAFETY: it is no instruction.
    unsafe { asm!("/* {} */", inout(kreg) near, options(pure, nomem, nostack, preserves_flags)) };
    let start = _mm_maskz_and_epi64(near, here, all(PAGE.wrapping_neg()));
    let range = _mm_mask_blend_epi64(near, _mm_cvtsi64_si128(lines.count() as i64), all(PAGE));
    let there = _mm_srli_epi64::<32>(_mm_mul_epu32(m, range));
    let there = _mm_add_epi64(minus(there, _mm_sub_epi64(here, start), range), start);

    // The upper half of a product of 16 bits. The other products are 0.
    let count = buckets(BITS);
    let first = _mm_srli_epi64::<16>(_mm_mulhi_epu16(hash, all(count << 16)));
    let other = minus(_mm_mulhi_epu16(m, all(count)), first, all(count));
    let at = |line: __m128i, bucket: __m128i| {
        let in_line = _mm_mullo_epi16(bucket, all((BITS / 2).into()));
        let mut offset = _mm_add_epi64(_mm_slli_epi64::<6>(line), in_line);
        // Else the compiler adds integers, which sets flags.
        // SAFETY: it is no instruction.
        unsafe {
            asm!("/* {} */", inout(xmm_reg) offset, options(pure, nomem, nostack, preserves_flags))
        };
        lines.first().cast_const().wrapping_add(_mm_cvtsi128_si64(offset) as usize)
    };
    let (first, other) = (at(here, first), at(there, other));
    // SAFETY: the caller vouches for the lines, and these are buckets of them.
    let words = unsafe {
        match BITS {
            8 => _mm_insert_epi32::<2>(
                _mm_cvtsi32_si128(first.cast::<i32>().read_unaligned()),
                other.cast::<i32>().read_unaligned(),
            ),
            _ => _mm_castpd_si128(_mm_loadh_pd(
                _mm_castsi128_pd(_mm_loadl_epi64(first.cast())),
                other.cast(),
            )),
        }
    };
    let ones = all(ones(BITS));
    let slots = _mm_xor_si128(words, _mm_mullo_epi64(fingerprint, ones));
    let highest = all(self::ones(BITS) << (BITS - 1));
    let less = _mm_add_epi64(slots, all(self::ones(BITS).wrapping_neg()));
    // `less & !slots & highest`
    let zeros = _mm_ternarylogic_epi64::<0x20>(less, slots, highest);
    _mm_testz_si128(zeros, zeros) == 0
}

/// The buckets of fingerprints of 8 bits, or of 12 or 16.
///
/// # Safety
/// There are buckets at these places.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn buckets_at<const BITS: u32>(lines: Lines, places: __m512i) -> __m512i {
    let mut group = Group([0; GROUP]);
    // SAFETY: a group is 64 aligned bytes.
    unsafe { _mm512_store_si512(group.0.as_mut_ptr().cast(), places) };
    // Through memory: else the compiler takes vectors apart.
    let places = black_box(&group);
    let at = |i: usize| {
        let at = lines.first().cast_const().wrapping_add(places.0[i] as usize);
        // SAFETY: the caller's promise.
        (unsafe { read(BITS, at) }) as i64
    };
    _mm512_set_epi64(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0))
}

/// `(a - b) mod n`, for `a` and `b` below `n`, of two.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn minus(a: __m128i, b: __m128i, n: __m128i) -> __m128i {
    let difference = _mm_sub_epi64(a, b);
    // Unsigned, a negative difference is larger than it is with n added.
    _mm_min_epu64(difference, _mm_add_epi64(difference, n))
}

/// `cuckoo::fingerprint`.
#[inline]
#[target_feature(enable = "avx512f")]
fn fingerprints(bits: u32, hashes: __m512i) -> __m512i {
    let low = _mm512_and_si512(hashes, _mm512_set1_epi64((1 << bits) - 1));
    _mm512_max_epu64(low, _mm512_set1_epi64(1))
}

/// `cuckoo::first` and `cuckoo::other`, as offsets. Line counts have 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn places(count: u64, bits: u32, hashes: __m512i) -> [__m512i; 2] {
    let lines = _mm512_set1_epi64(count as i64);
    let buckets = _mm512_set1_epi64(buckets(bits) as i64);
    let low_16 = _mm512_set1_epi64(0xFFFF);
    let below = _mm512_srli_epi64::<32>(_mm512_mul_epu32(hashes, lines));
    let above = _mm512_mul_epu32(_mm512_srli_epi64::<32>(hashes), lines);
    let line = _mm512_srli_epi64::<32>(_mm512_add_epi64(above, below));
    let part = _mm512_and_si512(_mm512_srli_epi64::<16>(hashes), low_16);
    let bucket = _mm512_srli_epi64::<16>(_mm512_mul_epu32(part, buckets));

    let step = _mm512_set1_epi64(i64::from(STEP));
    let fingerprints = fingerprints(bits, hashes);
    let m = _mm512_mul_epu32(fingerprints, step);
    let [start, range] = ranges(count, line, fingerprints);
    let other_line = _mm512_srli_epi64::<32>(_mm512_mul_epu32(m, range));
    let other_line = minus_each(other_line, _mm512_sub_epi64(line, start), range);
    let part = _mm512_and_si512(m, low_16);
    let other_bucket = _mm512_srli_epi64::<16>(_mm512_mul_epu32(part, buckets));
    [
        offsets(bits, line, bucket),
        offsets(
            bits,
            _mm512_add_epi64(start, other_line),
            minus_each(other_bucket, bucket, buckets),
        ),
    ]
}

/// `range` of `cuckoo`: where they start, how many lines they are.
#[inline]
#[target_feature(enable = "avx512f")]
fn ranges(count: u64, line: __m512i, fingerprints: __m512i) -> [__m512i; 2] {
    let (last, in_last) = last_page(count);
    let (last, in_last) = (_mm512_set1_epi64(last as i64), _mm512_set1_epi64(in_last as i64));
    let (page, all) = (_mm512_set1_epi64(PAGE as i64), _mm512_set1_epi64(count as i64));
    let far = _mm512_set1_epi64((ANY_PAGE - 1) as i64);
    let near = _mm512_test_epi64_mask(fingerprints, far);
    let start = _mm512_and_si512(line, _mm512_set1_epi64(-(PAGE as i64)));
    let start = _mm512_maskz_min_epu64(near, start, last);
    let range = _mm512_mask_mov_epi64(all, near, page);
    let in_last_page = _mm512_mask_cmpeq_epi64_mask(near, start, last);
    [start, _mm512_mask_mov_epi64(range, in_last_page, in_last)]
}

/// `(a - b) mod n`, for `a` and `b` below `n`.
#[inline]
#[target_feature(enable = "avx512f")]
fn minus_each(a: __m512i, b: __m512i, n: __m512i) -> __m512i {
    let difference = _mm512_sub_epi64(a, b);
    // Unsigned, a negative difference is larger than it is with n added.
    _mm512_min_epu64(difference, _mm512_add_epi64(difference, n))
}

/// `cuckoo::offset`.
#[inline]
#[target_feature(enable = "avx512f")]
fn offsets(bits: u32, line: __m512i, bucket: __m512i) -> __m512i {
    let bytes = _mm512_set1_epi64(i64::from(bits / 2));
    _mm512_add_epi64(_mm512_slli_epi64::<6>(line), _mm512_mul_epu32(bucket, bytes))
}

/// As `found` of `super`, 8 keys at a time.
#[inline]
#[target_feature(enable = "avx512f")]
fn compare(bits: u32, hashes: __m512i, first: __m512i, other: __m512i) -> u8 {
    let one = fingerprints(bits, hashes);
    let (by_one, by_two) = (_mm_cvtsi32_si128(bits as i32), _mm_cvtsi32_si128(2 * bits as i32));
    let two = _mm512_or_si512(one, _mm512_sll_epi64(one, by_one));
    let pattern = _mm512_or_si512(two, _mm512_sll_epi64(two, by_two));
    let zeros = _mm512_or_si512(zeros(bits, first, pattern), zeros(bits, other, pattern));
    let highest = _mm512_set1_epi64((ones(bits) << (bits - 1)) as i64);
    _mm512_test_epi64_mask(zeros, highest)
}

/// The highest bit of each slot that is as in the pattern.
#[inline]
#[target_feature(enable = "avx512f")]
fn zeros(bits: u32, word: __m512i, pattern: __m512i) -> __m512i {
    let slots = _mm512_xor_si512(word, pattern);
    let less = _mm512_sub_epi64(slots, _mm512_set1_epi64(ones(bits) as i64));
    _mm512_andnot_si512(slots, less)
}
