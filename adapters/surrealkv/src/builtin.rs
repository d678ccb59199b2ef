//! The filters of surrealkv's own policy.
//!
//! ```text
//! filter   : bits, then a byte that holds k
//! hash     : of 32 bits; words of the key are read big-endian, the one to three bytes behind them
//!            little-endian
//! bit i    : (hash + i * hash rotated left by 15, mod 2^32) mod the number of bits, i from 0 to k - 1
//! insert   : set the bits
//! contains : are they all set
//! ```
//!
//! LevelDB's filters, whose name the policy has, differ in the hash, in the bits of small filters and in k.

use std::ops::Range;
use surrealkv::FilterPolicy;

/// The policy that surrealkv has by default, with faster probes: the same name and the same bytes. So it
/// reads the filters of databases that exist, and surrealkv's own policy reads what it wrote.
///
/// ```
/// use bloomline_surrealkv::BuiltinFilter;
/// use surrealkv::FilterPolicy;
///
/// let policy = BuiltinFilter::new(10);
/// let filter = policy.create_filter(&[b"apple".to_vec(), b"pear".to_vec()]);
/// assert!(policy.may_contain(&filter, b"pear"));
/// assert!(!policy.may_contain(&filter, b"plum"));
/// ```
///
/// As in surrealkv's own, nothing in the bytes says whether they are whole. The store verifies a checksum
/// whenever it reads a filter from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinFilter {
    bits_per_key: usize,
}

/// As surrealkv's own: 10 bits per key.
impl Default for BuiltinFilter {
    fn default() -> BuiltinFilter {
        BuiltinFilter::new(10)
    }
}

impl BuiltinFilter {
    /// Creates a policy of so many bits per key; 0 is taken for 1. Whatever they are, it reads filters of
    /// any other number.
    pub const fn new(bits_per_key: usize) -> BuiltinFilter {
        BuiltinFilter { bits_per_key: if bits_per_key == 0 { 1 } else { bits_per_key } }
    }

    /// How many bits a key sets.
    fn k(self) -> u8 {
        ((self.bits_per_key as f64 * 0.7) as u8).clamp(1, MAX_K)
    }

    /// Builds the filter of `count` keys. If there is no memory for it, every key may be in it.
    fn build(self, count: usize, hashes: impl Iterator<Item = u32>) -> Vec<u8> {
        if count == 0 {
            return Vec::new();
        }
        let bytes = count.saturating_mul(self.bits_per_key).div_ceil(8);
        let Some(bits) = Bits::of_bytes(bytes) else {
            return EVERYTHING.to_vec();
        };
        let mut filter = Vec::new();
        if filter.try_reserve_exact(bytes + 1).is_err() {
            return EVERYTHING.to_vec();
        }
        let k = self.k();
        filter.resize(bytes, 0);
        filter.push(k);
        for hash in hashes {
            let key = bits.of_key(hash);
            for bit in (0..k.into()).map(|i| key.bit(i)) {
                filter[bit / 8] |= 1 << (bit % 8);
            }
        }
        filter
    }
}

/// A larger byte in the place of k is for encodings to come, all of whose keys may be present.
const MAX_K: u8 = 30;

/// A filter that every key may be in: of too many keys, or without memory.
const EVERYTHING: [u8; 2] = [0, MAX_K + 1];

/// So many bits are tested without a branch between them. After the first one or two it would be mispredicted
/// for half of the absent keys; after three of them it is for one in eight.
const FIRST: u32 = 3;

impl FilterPolicy for BuiltinFilter {
    fn name(&self) -> &str {
        "leveldb.BloomFilter"
    }

    fn may_contain(&self, filter: &[u8], key: &[u8]) -> bool {
        // Without bits nothing can be tested. surrealkv stores no such filter.
        let Some((&k @ 1..=MAX_K, bytes)) = filter.split_last() else {
            return true;
        };
        let Some(bits) = Bits::of_bytes(bytes.len()) else {
            return true;
        };
        let key = bits.of_key(hash(key));
        let is_set = |i: u32| {
            let bit = key.bit(i);
            bytes[bit / 8] >> (bit % 8) & 1
        };
        let are_set = |numbers: Range<u32>| numbers.fold(1, |set, i| set & is_set(i)) == 1;
        match u32::from(k) {
            // Of 10 bits per key.
            7 => are_set(0..FIRST) && are_set(FIRST..7),
            k @ FIRST.. => are_set(0..FIRST) && (FIRST..k).all(|i| is_set(i) == 1),
            k => (0..k).all(|i| is_set(i) == 1),
        }
    }

    fn create_filter(&self, keys: &[Vec<u8>]) -> Vec<u8> {
        self.build(keys.len(), keys.iter().map(|key| hash(key)))
    }

    fn key_hash(&self, key: &[u8]) -> u64 {
        hash(key).into()
    }

    fn create_filter_from_hashes(&self, hashes: &[u64]) -> Vec<u8> {
        self.build(hashes.len(), hashes.iter().map(|&hash| hash as u32))
    }

    fn filter_keys_per_partition(&self, partition_bytes: usize) -> usize {
        (partition_bytes.saturating_mul(8) / self.bits_per_key).max(1)
    }
}

/// The bits of a filter.
#[derive(Clone, Copy)]
struct Bits {
    count: u32,
    /// 2^64 / count, rounded up.
    inverse: u64,
}

impl Bits {
    /// Those of so many bytes. Of more than 2^32 bits some have no number, as in surrealkv; None if that
    /// leaves no bit.
    fn of_bytes(bytes: usize) -> Option<Bits> {
        let count = (bytes as u32).wrapping_mul(8);
        (count != 0).then(|| Bits { count, inverse: u64::MAX / u64::from(count) + 1 })
    }

    #[inline(always)]
    fn of_key(self, hash: u32) -> KeyBits {
        KeyBits { bits: self, hash, step: hash.rotate_left(15) }
    }

    /// The remainder of a number by that of the bits, exact for all numbers of 32 bits: the part behind the
    /// point of number / count, as a fraction of 2^64, times count. Multiplying is faster than dividing: building
    /// takes three quarters of the time. Probes, which make the inverse for one key, take as long either way.
    #[inline(always)]
    fn remainder(self, number: u32) -> usize {
        let behind_point = self.inverse.wrapping_mul(number.into());
        ((u128::from(behind_point) * u128::from(self.count)) >> 64) as usize
    }
}

/// The bits of a key.
#[derive(Clone, Copy)]
struct KeyBits {
    bits: Bits,
    hash: u32,
    step: u32,
}

impl KeyBits {
    /// The number of one of them. They may repeat.
    #[inline(always)]
    fn bit(self, i: u32) -> usize {
        self.bits.remainder(self.hash.wrapping_add(self.step.wrapping_mul(i)))
    }
}

/// The hash of a key.
#[inline(always)]
fn hash(key: &[u8]) -> u32 {
    const SEED: u32 = 0xBC9F_1D34;
    const M: u32 = 0xC6A4_A793;
    let mut hash = SEED ^ (key.len() as u32).wrapping_mul(M);
    let (words, rest) = key.as_chunks::<4>();
    for &word in words {
        hash = hash.wrapping_add(u32::from_be_bytes(word)).wrapping_mul(M);
        hash ^= hash >> 16;
    }
    let rest = rest.iter().rev().fold(0, |rest, &byte| rest << 8 | u32::from(byte));
    hash = hash.wrapping_add(rest).wrapping_mul(M);
    hash ^ hash >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_those_of_a_division() {
        let numbers = [0, 1, 7, 8, 9, 4711, 1 << 16, 0x7FFF_FFFF, 1 << 31, u32::MAX - 1, u32::MAX];
        for bytes in [1, 2, 3, 51, 129, 16_384, 16_411, 0x0FFF_FFFF, 0x1000_0000, 0x1FFF_FFFF] {
            let bits = Bits::of_bytes(bytes).unwrap();
            assert_eq!(u64::from(bits.count), 8 * bytes as u64);
            let around = [1, 2, 3, 100].map(|i| bits.count.wrapping_mul(i));
            let around = around.into_iter().flat_map(|n| [n.wrapping_sub(1), n, n.wrapping_add(1)]);
            let many = (0..100_000u32).map(|i| i.wrapping_mul(0x9E37_79B9));
            for number in numbers.into_iter().chain(around).chain(many) {
                assert_eq!(bits.remainder(number), (number % bits.count) as usize, "{bytes}");
            }
        }
    }

    #[test]
    fn too_many_bits_have_no_number() {
        assert!(Bits::of_bytes(0).is_none());
        assert!(Bits::of_bytes(1 << 29).is_none());
        assert_eq!(Bits::of_bytes((1 << 29) + 3).unwrap().count, 24);
        assert!(BuiltinFilter::default().may_contain(&EVERYTHING, b"apple"));
    }

    /// One key of 2^57 bytes, which no address space has.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn without_memory_every_key_may_be_present() {
        let policy = BuiltinFilter::new((1 << 60) + 64);
        assert!(policy.create_filter(&[b"apple".to_vec()]) == EVERYTHING);
    }
}
