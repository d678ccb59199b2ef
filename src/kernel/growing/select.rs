//! Where the n-th 1 of a word is.

/// How a backend finds it.
pub(super) trait Select {
    /// The bit of the 1 that has `before` ones below it. 64 if there are not as many; any bit or 64 if
    /// `before` is 64.
    ///
    /// # Safety
    /// This CPU has the instructions of the backend. `before` is at most 64.
    unsafe fn one(word: u64, before: u64) -> u64;
}

/// By the sums of bytes, on every CPU.
pub(super) struct Bytes;

/// A 1 in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// How many bytes of ascending sums, each 0 to 64, are at most `before`.
#[inline(always)]
fn up_to(sums: u64, before: u64) -> u64 {
    // A top bit stays where nothing was borrowed from it.
    let tops = (((before * EACH) | TOPS) - sums) & TOPS;
    (tops >> 7).wrapping_mul(EACH) >> 56
}

impl Select for Bytes {
    #[inline(always)]
    unsafe fn one(word: u64, before: u64) -> u64 {
        const PAIRS: u64 = 0x5555_5555_5555_5555;
        const FOURS: u64 = 0x3333_3333_3333_3333;
        const EIGHTS: u64 = 0x0F0F_0F0F_0F0F_0F0F;
        let pairs = word - (word >> 1 & PAIRS);
        let fours = (pairs & FOURS) + (pairs >> 2 & FOURS);
        // Byte i has the ones of bytes 0 to i.
        let sums = ((fours + (fours >> 4)) & EIGHTS).wrapping_mul(EACH);
        let byte = 8 * up_to(sums, before);
        if byte == 64 {
            return 64;
        }
        let left = before - (sums << 8 >> byte & 0xFF);
        // Byte i has bit i of the byte, then the ones of its bits 0 to i.
        let spread = (word >> byte & 0xFF).wrapping_mul(EACH) & 0x8040_2010_0804_0201;
        let bits = ((spread + !TOPS) >> 7) & EACH;
        byte + up_to(bits.wrapping_mul(EACH), left)
    }
}

/// By the instruction that spreads bits.
#[cfg(target_arch = "x86_64")]
pub(super) struct Pdep;

#[cfg(target_arch = "x86_64")]
impl Select for Pdep {
    #[inline(always)]
    unsafe fn one(word: u64, before: u64) -> u64 {
        // SAFETY: the caller vouches for the CPU.
        let one = unsafe { std::arch::x86_64::_pdep_u64(1 << (before & 63), word) };
        one.trailing_zeros().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash_u64;

    fn select<S: Select>() {
        let words = (0..64).map(|i| 1 << i).chain((0..64).map(|i| u64::MAX << i));
        for word in words.chain((0..500).map(|i| hash_u64(i, 1) & hash_u64(i, i % 3))) {
            let ones = (0..64).filter(|&bit| word >> bit & 1 == 1);
            for (before, bit) in ones.clone().enumerate() {
                // SAFETY: the CPU has what it needs.
                assert_eq!(unsafe { S::one(word, before as u64) }, bit, "{word:#x} {before}");
            }
            for before in ones.count()..64 {
                // SAFETY: the CPU has what it needs.
                assert_eq!(unsafe { S::one(word, before as u64) }, 64, "{word:#x} {before}");
            }
        }
    }

    #[test]
    fn the_nth_one_is_found() {
        select::<Bytes>();
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("bmi2") {
            select::<Pdep>();
        }
    }
}
