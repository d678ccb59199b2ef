//! The remainders of a whole line at once with AVX-512, of up to 16 bits: out of the line into fields of a
//! vector, and back. Reached only through the detection in `kernel`.

use crate::line::LINE_BITS;
use std::arch::x86_64::*;

/// The widest remainders that fields of a byte hold.
pub(super) const BYTE: u32 = 8;
/// And those of two bytes, the widest of which this knows.
pub(super) const WIDEST: u32 = 16;

/// How to get the remainders of a width into fields, the first value's in the lowest: which bytes go into each
/// word, and from which bit of its word on each byte comes.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) bytes: [u8; 64],
    pub(super) bits: [u8; 64],
}

impl Fields {
    /// Of the first values, or of those that a vector of two-byte fields has no room for.
    pub(super) const fn of(r: u32, is_second: bool) -> Fields {
        let mut fields = Fields { bytes: [0; 64], bits: [0; 64] };
        let field = if r <= BYTE { 1 } else { 2 };
        // The values of a word.
        let own = 8 / field;
        let mut word = 0;
        while word < 8 {
            let behind = (word + 1 + if is_second { 8 } else { 0 }) * own;
            // Before the line if there is no room for so many values.
            let start = LINE_BITS as i32 - (behind * r as usize) as i32;
            let mut byte = 0;
            while byte < 8 {
                fields.bytes[8 * word + byte] = (start.div_euclid(8) + byte as i32) as u8 & 63;
                // The first value is the highest one.
                let above = own - 1 - byte / field;
                let bit = start.rem_euclid(8) as usize + above * r as usize + byte % field * 8;
                fields.bits[8 * word + byte] = bit as u8 & 63;
                byte += 1;
            }
            word += 1;
        }
        fields
    }
}

/// By the width; the second is of two-byte fields alone.
static FIELDS: [[Fields; 2]; WIDEST as usize + 1] = {
    let mut all = [const { [Fields::of(0, false); 2] }; WIDEST as usize + 1];
    let mut r = 0;
    while r <= WIDEST {
        all[r as usize] = [Fields::of(r, false), Fields::of(r, true)];
        r += 1;
    }
    all
};

/// The remainders of some values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn fields(line: __m512i, fields: &Fields) -> __m512i {
    // SAFETY: 64 bytes each.
    let (bytes, bits) = unsafe {
        (
            _mm512_load_si512(fields.bytes.as_ptr().cast()),
            _mm512_load_si512(fields.bits.as_ptr().cast()),
        )
    };
    _mm512_multishift_epi64_epi8(bits, _mm512_permutexvar_epi8(bytes, line))
}

/// The remainders of a line in fields, the first value's in the lowest, with other bits above them: of a byte,
/// or if `WIDE` of two bytes in two vectors.
///
/// # Panics
/// If `r` is above [`WIDEST`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn unpacked<const WIDE: bool>(line: __m512i, r: u32) -> [__m512i; 2] {
    let of = &FIELDS[r as usize];
    let first = fields(line, &of[0]);
    [first, if WIDE { fields(line, &of[1]) } else { first }]
}

/// How to put a vector of 32 fields of 16 bits into a line: four fields become one number, of which the line
/// begins in the middle of a byte, or at its start. So two numbers can share a byte, and every other one is put
/// there by itself.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Put {
    /// By how many bits each number is behind the start of a byte.
    shifts: [u64; 8],
    /// From which byte of the numbers each of the line comes, and whether it does.
    bytes: [[u8; 64]; 2],
    there: [u64; 2],
}

impl Put {
    const fn of(r: u32, is_second: bool) -> Put {
        let mut put = Put { shifts: [0; 8], bytes: [[0; 64]; 2], there: [0; 2] };
        let mut word = 0;
        while word < 8 {
            let behind = (word + 1 + if is_second { 8 } else { 0 }) * 4;
            let start = LINE_BITS as i32 - (behind * r as usize) as i32;
            let bit = start.rem_euclid(8);
            put.shifts[word] = bit as u64;
            let mut byte = 0;
            while byte < 8 {
                let at = start.div_euclid(8) + byte;
                if byte * 8 < bit + 4 * r as i32 && at >= 0 {
                    put.bytes[word % 2][at as usize] = (8 * word + byte as usize) as u8;
                    put.there[word % 2] |= 1 << at;
                }
                byte += 1;
            }
            word += 1;
        }
        put
    }
}

/// By the width.
static PUT: [[Put; 2]; WIDEST as usize + 1] = {
    let mut all = [const { [Put::of(0, false); 2] }; WIDEST as usize + 1];
    let mut r = 0;
    while r <= WIDEST {
        all[r as usize] = [Put::of(r, false), Put::of(r, true)];
        r += 1;
    }
    all
};

/// Where fields of 16 bits, of which the others are 0, are in a line.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn put(fields: __m512i, r: u32, put: &Put) -> __m512i {
    let (one, two) = (_mm_cvtsi32_si128(r as i32), _mm_cvtsi32_si128(2 * r as i32));
    // The first is the highest.
    let first = _mm512_and_si512(fields, _mm512_set1_epi32(0xFFFF));
    let pairs = _mm512_or_si512(_mm512_sll_epi32(first, one), _mm512_srli_epi32::<16>(fields));
    let first = _mm512_and_si512(pairs, _mm512_set1_epi64(0xFFFF_FFFF));
    let fours = _mm512_or_si512(_mm512_sll_epi64(first, two), _mm512_srli_epi64::<32>(pairs));
    // SAFETY: 64 bytes each.
    let (shifts, even, odd) = unsafe {
        (
            _mm512_load_si512(put.shifts.as_ptr().cast()),
            _mm512_load_si512(put.bytes[0].as_ptr().cast()),
            _mm512_load_si512(put.bytes[1].as_ptr().cast()),
        )
    };
    let fours = _mm512_sllv_epi64(fours, shifts);
    _mm512_or_si512(
        _mm512_maskz_permutexvar_epi8(put.there[0], even, fours),
        _mm512_maskz_permutexvar_epi8(put.there[1], odd, fours),
    )
}

/// The line of these remainders of more than eight bits, sixteen in each vector, of which those that are not there
/// are 0.
///
/// # Panics
/// If `r` is above [`WIDEST`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn packed_wide(remainders: [__m512i; 4], r: u32) -> __m512i {
    let of = &PUT[r as usize];
    let [first, second] = two_bytes(remainders);
    _mm512_or_si512(put(first, r, &of[0]), put(second, r, &of[1]))
}

/// Sixteen fields of four bytes in each vector become as many of two, of which the others are 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn two_bytes(fields: [__m512i; 4]) -> [__m512i; 2] {
    let [a, b, c, d] = fields;
    let (b, d) = (_mm512_cvtepi32_epi16(b), _mm512_cvtepi32_epi16(d));
    let (a, c) = (_mm512_cvtepi32_epi16(a), _mm512_cvtepi32_epi16(c));
    [
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(a), b),
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(c), d),
    ]
}

/// Where eight remainders of up to eight bits are in a line, of which they are whole bytes.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Eights {
    /// From which byte of the numbers each of the line comes, and whether it does.
    bytes: [u8; 64],
    there: u64,
}

/// By the width.
static EIGHTS: [Eights; BYTE as usize + 1] = {
    let mut all = [const { Eights { bytes: [0; 64], there: 0 } }; BYTE as usize + 1];
    let mut r = 0;
    while r <= BYTE as usize {
        let mut at = 0;
        while at < 8 * r {
            // From the end of the line, in which the first is the highest.
            let byte = 63 - at;
            all[r].bytes[byte] = (8 * (at / r) + r - 1 - at % r) as u8;
            all[r].there |= 1 << byte;
            at += 1;
        }
        r += 1;
    }
    all
};

/// As [`packed_wide`], of up to eight bits.
///
/// # Panics
/// If `r` is above [`BYTE`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn packed(remainders: [__m512i; 4], r: u32) -> __m512i {
    let of = &EIGHTS[r as usize];
    let [a, b, c, d] = remainders;
    // Two become one, of which the first is the higher.
    let two = _mm512_set1_epi32(1 << r | 1 << 16);
    let first = _mm512_madd_epi16(_mm512_packus_epi32(a, b), two);
    let second = _mm512_madd_epi16(_mm512_packus_epi32(c, d), two);
    let twos = _mm512_packus_epi32(first, second);
    let low = _mm512_and_si512(twos, _mm512_set1_epi32(0xFFFF));
    let low = _mm512_sll_epi32(low, _mm_cvtsi32_si128(2 * r as i32));
    let fours = _mm512_or_si512(low, _mm512_srli_epi32::<16>(twos));
    // Packing left those of one vector in different parts of it.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let fours = _mm512_permutexvar_epi32(order, fours);
    let low = _mm512_and_si512(fours, _mm512_set1_epi64(0xFFFF_FFFF));
    let low = _mm512_sll_epi64(low, _mm_cvtsi32_si128(4 * r as i32));
    let eights = _mm512_or_si512(low, _mm512_srli_epi64::<32>(fours));
    // SAFETY: 64 bytes.
    let bytes = unsafe { _mm512_load_si512(of.bytes.as_ptr().cast()) };
    _mm512_maskz_permutexvar_epi8(of.there, bytes, eights)
}
