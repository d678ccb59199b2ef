//! Eight lines at once with AVX-512. Reached only through the detection in `kernel`.

use super::avx512_regions::all;
use super::batch::{Answers, MOST, Padded};
use super::find::find;
use super::select::Pdep;
use super::width::{MOST_BEFORE, Width, width};
use crate::layouts::growing::HEADER;
use crate::line::Line;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Lines at once.
const GROUP: usize = 8;
/// Groups of a call at most.
const GROUPS: usize = MOST / GROUP;

/// The first words of two lines, whose numbers are 2 apart, for each of four.
macro_rules! quarters {
    ($lines:ident, $first:literal) => {{
        let low = _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128($lines[$first].as_ptr().cast())),
            _mm_loadu_si128($lines[$first + 2].as_ptr().cast()),
        );
        let high = _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(_mm_loadu_si128($lines[$first + 4].as_ptr().cast())),
            _mm_loadu_si128($lines[$first + 6].as_ptr().cast()),
        );
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }};
}

/// What eight lines say of a value each, a bit for each line.
pub(super) struct Eight {
    pub(super) present: u8,
    /// Not present, and no value of a higher bucket is in the line.
    pub(super) last: u8,
    /// Buckets with more values than are compared at once: their bits are not known.
    pub(super) many: u8,
}

/// # Safety
/// There are 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn loaded(bytes: *const u8) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(bytes.cast()) }
}

#[inline]
#[target_feature(enable = "avx2,avx512f")]
fn widths(r: &[u32; GROUP]) -> __m512i {
    // SAFETY: eight widths.
    _mm512_cvtepu32_epi64(unsafe { _mm256_loadu_si256(r.as_ptr().cast()) })
}

/// The first word of each of eight lines, and the second.
type Heads = [__m512i; 2];

/// The headers of eight lines.
#[inline]
#[target_feature(enable = "avx2,avx512f")]
fn heads(lines: &[&Line; GROUP]) -> Heads {
    // SAFETY: 16 bytes of each line.
    let (even, odd) = unsafe { (quarters!(lines, 0), quarters!(lines, 1)) };
    [_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)]
}

/// What the headers of eight lines say of a value each, before the zero behind which it is has been found.
#[derive(Clone, Copy)]
struct Group {
    heads: Heads,
    /// The number of that zero.
    zero: __m512i,
    /// The zeros of both words.
    count: __m512i,
    /// Which of them are in the second word, if they are there.
    upper: __mmask8,
}

impl Group {
    /// Of these lines and values. Also the words that have those zeros, and a 1 for each with as many zeros below it
    /// as that word has before. As `Run::of`.
    #[inline]
    #[target_feature(enable = "avx2,avx512f,avx512vpopcntdq")]
    fn of(lines: &[&Line; GROUP], values: __m512i, r: __m512i) -> (Group, [__m512i; 2]) {
        const HEAD: u64 = (1 << HEADER) - 1;
        let heads = heads(lines);
        let zeros = [
            _mm512_xor_si512(_mm512_or_si512(heads[0], all(HEAD)), all(!(1 << (HEADER - 1)))),
            _mm512_xor_si512(heads[1], all(u64::MAX)),
        ];
        let counts = [_mm512_popcnt_epi64(zeros[0]), _mm512_popcnt_epi64(zeros[1])];
        let base = _mm512_srai_epi64::<55>(_mm512_slli_epi64::<48>(heads[0]));
        let zero = _mm512_sub_epi64(_mm512_srav_epi64(values, r), base);
        let upper = _mm512_cmpge_epu64_mask(zero, counts[0]);
        let before = _mm512_mask_sub_epi64(zero, upper, zero, counts[0]);
        let word = _mm512_mask_mov_epi64(zeros[0], upper, zeros[1]);
        let count = _mm512_add_epi64(counts[0], counts[1]);
        (Group { heads, zero, count, upper }, [word, _mm512_sllv_epi64(all(1), before)])
    }
}

/// Eight words. One by one: the instruction that gathers them takes longer on Zen 4.
///
/// # Safety
/// There are 8 bytes at each address.
#[inline]
#[target_feature(enable = "avx2,avx512f")]
unsafe fn windows(at: &[*const u8; GROUP]) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        macro_rules! pair {
            ($first:literal) => {
                _mm_castpd_si128(_mm_loadh_pd(
                    _mm_castsi128_pd(_mm_loadl_epi64(at[$first].cast())),
                    at[$first + 1].cast(),
                ))
            };
        }
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(pair!(0)), pair!(2));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(pair!(4)), pair!(6));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

/// What lines say with remainders of this width. `found` has the bit of the zero of each, if there is one.
///
/// # Safety
/// This CPU has the instructions. The group is that of the lines.
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq")]
unsafe fn said<const MIXED: bool>(
    lines: &[&Line; GROUP],
    group: &Group,
    values: __m512i,
    r: u32,
    found: __m512i,
) -> Eight {
    let width: &Width = width(r);
    let r = all(r.into());
    // SAFETY: eight addresses.
    let lines = unsafe { _mm512_loadu_si512(lines.as_ptr().cast()) };

    // As `Run::of`.
    let &Group { heads: [first, second], zero, count, upper } = group;
    let stated = _mm512_min_epu64(_mm512_and_si512(first, all(63)), all(width.room));
    let there = _mm512_min_epu64(stated, _mm512_sub_epi64(all(113), count));
    let before = _mm512_movepi64_mask(zero);
    let inside = _mm512_cmplt_epu64_mask(zero, count);
    // The bits below it.
    let at = _mm512_popcnt_epi64(_mm512_sub_epi64(found, all(1)));
    let place = _mm512_mask_add_epi64(at, upper, at, all(64));
    let rank = _mm512_sub_epi64(_mm512_sub_epi64(place, all(u64::from(HEADER) - 1)), zero);
    let held = _mm512_mask_cmplt_epu64_mask(inside, rank, there);
    let (own, next) =
        (_mm512_mask_mov_epi64(first, upper, second), _mm512_maskz_mov_epi64(!upper, second));
    // The bits behind it, of which there are more than of values.
    let rest = _mm512_srli_epi64::<1>(_mm512_shrdv_epi64(own, next, at));
    // The ones up to the first zero.
    let ones = _mm512_andnot_si512(_mm512_add_epi64(rest, all(1)), rest);
    let ones = _mm512_popcnt_epi64(ones);
    let end = _mm512_mask_cmpge_epu64_mask(inside, _mm512_add_epi64(rank, ones), there);
    let none = _mm512_testn_epi64_mask(there, there);
    let last = end | (!inside & !before) | none;
    let number = _mm512_maskz_mov_epi64(held, rank);
    let len = _mm512_maskz_min_epu64(held, ones, _mm512_sub_epi64(there, rank));

    // As `window`, and what `find` does with it.
    let bits = _mm512_mul_epu32(number, r);
    let byte = _mm512_srli_epi64::<3>(_mm512_sub_epi64(all(MOST_BEFORE), bits));
    let mut at = [std::ptr::null::<u8>(); GROUP];
    // SAFETY: eight addresses. The number is that of a value of the line, or 0. So these are 8 of its 64 bytes:
    // see `window`.
    let window = unsafe {
        _mm512_storeu_si512(at.as_mut_ptr().cast(), _mm512_add_epi64(lines, byte));
        windows(&at)
    };
    let window = _mm512_sllv_epi64(window, _mm512_and_si512(bits, all(7)));
    let low = _mm512_and_si512(values, all(width.mask));
    let lows = all(width.lows);
    let mut differ = _mm512_xor_si512(window, _mm512_mullo_epi64(low, lows));
    if MIXED {
        let highs = all(width.highs);
        let less = _mm512_sub_epi64(_mm512_or_si512(window, highs), lows);
        let less = _mm512_xor_si512(less, _mm512_andnot_si512(window, highs));
        differ = _mm512_andnot_si512(_mm512_xor_si512(window, less), differ);
    }
    let others = _mm512_srlv_epi64(all(u64::MAX), _mm512_mul_epu32(len, r));
    let differ = _mm512_or_si512(differ, others);
    let borrowed = _mm512_andnot_si512(differ, _mm512_sub_epi64(differ, lows));
    let present = _mm512_test_epi64_mask(borrowed, all(width.highs));
    Eight {
        present,
        last: last & !present & _mm512_test_epi64_mask(first, all(super::edit::GOES_ON)),
        many: _mm512_cmpgt_epu64_mask(len, all(width.fields)),
    }
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
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq,bmi1,bmi2,popcnt"
)]
unsafe fn eights<const MIXED: bool>(
    lines: &[[&Line; GROUP]],
    values: &[[i64; GROUP]],
    r: &[[u32; GROUP]],
) -> Answers {
    let groups = lines.len();
    assert!(groups == values.len() && groups == r.len() && groups <= GROUPS, "a tile");
    let mut all_groups = [const { MaybeUninit::<Group>::uninit() }; GROUPS];
    let mut words = [const { MaybeUninit::<[u64; GROUP]>::uninit() }; GROUPS];
    let mut bits = [const { MaybeUninit::<[u64; GROUP]>::uninit() }; GROUPS];
    let mut i = 0;
    while i < groups {
        // SAFETY: eight values, and eight widths.
        let (values, r) = unsafe { (loaded(values[i].as_ptr().cast()), widths(&r[i])) };
        let (group, sought) = Group::of(&lines[i], values, r);
        all_groups[i].write(group);
        // SAFETY: eight words each.
        unsafe {
            _mm512_storeu_si512(words[i].as_mut_ptr().cast(), sought[0]);
            _mm512_storeu_si512(bits[i].as_mut_ptr().cast(), sought[1]);
        }
        i += 1;
    }
    i = 0;
    while i < groups {
        // SAFETY: those of so many groups are written.
        let (words, bits) = unsafe { (words[i].assume_init_ref(), bits[i].assume_init_mut()) };
        let mut one = 0;
        while one < GROUP {
            bits[one] = _pdep_u64(bits[one], words[one]);
            one += 1;
        }
        i += 1;
    }
    let mut answers = Answers::default();
    i = 0;
    while i < groups {
        // SAFETY: those of so many groups are written.
        let group = unsafe { all_groups[i].assume_init_ref() };
        // SAFETY: eight words each.
        let (all_values, found) =
            unsafe { (loaded(values[i].as_ptr().cast()), loaded(bits[i].as_ptr().cast())) };
        // As a rule all are of one width.
        let mut left = u8::MAX;
        while left > 0 {
            let r_of = r[i][left.trailing_zeros() as usize];
            let own = left & _mm512_cmpeq_epi64_mask(widths(&r[i]), all(r_of.into()));
            left &= !own;
            // SAFETY: the caller's promise; it is the group of these lines.
            let eight = unsafe { said::<MIXED>(&lines[i], group, all_values, r_of, found) };
            answers.present |= u64::from(eight.present & !eight.many & own) << (GROUP * i);
            answers.onward |= u64::from(eight.last & !eight.many & own) << (GROUP * i);
            let mut many = eight.many & own;
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
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq,bmi1,bmi2,popcnt"
)]
pub(super) unsafe fn find_many<const MIXED: bool>(
    lines: &[&Line],
    values: &[i64],
    r: &[u32],
) -> Answers {
    if lines.len().is_multiple_of(GROUP) {
        let (lines, values, r) = (lines.as_chunks().0, values.as_chunks().0, r.as_chunks().0);
        // SAFETY: the caller's promise.
        return unsafe { eights::<MIXED>(lines, values, r) };
    }
    if lines.len() < GROUP {
        let all = Padded::<GROUP, 1>::of(lines, values, r);
        // SAFETY: the caller's promise.
        return all.own(unsafe { eights::<MIXED>(&all.lines, &all.values, &all.r) });
    }
    let all = Padded::<GROUP, GROUPS>::of(lines, values, r);
    let groups = all.groups();
    // SAFETY: the caller's promise.
    all.own(unsafe {
        eights::<MIXED>(&all.lines[..groups], &all.values[..groups], &all.r[..groups])
    })
}
