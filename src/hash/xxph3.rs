//! XXPH3: the hash of RocksDB's filters.
//!
//! It is a preview version of XXH3, frozen in RocksDB's files: the same secret and the same
//! steps, combined differently for every length. Its hashes are not those of XXH3.
//!
//! ```
//! use bloomline::hash::xxph3::xxph3;
//!
//! assert_ne!(xxph3(b"apple"), bloomline::hash::hash("apple", 0)); // an older XXH3
//! ```

#[cfg(feature = "capi")]
use std::hint::black_box;

const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;

const STRIPE: usize = 64;
/// Stripes in a block: the secret moves 8 bytes per stripe, from 0 to 192 - 64.
const STRIPES: usize = 16;

#[rustfmt::skip]
static SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

/// The lengths that are hashed inline.
#[cfg(feature = "capi")]
pub(crate) const SHORT: std::ops::RangeInclusive<usize> = 4..=16;

/// The factors for the shortest keys. A loop over many keys keeps them in registers only if the
/// compiler does not know their values; else it makes each anew for each key.
#[derive(Clone, Copy)]
pub(crate) struct Factors {
    secret: u64,
    first: u64,
    second: u64,
    last: u64,
}

impl Factors {
    #[inline(always)]
    fn known() -> Factors {
        Factors { secret: secret(0), first: PRIME32_1, second: PRIME64_2, last: PRIME64_3 }
    }

    /// For a loop.
    #[cfg(feature = "capi")]
    #[inline(always)]
    pub(crate) fn for_many() -> Factors {
        black_box(Factors::known())
    }
}

/// The hash of a key, as RocksDB's `GetSliceHash64` makes it.
#[inline(always)]
pub fn xxph3(key: &[u8]) -> u64 {
    xxph3_by(Factors::known(), key)
}

/// The same for one key of many. Inline for the lengths of integers and short names, which take
/// few instructions.
#[inline(always)]
pub(crate) fn xxph3_by(by: Factors, key: &[u8]) -> u64 {
    match key.len() {
        4..=8 => of_word(by, word(key), key.len() as u64),
        9..=16 => {
            let n = key.len();
            let low = le64(key, 0) ^ secret(0);
            let high = le64(key, n - 8) ^ secret(8);
            let sum = (n as u64).wrapping_add(low).wrapping_add(high);
            avalanche(sum.wrapping_add(fold(low, high)))
        }
        _ => of_other_lengths(key),
    }
}

/// All bytes of a key of 4 to 8 bytes, some of them twice.
#[inline(always)]
fn word(key: &[u8]) -> u64 {
    u64::from(le32(key, 0)) | u64::from(le32(key, key.len() - 4)) << 32
}

/// The hash of a key of 4 to 8 bytes, from its [`word`] and its length.
#[inline(always)]
fn of_word(by: Factors, word: u64, len: u64) -> u64 {
    let k = word ^ by.secret;
    let m = len.wrapping_add((k ^ (k >> 51)).wrapping_mul(by.first));
    avalanche_by(by.last, (m ^ (m >> 47)).wrapping_mul(by.second))
}

/// Not inlined, so that short keys do not save the registers that long ones need.
#[inline(never)]
fn of_other_lengths(key: &[u8]) -> u64 {
    match key.len() {
        0 => fold(secret(0), PRIME64_2),
        1..=3 => {
            let n = key.len();
            let (first, middle, last) = (key[0], key[n >> 1], key[n - 1]);
            let c = u32::from_le_bytes([first, middle, last, n as u8]);
            avalanche((u64::from(c) ^ (secret(0) & 0xFFFF_FFFF)).wrapping_mul(PRIME64_1))
        }
        4..=128 => up_to_128(key),
        129..=240 => up_to_240(key),
        _ => long(key),
    }
}

fn up_to_128(key: &[u8]) -> u64 {
    let n = key.len();
    let mut sum = (n as u64).wrapping_mul(PRIME64_1);
    // Pairs of 16 bytes from both ends, as many as fit.
    for i in (0..n.div_ceil(32)).rev() {
        sum = sum.wrapping_add(mix16(key, 16 * i, 32 * i)).wrapping_add(mix16(
            key,
            n - 16 * (i + 1),
            32 * i + 16,
        ));
    }
    avalanche(sum)
}

fn up_to_240(key: &[u8]) -> u64 {
    let n = key.len();
    let mut sum = (n as u64).wrapping_mul(PRIME64_1);
    for i in 0..8 {
        sum = sum.wrapping_add(mix16(key, 16 * i, 16 * i));
    }
    sum = avalanche(sum);
    for i in 8..n / 16 {
        sum = sum.wrapping_add(mix16(key, 16 * i, 16 * (i - 8) + 3));
    }
    avalanche(sum.wrapping_add(mix16(key, n - 16, 136 - 17)))
}

fn long(key: &[u8]) -> u64 {
    let mut lanes =
        [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    let blocks = key.chunks_exact(STRIPE * STRIPES);
    let rest = blocks.remainder();
    for block in blocks {
        for (i, stripe) in block.chunks_exact(STRIPE).enumerate() {
            accumulate(&mut lanes, stripe, 8 * i);
        }
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = (*lane ^ (*lane >> 47) ^ secret(128 + 8 * i)).wrapping_mul(PRIME32_1);
        }
    }
    for (i, stripe) in rest.chunks_exact(STRIPE).enumerate() {
        accumulate(&mut lanes, stripe, 8 * i);
    }
    if !key.len().is_multiple_of(STRIPE) {
        accumulate(&mut lanes, &key[key.len() - STRIPE..], 192 - 64 - 7);
    }
    let start = (key.len() as u64).wrapping_mul(PRIME64_1);
    let sum = (0..4).fold(start, |sum, i| {
        let (low, high) = (secret(11 + 16 * i), secret(19 + 16 * i));
        sum.wrapping_add(fold(lanes[2 * i] ^ low, lanes[2 * i + 1] ^ high))
    });
    avalanche(sum)
}

#[inline(always)]
fn accumulate(lanes: &mut [u64; 8], stripe: &[u8], offset: usize) {
    for (i, lane) in lanes.iter_mut().enumerate() {
        let value = le64(stripe, 8 * i);
        let keyed = value ^ secret(offset + 8 * i);
        let product = (keyed & 0xFFFF_FFFF).wrapping_mul(keyed >> 32);
        *lane = lane.wrapping_add(value).wrapping_add(product);
    }
}

#[inline(always)]
fn mix16(key: &[u8], at: usize, offset: usize) -> u64 {
    fold(le64(key, at) ^ secret(offset), le64(key, at + 8) ^ secret(offset + 8))
}

/// The XOR of both halves of a product.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn avalanche(h: u64) -> u64 {
    avalanche_by(PRIME64_3, h)
}

#[inline(always)]
fn avalanche_by(factor: u64, mut h: u64) -> u64 {
    h ^= h >> 37;
    h = h.wrapping_mul(factor);
    h ^ (h >> 32)
}

#[inline(always)]
fn secret(at: usize) -> u64 {
    le64(&SECRET, at)
}

#[inline(always)]
fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[inline(always)]
fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from RocksDB's own tests and, for long keys, what RocksDB 7.8.3 gives for the bytes
    /// `(7 i) & 255`.
    #[test]
    fn golden_values() {
        assert_eq!(xxph3(b""), 5999572062939766020);
        assert_eq!(xxph3(b"\x08"), 583283813901344696);
        assert_eq!(xxph3(b"\x91\xf7"), 14199427467559720719);
        assert_eq!(xxph3(b"\x30\x46\x0b"), 11404699285340020889);
        assert_eq!(xxph3(b"\x67\x53\x81\x1c"), 9010661983527562386);
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i * 7) as u8).collect();
        assert_eq!(xxph3(&bytes[..1024]), 9730857423823763792);
        assert_eq!(xxph3(&bytes[..1025]), 9950953954571384860);
        assert_eq!(xxph3(&bytes[..1088]), 8800999200841199253);
        assert_eq!(xxph3(&bytes[..2048]), 1235769489278778782);
        assert_eq!(xxph3(&bytes), 13201169915860574358);
    }
}
