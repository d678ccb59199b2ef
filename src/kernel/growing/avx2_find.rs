//! Four lines at once with AVX2. Reached only through the detection in `kernel`.

use super::batch::{Answers, MOST, Padded};
use super::edit::GOES_ON;
use super::find::find;
use super::select::Pdep;
use super::width::{MOST_BEFORE, width};
use crate::layouts::growing::HEADER;
use crate::line::Line;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Lines at once.
const GROUP: usize = 4;
/// Groups of a call at most.
const GROUPS: usize = MOST / GROUP;

/// A vector of the same number four times.
#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u64) -> __m256i {
    _mm256_set1_epi64x(number as i64)
}

/// # Safety
/// There are 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn loaded(bytes: *const u8) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn widths(r: &[u32; GROUP]) -> __m256i {
    // SAFETY: four widths.
    _mm256_cvtepu32_epi64(unsafe { _mm_loadu_si128(r.as_ptr().cast()) })
}

/// One bit for each word: its highest.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(words: __m256i) -> u8 {
    _mm256_movemask_pd(_mm256_castsi256_pd(words)) as u8
}

/// How many ones each word has.
#[inline]
#[target_feature(enable = "avx2")]
fn ones(words: __m256i) -> __m256i {
    let of_four = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let four = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(of_four, _mm256_and_si256(words, four));
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(words), four);
    let both = _mm256_add_epi8(low, _mm256_shuffle_epi8(of_four, high));
    _mm256_sad_epu8(both, _mm256_setzero_si256())
}

/// The low 64 bits of products.
#[inline]
#[target_feature(enable = "avx2")]
fn product(a: __m256i, b: __m256i) -> __m256i {
    let (a_high, b_high) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
    let crossed = _mm256_add_epi64(_mm256_mul_epu32(a, b_high), _mm256_mul_epu32(a_high, b));
    _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(crossed))
}

/// What is known of four lines before the n-th zeros are found. All as in `Run::of`.
#[derive(Clone, Copy)]
struct Known {
    /// The first word of each line, and the second.
    first: __m256i,
    second: __m256i,
    /// How many zeros the first has, and both.
    low_zeros: __m256i,
    count: __m256i,
    /// The number of the zero behind which the value is.
    zero: __m256i,
}

/// What is known of lines. The word that has the zero behind which the value is, if any has, goes to `words`;
/// to `bits` a 1 with as many zeros below it as that word has before.
#[inline]
#[target_feature(enable = "avx2")]
fn ask(
    lines: &[&Line; GROUP],
    values: __m256i,
    r: __m256i,
    words: &mut MaybeUninit<[u64; GROUP]>,
    bits: &mut MaybeUninit<[u64; GROUP]>,
) -> Known {
    macro_rules! pair {
        ($first:literal) => {
            // SAFETY: 16 bytes of each line.
            unsafe {
                _mm256_inserti128_si256::<1>(
                    _mm256_castsi128_si256(_mm_loadu_si128(lines[$first].as_ptr().cast())),
                    _mm_loadu_si128(lines[$first + 2].as_ptr().cast()),
                )
            }
        };
    }
    let (even, odd) = (pair!(0), pair!(1));
    let (first, second) = (_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
    const HEAD: u64 = (1 << HEADER) - 1;
    let zeros = [
        _mm256_xor_si256(_mm256_or_si256(first, all(HEAD)), all(!(1 << (HEADER - 1)))),
        _mm256_xor_si256(second, all(u64::MAX)),
    ];
    let low_zeros = ones(zeros[0]);
    let count = _mm256_add_epi64(low_zeros, ones(zeros[1]));
    // A number of nine bits, and its sign.
    let base = _mm256_and_si256(_mm256_srli_epi64::<7>(first), all(511));
    let base = _mm256_sub_epi64(_mm256_xor_si256(base, all(256)), all(256));
    // No instruction shifts signed words.
    let sign = all(1 << 63);
    let bucket = _mm256_sub_epi64(
        _mm256_srlv_epi64(_mm256_xor_si256(values, sign), r),
        _mm256_srlv_epi64(sign, r),
    );
    let zero = _mm256_sub_epi64(bucket, base);
    let lower = _mm256_cmpgt_epi64(low_zeros, zero);
    let word = _mm256_blendv_epi8(zeros[1], zeros[0], lower);
    let before = _mm256_sub_epi64(zero, _mm256_andnot_si256(lower, low_zeros));
    // SAFETY: four words each.
    unsafe {
        _mm256_storeu_si256(words.as_mut_ptr().cast(), word);
        _mm256_storeu_si256(bits.as_mut_ptr().cast(), _mm256_sllv_epi64(all(1), before));
    }
    Known { first, second, low_zeros, count, zero }
}

/// What four lines say of a value each, a bit for each line.
struct Four {
    present: u8,
    /// No value of a higher bucket is in the line, and it goes on.
    last: u8,
    /// Buckets with more values than are compared at once: their bits are not known.
    many: u8,
}

/// What lines say with remainders of this width. `at` has the bit of that zero in its word, if there is one.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn said<const MIXED: bool>(
    lines: &[&Line; GROUP],
    known: Known,
    values: __m256i,
    r: u32,
    at: __m256i,
) -> Four {
    let width = width(r);
    let r = all(r.into());
    let Known { first, second, low_zeros, count, zero } = known;
    let stated = _mm256_min_epu32(_mm256_and_si256(first, all(63)), all(width.room));
    let there = _mm256_min_epu32(stated, _mm256_sub_epi64(all(113), count));
    let behind_all =
        _mm256_or_si256(_mm256_cmpgt_epi64(zero, count), _mm256_cmpeq_epi64(zero, count));
    let lower = _mm256_cmpgt_epi64(low_zeros, zero);
    let behind = _mm256_add_epi64(at, all(1));
    let start = _mm256_add_epi64(behind, _mm256_andnot_si256(lower, all(64)));
    let rank = _mm256_sub_epi64(_mm256_sub_epi64(start, all(HEADER.into())), zero);
    let before = mask(zero);
    let inside = _mm256_andnot_si256(behind_all, _mm256_cmpgt_epi64(zero, all(u64::MAX)));
    let held = _mm256_and_si256(inside, _mm256_cmpgt_epi64(there, rank));
    let rest = _mm256_or_si256(
        _mm256_srlv_epi64(_mm256_blendv_epi8(second, first, lower), behind),
        _mm256_and_si256(lower, _mm256_sllv_epi64(second, _mm256_sub_epi64(all(64), behind))),
    );
    // The ones up to the first zero.
    let run = ones(_mm256_andnot_si256(_mm256_add_epi64(rest, all(1)), rest));
    let more = mask(_mm256_cmpgt_epi64(there, _mm256_add_epi64(rank, run)));
    let none = mask(_mm256_cmpeq_epi64(there, _mm256_setzero_si256()));
    let last = mask(inside) & !more | mask(behind_all) & !before | none;
    let number = _mm256_and_si256(held, rank);
    let len = _mm256_and_si256(held, _mm256_min_epu32(run, _mm256_sub_epi64(there, rank)));

    // As `window`, and what `find` does with it.
    let bits = _mm256_mul_epu32(number, r);
    let byte = _mm256_srli_epi64::<3>(_mm256_sub_epi64(all(MOST_BEFORE), bits));
    let mut from = [0_usize; GROUP];
    // SAFETY: four words.
    unsafe { _mm256_storeu_si256(from.as_mut_ptr().cast(), byte) };
    macro_rules! window {
        ($line:literal) => {
            // SAFETY: the number is that of a value of the line, or 0. So these are 8 of its 64 bytes: see
            // `window`.
            unsafe { lines[$line].as_ptr().byte_add(from[$line]).read_unaligned() as i64 }
        };
    }
    let window = _mm256_setr_epi64x(window!(0), window!(1), window!(2), window!(3));
    let window = _mm256_sllv_epi64(window, _mm256_and_si256(bits, all(7)));
    let lows = all(width.lows);
    let low = _mm256_and_si256(values, all(width.mask));
    let mut differ = _mm256_xor_si256(window, product(low, lows));
    if MIXED {
        let highs = all(width.highs);
        let less = _mm256_sub_epi64(_mm256_or_si256(window, highs), lows);
        let less = _mm256_xor_si256(less, _mm256_andnot_si256(window, highs));
        differ = _mm256_andnot_si256(_mm256_xor_si256(window, less), differ);
    }
    let others = _mm256_srlv_epi64(all(u64::MAX), _mm256_mul_epu32(len, r));
    let differ = _mm256_or_si256(differ, others);
    let borrowed = _mm256_andnot_si256(differ, _mm256_sub_epi64(differ, lows));
    let borrowed = _mm256_and_si256(borrowed, all(width.highs));
    let present = !mask(_mm256_cmpeq_epi64(borrowed, _mm256_setzero_si256()));
    // The flag as the highest bit.
    let goes_on = mask(_mm256_slli_epi64::<{ GOES_ON.leading_zeros() as i32 }>(first));
    let many = mask(_mm256_cmpgt_epi64(len, all(width.fields)));
    Four { present, last: last & !present & goes_on, many }
}

/// What lines say of a value each, as `find`. The words of the headers are vectors. Where the n-th zero
/// of a word is, finds an instruction that there is for one word only, so all words are stored for it.
///
/// # Panics
/// If a width is above 54.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn fours<const MIXED: bool>(
    lines: &[[&Line; GROUP]],
    values: &[[i64; GROUP]],
    r: &[[u32; GROUP]],
) -> Answers {
    let groups = lines.len();
    assert!(groups == values.len() && groups == r.len() && groups <= GROUPS, "a tile");
    let mut known = [const { MaybeUninit::<Known>::uninit() }; GROUPS];
    let mut words = [const { MaybeUninit::<[u64; GROUP]>::uninit() }; GROUPS];
    let mut bits = [const { MaybeUninit::<[u64; GROUP]>::uninit() }; GROUPS];
    let mut i = 0;
    while i < groups {
        // SAFETY: four values.
        let of = unsafe { loaded(values[i].as_ptr().cast()) };
        known[i].write(ask(&lines[i], of, widths(&r[i]), &mut words[i], &mut bits[i]));
        i += 1;
    }
    i = 0;
    while i < groups {
        // SAFETY: those of so many groups are written.
        let (words, bits) = unsafe { (words[i].assume_init_ref(), bits[i].assume_init_mut()) };
        let mut one = 0;
        while one < GROUP {
            bits[one] = _tzcnt_u64(_pdep_u64(bits[one], words[one]));
            one += 1;
        }
        i += 1;
    }
    let mut answers = Answers::default();
    i = 0;
    while i < groups {
        // SAFETY: those of so many groups are written.
        let known = unsafe { known[i].assume_init() };
        // SAFETY: four words each.
        let (all_values, at) =
            unsafe { (loaded(values[i].as_ptr().cast()), loaded(bits[i].as_ptr().cast())) };
        // As a rule all are of one width.
        let mut left: u8 = (1 << GROUP) - 1;
        while left > 0 {
            let r_of = r[i][left.trailing_zeros() as usize];
            let own = left & mask(_mm256_cmpeq_epi64(widths(&r[i]), all(r_of.into())));
            left &= !own;
            // SAFETY: the caller's promise.
            let four = unsafe { said::<MIXED>(&lines[i], known, all_values, r_of, at) };
            answers.present |= u64::from(four.present & !four.many & own) << (GROUP * i);
            answers.onward |= u64::from(four.last & !four.many & own) << (GROUP * i);
            let mut many = four.many & own;
            while many > 0 {
                let one = many.trailing_zeros() as usize;
                // SAFETY: the caller's promise.
                let found = unsafe { find::<Pdep, MIXED>(lines[i][one], values[i][one], r_of) };
                answers.add(GROUP * i + one, found);
                many &= many - 1;
            }
        }
        i += 1;
    }
    answers
}

/// The same for any number of lines up to 64.
///
/// # Panics
/// Unless there are as many values and widths, at most 64, or if a width is above 54.
///
/// # Safety
/// This CPU has the instructions.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn find_many<const MIXED: bool>(
    lines: &[&Line],
    values: &[i64],
    r: &[u32],
) -> Answers {
    if lines.len().is_multiple_of(GROUP) {
        let (lines, values, r) = (lines.as_chunks().0, values.as_chunks().0, r.as_chunks().0);
        // SAFETY: the caller's promise.
        return unsafe { fours::<MIXED>(lines, values, r) };
    }
    if lines.len() < 2 * GROUP {
        let all = Padded::<GROUP, 2>::of(lines, values, r);
        let groups = all.groups();
        // SAFETY: the caller's promise.
        return all.own(unsafe {
            fours::<MIXED>(&all.lines[..groups], &all.values[..groups], &all.r[..groups])
        });
    }
    let all = Padded::<GROUP, GROUPS>::of(lines, values, r);
    let groups = all.groups();
    // SAFETY: the caller's promise.
    all.own(unsafe {
        fours::<MIXED>(&all.lines[..groups], &all.values[..groups], &all.r[..groups])
    })
}
