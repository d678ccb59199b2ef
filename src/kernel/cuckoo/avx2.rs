//! Cuckoo filters with AVX2, 4 keys to a register. Reached only through the detection in `kernel`.

use super::super::lines::Lines;
use super::bucket::ones;
use super::staged::{self, GROUP, Group, Places, Vectors};
use crate::layouts::cuckoo::{ANY_PAGE, PAGE, STEP, buckets, last_page};
use std::arch::x86_64::*;

/// 4 keys to a register.
pub(in crate::kernel) struct Avx2;

impl Vectors for Avx2 {
    const FEWEST: usize = 24;

    #[inline(always)]
    unsafe fn places(count: u64, bits: u32, hashes: &[u64; GROUP]) -> Places {
        let mut places = [Group([0; GROUP]); 2];
        for half in [0, 4] {
            // SAFETY: the caller vouches for the CPU; there are 4 hashes, and 4 places, from
            // 0 on and from 4 on.
            unsafe {
                let hashes = _mm256_loadu_si256(hashes.as_ptr().add(half).cast());
                let [first, other] = self::places(count, bits, hashes);
                _mm256_store_si256(places[0].0.as_mut_ptr().add(half).cast(), first);
                _mm256_store_si256(places[1].0.as_mut_ptr().add(half).cast(), other);
            }
        }
        places
    }

    #[inline(always)]
    unsafe fn compare(bits: u32, hashes: &[u64; GROUP], words: &[Group; 2]) -> u8 {
        let mut hits = 0;
        for half in [0, 4] {
            // SAFETY: as above.
            unsafe {
                let hashes = _mm256_loadu_si256(hashes.as_ptr().add(half).cast());
                let first = _mm256_load_si256(words[0].0.as_ptr().add(half).cast());
                let other = _mm256_load_si256(words[1].0.as_ptr().add(half).cast());
                hits |= self::compare(bits, hashes, first, other) << half;
            }
        }
        hits
    }

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    unsafe fn tile_alone(lines: Lines, hashes: &[u64]) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { staged::tile::<Self>(lines, hashes) }
    }
}

/// `cuckoo::fingerprint`.
#[inline]
#[target_feature(enable = "avx2")]
fn fingerprints(bits: u32, hashes: __m256i) -> __m256i {
    let low = _mm256_and_si256(hashes, _mm256_set1_epi64x((1 << bits) - 1));
    // -1 where it is 0.
    _mm256_sub_epi64(low, _mm256_cmpeq_epi64(low, _mm256_setzero_si256()))
}

/// `cuckoo::first` and `cuckoo::other`, as offsets. Line counts have 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn places(count: u64, bits: u32, hashes: __m256i) -> [__m256i; 2] {
    let lines = _mm256_set1_epi64x(count as i64);
    let buckets = _mm256_set1_epi64x(buckets(bits) as i64);
    let low_16 = _mm256_set1_epi64x(0xFFFF);
    let below = _mm256_srli_epi64::<32>(_mm256_mul_epu32(hashes, lines));
    let above = _mm256_mul_epu32(_mm256_srli_epi64::<32>(hashes), lines);
    let line = _mm256_srli_epi64::<32>(_mm256_add_epi64(above, below));
    let part = _mm256_and_si256(_mm256_srli_epi64::<16>(hashes), low_16);
    let bucket = _mm256_srli_epi64::<16>(_mm256_mul_epu32(part, buckets));

    let step = _mm256_set1_epi64x(i64::from(STEP));
    let fingerprints = fingerprints(bits, hashes);
    let m = _mm256_mul_epu32(fingerprints, step);
    let [start, range] = ranges(count, line, fingerprints);
    let other_line = _mm256_srli_epi64::<32>(_mm256_mul_epu32(m, range));
    let other_line = minus(other_line, _mm256_sub_epi64(line, start), range);
    let part = _mm256_and_si256(m, low_16);
    let other_bucket = _mm256_srli_epi64::<16>(_mm256_mul_epu32(part, buckets));
    [
        offsets(bits, line, bucket),
        offsets(bits, _mm256_add_epi64(start, other_line), minus(other_bucket, bucket, buckets)),
    ]
}

/// `range` of `cuckoo`: where they start, how many lines they are.
#[inline]
#[target_feature(enable = "avx2")]
fn ranges(count: u64, line: __m256i, fingerprints: __m256i) -> [__m256i; 2] {
    let (last, in_last) = last_page(count);
    let (last, in_last) = (_mm256_set1_epi64x(last as i64), _mm256_set1_epi64x(in_last as i64));
    let (page, all) = (_mm256_set1_epi64x(PAGE as i64), _mm256_set1_epi64x(count as i64));
    let far = _mm256_set1_epi64x((ANY_PAGE - 1) as i64);
    let none = _mm256_setzero_si256();
    let far = _mm256_cmpeq_epi64(_mm256_and_si256(fingerprints, far), none);
    let start = _mm256_and_si256(line, _mm256_set1_epi64x(-(PAGE as i64)));
    // Lines have 32 bits.
    let start = _mm256_min_epu32(start, last);
    let in_last_page = _mm256_cmpeq_epi64(start, last);
    let range = _mm256_blendv_epi8(page, in_last, in_last_page);
    [_mm256_andnot_si256(far, start), _mm256_blendv_epi8(range, all, far)]
}

/// `(a - b) mod n`, for `a` and `b` below `n`.
#[inline]
#[target_feature(enable = "avx2")]
fn minus(a: __m256i, b: __m256i, n: __m256i) -> __m256i {
    let difference = _mm256_sub_epi64(a, b);
    let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), difference);
    _mm256_add_epi64(difference, _mm256_and_si256(negative, n))
}

/// `cuckoo::offset`.
#[inline]
#[target_feature(enable = "avx2")]
fn offsets(bits: u32, line: __m256i, bucket: __m256i) -> __m256i {
    let bytes = _mm256_set1_epi64x(i64::from(bits / 2));
    _mm256_add_epi64(_mm256_slli_epi64::<6>(line), _mm256_mul_epu32(bucket, bytes))
}

/// As `found` of `super`, 4 keys at a time.
#[inline]
#[target_feature(enable = "avx2")]
fn compare(bits: u32, hashes: __m256i, first: __m256i, other: __m256i) -> u8 {
    let one = fingerprints(bits, hashes);
    let (by_one, by_two) = (_mm_cvtsi32_si128(bits as i32), _mm_cvtsi32_si128(2 * bits as i32));
    let two = _mm256_or_si256(one, _mm256_sll_epi64(one, by_one));
    let pattern = _mm256_or_si256(two, _mm256_sll_epi64(two, by_two));
    let zeros = _mm256_or_si256(zeros(bits, first, pattern), zeros(bits, other, pattern));
    let highest = _mm256_set1_epi64x((ones(bits) << (bits - 1)) as i64);
    let none = _mm256_cmpeq_epi64(_mm256_and_si256(zeros, highest), _mm256_setzero_si256());
    !_mm256_movemask_pd(_mm256_castsi256_pd(none)) as u8 & 0xF
}

/// The highest bit of each slot that is as in the pattern.
#[inline]
#[target_feature(enable = "avx2")]
fn zeros(bits: u32, word: __m256i, pattern: __m256i) -> __m256i {
    let slots = _mm256_xor_si256(word, pattern);
    let less = _mm256_sub_epi64(slots, _mm256_set1_epi64x(ones(bits) as i64));
    _mm256_andnot_si256(slots, less)
}
