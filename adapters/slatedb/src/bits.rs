//! The filter of SlateDB's own policy: the bits of a key are anywhere, by enhanced double hashing.
//!
//! ```text
//! filter  : k, 16 bits, big-endian | bits, the lowest of a byte first
//! hash    : SipHash-1-3 of the key, with the key (0, 0)
//! m       : the number of bits, a multiple of 8
//! position: (low 32 bits of the hash) mod m
//! step    : (high 32 bits of the hash) mod m
//! bits    : for i from 0 to k - 1: step = (step + i) mod m; the bit at the position;
//!           position = (position + step) mod m
//! ```

use siphasher::sip::SipHasher13;

/// Filters with more bits set for a key are not probed. SlateDB's policy makes them from 372 bits per key
/// on; elsewhere a number so large is of a damaged filter.
const MAX_PROBES: u16 = 255;

#[inline]
pub(crate) fn hash(key: &[u8]) -> u64 {
    SipHasher13::new().hash(key)
}

/// How many bits a key has: SlateDB's formula, and its rounding.
pub(crate) fn probes_for(bits_per_key: u32) -> u16 {
    (bits_per_key as f32 * 0.69) as u16
}

/// The bytes of the bits for so many hashes: at most those that can be numbered with 32 bits.
pub(crate) fn len_for(hashes: usize, bits_per_key: u32) -> usize {
    let bits = (hashes as u64).saturating_mul(bits_per_key.into());
    bits.min(u64::from(u32::MAX - 7)).div_ceil(8) as usize
}

/// A filter.
pub(crate) struct Bits {
    probes: u16,
    bytes: Box<[u8]>,
    positions: Positions,
    /// Whether the bits tell; else every key may be present.
    tells: bool,
}

impl Bits {
    /// A filter with these hashes. If there is no memory for it, every key may be in it.
    pub(crate) fn build(hashes: &[u64], bits_per_key: u32) -> Bits {
        let (probes, len) = (probes_for(bits_per_key), len_for(hashes.len(), bits_per_key));
        let mut bytes: Vec<u8> = Vec::new();
        // Without bits SlateDB takes a filter for one without keys.
        if len == 0 && !hashes.is_empty() || bytes.try_reserve_exact(len).is_err() {
            return Bits::anything();
        }
        bytes.resize(len, 0);
        let positions = Positions::new(probes, len as u64 * 8);
        for &hash in hashes {
            positions.all(hash, probes, |bit| {
                bytes[bit / 8] |= 1 << (bit % 8);
                true
            });
        }
        Bits::of(probes, bytes.into())
    }

    /// A filter that every key may be in, for SlateDB's policy, too.
    pub(crate) fn anything() -> Bits {
        Bits::of(0, Box::new([0]))
    }

    /// The filter of these bytes. If there is no memory for it, every key may be in it.
    pub(crate) fn decode(data: &[u8]) -> Bits {
        let Some((probes, bytes)) = data.split_first_chunk() else {
            return Bits::anything();
        };
        let mut copy: Vec<u8> = Vec::new();
        if copy.try_reserve_exact(bytes.len()).is_err() {
            return Bits::anything();
        }
        copy.extend_from_slice(bytes);
        Bits::of(u16::from_be_bytes(*probes), copy.into())
    }

    fn of(probes: u16, bytes: Box<[u8]>) -> Bits {
        let m = bytes.len() as u64 * 8;
        // The policy gives each key more bits than it sets, and numbers bits with 32 bits. With k = 0, of one
        // bit per key or none, keys leave nothing. Without bits it is a filter of no keys, or one cut off.
        let tells =
            (1..=MAX_PROBES).contains(&probes) && u64::from(probes) < m && m <= u32::MAX.into();
        Bits { probes, bytes, positions: Positions::new(probes, m), tells }
    }

    pub(crate) fn probes(&self) -> u16 {
        self.probes
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of a key are hashed only if it matters.
    #[inline]
    pub(crate) fn may_contain(&self, key: &[u8]) -> bool {
        !self.tells || self.contains(hash(key))
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        let bit = |bit: usize| self.bytes[bit / 8] >> (bit % 8) & 1;
        if !self.positions.exact {
            return self.positions.all(hash, self.probes, |position| bit(position) == 1);
        }
        let mut walk = self.positions.walk(hash);
        let mut left = self.probes;
        // Three at once: of a key that is absent, one of the first three bits is unset in seven of eight
        // cases, so the branch is foreseen, and their loads do not wait for each other.
        while left >= 3 {
            // Numbers, of which the compiler makes no branches.
            if bit(walk.next()) & bit(walk.next()) & bit(walk.next()) == 0 {
                return false;
            }
            left -= 3;
        }
        (0..left).all(|_| bit(walk.next()) == 1)
    }
}

/// Where the bits of keys are in a filter.
///
/// A position is kept as its part of m: as a fraction, 64 bits behind the point. Then a sum is taken mod m
/// by wrapping around, and nothing is divided.
#[derive(Clone, Copy)]
struct Positions {
    m: u64,
    /// 1 / m, rounded up.
    one: u64,
    /// Whether what was rounded changes no position.
    exact: bool,
}

impl Positions {
    fn new(probes: u16, m: u64) -> Positions {
        let one = (u64::MAX / m.max(1)).wrapping_add(1);
        // The sum of hashes and steps is less than this. Each 1 in it was rounded up by `rounded` of the
        // last place, divided by m. The fraction times m stays below the next whole number.
        let (k, rounded) = (u128::from(probes), u128::from(one.wrapping_mul(m)));
        let most = (k << 32) + k * k * k / 6;
        Positions { m, one, exact: most * rounded < 1 << 64 }
    }

    #[inline(always)]
    fn walk(self, hash: u64) -> Walk {
        let of = |x: u64| self.one.wrapping_mul(x);
        let (position, step) = (of(hash & 0xFFFF_FFFF), of(hash >> 32));
        Walk { position, step, more: 0, positions: self }
    }

    /// Whether `each` is true of the bits of a key, asked until it is not.
    #[inline]
    fn all(self, hash: u64, probes: u16, mut each: impl FnMut(usize) -> bool) -> bool {
        if self.exact {
            let mut walk = self.walk(hash);
            return (0..probes).all(|_| each(walk.next()));
        }
        let m = self.m;
        let (mut position, mut step) = ((hash & 0xFFFF_FFFF) % m, (hash >> 32) % m);
        (0..u64::from(probes)).all(|i| {
            let bit = position;
            step = (step + i) % m;
            position = (position + step) % m;
            each(bit as usize)
        })
    }
}

/// The bits of a key, one after the other.
struct Walk {
    position: u64,
    step: u64,
    more: u64,
    positions: Positions,
}

impl Walk {
    #[inline(always)]
    fn next(&mut self) -> usize {
        let bit = (u128::from(self.position) * u128::from(self.positions.m)) >> 64;
        self.position = self.position.wrapping_add(self.step);
        self.more = self.more.wrapping_add(self.positions.one);
        self.step = self.step.wrapping_add(self.more);
        bit as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of a key as the definition has them.
    fn defined(hash: u64, probes: u16, m: u64) -> Vec<u64> {
        let (mut position, mut step) = ((hash & 0xFFFF_FFFF) % m, (hash >> 32) % m);
        let next = |i: u16| {
            let bit = position;
            step = (step + u64::from(i)) % m;
            position = (position + step) % m;
            bit
        };
        (0..probes).map(next).collect()
    }

    fn found(hash: u64, probes: u16, m: u64) -> Vec<u64> {
        let mut bits = Vec::new();
        Positions::new(probes, m).all(hash, probes, |bit| {
            bits.push(bit as u64);
            true
        });
        bits
    }

    /// What SlateDB's tests expect of its policy.
    #[test]
    fn bits_are_slatedbs() {
        let expected = [928_559, 107_781, 287_004, 466_229, 645_457, 824_689, 3926];
        assert_eq!(defined(0xDF77_EF56_DEAD_BEEF, 7, 1_000_000), expected);
        assert_eq!(found(0xDF77_EF56_DEAD_BEEF, 7, 1_000_000), expected);
        assert_eq!(hash(b""), 0xD1FB_A762_150C_532C);
        assert_eq!(hash(b"hello"), 0xE2E7_7B41_CB4E_1F9E);
    }

    /// Over sizes up to the largest: hashes whose halves are next to multiples of m, where a fraction that is
    /// not exact shows first, and others.
    #[test]
    fn positions_are_the_defined_ones() {
        let largest = u64::from(u32::MAX - 7);
        let sizes = (1..40).flat_map(|i| {
            let random = bloomline::hash::hash_u64(i, 1) >> (32 + i % 29);
            [8 * i, largest - 8 * (i - 1), (8 << i) - 8, 8 << i, (random & !7).max(8)]
        });
        let (mut exact, mut divided) = (0, 0);
        for m in sizes.filter(|&m| m <= largest) {
            for probes in [1, 2, 3, 5, 6, 7, 10, 30, 255] {
                let is_exact = Positions::new(probes, m).exact;
                (exact, divided) = (exact + u32::from(is_exact), divided + u32::from(!is_exact));
                let most = u64::from(u32::MAX);
                let near = |i: u64| (most / m * m).wrapping_sub(4).wrapping_add(i).min(most);
                let halves = (0..8).flat_map(|i| [i, near(i), (m - 4 + i).min(most), most - i]);
                let halves: Vec<u64> = halves.collect();
                let ends =
                    halves.iter().flat_map(|low| halves.iter().map(move |high| high << 32 | low));
                for hash in ends.chain((0..100).map(|i| bloomline::hash::hash_u64(i, m))) {
                    let expected = defined(hash, probes, m);
                    assert_eq!(found(hash, probes, m), expected, "{hash:x}, {probes} of {m}");
                }
            }
        }
        assert!(exact > 500 && divided > 100, "{exact}, {divided}");
        // Those of 64 MiB and 6 bits for a key are not divided.
        assert!((1..1000).all(|i| Positions::new(6, (1 << 29) - 8 * i).exact));
    }

    #[test]
    fn sizes_end_where_bits_have_no_numbers() {
        assert_eq!([len_for(0, 10), len_for(1, 10), len_for(1000, 10)], [0, 2, 1250]);
        assert_eq!(len_for(usize::MAX, u32::MAX), (1 << 29) - 1);
        assert_eq!(len_for(1 << 31, 2), (1 << 29) - 1);
        assert_eq!(probes_for(u32::MAX), u16::MAX);
    }
}
