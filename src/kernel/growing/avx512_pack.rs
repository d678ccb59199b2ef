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
struct Fields {
    bytes: [u8; 64],
    bits: [u8; 64],
}

impl Fields {
    /// Of the first values, or of those that a vector of two-byte fields has no room for.
    const fn of(r: u32, is_second: bool) -> Fields {
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
